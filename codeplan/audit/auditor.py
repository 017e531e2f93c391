"""Runs hostile plans in monitored host processes and returns a verdict on each."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import IO, Final

import msgspec

from codeplan.audit.target import SECRET_VARIABLE, AttackCase, AttackEnding, AttackReport
from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox.host.import_paths import import_paths, python_program

_HEADER: Final = re.compile(r"^# (kind|tries|layer): (.*)$", re.MULTILINE)
_STEP: Final = re.compile(r"^    if start_from <= (-?\d{1,15}):", re.MULTILINE)
_REPEAT: Final = re.compile(r"^# repeat for k from (\d+) to (\d+)(, deeper each time)?\n(.*?)^# end\n", re.M | re.S)
_INDEX: Final = re.compile(r"<(?:(\d+)\*)?k(?:\+(\d+))?(?: mod (\d+))?>")


class HostilePlan(msgspec.Struct, frozen=True):
    """A hostile plan, as its header describes it. Its ``id`` is its file's name without ``.py``.

    ``for_cage`` marks a plan that needs more of Python than the plan language has. It attacks the cage alone, and the
    check must refuse it.
    """

    id: str
    kind: str
    tries: str
    source: str
    for_cage: bool = False

    @property
    def steps(self) -> tuple[int, ...]:
        """The numbers of the plan's own steps."""
        return tuple(int(n) for n in _STEP.findall(self.source))


def read_hostile_plan(path: Path) -> HostilePlan:
    """Read one hostile plan. Raises UsageError if the file is unreadable or its header incomplete."""
    try:
        text = path.read_bytes().decode()  # not read_text: line ends may be part of the attack
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the hostile plan {path} cannot be read: {error}") from None
    header = dict(_HEADER.findall(text.replace("\r", "\n")))
    missing = [key for key in ("kind", "tries") if key not in header]
    if missing:
        raise UsageError(f"the hostile plan {path} has no line '# {missing[0]}: …'; add it to its header")
    return HostilePlan(path.stem, header["kind"], header["tries"], expand(text), header.get("layer") == "cage")


def read_corpus(folder: Path) -> list[HostilePlan]:
    """Read all hostile plans of a folder, sorted by file name. Raises UsageError if there are none."""
    plans = [read_hostile_plan(path) for path in sorted(folder.glob("*.py"))]
    if not plans:
        raise UsageError(f"there are no hostile plans (*.py) in {folder}; name their folder with --corpus")
    return plans


def expand(text: str) -> str:
    """Write out each block from ``# repeat for k from A to B`` to ``# end``; fill in ``<k>`` and ``<7*k+1 mod 900>``.

    ``, deeper each time`` indents each copy by one more space.
    """
    return _REPEAT.sub(_copies, text)


def _copies(block: re.Match[str]) -> str:
    first, last, deeper, body = int(block[1]), int(block[2]), block[3], block[4]
    copies = [
        " " * (k - first if deeper else 0) + _INDEX.sub(partial(_filled_in, k), body) for k in range(first, last + 1)
    ]
    return "".join(copies)


def _filled_in(k: int, index: re.Match[str]) -> str:
    value = int(index[1] or 1) * k + int(index[2] or 0)
    return str(value % int(index[3]) if index[3] else value)


PORT_PLACEHOLDER: Final = "45991"
"""The port that hostile plans call. Each ``Canaries`` puts the port that it listens on in its place."""


class Canaries:
    """A temporary folder, a TCP and a UDP socket, and a secret; ``find_damage`` reports which of them was touched."""

    def __init__(self) -> None:
        self.nonce = secrets.token_hex(6)
        self.folder = Path(tempfile.mkdtemp(prefix="codeplan-audit-"))
        self.folder.chmod(0o777)  # writable for everyone: only the sandbox keeps a plan from it
        self.secret, self.marker = self.folder / "secret", self.folder / "marker"
        self._content = f"CANARY-FILE-{self.nonce}\n"
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._datagrams.bind(("127.0.0.1", self.port))
        for listening in (self._server, self._datagrams):
            listening.setblocking(False)
        self.reset()

    def reset(self) -> None:
        """Restore the files and forget earlier calls."""
        self._drain_calls()
        for path in (self.marker, self.secret):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)
        self.secret.write_text(self._content, encoding="utf-8")
        self.secret.chmod(0o666)

    def fill_placeholders(self, source: str) -> str:
        """The plan with the paths and the port of these canaries."""
        values = {"@SECRET@": str(self.secret), "@MARKER@": str(self.marker), PORT_PLACEHOLDER: str(self.port)}
        return re.sub("|".join(values), lambda found: values[found[0]], source)

    def find_damage(self) -> str:
        """The targets that were touched since the last reset; empty if none was."""
        if os.path.lexists(self.marker):
            return "it left a mark in the file system"
        if not self.secret.is_file() or self.secret.read_text(encoding="utf-8") != self._content:
            return "it changed a file of the host's"
        return "it called a port of the host's" if self._drain_calls() else ""

    def _drain_calls(self) -> bool:
        """Whether anything connected or sent data since the last call of this method."""
        calls = 0
        with contextlib.suppress(OSError):
            while True:
                self._server.accept()[0].close()
                calls += 1
        with contextlib.suppress(OSError):
            while True:
                self._datagrams.recv(1)
                calls += 1
        return calls > 0

    def close(self) -> None:
        """Close the sockets and delete the folder."""
        self._server.close()
        self._datagrams.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def reset_peak_bytes(pid: int) -> int:
    """Restart the measurement of peak memory. Returns the bytes in use, or the old peak if it cannot be reset."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
    return peak_bytes(pid)


def peak_bytes(pid: int) -> int:
    """The peak of a process's resident memory in bytes; 0 if the process is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def find_descendants(pid: int) -> frozenset[int]:
    """All processes below this one. It is a subreaper, so the kernel also gives it the orphans among them."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal() and (parent := _parent(entry.name)):
            children.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found.update(below)
        waiting += below
    return frozenset(found)


def is_running(pid: int) -> bool:
    """Whether the process exists and is not a zombie that waits to be reaped."""
    return _parent(str(pid)) != 0


def is_first_of_namespace(pid: int) -> bool:
    """Whether the process holds a pid namespace open, as one below each zygote does. False if it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return re.search(r"^NSpid:\t\d+\t(?:\d+\t)*1$", text, re.MULTILINE) is not None


def _parent(pid: str) -> int:
    """The parent's pid; 0 if the process is gone or a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        state, parent = stat.rpartition(")")[2].split()[:2]
    except (OSError, ValueError):
        return 0
    return 0 if state == "Z" else int(parent)


MAX_SILENCE_SECONDS: Final = 8.0  # a host that takes longer to answer counts as hung
MAX_GROWTH_BYTES: Final = 400 << 20  # a host that grows by more counts as unprotected from its plans
_BOOTSTRAP: Final = (
    "import sys; end = sys.argv.index('--'); sys.path[:] = sys.argv[end + 1:]; from {target} import main; main()"
)
_START_SECONDS: Final = 60.0
_EXIT_SECONDS: Final = 0.5


class HostMonitor:
    """One host process under attack, replaced whenever a plan harmed it. A context manager; not thread-safe.

    ``target`` is the module whose ``main`` the host runs.
    """

    def __init__(self, *, unrestricted: bool, target: str = "codeplan.audit.target") -> None:
        self._unrestricted, self._target = unrestricted, target
        self._canaries = Canaries()
        self._host: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> HostMonitor:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._canaries.close()

    def run_attack(self, source: str, steps: tuple[int, ...], *, any_canary: bool) -> tuple[AttackReport, int]:
        """Run a plan in the host. Returns the report with the problems seen from outside, and the growth in bytes.

        With ``any_canary`` the word CANARY itself must not come out; otherwise only the secrets must not. Raises
        SandboxError if the sandbox does not even run an honest plan.
        """
        host = self._ensure_host()
        self._canaries.reset()
        canary = "CANARY" if any_canary else self._canaries.nonce
        case = AttackCase(self._canaries.fill_placeholders(source), steps, canary)
        before, began = reset_peak_bytes(host.pid), time.monotonic()
        report = self._exchange(host, case)
        growth = max(0, peak_bytes(host.pid) - before)
        if report is None:
            self._stop()
            seconds = time.monotonic() - began
            hung = seconds >= MAX_SILENCE_SECONDS
            reason = "the host process hung" if hung else f"the host process died ({host.returncode})"
            report = AttackReport("host lost", "", reason, seconds)
        problem = report.problem or self._canaries.find_damage() or self._find_side_effects(host, growth)
        if problem:
            self._stop()  # the next plan gets a fresh host
        return msgspec.structs.replace(report, problem=problem), growth

    def _exchange(self, host: subprocess.Popen[bytes], case: AttackCase) -> AttackReport | None:
        try:
            stdin = _pipe(host.stdin)
            stdin.write(msgspec.json.encode(case) + b"\n")
            stdin.flush()
        except OSError:
            return None
        return _read_report(host, MAX_SILENCE_SECONDS)

    def _find_side_effects(self, host: subprocess.Popen[bytes], growth: int) -> str:
        if growth > MAX_GROWTH_BYTES:
            return f"the host grew by {growth >> 20} MB"
        left = _outliving_processes(host.pid, 2 if self._unrestricted else 6)
        return f"processes outlived it: {sorted(left)}" if left else ""

    def _ensure_host(self) -> subprocess.Popen[bytes]:
        if self._host is None:
            self._host = _start_host(
                f"CANARY-ENV-{self._canaries.nonce}", self._target, unrestricted=self._unrestricted
            )
            ready = _read_report(self._host, _START_SECONDS)
            if ready is None or ready.problem:
                self._stop()
                problem = ready.problem if ready else "its host process did not start"
                raise SandboxError(f"the audit cannot begin: {problem}")
        return self._host

    def _stop(self) -> None:
        if self._host is None:
            return
        host, self._host = self._host, None
        left = find_descendants(host.pid)
        host.kill()
        host.communicate()
        for pid in left:
            _kill_orphan(pid)


def _kill_orphan(pid: int) -> None:
    """Kill a process that the host left behind. Its zygote exits by itself and takes its workers along."""
    deadline = time.monotonic() + _EXIT_SECONDS
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    if is_running(pid):
        with contextlib.suppress(ProcessLookupError):  # it may exit in between
            os.kill(pid, signal.SIGKILL)


def _start_host(secret: str, target: str, *, unrestricted: bool) -> subprocess.Popen[bytes]:
    mode = ["--unrestricted"] if unrestricted else []
    return subprocess.Popen(
        [python_program(), "-P", "-c", _BOOTSTRAP.format(target=target), *mode, "--", *import_paths()],
        env={**os.environ, SECRET_VARIABLE: secret},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # both are opened as pipes
    return pipe


def _read_report(host: subprocess.Popen[bytes], seconds: float) -> AttackReport | None:
    """The host's next report; None if it does not arrive in time."""
    stdout = _pipe(host.stdout)
    readable, _, _ = select.select([stdout], [], [], seconds)
    line = stdout.readline() if readable else b""
    return msgspec.json.decode(line, type=AttackReport) if line.endswith(b"\n") else None


def _outliving_processes(host: int, own: int) -> frozenset[int]:
    """The host's descendants if there are more than its ``own``: its zygotes and their spare workers.

    The first processes of pid namespaces do not count. Workers that are about to exit get a moment.
    """
    deadline = time.monotonic() + _EXIT_SECONDS
    while len(left := _find_workers(host)) > own and time.monotonic() < deadline:
        time.sleep(0.02)
    return left if len(left) > own else frozenset()


def _find_workers(host: int) -> frozenset[int]:
    return frozenset(pid for pid in find_descendants(host) if not is_first_of_namespace(pid))


class AttackVerdict(msgspec.Struct, frozen=True):
    """What one hostile plan achieved.

    ``detail`` is the limit of a ``stopped`` run and the exception's name of an ``error``. ``problem`` names the
    criterion by which the plan got through; it is empty if the plan did not. ``growth`` is the host's, in bytes.
    """

    id: str
    kind: str
    ending: AttackEnding
    detail: str
    problem: str
    seconds: float
    growth: int

    @property
    def got_through(self) -> bool:
        """Whether the plan got through."""
        return bool(self.problem)


def audit_plan(plan: HostilePlan, monitor: HostMonitor, *, unrestricted: bool) -> AttackVerdict:
    """Run one plan in a monitored host. Raises SandboxError if the sandbox does not work at all."""
    any_canary = plan.for_cage or not unrestricted  # with all of Python, a plan can print the word itself
    report, growth = monitor.run_attack(plan.source, plan.steps, any_canary=any_canary)
    problem = report.problem
    if not problem and plan.for_cage and not unrestricted and report.accepted:
        problem = "the check accepted a plan that needs more than the plan language"
    return AttackVerdict(plan.id, plan.kind, report.ending, report.detail, problem, report.seconds, growth)


def audit_plans(
    plans: Sequence[HostilePlan],
    *,
    unrestricted: bool = False,
    hosts: int = 2,
    on_event: Callable[[AttackVerdict], None] = lambda verdict: None,
) -> list[AttackVerdict]:
    """Run all plans in ``hosts`` parallel host processes. The verdicts are in the order of the plans.

    ``unrestricted`` assumes that the language layer is broken: plans have all of Python and only the cage holds them.
    ``on_event`` receives each verdict at once, from several threads. An exception, such as Ctrl-C, ends the audit with
    the plans that are being run. Raises SandboxError if the sandbox does not work.
    """
    with ExitStack() as stack:
        monitors = [stack.enter_context(HostMonitor(unrestricted=unrestricted)) for _ in range(hosts)]
        return audit_on(monitors, plans, unrestricted=unrestricted, on_event=on_event)


def audit_on(
    monitors: Sequence[HostMonitor],
    plans: Sequence[HostilePlan],
    *,
    unrestricted: bool,
    on_event: Callable[[AttackVerdict], None] = lambda verdict: None,
) -> list[AttackVerdict]:
    """As ``audit_plans``, in hosts that are already monitored; each runs one plan at a time."""
    numbers = iter(range(len(plans)))  # shared by all threads: each number goes to one of them
    verdicts: dict[int, AttackVerdict] = {}
    is_over = threading.Event()

    def work(monitor: HostMonitor) -> None:
        for number in takewhile(lambda _: not is_over.is_set(), numbers):
            verdicts[number] = audit_plan(plans[number], monitor, unrestricted=unrestricted)
            on_event(verdicts[number])

    with ThreadPoolExecutor(len(monitors)) as pool:
        try:
            running = [pool.submit(work, monitor) for monitor in monitors]
            for done in wait(running, return_when=FIRST_EXCEPTION).done:
                done.result()
        finally:
            is_over.set()  # or the pool would wait for all plans
    return [verdicts[number] for number in range(len(plans))]
