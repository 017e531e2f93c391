"""Finds the zygotes of this process, and the processes below them."""

from __future__ import annotations

import time
from pathlib import Path

from codeplan.audit.process_info import is_first_of_namespace, is_running
from codeplan.sandbox.host import launcher


def zygote_pid(workers: launcher.WorkerLauncher) -> int:
    """The pid of a running zygote."""
    zygote = workers._zygote  # tests may look at private state
    assert zygote is not None
    return zygote._process.pid


def first_process(zygote: int) -> int:
    """The first process of the zygote's pid namespace."""
    (first,) = [pid for pid in _children(zygote) if is_first_of_namespace(pid)]
    return first


def spare_workers(zygote: int) -> list[int]:
    """The zygote's workers. Of a zygote that is left alone: the spare one."""
    return [pid for pid in _children(zygote) if not is_first_of_namespace(pid)]


def wait_for_workers(zygote: int, count: int) -> list[int]:
    """The zygote's workers, as soon as there are so many that are not about to end. Fails after 20 s."""
    deadline = time.monotonic() + 20
    while len(found := [pid for pid in spare_workers(zygote) if is_running(pid)]) != count:
        assert time.monotonic() < deadline, f"the zygote has the workers {found} and not {count}"
        time.sleep(0.01)
    return found


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
