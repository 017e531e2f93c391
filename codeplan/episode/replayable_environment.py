"""The environment of an episode, or the recording that answers in its place."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from codeplan.episode.text_limits import MAX_GOAL_CHARS, MAX_OBSERVATION_CHARS, bound_text
from codeplan.errors import CodeplanError, Diverged, EnvironmentFailure
from codeplan.protocols import ActsForReal, Environment, JudgesValues, ShowsPictures
from codeplan.recording.events import (
    ActionTaken,
    CallBegun,
    CallDecided,
    DoubtDecided,
    EnvironmentReset,
    Event,
    ToolFailed,
    ValueJudged,
)
from codeplan.recording.tool_events import EnvironmentEvent
from codeplan.recording.trace import Trace
from codeplan.types import Finished, Observation, Task
from codeplan.types.value import MAX_AMOUNT
from codeplan.untrusted.noun_phrases import with_article
from codeplan.untrusted.tracebacks import broken_environment
from codeplan.untrusted.values import in_quotes, value_text

_MAX_ERROR = 500
"""Maximum length of an environment's exception in a message, in characters."""


_ENVIRONMENT_EVENTS: tuple[type[EnvironmentEvent], ...] = (CallDecided, CallBegun, DoubtDecided, ToolFailed)


class ReplayableEnvironment:
    """One task of an environment.

    During a replay the recording answers, and the environment is not used. After the recording's end, the environment
    is fast-forwarded to the same state and answers from then on. The caller records the answers.
    """

    def __init__(self, env: Environment, task: Task, trace: Trace) -> None:
        self._env, self._task, self._trace = env, task, trace
        self._needs_fast_forward = False
        self._pictures = env.picture if isinstance(env, ShowsPictures) else None  # the check takes microseconds

    def reset(self) -> EnvironmentReset:
        """Begin the task from its start; returns the event to record. Raises: EnvironmentFailure: the environment
        breaks.
        """
        recorded = self._trace.next_recorded(EnvironmentReset)
        if recorded:
            self._needs_fast_forward = False
            self._confirm_success(recorded, self._reset_env)
            self._needs_fast_forward = True
            return recorded
        if isinstance(self._env, ActsForReal):
            self._fast_forward()
        self._needs_fast_forward = False
        observation, cut_from = self._reset_env()
        return EnvironmentReset(observation=observation, cut_from=cut_from)

    def step(self, action: str) -> ActionTaken:
        """Do one action; returns the event to record.

        Raises:
            EnvironmentFailure: the environment breaks.
            Diverged: the environment answers the recorded actions differently.
        """
        if recorded := self._trace.next_recorded(ActionTaken):
            self._confirm_success(recorded, lambda: self._step_env(action))
            return replace(recorded, action=action)  # the trace compares it with the recorded action
        self._fast_forward()
        started = time.perf_counter()
        observation, cut_from = self._step_env(action)
        seconds = time.perf_counter() - started
        return ActionTaken(action=action, observation=observation, seconds=seconds, cut_from=cut_from)

    def _confirm_success(
        self, recorded: EnvironmentReset | ActionTaken, do: Callable[[], tuple[Observation, int]]
    ) -> None:
        """Repeat what led to a recorded success, if the episode is to continue, and compare the answer.

        The recording may come from a stranger, and an episode that is done uses the environment for nothing else.
        Where actions are real, they are not repeated, and ``judge`` decides about success. Raises: Diverged.
        """
        if not recorded.observation.success or not self._trace.is_live or isinstance(self._env, ActsForReal):
            return
        self._fast_forward()
        _require_same(recorded.seq, recorded.observation, do()[0])
        self._needs_fast_forward = True  # what follows in the recording is repeated with all before it

    def recorded_events(self, action: str) -> Iterator[EnvironmentEvent]:
        """During a replay: the events that the environment reported before it answered ``action``.

        The caller records each one immediately.
        """
        while event := self._trace.peek_recorded(*_ENVIRONMENT_EVENTS):
            yield replace(event, action=action) if isinstance(event, CallBegun) else event

    def judge(self, finished: Finished) -> ValueJudged | None:
        """The verdict on what a plan returned, as the event to record; None if the environment does not judge values.

        A recorded success counts only if the environment confirms it: the recording may come from a stranger. Raises as
        the environment's ``judge``, and Diverged: it does not confirm.
        """
        if not isinstance(self._env, JudgesValues):
            return None
        if recorded := self._trace.next_recorded(ValueJudged):
            if self._trace.is_live and recorded.verdict and recorded.verdict.success:
                self._require_success_now(self._env, finished.value)
            return recorded
        self._fast_forward()
        if fault := finished.value_fault:
            return ValueJudged(verdict=Observation(f"The result was not accepted: {fault}"))
        return ValueJudged(verdict=self._env.judge(finished.value))

    def _require_success_now(self, env: JudgesValues, value: object) -> None:
        self._fast_forward()
        verdict = env.judge(value)
        if verdict is None or not verdict.success:
            said = f": {in_quotes(verdict.text, _MAX_ERROR)}" if verdict else ""
            raise Diverged(f"the recording says that the result was verified, but now it is not{said}")

    def picture(self) -> bytes | None:
        """A picture of the current state; None without a trace file, without pictures, or during a replay."""
        if not self._pictures or not self._trace.path or self._needs_fast_forward or self._trace.is_replaying:
            return None
        return self._pictures()

    def _fast_forward(self) -> None:
        """Take the environment to the recording's end: repeat its actions and compare each observation.

        If its actions are real, nothing is repeated: the environment continues in the present state of the world.
        """
        if not self._needs_fast_forward:
            return
        self._needs_fast_forward = False
        if isinstance(self._env, ActsForReal):
            self._env.take_up(_action_in_doubt(self._trace.events))
            return
        events = self._trace.events
        last = max(i for i, e in enumerate(events) if isinstance(e, EnvironmentReset))
        for event in events[last:]:
            if isinstance(event, EnvironmentReset):
                _require_same(event.seq, event.observation, self._reset_env()[0])
            elif isinstance(event, ActionTaken):
                _require_same(event.seq, event.observation, self._step_env(event.action)[0])

    def _reset_env(self) -> tuple[Observation, int]:
        return self._guarded(lambda: self._env.reset(self._task), lambda: f"resetting to task {self._task.id}")

    def _step_env(self, action: str) -> tuple[Observation, int]:
        return self._guarded(lambda: self._env.step(action), lambda: f"doing {in_quotes(action)}")

    def _guarded(self, do: Callable[[], object], doing: Callable[[], str]) -> tuple[Observation, int]:
        """The observation, cut to its maximum length, and its whole length if it was cut, otherwise 0."""
        try:
            observation = do()
        except CodeplanError:
            raise
        except (Exception, SystemExit) as e:  # sys.exit(0) in an environment must not end the program as a success
            raise broken_environment(self._env.name, doing(), e) from e
        if not isinstance(observation, Observation):
            answer = with_article(type(observation).__name__)
            raise EnvironmentFailure(
                f"the environment {self._env.name} answered {answer} while {doing()}; "
                "reset and step must return a codeplan.Observation"
            )
        if wrong := _wrong_field(observation):
            raise EnvironmentFailure(f"the environment {self._env.name} answered, while {doing()}, with {wrong}")
        text, cut_from = bound_text(observation.text, MAX_OBSERVATION_CHARS)
        goal = bound_text(observation.goal, MAX_GOAL_CHARS)[0] if observation.goal else ""
        unchanged = text is observation.text and goal is observation.goal
        return (observation if unchanged else replace(observation, text=text, goal=goal)), cut_from


def _wrong_field(observation: Observation) -> str:
    """What a trace cannot hold of an observation, and what to give instead; empty if it is sound."""
    if not isinstance(observation.text, str):
        return f"{_typed(observation.text)} as text; give a str"
    for name in ("done", "success"):
        if type(value := getattr(observation, name)) is not bool:
            return f"{_typed(value)} as {name}; give Python's True or False"
    reward = observation.reward
    if type(reward) not in (float, int):
        return f"{_typed(reward)} as reward; give a Python float"
    if not -MAX_AMOUNT <= reward <= MAX_AMOUNT:
        return f"the reward {in_quotes(reward)}; give a number between {-MAX_AMOUNT:g} and {MAX_AMOUNT:g}"
    return ""


def _typed(value: object) -> str:
    kind = type(value)
    return with_article(kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}")


def _action_in_doubt(events: Sequence[Event]) -> str | None:
    """The action that was begun at the end of the events and has no answer; None if there is none."""
    last = next((e for e in reversed(events) if not isinstance(e, CallDecided | DoubtDecided | ToolFailed)), None)
    return last.action if isinstance(last, CallBegun) else None


def _require_same(seq: int, recorded: Observation, now: Observation) -> None:
    if recorded == now:
        return
    differs = f"it said {recorded}, and now says {now}"
    if recorded.text == now.text:
        name = next(n for n in Observation.__struct_fields__ if getattr(recorded, n) != getattr(now, n))
        differs = f"its {name} was {value_text(getattr(recorded, name), _MAX_ERROR)}, and now is "
        differs += value_text(getattr(now, name), _MAX_ERROR)
    raise Diverged(f"the environment differs from the recording at event {seq}: {differs}")
