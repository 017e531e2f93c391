"""Finds the values in a plan that belong to one episode: words of its goal and names of things it saw."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import libcst as cst

ParameterValue: TypeAlias = str | list[str]

_NAME = re.compile(r"\b[A-Za-z][\w-]*(?: [A-Za-z][\w-]*)? \d+\b")
_COMMON_WORDS = re.compile(
    "an?|and|are|at|by|find|for|from|get|go|in|into|is|it|look|make|of|on|one|or|put|some|task|than|the|them|then|this"
    "|to|two|under|use|using|with|you|your",
    re.IGNORECASE,
)
_MAX_TEXT = 300


@dataclass(frozen=True)
class EpisodeTexts:
    """The texts of an episode: the task's goal, the first observation, and all later ones."""

    goal: str
    first_observation: str
    later_observations: str

    def in_goal(self, text: str) -> bool:
        """Return whether the goal contains this text, as words that mean something."""
        return not _COMMON_WORDS.fullmatch(text) and _contains_words(self.goal, text)

    def in_first_observation(self, text: str) -> bool:
        """Return whether the first observation contains this text with a number: a thing's name or an amount."""
        return any(c.isdigit() for c in text) and _contains_words(self.first_observation, text)

    def seen_later(self, text: str) -> bool:
        """Return whether it is a thing's name, such as ``mug 2``, that only later observations contain."""
        known = self.in_first_observation(text)
        return not known and bool(_NAME.fullmatch(text)) and _contains_words(self.later_observations, text)


@dataclass
class NewParameter:
    """A value that becomes a parameter. ``about`` says what it is for; ``name`` is its new name."""

    value: ParameterValue
    about: str
    name: str = ""

    @property
    def literal(self) -> str:
        """The value as text that is both JSON and Python."""
        return json.dumps(self.value, ensure_ascii=False)


def walk_cst(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a node and all nodes below it in source order."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting += reversed(current.children)


def string_value(node: cst.BaseExpression) -> str | None:
    """Return the text of a plain string; None for anything else."""
    if not isinstance(node, cst.SimpleString):
        return None
    value = node.evaluated_value
    return value if isinstance(value, str) else None


def string_list(node: cst.BaseExpression) -> list[str] | None:
    """Return the texts of a list, tuple or set of two or more plain strings; None for anything else."""
    if not isinstance(node, (cst.List, cst.Tuple, cst.Set)) or len(node.elements) < 2:
        return None
    texts = [string_value(e.value) if isinstance(e, cst.Element) else None for e in node.elements]
    return [t for t in texts if t is not None] if None not in texts else None


def find_parameters(
    parts: Sequence[tuple[str, cst.CSTNode]], episode: EpisodeTexts, taken: Iterable[str]
) -> list[NewParameter]:
    """Return a plan's parameters in the order of first use.

    ``parts`` are its pieces, each with its purpose; ``taken`` are the plan's own names.
    """
    found: dict[str, NewParameter] = {}
    for about, part in parts:
        for value in _episode_values(part, episode):
            parameter = NewParameter(value, about)
            found.setdefault(parameter.literal, parameter)
    names = set(taken)
    for parameter in found.values():
        parameter.name = _unused_the_name(_parameter_name(parameter.value, episode), names)
        names.add(parameter.name)
    return list(found.values())


def names_to_ask(part: cst.CSTNode, episode: EpisodeTexts) -> list[str]:
    """Return the names of things in a part of the plan that are unknown until the episode shows them."""
    texts = (string_value(n) for n in walk_cst(part) if isinstance(n, cst.SimpleString))
    return list(dict.fromkeys(t for t in texts if t is not None and episode.seen_later(t)))


def unused_name(text: str, taken: set[str]) -> str:
    """Return a name that is made of the text's words and not taken."""
    return _unused_the_name(_identifier(text), taken)


def _episode_values(part: cst.CSTNode, episode: EpisodeTexts) -> Iterator[ParameterValue]:
    inside: set[int] = set()
    for node in walk_cst(part):
        if id(node) in inside:
            continue
        texts = string_list(node) if isinstance(node, cst.BaseExpression) else None
        if texts and all(episode.in_first_observation(t) for t in texts):
            inside |= {id(n) for n in walk_cst(node)}
            yield texts
        text = string_value(node) if isinstance(node, cst.SimpleString) else None
        if text is None or not 2 <= len(text) <= _MAX_TEXT:
            continue
        if episode.in_goal(text) or episode.in_first_observation(text):
            yield text


def _parameter_name(value: ParameterValue, episode: EpisodeTexts) -> str:
    """Return a parameter's name: by its role in the goal, or else by the kind of thing."""
    if isinstance(value, list):
        return "places" if all(_NAME.fullmatch(v) for v in value) else "choices"
    if episode.in_goal(value):
        return "item"
    to_last_letter = re.match(r".*[^\W\d]", value, re.DOTALL)
    sort = to_last_letter[0] if to_last_letter else ""
    return "target" if episode.in_goal(sort) else _identifier(sort)


def _identifier(text: str) -> str:
    words = re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_")[:30]
    return words if words[:1].isalpha() else f"value_{words}".rstrip("_")


def _unused_the_name(name: str, taken: set[str]) -> str:
    """Return the name after ``the_``, followed by a number if that is taken."""
    wanted = f"the_{name}"
    return next(n for n in (wanted, *(f"{wanted}_{i}" for i in range(2, 10_000))) if n not in taken)


def _contains_words(where: str, text: str) -> bool:
    if not text.strip() or not re.search(r"\w", text):
        return False
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", where, re.IGNORECASE) is not None
