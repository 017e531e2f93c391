"""Lets forked workers allocate from fresh huge pages, instead of from pages that they share with the zygote.

The zygote's warm-up leaves free blocks all over its heap. A worker that takes them writes to hundreds of shared pages,
and each first write costs a page fault and a copy. One fresh huge page costs less than fifty of these. So the zygote
allocates all free blocks itself, except for a small one that it uses, and leaves its workers an untouched reserve.
"""

from __future__ import annotations

import ctypes
from typing import Final

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt
_DONT_NEED, _HUGE_PAGES = 4, 14  # advice to madvise
_PAGE: Final = 4 << 10
_HUGE_PAGE: Final = 2 << 20
_OWN_USE: Final = 64 << 10  # bytes for the zygote's own use, so that it does not touch the reserve
_BEFORE_START: Final = _OWN_USE + 4 * _PAGE  # room in the reserve before its first huge page
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
    libc.malloc(start - reserve - _OWN_USE - 3 * _PAGE)
    own = libc.malloc(_OWN_USE)
    libc.malloc(_PAGE)  # keeps the zygote's block apart from the reserve
    libc.free(own)
