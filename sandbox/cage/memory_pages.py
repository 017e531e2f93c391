"""Saves forked workers the page faults that sharing the zygote's memory costs them.

Forked memory is shared until written; each first write to a page costs a page fault and a copy. Python writes to a
thousand pages in a check, because it counts references in the objects themselves. The zygote finds out once which
pages a typical job writes to. Its workers ask the kernel for copies of these while they wait for their job.

The zygote's warm-up also leaves free blocks all over its heap. A worker that takes them writes to hundreds of shared
pages. One fresh huge page costs less than fifty of these. So the zygote allocates all free blocks itself, except for a
small one that it uses, and leaves its workers an untouched reserve.
"""

from __future__ import annotations

import array
import ctypes
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NoReturn

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
