"""Monitors a host process that runs hostile plans from outside: whether it dies, hangs or grows, and which processes
it leaves behind.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from typing import IO, Final

import msgspec

from codeplan.audit.canaries import Canaries
from codeplan.audit.process_info import (
    find_descendants,
    is_first_of_namespace,
    is_running,
    peak_bytes,
    reset_peak_bytes,
)
from codeplan.audit.target import SECRET_VARIABLE, AttackCase, AttackReport
from codeplan.errors import SandboxError
from codeplan.sandbox.host.import_paths import import_paths, python_program

MAX_SILENCE_SECONDS: Final = 8.0  # a host that takes longer to answer counts as hung
MAX_GROWTH_BYTES: Final = 400 << 20  # a host that grows by more counts as unprotected from its plans
_BOOTSTRAP: Final = (
    "import sys; end = sys.argv.index('--'); sys.path[:] = sys.argv[end + 1:]; "
    "from codeplan.audit.target import main; main()"
)
_START_SECONDS: Final = 60.0
_EXIT_SECONDS: Final = 0.5


class HostMonitor:
    """One host process under attack, replaced whenever a plan harmed it. A context manager; not thread-safe."""

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
            self._host = _start_host(f"CANARY-ENV-{self._canaries.nonce}", unrestricted=self._unrestricted)
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


def _start_host(secret: str, *, unrestricted: bool) -> subprocess.Popen[bytes]:
    mode = ["--unrestricted"] if unrestricted else []
    return subprocess.Popen(
        [python_program(), "-P", "-c", _BOOTSTRAP, *mode, "--", *import_paths()],
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
