"""The recorded calls of an episode, as an environment that answers a plan in place of the user's tools."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from codeplan.episode.episode import storable_value
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.plain_data import NotPlainData, unpack
from codeplan.recording.events import (
    NO_SITE,
    AnsweredCall,
    CallAnswered,
    CallsByAnswer,
    CallSite,
    CarriedAnswer,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventHandler,
    PlanStarted,
    StepEntered,
)
from codeplan.recording.tape import read_tape
from codeplan.tools.environment import recorded_environment
from codeplan.types import Answer, Call, Claimed, Observation, Result, Task
from codeplan.untrusted.texts import parser_reason
from codeplan.untrusted.values import shown_call, value_text

_MAX_SHOWN = 300
"""Maximum length of a returned value in a message, in characters."""


class UnrecordedCall(EnvironmentFailure):
    """A plan makes a call to which the recording has no answer."""


class RecordedCalls:
    """Answers the calls of a plan from the events of one finished episode, as often as it is reset.

    The first call of a tool with some arguments gets the first answer to this call, and so on. If the episode had
    several plans, only the calls count that the last plan would make from its first step on. A plan succeeds if it
    returns the same value as the recorded plan, provided that the recorded value was accepted, or that there was no
    verifier.

    Raises: UsageError: the events are damaged, or are not those of a finished episode with tools; the message calls
        them ``what``.
    """

    name = "tools"
    splits = ("test",)
    verifier_name = "the recorded value"
    has_flows = is_blind = False
    instructions, returns, variables = "", None, None
    # the recorded answers stand for all calls
    once_tools: frozenset[str] = frozenset()
    readonly_tools: frozenset[str] = frozenset()
    carried: tuple[CarriedAnswer, ...] = ()

    def __init__(self, events: Sequence[Event], what: str) -> None:
        header, result = _first_and_last(events, what)
        try:
            tools = recorded_environment(header.task.goal, header.tools, header.tools_doc, asks_user=header.asks_user)
            self._calls = [(_key(made.call), _checked(made.answer)) for made in _last_plans_calls(events)]
        except (UsageError, NotPlainData, ValueError) as e:
            raise UsageError(f"{what} cannot stand for tools: {parser_reason(e)}") from None
        self.agent, self.described_tools, self.tools_doc = tools.agent, tools.described_tools, tools.tools_doc
        self.asks_user, self.variables = tools.asks_user, header.variables
        self._task, self._result = header.task, result
        self._left: dict[bytes, deque[Answer]] = {}

    def tasks(self, split: str) -> Sequence[Task]:
        """The one task."""
        return (self._task,) if split == "test" else ()

    def reset(self, task: Task) -> Observation:
        """Begin the episode; all recorded answers are available again."""
        self._left = defaultdict(deque)
        for key, answer in self._calls:
            self._left[key].append(answer)
        return Observation("No tool was called yet.")

    def call(self, id: int, call: Call, record: EventHandler, site: CallSite = NO_SITE) -> Answer:
        """The next recorded answer to a call. Raises: UnrecordedCall: there is none, or none is left."""
        key = _key(call)
        if answers := self._left.get(key):
            return answers.popleft()
        often = "as often" if key in self._left else "at all"
        raise UnrecordedCall(f"the plan called {shown_call(call)}, which the recorded plan did not call {often}")

    def judge(self, value: object) -> Observation:
        """Whether this equals the recorded plan's value. Values that were too large to record count as equal."""
        if not is_accepted(self._result):
            return Observation("the recorded plan's result was not accepted")
        returned = storable_value(value)
        if _canonical(returned) == _canonical(self._result.value):
            return Observation("The plan returned the recorded value.", reward=1.0, done=True, success=True)
        now, then = value_text(returned, _MAX_SHOWN), value_text(self._result.value, _MAX_SHOWN)
        return Observation(f"it returned {now}; the recorded plan returned {then}")

    def close(self) -> None:
        """Nothing to free."""


def is_accepted(result: Result) -> bool:
    """Whether the last plan's value was verified, or the plan ran to its end and there was no verifier."""
    return result.success or isinstance(result.ending, Claimed)


def read_recorded_calls(tape: Path) -> RecordedCalls:
    """The calls on a tape. Raises: UsageError: it cannot be read, is damaged, or holds not one episode with tools."""
    episodes = [*read_tape(tape, tape.parent).values()]
    if len(episodes) != 1:
        raise UsageError(f"the tape {tape} holds {len(episodes)} episodes; one with recorded calls holds 1")
    return RecordedCalls(episodes[0], f"the tape {tape}")


def _first_and_last(events: Sequence[Event], what: str) -> tuple[EpisodeStarted, Result]:
    """The episode's header and its result."""
    first, last = events[0], events[-1]
    if not (isinstance(first, EpisodeStarted) and first.tools and isinstance(last, EpisodeEnded)):
        raise UsageError(f"{what} holds no finished episode with tools; make a tape with codeplan new-test")
    return first, last.result


class _StepCall(NamedTuple):
    """A call, and the step in which it was made: 0 before the first step."""

    step: int
    made: AnsweredCall


def _last_plans_calls(events: Sequence[Event]) -> Iterator[AnsweredCall]:
    """The calls of the last plan, with those of earlier plans in the steps before the one at which it started."""
    calls: list[_StepCall] = []
    begun = CallsByAnswer()
    step = 0
    for event in events:
        call = begun.take(event)
        if isinstance(event, PlanStarted):
            calls, step = [each for each in calls if 0 < each.step < event.start_from], 0
        elif isinstance(event, StepEntered):
            step = event.step
        elif isinstance(event, CallAnswered) and call is not None:
            calls.append(_StepCall(step, AnsweredCall(call, event)))
    return (each.made for each in calls)


def _key(call: Call) -> bytes:
    """The same bytes for calls with equal arguments."""
    return msgspec.json.encode(call, order="deterministic")


def _checked(answer: Answer) -> Answer:
    """An answer from a tape. Raises: ValueError, NotPlainData: it is not that of a tool."""
    if answer.observation is not None:
        raise ValueError("an answer is that of a world of text")
    unpack(answer.value)
    return answer


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)
