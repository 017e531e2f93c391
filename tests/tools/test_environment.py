"""What the environment of tools says of a call that nobody allows, and of a call in doubt: that one, and no other."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from codeplan.errors import EnvironmentFailure, WaitingForApproval
from codeplan.plain_data import pack
from codeplan.recording.events import (
    ApprovalAnswered,
    CallAnswered,
    CallBegun,
    CallDecided,
    CallSite,
    DoubtDecided,
    PlanDrafted,
)
from codeplan.tools import python_tools
from codeplan.tools.approvals import Approvals, DoubtRules, ProposedCall
from codeplan.tools.environment import CallRules, ToolEnvironment
from codeplan.tools.toolset import Toolset
from codeplan.types import Answer, Call

MADE: list[int] = []


def pay(amount: int) -> str:
    """Pay."""
    MADE.append(amount)
    return f"paid {amount}"


def environment(**rules) -> ToolEnvironment:
    MADE.clear()
    return ToolEnvironment("pay the bills", Toolset(python_tools(pay)), rules=CallRules(**rules))


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
        ("*", "--allow pay"),
        ("p*", "--allow pay"),
        ("pa?", "--allow pay in place of --ask 'pa?'"),
        ("pay", "--allow pay in place of --ask 'pay'"),
        ("[p]a*", "--allow pay in place of --ask '[p]a*'"),
    ],
)
def test_the_advice_to_allow_a_call_is_one_that_works(pattern, advice):
    events, env = [], environment(approvals=Approvals(ask=[pattern]))
    with pytest.raises(WaitingForApproval) as waits:
        env.call(1, Call("pay", {"amount": 1}), events.append, CallSite(2, 5))
    sentence = f"waiting for approval: pay(amount=1) at step 2, line 5; allow it: codeplan approve RUN, or resume with {advice}"
    assert (str(waits.value), waits.value.call) == (sentence, Call("pay", {"amount": 1}))
    assert events == [CallDecided(id=1, tool="pay", allowed=False, by="nobody", pattern=pattern, reason=sentence)]
    ask = [] if "in place of" in advice else [pattern]
    assert call(environment(approvals=Approvals(ask=ask, allow=["pay"])), 1)[0] == Answer("paid 1")
    assert MADE == [1]


PLAN = "def solution(agent, start_from=1): ..."


def test_whoever_approves_sees_the_whole_call_and_what_equal_ones_before_it_answered():
    """It gets copies: the call is made as the trace records it."""
    asked = []

    def approve(call):
        asked.append(copy.deepcopy(call))
        call.arguments["options"]["deep"].append(3)
        return True

    paid = []

    def pay(amount: int, options: dict) -> tuple[int, str]:
        paid.append(options)
        return amount, "EUR"

    tool = replace(python_tools(pay)[0], hint="destructive")
    env = ToolEnvironment("pay", Toolset([tool]), rules=CallRules(Approvals(approve=approve)))
    calls = [Call("pay", {"amount": n, "options": pack({"deep": [1]})}) for n in (1, True, 1)]
    events = [PlanDrafted(number=1, origin="plan", source=PLAN)]
    for id, one in enumerate(calls, 1):
        answer = env.call(id, one, events.append, CallSite(1, 3, events))
        events.append(CallAnswered(id=id, answer=answer, seconds=0))
    given = {"amount": 1, "options": {"deep": [1]}}
    first = ProposedCall("pay", given, "destructive", 1, 3, PLAN)
    assert asked[0] == first and asked[1].earlier == ()
    assert asked[2] == replace(first, earlier=(Answer((1, "EUR")),))
    assert paid == [{"deep": [1]}] * 3


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({}, "pay(amount: int) was called without amount"),
        ({"amount": 1, "to": "bob"}, "pay(amount: int) has no parameter 'to'"),
        ({"amount": {1}}, "a set, which is not plain data"),
        ({"amount": object()}, "an object, which is not plain data"),
        ({1: 1}, "1 is no parameter's name"),
    ],
)
def test_arguments_of_the_approver_that_do_not_fit_are_its_own_failure(answer, why):
    env = environment(approvals=Approvals(approve=lambda call: answer))
    with pytest.raises(EnvironmentFailure, match="returned arguments that do not fit pay: ") as failed:
        call(env, 1)
    assert why in str(failed.value) and MADE == []


def test_a_call_is_made_with_the_arguments_that_the_approver_gives_and_a_refusal_has_its_reason():
    events = []
    env = environment(
        approvals=Approvals(approve=lambda given: {"amount": 5} if given.arguments["amount"] else "no money")
    )
    assert env.call(1, Call("pay", {"amount": 9}), events.append, CallSite(1, 3)) == Answer("paid 5")
    assert events == [
        CallDecided(id=1, tool="pay", allowed=True, by="approver", pattern="*", arguments={"amount": 5}),
        CallBegun(id=1, call=Call("pay", {"amount": 5}), line=3),
    ]
    refused, (decided,) = call(env, 0)
    assert (decided.allowed, decided.reason, MADE) == (False, "no money", [5])
    assert (refused.error, refused.message) == (
        "PermissionError",
        "the user did not approve this call of pay: no money",
    )


@pytest.mark.parametrize(("allowed", "made"), [(True, [1]), (False, [])])
@pytest.mark.parametrize("given", [{"ask": ["pay"]}, {"approve": lambda call: not True}, {"allow": ["pay"]}])
def test_an_answer_to_this_very_call_decides_before_patterns_and_approver(allowed, made, given):
    env, events = environment(approvals=Approvals(**given)), []
    said = ApprovalAnswered(
        id=1, call=Call("pay", {"amount": 1}), allowed=allowed, reason="" if allowed else "too much"
    )
    answer = env.call(1, Call("pay", {"amount": 1}), events.append, CallSite(answer=said))
    assert (made, events[0].allowed, events[0].reason) == (MADE, allowed, said.reason)
    assert answer.message == ("" if allowed else "the user did not approve this call of pay: too much")


def test_an_answer_to_another_call_decides_nothing():
    said = ApprovalAnswered(id=1, call=Call("pay", {"amount": True}), allowed=True)
    with pytest.raises(WaitingForApproval):
        environment(approvals=Approvals(ask="*")).call(1, Call("pay", {"amount": 1}), print, CallSite(answer=said))


@pytest.mark.parametrize(
    ("given", "decided", "made"),
    [
        ({}, [], True),
        ({"allow": ["pay"]}, [(True, "pattern", "pay")], True),
        ({"approve": lambda call: True}, [(True, "approver", "*")], True),
        ({"approve": lambda call: False}, [(False, "approver", "*")], False),
        ({"approve": lambda call: 1}, [(False, "approver", "*")], False),
    ],
)
def test_a_decision_is_recorded_before_the_call_is_begun(given, decided, made):
    answer, events = call(environment(approvals=Approvals(**given)), 1)
    assert [(e.allowed, e.by, e.pattern) for e in events if isinstance(e, CallDecided)] == decided
    assert [type(e) for e in events][len(decided) :] == ([CallBegun] if made else [])
    assert (answer.error == "") is made
    assert not any(isinstance(e, CallAnswered) for e in events)  # whoever asked records the answer
