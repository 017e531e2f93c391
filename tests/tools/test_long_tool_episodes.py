"""What a call costs does not grow with the calls before it, though it may depend on their answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.episode.history import NO_HISTORY
from codeplan.flows import Flows, tool
from codeplan.recording.events import CallAnswered, CallBegun, CallSite, Event
from codeplan.tools import ToolEnvironment, Toolset, python_tools
from codeplan.tools.approvals import Approvals
from codeplan.tools.environment import CallRules
from codeplan.types import Answer, Call, NotSolved, Result, Task

ASKED: list[Any] = []


class Counted(Sequence[Event]):
    """Events that count how often one of them is looked at."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.looks = 0

    def __len__(self) -> int:
        return len(self.events)

    def __getitem__(self, at: Any) -> Any:
        found = self.events[at]
        self.looks += len(found) if isinstance(at, slice) else 1
        return found

    def __iter__(self) -> Iterator[Event]:
        for event in self.events:
            self.looks += 1
            yield event


def read(number: int) -> Any:
    """A tool that reads."""
    return number


def send(to: object) -> str:
    """A tool that acts."""
    return "sent"


def environment(flows: Flows | None) -> ToolEnvironment:
    def approve(call: Any) -> bool:
        ASKED.append(call)
        return True

    ASKED.clear()
    approvals = Approvals(approve=approve, ask=() if flows else None)
    return ToolEnvironment("g", Toolset(python_tools(read, send)), rules=CallRules(approvals, flows=flows))


FLOWS = Flows(rules={"send.to": tool("read")}, readonly=["read"])


def answered(events: Counted, id: int, call: Call, value: object) -> None:
    events.events += [CallBegun(id=id, call=call), CallAnswered(id=id, answer=Answer(value), seconds=0)]


@pytest.mark.parametrize(("flows", "asked"), [(FLOWS, 0), (None, 300)])
def test_each_event_is_looked_at_a_few_times_however_many_calls_are_judged(flows: Flows | None, asked: int) -> None:
    env, events = environment(flows), Counted()
    for id in range(1, 601, 2):
        answered(events, id, Call("read", {"number": id}), f"row {id}")
        sent = Call("send", {"to": f"row {id}"})
        env.call(id + 1, sent, events.events.append, CallSite(1, 3, events))
        events.events.append(CallAnswered(id=id + 1, answer=Answer("sent"), seconds=0))
    assert len(ASKED) == asked
    assert events.looks <= 3 * len(events)


def test_an_earlier_answer_is_found_again_among_very_many() -> None:
    env, events = environment(None), Counted()
    for id in range(1, 400):
        answered(events, id, Call("send", {"to": id % 100}), f"answer {id}")
    env.call(400, Call("send", {"to": 7}), events.events.append, CallSite(1, 3, events))
    assert [each.value for each in ASKED[0].earlier] == ["answer 7", "answer 107", "answer 207", "answer 307"]


leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.just("x" * 500))
twins = st.one_of(
    leaves.map(lambda one: (one, one)),
    st.tuples(leaves, leaves),
    st.integers().map(lambda n: (n, str(n))),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda n: (f" {n} ", n)),
    st.text(min_size=1, max_size=200).map(lambda text: (text, f"\n{text} ")),
)


def are_same(value: object, known: object) -> bool:
    """The rule as the documentation has it: texts without spaces around them, and numbers, also written as texts."""
    if value is None or isinstance(value, bool) or known is None or isinstance(known, bool):
        return value is None
    if isinstance(value, str) and isinstance(known, str):
        return value.strip() == known.strip()
    try:
        return float(value) == float(known)  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return False


@given(twins)
def test_a_value_is_trusted_if_it_stands_in_an_answer_that_the_rule_names(pair: tuple[Any, Any]) -> None:
    value, known = pair
    env, events = environment(FLOWS), Counted()
    answered(events, 1, Call("read", {"number": -987654321}), known)
    sending = env.toolset.get("send")
    assert env.flow_checks is not None and sending is not None
    verdict = env.flow_checks.judge(sending, {"to": value}, CallSite(1, 3, events))
    assert (verdict.way == "allow") == are_same(value, known)


def test_a_turn_that_is_over_is_read_a_few_times_however_many_calls_it_made() -> None:
    events = Counted()
    for id in range(1, 301):
        answered(events, id, Call("read", {"number": id}), id)
    history = NO_HISTORY.after("g", events, Result(Task("g"), NotSolved("no")))
    assert [len(turn.calls) for turn in history.turns] == [300]
    assert events.looks <= 8 * len(events)
