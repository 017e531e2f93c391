"""Names for the types of servers' tools: unique, and the same for equal types."""

from __future__ import annotations

from collections.abc import Mapping


class TypeTable:
    """The types of several tools. Two of the same name get different ones, unless they are the same type.

    ``taken`` are names that already have a meaning. A server may send hundreds of thousands of types, so each is looked
    up and never searched for.
    """

    def __init__(self, taken: Mapping[str, str] | None = None) -> None:
        self._texts: dict[str, str] = dict(taken or {})
        self._names = {text: name for name, text in self._texts.items()}  # of a text under the name that was wanted
        self._numbers: dict[str, int] = {}  # of a wanted name: no lower number is free

    def reserve(self, name: str) -> str:
        """A name that no other type has."""
        number = self._numbers.get(name, 1)
        while (found := f"{name}{number}" if number > 1 else name) in self._texts:
            number += 1
        self._numbers[name] = number
        self._texts[found] = ""
        return found

    def define(self, reserved: str, wanted: str, text: str) -> str:
        """Give a reserved name its text. Returns the name of an equal type if there is one already."""
        as_wanted = text.replace(reserved, wanted)
        if (known := self._names.get(as_wanted)) is not None:
            del self._texts[reserved]
            self._numbers[wanted] = min(self._numbers[wanted], int(reserved.removeprefix(wanted) or 1))
            return known
        self._texts[reserved] = text
        self._names[as_wanted] = reserved
        return reserved

    def text(self, name: str) -> str:
        """The text of a defined type."""
        return self._texts[name]
