"""Judges the calls of one episode by the user's flows."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from glob import escape
from typing import Any, Final, NamedTuple

from codeplan.flows import UNKNOWN, ArgumentOrigins, Flows, FlowVerdict, Source, Sources
from codeplan.plain_data import NotPlainData, unpack
from codeplan.recording.events import CallAnswered, CallsByAnswer, CallSite, Event, PlanOrigins, SiteOrigins
from codeplan.tools.tool import Tool
from codeplan.tools.toolset import Toolset
from codeplan.types import Answer, Call

_EVERY = "*"
ALLOWED: Final = FlowVerdict("allow", {})
"""The verdict on a call that flows do not decide about."""
_MAX_KEPT: Final = 64  # characters of a text from an answer that is kept as it is
_MIN_ECHO: Final = 3  # characters of a text that a longer one may be made of


class FlowChecks:
    """The flows of one episode with this goal and the user's ``instructions``, which are the user's words as well.

    ``origins`` are those of the plan that runs now, or ran last. ``known`` are the texts of the plans that were written
    before data was shown outside of this episode; None: the episode's own events say which these are. ``said`` are the
    user's answers before the plan that runs now; they are as good as the goal.

    The worker that runs a plan names the line of a call, and may lie about it. Only a line with a call of this tool in
    the accepted plan counts; for any other, the arguments may come from anywhere.
    """

    def __init__(self, flows: Flows, goal: str, instructions: str = "") -> None:
        self.flows, self.goal, self._instructions = flows, goal, instructions
        self.said: tuple[str, ...] = ()
        self.origins: PlanOrigins | None = None
        self.known: tuple[str, ...] | None = None
        self._judged: PlanOrigins | None = None
        self._allowed: dict[tuple[object, ...], FlowVerdict] = {}
        self._values = _KnownValues("", ())

    def begin_turn(self, message: str) -> None:
        """Take the user's next message in a session, which is as good as the goal."""
        self.goal = f"{self.goal}\n{message}"

    @property
    def words(self) -> str:
        """The user's words: the goal, the instructions, and the answers."""
        return "\n".join((self.goal, self._instructions, *self.said))

    def judge(self, tool: Tool, arguments: Mapping[str, Any], site: CallSite) -> FlowVerdict:
        """What is to happen to this call. A place whose calls are allowed whatever their values is judged once."""
        if not self.flows.cares_for(tool.name):
            return ALLOWED
        if self._judged is not self.origins:
            self._judged, self._allowed = self.origins, {}
        place = (tool.name, site.line, *arguments)
        allowed = self._allowed.get(place)
        if allowed is not None:
            return allowed
        found = self._origins_of(tool, arguments, site.line)
        verdict = self.flows.judge(tool.name, arguments, found, lambda value, sources: False)
        if not verdict.findings:
            self._allowed[place] = verdict
            return verdict
        if not self._values.are_of(self.words, site.events):
            self._values = _KnownValues(self.words, site.events)
        return self.flows.judge(tool.name, arguments, found, self._values.has)

    def preview(self, toolset: Toolset) -> list[CallPreview]:
        """What would happen to each call of the plan, if no value stood in the goal or in an answer."""
        origins = self.origins
        found = []
        for site in sorted(origins.sites if origins else (), key=lambda each: (each.line, each.tool)):
            tool = toolset.get(site.tool)
            arguments = dict.fromkeys(_argument_names(tool, site)) if tool else {}
            given = {name: set(_argument_origins(tool, site, name)) for name in arguments} if tool else {}
            assert origins is not None, "it has sites"
            its = ArgumentOrigins(given, site.control, origins.asks, site.is_new)
            verdict = self.flows.judge(site.tool, arguments, its, lambda value, sources: False)
            found.append(CallPreview(site.tool, site.line, verdict))
        return found

    def _origins_of(self, tool: Tool, arguments: Mapping[str, Any], line: int | None) -> ArgumentOrigins:
        origins = self.origins
        sites = [] if origins is None or not origins.followed else _sites_at(origins.sites, tool.name, line)
        if origins is None or not sites:
            return ArgumentOrigins(dict.fromkeys(arguments, (UNKNOWN,)), (UNKNOWN,))
        found: defaultdict[str, set[str]] = defaultdict(set)
        for site in sites:
            for name in arguments:
                found[name].update(_argument_origins(tool, site, name))
        control = {each for site in sites for each in site.control}
        return ArgumentOrigins(found, control, origins.asks, any(site.is_new for site in sites))


def with_marks(flows: Flows, toolset: Toolset) -> Flows:
    """The flows, with the tools that are marked as reading only or as not trusted."""
    reading = [escape(tool.name) for tool in toolset.tools if tool.readonly]
    untrusted = [escape(tool.name) for tool in toolset.tools if tool.untrusted]
    if not reading and not untrusted:
        return flows
    return replace(flows, readonly=(*flows.readonly, *reading), untrusted=(*flows.untrusted, *untrusted))


class CallPreview(NamedTuple):
    """A call of a plan that has not run, and what the flows say about it."""

    tool: str
    line: int
    verdict: FlowVerdict

    def __str__(self) -> str:
        shown = ", ".join(f"{name}: {' and '.join(each)}" for name, each in self.verdict.origins.items())
        way = {"allow": "", "ask": " would be asked for", "refuse": " would be refused"}[self.verdict.way]
        why = f" -{way}: {self.verdict.why}" if way else f" - allowed all the same: {self.verdict.why}"
        return f"{self.tool}({shown})" + (why if self.verdict.findings else "")


def _argument_names(tool: Tool, site: SiteOrigins) -> list[str]:
    """The parameters that a call at this place gives."""
    parameters = [p.name for p in tool.method.parameters]
    if _EVERY in site.arguments:
        return parameters
    return [p for n, p in enumerate(parameters) if p in site.arguments or str(n) in site.arguments]


def _sites_at(sites: Iterable[SiteOrigins], name: str, line: int | None) -> list[SiteOrigins]:
    """The places in the plan that may have made a call; without a line, all that call the tool."""
    return [s for s in sites if s.tool in (name, _EVERY) and (line is None or s.line <= line <= s.end_line)]


def _argument_origins(tool: Tool, site: SiteOrigins, name: str) -> Iterable[str]:
    """Where one argument comes from: it was given by position, by name, or in a way that is not known."""
    given = site.arguments
    ways = [given[key] for key in (_EVERY, name, _position(tool, name)) if key in given]
    beyond = [origins for key, origins in given.items() if _is_extra(tool, name, key)]
    return {origin for origins in (*ways, *beyond) for origin in origins} if ways or beyond else (UNKNOWN,)


def _position(tool: Tool, name: str) -> str:
    names = [p.name for p in tool.method.parameters]
    return str(names.index(name)) if name in names else ""


def _is_extra(tool: Tool, name: str, key: str) -> bool:
    """Whether an argument that is given at this position or by this name is one of many that the parameter takes."""
    kinds = {p.name: p.kind for p in tool.method.parameters}
    if kinds.get(name) == "VAR_POSITIONAL":
        return key.isdigit()
    return kinds.get(name) == "VAR_KEYWORD" and not key.isdigit() and key not in kinds


class _KnownValues:
    """Values of the goal and of the answers so far, by which a value is trusted whatever way it came."""

    def __init__(self, goal: str, events: Sequence[Event]) -> None:
        self._goal, self._events = goal, events
        self._answers: dict[Source, _Answers] = {}

    def are_of(self, goal: str, events: Sequence[Event]) -> bool:
        """Whether they are those of this goal and these events, to which more may have been added."""
        return self._events is events and self._goal == goal

    def has(self, value: object, sources: Sources) -> bool:
        """Whether all parts of the value stand in the goal, or in an answer that the sources name."""
        parts = list(_parts(value))
        return all(self._has_part(part, sources) for part in parts)

    def _has_part(self, part: object, sources: Sources) -> bool:
        if part is None:
            return True
        if isinstance(part, bool):
            return False
        if sources.has("goal") and _stands_in(part, self._goal):
            return True
        return any(self._of(source).have(part) for source in sources.each if source.kind == "tool")

    def _of(self, source: Source) -> _Answers:
        if source not in self._answers:
            self._answers[source] = _Answers(source, self._goal)
        self._answers[source].follow(self._events)
        return self._answers[source]


class _Answers:
    """The texts and numbers that stand in the answers of a source. Each event is looked at once."""

    def __init__(self, source: Source, goal: str) -> None:
        self._source, self._goal = source, goal
        self._calls, self._seen = CallsByAnswer(), 0
        self._texts: set[str | bytes] = set()
        self._numbers: set[float] = set()
        self._written: set[float] = set()  # numbers that stand there as texts

    def have(self, part: object) -> bool:
        """Whether a text is one of theirs, or a number is; text and number are equal if the text is the number."""
        number = _number(part)
        if isinstance(part, str):
            return _text_key(part) in self._texts or number in self._numbers
        return number in self._numbers or number in self._written

    def follow(self, events: Sequence[Event]) -> None:
        """Take the answers among the events that are new."""
        start, self._seen = self._seen, len(events)
        for event in events[start:]:
            call = self._calls.take(event)
            if call is not None and isinstance(event, CallAnswered):
                self._take(call, event.answer)

    def _take(self, call: Call, answer: Answer) -> None:
        path = self._source.path
        if not self._source.covers(".".join((f"tool:{call.name}", *path))):
            return
        given = [part for part in _parts(_unpacked(call.arguments)) if not _stands_in(part, self._goal)]
        for known in _parts_at(_unpacked(answer.value), path):
            if not any(_echoes(known, each) for each in given):  # a tool may answer with what it was given
                self._add(known)

    def _add(self, known: object) -> None:
        number = _number(known)
        if isinstance(known, str):
            self._texts.add(_text_key(known))
        if number is not None:
            (self._written if isinstance(known, str) else self._numbers).add(number)


def _text_key(text: str) -> str | bytes:
    """The text without spaces around it; of a long one, of which there may be many, a digest."""
    text = text.strip()
    return text if len(text) <= _MAX_KEPT else hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _unpacked(packed: Any) -> Any:
    try:
        return unpack(packed)
    except NotPlainData:  # a forged trace may hold anything
        return None


def _parts(value: object) -> Iterator[object]:
    """The texts, numbers and other leaves of a value, with the keys of dicts."""
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, list | tuple | set | frozenset):
            stack += each
        elif isinstance(each, dict):
            stack += [*each, *each.values()]
        else:
            yield each


def _parts_at(value: object, path: Sequence[str]) -> Iterator[object]:
    """The leaves under these fields, one within the other; lists are gone through."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _parts_at(each, path)
    elif not path:
        yield from _parts(value)
    elif isinstance(value, dict) and path[0] in value:
        yield from _parts_at(value[path[0]], path[1:])


def _is_same(part: object, known: object) -> bool:
    if isinstance(part, str) and isinstance(known, str):
        return part.strip() == known.strip()
    numbers = _number(part), _number(known)
    return numbers[0] is not None and numbers[0] == numbers[1]


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _echoes(known: object, given: object) -> bool:
    """Whether a leaf of an answer may be what the tool was given, or a part of it, or have it in it."""
    if isinstance(known, str) and isinstance(given, str):
        said, told = known.strip().casefold(), given.strip().casefold()
        return said == told or (len(said) >= _MIN_ECHO and said in told) or _stands_in(told, said)
    return _is_same(known, given)


_TEXT: Final = (r"(?<![\w/])(?<!\w[@.-])(?<!\d[:,])", r"(?!\w|[@./-]\w|[:,]\d)")
_APART: Final = re.compile(r"""[\s"'()\[\]{}<>;!?$€£¥%=#*]""")  # stands between a number and what is not of it
_NUMBER: Final = re.compile(r"-?[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?")


def _stands_in(part: object, text: str) -> bool:
    """Whether a text or a number stands in a text as a whole: no part of a word, an address, a path or a date."""
    if isinstance(part, str):
        if not part.strip():
            return False
        before, after = _TEXT if re.search(r"\w", part) else (r"(?<!\S)", r"(?!\S)")
        return re.search(before + re.escape(part.strip()) + after, text) is not None
    number = _number(part)
    words = (word.strip(".,:") for word in _APART.split(text))
    numbers = (_number(word.replace(",", "")) for word in words if _NUMBER.fullmatch(word))
    return number is not None and number in numbers
