"""Finds the line of a key in a TOML file: the standard library reports lines only for syntax errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

TomlKey = tuple[str | int, ...]
"""The path to a value: names of tables and keys, and indices in arrays, outermost first."""

_PART = r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'"""
_DOTTED = rf"(?:{_PART})(?:\s*\.\s*(?:{_PART}))*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]")
_ENTRY = re.compile(rf"\s*({_DOTTED})\s*=")
_FENCE = re.compile(r'"""|' + "'''")


def line_of(text: str, key: TomlKey) -> int:
    """Return the line, from 1, of the key or of the innermost table or entry around it; 1 if there is none."""
    found = _lines_of_keys(text)
    while key and key not in found:
        key = key[:-1]
    return found.get(key, 1)


@lru_cache(maxsize=1)
def _lines_of_keys(text: str) -> dict[TomlKey, int]:
    """The first line of each key. A suite asks for the lines of all its tasks, in the same text."""
    return dict(reversed(list(_find_keys(text))))


def _find_keys(text: str) -> Iterator[tuple[TomlKey, int]]:
    """Yield every table and entry that begins on its own line, with that line."""
    table: TomlKey = ()
    counts: dict[TomlKey, int] = {}
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if not fenced and (header := _HEADER.match(line)):
            table = _open_table(_split_key(header[2]), header[1] == "[[", counts)
            yield table, number
        elif not fenced and (entry := _ENTRY.match(line)):
            yield (*table, *_split_key(entry[1])), number
        fenced ^= len(_FENCE.findall(line)) % 2 == 1


def _open_table(names: list[str], adds: bool, counts: dict[TomlKey, int]) -> TomlKey:
    """Return the table that a header opens. ``counts`` holds the number of tables in each array so far."""
    key: TomlKey = ()
    for name in names[:-1]:
        key = (*key, name)
        key = (*key, counts[key] - 1) if key in counts else key
    key = (*key, names[-1])
    if adds:
        counts[key] = counts.get(key, 0) + 1
    return (*key, counts[key] - 1) if key in counts else key


def _split_key(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_PART, dotted)]
