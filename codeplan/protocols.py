"""The ports: what an environment, an agent, a model, a method and who writes its plans must offer. Anyone may
implement them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from codeplan.types.model import Completion, Embeddings, Message, Purpose
from codeplan.types.task import ActionSpace, Observation, Task

if TYPE_CHECKING:
    pass

Act = Callable[[str], Observation]
"""Does one action in the environment and returns what it answered; an Agent is built with one."""


@runtime_checkable
class Agent(Protocol):
    """What a plan acts through: its public methods and attributes are the plan's API, docstrings included.

    Built as ``AgentClass(act)``, or as ``AgentClass(act, observation)`` where ``__init__`` takes a second parameter:
    the observation that ``reset`` returned. Methods return plain data, or an Observation, seen by a plan as its text.
    """

    def report(self) -> str:
        """The agent's state in a sentence or two, for assertion messages."""
        ...


@runtime_checkable
class Environment(Protocol):
    """A world of tasks. One task at a time; ``reset`` begins it, ``step`` acts in it."""

    name: str
    """Short and unique, as in ``codeplan run NAME``."""

    agent: type
    """Its Agent class."""

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of a split, always in the same order; empty where there is no such split."""
        ...

    def reset(self, task: Task) -> Observation:
        """Begin ``task`` from its start, whatever came before. The observation carries the goal's sentence."""
        ...

    def step(self, action: str) -> Observation:
        """Do one action. An action that cannot be done is answered by an observation, not by an exception."""
        ...

    def close(self) -> None:
        """Free what the environment holds. Safe to call twice."""
        ...


@runtime_checkable
class GeneratesTasks(Protocol):
    """An environment that makes its tasks from a seed: any (kind, seed) may be asked for."""

    kinds: tuple[str, ...]
    """The kinds of tasks there are."""

    def task(self, kind: str, seed: int) -> Task:
        """The task of this kind that this seed makes; the same for ever. Raises UsageError for an unknown kind."""
        ...


@runtime_checkable
class TakesActions(Protocol):
    """An environment whose actions a model may write itself, as executors such as ReAct have it do."""

    space: ActionSpace
    """Its actions, in words."""


@runtime_checkable
class ShowsPictures(Protocol):
    """An environment that one can look at."""

    def picture(self) -> bytes | None:
        """What there is to see now, as a PNG file; None where no pictures are wanted."""
        ...


@runtime_checkable
class LLM(Protocol):
    """A language model that completes a chat."""

    name: str
    """What a person would ask for: the model's name."""

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Answer the messages. ``purpose`` may choose among models, and is never shown to one.

        Raises ModelError where there is no whole answer; an error is never returned as text.
        """
        ...


@runtime_checkable
class Embeds(Protocol):
    """A language model whose endpoint also turns texts into vectors."""

    def embed(self, texts: Sequence[str], *, model: str) -> Embeddings:
        """A vector for each text, from the embedding model of that name; at least one text is given.

        Raises ModelError where there are not as many sound vectors, and UsageError where this cannot be done at all.
        """
        ...
