"""``str.format`` for plans: as Python does it, but without attributes, and with widths that are weighed.

Templates and the names of their fields are taken apart by the code of the str type itself.
"""

from __future__ import annotations

from _string import formatter_field_name_split, formatter_parser  # type: ignore[import-not-found]
from collections.abc import Callable
from typing import Any

from codeplan.sandbox.runtime.size_guard import SizeGuard

_MAX_NESTING = 2
"""A field's format spec may have fields, and theirs may not."""

_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


def format_text(growth: SizeGuard, template: str, args: tuple[Any, ...] | None, named: Any) -> str:
    """``template.format(*args, **named)``, or ``template.format_map(named)`` where ``args`` is None.

    Raises ValueError for an attribute, and what Python raises.
    """
    return _TemplateFields(growth, args, named).fill(template, _MAX_NESTING)


class _TemplateFields:
    """What the fields of one template are filled with."""

    def __init__(self, growth: SizeGuard, args: tuple[Any, ...] | None, named: Any) -> None:
        self._growth, self._args, self._named = growth, args, named
        self._automatic: bool | None = None
        self._next = 0

    def fill(self, template: str, nesting: int) -> str:
        """The template with its fields filled."""
        if nesting <= 0:
            raise ValueError("Max string recursion exceeded")
        parts: list[str] = []
        for literal, name, spec, conversion in formatter_parser(template):
            parts.append(literal)
            if name is not None:
                value = _convert(self._value(name), conversion)
                parts.append(self._growth.format(value, self.fill(spec, nesting - 1) if "{" in spec else spec))
        return "".join(parts)

    def _value(self, name: str) -> Any:
        first, rest = formatter_field_name_split(name)
        value = self._named[first] if type(first) is str and first else self._positional(first)
        for is_attribute, key in rest:
            if is_attribute:
                raise ValueError(f"format looks up no attributes here ({name!r}); use an f-string")
            value = value[key]
        return value

    def _positional(self, index: int | str) -> Any:
        """The argument of this number, or the next where the number is left out."""
        automatic = index == ""
        if self._automatic is None:
            self._automatic = automatic
        if self._automatic is not automatic:
            ways = ["manual field specification", "automatic field numbering"]
            raise ValueError("cannot switch from {} to {}".format(*ways[:: 1 if automatic else -1]))
        if automatic:
            index, self._next = self._next, self._next + 1
        if self._args is None:
            raise ValueError("Format string contains positional fields")
        try:
            return self._args[int(index)]
        except IndexError:
            raise IndexError(f"Replacement index {index} out of range for positional args tuple") from None


def _convert(value: Any, conversion: str | None) -> Any:
    if conversion is None:
        return value
    if conversion not in _CONVERSIONS:
        shown = conversion if " " < conversion < "\x7f" else f"\\x{ord(conversion):x}"
        raise ValueError(f"Unknown conversion specifier {shown}")
    return _CONVERSIONS[conversion](value)
