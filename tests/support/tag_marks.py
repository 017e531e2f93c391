"""The tags of prompts that quote data, without the marks that differ from episode to episode."""

import re


def without_marks(prompt: str) -> str:
    """The prompt with ``<log>`` in place of ``<log-1a2b3c>``."""
    return re.sub(r"(</?(?:feedback|log|printed|now|variables|done|attempts))-[0-9a-f]{6}>", r"\1>", prompt)
