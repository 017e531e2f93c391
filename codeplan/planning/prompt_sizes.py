"""Maximum sizes of the parts of prompts that describe plans and their runs."""

from __future__ import annotations

from typing import Final

_MAX_PLAN_CHARS: Final = 128_000

MAX_PART_CHARS: Final = {
    "errors": 16_000,
    "source": _MAX_PLAN_CHARS,
    "previous": _MAX_PLAN_CHARS,
    "revised": _MAX_PLAN_CHARS,
    "feedback": 6_000,
    "log": 24_000,
    "printed": 6_000,
    "now": 6_000,
    "variables": 6_000,
}
"""Maximum lengths, in characters, of the parts of a prompt that describe plans. A checked plan is never cut: by
default it has at most 65,536 bytes.
"""

MAX_OLDER_CHARS: Final = 6_000
"""Maximum length of the log without the answers that are shown whole, in characters."""

MAX_WHOLE_CHARS: Final = 6_000
"""Maximum length of the log's newest answer, and of all older answers that the plan printed together, in characters."""

MAX_CONVERSATION_CHARS: Final = 80_000
"""Maximum length of a conversation about a plan after its first two messages, in characters: about 20,000 tokens. The
newest turn stays whole, however long it is."""

MAX_ATTEMPTS: Final = 12
"""Maximum number of earlier attempts in a prompt; the newest are kept."""

MAX_FIXES_SHOWN: Final = 10
"""Maximum number of the check's fixes in a prompt."""
