"""Workers and zygotes that something outside kills: honest plans do not suffer, and nothing happens twice."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from support.caged import SampleHome, answer, finished, plan, run, stopped
from support.zygotes import first_process, spare_workers, zygote_pid

from codeplan.errors import SandboxError
from codeplan.sandbox import Limits, Progress, Sandbox
from codeplan.sandbox.host import launcher
from codeplan.sandbox.host.worker_process import find_worker_end
from codeplan.types import Finished, Observation, Plan, Rejected, Stopped

pytestmark = pytest.mark.long

KINDS = (launcher.check_workers, launcher.run_workers)
AMPLE = Limits(wall=120.0, cpu=120.0, turns=10**9)
CALLS = ("a", "b", "c")


def wait_a_moment(turns: int = 200_000) -> str:
    """Lines of a plan that take some milliseconds, in which a worker may be killed."""
    return f"    for i in range({turns}):\n        x = i\n"


QUIET = plan("if start_from <= 1:\n" + wait_a_moment() + "    assert x")
CALLING = plan(
    "\n".join(
        f"if start_from <= {k}:\n{wait_a_moment()}    agent.goto('{name}')\n{wait_a_moment()}    assert x"
        for k, name in enumerate(CALLS, 1)
    )
)


class Killer:
    """Kills zygotes, the first processes of their namespaces, and workers at random until it is stopped."""

    def __init__(self, seed: int, pause: float) -> None:
        self.kills = 0
        self._pick, self._pause = random.Random(seed), pause
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._hunt)

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _hunt(self) -> None:
        while not self._over.wait(self._pick.uniform(0, 2 * self._pause)):
            with contextlib.suppress(OSError, AssertionError, ValueError, IndexError):
                os.kill(self._victim(), signal.SIGKILL)
                self.kills += 1

    def _victim(self) -> int:
        zygote = zygote_pid(self._pick.choice(KINDS))
        chance = self._pick.random()
        if chance < 0.1:
            return zygote
        return first_process(zygote) if chance < 0.15 else self._pick.choice(spare_workers(zygote))


def play(i: int) -> tuple[object, list[str]]:
    """Check and run an honest plan; return its outcome and the calls that it made."""
    home, sandbox = SampleHome(lambda action: None), Sandbox(AMPLE)
    try:
        found = sandbox.check(CALLING if i % 2 else QUIET, SampleHome)
        return (sandbox.run(found, home, answer) if isinstance(found, Plan) else found), home.history
    except SandboxError as error:
        return error, home.history


def test_honest_plans_survive_a_killer_and_call_nothing_twice():
    done: list[tuple[object, list[str]]] = []
    threads = [threading.Thread(target=lambda i=i: done.append(play(i))) for i in range(60)]  # type: ignore[misc]
    finished(run("pass"))
    with Killer(seed=len(CALLS), pause=0.04) as killer:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert killer.kills > 5
    assert len(done) == 60
    for outcome, calls in done:
        assert calls == list(CALLS[: len(calls)])
        if isinstance(outcome, Stopped):
            assert outcome.limit == "worker"
            assert calls, "a run without calls is repeated"
        else:
            assert isinstance(outcome, Finished), outcome
            assert len(calls) in (0, len(CALLS))


# ------------------------------------------------------------------ one by one


def kill_workers(workers: launcher.WorkerLauncher) -> None:
    """Kill every worker of a zygote, also the spare one."""
    for pid in spare_workers(zygote_pid(workers)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def kill_zygote(workers: launcher.WorkerLauncher) -> None:
    os.kill(zygote_pid(workers), signal.SIGKILL)


def kill_namespace(workers: launcher.WorkerLauncher) -> None:
    os.kill(first_process(zygote_pid(workers)), signal.SIGKILL)


KILLS = pytest.mark.parametrize("kill", [kill_workers, kill_zygote, kill_namespace])
Kill = Callable[[launcher.WorkerLauncher], None]

SLOW = plan("if start_from <= 1:\n" + wait_a_moment(20_000_000) + "    assert x")


@contextlib.contextmanager
def killed_after(seconds: float, kill: Kill, workers: launcher.WorkerLauncher) -> Iterator[None]:
    timer = threading.Timer(seconds, kill, [workers])
    timer.start()
    try:
        yield
    finally:
        timer.join()


@contextlib.contextmanager
def killed_always(workers: launcher.WorkerLauncher) -> Iterator[None]:
    """While this is open, no worker of this kind lives for long."""
    over = threading.Event()

    def hunt() -> None:
        while not over.wait(0.002):
            with contextlib.suppress(OSError, AssertionError):
                kill_workers(workers)

    thread = threading.Thread(target=hunt)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@KILLS
def test_a_run_that_nobody_saw_is_repeated(kill: Kill):
    finished(run("pass"))
    home = SampleHome(lambda action: None)
    with killed_after(0.1, kill, launcher.run_workers):
        outcome = Sandbox(AMPLE).run(SLOW, home, answer)
    assert isinstance(outcome, Finished)
    assert (outcome.step, home.history) == (1, [])


@KILLS
def test_a_run_that_has_called_the_agent_is_stopped_with_its_checkpoints(kill: Kill):
    called: list[str] = []

    class Home(SampleHome):
        def goto(self, receptacle: str) -> Observation:
            called.append(receptacle)
            kill(launcher.run_workers)
            time.sleep(0.3)  # until the kernel has done it
            return super().goto(receptacle)

    body = "if start_from <= 1:\n    x = 1\n    assert x\nif start_from <= 2:\n    agent.goto('desk 1')\n    assert x"
    outcome = stopped(run(body, Home(lambda action: None)), "worker")
    assert len(called) == 1
    assert (outcome.step, outcome.usage.calls, sorted(outcome.entries)) == (2, 1, [1, 2])
    resumed = run(body, start_from=2, checkpoint=outcome.entries[2])
    assert isinstance(resumed, Finished)


@pytest.mark.parametrize("request_", ["agent.holding", "ask_llm('why?')", "print('x' * 5_000)"])
def test_a_run_of_which_the_outside_saw_anything_is_not_repeated(request_: str):
    seen: list[object] = []

    class Home(SampleHome):
        @property
        def watched(self) -> str:
            seen.append("read")
            kill_workers(launcher.run_workers)
            return ""

    def ask(question: str) -> str:
        seen.append(question)
        kill_workers(launcher.run_workers)
        return "yes"

    def on_event(progress: Progress) -> None:
        seen.append(progress)
        kill_workers(launcher.run_workers)

    source = plan(
        request_.replace("holding", "watched") + "\n" + wait_a_moment(20_000_000).replace("    for", "for", 1)
    )
    told = on_event if "print" in request_ else None
    outcome = Sandbox(AMPLE).run(source, Home(lambda action: None), ask, on_event=told)
    stopped(outcome, "worker")
    assert len(seen) == 1


def test_a_step_that_was_reported_is_not_reported_again():
    steps: list[Progress] = []
    with killed_after(0.2, kill_workers, launcher.run_workers):
        outcome = stopped(
            Sandbox(AMPLE).run(SLOW, SampleHome(lambda action: None), answer, on_event=steps.append), "worker"
        )
    assert (len(steps), sorted(outcome.entries)) == (1, [1])


@KILLS
def test_a_check_and_an_analysis_whose_workers_are_killed_before_their_job_are_repeated(kill: Kill):
    for workers, work in (
        (launcher.check_workers, lambda: Sandbox().check(QUIET, SampleHome)),
        (launcher.analysis_workers, lambda: Sandbox().analyse("literals", QUIET)),
    ):
        assert not isinstance(work(), Rejected)
        time.sleep(0.2)  # until there is a spare worker
        kill(workers)
        assert not isinstance(work(), Rejected)


def check_forever(source: str) -> None:
    while True:
        Sandbox().check(source, SampleHome)


def test_workers_that_are_killed_every_time_are_an_error_of_the_machine():
    assert isinstance(Sandbox().check(QUIET, SampleHome), Plan)
    with killed_always(launcher.check_workers), pytest.raises(SandboxError, match="killed again and again"):
        check_forever(QUIET + "\n# long" * 5_000)
    assert isinstance(Sandbox().check(QUIET, SampleHome), Plan)


def test_a_run_that_is_killed_every_time_ends():
    with killed_always(launcher.run_workers):
        began = time.monotonic()
        try:
            outcome: object = Sandbox(AMPLE).run(SLOW, SampleHome(lambda action: None), answer)
        except SandboxError as error:
            assert "killed again and again" in str(error)  # before it had the plan
        else:
            stopped(outcome, "worker")
    assert time.monotonic() - began < 30
    finished(run("pass"))


def test_a_source_that_crashes_the_worker_by_itself_is_tried_once():
    crash = "t = ()\nfor i in range(1_000_000):\n    t = (t,)\nd = {t: 1}"
    before = zygote_pid(launcher.run_workers)
    assert "crashed" in stopped(run(crash), "worker").message
    assert zygote_pid(launcher.run_workers) == before


@pytest.mark.parametrize(
    ("status", "killed"),
    [
        (0, False),
        (1 << 8, False),
        (signal.SIGKILL, True),
        (signal.SIGTERM, True),
        (signal.SIGSEGV, False),
        (signal.SIGABRT | 0x80, False),
        (signal.SIGSYS, False),
        (-1, True),
    ],
)
def test_the_status_tells_a_killed_worker_from_one_that_ended_by_itself(status: int, killed: bool):
    assert find_worker_end(int(status)).killed is killed


def test_a_worker_that_closes_its_socket_and_lives_on_was_not_killed():
    with launcher.run_workers.spawn() as worker:
        os.kill(worker.pid, signal.SIGSTOP)
        assert not worker.find_end().killed
