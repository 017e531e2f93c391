"""Where there is no cage, processes read the plans: they answer as the cage's workers do, and run nothing."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from support.sample_plans import sample_plans, wrap_as_plan
from support.sample_worlds import SampleHome

from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox import Limits
from codeplan.sandbox.host.locked_backend import CagedWorkers
from codeplan.sandbox.host.plan_texts import PlanTexts
from codeplan.sandbox.monty import backend
from codeplan.sandbox.monty.backend import TextProcess, UncagedWorkers
from codeplan.types import Plan, Rejected

GOOD = wrap_as_plan("print(agent.goto('desk 1'))")
REFUSED = ["x = (", "import os", "agent.fly()", "x = ().__class__", "with x: pass", "-" * 3_000 + "1", "y"]
SLOW = wrap_as_plan("match 1:\n    case " + "(" * 60 + "x" + ")" * 60 + ":\n        pass")


@pytest.fixture
def workers():
    own = UncagedWorkers()
    yield own
    own.close()


@pytest.fixture
def texts(workers) -> PlanTexts:
    return PlanTexts(Limits(), workers)


def test_they_accept_refuse_and_analyse_what_the_cages_workers_do(texts):
    caged = PlanTexts(Limits(), CagedWorkers(Limits(), allow_weak=False))

    for sample in sample_plans()[::4]:
        assert texts.check(sample.source, sample.world) == caged.check(sample.source, sample.world), sample.name
    for body in REFUSED:
        assert texts.check(wrap_as_plan(body), SampleHome) == caged.check(wrap_as_plan(body), SampleHome), body
    assert texts.analyse("lines", GOOD) == caged.analyse("lines", GOOD) != {}
    assert texts.merge_reply("if start_from <= 1:\n    pass", GOOD) == caged.merge_reply(
        "if start_from <= 1:\n    pass", GOOD
    )


def test_a_topic_that_does_not_exist_and_arguments_that_do_not_fit_are_refused(texts):
    with pytest.raises(UsageError, match="there is no such analysis"):
        texts.analyse("nothing", GOOD)
    with pytest.raises(UsageError, match="the arguments of the analysis 'lines' hold"):
        texts.analyse("lines", GOOD, {"x": object()})


def test_a_text_that_takes_too_long_is_refused_and_its_process_ends(workers):
    with workers.check_worker() as process:
        pass
    began = time.monotonic()
    found = PlanTexts(Limits(wall=0.3), workers).check(SLOW, SampleHome)

    assert isinstance(found, Rejected)
    assert time.monotonic() - began < 5
    assert not process.is_idle
    assert isinstance(PlanTexts(Limits(), workers).check(GOOD, SampleHome), Plan)


def test_a_process_that_something_killed_is_replaced(workers, texts):
    assert isinstance(texts.check(GOOD, SampleHome), Plan)
    with workers.check_worker() as process:
        os.kill(process._process.pid, signal.SIGKILL)
        process._process.wait()

    assert isinstance(texts.check(GOOD, SampleHome), Plan)


def test_a_process_that_is_killed_at_its_work_is_replaced_too(workers, monkeypatch):
    with workers.check_worker() as process:
        pass
    killer = threading.Timer(0.3, lambda: os.kill(process._process.pid, signal.SIGKILL))
    killer.start()

    found = PlanTexts(Limits(wall=1.5), workers).check(SLOW, SampleHome)

    assert isinstance(found, Rejected)  # the second process meets the limit


def test_a_process_serves_many_jobs_but_not_for_ever(workers, texts, monkeypatch):
    monkeypatch.setattr(backend, "MAX_TEXT_JOBS", 3)
    served = []
    for _ in range(5):
        with workers.check_worker() as process:
            served.append(process._process.pid)

    assert len({*served[:3]}) == 1
    assert len({*served[3:]}) == 1
    assert served[0] != served[3]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_its_environment_holds_no_secret(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    process = TextProcess()
    try:
        environment = Path(f"/proc/{process._process.pid}/environ").read_bytes()
    finally:
        process.kill()

    assert environment == b"PYTHONHASHSEED=0\0"


def test_an_interpreter_that_cannot_start_is_one_clear_error(monkeypatch, texts):
    monkeypatch.setattr("sys.executable", "/nowhere/python")

    with pytest.raises(SandboxError, match="could not start /nowhere/python"):
        texts.check(GOOD, SampleHome)
