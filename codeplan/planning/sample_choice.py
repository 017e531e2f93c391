"""Chooses the worked examples of a prompt: of the task's kind or a similar one, and never the task itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from codeplan.prompts.templates import Prompts
from codeplan.protocols import HasSimilarKinds
from codeplan.types import Value

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
        text = sample_for(prompts, env.name, each, goal) if not kinds or each in kinds else None
        if text and (asks or "ask_llm(" not in text):
            chosen.setdefault(text, WorkedExample(text, relation))
    return tuple(chosen.values())


def _kinds_in_order(env: Any, kind: str, *, others: bool) -> Iterator[tuple[str, str]]:
    """Each kind of the environment with its relation to ``kind``, the nearest first."""
    similar = env.similar_kinds.get(kind, ()) if isinstance(env, HasSimilarKinds) else ()
    yield kind, _THIS_KIND
    yield from ((each, _SIMILAR) for each in similar if each != kind)
    if others:
        yield from ((each, _OTHER) for each in getattr(env, "kinds", ()) if each != kind and each not in similar)


def sample_for(prompts: Prompts, folder: str, name: str, goal: str) -> str | None:
    """The worked example ``folder/name``; None if there is none, or if it is about this very goal."""
    text = prompts.sample(folder, name)
    return None if text is None or _is_about(text, goal) else text


def _is_about(sample: str, goal: str) -> bool:
    """Whether a line of the example states this goal, alone or after ``Task:`` or the like.

    Letter case, spaces and the full stop do not matter.
    """
    wanted = _normal(goal)
    lines = map(_normal, sample.splitlines())
    return any(wanted in (line, line.partition(": ")[2]) for line in lines if wanted)


def _normal(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".?! ")
