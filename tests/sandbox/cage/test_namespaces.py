"""What a process sees in the namespaces of a zygote, as root and as another user, and machines that refuse them."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from support.caged import finished, locked_worker, run
from support.zygotes import first_process, spare_workers, wait_for_workers, zygote_pid

from codeplan.sandbox import probe_layers
from codeplan.sandbox.host import launcher
from codeplan.sandbox.protocol.frames import OPTIONAL_LAYERS

pytestmark = pytest.mark.long

SUPPORT = Path(__file__).parents[2] / "support"
ALLOWED = all(layer.present for layer in probe_layers() if layer.optional)
needs_namespaces = pytest.mark.skipif(not ALLOWED, reason="this machine does not allow all namespaces")


# ------------------------------------------------------------------ hostile code behind the namespaces alone


@pytest.fixture(scope="module", params=[0, 1234], ids=["root", "another user"])
def seen(request) -> dict[str, object]:
    if request.param and os.getuid() != 0:
        pytest.skip("only root can become another user")
    libc = ctypes.CDLL(None)
    memory = libc.shmget(0x43414745, 4096, 0o1666)  # IPC_CREAT, for everyone
    name = f"codeplan-test-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0" + name)
        abstract.listen()
        port = str(server.getsockname()[1])
        command = [sys.executable, str(SUPPORT / "namespaced_process.py"), str(request.param), port, name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        libc.shmctl(memory, 0, None)
        for listening in (server, abstract):
            listening.settimeout(0.02)
            with pytest.raises(TimeoutError):
                listening.accept()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


OUTCOMES = {
    "list the root": [],
    "read a file": "FileNotFoundError",
    "read by the parent folder": "FileNotFoundError",
    "read /proc": "FileNotFoundError",
    "write a file": "OSError",
    "make a folder": "OSError",
    "make a device": "OSError",
    "run a program": "FileNotFoundError",
    "connect to a port": "OSError",
    "connect to an abstract socket": "ConnectionRefusedError",
    "list the interfaces": ["lo"],
    "who is the parent": 0,
    "find the zygote": "ProcessLookupError",
    "find the host": "ProcessLookupError",
    "find any process": "ProcessLookupError",
    "end the first process": None,  # the kernel ignores the signal: the attacks after this one still have a namespace
    "the host's time by its clock": "OSError",
    "the host's shared memory": "FileNotFoundError",
    "mount": "PermissionError",
    "leave by chroot": "PermissionError",
    "change the name of the machine": "PermissionError",
}


@needs_namespaces
@pytest.mark.parametrize("attack", OUTCOMES)
def test_hostile_code_finds_nothing_of_the_host(attack, seen):
    assert seen["layers"] == dict.fromkeys(OPTIONAL_LAYERS, True)
    assert seen["attacks"][attack] == OUTCOMES[attack]


@needs_namespaces
def test_hostile_code_cannot_become_root(seen):
    assert seen["attacks"]["be root"] in ("PermissionError", "OSError")  # without root, id 0 does not even exist


# ------------------------------------------------------------------ zygote and workers


@needs_namespaces
def test_a_worker_is_in_namespaces_that_the_host_is_not_in():
    with locked_worker() as worker:
        for name in ("user", "mnt", "net", "ipc", "uts", "cgroup", "pid"):
            assert os.readlink(f"/proc/{worker.pid}/ns/{name}") != os.readlink(f"/proc/self/ns/{name}"), name
        assert os.listdir(f"/proc/{worker.pid}/root") == []
        fields = status(worker.pid)
        assert fields["CapEff"] == fields["CapPrm"] == fields["CapInh"] == fields["CapAmb"] == ["0" * 16]


@needs_namespaces
def test_the_first_process_of_the_namespace_is_locked_like_a_worker():
    finished(run("pass"))
    first = status(first_process(zygote_pid(launcher.run_workers)))
    assert first["NSpid"][-1] == "1"
    assert (first["Seccomp"], first["NoNewPrivs"], first["CapEff"]) == (["2"], ["1"], ["0" * 16])


@needs_namespaces
def test_when_the_first_process_ends_the_next_run_gets_a_new_zygote():
    finished(run("pass"))
    zygote = zygote_pid(launcher.run_workers)
    (spare,) = wait_for_workers(zygote, 1)
    os.kill(first_process(zygote), signal.SIGKILL)
    wait_until(lambda: status(spare)["State"][0] == "Z" if Path(f"/proc/{spare}").exists() else True)
    assert finished(run("print(1)")).output == "1\n"
    assert zygote_pid(launcher.run_workers) != zygote


@needs_namespaces
def test_a_killed_zygote_takes_every_process_of_its_namespace_along():
    worker = locked_worker()
    zygote = zygote_pid(launcher.run_workers)
    inside = [first_process(zygote), *spare_workers(zygote), worker.pid]
    os.kill(zygote, signal.SIGKILL)
    assert worker.has_ended(5)
    wait_until(lambda: not any(is_alive(pid) for pid in inside))
    worker.kill()
    assert finished(run("print(1)")).output == "1\n"


def status(pid: int) -> dict[str, list[str]]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: value.split() for key, _, value in (line.partition(":") for line in lines)}


def is_alive(pid: int) -> bool:
    try:
        return status(pid)["State"][0] != "Z"
    except OSError:
        return False


def wait_until(happened) -> None:
    deadline = time.monotonic() + 5
    while not happened():
        assert time.monotonic() < deadline, "it did not happen within 5 s"
        time.sleep(0.01)


# ------------------------------------------------------------------ a machine that refuses

REFUSE = textwrap.dedent(
    """
    import ctypes, errno, sys
    sys.path.insert(0, sys.argv[1])
    from codeplan.sandbox.cage import lockdown as seccomp
    numbers = [int(n) for n in sys.argv[2].split(",")]
    libc = ctypes.CDLL(None, use_errno=True)
    steps = [(0x20, 0, 0, 0)]
    for number in numbers:
        steps += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | errno.EPERM)]
    steps.append((0x06, 0, 0, 0x7FFF0000))
    libc.prctl(38, 1, 0, 0, 0)
    filters = (seccomp._Filter * len(steps))(*(seccomp._Filter(*s) for s in steps))
    seccomp.apply_filter(libc, seccomp.PreparedFilter(filters, ""))
    from support.caged import SampleHome, answer, plan
    from codeplan.doctor import examine, is_safe
    from codeplan.sandbox import Sandbox, probe_layers
    print(" ".join(layer.name for layer in probe_layers() if not layer.present))
    print(type(Sandbox().run(plan("print(1)"), SampleHome(print), answer)).__name__, Sandbox(allow_weak=True).missing_layers)
    findings = examine()
    print(is_safe(findings), sorted({f.status for f in findings if f.group == "Sandbox"}))
    print(*(f.advice for f in findings if f.group == "Sandbox" and f.status == "absent"), sep="|")
    """
)
UNSHARE, PIVOT_ROOT, MOUNT = (272, 155, 165) if os.uname().machine == "x86_64" else (97, 41, 40)


@needs_namespaces
@pytest.mark.parametrize(
    ("refused", "missing"),
    [([UNSHARE], " ".join(OPTIONAL_LAYERS)), ([PIVOT_ROOT], "mount-namespace"), ([MOUNT], "mount-namespace")],
)
def test_plans_run_without_the_namespaces_that_the_kernel_refuses(refused, missing):
    command = [sys.executable, "-c", REFUSE, str(SUPPORT.parent), ",".join(map(str, refused))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    named, ran, safe, advice = done.stdout.splitlines()
    assert named == missing
    assert ran == "Finished ()"
    assert safe == "True ['absent', 'ok']"
    assert all("does not allow it" in line for line in advice.split("|"))
