"""The task and what the environment answers."""

from __future__ import annotations

from codeplan.types.value import Value


class Task(Value, frozen=True):
    """What an agent is to do in an environment.

    ``id`` is unique within the environment; ``kind`` is the family it belongs to (``"heat"``); ``goal`` is
    the sentence that the model sees, and may be empty where only the environment's ``reset`` reveals it;
    ``seed`` makes a generated task repeatable; ``split`` is ``"train"``, ``"dev"`` or ``"test"``, or the
    data set's own name for a split. ``notes`` is what a method gives along to the one that it hands
    the task to: what was done before, a reflection, a plan to go by. Tasks of environments have none.
    """

    id: str
    env: str = ""
    kind: str = ""
    goal: str = ""
    seed: int = 0
    split: str = "test"
    notes: tuple[str, ...] = ()


class Observation(Value, frozen=True):
    """What the environment answers to an action (or to ``reset``).

    ``done`` says that no further action counts; ``success`` is the environment's own word that the goal
    is reached, the only one that is believed.
    """

    text: str
    reward: float = 0.0
    done: bool = False
    success: bool = False

    def __str__(self) -> str:
        return self.text


class ActionSpace(Value, frozen=True):
    """What a model needs to know that writes an environment's actions itself, and what judges how it gets on.

    ``forms`` are the forms of all valid actions, one each, such as ``"go to RECEPTACLE"``. ``futile`` are the
    beginnings of observations that say that an action did nothing. ``calls`` is how many model calls an executor gets
    for one goal, ``max_idle_turns`` after how many futile turns in a row it gives up (both as in ADaPT, where that knows the
    environment). ``status`` is an action that shows all that the agent has, empty where there is none. ``rollback``
    says that what a failed attempt did is to be undone before the next. ``rewrites`` are pairs of a regular expression
    and its replacement, for slips in an action's form.
    """

    forms: tuple[str, ...]
    no_effect_prefixes: tuple[str, ...] = ()
    calls: int = 30
    max_idle_turns: int = 5
    status: str = ""
    rollback: bool = False
    rewrites: tuple[tuple[str, str], ...] = ()

    def did_nothing(self, observation: str) -> bool:
        """Whether this observation says that the action before it did nothing."""
        return observation.startswith(self.no_effect_prefixes)
