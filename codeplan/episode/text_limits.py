"""Maximum sizes of the texts that pass between a model, its plans and the environment."""

from __future__ import annotations

from typing import Final

from codeplan.errors import SizeExceeded, UsageError
from codeplan.untrusted.surrogates import escape_surrogates
from codeplan.untrusted.values import in_quotes

MAX_PROMPT_CHARS: Final = 1_000_000
"""Maximum length of a prompt, in characters: some 250,000 tokens, which is more than most models take. Prompts of the
built-in environments normally use less than a fiftieth of it.
"""

MAX_REPLY_CHARS: Final = 256_000
"""Maximum length of a reply, in characters: four times the longest plan that a sandbox accepts by default."""

MAX_OBSERVATION_CHARS: Final = 500_000
"""Maximum length of an observation, in characters: a prompt has room for it and for a plan."""

MAX_GOAL_CHARS: Final = 8_000
"""Maximum length of a goal that an environment's ``reset`` reveals, in characters; a longer one is cut."""


def bound_text(text: str, max_chars: int) -> tuple[str, int]:
    """The text, cut to ``max_chars`` characters, and its whole length if it was cut, otherwise 0.

    Half surrogate pairs, which JSON cannot hold, are escaped.
    """
    cut_from = len(text) if len(text) > max_chars else 0
    text = text[:max_chars]
    if text.isascii():
        return text, cut_from
    try:
        text.encode()
    except UnicodeEncodeError:
        text = escape_surrogates(text)[:max_chars]
    return text, cut_from


def prompt_too_long(length: int, purpose: str, *, made_by_agent: bool) -> SizeExceeded | UsageError:
    """The error for a prompt of ``length`` characters: a UsageError if only the task and the settings are in it."""
    what = f"the prompt for {in_quotes(purpose)} has {length:,} characters, more than {MAX_PROMPT_CHARS:,}"
    if made_by_agent:
        return SizeExceeded("prompt", MAX_PROMPT_CHARS, what)
    return UsageError(f"{what}; shorten the task, the worked examples, the skills or the prompt's template")


def reply_too_long(length: int) -> SizeExceeded:
    """The error for a reply of ``length`` characters."""
    return SizeExceeded(
        "reply", MAX_REPLY_CHARS, f"the model's reply has {length:,} characters, more than {MAX_REPLY_CHARS:,}"
    )


def observation_too_long(length: int) -> SizeExceeded:
    """The error for an observation of ``length`` characters."""
    what = f"the environment's observation has {length:,} characters, more than {MAX_OBSERVATION_CHARS:,}"
    return SizeExceeded("observation", MAX_OBSERVATION_CHARS, what)
