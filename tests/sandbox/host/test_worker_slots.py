"""Checks and analyses wait for one another once enough of them run; runs never wait."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from support.caged import SampleHome, answer, finished, plan
from support.zygotes import spare_workers, zygote_pid

from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.host import launcher
from codeplan.sandbox.host.plan_texts import MAX_WORKERS_PER_PROCESSOR, WorkerSlots, computing_slots, usable_processors
from codeplan.types import Plan

PLAN = plan("if start_from <= 1:\n    x = agent.goto('shelf')\n    assert x")
ANALYSIS = ("literals", PLAN, {})
SPARE = 1


class Interruption(Exception):
    """What a signal raises in a waiting thread."""


def wait_until(holds: Callable[[], bool]) -> None:
    """Fails after 20 s."""
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def all_slots_taken() -> ExitStack:
    stack = ExitStack()
    for _ in range(computing_slots.count):
        stack.enter_context(computing_slots.take())
    return stack


def in_turn(slots: WorkerSlots, count: int, order: list[int], hold: float = 0.0) -> list[threading.Thread]:
    """Threads that wait for a slot one behind the other."""

    def one(number: int) -> None:
        with slots.take():
            order.append(number)
            time.sleep(hold)

    threads = []
    for number in range(count):
        before = slots.waiting
        threads.append(threading.Thread(target=one, args=(number,)))
        threads[-1].start()
        wait_until(lambda before=before: slots.waiting > before)  # type: ignore[misc]
    return threads


def test_no_more_workers_compute_at_once_than_the_processors_need():
    checks = 12 * computing_slots.count
    Sandbox().check(PLAN, SampleHome)
    Sandbox().analyse(*ANALYSIS)
    zygotes = [zygote_pid(launcher.check_workers), zygote_pid(launcher.analysis_workers)]
    most, over = [0], threading.Event()

    def watch() -> None:
        while not over.is_set():
            most[0] = max(most[0], sum(len(spare_workers(zygote)) for zygote in zygotes))

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(checks) as pool:
        checked = [pool.submit(Sandbox().check, PLAN, SampleHome) for _ in range(checks)]
        analysed = [pool.submit(Sandbox().analyse, *ANALYSIS) for _ in range(checks)]
        assert all(isinstance(each.result(), Plan) for each in checked)
        assert len({str(each.result()) for each in analysed}) == 1
    over.set()
    watcher.join()
    assert computing_slots.count == MAX_WORKERS_PER_PROCESSOR * usable_processors()
    ended = computing_slots.count  # the zygote may collect them a moment later
    assert SPARE < most[0] <= computing_slots.count + ended + SPARE * len(zygotes)


def test_a_run_does_not_wait_for_checks():
    with all_slots_taken():
        assert finished(Sandbox().run(PLAN, SampleHome(lambda action: None), answer)).step == 1


def test_waiting_does_not_count_against_the_wall_limit():
    sandbox = Sandbox(Limits(wall=0.5))
    with ThreadPoolExecutor(2) as pool:
        with all_slots_taken():
            waiting = [pool.submit(sandbox.check, PLAN, SampleHome), pool.submit(sandbox.analyse, *ANALYSIS)]
            wait_until(lambda: computing_slots.waiting == len(waiting))
            time.sleep(0.8)
            assert not any(each.done() for each in waiting)
        assert isinstance(waiting[0].result(), Plan)
        assert waiting[1].result()


def test_a_failed_check_gives_its_slot_back():
    for _ in range(2 * computing_slots.count):
        Sandbox(Limits(wall=1e-6)).check(PLAN, SampleHome)
        with pytest.raises(Exception, match="took longer"):
            Sandbox(Limits(wall=1e-6)).analyse(*ANALYSIS)
    with all_slots_taken():
        assert computing_slots.waiting == 0


def test_waiting_threads_are_served_in_their_order():
    slots, order = WorkerSlots(1), list[int]()
    with slots.take():
        threads = in_turn(slots, 20, order)
    for thread in threads:
        thread.join()
    assert order == list(range(20))


def test_a_thread_that_comes_back_at_once_waits_behind_the_others():
    slots, order = WorkerSlots(1), list[int]()
    with slots.take():
        threads = in_turn(slots, 5, order)
    with slots.take():
        order.append(-1)
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4, -1]


def test_an_interrupted_thread_gives_up_its_place_and_no_slot():
    def interrupt(number: int, frame: object) -> None:
        raise Interruption

    slots, order = WorkerSlots(2), list[int]()
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with slots.take(), slots.take():
            threads = in_turn(slots, 1, order)
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(Interruption), slots.take():
                order.append(-1)
            threads += in_turn(slots, 1, order)
            assert slots.waiting == 2
    finally:
        signal.signal(signal.SIGALRM, before)
    for thread in threads:
        thread.join()
    with slots.take(), slots.take():
        assert len(order) == 2
    assert -1 not in order


def test_a_forked_process_has_all_slots():
    with all_slots_taken():
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)
            with all_slots_taken():
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
