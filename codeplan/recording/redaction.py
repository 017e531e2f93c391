"""Removes settings that may hold secrets, by their names, from traces, tapes and folder names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NAMES = re.compile(
    r"(?:^|[_\W]|api|access|auth|bearer|client|private|secret|user)"
    r"(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|authorization|cookie|contact)$",
    re.IGNORECASE,
)


def is_secret_name(name: str) -> bool:
    """Whether a setting of this name may hold a secret, or a person's address."""
    return _NAMES.search(name) is not None


def remove_secrets(value: Any) -> Any:
    """Plain data without the entries, at any depth, whose names suggest a secret."""
    if isinstance(value, Mapping):
        return {n: remove_secrets(v) for n, v in value.items() if not (isinstance(n, str) and is_secret_name(n))}
    if isinstance(value, list | tuple):
        return [remove_secrets(v) for v in value]
    return value
