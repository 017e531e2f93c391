"""Monty fulfils the backend contract except for what it declares, and what it declares is true."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_monty", reason="pydantic-monty is not installed: pip install 'codeplan[monty]'")

from codeplan.sandbox import Limits
from codeplan.sandbox.host.backend import PartialBackend
from codeplan.sandbox.monty.backend import DIFFERENCES, MontyBackend
from codeplan.testing.backend.contract import BackendContract
from codeplan.testing.backend.language import expected_run
from codeplan.testing.samples.home import SampleHome
from codeplan.testing.samples.plans import SamplePlan, sample_plans, wrap_as_plan
from codeplan.types import Rejected

BEYOND = [s for s in sample_plans() if s.needs & DIFFERENCES.keys()]


class TestMonty(BackendContract):
    def make(self, limits: Limits) -> MontyBackend:
        return MontyBackend(limits)


def test_it_declares_what_it_lacks() -> None:
    assert isinstance(MontyBackend(), PartialBackend)


@pytest.mark.parametrize("sample", BEYOND, ids=lambda s: s.name)
def test_a_sample_that_it_is_said_to_lack_fails(sample: SamplePlan) -> None:
    try:
        assert TestMonty().run_sample(sample) != expected_run(sample)
    except AssertionError as refused:
        assert "not yet support" in str(refused)


def test_it_runs_nine_samples_in_ten() -> None:
    assert len(BEYOND) <= len(sample_plans()) / 10


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def solution(agent, start_from=1): print(1)", "stands alone on its line"),
        (wrap_as_plan("x = [1]\ndel x"), "does not yet support the 'del' statement"),
    ],
)
def test_a_plan_that_it_cannot_run_is_rejected_with_the_reason(source: str, reason: str) -> None:
    outcome = MontyBackend().run(source, SampleHome(print), str)

    assert isinstance(outcome, Rejected)
    assert reason in outcome.diagnostics[0].message
    assert outcome.diagnostics[0].rule == "backend"


def test_code_after_solution_belongs_to_the_plan_but_what_calls_it_does_not() -> None:
    source = wrap_as_plan("return twice(3)") + "\ndef twice(x):\n    return x * 2\n\nsolution(None)\n"
    plan = wrap_as_plan("print(twice(3))") + "\ndef twice(x):\n    return x * 2\n"

    assert MontyBackend().run(plan, SampleHome(print), str).output == "6\n"  # type: ignore[union-attr]  # it finishes
    assert not isinstance(MontyBackend().run(source, SampleHome(print), str), Rejected)
