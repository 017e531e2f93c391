"""Names from the tools' own data: a parameter's value that a tool lists is said in a goal as the tool lists others.

The plan of a skill calls ``list_customers()``, and the customer of its goal is in the answer. Then the same call says
which words of another goal name a customer: exactly one name, or nothing is sure. The data may be a stranger's: words
that limit a goal are no part of a name, and a name within others counts for neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from codeplan.plain_data import NotPlainData, unpack
from codeplan.recording.events import AnsweredCall
from codeplan.skills.goal_words import FILLERS, MARKS, stem, tokenize, words_of
from codeplan.types import Value

MAX_NAME_TOKENS: Final = 6
MAX_SOURCES: Final = 40
_MAX_NAMES: Final = 5_000
_MAX_NAME: Final = 200
_MAX_DEPTH: Final = 5
_MAX_LOOKED_AT: Final = 200_000

EACH, KEYS = "*", "**"

_Word = Annotated[str, msgspec.Meta(max_length=_MAX_NAME)]
_Scalar: TypeAlias = _Word | int | float | bool | None


class NameSource(Value, frozen=True, omit_defaults=True):
    """The call whose answer lists the values of the parameter ``name``, and their ``path`` in it: fields, ``*`` for
    each item of a list, and at the end ``**`` for the keys of a mapping.
    """

    name: Annotated[str, msgspec.Meta(max_length=80)]
    tool: _Word
    path: Annotated[tuple[_Word, ...], msgspec.Meta(max_length=_MAX_DEPTH)]
    arguments: Annotated[tuple[tuple[_Word, _Scalar], ...], msgspec.Meta(max_length=20)] = ()


class ListedNames:
    """The names that a tool lists."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._by_words: dict[tuple[str, ...], set[str]] = {}
        self._texts = frozenset(names)
        for name in self._texts:
            words = _words_of_name(name)
            for key in {words, _without_legal_form(words)}:
                if key:
                    self._by_words.setdefault(key, set()).add(name)

    def find(self, words: Sequence[str]) -> str | None:
        """The only name that has these words; None if there is none, or if words among them name another one."""
        key = tuple(map(stem, words))
        found = self._by_words.get(key, set())
        parts = (key[i:j] for i in range(len(key)) for j in range(i + 1, len(key) + 1) if j - i < len(key))
        if any(self._by_words.get(part, found) - found for part in parts):
            return None
        if len(found) > 1:
            text = " ".join(words).casefold()
            found = {name for name in found if name.casefold() == text}
        return next(iter(found)) if len(found) == 1 else None

    def has(self, text: str) -> bool:
        """Whether this is a name, as it is written."""
        return text in self._texts


def _words_of_name(name: str) -> tuple[str, ...]:
    tokens = (t.text for t in tokenize(name) if t.text not in MARKS and t.text.casefold() not in FILLERS)
    return tuple(stem(word) for word in tokens)


_LEGAL_FORMS = words_of("ag bv co corp gmbh inc kg llc llp ltd nv oy plc sa sarl se srl")


def _without_legal_form(words: tuple[str, ...]) -> tuple[str, ...]:
    """*Acme Corp* as Acme."""
    return words[:-1] if len(words) > 1 and words[-1] in _LEGAL_FORMS else words


NameLookup: TypeAlias = Callable[[NameSource], Callable[[], ListedNames] | None]
"""What gets the names that a tool lists, empty if it fails. None: it must not be called, and words count as without it.
"""


# ------------------------------------------------------------------ in a success


def find_sources(values: Mapping[str, str], calls: Sequence[AnsweredCall], plan: str) -> tuple[NameSource, ...]:
    """Where the tools' answers list the values of parameters, by name, before a call had them as an argument."""
    found = (_find_source(name, value, values.values(), calls, plan) for name, value in values.items())
    return tuple(source for source in found if source)[:MAX_SOURCES]


def _find_source(
    name: str, value: str, values: Collection[str], calls: Sequence[AnsweredCall], plan: str
) -> NameSource | None:
    for made in calls:
        try:
            arguments = {n: unpack(v) for n, v in (made.call.arguments or {}).items()}
            answer = None if made.answer.error else unpack(made.answer.value)
        except NotPlainData:
            continue
        if _mentions(arguments, value):
            return None
        if not all(_is_own(v, plan) for v in arguments.values()) or any(_mentions(arguments, v) for v in values):
            continue
        for path in _paths_of(value, answer):
            if len(names_at(answer, path)) > 1:
                return NameSource(name, made.call.name, path, tuple(arguments.items()))
    return None


def is_call_of(plan: str, source: NameSource) -> bool:
    """Whether a plan has the tool and the arguments of this call: a file of somebody's may name any other."""
    return f".{source.tool}(" in plan and all(_is_own(value, plan) for _, value in source.arguments)


def _mentions(arguments: object, value: str) -> bool:
    """Whether a text among the arguments has the value in it."""
    if isinstance(arguments, dict):
        return _mentions([*arguments.keys(), *arguments.values()], value)
    if isinstance(arguments, list | tuple | set | frozenset):
        return any(_mentions(each, value) for each in arguments)
    return isinstance(arguments, str) and value in arguments


def _is_own(value: object, plan: str) -> bool:
    """Whether an argument is one that the plan itself has, and no answer of a tool."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, str):
        return len(value) <= _MAX_NAME and msgspec.json.encode(value).decode()[1:-1] in plan
    return isinstance(value, int | float) and bool(re.search(rf"(?<![\w.]){re.escape(str(value))}(?![\w.])", plan))


def _paths_of(value: str, answer: object) -> Iterator[tuple[str, ...]]:
    """Where the value stands in an answer, as one of several."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), answer)]
    for _ in range(_MAX_LOOKED_AT):
        if not waiting:
            return
        path, there = waiting.pop()
        if there == value and EACH in path and isinstance(there, str):
            yield path
        if isinstance(there, dict) and value in there:
            yield (*path, KEYS)
        if len(path) + 1 < _MAX_DEPTH:
            waiting += reversed([((*path, step), v) for step, v in _steps(there)])


def _steps(there: object) -> Iterator[tuple[str, object]]:
    if isinstance(there, dict):
        yield from (
            (k, v) for k, v in there.items() if isinstance(k, str) and len(k) <= _MAX_NAME and k not in (EACH, KEYS)
        )
    elif isinstance(there, list | tuple | set | frozenset):
        yield from ((EACH, v) for v in there)


def names_at(answer: object, path: Sequence[str]) -> list[str]:
    """The names at this path of an answer, none twice; none at all if there are too many."""
    level: list[Any] = [answer]
    for step in path:
        after: list[Any] = []
        for there in level:
            if step == KEYS:
                after += there if isinstance(there, dict) else ()
            elif step == EACH:
                after += there if isinstance(there, list | tuple | set | frozenset) else ()
            elif isinstance(there, dict) and step in there:
                after.append(there[step])
        if len(after) > _MAX_LOOKED_AT:
            return []
        level = after
    names = list(dict.fromkeys(n for n in level if isinstance(n, str) and 0 < len(n) <= _MAX_NAME and n.isprintable()))
    return names if len(names) <= _MAX_NAMES else []
