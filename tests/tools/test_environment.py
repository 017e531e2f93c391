"""What the environment of tools says of a call that nobody allows, and of a call in doubt: that one, and no other."""

from __future__ import annotations

import pytest

from codeplan.recording.events import CallAnswered, CallBegun, CallDecided, DoubtDecided
from codeplan.tools import python_tools
from codeplan.tools.approvals import Approvals, DoubtRules
from codeplan.tools.environment import ToolEnvironment
from codeplan.tools.tool import Toolset
from codeplan.types import Answer, Call

MADE: list[int] = []


def pay(amount: int) -> str:
    """Pay."""
    MADE.append(amount)
    return f"paid {amount}"


def environment(**given) -> ToolEnvironment:
    MADE.clear()
    return ToolEnvironment("pay the bills", Toolset(python_tools(pay)), **given)


def call(env: ToolEnvironment, number: int) -> tuple[Answer, list[object]]:
    """The answer of a call, and the events before it."""
    events: list[object] = []
    return env.call(number, Call("pay", {"amount": number}), events.append), events


# ------------------------------------------------------------------ a call in doubt


@pytest.mark.parametrize(("way", "made"), [("skip", [2, 3]), ("retry", [1, 2, 3])])
def test_only_the_first_call_after_a_kill_is_in_doubt(way, made):
    env = environment(doubts=DoubtRules(way))
    env.take_up(Call("pay", {"amount": 1}))
    first, events = call(env, 1)
    assert [type(e) for e in events] == [DoubtDecided, *([CallBegun] if way == "retry" else [])]
    assert (first.error == "") is (way == "retry")
    for number in (2, 3):
        answer, events = call(env, number)
        assert answer == Answer(f"paid {number}")
        assert [type(e) for e in events] == [CallBegun]
    assert made == MADE


def test_a_skipped_call_says_that_it_may_have_been_done():
    env = environment(doubts=DoubtRules("skip"))
    env.take_up(Call("pay", {"amount": 1}))
    answer, _ = call(env, 1)
    assert (answer.error, answer.done) == ("ConnectionError", False)
    assert answer.message.endswith("it is not made again; whether it was done is unknown")


def test_an_episode_that_was_ended_between_calls_has_none_in_doubt():
    env = environment(doubts=DoubtRules("skip"))
    env.take_up(None)
    assert call(env, 1)[0] == Answer("paid 1")


# ------------------------------------------------------------------ a call that nobody allows


@pytest.mark.parametrize(
    ("pattern", "advice"),
    [
        ("*", "--allow pay would allow it"),
        ("p*", "--allow pay would allow it"),
        ("pa?", "--allow pay in place of --ask 'pa?' would allow it"),
        ("pay", "--allow pay in place of --ask 'pay' would allow it"),
        ("[p]a*", "--allow pay in place of --ask '[p]a*' would allow it"),
    ],
)
def test_the_advice_to_allow_a_call_is_one_that_works(pattern, advice):
    answer, events = call(environment(approvals=Approvals(ask=[pattern])), 1)
    assert answer.error == "PermissionError"
    assert answer.message == f"pay needs the user's approval, and there is nobody to ask; {advice}"
    assert [(type(e), e.allowed, e.by) for e in events] == [(CallDecided, False, "nobody")]
    ask = [] if "in place of" in advice else [pattern]
    assert call(environment(approvals=Approvals(ask=ask, allow=["pay"])), 1)[0] == Answer("paid 1")
    assert MADE == [1]


@pytest.mark.parametrize(
    ("given", "decided", "made"),
    [
        ({}, [], True),
        ({"allow": ["pay"]}, [(True, "pattern", "pay")], True),
        ({"approve": lambda tool, arguments: True}, [(True, "approver", "*")], True),
        ({"approve": lambda tool, arguments: False}, [(False, "approver", "*")], False),
        ({"approve": lambda tool, arguments: 1}, [(False, "approver", "*")], False),
    ],
)
def test_a_decision_is_recorded_before_the_call_is_begun(given, decided, made):
    answer, events = call(environment(approvals=Approvals(**given)), 1)
    assert [(e.allowed, e.by, e.pattern) for e in events if isinstance(e, CallDecided)] == decided
    assert [type(e) for e in events][len(decided) :] == ([CallBegun] if made else [])
    assert (answer.error == "") is made
    assert not any(isinstance(e, CallAnswered) for e in events)  # whoever asked records the answer
