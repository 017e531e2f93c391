"""A thread leaves the processor of its worker, and no other; what it may run on stays the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from codeplan.sandbox.host.worker_process import leave_processor_of

PROCESSORS = sorted(os.sched_getaffinity(0))
needs_two = pytest.mark.skipif(len(PROCESSORS) < 2, reason="needs two processors")


@contextmanager
def process_on(processor: int) -> Iterator[int]:
    """A process that runs on this processor only."""
    code = f"import os, sys; os.sched_setaffinity(0, {{{processor}}}); print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        yield process.pid


def moves_away_from(pid: int, own: int, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, list[set[int]], set[int]]:
    """What a thread on the processor ``own`` that may run on all does: what it returns, the affinities that it sets,
    and the affinity that it has at the end.
    """
    moves: list[set[int]] = []
    really_set = os.sched_setaffinity

    def set_affinity(thread: int, processors: set[int]) -> None:
        assert thread == 0
        moves.append(set(processors))
        really_set(thread, processors)

    def act() -> tuple[bool, list[set[int]], set[int]]:
        really_get = os.sched_getaffinity
        really_set(0, {own})
        with monkeypatch.context() as patched:
            patched.setattr(os, "sched_getaffinity", lambda _: set(PROCESSORS))
            patched.setattr(os, "sched_setaffinity", set_affinity)
            moved = leave_processor_of(pid)
        return moved, moves, really_get(0)

    with ThreadPoolExecutor(1) as one_thread:
        return one_thread.submit(act).result()


@needs_two
def test_a_thread_on_the_processor_of_its_worker_moves_and_may_then_run_everywhere(monkeypatch: pytest.MonkeyPatch):
    first, *others = PROCESSORS
    with process_on(first) as pid:
        assert moves_away_from(pid, first, monkeypatch) == (True, [set(others), set(PROCESSORS)], set(PROCESSORS))


@needs_two
def test_a_thread_on_another_processor_stays(monkeypatch: pytest.MonkeyPatch):
    with process_on(PROCESSORS[0]) as pid:
        assert moves_away_from(pid, PROCESSORS[1], monkeypatch) == (False, [], {PROCESSORS[1]})


def test_a_thread_stays_where_it_may_run_nowhere_else_or_no_process_is_found():
    def act() -> tuple[bool, bool]:
        os.sched_setaffinity(0, {PROCESSORS[0]})
        with process_on(PROCESSORS[0]) as pid:
            bound = leave_processor_of(pid)
        os.sched_setaffinity(0, PROCESSORS)
        return bound, leave_processor_of(0)

    with ThreadPoolExecutor(1) as one_thread:
        assert one_thread.submit(act).result() == (False, False)


def test_nothing_happens_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch):
    def refuse(_: int) -> set[int]:
        raise PermissionError

    monkeypatch.setattr(os, "sched_getaffinity", refuse)
    assert leave_processor_of(os.getpid()) is False
