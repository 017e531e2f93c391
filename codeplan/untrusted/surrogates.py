"""Makes texts storable that have half surrogate pairs, which UTF-8 and JSON cannot hold."""

from __future__ import annotations


def escape_surrogates(text: str) -> str:
    """Replace lone surrogates by escapes, so that UTF-8 can encode the text."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def is_utf8(text: str) -> bool:
    """Whether UTF-8 can encode the text: it has no lone surrogates, such as a shell's argument of other bytes has."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
