"""The world of an episode: the environment, or the recording that answers for it as long as it lasts."""

from __future__ import annotations

import time
from collections.abc import Callable

from codeplan.errors import CodeplanError, Diverged, EnvironmentFailure
from codeplan.protocols import Environment, ShowsPictures
from codeplan.recording.events import Acted, EnvironmentReset
from codeplan.recording.trace import Trace
from codeplan.types import Observation, Task


class World:
    """One task of an environment. While the trace follows a recording, that answers, and the environment is left alone.

    Then the environment is brought to the same place and goes on. Its answers are not written to the trace here.
    """

    def __init__(self, env: Environment, task: Task, trace: Trace) -> None:
        self._env, self._task, self._trace = env, task, trace
        self._behind = False

    def reset(self) -> Observation:
        """Begin the task anew. Raises EnvironmentFailure when the environment breaks."""
        recorded = self._trace.recorded(EnvironmentReset)
        self._behind = recorded is not None
        return recorded.observation if recorded else self._begin()

    def step(self, action: str) -> tuple[Observation, float]:
        """Do one action: what the environment answers, and the seconds that it took.

        Raises EnvironmentFailure when the environment breaks, and Diverged where it is not in the place that was
        recorded.
        """
        if recorded := self._trace.recorded(Acted):
            return recorded.observation, recorded.seconds
        self._catch_up()
        started = time.perf_counter()
        observation = self._step(action)
        return observation, time.perf_counter() - started

    def picture(self) -> bytes | None:
        """What there is to see; None where there is nothing, nowhere to keep it, or the world is not at this moment."""
        if not self._trace.path or self._behind or self._trace.following or not isinstance(self._env, ShowsPictures):
            return None
        return self._env.picture()

    def _catch_up(self) -> None:
        """Bring the world to where a recording left it: reset it, play the recorded actions, compare each answer."""
        if not self._behind:
            return
        self._behind = False
        events = self._trace.events
        last = max(i for i, e in enumerate(events) if isinstance(e, EnvironmentReset))
        for event in events[last:]:
            if isinstance(event, EnvironmentReset):
                _expect(event.seq, event.observation, self._begin())
            elif isinstance(event, Acted):
                _expect(event.seq, event.observation, self._step(event.action))

    def _begin(self) -> Observation:
        return self._guarded(lambda: self._env.reset(self._task), f"resetting to task {self._task.id}")

    def _step(self, action: str) -> Observation:
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


def _expect(seq: int, recorded: Observation, now: Observation) -> None:
    if recorded != now:
        raise Diverged(f"the world is not what was recorded at event {seq}: it said {recorded}, and says now {now}")
