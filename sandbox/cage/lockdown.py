"""Locks down a worker in layers, each an independent refusal by the operating system.

The zygote enters namespaces once. The worker applies the other layers itself before it receives a plan. None can be
undone. A layer that fails is reported, never skipped silently; the host decides whether to continue.

The namespaces hide the host's resources; the kernel may refuse them, as it does in many containers, and the other
layers do not depend on them. Landlock refuses files, TCP, abstract sockets and signals, because its rule set is empty.
The system call filter (seccomp) allows the calls that CPython needs to compute, to manage memory and to use its one
socket, and only with the necessary arguments. Calls that only look for files fail with EPERM, because libraries try
them routinely; the kernel kills a worker that makes any other call. Executable memory is never granted.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import math
import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import Final, NamedTuple, NoReturn

from codeplan.sandbox.protocol.frames import OPTIONAL_LAYERS, Layer


class _CallTable(NamedTuple):
    """One architecture: its number in the kernel's audit interface, and its system call numbers.

    ``by_argument`` is in the order of ``_ARGUMENT_RULES``.
    """

    audit: int
    allowed: tuple[int, ...]
    by_argument: tuple[int, ...]
    no_exec: tuple[int, ...]
    refused: tuple[int, ...]


class _ArgumentRule(NamedTuple):
    """The values that one argument of a call may have; with others the call answers ``error``.

    The kernel reads these arguments as 32 bits, and so does the filter.
    """

    argument: int
    values: tuple[int, ...]
    error: int = errno.EPERM


_SOCKET: Final = _ArgumentRule(0, (3,), errno.EBADF)
_OWN_CLOCKS: Final = _ArgumentRule(0, (0, 1, 2, 3))
"""Real time, monotonic time, and the processor time of this process and thread. Other numbers name other processes."""

_ARGUMENT_RULES: Final = (
    _SOCKET,  # read
    _SOCKET,  # write
    _ArgumentRule(3, (socket.MSG_DONTWAIT,)),  # recvfrom: checks whether there is something to read
    _ArgumentRule(1, (128, 129, 137, 138, 393)),  # futex: wait and wake in private memory
    _OWN_CLOCKS,  # clock_gettime
    _OWN_CLOCKS,  # clock_getres
    _ArgumentRule(0, (0, 1)),  # getrusage: this process, this thread
    _ArgumentRule(2, (4, 8, 14, 15)),  # madvise: drop pages, use or avoid huge ones
)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(pair.split("=")[1]) for pair in text.split())


_X86_64: Final = _CallTable(
    0xC000003E,
    _numbers(
        "close=3 munmap=11 brk=12 rt_sigaction=13 rt_sigprocmask=14 rt_sigreturn=15 sched_yield=24 mremap=25 getpid=39"
        " exit=60 gettimeofday=96 sigaltstack=131 gettid=186 restart_syscall=219 exit_group=231 getrandom=318 rseq=334"
    ),
    _numbers("read=0 write=1 recvfrom=45 futex=202 clock_gettime=228 clock_getres=229 getrusage=98 madvise=28"),
    _numbers("mmap=9 mprotect=10"),
    _numbers(
        "open=2 stat=4 fstat=5 lstat=6 lseek=8 ioctl=16 access=21 fcntl=72 getcwd=79 readlink=89 getrlimit=97"
        " getppid=110 getdents64=217 openat=257 newfstatat=262 readlinkat=267 faccessat=269 prlimit64=302"
        " membarrier=324 statx=332 openat2=437 faccessat2=439"
    ),
)

_AARCH64: Final = _CallTable(
    0xC00000B7,
    _numbers(
        "close=57 exit=93 exit_group=94 sched_yield=124 restart_syscall=128 sigaltstack=132 rt_sigaction=134"
        " rt_sigprocmask=135 rt_sigreturn=139 gettimeofday=169 getpid=172 gettid=178 brk=214 munmap=215 mremap=216"
        " getrandom=278 rseq=293"
    ),
    _numbers("read=63 write=64 recvfrom=207 futex=98 clock_gettime=113 clock_getres=114 getrusage=165 madvise=233"),
    _numbers("mmap=222 mprotect=226"),
    _numbers(
        "getcwd=17 fcntl=25 ioctl=29 faccessat=48 openat=56 getdents64=61 lseek=62 readlinkat=78 newfstatat=79 fstat=80"
        " getrlimit=163 getppid=173 prlimit64=261 membarrier=283 statx=291 openat2=437 faccessat2=439"
    ),
)

_TABLES: Final = {"x86_64": _X86_64, "amd64": _X86_64, "aarch64": _AARCH64, "arm64": _AARCH64}

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _ALLOW, _ERROR = 0x80000000, 0x7FFF0000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_PROT_EXEC: Final = 4
_X32_BIT: Final = 0x40000000
_SET_SECCOMP, _MODE_FILTER = 22, 2


class FilterInstruction(NamedTuple):
    """One instruction of the kernel's filter machine: operation, jumps if true and if false, operand."""

    code: int
    jump_true: int
    jump_false: int
    operand: int


def build_filter(machine: str) -> tuple[FilterInstruction, ...]:
    """The filter for an architecture, as named by ``os.uname().machine``. Raises OSError if it is unknown."""
    table = _TABLES.get(machine.lower())
    if table is None:
        raise OSError(errno.ENOSYS, f"no table of system calls for {machine or 'this machine'}")
    steps = [
        FilterInstruction(_LOAD, 0, 0, _ARCHITECTURE_AT),
        FilterInstruction(_EQUAL, 1, 0, table.audit),
        FilterInstruction(_RETURN, 0, 0, _KILL),
        FilterInstruction(_LOAD, 0, 0, _NUMBER_AT),
        FilterInstruction(_AT_LEAST, 0, 1, _X32_BIT),
        FilterInstruction(_RETURN, 0, 0, _KILL),
    ]
    for number, rule in zip(table.by_argument, _ARGUMENT_RULES, strict=True):
        steps += _allow_by_argument(number, rule)
    for number in table.allowed:
        steps += _return_if(number, _ALLOW)
    for number in table.refused:
        steps += _return_if(number, _ERROR | errno.EPERM)
    for number in table.no_exec:
        steps += _allow_unless_executable(number)
    return (*steps, FilterInstruction(_RETURN, 0, 0, _KILL))


def _return_if(number: int, answer: int) -> list[FilterInstruction]:
    return [FilterInstruction(_EQUAL, 0, 1, number), FilterInstruction(_RETURN, 0, 0, answer)]


def _allow_by_argument(number: int, rule: _ArgumentRule) -> list[FilterInstruction]:
    count = len(rule.values)
    return [
        FilterInstruction(_EQUAL, 0, count + 3, number),
        FilterInstruction(_LOAD, 0, 0, _argument_at(rule.argument)),
        *(FilterInstruction(_EQUAL, count - at, 0, value) for at, value in enumerate(rule.values)),
        FilterInstruction(_RETURN, 0, 0, _ERROR | rule.error),
        FilterInstruction(_RETURN, 0, 0, _ALLOW),
    ]


def _argument_at(argument: int) -> int:
    """The offset of an argument's lower half in the kernel's data; both architectures store it first."""
    return _ARGUMENTS_AT + 8 * argument


def _allow_unless_executable(number: int) -> list[FilterInstruction]:
    return [
        FilterInstruction(_EQUAL, 0, 4, number),
        FilterInstruction(_LOAD, 0, 0, _argument_at(2)),
        FilterInstruction(_ANY_BIT, 0, 1, _PROT_EXEC),
        FilterInstruction(_RETURN, 0, 0, _KILL),
        FilterInstruction(_RETURN, 0, 0, _ALLOW),
    ]


class _Filter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]


class _Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(_Filter))]


class PreparedFilter(NamedTuple):
    """A filter in kernel layout, prepared once and applied in each worker."""

    filters: ctypes.Array[_Filter]
    detail: str


def prepare_filter() -> PreparedFilter:
    """Prepare this machine's filter. Raises OSError if there is no table for it."""
    machine = os.uname().machine
    steps = build_filter(machine)
    table = _TABLES[machine.lower()]
    calls = len(table.allowed) + len(table.by_argument) + len(table.no_exec)
    return PreparedFilter(
        (_Filter * len(steps))(*(_Filter(*s) for s in steps)), f"{machine}, {calls} system calls allowed"
    )


def apply_filter(libc: ctypes.CDLL, prepared: PreparedFilter) -> str:
    """Permanently put this process under the filter. Returns a description. Raises OSError."""
    whole = _Program(len(prepared.filters), ctypes.cast(prepared.filters, ctypes.POINTER(_Filter)))
    if libc.prctl(
        _SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), ctypes.byref(whole), ctypes.c_ulong(0), ctypes.c_ulong(0)
    ):
        raise OSError(ctypes.get_errno(), "the kernel refused the seccomp filter")
    return prepared.detail


_CREATE_RULESET: Final = 444
_RESTRICT_SELF: Final = 446
_ASK_VERSION: Final = 1

_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15}
"""The number of file rights that each ABI version knows; 16 since version 5."""

_TCP_RIGHTS: Final = 0b11
_SCOPES: Final = 0b11


def abi_version(libc: ctypes.CDLL) -> int:
    """The ABI version of this kernel. Raises OSError if there is no Landlock."""
    found = int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION))
    if found <= 0:
        raise OSError(ctypes.get_errno(), "Landlock is not in this kernel, or is switched off")
    return found


def build_ruleset(abi: int) -> bytes:
    """The attribute block that handles, and so denies, every right that ``abi`` knows."""
    files = (1 << _FILE_RIGHTS.get(abi, 16)) - 1
    if abi < 4:
        return struct.pack("=Q", files)
    if abi < 6:
        return struct.pack("=QQ", files, _TCP_RIGHTS)
    return struct.pack("=QQQ", files, _TCP_RIGHTS, _SCOPES)


def apply_ruleset(libc: ctypes.CDLL) -> str:
    """Permanently deny this process everything that Landlock can deny. Returns a description. Raises OSError."""
    abi = abi_version(libc)
    attributes = build_ruleset(abi)
    fd = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset failed")
    try:
        if libc.syscall(_RESTRICT_SELF, fd, 0) != 0:
            raise OSError(ctypes.get_errno(), "landlock_restrict_self failed")
    finally:
        os.close(fd)
    return f"version {abi}, no rule"


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


LAYER_NAMES: Final = ("user", "not-dumpable", "death-signal", "no-new-privileges", "landlock", "limits", "seccomp")
"""The necessary layers in the order of application."""

SOCKET_FD: Final = 3  # the only descriptor that a worker keeps
MAX_FD: Final = 1 << 16  # a worker closes every other descriptor below this number
_INIT_BYTES: Final = 16 << 20
_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_NO_NEW_PRIVILEGES, _GET_NO_NEW_PRIVILEGES = 1, 4, 38, 39


class Cage:
    """The data that the zygote prepares once, before it forks workers: C library, system call filter, current size."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._base_bytes = mapped_bytes()
        self._parent = os.getpid()
        self.namespaces: tuple[Layer, ...] = ()
        self.init_pid = 0  # the first process of the workers' pid namespace; 0 without one
        self._filter: PreparedFilter | None = None
        self._filter_error = ""
        try:
            self._filter = prepare_filter()
        except OSError as error:
            self._filter_error = _reason(error)

    def enter_namespaces(self) -> None:
        """Put this process and its future children into namespaces, as far as the kernel allows. Never raises.

        Everything that a worker needs must be loaded before, because there are no files afterwards.
        """
        steps: tuple[Callable[[], str], ...] = (
            lambda: enter_user_namespace(self._libc),
            lambda: enter_mount_namespace(self._libc),
            lambda: enter_network_namespace(self._libc),
            lambda: enter_ipc_namespace(self._libc),
            self._enter_pid_namespace,
        )
        self.namespaces = tuple(map(_apply_layer, OPTIONAL_LAYERS, steps))

    def _enter_pid_namespace(self) -> str:
        reader, writer = os.pipe()
        try:
            self.init_pid = enter_pid_namespace(self._libc, lambda: self._serve_as_init(reader))
        except BaseException:
            os.close(writer)
            raise
        finally:
            os.close(reader)
        self._parent = 0  # the parent's pid as seen by a worker whose parent is outside its namespace
        return "sees no process of the host"

    def _serve_as_init(self, reader: int) -> NoReturn:
        """Hold the pid namespace open until the zygote ends. Locked like a worker, with a pipe for its socket."""
        self._parent = 0
        os.dup2(reader, SOCKET_FD)
        os.closerange(0, SOCKET_FD)
        os.closerange(SOCKET_FD + 1, MAX_FD)
        self.apply_common_layers()
        self.apply_limit_layers(_INIT_BYTES, 1.0)
        os.read(SOCKET_FD, 1)
        os._exit(0)

    def rehearse(self) -> None:
        """Do what the layers do where it changes nothing."""
        _apply_layer("no-new-privileges", lambda: self._prctl(_GET_NO_NEW_PRIVILEGES, 0, ""))
        _apply_layer("landlock", lambda: str(build_ruleset(abi_version(self._libc))))
        resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))

    def apply_common_layers(self) -> tuple[Layer, ...]:
        """Apply the layers that are the same for every worker. Never raises. Returns the namespaces too."""
        steps: tuple[Callable[[], str], ...] = (
            lambda: drop_privileges(self._libc),
            lambda: self._prctl(_SET_DUMPABLE, 0, "no core, no ptrace, no /proc by others"),
            self._die_with_parent,
            lambda: self._prctl(_SET_NO_NEW_PRIVILEGES, 1, "setuid programs gain nothing"),
            lambda: apply_ruleset(self._libc),
        )
        return (*self.namespaces, *map(_apply_layer, LAYER_NAMES, steps))

    def apply_limit_layers(self, memory: int, cpu: float) -> tuple[Layer, ...]:
        """Apply the rest; ``memory`` is bytes beyond the zygote's size, ``cpu`` is seconds. Never raises."""
        steps = (lambda: restrict_resources(self._base_bytes + memory, cpu), self._filter_calls)
        return tuple(map(_apply_layer, LAYER_NAMES[-len(steps) :], steps))

    def _prctl(self, option: int, value: int, detail: str) -> str:
        if self._libc.prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0))) != 0:
            raise OSError(ctypes.get_errno(), f"prctl({option}) failed")
        return detail

    def _die_with_parent(self) -> str:
        detail = self._prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, "killed when the process that forked it ends")
        if os.getppid() != self._parent:
            os._exit(1)  # the zygote ended before the signal was set
        return detail

    def _filter_calls(self) -> str:
        if self._filter is None:
            raise OSError(0, self._filter_error)
        return apply_filter(self._libc, self._filter)


def mapped_bytes() -> int:
    """The address space of this process in bytes; 0 if unknown."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def drop_privileges(libc: ctypes.CDLL) -> str:
    """Change root to an unprivileged user, and give up all capabilities. Raises OSError if that is not allowed."""
    if os.getuid() != 0 and os.geteuid() != 0:
        drop_capabilities(libc)
        return f"uid {os.getuid()} is not root, no capabilities"
    nobody = NOBODY
    os.setgroups([])
    os.setresgid(nobody, nobody, nobody)
    os.setresuid(nobody, nobody, nobody)
    return f"uid and gid {nobody}, no groups, no capabilities"


def restrict_resources(max_bytes: int, cpu: float) -> str:
    """Set the kernel's resource limits for this process. Raises OSError or ValueError."""
    seconds = math.floor(cpu) + 1
    resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_NOFILE, (SOCKET_FD + 1, SOCKET_FD + 1))
    for name in ("CORE", "FSIZE", "NPROC", "MEMLOCK", "MSGQUEUE"):
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is not None:
            resource.setrlimit(number, (0, 0))
    return "memory, processor time, no files, no processes, no core"


def _apply_layer(name: str, step: Callable[[], str]) -> Layer:
    try:
        return Layer(name, True, step())
    except (OSError, ValueError, AttributeError) as error:
        return Layer(name, False, _reason(error))


def _reason(error: Exception) -> str:
    if sys.platform != "linux":
        return f"{sys.platform} does not have it"
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
