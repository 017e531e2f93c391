"""The cage holds without the language layer: hostile code with all of Python gets nothing in a locked process."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from support import process_states
from support.caged import SampleHome, finished, locked_worker, plan, run, stopped
from support.zygotes import wait_for_workers, zygote_pid

from codeplan.errors import SandboxError
from codeplan.sandbox import Limits, Sandbox, probe_layers
from codeplan.sandbox.cage.lockdown import LAYER_NAMES, build_filter, build_ruleset
from codeplan.sandbox.host import launcher
from codeplan.sandbox.protocol.frames import OPTIONAL_LAYERS
from codeplan.types import Finished

SUPPORT = Path(__file__).parents[2] / "support"
SECRET = "CANARY-ENV-8d2f"
SIGSYS = f"signal {int(signal.SIGSYS)}"

WHOLE = all(layer.present or layer.optional for layer in probe_layers())
needs_cage = pytest.mark.skipif(not WHOLE, reason="this machine's cage lacks a layer")


# ------------------------------------------------------------------ the layers


def test_every_layer_is_probed_and_described():
    found = probe_layers()
    assert tuple(layer.name for layer in found) == (*OPTIONAL_LAYERS, *LAYER_NAMES)
    assert all(layer.detail for layer in found)


def test_probing_the_layers_changes_nothing_in_this_process():
    def own() -> list[str]:
        lines = Path("/proc/self/status").read_text().splitlines()
        return [line for line in lines if line.startswith(("Uid", "Gid", "Cap", "NoNewPrivs", "Seccomp"))]

    before = (own(), resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_NOFILE))
    probe_layers()
    assert (own(), resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_NOFILE)) == before


def test_the_filters_of_both_architectures_end_in_a_kill_and_check_the_architecture_first():
    for machine, audit in {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}.items():
        steps = build_filter(machine)
        assert (steps[1].operand, steps[2].operand, steps[-1].operand) == (audit, 0x80000000, 0x80000000)
        jumps = [at + 1 + jump for at, s in enumerate(steps) for jump in (s.jump_true, s.jump_false)]
        assert max(jumps) <= len(steps)


def verdict(machine: str, number: int, *arguments: int) -> int:
    """What the filter answers to a call: a small model of the kernel's filter machine."""
    audit = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}[machine]
    padded = [a & 0xFFFFFFFFFFFFFFFF for a in (*arguments, *[0] * (6 - len(arguments)))]
    data = struct.pack("<IIQ6Q", number, audit, 0, *padded)
    steps, at, loaded = build_filter(machine), 0, 0
    while True:
        step = steps[at]
        at += 1
        if step.code == 0x06:
            return step.operand
        if step.code == 0x20:
            (loaded,) = struct.unpack_from("<I", data, step.operand)
            continue
        met = {0x15: loaded == step.operand, 0x35: loaded >= step.operand, 0x45: bool(loaded & step.operand)}[step.code]
        at += step.jump_true if met else step.jump_false


ALLOWED, KILLED, NOT_PERMITTED, NO_DESCRIPTOR = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050009
NUMBERS = {
    "read": (0, 63),
    "write": (1, 64),
    "recvfrom": (45, 207),
    "mmap": (9, 222),
    "madvise": (28, 233),
    "getrusage": (98, 165),
    "getppid": (110, 173),
    "futex": (202, 98),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "membarrier": (324, 283),
    "getpid": (39, 172),
    "prctl": (157, 167),
    "kill": (62, 129),
}
"""Of each system call, on x86_64 and on aarch64."""


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize(
    ("call", "arguments", "answer"),
    [
        ("getpid", (), ALLOWED),
        ("prctl", (15,), KILLED),
        ("kill", (1, 0), KILLED),
        ("getppid", (), NOT_PERMITTED),
        ("membarrier", (1,), NOT_PERMITTED),
        *[("clock_gettime", (clock,), ALLOWED) for clock in range(4)],
        *[("clock_gettime", (clock,), NOT_PERMITTED) for clock in (*range(4, 13), -1, -6, (~700 << 3) | 2, 1 << 31)],
        *[("clock_getres", (clock,), NOT_PERMITTED) for clock in (7, -6, (~700 << 3) | 6, -(1 << 31))],
        *[("getrusage", (who,), ALLOWED) for who in (0, 1)],
        *[("getrusage", (who,), NOT_PERMITTED) for who in (-1, 2, 700)],
        *[("read", (fd,), NO_DESCRIPTOR) for fd in (0, 1, 2, 4, -1, 1 << 31)],
        *[("write", (fd,), NO_DESCRIPTOR) for fd in (0, 1, 2, 4, -100)],
        ("read", (3,), ALLOWED),
        ("write", (3,), ALLOWED),
        ("recvfrom", (3, 0, 4, socket.MSG_DONTWAIT), ALLOWED),
        *[("recvfrom", (3, 0, 4, flags), NOT_PERMITTED) for flags in (0, 1, 2, 0x41, 0x42, 0x100, 1 << 31)],
        *[("futex", (0, op), ALLOWED) for op in (128, 129, 137, 393)],
        *[("futex", (0, op), NOT_PERMITTED) for op in (0, 1, 131, 133, 134, 139, 141, 9)],
        *[("madvise", (0, 4096, advice), ALLOWED) for advice in (4, 8)],
        *[("madvise", (0, 4096, advice), NOT_PERMITTED) for advice in (9, 12, 17, 21, 100, 101, -1)],
        ("mmap", (0, 4096, 3), ALLOWED),
        ("mmap", (0, 4096, 7), KILLED),
    ],
)
def test_a_call_is_allowed_only_with_arguments_that_python_needs(machine, call, arguments, answer):
    assert verdict(machine, NUMBERS[call][machine == "aarch64"], *arguments) == answer


def test_an_unknown_architecture_has_no_filter():
    with pytest.raises(OSError, match="no table of system calls for riscv64"):
        build_filter("riscv64")


def test_the_rules_grow_with_the_kernels_interface():
    assert [len(build_ruleset(abi)) for abi in range(1, 8)] == [8, 8, 8, 16, 16, 24, 24]
    assert int.from_bytes(build_ruleset(1), "little") == 2**13 - 1
    assert int.from_bytes(build_ruleset(5)[:8], "little") == 2**16 - 1


# ------------------------------------------------------------------ hostile code in a locked process


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("hostile")
    folder.chmod(0o777)
    marker = folder / "marker"
    kept = folder / "marker.kept"
    kept.write_text("here")
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [sys.executable, str(SUPPORT / "hostile_worker.py"), str(marker), str(server.getsockname()[1])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        server.settimeout(0.05)
        with pytest.raises(TimeoutError):
            server.accept()
    assert done.returncode == 0, done.stderr
    assert not marker.exists()
    assert kept.exists()
    return json.loads(done.stdout)


REFUSED = {
    "read a file": "PermissionError",
    "read the environment": "PermissionError",
    "read the parent's environment": "PermissionError",
    "read own memory": "PermissionError",
    "write a file": "PermissionError",
    "list a folder": "PermissionError",
    "stat a file": "PermissionError",
    "where am I": "PermissionError",
    "use another descriptor": "OSError",
    "own the socket's signals": "PermissionError",
    "read out of band": "PermissionError",
    "read without taking": "PermissionError",
    "null pointer": f"signal {int(signal.SIGSEGV)}",
    "memory without end": "MemoryError",
    "lift a limit": "ValueError",
    "import a module": "ModuleNotFoundError",
    "compute": "StopIteration",
}


@needs_cage
def test_hostile_code_in_a_locked_process_is_refused_or_killed_in_every_attempt(outcomes):
    allowed_errors = {SIGSYS, "PermissionError", "ValueError", "OSError"}
    wrong = {n: said for n, said in outcomes.items() if said != REFUSED.get(n, said) or said == "got through"}
    assert wrong == {}
    assert {n: s for n, s in outcomes.items() if n not in REFUSED and s not in allowed_errors} == {}


@needs_cage
@pytest.mark.parametrize(
    "attack",
    [
        "sleep by the parent's clock",
        "a timer on the parent's clock",
        "queue a signal for the parent",
        "name the process",
        "the parent's priority",
        "the parent's processors",
        "signal a thread of the parent",
        "fork",
        "thread",
        "exec",
        "tcp",
        "udp",
        "ptrace",
        "kill the parent",
        "executable memory",
        "x32 call",
        "io_uring",
    ],
)
def test_a_call_that_no_plan_needs_kills_the_process(outcomes, attack):
    assert outcomes[attack] == SIGSYS


# ------------------------------------------------------------------ what the worker is born with


def test_the_environment_of_the_host_is_nowhere_in_the_zygote(monkeypatch):
    launcher.run_workers.close()
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    finished(run("pass"))
    pid = zygote_pid(launcher.run_workers)
    assert Path(f"/proc/{pid}/environ").read_bytes() == b"PYTHONHASHSEED=0\0LD_BIND_NOW=1\0"
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert SECRET.encode() not in memory(pid)


def memory(pid: int) -> bytes:
    """All writable memory of a process, as far as it can be read."""
    parts = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            start, end = (int(n, 16) for n in line.split()[0].split("-"))
            if "rw" in line.split()[1]:
                mem.seek(start)
                parts.append(mem.read(end - start))
    return b"".join(parts)


def test_the_zygote_imports_nothing_from_the_working_folder(tmp_path, monkeypatch):
    for name in ("libcst", "msgspec", "RestrictedPython", "codeplan", "socket"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('hijacked')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    launcher.run_workers.close()
    assert finished(run("print('ran')")).output == "ran\n"


def test_a_worker_holds_one_descriptor_and_is_another_user():
    with locked_worker() as worker:
        status = Path(f"/proc/{worker.pid}/status").read_text()
        fields = {k: v.split() for k, _, v in (line.partition(":") for line in status.splitlines())}
        assert fields["NoNewPrivs"] == ["1"]
        assert fields["Seccomp"] == ["2"]
        if os.getuid() != 0:
            with pytest.raises(PermissionError):  # /proc of a process that is not dumpable is closed
                os.listdir(f"/proc/{worker.pid}/fd")
        else:
            assert os.listdir(f"/proc/{worker.pid}/fd") == ["3"]
            assert fields["Uid"] == ["65534"] * 4
            assert fields["CapEff"] == ["0" * 16]


def test_only_the_analysis_zygote_loads_what_analyses_need():
    Sandbox().check(plan("pass"), SampleHome)
    Sandbox().analyse("literals", plan("pass"))
    finished(run("pass"))
    held = [
        memory(zygote_pid(workers))
        for workers in (launcher.analysis_workers, launcher.check_workers, launcher.run_workers)
    ]
    assert [b"sandbox.analysis.topics" in everything for everything in held] == [True, False, False]


def test_a_spare_worker_is_locked_down_before_it_is_needed():
    finished(run("pass"))
    (ahead,) = wait_for_workers(zygote_pid(launcher.run_workers), 1)
    deadline = time.monotonic() + 20
    while not is_locked(ahead):
        assert time.monotonic() < deadline, "the spare worker is not locked down"
        time.sleep(0.01)
    with launcher.run_workers.spawn() as worker:
        assert worker.pid == ahead


def is_locked(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    fields = {k: v.split() for k, _, v in (line.partition(":") for line in status.splitlines())}
    return fields["NoNewPrivs"] == ["1"] and (os.getuid() != 0 or fields["Uid"] == ["65534"] * 4)


def test_a_spare_worker_that_died_is_not_used():
    finished(run("pass"))
    (ahead,) = wait_for_workers(zygote_pid(launcher.run_workers), 1)
    process_states.kill(ahead)
    assert finished(run("print(1)")).output == "1\n"


def test_programs_that_the_host_starts_inherit_no_descriptor_of_a_worker():
    with locked_worker() as worker:
        assert worker._pidfd is not None
        assert not any(map(os.get_inheritable, (worker._socket.fileno(), worker._pidfd)))


def test_a_worker_dies_with_the_zygote():
    worker = locked_worker()
    launcher.run_workers.close()
    assert worker.has_ended(5)
    worker.kill()


def test_the_zygote_survives_hundreds_of_workers_that_end_at_once():
    launcher.run_workers.spawn().kill()
    zygote = zygote_pid(launcher.run_workers)
    for _ in range(12):
        workers = [launcher.run_workers.spawn() for _ in range(64)]
        for worker in workers:
            os.kill(worker.pid, signal.SIGKILL)
        for worker in workers:
            worker.kill()
    launcher.run_workers.spawn().kill()
    assert zygote_pid(launcher.run_workers) == zygote


def test_a_zygote_whose_start_was_interrupted_is_replaced(monkeypatch):
    def interrupt(signum, frame):
        raise KeyboardInterrupt

    def wait_interrupted(zygote: launcher.ZygoteProcess) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        wait(zygote)

    wait = launcher.ZygoteProcess._read_ready_message  # tests may look at private state
    launcher.run_workers.close()
    launcher.run_workers.start()
    first, before = zygote_pid(launcher.run_workers), signal.signal(signal.SIGALRM, interrupt)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(launcher.ZygoteProcess, "_read_ready_message", wait_interrupted)
            with pytest.raises(KeyboardInterrupt):
                run("print(1)")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert finished(run("print(2)")).output == "2\n"
    assert zygote_pid(launcher.run_workers) != first


def test_a_run_that_was_interrupted_while_it_waited_for_its_worker_does_not_mislead_the_next():
    def interrupt(signum, frame):
        raise KeyboardInterrupt

    finished(run("print(1)"))
    zygote, before = zygote_pid(launcher.run_workers), signal.signal(signal.SIGALRM, interrupt)
    wait_for_workers(zygote, 1)
    process_states.stop(zygote)
    try:
        finished(run("print(1)"))  # by the worker that was ordered ahead
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            run("print(2)")
    finally:
        signal.signal(signal.SIGALRM, before)
        os.kill(zygote, signal.SIGCONT)
    for _ in range(2):
        assert "crashed" in stopped(run("x = ()\nfor i in range(1_000_000):\n    x = (x,)\n{x: 1}"), "worker").message
        assert finished(run("print(3)")).output == "3\n"


def test_when_the_host_is_killed_its_zygote_and_workers_are_gone(tmp_path):
    script = textwrap.dedent(
        """
        import sys, threading, time
        sys.path.insert(0, sys.argv[1])
        from support.caged import SampleHome, answer, plan
        from codeplan.sandbox import Limits, Sandbox
        from codeplan.sandbox.host import launcher
        loop = plan("while True:\\n    pass")
        limits = Limits(wall=60.0, cpu=60.0, turns=10**12)
        threading.Thread(target=Sandbox(limits).run, args=(loop, SampleHome(print), answer), daemon=True).start()
        while launcher.run_workers._zygote is None:
            time.sleep(0.01)
        print(launcher.run_workers._zygote._process.pid, flush=True)
        time.sleep(60)
        """
    )
    host = subprocess.Popen([sys.executable, "-c", script, str(SUPPORT.parent)], stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    zygote = int(host.stdout.readline())
    workers = wait_for_workers(zygote, 2)  # the one that runs, and the one that was forked ahead
    host.kill()
    host.wait()
    host.stdout.close()
    deadline = time.monotonic() + 5
    while any(alive(pid) for pid in (zygote, *workers)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [pid for pid in (zygote, *workers) if alive(pid)] == []


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_forked_child_of_the_host_has_a_sandbox_of_its_own():
    script = textwrap.dedent(
        """
        import os, sys
        sys.path.insert(0, sys.argv[1])
        from support.caged import run, finished
        finished(run("pass"))
        pid = os.fork()
        finished(run("print(1)"))
        if pid:
            sys.exit(os.waitpid(pid, 0)[1])
        """
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(SUPPORT.parent)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


# ------------------------------------------------------------------ a machine without a layer

NO_LANDLOCK = textwrap.dedent(
    """
    import ctypes, errno, sys
    sys.path.insert(0, sys.argv[1])
    from codeplan.sandbox.cage import lockdown as seccomp
    libc = ctypes.CDLL(None, use_errno=True)
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050000 | errno.ENOSYS), (0x06, 0, 0, 0x7FFF0000)]
    libc.prctl(38, 1, 0, 0, 0)
    seccomp.apply_filter(libc, seccomp.PreparedFilter((seccomp._Filter * 4)(*(seccomp._Filter(*s) for s in steps)), ""))
    from support.caged import SampleHome, answer, plan
    from codeplan.errors import SandboxError
    from codeplan.sandbox import Sandbox, probe_layers
    print([l.name for l in probe_layers() if not l.present])
    for act in (lambda s: s.run(plan("print(1)"), SampleHome(print), answer), lambda s: s.check(plan("print(1)"), SampleHome)):
        try:
            act(Sandbox(backend="cage"))
        except SandboxError as error:
            print(error)
    print(*Sandbox().notices)
    weak = Sandbox(allow_weak=True)
    print(weak.missing_layers, type(weak.run(plan("print(1)"), SampleHome(print), answer)).__name__)
    """
)


@needs_cage
def test_a_missing_layer_is_refused_by_name_unless_it_is_allowed():
    done = subprocess.run(
        [sys.executable, "-c", NO_LANDLOCK, str(SUPPORT.parent)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    missing, *refusals, notice, weak = done.stdout.splitlines()
    assert missing == "['landlock']"
    assert len(refusals) == 2
    assert all("lacks landlock" in r and "allow_weak=True or --allow-weak-sandbox" in r for r in refusals)
    assert notice.startswith("Monty runs the plans: the cage is not available (this machine lacks landlock (")
    assert weak == "('landlock',) Finished"


def test_an_interpreter_that_cannot_start_is_one_clear_error():
    script = "import sys; sys.executable = '/nowhere/python'\nfrom codeplan.sandbox import probe_layers\nprobe_layers()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "SandboxError: the sandbox could not start /nowhere/python" in done.stderr


def test_a_zygote_that_cannot_be_loaded_says_why():
    with pytest.raises(SandboxError, match="could not start: ModuleNotFoundError: No module named 'codeplan.nowhere'"):
        launcher.WorkerLauncher("codeplan.nowhere").spawn()


def test_a_plan_may_return_as_much_as_its_variables_take():
    big = Sandbox(Limits(checkpoint_bytes=8 << 20))
    outcome = big.run(
        "def solution(agent, start_from=1):\n    x = 'a' * 6_000_000\n    return x", SampleHome(print), str
    )
    assert isinstance(outcome, Finished) and outcome.omitted.keys() == {"x", "return"}
