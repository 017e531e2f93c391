"""Numbers and articles before nouns: "1 cell", "2 cells", "an EndFrame"."""

from __future__ import annotations

import re
from typing import Final

_SPOKEN_WITH_A: Final = re.compile(r"eu|one|u(?:ni|s[aeiu]|ti|u)|u$", re.IGNORECASE)
_SPOKEN_WITH_AN: Final = re.compile(r"[aeiou]|(?:hour|hon|heir)", re.IGNORECASE)
_SPELT_WITH_AN: Final = re.compile(r"[AEFHILMNORSX](?:[B-DF-HJ-NP-TV-Z]{2}|[B-DF-HJ-NP-TV-Z]$)")


def with_count(count: int, noun: str, plural: str | None = None) -> str:
    """The number and the noun: ``"1 cell"``, ``"2,000 cells"``. ``plural`` is needed unless the noun only adds an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def with_article(noun: str) -> str:
    """The noun with "a" or "an", by how its beginning sounds: ``"an EndFrame"``, ``"a UserDict"``, ``"an LLM"``."""
    vowel = _SPELT_WITH_AN.match(noun) or (_SPOKEN_WITH_AN.match(noun) and not _SPOKEN_WITH_A.match(noun))
    return f"{'an' if vowel else 'a'} {noun}"
