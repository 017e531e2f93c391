"""The system call filter of a worker. The kernel kills a worker that makes any other call.

The filter allows the calls that CPython needs to compute, to manage memory and to use its one socket, and only with
the necessary arguments: reading another process's clock, for example, is refused. Calls that only look for files fail
with EPERM instead, because libraries try them routinely. Executable memory is never granted.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
from typing import Final, NamedTuple


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
