"""Similarity of two short texts regardless of word order: the measure of WebShop's reward."""

from __future__ import annotations

import re

_NON_WORD = re.compile(r"\W")
_DROPPED = dict.fromkeys(range(128, 256))
"""Characters that the measure ignores: Latin-1 beyond ASCII, such as é and °."""


def token_set_ratio(one: str, other: str) -> int:
    """0 to 100: the best match between the common words, alone and with the remaining words of either text.

    The function of that name in thefuzz 0.19, which WebShop uses. Both texts first lose their non-ASCII Latin-1
    characters, are lower-cased, and have everything but letters, digits and underscores (of any script) replaced by
    spaces. The result is 0 if that leaves a text empty.
    """
    words, others = _words(one), _words(other)
    if not words or not others:
        return 0
    common, left, right = words & others, words - others, others - words
    if common and not (left and right):
        return 100
    shared, rest, rests = (" ".join(sorted(each)) for each in (common, left, right))
    space = bool(shared)
    whole, wholes = len(shared) + space + len(rest), len(shared) + space + len(rests)
    best = _similarity(len(rest) + len(rests) - 2 * common_subsequence_length(rest, rests), whole + wholes)
    if shared:
        one_side = _similarity(space + len(rest), len(shared) + whole)
        best = max(best, one_side, _similarity(space + len(rests), len(shared) + wholes))
    return round(best)


def common_subsequence_length(one: str, other: str) -> int:
    """The length of the longest common subsequence of characters.

    The bits of one integer hold all rows of a column (Hyyrö, Bit-parallel LCS-length computation revisited, 2004).
    """
    positions: dict[str, int] = {}
    for i, character in enumerate(one):
        positions[character] = positions.get(character, 0) | 1 << i
    full = (1 << len(one)) - 1
    column = full
    for character in other:
        matches = column & positions.get(character, 0)
        column = (column + matches | column - matches) & full
    return len(one) - column.bit_count()


def _words(text: str) -> set[str]:
    return set(_NON_WORD.sub(" ", text.translate(_DROPPED)).lower().split())


def _similarity(distance: int, length: int) -> float:
    return 100 - 100 * distance / length if length else 100.0
