"""``str.format`` for plans: like Python's, but without attributes and with capped widths.

The str type's own parser splits templates and field names.
"""

from __future__ import annotations

from _string import formatter_field_name_split, formatter_parser  # type: ignore[import-not-found]
from collections.abc import Callable
from typing import Any

from codeplan.sandbox.runtime.size_guard import SizeGuard

_MAX_NESTING = 2
"""A format spec may contain fields; theirs may not."""

_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


def format_text(size_guard: SizeGuard, template: str, args: tuple[Any, ...] | None, named: Any) -> str:
    """``template.format(*args, **named)``, or ``template.format_map(named)`` if ``args`` is None.

    Raises: ValueError: a field reads an attribute; otherwise what ``str.format`` raises.
    """
    return _TemplateFields(size_guard, args, named).fill(template, _MAX_NESTING)


class _TemplateFields:
    """Fills the fields of one template."""

    def __init__(self, size_guard: SizeGuard, args: tuple[Any, ...] | None, named: Any) -> None:
        self._size_guard, self._args, self._named = size_guard, args, named
        self._automatic: bool | None = None
        self._next = 0

    def fill(self, template: str, nesting: int) -> str:
        """Return the template with its fields filled."""
        if nesting <= 0:
            raise ValueError("Max string recursion exceeded")
        parts: list[str] = []
        for literal, name, spec, conversion in formatter_parser(template):
            parts.append(literal)
            if name is not None:
                value = _convert(self._value(name), conversion)
                parts.append(self._size_guard.format(value, self.fill(spec, nesting - 1) if "{" in spec else spec))
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
        """Return the argument with this number, or the next one if the number is empty."""
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
