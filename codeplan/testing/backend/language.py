"""The plan language: samples run as in plain Python does, and what is refused says where."""

from __future__ import annotations

import pytest

from codeplan.sandbox.limits import Limits
from codeplan.sandbox.protocol.codec import encode
from codeplan.testing.backend.bench import TWO_STEPS, Bench, answer, values
from codeplan.testing.home import Home
from codeplan.testing.samples import Ran, Sample, as_plan, run_plainly, samples
from codeplan.testing.world import asker, history
from codeplan.types import Failed, Finished, Plan, Rejected

_SAMPLES = {s.name: s for s in samples()}


class Language(Bench):
    """What may be written."""

    @pytest.mark.parametrize("name", _SAMPLES)
    def test_a_sample_plan_is_accepted_and_does_what_plain_python_does(self, name: str) -> None:
        sample = _SAMPLES[name]
        self.needs(*sample.needs)

        assert self.ran(sample) == expected(sample)

    def ran(self, sample: Sample) -> Ran:
        """What the executor makes of a sample: checked, then run."""
        executor = self.make(Limits())
        plan = executor.check(sample.source, sample.world)
        assert isinstance(plan, Plan), [str(d) for d in plan.diagnostics]
        world = sample.world()
        outcome = executor.run(plan, world, asker(world))
        assert isinstance(outcome, Finished | Failed), outcome
        error, message = (outcome.error, outcome.message) if isinstance(outcome, Failed) else ("", "")
        return Ran(outcome.output, error, message, *history(world), values(outcome.checkpoint))

    @pytest.mark.parametrize(
        "body",
        ["import os", "agent._secret", "x = ().__class__", "class A:\n    pass", "open('f')", "agent.fly()", "x = ("],
    )
    def test_what_the_language_has_not_is_refused_with_its_line(self, body: str) -> None:
        found = self.make(Limits()).check(as_plan(body), Home)

        assert isinstance(found, Rejected)
        assert found.diagnostics[0].line == 2

    def test_a_check_knows_the_steps(self) -> None:
        plan = self.make(Limits()).check(as_plan(TWO_STEPS), Home)

        assert isinstance(plan, Plan), plan
        assert [s.number for s in plan.steps] == [1, 2]
        assert plan.steps[1].needs == ("count", "seen")

    @pytest.mark.parametrize("text", ["", " \n", "x = '\0'", "x = '\ud800'", as_plan("-" * 60_000 + "1")])
    def test_a_text_that_is_no_source_is_rejected_by_check_and_by_run(self, text: str) -> None:
        executor = self.make(Limits())

        assert isinstance(executor.check(text, Home), Rejected)
        assert isinstance(executor.run(text, Home(print), answer), Rejected)

    def test_a_source_that_is_too_long_is_rejected(self) -> None:
        outcome = self.run("x = 1\n" * 100, limits=Limits(source_bytes=200))

        assert isinstance(outcome, Rejected)
        assert "write at most 200" in outcome.diagnostics[0].message


def expected(sample: Sample) -> Ran:
    """What plain Python makes of a sample, with those variables that a checkpoint can hold."""
    ran = run_plainly(sample)
    return ran._replace(variables=values(encode(ran.variables, 1 << 20)))
