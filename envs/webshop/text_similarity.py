"""How alike two short texts are, whatever the order of their words: the measure that WebShop's reward uses."""

from __future__ import annotations

import re

_NO_WORD = re.compile(r"\W")
_DROPPED = dict.fromkeys(range(128, 256))
"""Characters that the measure does not see: all of Latin-1 beyond ASCII, such as é and °."""


def token_set_ratio(one: str, other: str) -> int:
    """0 to 100: the best match among the common words, and these with the rest of either text.

    The measure of that name in thefuzz 0.19, which WebShop uses, on texts that first lose what is Latin-1 and not
    ASCII, and are put into small letters, with white space for all but letters, digits and underscores, of whatever
    script; 0 where a text is empty then.
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
    best = _alike(len(rest) + len(rests) - 2 * common_subsequence_length(rest, rests), whole + wholes)
    if shared:
        best = max(
            best, _alike(space + len(rest), len(shared) + whole), _alike(space + len(rests), len(shared) + wholes)
        )
    return round(best)


def common_subsequence_length(one: str, other: str) -> int:
    """The length of the longest sequence of characters that both texts have in this order, with gaps.

    All rows of a column at once, as bits of one integer (Hyyrö, Bit-parallel LCS-length computation revisited, 2004).
    """
    places: dict[str, int] = {}
    for i, character in enumerate(one):
        places[character] = places.get(character, 0) | 1 << i
    full = (1 << len(one)) - 1
    column = full
    for character in other:
        matches = column & places.get(character, 0)
        column = (column + matches | column - matches) & full
    return len(one) - column.bit_count()


def _words(text: str) -> set[str]:
    return set(_NO_WORD.sub(" ", text.translate(_DROPPED)).lower().split())


def _alike(distance: int, length: int) -> float:
    return 100 - 100 * distance / length if length else 100.0
