"""Kernel namespaces: a process inside them sees only their resources and none of the host's.

A zygote enters them once and its workers are born inside, so a worker costs nothing more. Each function returns a
description of what it has done, or raises OSError (AttributeError if the C library is too old). The kernel may refuse
them, as it does in many containers; the other layers of the cage do not depend on them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable
from typing import Final, NoReturn

NOBODY: Final = 65534  # the user id and group id that workers of root change to

_NEW_MOUNT, _NEW_CGROUP, _NEW_UTS, _NEW_IPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
_NEW_USER, _NEW_PID, _NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
_PRIVATE_TREE: Final = 1 << 18 | 1 << 14  # MS_PRIVATE, MS_REC
_READ_ONLY_EMPTY: Final = 1 | 2 | 4 | 8  # MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC
_DETACH: Final = 2
_MOUNT_POINT: Final = b"/proc"  # any folder that exists: the empty file system becomes the root


def enter_user_namespace(libc: ctypes.CDLL) -> str:
    """Enter a user namespace with the same user and group ids, and no others.

    A process cannot leave a namespace in which the mapping of its ids failed, so a child process tries it first.
    """
    _finish_child(_start_child(lambda: _enter_user_namespace(libc)))
    _enter_user_namespace(libc)
    return f"ids {', '.join(map(str, _mapped_ids()))}; capabilities count only inside"


def _enter_user_namespace(libc: ctypes.CDLL) -> None:
    wake_reader, wake = os.pipe()
    zygote = os.getpid()
    mapper = _start_child(lambda: _map_ids(zygote, wake_reader, wake))
    os.close(wake_reader)
    try:
        _unshare(libc, _NEW_USER)
        os.write(wake, b"1")
    finally:
        os.close(wake)
        _finish_child(mapper)


def _map_ids(pid: int, wake_reader: int, wake: int) -> None:
    """Write the ids of ``pid`` once it is in its namespace. Only a process outside may map more than one id."""
    os.close(wake)
    if not os.read(wake_reader, 1):
        return
    if os.geteuid() != 0:
        _write_text(f"/proc/{pid}/setgroups", "deny")  # without it, the kernel lets only root map groups
    lines = "".join(f"{number} {number} 1\n" for number in _mapped_ids())
    _write_text(f"/proc/{pid}/uid_map", lines)
    groups = {os.getgid(), os.getegid()} | ({NOBODY} if os.geteuid() == 0 else set())
    _write_text(f"/proc/{pid}/gid_map", "".join(f"{number} {number} 1\n" for number in sorted(groups)))


def _mapped_ids() -> list[int]:
    return sorted({os.getuid(), os.geteuid()} | ({NOBODY} if os.geteuid() == 0 else set()))


def _write_text(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def enter_mount_namespace(libc: ctypes.CDLL) -> str:
    """Replace the file system by an empty one. Code that needs files must be loaded before."""
    _unshare(libc, _NEW_MOUNT)
    _check(libc.mount(None, b"/", None, ctypes.c_ulong(_PRIVATE_TREE), None))
    options = b"size=4k,nr_inodes=1,mode=555"
    _check(libc.mount(b"none", _MOUNT_POINT, b"tmpfs", ctypes.c_ulong(_READ_ONLY_EMPTY), options))
    os.chdir(_MOUNT_POINT)
    _check(libc.pivot_root(b".", b"."))  # the old root now lies on top of the new one
    _check(libc.umount2(b".", _DETACH))
    os.chdir("/")
    return "an empty file system that nobody can write to"


def enter_network_namespace(libc: ctypes.CDLL) -> str:
    """Leave the host's network interfaces, ports and abstract sockets."""
    _unshare(libc, _NEW_NETWORK)
    return "no interface, no port, no abstract socket of the host"


def enter_ipc_namespace(libc: ctypes.CDLL) -> str:
    """Leave the host's shared memory and message queues, and its names of machine and control groups."""
    _unshare(libc, _NEW_IPC | _NEW_UTS | _NEW_CGROUP)
    return "no shared memory, queue or control group of the host"


def enter_pid_namespace(libc: ctypes.CDLL, serve_init: Callable[[], NoReturn]) -> int:
    """Make all children from now on see only one another. Returns the pid of the first, which runs ``serve_init``.

    The kernel kills the others when the first ends. This process stays outside, so it still sees the host's pids.

    Raises RuntimeError if the first cannot start: this process could not fork workers afterwards.
    """
    _unshare(libc, _NEW_PID)
    try:
        return _start_child(serve_init)
    except OSError as error:
        raise RuntimeError(f"the first process of a pid namespace could not start: {error}") from error


def drop_capabilities(libc: ctypes.CDLL) -> None:
    """Give up all capabilities of this process, also those that a user namespace gave it."""
    header, held, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(), (ctypes.c_uint32 * 6)()
    _check(libc.capget(header, held))
    if any(held):
        _check(libc.capset(header, nothing))


def _unshare(libc: ctypes.CDLL, namespaces: int) -> None:
    _check(libc.unshare(namespaces))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _start_child(work: Callable[[], object]) -> int:
    """Fork a child that does ``work`` and exits; its exit code is the error number. Returns its pid."""
    pid = os.fork()
    if pid == 0:
        code = 255
        with contextlib.suppress(BaseException):
            code = _error_number(work)
        os._exit(code)
    return pid


def _error_number(work: Callable[[], object]) -> int:
    try:
        work()
    except OSError as error:
        return min(error.errno or 255, 255)
    return 0


def _finish_child(pid: int) -> None:
    """Wait for a child's end. Raises OSError with the error that the child had."""
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        raise OSError(code, os.strerror(code) if 0 < code < 255 else "a child process failed")
