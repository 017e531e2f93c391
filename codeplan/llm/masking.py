"""Masks keys and passwords in text that is shown or recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

MIN_MASKED_LENGTH: Final = 8
"""Shorter secrets are not masked: they could match ordinary text."""

MAX_WORD_LENGTH: Final = 23
"""A secret up to this length could be an ordinary word, so it is masked only where it stands alone. Longer ones, as
real keys are, are masked everywhere."""

MASK: Final = "***"


def mask(text: str, secrets: Sequence[str]) -> str:
    """The text with each secret masked; longer secrets first, since one may contain another."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) > MAX_WORD_LENGTH:
            text = text.replace(secret, MASK)
        elif len(secret) >= MIN_MASKED_LENGTH and secret in text:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, text)
    return text
