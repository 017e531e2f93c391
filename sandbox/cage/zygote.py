"""The process that forks workers. It starts with an empty environment, so its memory holds no secret of the host.

It imports and warms up everything that a worker needs, then answers requests of five bytes on its control socket: ``f``
forks a worker (reply: its pid, the host's end of its socket, and a pidfd if the kernel has them); ``s`` with a pid
returns that worker's wait status. The host orders each worker ahead, so the worker can lock itself down before it is
needed. When the host is gone, the control socket closes and the zygote exits; its workers die with it.

The host starts it as ``python -s -S -P -c …`` (see ``host.launcher``) and never calls ``main`` itself.

It saves its workers the page faults that sharing its memory costs them. Forked memory is shared until written; each
first write to a page costs a page fault and a copy. Python writes to a thousand pages in a check, because it counts
references in the objects themselves. So the zygote copies the code that workers run to one place (``gather_code``), and
rehearses what they do until the interpreter has nothing more to note about it. It finds out once which pages a typical
check writes to (``HotPages``); workers ask the kernel for copies of these while they wait for their job. The warm-up
also leaves free blocks all over the heap. A worker that takes them writes to hundreds of shared pages; one fresh huge
page costs less than fifty of these. So the zygote allocates all free blocks itself, except for a small one that it
uses, and leaves its workers an untouched reserve (``prepare_fresh_heap``).
"""

from __future__ import annotations

import array
import ctypes
import gc
import os
import select
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FrameType, FunctionType
from typing import Final, NamedTuple, NoReturn

from codeplan.sandbox.cage import worker
from codeplan.sandbox.cage.host_traces import ask_first_in_bytes, hide_addresses, remove_host_paths
from codeplan.sandbox.cage.lockdown import Cage
from codeplan.sandbox.protocol.frames import READY_MESSAGE, REPLY_FORMAT, REQUEST_FORMAT, UNKNOWN_STATUS

_MAX_REMEMBERED: Final = 256
_NAMESPACE_END_SECONDS: Final = 2.0  # how long a pid namespace without its first process may take to end
_COPIES: Final = 5  # of the bytecode: the first fill the holes of the heap, the last one lies together
_WARM_UP_RUNS: Final = 10  # how often the zygote runs the samples, until the interpreter has specialised their bytecode


def main(control_fd: int, role: worker.WorkerRole) -> NoReturn:
    """Serve the control socket until the host is gone."""
    control = socket.socket(fileno=control_fd)
    try:
        serve = _ZygoteServer(control, role)
    except BaseException as error:
        control.send(f"{type(error).__name__}: {error}"[:2000].encode("utf-8", "replace") + b"\n")
        os._exit(1)
    control.send(READY_MESSAGE)
    serve.serve_forever()


class _ForkedWorker(NamedTuple):
    """A worker, the host's end of its socket, and its pidfd if there is one."""

    pid: int
    socket: socket.socket
    handle: int | None

    def close(self) -> None:
        self.socket.close()
        if self.handle is not None:
            os.close(self.handle)


class _ZygoteServer:
    def __init__(self, control: socket.socket, role: worker.WorkerRole) -> None:
        warnings.simplefilter("ignore")
        ask_first_in_bytes()
        hide_addresses()  # before the warm-up, because it makes the interpreter discard its specialised bytecode
        self._control = control
        self._exit_statuses: dict[int, int] = {}
        for _ in range(_WARM_UP_RUNS):
            worker.run_samples(role)
        self._cage = Cage()
        gather_code(lambda: self._rehearse(role))
        for _ in range(_WARM_UP_RUNS):
            self._rehearse(role)
        self._role = role
        remove_host_paths()
        if role.fresh_heap:
            prepare_fresh_heap()
        gc.freeze()  # no collection before it: workers would fill the freed holes and so unshare pages
        gc.disable()
        # before the namespaces are entered, because they have no /proc
        self._hot_pages = find_hot_pages(lambda: worker.warm_up(role)) if role.hot_pages else None
        self._cage.enter_namespaces()
        self._wake_socket, wake = socket.socketpair()
        self._wake_socket.setblocking(False)
        wake.setblocking(False)
        signal.set_wakeup_fd(wake.detach(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _ignore_signal)
        self._timer = worker.PlanTimer()
        self._timer.install_handlers()  # for the workers: nothing sets the zygote's own timers
        gc.freeze()

    def _rehearse(self, role: worker.WorkerRole) -> None:
        """Do what workers do, as far as it changes nothing."""
        worker.run_samples(role)
        worker.rehearse_link()
        self._cage.rehearse()

    def serve_forever(self) -> NoReturn:
        while True:
            readable, _, _ = select.select([self._control, self._wake_socket], [], [])
            if self._wake_socket in readable:
                self._wake_socket.recv(4096)
                self._reap()
            if self._control in readable:
                self._serve_request()

    def _serve_request(self) -> None:
        request = self._control.recv(REQUEST_FORMAT.size)
        if len(request) != REQUEST_FORMAT.size:
            os._exit(0)
        operation, number = REQUEST_FORMAT.unpack(request)
        if operation == b"f":
            self._hand_out()
        else:
            self._control.send(REPLY_FORMAT.pack(self._status(number), number))

    def _hand_out(self) -> None:
        try:
            worker = self._fork()
        except OSError as error:
            self._exit_if_namespace_ends()
            self._control.send(REPLY_FORMAT.pack(error.errno or 1, 0))
            return
        handles = [worker.socket.fileno()] if worker.handle is None else [worker.socket.fileno(), worker.handle]
        socket.send_fds(self._control, [REPLY_FORMAT.pack(0, worker.pid)], handles)
        worker.close()

    def _fork(self) -> _ForkedWorker:
        """Fork a worker. Raises OSError."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                pid = os.fork()
            except OSError:
                ours.close()
                raise
            if pid == 0:
                self._become_worker(theirs.fileno())
        self._exit_statuses.pop(pid, None)  # of an earlier worker with the same pid
        return _ForkedWorker(pid, ours, _open_pidfd(pid))

    def _become_worker(self, job_fd: int) -> NoReturn:
        """Become a worker. This never returns into the zygote's loop, even after an error."""
        try:
            signal.set_wakeup_fd(-1)
            gc.enable()
            if self._hot_pages is not None:
                self._hot_pages.copy()
            worker.serve_job(job_fd, self._cage, self._role, self._timer)
        except BaseException:
            os._exit(1)
        os._exit(0)

    def _reap(self) -> None:
        """Collect all ended workers, outside the signal handler: handlers may interrupt one another."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._cage.init_pid:
                os._exit(1)  # the kernel has killed all workers and forks no more into their pid namespace
            self._exit_statuses[pid] = status
            while len(self._exit_statuses) > _MAX_REMEMBERED:
                del self._exit_statuses[next(iter(self._exit_statuses))]

    def _exit_if_namespace_ends(self) -> None:
        """Exit if a fork failed because the first process of the pid namespace was killed."""
        deadline = time.monotonic() + _NAMESPACE_END_SECONDS
        while self._cage.init_pid and time.monotonic() < deadline:
            self._reap()
            time.sleep(0.01)

    def _status(self, pid: int) -> int:
        self._reap()
        return self._exit_statuses.get(pid, UNKNOWN_STATUS)


def gather_code(work: Callable[[], object]) -> None:
    """Copy the bytecode that ``work`` runs to one place in memory; it must be specialised anew.

    A call counts a reference in its code object, so each worker writes to every page that holds one that it runs.
    """
    ran: dict[int, CodeType] = {}

    def note(frame: FrameType, event: str, argument: object) -> None:
        ran[id(frame.f_code)] = frame.f_code

    sys.setprofile(note)
    work()
    sys.setprofile(None)
    functions = [f for f in gc.get_objects() if type(f) is FunctionType and id(f.__code__) in ran]
    rounds = [[_copy_code(f.__code__, ran) for f in functions] for _ in range(_COPIES)]
    for function, code in zip(functions, rounds[-1], strict=True):
        function.__code__ = code


def _copy_code(code: CodeType, ran: dict[int, CodeType]) -> CodeType:
    parts = (_copy_code(part, ran) if id(part) in ran else part for part in code.co_consts)
    return code.replace(co_consts=tuple(parts))


def _ignore_signal(signum: int, frame: FrameType | None) -> None:
    """Do nothing: the interpreter itself writes to the wake-up descriptor."""


def _open_pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None


_PROCESS_MADVISE: Final = 440  # a system call with the same number on every architecture
_POPULATE_WRITE: Final = 23
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_STATE_BYTES: Final = 8  # of one page's state in the file ``pagemap``
_PRESENT_AND_OWN: Final = 1 << 63 | 1 << 56
_MAX_RANGES: Final = 1024  # of one system call
_REPORT_BYTES: Final = 2 * 8 * _MAX_RANGES


class HotPages:
    """The pages that a typical job writes to; ``ranges`` holds start and size of each range, alternately."""

    def __init__(self, ranges: array.array[int]) -> None:
        self._count = min(len(ranges) // 2, _MAX_RANGES)
        self._ranges = (ctypes.c_size_t * len(ranges))(*ranges)
        self._system_call = ctypes.CDLL(None).syscall

    def __len__(self) -> int:
        return sum(self._ranges[1 : 2 * self._count : 2]) // _PAGE

    def copy(self) -> None:
        """Copy the pages for this process. A kernel before 6.13 refuses; each is then copied at its first write."""
        try:
            pidfd = os.pidfd_open(os.getpid())
        except (OSError, AttributeError):
            return
        count, flags = ctypes.c_size_t(self._count), ctypes.c_size_t(0)
        self._system_call(_PROCESS_MADVISE, pidfd, ctypes.byref(self._ranges), count, _POPULATE_WRITE, flags)
        os.close(pidfd)


def find_hot_pages(work: Callable[[], object]) -> HotPages:
    """Find the pages that a forked child writes to while it does ``work``; none if there is no ``/proc``."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _report_own_pages(work, writer)
    os.close(writer)
    try:
        found = b"".join(iter(partial(os.read, reader, _REPORT_BYTES), b""))
    finally:
        os.close(reader)
        os.waitpid(pid, 0)
    return HotPages(array.array("Q", found))


def _report_own_pages(work: Callable[[], object], writer: int) -> NoReturn:
    try:
        work()
        os.write(writer, _own_ranges()[: 2 * _MAX_RANGES].tobytes())
    finally:
        os._exit(0)


def _own_ranges() -> array.array[int]:
    """Start and size, alternately, of the ranges of memory that no other process shares. Raises OSError."""
    ranges = array.array("Q")
    end = 0
    for page in _own_pages():
        if page != end:
            ranges.extend((page, 0))
        ranges[-1] += _PAGE
        end = page + _PAGE
    return ranges


def _own_pages() -> Iterator[int]:
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps, open("/proc/self/pagemap", "rb") as pages:
        for line in list(maps):
            addresses, rights = line.split()[:2]
            if rights[:2] != "rw" or rights[3] != "p":
                continue
            start, end = (int(number, 16) for number in addresses.split("-"))
            pages.seek(start // _PAGE * _STATE_BYTES)
            for i, state in enumerate(array.array("Q", pages.read((end - start) // _PAGE * _STATE_BYTES))):
                if state & _PRESENT_AND_OWN == _PRESENT_AND_OWN:
                    yield start + i * _PAGE


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt
_DONT_NEED, _HUGE_PAGES = 4, 14  # advice to madvise
_SMALL_PAGE: Final = 4 << 10
_HUGE_PAGE: Final = 2 << 20
_OWN_USE: Final = 64 << 10  # bytes for the zygote's own use, so that it does not touch the reserve
_BEFORE_START: Final = _OWN_USE + 4 * _SMALL_PAGE  # room in the reserve before its first huge page
_RESERVE: Final = 3 * _HUGE_PAGE + _BEFORE_START  # two huge pages at least, wherever it begins
_MAX_TRIMMED: Final = 128 << 20
_FIRST_SIZE, _FINE_SIZE, _SIZE_STEP = 1 << 20, 1 << 10, 16  # sizes are halved, and below 1 KiB tried one by one


def prepare_fresh_heap() -> None:
    """Set the reserve up. Does nothing where the C library is not glibc; the kernel may refuse huge pages."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallopt"):
        return
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes, libc.sbrk.restype = [ctypes.c_void_p], ctypes.c_void_p
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.mallopt(_MMAP_THRESHOLD, _MAX_TRIMMED // 2)
    libc.mallopt(_TRIM_THRESHOLD, _MAX_TRIMMED)
    reserve = libc.malloc(_RESERVE)
    if reserve is None or not 0 <= libc.sbrk(0) - (reserve + _RESERVE) < _RESERVE:  # not the last block
        return
    _take_free_blocks(libc, reserve)
    start = -(-(reserve + _BEFORE_START) // _HUGE_PAGE) * _HUGE_PAGE
    size = (reserve + _RESERVE - start) // _HUGE_PAGE * _HUGE_PAGE
    libc.madvise(start, size, _DONT_NEED)  # pages that the warm-up has used are never part of a huge page
    libc.madvise(start, size, _HUGE_PAGES)
    libc.free(reserve)
    _fill_up_to(libc, reserve, start)


def _take_free_blocks(libc: ctypes.CDLL, limit: int) -> None:
    """Allocate all free blocks below an address, the largest first."""
    size = _FIRST_SIZE
    while size >= _SIZE_STEP:
        while (block := libc.malloc(size)) is not None and block < limit:
            pass
        libc.free(block)
        size = size // 2 if size > _FINE_SIZE else size - _SIZE_STEP


def _fill_up_to(libc: ctypes.CDLL, reserve: int, start: int) -> None:
    """Allocate from the reserve up to the page before its first huge page, where the next block's header lies."""
    libc.malloc(start - reserve - _OWN_USE - 3 * _SMALL_PAGE)
    own = libc.malloc(_OWN_USE)
    libc.malloc(_SMALL_PAGE)  # keeps the zygote's block apart from the reserve
    libc.free(own)
