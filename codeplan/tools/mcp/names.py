"""Makes Python names of names that servers chose: ASCII letters, digits and underscores, and unique."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection

MAX_NAME_CHARS = 60
"""Maximum length of a name that is made here, in characters."""

_OTHER = re.compile(r"[^0-9A-Za-z]+")


def python_name(name: str, fallback: str) -> str:
    """The nearest Python name. ``fallback`` is what a name without any usable character becomes.

    Letters beyond ASCII are left out: two names that look alike would differ.
    """
    found = _OTHER.sub("_", name[: 4 * MAX_NAME_CHARS]).strip("_")[:MAX_NAME_CHARS] or fallback
    if found[0].isdigit():
        found = f"{fallback}_{found}"
    return f"{found}_" if keyword.iskeyword(found) or keyword.issoftkeyword(found) else found


def class_name(name: str) -> str:
    """The nearest name for a class, as in ``SearchResult`` for ``search_result``."""
    words = _OTHER.sub(" ", name[: 4 * MAX_NAME_CHARS]).split()
    joined = "".join(word[0].upper() + word[1:] for word in words)[:MAX_NAME_CHARS]
    fits = joined[:1].isalpha() and not keyword.iskeyword(joined)
    return joined if fits else f"Type{joined}"


def unique_name(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found
