"""The world of an episode: the environment, or the recording that answers for it as long as it lasts."""

from __future__ import annotations

import time
from collections.abc import Callable

from codeplan.errors import CodeplanError, Diverged, EnvironmentFailure
from codeplan.protocols import Environment, ShowsPictures
from codeplan.recording.events import ActionTaken, EnvironmentReset
from codeplan.recording.trace import Trace
from codeplan.types.task import Observation, Task


class ReplayableEnvironment:
    """One task of an environment. While the trace follows a recording, that answers, and the environment is left alone.

    Then the environment is brought to the same place and goes on. Its answers are not written to the trace here.
    """

    def __init__(self, env: Environment, task: Task, trace: Trace) -> None:
        self._env, self._task, self._trace = env, task, trace
        self._needs_fast_forward = False

    def reset(self) -> Observation:
        """Begin the task anew. Raises EnvironmentFailure when the environment breaks."""
        recorded = self._trace.next_recorded(EnvironmentReset)
        self._needs_fast_forward = recorded is not None
        return recorded.observation if recorded else self._reset_env()

    def step(self, action: str) -> tuple[Observation, float]:
        """Do one action: what the environment answers, and the seconds that it took.

        Raises EnvironmentFailure when the environment breaks, and Diverged where it is not in the place that was
        recorded.
        """
        if recorded := self._trace.next_recorded(ActionTaken):
            return recorded.observation, recorded.seconds
        self._fast_forward()
        started = time.perf_counter()
        observation = self._step_env(action)
        return observation, time.perf_counter() - started

    def picture(self) -> bytes | None:
        """What there is to see; None where there is nothing, nowhere to keep it, or the world is not at this moment."""
        if (
            not self._trace.path
            or self._needs_fast_forward
            or self._trace.is_replaying
            or not isinstance(self._env, ShowsPictures)
        ):
            return None
        return self._env.picture()

    def _fast_forward(self) -> None:
        """Bring the world to where a recording left it: reset it, play the recorded actions, compare each answer."""
        if not self._needs_fast_forward:
            return
        self._needs_fast_forward = False
        events = self._trace.events
        last = max(i for i, e in enumerate(events) if isinstance(e, EnvironmentReset))
        for event in events[last:]:
            if isinstance(event, EnvironmentReset):
                _require_same(event.seq, event.observation, self._reset_env())
            elif isinstance(event, ActionTaken):
                _require_same(event.seq, event.observation, self._step_env(event.action))

    def _reset_env(self) -> Observation:
        return self._guarded(lambda: self._env.reset(self._task), f"resetting to task {self._task.id}")

    def _step_env(self, action: str) -> Observation:
        return self._guarded(lambda: self._env.step(action), f"doing {action!r}")

    def _guarded(self, do: Callable[[], object], what: str) -> Observation:
        try:
            observation = do()
        except CodeplanError:
            raise
        except Exception as e:
            raise EnvironmentFailure(f"the environment {self._env.name} broke while {what}: {e!r}") from e
        if not isinstance(observation, Observation):
            raise EnvironmentFailure(
                f"the environment {self._env.name} answered a {type(observation).__name__} while {what}; "
                "reset and step must return a codeplan.Observation"
            )
        return observation


def _require_same(seq: int, recorded: Observation, now: Observation) -> None:
    if recorded != now:
        raise Diverged(f"the world is not what was recorded at event {seq}: it said {recorded}, and says now {now}")
