"""The ports: what an environment, an agent and a model must offer. Anyone may implement them.

The ports of methods, plan writers and skill stores stand in ``codeplan.episode.method``,
``codeplan.planning.planner`` and ``codeplan.skills.skill``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from inspect import isasyncgenfunction, iscoroutinefunction
from typing import Any, Final, Protocol, runtime_checkable

from codeplan.errors import UsageError
from codeplan.types import (
    ActionSpace,
    AgentTool,
    Call,
    Checkpoint,
    Completion,
    Embeddings,
    Message,
    Observation,
    Purpose,
    ReturnType,
    Task,
)
from codeplan.untrusted.texts import MAX_REASON_CHARS, message_text, one_line, with_article
from codeplan.untrusted.values import type_name

_ProtocolType: Any = type(Protocol)


class _PortType(_ProtocolType):  # type: ignore[misc]  # its base is no name of a class
    """Sees the members that an object passes on by ``__getattr__``, as one around an environment does; ``isinstance``
    of a Protocol sees them up to Python 3.11 only.
    """

    if sys.version_info >= (3, 12):

        def __instancecheck__(self, instance: object) -> bool:
            names = vars(self).get("__protocol_attrs__", ())
            return bool(super().__instancecheck__(instance)) or (
                bool(names) and self._is_protocol and all(hasattr(instance, name) for name in names)
            )


class Port(Protocol, metaclass=_PortType):
    """What an object of the user's may offer."""


Act = Callable[[str], Observation]
"""Does one action in the environment and returns its observation. An Agent is built with one."""


@runtime_checkable
class Agent(Port, Protocol):
    """The object through which a plan acts: its public methods and attributes, with their docstrings, are the plan's
    API.

    Built as ``AgentClass(act)``, or as ``AgentClass(act, observation)`` if ``__init__`` takes a second parameter: the
    observation that ``reset`` returned. Methods return plain data or an Observation, which a plan sees as its text.
    """

    def report(self) -> str:
        """The agent's state in a sentence or two, for assertion messages."""
        ...


@runtime_checkable
class BaseEnvironment(Port, Protocol):
    """What every environment has: it handles one task at a time. An ``Environment`` is a world of text; the user's
    tools are a world that answers calls (``codeplan.recording.events.AnswersCalls``).
    """

    name: str
    """The environment's short, unique name, as in ``codeplan run NAME``."""

    agent: type
    """The environment's Agent class."""

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of a split, always in the same order; empty for an unknown split."""
        ...

    def reset(self, task: Task) -> Observation:
        """Begin ``task`` from its start, whatever the environment's state. The observation contains the goal's
        sentence.
        """
        ...

    def close(self) -> None:
        """Free the environment's resources. Safe to call twice."""
        ...


@runtime_checkable
class Environment(BaseEnvironment, Protocol):
    """The world in which tasks take place. It handles one task at a time."""

    def step(self, action: str) -> Observation:
        """Do one action. The answer to an impossible action is an observation, not an exception."""
        ...


@runtime_checkable
class GeneratesTasks(Port, Protocol):
    """An environment that makes its tasks from a seed: any (kind, seed) is a task."""

    kinds: tuple[str, ...]
    """The kinds of tasks."""

    def task(self, kind: str, seed: int) -> Task:
        """The task of this kind for this seed, the same in every release. Raises: UsageError: the kind is unknown."""
        ...


@runtime_checkable
class HasSimilarKinds(Port, Protocol):
    """An environment that says which kinds of tasks resemble each other, for the choice of worked examples."""

    similar_kinds: Mapping[str, Sequence[str]]
    """For a kind, the other kinds whose worked examples also help, the most similar first."""


@runtime_checkable
class OffersAgents(Port, Protocol):
    """An environment with several Agent classes. Its setting ``agent`` names the one that plans get."""

    name: str
    """The environment's name."""

    agent: type
    """The Agent class that plans get."""

    agents: Mapping[str, type]
    """The Agent classes by name."""


def described_actions(env: BaseEnvironment) -> ActionSpace | None:
    """The environment's ``space``: its description of its actions, so that a model can write them itself; None if it
    has none, as with ``space = None``.

    Raises: UsageError: ``space`` is something else.
    """
    space: object = getattr(env, "space", None)
    if space is None or isinstance(space, ActionSpace):
        return space
    found = with_article(type(space).__name__)
    raise UsageError(f"space of the environment {env.name} is {found}; give a codeplan.ActionSpace")


class ShopControl(Protocol):
    """The control of a shop's pages: the actions that open them, and what they show."""

    open_features: str
    """The action that opens the features of the open product."""

    def search(self, query: str) -> str:
        """The action that searches."""
        ...

    def open_product(self, id: str) -> str:
        """The action that opens a product that the page shows."""
        ...

    def product_ids(self, text: str) -> list[str]:
        """The ids of products in a text, each once, in order."""
        ...

    def buys(self, action: str) -> bool:
        """Whether an action buys the open product."""
        ...


@runtime_checkable
class IsShop(Port, Protocol):
    """An environment that is a shop: a method may open its pages by itself, and have a model judge them."""

    shop_control: ShopControl
    """The control of its pages."""


@runtime_checkable
class LimitsActions(Port, Protocol):
    """An environment with a maximum number of actions, which prompts state. The last one ends the episode."""

    max_actions: int
    """The maximum number of actions in an episode, counted from the latest reset."""


@runtime_checkable
class HasSnapshots(Port, Protocol):
    """An environment whose state can be kept and restored, which is quicker than a reset with all actions again."""

    def snapshot(self) -> Any:
        """The state of the present task. Later actions do not change it. Raises: UsageError: a setting rules it out."""
        ...

    def restore(self, snapshot: Any) -> None:
        """Continue from a snapshot of the same task, any number of times."""
        ...


@runtime_checkable
class ShowsPictures(Port, Protocol):
    """An environment with pictures of its state."""

    def picture(self) -> bytes | None:
        """The current state as a PNG file; None if pictures are off."""
        ...


@runtime_checkable
class JudgesValues(Port, Protocol):
    """An environment that judges returned values: it decides whether the value of a finished plan achieves the task."""

    def judge(self, value: object) -> Observation | None:
        """The verdict on the value that a plan returned, as plain data; None if there is no verifier."""
        ...


@runtime_checkable
class ActsForReal(Port, Protocol):
    """An environment whose actions are real: they cannot be undone, and must not be repeated."""

    def take_up(self, in_doubt: Call | None) -> None:
        """Continue a recorded episode in the present state of the world, instead of ``reset`` and the recorded calls.

        ``in_doubt`` is a call that was begun and not answered, so it may have been done. It is the next call to be
        made, and the environment decides what to do about it. None: there is no such call.
        """
        ...


@runtime_checkable
class OffersTools(Port, Protocol):
    """An environment whose agent consists of tools alone. An episode's header describes them, so a replay needs no
    other environment.
    """

    described_tools: tuple[AgentTool, ...]
    """The tools as data."""

    tools_doc: str
    """The text that models read above the tools."""

    verifier_name: str
    """What tells the verifier that judges the values of plans from others; empty if there is none."""

    has_flows: bool
    """Whether the user's flows decide about calls."""

    is_blind: bool
    """Whether prompts for revised plans have shapes in place of what tools answered."""

    instructions: str
    """The user's own system text, which prompts that act for the user show; empty if there is none."""

    returns: ReturnType | None
    """The type that the value of a plan must have; None if it may have any."""

    asks_user: bool
    """Whether plans may ask the user, by the call ``ask_user``, which is no tool."""

    variables: Checkpoint | None
    """Variables that the user gives to plans; None: no such variables."""

    once_tools: frozenset[str]
    """The tools of which equal calls are made once: after a failure, the recorded answer stands for them."""

    readonly_tools: frozenset[str]
    """The tools that the user says only read, and whose calls nobody has to approve."""

    carried: tuple[Any, ...]
    """Answers of another episode, with which this one goes on: events.CarriedAnswer values."""


answer_schema: Final[ContextVar[Mapping[str, Any] | None]] = ContextVar("answer_schema", default=None)
"""The JSON schema of the answer to the question that a plan asks now: an object whose ``answer`` has the form that the
plan wants. The messages say the same in words, so a model need not send it along. None: any text.
"""


reply_listener: Final[ContextVar[Callable[[tuple[int, str]], None] | None]] = ContextVar("reply_listener", default=None)
"""What hears the reply of a model while it is written: each piece as its place in the reply, from 0 on, and its text. A
place of 0 means that the reply begins, perhaps anew. To be called in the thread that asks. None: nobody listens.
"""


@runtime_checkable
class LLM(Port, Protocol):
    """A language model that completes a chat."""

    name: str
    """The name that the user chose it by."""

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Answer the messages. ``purpose`` may choose between models; the model never sees it.

        Raises: ModelError: there is no complete answer. An error is never returned as text.
        """
        ...


@runtime_checkable
class Embeds(Port, Protocol):
    """A language model whose endpoint also embeds texts."""

    def embed(self, texts: Sequence[str], *, model: str) -> Embeddings:
        """One vector per text (at least one text), from the embedding model of that name.

        Raises:
            ModelError: the endpoint does not return a valid vector for each text.
            UsageError: this model cannot embed.
        """
        ...


@runtime_checkable
class CountsCalls(Port, Protocol):
    """A language model whose answer depends on how often the episode has asked the same question before."""

    def for_episode(self) -> LLM:
        """This model for one episode, which has asked nothing yet."""
        ...

    def count_call(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> None:
        """Count a call that a recording answered in place of the model."""
        ...


@runtime_checkable
class WrapsModel(Port, Protocol):
    """A language model that passes calls on to others, by purpose."""

    @property
    def main(self) -> LLM:
        """The model for every purpose without a model of its own; it also embeds."""
        ...


def require_members(given: object, port: type, what: str) -> None:
    """Check that an object, or a class of Agents, has every member of a port; ``what`` names it in messages, as in
    "the model X".

    Raises: UsageError: members are missing, a method cannot be called, or its name is no text. The message names them.
    """
    members = _members(port)
    values = {name: _read(given, name, what) for name in members}
    missing = [name for name, value in values.items() if value is _MISSING]
    uncallable = [name for name, is_method in members.items() if is_method and not callable(values[name])]
    if missing:
        kinds = [f"{'method' if members[name] else 'attribute'} {name}" for name in missing]
        raise UsageError(f"{what} has no {' and no '.join(kinds)}; {_needs(port)}")
    if uncallable:
        raise UsageError(f"{what} has an attribute {uncallable[0]} in place of the method; {_needs(port)}")
    require_synchronous({name: values[name] for name, is_method in members.items() if is_method}, what)
    if "name" in members and not _is_name(values["name"]):
        raise UsageError(f"{what} has a name that is no text; {_needs(port)}")


def require_synchronous(methods: Mapping[str, object], what: str) -> None:
    """Check that none of these methods is asynchronous.

    Raises: UsageError: one is; the message names it.
    """
    found = next((n for n, f in methods.items() if iscoroutinefunction(f) or isasyncgenfunction(f)), None)
    if found is not None:
        raise UsageError(
            f"{what} has an asynchronous method {found} (async def), which returns a coroutine in place of a value; "
            "make it a plain def that waits for its result. Tools and models that are functions may be asynchronous"
        )


def has_members(given: object, port: type, what: str) -> bool:
    """Whether an object has at least one member of a port, and so is meant to implement it. Raises as
    ``require_members``.
    """
    return any(_read(given, name, what) is not _MISSING for name in _members(port))


_MISSING = object()


def _read(given: object, name: str, what: str) -> object:
    try:
        return getattr(given, name, _MISSING)
    except Exception as e:
        said = one_line(f"{type_name(e)}: {message_text(e)}", MAX_REASON_CHARS)
        raise UsageError(f"{what} has a member {name} that cannot be read: {said}") from e


def _members(port: Any) -> dict[str, bool]:
    """The members of a port in their order, and whether each is a method."""
    members: dict[str, bool] = {}
    for part in reversed(port.__mro__[:-1]):
        members |= dict.fromkeys(vars(part).get("__annotations__", {}), False)
        members |= {n: True for n, v in vars(part).items() if callable(v) and not n.startswith("_")}
    return members


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _needs(port: type) -> str:
    return f"{with_article(port.__name__)} needs {', '.join(_members(port))}"
