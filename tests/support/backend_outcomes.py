"""The common base of the contract's parts: a backend under test, and assertions on the kind of an outcome."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from support.sample_plans import wrap_as_plan
from support.sample_worlds import SampleHome

from codeplan.sandbox import Limits, Sandbox, decode
from codeplan.sandbox.host.backend import Capability
from codeplan.types import Checkpoint, Failed, Finished, GiveUp, Outcome, Rejected, Replan, Stopped
from codeplan.untrusted.comparison import BoundedValue

TWO_STEPS = """
    if start_from <= 1:
        print('[Step 1] look')
        seen = [agent.goto('shelf 1')]
        count = 1
        assert seen
    if start_from <= 2:
        print('[Step 2] think')
        count += 1
        seen.append(count)
        assert count > 5, 'Error in [Step 2]: too few'
"""


def echo_answer(question: str) -> str:
    """A model that repeats the question."""
    return f"re: {question}"


class BackendTests:
    """One backend under test, and the capabilities that it lacks, each with the reason."""

    differences: Mapping[Capability, str] = {}

    def make(self, limits: Limits) -> Sandbox:
        """A new sandbox with this backend and these limits."""
        raise NotImplementedError

    def require(self, *capabilities: Capability) -> None:
        """Skip this test if the backend declares that it lacks one of these."""
        for capability in sorted(capabilities):
            if capability in self.differences:
                pytest.skip(f"{capability}: {self.differences[capability]}")

    def run(
        self,
        body: str,
        home: SampleHome | None = None,
        start_from: int = 1,
        checkpoint: Checkpoint | None = None,
        *,
        seed: int = 0,
        limits: Limits | None = None,
    ) -> Outcome | Rejected:
        """Run a plan with this body within these limits."""
        backend = self.make(limits or Limits())
        return backend.run(
            wrap_as_plan(body), home or SampleHome(print), echo_answer, start_from, checkpoint, seed=seed
        )


def checkpoint_values(checkpoint: Checkpoint | None) -> BoundedValue:
    """The variables in a checkpoint, which must exist, as a value that compares and shows itself within bounds."""
    assert checkpoint is not None
    return BoundedValue(decode(checkpoint))


def assert_finished(outcome: object) -> Finished:
    """The outcome, which must be Finished."""
    assert isinstance(outcome, Finished), outcome
    return outcome


def assert_failed(outcome: object) -> Failed:
    """The outcome, which must be Failed."""
    assert isinstance(outcome, Failed), outcome
    return outcome


def assert_replan(outcome: object) -> Replan:
    """The outcome, which must be Replan."""
    assert isinstance(outcome, Replan), outcome
    return outcome


def assert_gave_up(outcome: object) -> GiveUp:
    """The outcome, which must be GiveUp."""
    assert isinstance(outcome, GiveUp), outcome
    return outcome


def assert_stopped(outcome: object, limit: str) -> Stopped:
    """The outcome, which must be Stopped at this limit."""
    assert isinstance(outcome, Stopped), outcome
    assert outcome.limit == limit, outcome
    return outcome
