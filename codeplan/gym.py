"""codeplan's text environments for gymnasium (extra ``gym``).

    import gymnasium, codeplan.gym

    env = gymnasium.make("codeplan/Household-v0")  # or codeplan/ALFWorld-v0, codeplan/TextCraft-v0

Importing this module registers the ids; ``gymnasium.make("codeplan.gym:codeplan/Household-v0")`` imports it.

Observations and actions are texts. Keyword arguments of ``make`` are settings of the environment, as in
``make(…, actions=30)``; ``split`` is the split to draw tasks from. ``reset`` draws a task by gymnasium's seed, or takes
the one in its options: ``reset(options={"task": "heat/17"})``.
"""

from __future__ import annotations

import string
from typing import Any

import gymnasium
from gymnasium.spaces import Text

from codeplan import envs
from codeplan.types import Observation, Task

IDS = {"codeplan/Household-v0": "household", "codeplan/ALFWorld-v0": "alfworld", "codeplan/TextCraft-v0": "textcraft"}
"""The name of the environment behind each gymnasium id."""

MAX_OBSERVATION_CHARS, MAX_ACTION_CHARS = 20_000, 1_000
"""Maximum length of an observation, in characters; a longer one is truncated."""

_CHARACTERS = frozenset(string.printable)


class TextEnv(gymnasium.Env[str, str]):
    """A codeplan environment as gymnasium's Env.

    Success terminates an episode with the reward 1; any other end, such as the action limit, truncates it. ``info`` has
    ``task`` (its id), ``goal``, ``success`` and, if the environment can list them, the ``admissible`` actions.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self, env: str = "household", *, split: str | None = None, render_mode: str | None = None, **settings: Any
    ) -> None:
        """``split`` None means the environment's first split. Raises what ``codeplan.envs.make`` raises."""
        self.env = envs.make(env, **settings)
        self.split = split
        self.render_mode = render_mode
        self.observation_space = Text(MAX_OBSERVATION_CHARS, charset=_CHARACTERS)
        self.action_space = Text(MAX_ACTION_CHARS, min_length=0, charset=_CHARACTERS)
        self._task = Task("")
        self._text = ""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin the task in the options (``task``: an id; or ``kind`` and ``seed``), or draw one.

        Raises: UsageError if there is no such task.
        """
        super().reset(seed=seed)
        self._task = self._choose_task(options or {})
        first = self.env.reset(self._task)
        return self._printable_text(first), self._info(first)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Do one action. Raises: UsageError before the first ``reset``."""
        answer = self.env.step(action)
        truncated = answer.done and not answer.success
        return self._printable_text(answer), float(answer.reward), answer.success, truncated, self._info(answer)

    def render(self) -> Any:
        """Return the last observation's text."""
        return self._text

    def close(self) -> None:
        """Free the environment's resources."""
        self.env.close()

    def _choose_task(self, options: dict[str, Any]) -> Task:
        if options:
            given = {"id": options.get("task"), "kind": options.get("kind"), "seed": options.get("seed")}
            return envs.select(self.env, **given, split=self.split)
        tasks = envs.tasks_of(self.env, self.split or envs.splits(self.env)[0])
        if not tasks:
            return envs.select(self.env, split=self.split)  # raises an error that says which tasks exist
        return tasks[int(self.np_random.integers(len(tasks)))]

    def _printable_text(self, observation: Observation) -> str:
        """The observation's text, limited to the length and characters of the observation space."""
        self._text = "".join(c if c in _CHARACTERS else "?" for c in observation.text[:MAX_OBSERVATION_CHARS])
        return self._text

    def _info(self, observation: Observation) -> dict[str, Any]:
        info: dict[str, Any] = {"task": self._task.id, "goal": self._task.goal, "success": observation.success}
        admissible = getattr(self.env, "admissible", None)
        return info | ({"admissible": list(admissible())} if admissible else {})


for _id, _name in IDS.items():
    gymnasium.register(_id, entry_point="codeplan.gym:TextEnv", kwargs={"env": _name})
