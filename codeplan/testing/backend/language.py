"""The plan language: samples behave as in plain Python, and refusals name the line."""

from __future__ import annotations

import pytest

from codeplan.sandbox import Limits, encode
from codeplan.testing.backend.base import TWO_STEPS, BackendTests, checkpoint_values, echo_answer
from codeplan.testing.samples.home import SampleHome
from codeplan.testing.samples.plans import SamplePlan, SampleRun, run_in_python, sample_plans, wrap_as_plan
from codeplan.testing.samples.world import answer_function, call_history
from codeplan.types import Failed, Finished, Plan, Rejected

_SAMPLES = {s.name: s for s in sample_plans()}


class LanguageTests(BackendTests):
    """What a plan may contain."""

    @pytest.mark.parametrize("name", _SAMPLES)
    def test_a_sample_plan_is_accepted_and_does_what_plain_python_does(self, name: str) -> None:
        sample = _SAMPLES[name]
        self.require(*sample.needs)

        assert self.run_sample(sample) == expected_run(sample)

    def run_sample(self, sample: SamplePlan) -> SampleRun:
        """The outcome of a sample that the backend checks and runs."""
        backend = self.make(Limits())
        plan = backend.check(sample.source, sample.world)
        assert isinstance(plan, Plan), [str(d) for d in plan.diagnostics]
        world = sample.world()
        outcome = backend.run(plan, world, answer_function(world))
        assert isinstance(outcome, Finished | Failed), outcome
        error, message = (outcome.error, outcome.message) if isinstance(outcome, Failed) else ("", "")
        return SampleRun(outcome.output, error, message, *call_history(world), checkpoint_values(outcome.checkpoint))

    @pytest.mark.parametrize(
        "body",
        [
            "import os; os.getcwd()",
            "agent._secret",
            "x = ().__class__",
            "class A:\n    pass",
            "open('f')",
            "agent.fly()",
            "x = (",
        ],
    )
    def test_a_construct_outside_the_language_is_refused_with_its_line(self, body: str) -> None:
        found = self.make(Limits()).check(wrap_as_plan(body), SampleHome)

        assert isinstance(found, Rejected)
        assert found.diagnostics[0].line == 2

    def test_a_check_finds_the_steps(self) -> None:
        plan = self.make(Limits()).check(wrap_as_plan(TWO_STEPS), SampleHome)

        assert isinstance(plan, Plan), plan
        assert [s.number for s in plan.steps] == [1, 2]
        assert plan.steps[1].needs == ("count", "seen")

    @pytest.mark.parametrize("text", ["", " \n", "x = '\0'", "x = '\ud800'", wrap_as_plan("-" * 60_000 + "1")])
    def test_a_text_that_is_not_a_plan_is_rejected_by_check_and_by_run(self, text: str) -> None:
        backend = self.make(Limits())

        assert isinstance(backend.check(text, SampleHome), Rejected)
        assert isinstance(backend.run(text, SampleHome(print), echo_answer), Rejected)

    def test_a_source_that_is_too_long_is_rejected(self) -> None:
        outcome = self.run("x = 1\n" * 100, limits=Limits(source_bytes=200))

        assert isinstance(outcome, Rejected)
        assert "write at most 200" in outcome.diagnostics[0].message


def expected_run(sample: SamplePlan) -> SampleRun:
    """The outcome of a sample in plain Python, with the variables that a checkpoint can hold."""
    ran = run_in_python(sample)
    assert isinstance(ran.variables, dict)
    return ran._replace(variables=checkpoint_values(encode(ran.variables, 1 << 20)))
