"""A plan's outcome and variables as JSON."""

from __future__ import annotations

from typing import get_args

from codeplan.report.event_view import OUTCOME_WORDS
from codeplan.report.json_output import MAX_VALUE_BYTES, outcome_as_json, to_plain_data
from codeplan.sandbox import encode
from codeplan.types import (
    Diagnostic,
    Failed,
    Finished,
    NotSolved,
    Outcome,
    Rejected,
    ResourceUsage,
    Result,
    Stopped,
    Task,
)

STATE = encode({"found": "mug 1", "seen": ("desk 1", 2)}, 10_000)


def failed(error: str) -> Failed:
    return Failed(2, 7, error, "no mug", "looking\n", STATE, {}, ResourceUsage())


def test_nan_and_infinity_become_none() -> None:
    shown = to_plain_data([ResourceUsage(float("nan"), float("-inf"))])
    assert (shown[0]["wall"], shown[0]["cpu"]) == (None, None)


def test_fields_with_defaults_are_kept() -> None:
    output = to_plain_data(Result(Task("pick/0"), NotSolved("no success")))
    assert output["refinements"] == 0
    assert output["task"]["split"] == "test"
    assert output["usage"]["output_tokens"] == 0
    assert to_plain_data((Task("a"),))[0]["id"] == "a"


def test_a_failed_assertion_keeps_its_message_and_another_exception_is_named() -> None:
    assert outcome_as_json(failed("AssertionError"), "") == {
        "status": "failed",
        "step": 2,
        "message": "no mug",
        "output": "looking\n",
        "value": None,
        "checkpoint": {"found": "mug 1", "seen": ["desk 1", 2]},
        "truncated": False,
        "omitted": {},
    }
    assert outcome_as_json(failed("ValueError"), "")["message"] == "ValueError: no mug"


def test_a_finished_plan_has_the_episodes_reason() -> None:
    output = outcome_as_json(Finished("", 3, STATE, {}, ResourceUsage()), "success")
    assert (output["status"], output["step"], output["message"]) == ("finished", 3, "success")


def test_a_finished_plan_has_what_it_returned_as_far_as_it_fits() -> None:
    def shown(value: object) -> object:
        return outcome_as_json(Finished("", 3, STATE, {}, ResourceUsage(), value), "")["value"]

    assert shown({"a": (1, {2})}) == {"a": [1, "{2}"]}
    assert shown("x" * MAX_VALUE_BYTES) is None


def test_a_stopped_plan_may_have_no_variables() -> None:
    output = outcome_as_json(Stopped("wall", 6, 5, 1, 4, "it ran too long", "", None, {}, ResourceUsage()), "")
    assert (output["status"], output["message"], output["checkpoint"]) == ("stopped", "it ran too long", None)


def test_a_refused_plan_lists_every_reason() -> None:
    rejected = Rejected("", (Diagnostic(1, 1, "a", "first"), Diagnostic(2, 1, "b", "second")))
    output = outcome_as_json(rejected, "")
    assert (output["status"], output["step"], output["checkpoint"]) == ("rejected", None, None)
    assert output["message"].splitlines() == ["line 1, column 1: first [a]", "line 2, column 1: second [b]"]


def test_a_plan_that_a_budget_cut_off_is_stopped() -> None:
    assert outcome_as_json(None, "budget: spent")["status"] == "stopped"


def test_the_page_has_a_word_for_every_outcome() -> None:
    assert OUTCOME_WORDS.keys() == {kind.__struct_config__.tag for kind in get_args(Outcome)}
