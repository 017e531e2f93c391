"""Makes texts storable that have half surrogate pairs, which UTF-8 and JSON cannot hold."""

from __future__ import annotations


def escape_surrogates(text: str) -> str:
    """Replace lone surrogates by escapes, so that UTF-8 can encode the text."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
