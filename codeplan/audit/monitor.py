"""The audit's view from outside: a host process with hostile plans in it, watched for death, silence and growth."""

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
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Final

import msgspec

from codeplan.audit.target import SECRET_VARIABLE, AttackCase, AttackReport
from codeplan.errors import SandboxError
from codeplan.sandbox.host.launcher import import_paths

MAX_SILENCE_SECONDS: Final = 8.0
"""A host that does not answer for longer hangs."""

MAX_GROWTH_BYTES: Final = 400 << 20
"""A host that grows by more bytes is not protected from its plans."""

PORT_PLACEHOLDER: Final = "45991"
"""The port that hostile plans call at; each watch listens at one of its own, and puts that in its place."""

_BOOTSTRAP: Final = (
    "import sys; end = sys.argv.index('--'); sys.path[:] = sys.argv[end + 1:]; "
    "from codeplan.audit.target import main; main()"
)
_START_SECONDS: Final = 60.0
_EXIT_SECONDS: Final = 0.5


class Canaries:
    """What hostile plans are after: a file with a secret, a place to leave a mark, a port to call at."""

    def __init__(self) -> None:
        self.nonce = secrets.token_hex(6)
        self.folder = Path(tempfile.mkdtemp(prefix="codeplan-audit-"))
        self.folder.chmod(0o777)  # nobody may write here: only the sandbox is to keep a plan from it
        self.secret, self.marker = self.folder / "secret", self.folder / "marker"
        self._content = f"CANARY-FILE-{self.nonce}\n"
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._datagrams.bind(("127.0.0.1", self.port))
        for listener in (self._server, self._datagrams):
            listener.setblocking(False)
        self.reset()

    def reset(self) -> None:
        """Make everything as it was, and forget who called."""
        self._drain_calls()
        for path in (self.marker, self.secret):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)
        self.secret.write_text(self._content, encoding="utf-8")
        self.secret.chmod(0o666)

    def fill_placeholders(self, source: str) -> str:
        """A plan with its placeholders filled in."""
        there = {"@SECRET@": str(self.secret), "@MARKER@": str(self.marker), PORT_PLACEHOLDER: str(self.port)}
        return re.sub("|".join(there), lambda found: there[found[0]], source)

    def find_damage(self) -> str:
        """Which trap was touched, empty where none was."""
        if os.path.lexists(self.marker):
            return "it left a mark in the file system"
        if not self.secret.is_file() or self.secret.read_text(encoding="utf-8") != self._content:
            return "it changed a file of the host's"
        if self._drain_calls():
            return "it called at a port of the host's"
        return ""

    def _drain_calls(self) -> bool:
        """Whether somebody called since this was asked last."""
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
        """Take everything away."""
        self._server.close()
        self._datagrams.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class HostMonitor:
    """One host process under attack, started anew when it is lost. A context manager; not for two threads at once."""

    def __init__(self, *, unrestricted: bool) -> None:
        self._unrestricted = unrestricted
        self._canaries = Canaries()
        self._host: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> HostMonitor:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._canaries.close()

    def run_attack(self, source: str, steps: tuple[int, ...], *, any_canary: bool) -> tuple[AttackReport, int]:
        """Run a plan in the host: the report, with the problems seen from outside, and the host's growth in bytes.

        ``any_canary``: the very word must not come out; else only the secrets themselves. Raises SandboxError where the
        sandbox does not even run an honest plan.
        """
        host = self._ensure_host()
        self._canaries.reset()
        shot = AttackCase(
            self._canaries.fill_placeholders(source), steps, "CANARY" if any_canary else self._canaries.nonce
        )
        before = _reset_peak_bytes(host.pid)
        began = time.monotonic()
        report = self._exchange(host, shot)
        grown = max(0, _status_bytes(host.pid, "VmHWM") - before)
        if report is None:
            self._stop()
            report = AttackReport(
                "host lost", self._loss_reason(host, time.monotonic() - began), time.monotonic() - began
            )
        problem = report.problem or self._canaries.find_damage() or self._find_side_effects(host, grown)
        if problem:
            self._stop()  # the next plan finds a host that nobody has touched
        return msgspec.structs.replace(report, problem=problem), grown

    def _exchange(self, host: subprocess.Popen[bytes], shot: AttackCase) -> AttackReport | None:
        try:
            _stdin(host).write(msgspec.json.encode(shot) + b"\n")
            _stdin(host).flush()
        except OSError:
            return None
        return _read_report(host, MAX_SILENCE_SECONDS)

    def _loss_reason(self, host: subprocess.Popen[bytes], seconds: float) -> str:
        return (
            "the host process hung" if seconds >= MAX_SILENCE_SECONDS else f"the host process died ({host.returncode})"
        )

    def _find_side_effects(self, host: subprocess.Popen[bytes], grown: int) -> str:
        if grown > MAX_GROWTH_BYTES:
            return f"the host grew by {grown >> 20} MB"
        left = _outliving_processes(host.pid, 2 if self._unrestricted else 4)
        return f"processes outlived it: {sorted(left)}" if left else ""

    def _ensure_host(self) -> subprocess.Popen[bytes]:
        if self._host is None:
            self._host = _start_host(f"CANARY-ENV-{self._canaries.nonce}", unrestricted=self._unrestricted)
            ready = _read_report(self._host, _START_SECONDS)
            if ready is None or ready.problem:
                self._stop()
                raise SandboxError(
                    f"the audit cannot begin: {ready.problem if ready else 'its host process did not start'}"
                )
        return self._host

    def _stop(self) -> None:
        if self._host is None:
            return
        host, self._host = self._host, None
        left = _descendants(host.pid)
        host.kill()
        host.communicate()
        for pid in left:
            _kill_orphan(pid)


def _kill_orphan(pid: int) -> None:
    """End what the host has left behind. Its zygote ends by itself, and takes its workers along."""
    deadline = time.monotonic() + _EXIT_SECONDS
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
        time.sleep(0.02)
    if os.path.exists(f"/proc/{pid}"):
        os.kill(pid, signal.SIGKILL)


def _start_host(key: str, *, unrestricted: bool) -> subprocess.Popen[bytes]:
    mode = ["--unrestricted"] if unrestricted else []
    return subprocess.Popen(
        [sys.executable, "-c", _BOOTSTRAP, *mode, "--", *import_paths()],
        env={**os.environ, SECRET_VARIABLE: key},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _stdin(host: subprocess.Popen[bytes]) -> IO[bytes]:
    assert host.stdin is not None
    return host.stdin


def _read_report(host: subprocess.Popen[bytes], seconds: float) -> AttackReport | None:
    """The host's next report; None where it does not come in time, or at all."""
    assert host.stdout is not None
    readable, _, _ = select.select([host.stdout], [], [], seconds)
    line = host.stdout.readline() if readable else b""
    return msgspec.json.decode(line, type=AttackReport) if line.endswith(b"\n") else None


# ------------------------------------------------------------------ what the kernel says of a process


def _reset_peak_bytes(pid: int) -> int:
    """Begin to measure the peak anew; returns the bytes of now, or of the old peak where it cannot be reset."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
    return _status_bytes(pid, "VmHWM")


def _status_bytes(pid: int, field: str) -> int:
    """A size in bytes of the process's status; 0 where there is none."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    found = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def _outliving_processes(host: int, own: int) -> frozenset[int]:
    """Processes below the host where there are more than its ``own``: each zygote, and the worker forked ahead by it.

    Workers that are just ending get a moment.
    """
    deadline = time.monotonic() + _EXIT_SECONDS
    while len(left := _descendants(host)) > own and time.monotonic() < deadline:
        time.sleep(0.02)
    return left if len(left) > own else frozenset()


def _descendants(pid: int) -> frozenset[int]:
    """All processes below this one. What loses its parent falls to the host, which asked the kernel for that."""
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


def _parent(pid: str) -> int:
    """The parent's pid; 0 for a process that is gone, or has ended and waits to be collected."""
    try:
        state, parent = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:2]
        )
    except (OSError, ValueError):
        return 0
    return 0 if state == "Z" else int(parent)
