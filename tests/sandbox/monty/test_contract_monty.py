"""Monty does what the contract of executors asks, but for what it declares; and what it declares is true."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_monty", reason="pydantic-monty is not installed: pip install 'codeplan[monty]'")

from codeplan.sandbox.host.backend import Differs
from codeplan.sandbox.limits import Limits
from codeplan.sandbox.monty.backend import DIFFERENCES, MontyExecutor
from codeplan.testing.backend.contract import ExecutorContract
from codeplan.testing.backend.language import expected
from codeplan.testing.home import Home
from codeplan.testing.samples import Sample, as_plan, samples
from codeplan.types import Rejected

BEYOND = [s for s in samples() if s.needs & DIFFERENCES.keys()]


class TestMonty(ExecutorContract):
    def make(self, limits: Limits) -> MontyExecutor:
        return MontyExecutor(limits)


def test_it_says_what_it_lacks() -> None:
    assert isinstance(MontyExecutor(), Differs)


@pytest.mark.parametrize("sample", BEYOND, ids=lambda s: s.name)
def test_what_it_is_said_to_lack_it_lacks(sample: Sample) -> None:
    try:
        assert TestMonty().ran(sample) != expected(sample)
    except AssertionError as refused:
        assert "not yet support" in str(refused)


def test_nine_samples_in_ten_are_within_its_reach() -> None:
    assert len(BEYOND) <= len(samples()) / 10


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def solution(agent, start_from=1): print(1)", "stands alone on its line"),
        (as_plan("x = [1]\ndel x"), "does not yet support the 'del' statement"),
    ],
)
def test_a_plan_that_it_cannot_run_is_rejected_with_the_reason(source: str, reason: str) -> None:
    outcome = MontyExecutor().run(source, Home(print), str)

    assert isinstance(outcome, Rejected)
    assert reason in outcome.diagnostics[0].message
    assert outcome.diagnostics[0].rule == "executor"


def test_code_after_solution_belongs_to_the_plan_but_what_calls_it_does_not() -> None:
    source = as_plan("return twice(3)") + "\ndef twice(x):\n    return x * 2\n\nsolution(None)\n"
    plan = as_plan("print(twice(3))") + "\ndef twice(x):\n    return x * 2\n"

    assert MontyExecutor().run(plan, Home(print), str).output == "6\n"  # type: ignore[union-attr]  # it finishes
    assert not isinstance(MontyExecutor().run(source, Home(print), str), Rejected)
