"""A plan for one thing, made a plan for another: other words in its text, other values at a skill's head."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from codeplan.skills.binding import bind_parameters


class WordReplacements(NamedTuple):
    """Words of a plan's text, with those that stand there instead; and the values of a skill's parameters."""

    names: Mapping[str, str]
    values: Mapping[str, str | list[str]]


def replace_words(source: str, words: WordReplacements, goal: str) -> str:
    """The plan with its words replaced and its parameters set, for a task with this goal."""
    text = replace_names(source, words.names)
    return bind_parameters(text, goal, words.values) if words.values else text


def replace_names(source: str, names: Mapping[str, str]) -> str:
    """The text with each whole word that is a name in ``names`` replaced, all at once."""
    if not names:
        return source
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{words})(?!\w)", lambda found: names[found[0]], source)
