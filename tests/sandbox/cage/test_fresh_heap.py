"""Workers allocate from pages that their zygote has never touched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import ctypes, os, sys
from codeplan.sandbox.cage.zygote import prepare_fresh_heap

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
blocks = [libc.malloc(3000) for _ in range(400)]
for block in blocks:
    ctypes.memset(block, 1, 3000)
for block in blocks[::2]:
    libc.free(block)
if sys.argv[1] == "fresh":
    prepare_fresh_heap()
reader, writer = os.pipe()
if os.fork() == 0:
    os.write(writer, b"".join(libc.malloc(2900).to_bytes(8, "big") for _ in range(500)))
    os._exit(0)
resident, touched = ctypes.create_string_buffer(1), 0
taken = os.read(reader, 4000)
for i in range(0, 4000, 8):
    libc.mincore(int.from_bytes(taken[i : i + 8], "big") + 2000 & ~4095, 1, resident)
    touched += resident.raw[0] & 1
print(touched)
"""


_USED_BEFORE = """
import ctypes, re, sys
from codeplan.sandbox.cage.zygote import prepare_fresh_heap

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
libc.mallopt(-3, 64 << 20)  # take all blocks from the heap
libc.mallopt(-1, 64 << 20)  # keep freed ones
libc.malloc(int(sys.argv[1]) << 10)
block = libc.malloc(1 << 20)
ctypes.memset(block, 1, 1 << 20)
libc.free(block)
prepare_fresh_heap()
areas = re.findall(r"Rss: +([0-9]+) kB(?:(?!Rss:).)*VmFlags:[a-z ]* hg ", open("/proc/self/smaps").read(), re.DOTALL)
print(*areas)
"""


def touched_pages(how: str) -> int:
    """How many of 500 blocks that a forked process allocates lie on pages that its parent uses; 200 of them are free."""
    command = [sys.executable, "-c", _PROGRAM, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


def test_a_worker_takes_fresh_pages() -> None:
    if not Path("/proc/self/maps").read_text().count("libc.so.6"):
        pytest.skip("the C library is not glibc")
    assert touched_pages("shared") >= 200
    assert touched_pages("fresh") < 60


def test_no_huge_page_of_the_reserve_is_used_before_a_worker_has_it() -> None:
    """Wherever the heap ends, and whatever was used and freed there."""
    if not Path("/proc/self/maps").read_text().count("libc.so.6"):
        pytest.skip("the C library is not glibc")
    found = []
    for kilobytes in range(1, 2048, 128):
        command = [sys.executable, "-c", _USED_BEFORE, str(kilobytes)]
        found.append(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split())
    if not any(found):
        pytest.skip("the kernel has no huge pages")
    assert all(found)
    assert {used for areas in found for used in areas} == {"0"}
