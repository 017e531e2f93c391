"""Gives a forked worker its own copies of the pages that it will write to, all at once and before its job comes.

Forked memory is shared until written; each first write to a page costs a page fault and a copy. Python writes to a
thousand pages in a check, because it counts references in the objects themselves. The zygote finds out once which
pages a typical job writes to. Its workers ask the kernel for copies of these while they wait for their job.
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
