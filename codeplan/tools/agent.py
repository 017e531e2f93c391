"""The agent of a set of tools: a class with a method for each tool, and what a prompt shows of them.

Of many tools a prompt shows in full those that fit the goal and those that were used lately, some of the others on one
line each, and how many more there are. Plans read the rest with ``agent.describe(words)``; the check of a plan knows
every signature.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Any, Final, Protocol, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import msgspec

from codeplan.agent_interface import EndedCall, describe_api, plan_place
from codeplan.errors import AgentError, AnswerChanged, EpisodeOver
from codeplan.plain_data import NotPlainData, pack, unpack
from codeplan.recording.events import CallAnswered
from codeplan.tools.approvals import QUESTION
from codeplan.tools.tool import Tool, own_method
from codeplan.tools.toolset import Toolset
from codeplan.types import AgentApi, AgentMethod, AgentParameter, AgentType, Answer, Call
from codeplan.untrusted.texts import one_line
from codeplan.untrusted.values import in_quotes, shown_call, unpacked, value_text

MAX_API_CHARS = 40_000
"""Maximum length of the tools in a prompt, in characters, about 10,000 tokens. If all fit, all are shown in full."""

MIN_FULL_CHARS = 10_000
"""Minimum room for tools in full, in characters, even if the lines for the others fill the rest."""

MAX_LINES_CHARS = 10_000
"""Maximum length of all lines for tools that are not shown in full, in characters; tools beyond are only counted."""

LATER_FULL_CHARS = 7_500
"""Room for tools in full in the later turns of a session, in characters: its first turn has shown more."""

MAX_FOUND_CHARS = 6_000
"""Maximum length of what ``describe`` returns about several tools, in characters."""

MAX_FOUND_TOOLS = 5
"""Maximum number of tools that ``describe`` finds by words."""

DESCRIBE = AgentMethod(
    "describe",
    "(name: str) -> str",
    "A tool's signature and documentation, by its name; for other words, those of the tools that fit them best.",
    (AgentParameter("name"),),
)
"""The agent's own method, if not all tools are shown in full."""

RECALL = AgentMethod(
    "recall",
    "(what: int | str) -> Any",
    "The whole answer of the earlier call with this number; for words, the earlier turns that fit them, as dicts.",
    (AgentParameter("what"),),
)
"""The agent's own method in a session of which a prompt cannot show all."""


class Remembers(Protocol):
    """What earlier turns of a session left."""

    def recall(self, what: object) -> object: ...


_WORD = re.compile(r"[a-z]+|[0-9]+")
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAX_READ = 2_000  # characters of a description that decide whether it fits


def shown_api(toolset: Toolset, goal: str, lately: Sequence[str] | None = None) -> AgentApi:
    """The toolset's API with the names of the tools that a prompt shows on one line only, or not at all.

    ``lately`` are tools that earlier turns of a session called, the latest first; None: there is no earlier turn. They
    get up to three quarters of the room, and the goal decides about the rest. A type that several tools share is shown
    and counted once.
    """
    api = toolset.api
    if len(_text_of(toolset.tools)) <= (MAX_API_CHARS if lately is None else LATER_FULL_CHARS):
        return api
    ranked = rank(toolset.tools, goal)
    lines = sum(len(tool.method.first_line) for tool in ranked)
    room = _Room(max(MIN_FULL_CHARS, MAX_API_CHARS - lines) if lately is None else LATER_FULL_CHARS)
    called = [tool for name in lately or () if (tool := toolset.get(name))]
    room.fill(called, room.chars * 3 // 4)
    room.fill(ranked, room.chars)
    others = [tool for tool in ranked if tool.name not in room.names]
    listed = _fitting_lines(others)
    describe = own_method(DESCRIBE, toolset.names)
    return msgspec.structs.replace(
        api,
        methods=(*api.methods, describe),
        types=tuple(dict.fromkeys(t for tool in toolset.tools if tool.name in room.names for t in tool.types)),
        brief=tuple(tool.name for tool in others[:listed]),
        unlisted=tuple(tool.name for tool in others[listed:]),
        describe=describe.name,
    )


class _Room:
    """The room for tools in full: ``chars`` are left, for others than ``names``."""

    def __init__(self, chars: int) -> None:
        self.chars = chars
        self.names: set[str] = set()
        self._types: set[AgentType] = set()

    def fill(self, tools: Iterable[Tool], chars: int) -> None:
        """Take each of the tools that still fits into this many characters."""
        for tool in tools:
            types = set(tool.types) - self._types
            size = len(tool_text(replace(tool, types=tuple(types))))
            if tool.name not in self.names and size <= chars:
                chars, self.chars = chars - size, self.chars - size
                self.names.add(tool.name)
                self._types |= types


def _fitting_lines(tools: Sequence[Tool]) -> int:
    """How many of the tools get a line each."""
    sizes = accumulate(len(tool.method.first_line) for tool in tools)
    return sum(size <= MAX_LINES_CHARS for size in sizes)


def _text_of(tools: Sequence[Tool]) -> str:
    """The tools as a prompt shows them in full, with the types that they share once."""
    types = dict.fromkeys(each for tool in tools for each in tool.types)
    return describe_api(AgentApi(tuple(tool.method for tool in tools), types=tuple(types)))


def tool_text(tool: Tool) -> str:
    """A tool's signature, documentation and types, as a prompt shows them in full."""
    return _text_of((tool,))


def rank(tools: Sequence[Tool], goal: str) -> list[Tool]:
    """The tools by how well they fit the goal, best first; equal ones in their order.

    A word that the goal and a tool share counts more if few tools have it, and twice if it is in the tool's name.
    """
    scores = _scores(tools, goal)
    return [tools[at] for at in sorted(range(len(tools)), key=lambda at: -scores[at])]


def find_tools(tools: Sequence[Tool], words: str) -> list[Tool]:
    """The tools that fit the words, best first; at most MAX_FOUND_TOOLS."""
    scores = _scores(tools, words)
    best = sorted(range(len(tools)), key=lambda at: -scores[at])[:MAX_FOUND_TOOLS]
    return [tools[at] for at in best if scores[at] > 0]


def _scores(tools: Sequence[Tool], goal: str) -> list[float]:
    words = [(_stems(t.name), _stems(f"{t.name} {t.method.doc[:_MAX_READ]}")) for t in tools]
    frequency = Counter(word for _, found in words for word in found)
    wanted = _stems(goal)

    def score(names: Iterable[str], found: Iterable[str]) -> float:
        weight = {word: math.log(1 + len(tools) / frequency[word]) for word in wanted & {*names, *found}}
        return sum(weight.values()) + sum(weight[word] for word in wanted.intersection(names))

    return [score(names, found) for names, found in words]


def _stems(text: str) -> set[str]:
    """The words of a text without the endings of plurals; parts of names count as words."""
    return {word.removesuffix("s") for word in _WORD.findall(_CASE.sub(" ", text).lower())}


_MAX_SHOWN = 300  # characters of each argument, and of the result, in a report
_MAX_NAME = 100  # characters of a tool's name in a message


class ToolAgent:
    """Base of the Agent classes. The data that a tool returned reaches the plan as data.

    Its own names have underscores at both ends, which those of tools have not; ``report`` is that of a tool if one has
    this name. An episode sets three of them: ``_history_`` is what plans may look up of earlier turns, and with
    ``_open_calls_`` calls are begun without waiting for their answers. ``_find_drift_`` says how a tool's answer
    differs from what a skill knows, which ends the plan; None: nowhere.
    """

    _tools_: Mapping[str, Tool]

    def __init__(self, call: Callable[[Call], Answer]) -> None:
        self._make = call
        self._last: tuple[Call, Answer] | None = None
        self._open_calls_: OpenToolCalls | None = None
        self._history_: Remembers | None = None
        self._find_drift_: Callable[[str, Answer], str] | None = None

    def _report_(self) -> str:
        """The last call and its answer in a sentence."""
        return _sentence(*self._last) if self._last else "No tool was called yet."

    report = _report_

    def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Raises: AgentError: the call failed, or was refused."""
        call = _packed_call(tool, arguments)
        answer = self._make(call)
        self._last = call, answer
        return self._value_of(tool, answer)

    def _value_of(self, tool: str, answer: Answer) -> Any:
        """The value of an answer. Raises: AgentError: it is an error; EpisodeOver: and ended the episode;
        AnswerChanged.
        """
        if answer.done:
            raise EpisodeOver(f"the tool {tool} failed, and tool errors end the episode: {answer.message}")
        if self._find_drift_ and (difference := self._find_drift_(tool, answer)):
            raise AnswerChanged(difference, plan_place.get()[1])
        if answer.error:
            raise AgentError(answer.message, answer.error)
        try:
            return unpack(answer.value)
        except NotPlainData as reason:  # a forged trace may hold anything
            raise AgentError(f"{tool} returned {reason}", "ValueError") from None


def _packed_call(tool: str, arguments: Mapping[str, Any]) -> Call:
    """Raises: AgentError: an argument is not plain data."""
    try:
        return Call(tool, {name: pack(value) for name, value in arguments.items()})
    except NotPlainData as reason:
        raise AgentError(f"{one_line(tool, _MAX_NAME)} was given {reason}", "ValueError") from None


class LaterAnswer(Protocol):
    """An answer of a call that was begun, this many seconds after the one before."""

    @property
    def event(self) -> CallAnswered: ...
    @property
    def seconds(self) -> float: ...


class CallGate(Protocol):
    """What begins calls and answers them: an episode."""

    def begin(self, call: Call) -> int: ...
    def next_answer(self, seconds: float | None) -> LaterAnswer | None: ...
    def drop_call(self, id: int) -> bool: ...
    def end_calls(self, *, wait: bool) -> None: ...


class OpenToolCalls:
    """The open calls of an agent (see ``codeplan.agent_interface.AgentCalls``)."""

    def __init__(self, agent: ToolAgent, gate: CallGate) -> None:
        self._agent, self._gate = agent, gate
        self._calls: dict[int, Call] = {}

    def begins(self, method: str) -> bool:
        """Whether it is a tool, and not a method of the agent's own."""
        return self._tool(method) is not None

    def begin(self, method: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
        """Begin a call of a tool, and return its id."""
        tool = self._tool(method)
        assert tool is not None, "only tools are begun"
        call = _packed_call(tool.name, _bind(tool, tuple(args), dict(kwargs)))
        id = self._gate.begin(call)
        self._calls[id] = call
        return id

    def cancel(self, id: int) -> bool:
        """Drop an open call that is not made yet."""
        return self._gate.drop_call(id)

    def next_answer(self, seconds: float | None) -> EndedCall | None:
        """Wait for the next answer."""
        answered = self._gate.next_answer(seconds)
        if answered is None:
            return None
        id, answer = answered.event.id, answered.event.answer
        call = self._calls.pop(id)
        self._agent._last = call, answer
        return EndedCall(id, answered.seconds, partial(self._agent._value_of, call.name, answer))

    def finish(self) -> None:
        """Wait until the calls that are being made are answered, and drop the others."""
        self._calls.clear()
        self._gate.end_calls(wait=True)

    def abandon(self) -> None:
        """Stop waiting."""
        self._calls.clear()
        self._gate.end_calls(wait=False)

    def _tool(self, method: str) -> Tool | None:
        return self._agent._tools_.get(method)


def agent_class_for(
    toolset: Toolset, goal: str, *, asks_user: bool = False, recalls: bool = False, lately: Sequence[str] | None = None
) -> type[ToolAgent]:
    """The Agent class that offers the tools. If there are many, prompts show those in full that fit the goal.

    The same class for the same tools in full, so that its signatures are read once. ``asks_user``: plans may ask the
    user. ``recalls``: they may look up what earlier turns of a session did, unless a tool has that name. ``lately`` are
    the tools that these called, the latest first; None: there are none.
    """
    known: _ApiKey = (goal, None if lately is None else tuple(lately))
    shown = _remembered(_apis, toolset, known, lambda: shown_api(toolset, goal, lately))  # reads all descriptions
    api = msgspec.structs.replace(shown, asks_user=asks_user)
    if recalls and toolset.get(RECALL.name) is None:
        api = msgspec.structs.replace(api, methods=(*api.methods, RECALL))
    key: _ClassKey = (api.brief, api.unlisted, asks_user, RECALL in api.methods)
    return _remembered(_classes, toolset, key, lambda: _build_class(toolset, api))


_MAX_REMEMBERED: Final = 16  # for each toolset: a server may see any number of goals
_K = TypeVar("_K")
_V = TypeVar("_V")
_ClassKey: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], bool, bool]
_classes: Final[WeakKeyDictionary[Toolset, dict[_ClassKey, type[ToolAgent]]]] = WeakKeyDictionary()
_ApiKey: TypeAlias = tuple[str, tuple[str, ...] | None]
_apis: Final[WeakKeyDictionary[Toolset, dict[_ApiKey, AgentApi]]] = WeakKeyDictionary()


def _remembered(
    kept: WeakKeyDictionary[Toolset, dict[_K, _V]], toolset: Toolset, key: _K, make: Callable[[], _V]
) -> _V:
    """The value of a toolset for this key, made if it is not there. The oldest values give way to new ones."""
    values = kept.setdefault(toolset, {})
    value = values.get(key)
    if value is None:
        value = values.setdefault(key, make())
        for old in list(values)[:-_MAX_REMEMBERED]:
            values.pop(old, None)
    return value


def _build_class(toolset: Toolset, api: AgentApi) -> type[ToolAgent]:
    tools = (*toolset.tools, QUESTION) if api.asks_user else toolset.tools
    methods = {api.report: ToolAgent._report_} | {tool.name: _method(tool) for tool in tools}
    if api.describe:
        methods[api.describe] = _describe_method(toolset)
    if RECALL in api.methods:
        methods[RECALL.name] = _recall
    return type(
        "Agent",
        (ToolAgent,),
        {"__doc__": toolset.doc, "_api": api, "_tools_": {tool.name: tool for tool in tools}, **methods},
    )


def _recall(agent: ToolAgent, what: int | str) -> Any:
    assert agent._history_ is not None, "an episode tells its agent what it remembers"
    return agent._history_.recall(what)


def _describe_method(toolset: Toolset) -> Callable[..., Any]:
    def describe(agent: ToolAgent, name: str) -> str:
        tool = toolset.get(name) if isinstance(name, str) else None
        if tool is not None:
            return tool_text(tool)
        found = find_tools(toolset.tools, name) if isinstance(name, str) else []
        if not found:
            raise AgentError(f"there is no tool {in_quotes(name)}, and none fits these words", "KeyError")
        while len(found) > 1 and len(_text_of(found)) > MAX_FOUND_CHARS:
            found.pop()
        return _text_of(found)

    return describe


def _method(tool: Tool) -> Callable[..., Any]:
    def method(agent: ToolAgent, /, *args: Any, **kwargs: Any) -> Any:
        return agent._call(tool.name, _bind(tool, args, kwargs))

    method.__name__, method.__doc__ = tool.name, tool.method.doc
    method.__dict__["__signature__"] = tool.signature
    return method


def _bind(tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    if (found := tool.bind_simply(args, kwargs)) is not None:
        return found
    try:
        bound = tool.signature.bind(None, *args, **kwargs).arguments
    except TypeError as error:
        raise AgentError(
            f"{tool.name} was called wrongly: {tool.method.explain_misfit(kwargs, error)}", "TypeError"
        ) from None
    return {name: value for name, value in bound.items() if name != "_agent_"}


def _sentence(call: Call, answer: Answer) -> str:
    """A call and its answer in words. Written when a plan asks: writing it costs more than a quick call."""
    given = shown_call(call, _MAX_SHOWN, _MAX_SHOWN)
    if answer.error:
        return f"The last call, {given}, raised {answer.error}: {answer.message}"
    return f"The last call, {given}, returned {value_text(unpacked(answer.value), _MAX_SHOWN)}"
