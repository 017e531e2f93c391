"""Runs that a plan ends on purpose, with ``replan`` and ``give_up``."""

from __future__ import annotations

import pytest

from codeplan.sandbox import Limits
from codeplan.testing.backend.base import (
    BackendTests,
    assert_failed,
    assert_finished,
    assert_gave_up,
    assert_replan,
    checkpoint_values,
    echo_answer,
)
from codeplan.testing.samples.home import SampleHome
from codeplan.testing.samples.plans import wrap_as_plan
from codeplan.types import Plan, Rejected

CAUGHT = """
    if start_from <= 1:
        try:
            {call}
        except Exception:
            print('caught')
        finally:
            print('last words')
            agent.goto('desk 1')
        assert agent.goto('shelf 1')
"""

EVERY_PLACE = {
    "a helper function": "def stop():\n    replan('why')\nif start_from <= 1:\n    stop()\n    assert stop",
    "a loop": "if start_from <= 1:\n    for n in range(9):\n        replan('why')\n    assert n",
    "a loop without end": "while True:\n    try:\n        replan('why')\n    except Exception:\n        pass",
    "a list comprehension": "if start_from <= 1:\n    a = [replan('why') for n in range(9)]\n    assert a",
    "a generator": "if start_from <= 1:\n    a = list(replan('why') for n in range(9))\n    assert a",
    "a question": "if start_from <= 1:\n    a = ask_llm(replan('why'))\n    assert a",
    "a call of the agent": "if start_from <= 1:\n    a = agent.goto(replan('why'))\n    assert a",
    "a condition": "if start_from <= 1:\n    a = None or replan('why')\n    assert a",
    "a message": "if start_from <= 1:\n    assert agent.holding, replan('why')",
    "another name": "if start_from <= 1:\n    stop = replan\n    stop('why')",
    "a named argument": "if start_from <= 1:\n    if not agent.holding:\n        replan(reason='why')\n    assert 0",
    "code outside the steps": "replan('why')\nif start_from <= 1:\n    assert agent.goto('desk 1')",
    "a replan": "if start_from <= 1:\n    replan(replan('why'))",
}


class RequestedEndingTests(BackendTests):
    """``replan`` and ``give_up`` end the run at once, wherever the plan calls them."""

    def _run_checked(self, body: str, home: SampleHome | None = None) -> object:
        backend = self.make(Limits())
        plan = backend.check(wrap_as_plan(body), SampleHome)
        assert isinstance(plan, Plan), plan
        return backend.run(plan, home or SampleHome(print), echo_answer)

    def test_a_replan_that_ends_its_step_comes_with_the_steps_variables(self) -> None:
        body = "if start_from <= 1:\n    seen = agent.goto('shelf 1')\n    print(seen)\n    replan(f'{seen} What now?')"
        outcome = assert_replan(self._run_checked(body))

        assert (outcome.step, outcome.line, outcome.step_done) == (1, 5, True)
        assert outcome.reason == "You are at shelf 1. What now?"
        assert outcome.output == "You are at shelf 1.\n"
        assert checkpoint_values(outcome.checkpoint) == {"seen": "You are at shelf 1."}
        assert checkpoint_values(outcome.entries[1]) == {}
        assert outcome.usage.calls == 1

    @pytest.mark.parametrize(
        ("body", "done"),
        [
            ("x = 1\n    replan('why')", True),
            ("x = 1\n    replan(\n        'why'\n    )", True),
            ("x = 1\n    replan('why')\n    'a comment'\n    pass", True),
            ("x = 1\n    return replan('why')", True),
            ("replan('why')\n    assert agent.goto('desk 1')", False),
            ("if agent.holding is None:\n        replan('why')", False),
            ("for n in range(3):\n        replan('why')", False),
            ("x = replan('why')", False),
            ("try:\n        replan('why')\n    finally:\n        pass", False),
        ],
    )
    def test_a_step_is_done_only_if_the_replan_is_its_last_statement(self, body: str, done: bool) -> None:
        assert assert_replan(self._run_checked(f"if start_from <= 1:\n    {body}")).step_done is done

    def test_a_replan_within_the_last_statement_does_not_end_the_step(self) -> None:
        body = "def name():\n    return replan('inner')\nif start_from <= 1:\n    x = 1\n    replan(name())"
        outcome = assert_replan(self._run_checked(body))

        assert (outcome.reason, outcome.line, outcome.step_done) == ("inner", 3, False)

    def test_a_plan_that_gives_up_says_where_and_why(self) -> None:
        outcome = assert_gave_up(self._run_checked("if start_from <= 1:\n    x = 1\n    give_up('there is no mug')"))

        assert (outcome.step, outcome.line, outcome.reason) == (1, 4, "there is no mug")
        assert checkpoint_values(outcome.checkpoint) == {"x": 1}

    @pytest.mark.parametrize("body", EVERY_PLACE.values(), ids=EVERY_PLACE)
    def test_every_place_may_ask_for_the_end(self, body: str) -> None:
        home = SampleHome(print)

        assert assert_replan(self._run_checked(body, home)).reason == "why"
        assert home.history == []

    @pytest.mark.parametrize("call", ["replan('why')", "give_up('why')"])
    def test_no_handler_catches_it_and_nothing_is_done_after_it(self, call: str) -> None:
        home = SampleHome(print)
        outcome = self._run_checked(CAUGHT.format(call=call), home)

        assert not isinstance(outcome, Rejected)
        assert (assert_replan(outcome) if "replan" in call else assert_gave_up(outcome)).reason == "why"
        assert home.history == []

    def test_the_first_request_counts(self) -> None:
        body = "try:\n    give_up('first')\nfinally:\n    replan('second')"

        assert assert_gave_up(self.run(body)).reason == "first"

    def test_a_reason_of_ten_megabytes_is_cut(self) -> None:
        assert len(assert_replan(self.run("replan('x' * 10_000_000)")).reason) < 9_000

    @pytest.mark.parametrize("reason", ["", "'a', 'b'", "7", "None", "['a']", "why='a'"])
    def test_a_reason_that_is_no_single_text_is_an_error_of_the_plan(self, reason: str) -> None:
        for name in ("replan", "give_up"):
            failed = assert_failed(self.run(f"{name}({reason})"))
            assert failed.error == "TypeError"
            assert name in failed.message

    def test_half_a_surrogate_pair_in_a_reason_does_no_harm(self) -> None:
        reason = assert_replan(self.run("replan('\\ud800!')")).reason

        assert reason.encode().endswith(b"!")

    def test_the_names_cannot_be_assigned(self) -> None:
        for line in ("replan = 1\nreplan('why')", "for give_up in []:\n    give_up('why')"):
            found = self.make(Limits()).check(wrap_as_plan(line), SampleHome)
            assert isinstance(found, Rejected)
            assert "belongs to the runtime" in found.diagnostics[0].message

    def test_a_plan_goes_on_with_the_checkpoint_of_its_replan(self) -> None:
        first = "if start_from <= 1:\n    seen = [agent.goto('shelf 1')]\n    replan('seen')"
        saved = assert_replan(self._run_checked(first)).checkpoint
        more = f"{first}\nif start_from <= 2:\n    seen.append(2)\n    print(seen)\n    assert seen"
        home = SampleHome(print)
        outcome = assert_finished(self.run(more, home, 2, saved))

        assert outcome.output == "['You are at shelf 1.', 2]\n"
        assert home.history == []
