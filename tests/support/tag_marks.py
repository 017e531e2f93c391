"""The tags of prompts that quote data, without the marks that differ from episode to episode."""

import re


def without_marks(prompt: str) -> str:
    """The prompt with ``<log>`` in place of ``<log-123456789>``."""
    return re.sub(r"(</?(?:feedback|log|printed|now|variables|done|attempts))-[0-9]{9}>", r"\1>", prompt)
