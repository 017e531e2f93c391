"""The tools of a recorded episode as an environment for tests: a tape answers in their place, and no tool is called."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from codeplan.episode.result_parts import storable_value
from codeplan.errors import AgentError, EnvironmentFailure, UsageError
from codeplan.recording.events import ActionTaken, EpisodeEnded, EpisodeStarted, Event, PlanStarted, StepEntered
from codeplan.recording.tape import read_tape
from codeplan.tools import wire
from codeplan.tools.recorded_tools import recorded_environment
from codeplan.tools.shown_calls import shown_call
from codeplan.types import Claimed, Observation, Result, Task
from codeplan.untrusted.terminal import parser_reason
from codeplan.untrusted.values import value_text

_MAX_SHOWN = 300
"""Maximum length of a returned value in a message, in characters."""


class UnrecordedCall(EnvironmentFailure):
    """A plan makes a call to which the recording has no answer."""


class RecordedCalls:
    """Answers the calls of a plan from a tape with one episode, as often as it is reset.

    The first call of a tool with some arguments gets the first answer to this call, and so on. If the episode had
    several plans, only the calls count that the last plan would make from its first step on. A plan succeeds if it
    returns the same value as the recorded plan, provided that the recorded value was accepted, or that there was no
    verifier.

    Raises: UsageError: the tape cannot be read, is damaged, or holds anything but one finished episode with tools.
    """

    name = "tools"
    splits = ("test",)
    has_verifier = True

    def __init__(self, tape: Path) -> None:
        events = _one_episode(tape)
        header, result = _first_and_last(events, tape)
        try:
            tools = recorded_environment(header.task.goal, header.tools, header.tools_doc)
            self._calls = [(e.action, _checked(e.observation)) for e in _last_plans_calls(events)]
        except (UsageError, AgentError, ValueError) as e:
            raise UsageError(f"the tape {tape} cannot stand for tools: {parser_reason(e)}") from None
        self.agent, self.described_tools, self.tools_doc = tools.agent, tools.described_tools, tools.tools_doc
        self._task, self._result = header.task, result
        self._left: dict[str, deque[Observation]] = {}

    def tasks(self, split: str) -> Sequence[Task]:
        """The one task."""
        return (self._task,) if split == "test" else ()

    def reset(self, task: Task) -> Observation:
        """Begin the episode; all recorded answers are available again."""
        self._left = defaultdict(deque)
        for action, observation in self._calls:
            self._left[action].append(observation)
        return Observation("No tool was called yet.")

    def step(self, action: str) -> Observation:
        """The next recorded answer to a call. Raises: UnrecordedCall: there is none, or none is left."""
        if answers := self._left.get(action):
            return answers.popleft()
        often = "as often" if action in self._left else "at all"
        raise UnrecordedCall(f"the plan called {shown_call(action)}, which the recorded plan did not call {often}")

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


def _one_episode(tape: Path) -> list[Event]:
    episodes = [*read_tape(tape, tape.parent).values()]
    if len(episodes) != 1:
        raise UsageError(f"the tape {tape} holds {len(episodes)} episodes; one with recorded calls holds 1")
    return episodes[0]


def _first_and_last(events: list[Event], tape: Path) -> tuple[EpisodeStarted, Result]:
    """The episode's header and its result."""
    first, last = events[0], events[-1]
    if not (isinstance(first, EpisodeStarted) and first.tools and isinstance(last, EpisodeEnded)):
        raise UsageError(f"the tape {tape} holds no finished episode with tools; make it with codeplan new-test")
    return first, last.result


class _StepCall(NamedTuple):
    """A call, and the step in which it was made: 0 before the first step."""

    step: int
    event: ActionTaken


def _last_plans_calls(events: list[Event]) -> Iterator[ActionTaken]:
    """The calls of the last plan, with those of earlier plans in the steps before the one at which it started."""
    calls: list[_StepCall] = []
    step = 0
    for event in events:
        if isinstance(event, PlanStarted):
            calls, step = [call for call in calls if 0 < call.step < event.start_from], 0
        elif isinstance(event, StepEntered):
            step = event.step
        elif isinstance(event, ActionTaken):
            calls.append(_StepCall(step, event))
    return (call.event for call in calls)


def _checked(observation: Observation) -> Observation:
    """An observation from a tape. Raises: ValueError, AgentError: it holds no answer of a tool."""
    wire.read_answer(observation.text)
    return observation


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)
