r"""Rewrites Python 3.12 f-strings for Python 3.11.

Models write ``f"{d["key"]}"`` and ``f"{'\n'.join(lines)}"``. Both are syntax errors before Python 3.12 (PEP 701).
"""

from __future__ import annotations

import re
import sys

_START = re.compile(r"""(?<![\w])(?P<prefix>[A-Za-z]{0,2})(?P<quote>'''|\"\"\"|'|\")""")
_ESCAPES = {"\\n": "chr(10)", "\\t": "chr(9)", "\\\\": "chr(92)"}
_MAX_CHARS = 64_000
_CHANGEABLE = re.compile(r"""(?P<string>'''\\[nt\\]'''|\"\"\"\\[nt\\]\"\"\"|'\\[nt\\]'|\"\\[nt\\]\")|['\"]|[^'\"]+""")
"""The parts of a source: strings of one escape, other quotes, and the text between them."""


def repair_fstrings(source: str) -> str:
    """Return the source with strings inside f-string fields rewritten, or unchanged if that is not needed."""
    if sys.version_info >= (3, 12) or len(source) > _MAX_CHARS or not re.search(r"\b[rR]?[fF][rR]?['\"]", source):
        return source
    scanner = _FStringScanner(source)
    try:
        scanner.code("")
    except (IndexError, RecursionError):
        return source
    return "".join(scanner.out)


def expand_indentation(source: str) -> str:
    """Return the source with spaces for the tabs before each line's first character, as CPython counts them."""
    if "\t" not in source:
        return source
    lines = source.split("\n")
    return "\n".join(line[: _indent(line)].expandtabs(8) + line[_indent(line) :] for line in lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def is_repair_of(repaired: str, source: str) -> bool:
    """Return whether two sources differ by no more than a repair changes. Linear, and neither source is parsed.

    A repair exchanges the two kinds of quotes, and writes a call for a string that is one escape.
    """
    place = 0  # in ``repaired``
    for part in _CHANGEABLE.finditer(source):
        call = _ESCAPES.get((part["string"] or "").strip("'\""), "")
        if call and repaired.startswith(call, place):
            place += len(call)
            continue
        end = place + len(part.group())
        if repaired[place:end].replace('"', "'") != part.group().replace('"', "'"):
            return False
        place = end
    return place == len(repaired)


class _FStringScanner:
    """Copies a source character by character and tracks code, strings and f-string fields."""

    def __init__(self, source: str) -> None:
        self.source, self.place, self.out = source, 0, list[str]()

    def take(self, count: int = 1) -> None:
        if self.place + count > len(self.source):
            raise IndexError(self.place)
        self.out.append(self.source[self.place : self.place + count])
        self.place += count

    def code(self, outer: str) -> None:
        """Copy code to the end of the source or, in a field of an ``outer``-quoted string, to its closing brace."""
        depth = 0
        while self.place < len(self.source):
            c = self.source[self.place]
            start = _START.match(self.source, self.place)
            if start and (c in "'\"" or self._begins_word()):
                self._string(start.group("prefix"), start.group("quote"), outer)
            elif c == "#" and not outer:
                self.take((self.source + "\n").find("\n", self.place) - self.place)
            elif outer and c == "}" and depth == 0:
                return
            elif outer and c == ":" and depth == 0:
                self._spec(outer)
                return
            else:
                depth += (c in "([{") - (c in ")]}")
                self.take()
        if outer:
            raise IndexError(self.place)

    def _begins_word(self) -> bool:
        return self.place == 0 or not (self.source[self.place - 1].isalnum() or self.source[self.place - 1] == "_")

    def _spec(self, outer: str) -> None:
        """Copy a format spec up to the brace that closes the field."""
        while self.source[self.place] != "}":
            opens = self.source[self.place] == "{"
            self.take()
            if opens:
                self.code(outer)
                self.take()

    def _string(self, prefix: str, quote: str, outer: str) -> None:
        begin = len(self.out)
        self.take(len(prefix) + len(quote))
        self._text("f" in prefix.lower(), "r" in prefix.lower(), quote)
        if outer:
            whole = "".join(self.out[begin:])
            self.out[begin:] = [_rewrite_inner_string(whole, prefix, quote, outer)]

    def _text(self, formatted: bool, raw: bool, quote: str) -> None:
        """Copy the rest of a string including its closing quotes."""
        while not self.source.startswith(quote, self.place):
            pair = self.source[self.place : self.place + 2]
            if pair[0] == "\\" or (formatted and pair in ("{{", "}}")):
                self.take(2)
            elif formatted and pair[0] == "{":
                self.take()
                self.code(quote)
                self.take()
            elif pair[0] == "\n" and len(quote) == 1:
                raise IndexError(self.place)
            else:
                self.take()
        self.take(len(quote))


def _rewrite_inner_string(whole: str, prefix: str, quote: str, outer: str) -> str:
    """Return a string for use in a field, without the outer quotes and backslashes if possible."""
    body = whole[len(prefix) + len(quote) : -len(quote)]
    if body in _ESCAPES and not prefix:
        return _ESCAPES[body]
    other = "'" if outer[0] == '"' else '"'
    if quote[0] != outer[0] or other in body or len(quote) == 3:
        return whole
    return f"{prefix}{other}{body}{other}"
