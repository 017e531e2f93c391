"""Maximum sizes of the parts of prompts that tell of plans and their runs."""

from __future__ import annotations

from typing import Final

_MAX_PLAN_CHARS: Final = 128_000

MAX_PART_CHARS: Final = {
    "errors": 16_000,
    "source": _MAX_PLAN_CHARS,
    "previous": _MAX_PLAN_CHARS,
    "revised": _MAX_PLAN_CHARS,
    "feedback": 8_000,
    "log": 6_000,
    "newest": 6_000,
    "printed": 6_000,
    "now": 6_000,
    "variables": 6_000,
}
"""Maximum lengths, in characters, of the parts of a prompt that tell of plans. A checked plan is never cut: by default
it has at most 65,536 bytes. ``newest`` is the log's newest answer, which ``log`` leaves out."""

MAX_CONVERSATION_CHARS: Final = 80_000
"""Maximum length of a conversation about a plan after its first two messages, in characters: about 20,000 tokens. The
newest turn stays whole, however long it is."""

MAX_ATTEMPTS: Final = 12
"""Earlier attempts that a prompt tells of at most, the newest."""

MAX_FIXES_SHOWN: Final = 10
"""Fixes of the check that a prompt tells of at most."""
