"""Adapts a plan for one thing to another: replaces words, and sets a skill's parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from codeplan.skills.parameter_binding import bind_parameters


class WordReplacements(NamedTuple):
    """Words of a plan's text with their replacements, and the values of a skill's parameters."""

    names: Mapping[str, str]
    values: Mapping[str, str | list[str]]


def replace_words(source: str, words: WordReplacements, goal: str) -> str:
    """Return the plan with its words replaced and its parameters set, for a task with this goal."""
    text = replace_names(source, words.names)
    return bind_parameters(text, goal, words.values) if words.values else text


def replace_names(source: str, names: Mapping[str, str]) -> str:
    """Return the text with all whole words in ``names`` replaced at once."""
    if not names:
        return source
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{words})(?!\w)", lambda found: names[found[0]], source)
