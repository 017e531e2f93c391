"""Locks down a worker in layers, each an independent refusal by the operating system.

The zygote enters namespaces once. The worker applies the other layers itself before it receives a plan. None can be
undone. A layer that fails is reported, never skipped silently; the host decides whether to continue.
"""

from __future__ import annotations

import ctypes
import math
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Final, NoReturn

from codeplan.sandbox.cage import landlock, namespaces, seccomp
from codeplan.sandbox.protocol.cage_layers import OPTIONAL_LAYERS, Layer

LAYER_NAMES: Final = ("user", "not-dumpable", "death-signal", "no-new-privileges", "landlock", "limits", "seccomp")
"""The necessary layers in the order of application."""

SOCKET_FD: Final = 3  # the only descriptor that a worker keeps
MAX_FD: Final = 1 << 16  # a worker closes every other descriptor below this number
_INIT_BYTES: Final = 16 << 20
_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_NO_NEW_PRIVILEGES = 1, 4, 38


class Cage:
    """The data that the zygote prepares once, before it forks workers: C library, system call filter, current size."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._base_bytes = mapped_bytes()
        self._parent = os.getpid()
        self.namespaces: tuple[Layer, ...] = ()
        self.init_pid = 0  # the first process of the workers' pid namespace; 0 without one
        self._filter: seccomp.PreparedFilter | None = None
        self._filter_error = ""
        try:
            self._filter = seccomp.prepare_filter()
        except OSError as error:
            self._filter_error = _reason(error)

    def enter_namespaces(self) -> None:
        """Put this process and its future children into namespaces, as far as the kernel allows. Never raises.

        Everything that a worker needs must be loaded before, because there are no files afterwards.
        """
        steps: tuple[Callable[[], str], ...] = (
            lambda: namespaces.enter_user_namespace(self._libc),
            lambda: namespaces.enter_mount_namespace(self._libc),
            lambda: namespaces.enter_network_namespace(self._libc),
            lambda: namespaces.enter_ipc_namespace(self._libc),
            self._enter_pid_namespace,
        )
        self.namespaces = tuple(map(_apply_layer, OPTIONAL_LAYERS, steps))

    def _enter_pid_namespace(self) -> str:
        reader, writer = os.pipe()
        try:
            self.init_pid = namespaces.enter_pid_namespace(self._libc, lambda: self._serve_as_init(reader))
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

    def apply_common_layers(self) -> tuple[Layer, ...]:
        """Apply the layers that are the same for every worker. Never raises. Returns the namespaces too."""
        steps: tuple[Callable[[], str], ...] = (
            lambda: drop_privileges(self._libc),
            lambda: self._prctl(_SET_DUMPABLE, 0, "no core, no ptrace, no /proc by others"),
            self._die_with_parent,
            lambda: self._prctl(_SET_NO_NEW_PRIVILEGES, 1, "setuid programs gain nothing"),
            lambda: landlock.apply_ruleset(self._libc),
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
        return seccomp.apply_filter(self._libc, self._filter)


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
        namespaces.drop_capabilities(libc)
        return f"uid {os.getuid()} is not root, no capabilities"
    nobody = namespaces.NOBODY
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
