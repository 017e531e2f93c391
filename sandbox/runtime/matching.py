"""Matches a subject with a case's pattern, for the patterns that read attributes: classes and dotted names.

Python reads the attributes in such patterns without a guard, so a plan's ``match`` statement with one of them is
compiled to calls of ``make_matcher``'s function.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from codeplan.sandbox.runtime.classes import is_class
from codeplan.sandbox.runtime.names import is_readable, is_reserved

Pattern: TypeAlias = tuple[Any, ...]
"""A pattern: the name of its form, and its parts. The transformer of plans makes it."""

Captures: TypeAlias = dict[str, Any]
"""The values that a matching pattern captures, by name."""

_SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""The types whose single positional pattern matches the subject itself."""

_TEXTS = (str, bytes, bytearray)
_ABSENT = object()


def make_matcher(guarded_getattr: Callable[[Any, str], Any]) -> Callable[[Any, Pattern], Captures | None]:
    """Return the function that matches: it returns the captured values, or None if the subject does not match."""

    def read(owner: Any, name: str) -> Any:
        if type(name) is not str:
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
        if not is_readable(name) or is_reserved(name):
            raise TypeError(f"a class pattern cannot read the attribute {name!r}")
        try:
            return guarded_getattr(owner, name)
        except AttributeError:
            return _ABSENT

    def match_case(subject: Any, pattern: Pattern) -> Captures | None:
        captures: Captures = {}
        return captures if _Matcher(read, captures).matches(subject, pattern) else None

    return match_case


class _Matcher:
    """Matches one subject. What it captures is complete only if the whole pattern matches."""

    def __init__(self, read: Callable[[Any, str], Any], captures: Captures) -> None:
        self._read, self._captures = read, captures

    def matches(self, subject: Any, pattern: Pattern) -> bool:
        """Whether the subject matches."""
        matched: bool = getattr(self, f"_{pattern[0]}")(subject, *pattern[1:])
        return matched

    def _value(self, subject: Any, value: Any) -> bool:
        return bool(subject == value)

    def _singleton(self, subject: Any, value: Any) -> bool:
        return subject is value

    def _capture(self, subject: Any, name: str | None, inner: Pattern | None) -> bool:
        if inner is not None and not self.matches(subject, inner):
            return False
        if name is not None:
            self._captures[name] = subject
        return True

    def _or(self, subject: Any, *patterns: Pattern) -> bool:
        return any(self.matches(subject, p) for p in patterns)

    def _sequence(
        self, subject: Any, before: Sequence[Pattern], rest: Pattern | None, after: Sequence[Pattern]
    ) -> bool:
        if not isinstance(subject, (list, tuple, range, deque, Sequence)) or isinstance(subject, _TEXTS):
            return False
        count, least = len(subject), len(before) + len(after)
        if count < least or (rest is None and count > least):
            return False
        if not all(self.matches(subject[i], p) for i, p in enumerate(before)):
            return False
        end = count - len(after)
        if rest is not None:
            self.matches([subject[i] for i in range(len(before), end)], rest)
        return all(self.matches(subject[end + i], p) for i, p in enumerate(after))

    def _mapping(self, subject: Any, items: Sequence[tuple[Any, Pattern]], rest: str | None) -> bool:
        if not isinstance(subject, Mapping) or len(subject) < len(items):
            return False
        values, seen = list[Any](), set[Any]()
        for key, _ in items:
            if key in seen:
                raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
            seen.add(key)
            values.append(subject.get(key, _ABSENT))
            if values[-1] is _ABSENT:
                return False
        if not all(self.matches(value, pattern) for value, (_, pattern) in zip(values, items, strict=True)):
            return False
        if rest is not None:
            named = [key for key, _ in items]
            self._captures[rest] = {key: subject[key] for key in subject if key not in named}
        return True

    def _class(
        self, subject: Any, kind: Any, positional: Sequence[Pattern], named: Sequence[tuple[str, Pattern]]
    ) -> bool:
        if not is_class(kind):
            raise TypeError("called match pattern must be a class")
        if not isinstance(subject, kind):
            return False
        itself = kind in _SELF_MATCHING
        names = () if itself else _match_args(kind)
        accepted = 1 if itself else len(names)
        if len(positional) > accepted:
            patterns = f"{accepted} positional sub-pattern{'' if accepted == 1 else 's'}"
            raise TypeError(f"{kind.__name__}() accepts {patterns} ({len(positional)} given)")
        if itself and positional and not self.matches(subject, positional[0]):
            return False
        return self._attributes(subject, [*zip(names, positional, strict=False), *named])

    def _attributes(self, subject: Any, named: Sequence[tuple[str, Pattern]]) -> bool:
        for name, pattern in named:
            value = self._read(subject, name)
            if value is _ABSENT or not self.matches(value, pattern):
                return False
        return True


def _match_args(kind: type) -> tuple[Any, ...]:
    names = getattr(kind, "__match_args__", ())
    if type(names) is not tuple:
        raise TypeError(f"{kind.__name__}.__match_args__ must be a tuple (got {type(names).__name__})")
    return names
