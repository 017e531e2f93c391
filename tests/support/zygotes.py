"""Finds the zygotes of this process, and the processes below them."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from codeplan.audit.auditor import is_first_of_namespace
from codeplan.sandbox.host import launcher

_EXITING = 4  # PF_EXITING among the flags in proc(5)'s stat


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
    while len(found := [pid for pid in spare_workers(zygote) if not _is_ending(pid)]) != count:
        assert time.monotonic() < deadline, f"the zygote has the workers {found} and not {count}"
        time.sleep(0.01)
    return found


def _is_ending(pid: int) -> bool:
    """Whether the process is gone, exits, or was killed: a run returns before its killed worker is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True
    pending = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigPnd:", "ShdPnd:"))]
    killed = any(signals & 1 << signal.SIGKILL - 1 for signals in pending)
    return stat[0] in "ZX" or bool(int(stat[6]) & _EXITING) or killed


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
