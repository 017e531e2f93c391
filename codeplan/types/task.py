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
    """What a model that writes actions itself must know about them, and the rules for its turns.

    ``forms`` lists the form of every valid action, such as ``"go to RECEPTACLE"``. An observation that begins with one
    of ``no_effect_prefixes`` says that the action did nothing. An executor gets ``calls`` model calls for one goal and
    gives up after ``max_idle_turns`` turns in a row without effect (both as in ADaPT, where it has the environment).
    ``status`` is an action that shows all that the agent has, or empty. ``rollback`` asks methods to undo a failed
    attempt before the next one. ``rewrites`` are pairs of a regular expression and its replacement; they correct small
    mistakes in an action's form.
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
