"""Common code of environments: the action limit, the end of an episode, snapshots, checks of settings, an agent's log.

Its use is optional: any object with the members of ``codeplan.protocols.Environment`` is an environment.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Final, Generic, Literal, TypeVar, overload

from msgspec.structs import replace

from codeplan.errors import UsageError
from codeplan.plugins import Setting
from codeplan.protocols import Act
from codeplan.types import Observation, Task, Value
from codeplan.untrusted.values import in_quotes

MAX_REPORTED: Final = 3
"""Number of last actions in AdaPlanner's report (Sun et al. 2023, section 3.2)."""

EPISODE_OVER = "The episode is over."

ActionLimit = Annotated[int, Setting("Actions in an episode at most.", "safe", most=100_000)]
"""The setting ``actions`` of every environment."""


AgentName = Literal["full", "paper"]
"""The agent that plans get: with all of codeplan's methods, or with those of the papers alone, for comparisons."""

AgentSetting = Annotated[AgentName, Setting("paper: the agent has the papers' methods alone, for comparisons.", "safe")]
"""The setting ``agent`` of an environment that has both agents."""


class EpisodeSnapshot(Value, frozen=True, kw_only=True):
    """The state of an episode. A subclass adds the environment's state; ``actions`` is the number of actions taken."""

    actions: int = 0
    done: bool = False
    success: bool = False


_S = TypeVar("_S", bound=EpisodeSnapshot)
_T = TypeVar("_T")


class LimitedEnvironment(Generic[_S]):
    """Base of an environment that counts actions and ends an episode at a limit.

    A subclass calls ``_begin`` in ``reset`` and defines ``_apply``.
    """

    name: str
    agent: type
    agents: Mapping[str, type] = {}

    def __init__(self, actions: int) -> None:
        """``actions`` is the action limit of an episode. Raises UsageError if it is not a whole number above 0."""
        self.max_actions = check_positive(self.name, "actions", actions)
        self._current: _S | None = None

    def step(self, action: str) -> Observation:
        """Take one action. An action that cannot be done still counts; the last allowed action ends the episode.

        After the end, every action is answered with ``EPISODE_OVER``. Raises: UsageError before the first ``reset``.
        """
        before = self._require_task()
        if before.done:
            return Observation(EPISODE_OVER, done=True, success=before.success)
        after, observation = self._apply(before, action)
        count = before.actions + 1
        if count >= self.max_actions and not observation.done:
            observation = self._end_at_limit(observation)
        self._current = replace(after, actions=count, done=observation.done, success=observation.success)
        return observation

    def close(self) -> None:
        """End the episode."""
        self._current = None

    def _choose_agent(self, name: AgentName) -> None:
        """Give plans the agent of this name, one of ``agents``. Raises: UsageError if there is no such one."""
        self.agent = self.agents[check_choice(self.name, "agent", name, ("full", "paper"))]

    def _begin(self, snapshot: _S) -> None:
        self._current = snapshot

    def _apply(self, before: _S, action: str) -> tuple[_S, Observation]:
        """The environment's state after an action, and its answer; ``step`` counts the action and applies the limit."""
        raise NotImplementedError

    def _end_at_limit(self, observation: Observation) -> Observation:
        """The observation of the last allowed action if that action does not end the episode by itself."""
        return replace(observation, done=True)

    def _require_task(self) -> _S:
        if self._current is None:
            raise UsageError(f"the environment {self.name} has no task yet; call reset(task) first")
        return self._current


class RestorableEnvironment(LimitedEnvironment[_S]):
    """A limited environment whose snapshots hold its whole state."""

    def snapshot(self) -> _S:
        """Return where the episode stands, without copying. Raises: UsageError before the first ``reset``."""
        return self._require_task()

    def restore(self, snapshot: _S) -> None:
        """Continue from a snapshot of the same task. Raises: UsageError before the first ``reset``."""
        self._require_task()
        self._current = snapshot


def check_positive(env: str, name: str, value: int) -> int:
    """Return a setting that must be a whole number above 0. Raises: UsageError naming environment and setting."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"the setting {name} of {env} must be a whole number from 1 up (got {in_quotes(value)})")
    return value


def check_choice(env: str, name: str, value: _T, allowed: tuple[_T, ...]) -> _T:
    """Return a setting that must be one of ``allowed``. Raises: UsageError naming environment and setting."""
    if value not in allowed:
        raise UsageError(
            f"the setting {name} of {env} must be one of {', '.join(map(str, allowed))} (got {in_quotes(value)})"
        )
    return value


class ActionLog:
    """Sends an agent's actions to the environment and keeps the last one with its answer, for ``report()``."""

    def __init__(self, act: Act) -> None:
        self._act = act
        self.last: tuple[str, str] | None = None
        """The last action and its answer; None before the first."""
        self._earlier: deque[tuple[str, str]] = deque(maxlen=MAX_REPORTED - 1)

    def act(self, action: str) -> str:
        """Take an action and return the observation's text."""
        answer = self._act(action).text
        if self.last is not None:
            self._earlier.append(self.last)
        self.last = action, answer
        return answer

    def describe_last(self, label: str = "it answered", shorten: Callable[[str], str] = "'{}'".format) -> str:
        """The last action and its answer in a sentence; ``shorten`` writes the answer."""
        if self.last is None:
            return "I have not acted yet."
        action, answer = self.last
        return f"Last action: '{action}'; {label}: {shorten(answer)}"

    def describe_recent(self) -> str:
        """The last three actions and their answers, the oldest first; fewer if there were fewer."""
        if self.last is None:
            return "I have not acted yet."
        return "\n".join(f"> {action}\n{answer}" for action, answer in (*self._earlier, self.last))


def split_for_seed(seed: int) -> str:
    """Return the split of a seed: ``test`` below 1000, ``dev`` below 2000, ``train`` from 2000."""
    return "test" if seed < 1000 else "dev" if seed < 2000 else "train"


class GeneratedTasks(Sequence[Task]):
    """The tasks of some kinds and seeds: every kind of one seed, then the next seed. Each access makes its task."""

    def __init__(self, kinds: Sequence[str], seeds: range, make_task: Callable[[str, int], Task]) -> None:
        self._kinds, self._seeds, self._make_task = kinds, seeds, make_task

    def __len__(self) -> int:
        return len(self._kinds) * len(self._seeds)

    @overload
    def __getitem__(self, index: int) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Task]: ...
    def __getitem__(self, index: int | slice) -> Task | Sequence[Task]:
        positions = range(len(self))[index]  # raises IndexError beyond the end
        return self._at(positions) if isinstance(positions, int) else [self._at(position) for position in positions]

    def _at(self, position: int) -> Task:
        seed, kind = divmod(position, len(self._kinds))
        return self._make_task(self._kinds[kind], self._seeds[seed])
