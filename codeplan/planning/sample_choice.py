"""Chooses the worked examples of a prompt: of the task's kind or a similar one, and never the task itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from codeplan.prompts.templates import Prompts
from codeplan.protocols import HasSimilarKinds
from codeplan.types import Value

_HEADER = re.compile(r"^# (?:Task|Question): (.*)$", re.MULTILINE)

_THIS_KIND, _SIMILAR, _OTHER = "another task of this kind", "a task of a similar kind", "a task of another kind"


class WorkedExample(Value, frozen=True):
    """A plan that prompts show. ``relation`` says how its task is related to the task at hand."""

    text: str
    relation: str


def choose_samples(
    prompts: Prompts, env: Any, kind: str, goal: str, count: int, kinds: Sequence[str] = (), *, asks: bool = True
) -> tuple[WorkedExample, ...]:
    """At most ``count`` worked examples for a task of ``env``: those of its kind first, then of similar kinds.

    If ``kinds`` are named, the examples are of these alone. Examples of all other kinds come last, and only if
    ``kinds`` or a ``count`` of 2 or more asks for them. An example for the same goal is left out; without ``asks`` also
    one that asks.
    """
    chosen: dict[str, WorkedExample] = {}
    for each, relation in _kinds_in_order(env, kind, others=bool(kinds) or count > 1):
        if len(chosen) >= count:
            break
        text = prompts.sample(env.name, each) if not kinds or each in kinds else None
        if text and not _is_about(text, goal) and (asks or "ask_llm(" not in text):
            chosen.setdefault(text, WorkedExample(text, relation))
    return tuple(chosen.values())


def _kinds_in_order(env: Any, kind: str, *, others: bool) -> Iterator[tuple[str, str]]:
    """Each kind of the environment with its relation to ``kind``, the nearest first."""
    similar = env.similar_kinds.get(kind, ()) if isinstance(env, HasSimilarKinds) else ()
    yield kind, _THIS_KIND
    yield from ((each, _SIMILAR) for each in similar if each != kind)
    if others:
        yield from ((each, _OTHER) for each in getattr(env, "kinds", ()) if each != kind and each not in similar)


def _is_about(sample: str, goal: str) -> bool:
    """Whether the sample's header names this goal, letter case, spaces and punctuation at the end aside."""
    header = _HEADER.search(sample)
    return header is not None and _normal(header[1]) == _normal(goal)


def _normal(goal: str) -> str:
    return " ".join(goal.casefold().split()).rstrip(".?! ")
