"""A worker's pages are its own before its job comes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.zygotes import wait_for_workers, zygote_pid

from codeplan.sandbox.host import launcher

_PROGRAM = """
import ctypes, os, resource, sys
from codeplan.sandbox.cage.zygote import find_hot_pages

PAGES, PAGE = 500, os.sysconf("SC_PAGE_SIZE")
block = ctypes.create_string_buffer(PAGES * PAGE)
ctypes.memset(block, 1, PAGES * PAGE)

def work():
    for i in range(0, PAGES, 4):
        ctypes.memset(ctypes.addressof(block) + i * PAGE, 2, 1)
    if "fails" in sys.argv and not found:
        raise RuntimeError

if "rootless" in sys.argv:
    os.chroot(sys.argv[2])
found = False
hot = find_hot_pages(work)
found = True
reader, writer = os.pipe()
if os.fork() == 0:
    if "no descriptor" in sys.argv:
        resource.setrlimit(resource.RLIMIT_NOFILE, (writer + 1, writer + 1))
    if "not copied" not in sys.argv:
        hot.copy()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    work()
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    os.write(writer, f"{len(hot)} {faults} {sum(block.raw) == PAGES * PAGE + len(range(0, PAGES, 4))}".encode())
    os._exit(0)
print(os.read(reader, 100).decode(), len(block.raw.strip(chr(1).encode())))
"""

WRITTEN = 125
PAGES_OF_A_CHECK = 3_000  # kB; a worker that has copied nothing has 1,300


def ran(*how: str) -> tuple[int, int, bool, bool]:
    """Hot pages; page faults of a child that writes to 125 pages; whether it and its parent have the right bytes."""
    command = [sys.executable, "-c", _PROGRAM, *how]
    hot, faults, right, changed = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()
    return int(hot), int(faults), right == "True", changed == "0"


def copies_on_request() -> bool:
    version = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
    return sys.platform == "linux" and version >= (6, 13)


@pytest.mark.skipif(not copies_on_request(), reason="only Linux 6.13 and later copies pages on request")
def test_copied_pages_cost_no_faults_later() -> None:
    hot, faults, right, unchanged = ran("copied")
    assert hot >= WRITTEN
    assert faults < WRITTEN // 2
    assert right
    assert unchanged
    hot, faults, right, unchanged = ran("not copied")
    assert faults >= WRITTEN
    assert right
    assert unchanged


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can hide /proc")
def test_without_proc_no_page_is_hot_and_work_goes_on(tmp_path: Path) -> None:
    hot, faults, right, unchanged = ran("rootless", str(tmp_path))
    assert hot == 0
    assert faults >= WRITTEN
    assert right
    assert unchanged


def test_a_worker_that_may_open_nothing_goes_on() -> None:
    hot, faults, right, unchanged = ran("no descriptor")
    assert hot >= WRITTEN
    assert faults >= WRITTEN
    assert right
    assert unchanged


def test_work_that_fails_makes_no_page_hot() -> None:
    hot, faults, right, unchanged = ran("fails", "not copied")
    assert hot == 0


@pytest.mark.skipif(not copies_on_request(), reason="only Linux 6.13 and later copies pages on request")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can read the memory map of a locked worker")
def test_a_worker_for_checks_has_its_pages_before_its_job_comes() -> None:
    launcher.check_workers.spawn().kill()
    (spare,) = wait_for_workers(zygote_pid(launcher.check_workers), 1)
    deadline = time.monotonic() + 20
    while (found := private_kilobytes(spare)) < PAGES_OF_A_CHECK and time.monotonic() < deadline:
        time.sleep(0.01)
    assert found >= PAGES_OF_A_CHECK


def private_kilobytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:"))
