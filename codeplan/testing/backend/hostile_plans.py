"""Hostile plans get nothing, spend little, and do not stop the next plan."""

from __future__ import annotations

import resource
import time

import pytest

from codeplan.sandbox import Limits
from codeplan.testing.backend.base import BackendTests, assert_finished, checkpoint_values
from codeplan.testing.samples.home import SampleHome
from codeplan.testing.samples.plans import sample_attacks
from codeplan.types import Finished, GiveUp, Outcome, Rejected, Replan
from codeplan.untrusted.scalars import iterate_scalars

_SECONDS = 8.0
_GROWTH = 400 << 20
_ATTEMPTS = {a.name: a for a in sample_attacks()}


class HostilePlanTests(BackendTests):
    """Plans that try to get out."""

    @pytest.mark.parametrize("name", _ATTEMPTS)
    def test_a_hostile_plan_gets_nothing_and_the_next_one_is_served(
        self, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "CANARY-KEY")
        attempt, home, asked = _ATTEMPTS[name], SampleHome(print), list[str]()
        began, size = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        backend = self.make(Limits(wall=1.0, cpu=1.0))

        def ask(question: str) -> str:
            asked.append(question)
            return "yes"

        outcome = backend.run(attempt.source, home, ask)

        assert time.monotonic() - began < _SECONDS
        assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - size) * 1024 < _GROWTH
        assert_nothing_got_through(outcome, home, asked)
        assert assert_finished(self.run("print(agent.goto('desk 1'))")).output == "You are at desk 1.\n"


def assert_nothing_got_through(outcome: Outcome | Rejected, home: SampleHome, asked: list[str]) -> None:
    """Assert that a hostile plan got no secret, changed nothing, and spent no more than its limits."""
    assert (home.holding, home.receptacles) == (None, ["shelf 1", "desk 1"])
    assert len(home.history) <= Limits().calls
    assert len(asked) <= Limits().asks
    if isinstance(outcome, Rejected):
        return
    text = outcome.output
    if not isinstance(outcome, Finished):
        text += outcome.reason if isinstance(outcome, Replan | GiveUp) else outcome.message
    assert len(text) < 100_000
    assert "CANARY" not in text + "".join(asked)
    saved = checkpoint_values(outcome.checkpoint).value if outcome.checkpoint else None
    for value in iterate_scalars(saved):
        assert not (isinstance(value, str) and "CANARY" in value), "a variable holds the host's secret"
        assert not (isinstance(value, bytes) and b"CANARY" in value), "a variable holds the host's secret"
    assert outcome.step in (None, 1)
