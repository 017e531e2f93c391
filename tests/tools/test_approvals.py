"""Patterns on the names of tools: which one decides, which name no tool, and what cannot be a pattern."""

import functools

import pytest

from codeplan.errors import CallInDoubt, UsageError
from codeplan.tools import python_tools
from codeplan.tools.approvals import (
    MAX_PATTERNS,
    Always,
    ApprovalDecision,
    Approvals,
    DoubtRules,
    ProposedCall,
    given_patterns,
    require_callable,
    require_fitting,
)
from codeplan.types import Call


def read_file(name: str): ...
def delete_file(name: str): ...


READ, DELETE = python_tools(read_file, delete_file)


@pytest.mark.parametrize(
    ("patterns", "rule"),
    [
        ({}, ("allow", "")),
        ({"allow": ["*"]}, ("allow", "*")),
        ({"allow": ["*"], "ask": ["*"]}, ("ask", "*")),
        ({"allow": ["read_*"], "ask": ["*"]}, ("allow", "read_*")),
        ({"allow": ["read_*"], "ask": ["*_file"]}, ("ask", "*_file")),
        ({"allow": ["*"], "ask": ["read_*"]}, ("ask", "read_*")),
        ({"ask": ["READ_*"], "allow": ["read"]}, ("allow", "")),
        ({"ask": "read_*"}, ("ask", "read_*")),
        ({"approve": lambda call: True}, ("ask", "*")),
        ({"approve": lambda call: True, "ask": ()}, ("allow", "")),
    ],
)
def test_the_longest_pattern_decides(patterns, rule):
    assert Approvals(**patterns).rule_for(READ) == rule


def decided(answers, *calls):
    """The decisions of an approver that gives these answers, and how often it was asked."""
    asked = []

    def approve(call):
        asked.append(call)
        return answers[len(asked) - 1]

    approvals = Approvals(approve=approve)
    proposed = ProposedCall(calls[0].name, {})
    return [approvals.decide(call, lambda: proposed, lambda answer: answer, by_flows=False) for call in calls], len(
        asked
    )


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        (True, (True, "", None)),
        (False, (False, "", None)),
        ("not on Sunday", (False, "not on Sunday", None)),
        ("x" * 3_000, (False, "x" * 2_000, None)),
        ({"name": "y"}, (True, "", {"name": "y"})),
        (1, (False, "", None)),
        (None, (False, "", None)),
    ],
    ids=lambda v: type(v).__name__,
)
def test_an_answer_is_a_yes_a_no_a_reason_or_other_arguments(answer, decision):
    assert decided([answer], Call("read_file", {"name": "x"})) == ([(*decision, "approver")], 1)


def test_always_holds_for_equal_calls_or_for_all_of_the_tool():
    one, same, other = (
        Call("pay", arguments) for arguments in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": True, "b": 2})
    )
    decisions, asked = decided([Always.ARGUMENTS, False, Always.TOOL], one, same, other, other, same, Call("pay", {}))
    yes, known, no = ApprovalDecision(True), ApprovalDecision(True, by="always"), ApprovalDecision(False)
    assert (decisions, asked) == ([yes, known, no, yes, known, known], 3)


@pytest.mark.parametrize("approve", [lambda: True, lambda tool, arguments: True, bool, "yes"])
def test_approve_takes_one_argument(approve):
    with pytest.raises(UsageError, match=r"^approve must be a function approve\(call\)[;,] "):
        Approvals(approve=approve)


@pytest.mark.parametrize(
    ("pattern", "way"),
    [
        ("raed_file", "did you mean read_file?"),
        ("drop_*", "there are: delete_file, read_file"),
        ("READ_*", "there are: delete_file, read_file"),
    ],
)
@pytest.mark.parametrize("option", ["allow", "ask", "deny", "idempotent"])
def test_a_pattern_that_fits_no_tool_is_refused_with_the_names_that_there_are(option, pattern, way):
    names = (READ.name, DELETE.name)
    require_fitting(given_patterns(allow=["read_*"], deny=["*", "delete_fil?"]), names)
    with pytest.raises(UsageError) as caught:
        require_fitting(given_patterns(**{"ask": ["*_file"], option: ["*", pattern]}), names)
    assert str(caught.value) == f"no tool has a name that fits {option} '{pattern}'; {way}"


def test_of_many_tools_a_refusal_names_the_first():
    names = [f"tool_{number:04}" for number in range(2_000)]
    with pytest.raises(UsageError, match=r"; there are: tool_0000, .*, tool_0019 and 1,980 more$"):
        require_fitting(given_patterns(deny="x*"), names)


@pytest.mark.parametrize("option", ["allow", "ask"])
def test_too_many_patterns_and_what_is_none_are_refused(option):
    assert MAX_PATTERNS == 1_000
    Approvals(**{option: ["x"] * 1_000})
    with pytest.raises(UsageError, match=f"^{option} has 1,001 patterns, more than 1,000$"):
        Approvals(**{option: ["x"] * 1_001})
    for wrong in ("", 3, None, b"x"):
        with pytest.raises(UsageError, match=f"^{option} has a pattern that is no name of a tool: "):
            Approvals(**{option: ["x", wrong]})
    with pytest.raises(UsageError, match=f"^{option} takes a pattern or several, not 3$"):
        Approvals(**{option: 3})


@pytest.mark.parametrize(
    ("given", "count"),
    [
        (lambda a, b: None, 2),
        (lambda a: None, 1),
        (lambda *a: None, 2),
        (lambda a, b=1: None, 2),
        (functools.partial(lambda a, b: None, 1), 1),
        (max, 2),
    ],
)
def test_a_function_is_called_with_the_first_number_of_arguments_that_fits(given, count):
    assert require_callable(given, "verify", "verify(value, tools)", (2, 1)) == count


@pytest.mark.parametrize("given", [lambda: None, lambda a, b, c: None, lambda *, a, b: None, 3, "x", int, None])
def test_what_takes_another_number_of_arguments_is_refused(given):
    with pytest.raises(UsageError, match=r"^verify must be a function verify\(value, tools\)[;,] "):
        require_callable(given, "verify", "verify(value, tools)", (2, 1))


# ------------------------------------------------------------------ copies of arguments, and calls in doubt


def nested_arguments():
    return {"name": "x", "options": {"deep": [1, {"more": 2}]}}


def test_the_function_that_decides_about_doubts_cannot_change_the_arguments():
    def in_doubt(tool, arguments):
        arguments["options"]["deep"].clear()
        return "retry"

    given = nested_arguments()
    decision = DoubtRules(in_doubt).decide("read_file", given, lambda way: way)
    assert (decision, given) == (("retry", "user", ""), nested_arguments())


@pytest.mark.parametrize("in_doubt", ["stop", lambda tool, arguments: "stop"])
def test_a_call_in_doubt_that_stops_the_episode_is_in_the_exception(in_doubt):
    with pytest.raises(CallInDoubt, match=r"read_file\(name='x', options=") as caught:
        DoubtRules(in_doubt).decide("read_file", nested_arguments(), lambda way: way)
    assert (caught.value.tool, caught.value.arguments) == ("read_file", nested_arguments())


@pytest.mark.parametrize(
    ("in_doubt", "idempotent", "decision"),
    [
        ("retry", (), ("retry", "option", "")),
        ("skip", (), ("skip", "option", "")),
        (lambda tool, arguments: "skip", (), ("skip", "user", "")),
        ("skip", ("read_*",), ("retry", "pattern", "read_*")),
        ("stop", ("*", "read_*", "read_f*"), ("retry", "pattern", "read_f*")),
        (lambda tool, arguments: "stop", "read_file", ("retry", "pattern", "read_file")),
        ("skip", ("write_*",), ("skip", "option", "")),
    ],
)
def test_a_pattern_for_what_may_be_called_twice_decides_before_the_option_or_the_user(in_doubt, idempotent, decision):
    assert DoubtRules(in_doubt, idempotent).decide("read_file", {}, lambda way: way) == decision
