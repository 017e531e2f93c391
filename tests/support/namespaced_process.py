"""Run as a program: enters the namespaces of a zygote and attacks from a child, without any other layer but the user.

Its arguments are a user id, a port of the host and an abstract socket of the host. Prints one JSON object: ``layers``
(name -> present) and ``attacks`` (attack -> the name of an exception or the value that it got).
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

from codeplan.sandbox.cage.lockdown import Cage, drop_privileges

LIBC = ctypes.CDLL(None, use_errno=True)
UID, PORT, ABSTRACT = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
ZYGOTE, HOST = os.getpid(), os.getppid()
SET_DUMPABLE, SHARED_MEMORY_KEY = 4, 0x43414745


def called(function: str, *arguments: object) -> int:
    result = int(getattr(LIBC, function)(*arguments))
    if result == -1:
        raise OSError(ctypes.get_errno(), function)
    return result


def connect(kind: socket.AddressFamily, address: tuple[str, int] | str) -> None:
    with socket.socket(kind, socket.SOCK_STREAM) as mine:
        mine.connect(address)


ATTACKS: dict[str, Callable[[], object]] = {
    "list the root": lambda: os.listdir("/"),
    "read a file": lambda: Path("/etc/passwd").read_text(),
    "read by the parent folder": lambda: Path("/../../etc/hostname").read_text(),
    "read /proc": lambda: Path("/proc/self/status").read_text(),
    "write a file": lambda: Path("/mark").write_text("x"),
    "make a folder": lambda: os.mkdir("/tmp"),
    "make a device": lambda: os.mknod("/null", 0o020666, os.makedev(1, 3)),
    "run a program": lambda: os.execv(sys.executable, ["python"]),
    "connect to a port": lambda: connect(socket.AF_INET, ("127.0.0.1", PORT)),
    "connect to an abstract socket": lambda: connect(socket.AF_UNIX, "\0" + ABSTRACT),
    "list the interfaces": lambda: [name for _, name in socket.if_nameindex()],
    "who is the parent": os.getppid,
    "find the zygote": lambda: os.kill(ZYGOTE, 0),
    "find the host": lambda: os.kill(HOST, 0),
    "find any process": lambda: os.kill(-1, 0),
    "end the first process": lambda: os.kill(1, signal.SIGKILL),
    "the host's time by its clock": lambda: time.clock_gettime((~HOST << 3) | 2),
    "the host's shared memory": lambda: called("shmget", SHARED_MEMORY_KEY, 0, 0),
    "be root": lambda: os.setuid(0),
    "mount": lambda: called("mount", b"none", b"/", b"tmpfs", ctypes.c_ulong(0), None),
    "leave by chroot": lambda: os.chroot("/"),
    "change the name of the machine": lambda: called("sethostname", b"mine", 4),
}


def attack(name: str) -> object:
    drop_privileges(LIBC)
    try:
        return ATTACKS[name]()
    except OSError as error:
        return type(error).__name__


def child_outcome(work: Callable[[], object]) -> object:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, json.dumps(work()).encode())
        os._exit(0)
    os.close(writer)
    said = os.read(reader, 4096)
    os.waitpid(pid, 0)
    os.close(reader)
    return json.loads(said)


if __name__ == "__main__":
    cage = Cage()
    if UID:
        os.setgroups([])
        os.setresgid(UID, UID, UID)
        os.setresuid(UID, UID, UID)
        LIBC.prctl(SET_DUMPABLE, 1, 0, 0, 0)  # as after an exec
    cage.enter_namespaces()
    layers = {layer.name: layer.present for layer in cage.namespaces}
    attacks = {name: child_outcome(lambda name=name: attack(name)) for name in ATTACKS}
    sys.stdout.write(json.dumps({"layers": layers, "attacks": attacks}))
