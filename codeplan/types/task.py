"""Tasks, calls and their answers, observations and actions."""

from __future__ import annotations

from typing import Any

import msgspec

from codeplan.types.value import Seed, Value


class Task(Value, frozen=True):
    """A goal for an agent in an environment.

    ``id`` is unique within the environment; ``kind`` is the task's family (``"heat"``). ``goal`` is the sentence that
    the model sees; it is empty if only the environment's ``reset`` reveals it. ``seed`` makes a generated task
    repeatable. ``split`` is ``"train"``, ``"dev"``, ``"test"`` or the data set's own name of a split. ``notes`` are
    one method's information for another about the task: progress, a reflection, a plan to follow. Environments give
    none.
    """

    id: str
    env: str = ""
    kind: str = ""
    goal: str = ""
    seed: Seed = 0
    split: str = "test"
    notes: tuple[str, ...] = ()

    def with_notes(self, *notes: str) -> Task:
        """The same task with more notes."""
        return msgspec.structs.replace(self, notes=(*self.notes, *notes))


class Observation(Value, frozen=True):
    """The environment's answer to an action, or to ``reset``.

    ``done`` means that no further action counts. ``success`` means that the goal is reached; nothing else decides that.
    ``goal`` is the goal's sentence, in the answer to ``reset`` alone, if the task itself has none.
    """

    text: str
    reward: float = 0.0
    done: bool = False
    success: bool = False
    goal: str = ""

    def __str__(self) -> str:
        return self.text


class Call(Value, frozen=True):
    """What a plan, or a model, asks of a tool or of an environment.

    ``arguments`` are those of the tool ``name`` by parameter, as packed plain data (``codeplan.plain_data``). In a
    world of text the agent writes the action's words: then they are the ``name``, and ``arguments`` is None.
    """

    name: str
    arguments: dict[str, Any] | None = None


class Answer(Value, frozen=True):
    """What comes back from a call: a value or an error, and an observation where the world has words.

    ``value`` is packed plain data. ``error`` is the name of an exception, empty for a value, and ``message`` says what
    was wrong. ``done`` means that no further call counts. A world of text answers with an ``observation`` alone, which
    is None for tools. ``in_doubt``: nobody knows whether the call was done.
    """

    value: Any = None
    error: str = ""
    message: str = ""
    done: bool = False
    observation: Observation | None = None
    in_doubt: bool = False


class ActionSpace(Value, frozen=True):
    """The description of the actions for a model that writes actions itself, and the rules for its turns.

    ``forms`` lists the form of every valid action, such as ``"go to RECEPTACLE"``. An observation that begins with one
    of ``no_effect_prefixes`` says that the action did nothing. An executor gets ``calls`` model calls for one goal and
    gives up after ``max_idle_turns`` turns in a row without effect (both as in ADaPT, where it has the environment).
    ``status`` is an action that shows all of the agent's belongings, or empty. ``rollback`` asks methods to undo a
    failed attempt before the next one. ``rewrites`` are pairs of a regular expression and its replacement; they
    correct small mistakes in an action's form.
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
