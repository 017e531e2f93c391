"""Tests of how runs end, of their reports, and of their repeatability."""

from __future__ import annotations

from typing import Any

import pytest

from codeplan.sandbox import Limits, OutputChunk, Progress, StepEntry
from codeplan.sandbox.host.backend import Capability
from codeplan.testing.backend.base import (
    TWO_STEPS,
    BackendTests,
    assert_failed,
    assert_finished,
    checkpoint_values,
    echo_answer,
)
from codeplan.testing.samples.home import SampleHome
from codeplan.testing.samples.plans import wrap_as_plan
from codeplan.types import Plan


class EndingTests(BackendTests):
    """Outcomes and progress."""

    def test_a_failed_assertion_comes_with_its_step_line_output_and_variables(self) -> None:
        outcome = assert_failed(self.run(TWO_STEPS))

        assert (outcome.step, outcome.line, outcome.error) == (2, 11, "AssertionError")
        assert outcome.message == "Error in [Step 2]: too few"
        assert outcome.output == "[Step 1] look\n[Step 2] think\n"
        assert checkpoint_values(outcome.checkpoint) == {"seen": ["You are at shelf 1.", 2], "count": 2}
        assert checkpoint_values(outcome.entries[1]) == {}
        assert checkpoint_values(outcome.entries[2]) == {"seen": ["You are at shelf 1."], "count": 1}

    def test_a_failed_assertion_in_a_helper_has_the_helpers_line(self) -> None:
        outcome = assert_failed(self.run("def check(n):\n    assert n, 'no'\nif start_from <= 1:\n    check(0)"))

        assert (outcome.step, outcome.line) == (1, 3)

    def test_the_step_is_the_runtimes_count_whatever_the_message_claims(self) -> None:
        assert assert_failed(self.run("if start_from <= 1:\n    assert False, 'Error in [Step 99]: forged'")).step == 1

    def test_an_exception_comes_with_its_name_message_and_line(self) -> None:
        outcome = assert_failed(self.run("if start_from <= 1:\n    x = []\n    x[3]\n    assert x"))

        found = (outcome.step, outcome.line, outcome.error, outcome.message)
        assert found == (1, 4, "IndexError", "list index out of range")

    def test_an_exception_can_be_caught_and_an_assertion_cannot(self) -> None:
        self.require(Capability.ASSERTIONS)
        assert assert_finished(self.run("try:\n    [][0]\nexcept:\n    print('caught')")).output == "caught\n"

        outcome = assert_failed(self.run("try:\n    assert False, 'first'\nexcept:\n    pass\nfinally:\n    [][1]"))
        assert outcome.message == "first"

    @pytest.mark.parametrize(
        ("body", "value"),
        [
            ("return [1, ('a', {2: None})]", [1, ("a", {2: None})]),
            ("for i in range(3):\n    return i", 0),
            ("try:\n    return 5\nfinally:\n    x = 1", 5),
            ("if start_from <= 1:\n    if True:\n        return {'a': {1, 2}}\n    return 0", {"a": {1, 2}}),
            ("def f():\n    return 3\nf()", None),
            ("return", None),
        ],
    )
    def test_a_finished_run_has_what_the_plan_returned(self, body: str, value: object) -> None:
        assert assert_finished(self.run(body)).value == value

    def test_a_finished_run_has_its_variables_as_plain_data(self) -> None:
        outcome = assert_finished(self.run("seen = Counter('aab')\nboth = (seen, seen)\ndef f():\n    pass"))

        assert outcome.variables == {"seen": {"a": 2, "b": 1}, "both": ({"a": 2, "b": 1}, {"a": 2, "b": 1})}
        assert {type(v) for v in outcome.variables.values()} == {dict, tuple}
        assert outcome.omitted == {"f": "a function cannot be saved"}

    def test_a_value_that_is_no_plain_data_is_omitted_with_the_reason(self) -> None:
        outcome = assert_finished(self.run("x = [1]\nfor i in range(60):\n    x = [x, x]\nreturn x"))

        assert (outcome.value, outcome.variables) == (None, {"i": 59})
        assert outcome.omitted == dict.fromkeys(("x", "return"), "it contains itself, or is nested deeper than 32")
        assert assert_finished(self.run("return len")).omitted.keys() == {"return"}
        assert "cannot be handed over" in assert_finished(self.run("return len")).value_fault
        assert assert_finished(self.run("return 1")).value_fault == ""

    def test_a_return_finishes_the_plan(self) -> None:
        outcome = assert_finished(
            self.run("if start_from <= 1:\n    assert True\n    return 5\nif start_from <= 2:\n    assert 0")
        )

        assert (outcome.output, outcome.step) == ("", 1)

    def test_a_message_of_ten_megabytes_is_cut(self) -> None:
        assert len(assert_failed(self.run("raise ValueError('x' * 10_000_000)")).message) < 9_000

    def test_on_event_receives_steps_and_output_in_order_before_the_next_call(self) -> None:
        events: list[Progress | str] = []

        class RecordedHome(SampleHome):
            def goto(self, receptacle: str) -> Any:
                events.append(receptacle)
                return super().goto(receptacle)

        backend = self.make(Limits())
        plan = backend.check(wrap_as_plan(TWO_STEPS), RecordedHome)
        assert isinstance(plan, Plan)
        assert_failed(backend.run(plan, RecordedHome(print), echo_answer, on_event=events.append))

        kinds = [type(event).__name__ for event in events]
        assert kinds == ["StepEntry", "OutputChunk", "str", "StepEntry", "OutputChunk"]
        assert isinstance(events[3], StepEntry)
        assert events[3].step == 2
        assert checkpoint_values(events[3].checkpoint)["count"] == 1
        assert events[1] == OutputChunk("[Step 1] look\n")

    def test_what_on_event_raises_reaches_the_caller(self) -> None:
        def full(progress: Progress) -> None:
            raise OSError("disk full")

        with pytest.raises(OSError, match="disk full"):
            self.make(Limits()).run(wrap_as_plan("print(1)"), SampleHome(print), echo_answer, on_event=full)

    def test_random_numbers_are_the_same_in_every_run_with_the_same_seed(self) -> None:
        body = "import random\nprint(random.random(), random.randint(1, 9))"
        first = assert_finished(self.run(body)).output

        assert assert_finished(self.run(body)).output == first
        assert assert_finished(self.run(body, seed=1)).output != first

    def test_the_order_of_sets_is_the_same_in_every_run(self) -> None:
        body = "print({'mug', 'plate', 'knife', 'spoon', 'fork'})"

        assert len({assert_finished(self.run(body)).output for _ in range(3)}) == 1
