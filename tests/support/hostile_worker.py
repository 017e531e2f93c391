"""Run as a program: forks a child for each attack, locks it in as a worker is, and attacks with all of Python.

Prints one JSON object: attack -> "got through", the name of an exception, "signal N", or "exit N".
"""

from __future__ import annotations

import _thread
import ctypes
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from codeplan.sandbox.cage.lockdown import SOCKET_FD, Cage

LIBC = ctypes.CDLL(None, use_errno=True)
PARENT = os.getpid()
MARKER = sys.argv[1]
PORT = int(sys.argv[2])


def syscall(*arguments: object) -> None:
    if LIBC.syscall(*arguments) == -1:
        raise OSError(ctypes.get_errno(), "refused")


def executable_memory() -> None:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)


def make_executable() -> None:
    page = ctypes.create_string_buffer(8192)
    LIBC.mprotect(ctypes.c_void_p((ctypes.addressof(page) + 4095) & ~4095), 4096, 7)


def more_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def thread() -> None:
    _thread.start_new_thread(print, ())


def tcp() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).connect(("127.0.0.1", PORT))


def udp() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"CANARY", ("127.0.0.1", PORT))


def pass_descriptor() -> None:
    socket.fromfd(SOCKET_FD, socket.AF_UNIX, socket.SOCK_STREAM).sendmsg([b"x"])


def ptrace() -> None:
    syscall(101, 16, PARENT, 0, 0)


def memory_of_the_parent() -> None:
    syscall(310, PARENT, 0, 0, 0, 0, 0)


def big_file() -> None:
    os.write(SOCKET_FD + 1, b"x")


def parent_clock(kind: int) -> int:
    """The number of a processor clock of the parent: all its threads (2) or one (6)."""
    return (~PARENT << 3) | kind


def raw_clock(number: int) -> None:
    """Read a clock by the system call itself: the C library answers some clocks without it."""
    syscall(228, ctypes.c_ulong(number & 0xFFFFFFFFFFFFFFFF), (ctypes.c_long * 2)())


def advise(advice: int) -> None:
    page = ctypes.create_string_buffer(8192)
    syscall(28, ctypes.c_void_p((ctypes.addressof(page) + 4095) & ~4095), ctypes.c_ulong(4096), advice)


def futex(operation: int) -> None:
    syscall(202, ctypes.byref(ctypes.c_uint32(0)), operation, 0, None, None, 0)


ATTACKS: dict[str, Callable[[], object]] = {
    "read a file": lambda: Path("/etc/passwd").read_text(),
    "read the environment": lambda: Path("/proc/self/environ").read_bytes(),
    "read the parent's environment": lambda: Path(f"/proc/{PARENT}/environ").read_bytes(),
    "read own memory": lambda: Path("/proc/self/mem").read_bytes(),
    "write a file": lambda: Path(MARKER).write_text("x"),
    "remove a file": lambda: os.remove(MARKER + ".kept"),
    "make a folder": lambda: os.mkdir(MARKER),
    "link": lambda: os.symlink("/etc/passwd", MARKER),
    "list a folder": lambda: os.listdir("/"),
    "stat a file": lambda: os.stat("/etc/passwd"),
    "where am I": os.getcwd,
    "tcp": tcp,
    "udp": udp,
    "socket pair": socket.socketpair,
    "pass a descriptor": pass_descriptor,
    "use another descriptor": big_file,
    "read out of band": lambda: syscall(45, SOCKET_FD, 0, 0, socket.MSG_OOB, 0, 0),
    "read without taking": lambda: syscall(45, SOCKET_FD, 0, 0, socket.MSG_PEEK, 0, 0),
    "pipe": os.pipe,
    "duplicate": lambda: os.dup2(SOCKET_FD, 20),
    "fork": os.fork,
    "thread": thread,
    "program": lambda: subprocess.run(["/bin/true"], check=True),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "shell": lambda: os.system(f"echo x > {MARKER}"),
    "kill the parent": lambda: os.kill(PARENT, signal.SIGTERM),
    "kill everybody": lambda: os.kill(-1, signal.SIGKILL),
    "probe the parent": lambda: os.kill(PARENT, 0),
    "ptrace": ptrace,
    "process_vm_readv": memory_of_the_parent,
    "become root": lambda: os.setuid(0),
    "executable memory": executable_memory,
    "make memory executable": make_executable,
    "lift a limit": more_memory,
    "namespace": lambda: syscall(272, 0x10000000),
    "mount": lambda: syscall(165, 0, 0, 0, 0, 0),
    "io_uring": lambda: syscall(425, 1, 0),
    "bpf": lambda: syscall(321, 0, 0, 0),
    "keyring": lambda: syscall(250, 0, 0, 0, 0, 0),
    "shared memory": lambda: syscall(29, 0, 4096, 0o1600),
    "memory as a file": lambda: os.memfd_create("x"),
    "own the socket's signals": lambda: fcntl.fcntl(SOCKET_FD, 8, PARENT),
    "the parent's clock": lambda: time.clock_gettime(parent_clock(2)),
    "a clock of the parent's thread": lambda: time.clock_gettime(parent_clock(6)),
    "the resolution of the parent's clock": lambda: time.clock_getres(parent_clock(2)),
    "the clock of process 1": lambda: time.clock_gettime((~1 << 3) | 2),
    "the own clock by a computed number": lambda: time.clock_gettime(-6),
    "a clock by a descriptor": lambda: raw_clock((~SOCKET_FD << 3) | 3),
    "a clock since the boot": lambda: raw_clock(7),
    "an alarm's clock": lambda: raw_clock(8),
    "a computed clock with upper bits": lambda: raw_clock(((1 << 40) + parent_clock(2)) & 0xFFFFFFFFFFFF),
    "a clock that does not exist": lambda: raw_clock(1 << 31),
    "sleep by the parent's clock": lambda: syscall(230, parent_clock(2), 0, (ctypes.c_long * 2)(), None),
    "a timer on the parent's clock": lambda: syscall(222, parent_clock(2), None, (ctypes.c_int * 1)()),
    "who is the parent": lambda: syscall(110),
    "what children have used": lambda: resource.getrusage(resource.RUSAGE_CHILDREN),
    "the parent's limits": lambda: resource.prlimit(PARENT, resource.RLIMIT_AS),
    "the parent's priority": lambda: os.getpriority(os.PRIO_PROCESS, PARENT),
    "the parent's processors": lambda: os.sched_getaffinity(PARENT),
    "the parent's scheduler": lambda: os.sched_getscheduler(PARENT),
    "queue a signal for the parent": lambda: syscall(129, PARENT, 15, None),
    "signal a thread of the parent": lambda: syscall(234, PARENT, PARENT, 0),
    "advise the parent's memory": lambda: syscall(440, SOCKET_FD, None, 0, 4, 0),
    "share equal pages": lambda: advise(12),
    "poison a page": lambda: advise(100),
    "include a page in a dump": lambda: advise(17),
    "a futex in shared memory": lambda: futex(1),
    "a futex with priorities": lambda: futex(6 | 128),
    "move waiters to another futex": lambda: futex(3 | 128),
    "wake and change a futex": lambda: futex(5 | 128),
    "a barrier on all processors": lambda: syscall(324, 1, 0),
    "name the process": lambda: syscall(157, 15, b"init", 0, 0, 0),
    "read standard input": lambda: os.read(0, 1),
    "write to standard error": lambda: os.write(2, b"x"),
    "null pointer": lambda: ctypes.string_at(0),
    "memory without end": lambda: bytearray(1 << 34),
    "import a module": lambda: __import__("wave"),
    "x32 call": lambda: syscall(0x40000000 | 39),
    "compute": lambda: sum(i * i for i in range(1000)) and _nothing_wrong(),
}


def _nothing_wrong() -> object:
    raise StopIteration


def attack(cage: Cage, report: int, name: str) -> None:
    os.dup2(report, SOCKET_FD)
    os.closerange(0, SOCKET_FD)
    os.closerange(SOCKET_FD + 1, 4096)
    missing = [
        layer.name
        for layer in (*cage.apply_common_layers(), *cage.apply_limit_layers(64 << 20, 1.0))
        if not layer.present
    ]
    assert not missing, missing
    try:
        ATTACKS[name]()
        said = "got through"
    except BaseException as error:
        said = type(error).__name__
    os.write(SOCKET_FD, said.encode())
    os._exit(0)


def outcome(cage: Cage, name: str) -> str:
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            attack(cage, theirs, name)
        finally:
            os._exit(9)
    os.close(theirs)
    _, status = os.waitpid(pid, 0)
    said = os.read(ours, 4096).decode()
    os.close(ours)
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else said or f"exit {os.WEXITSTATUS(status)}"


if __name__ == "__main__":
    locked = Cage()
    sys.stdout.write(json.dumps({name: outcome(locked, name) for name in ATTACKS}))
