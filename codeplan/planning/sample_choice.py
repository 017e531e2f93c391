"""Chooses the worked examples of a prompt: of the task's kind or a similar one, and never the task itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from codeplan.agent_api import agent_api
from codeplan.prompts.templates import Prompts
from codeplan.protocols import HasSimilarKinds, OffersAgents
from codeplan.types import Value

_THIS_KIND, _SIMILAR, _OTHER = "another task of this kind", "a task of a similar kind", "a task of another kind"

_USED = re.compile(r"\bagent\.([A-Za-z]\w*)")


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
    one that asks. Of an environment with several agents, the examples for the chosen one come from a folder of its own
    (``household/paper``) if it has them, and use only what it has.
    """
    chosen: dict[str, WorkedExample] = {}
    folders, names = _folders(env), _agent_names(env)
    for each, relation in _kinds_in_order(env, kind, others=bool(kinds) or count > 1):
        if len(chosen) >= count:
            break
        found = (sample_for(prompts, folder, each, goal) for folder in folders if not kinds or each in kinds)
        text = next(filter(None, found), None)
        if text and (asks or "ask_llm(" not in text) and (names is None or names.issuperset(_USED.findall(text))):
            chosen.setdefault(text, WorkedExample(text, relation))
    return tuple(chosen.values())


def _folders(env: Any) -> list[str]:
    """The folders with worked examples, the chosen agent's own first."""
    agents = env.agents if isinstance(env, OffersAgents) else {}
    return [*(f"{env.name}/{name}" for name, agent in agents.items() if agent is env.agent), env.name]


def _agent_names(env: Any) -> set[str] | None:
    """The names that examples may use of the agent; None if the environment has one agent alone."""
    return set(agent_api(env.agent).names) if isinstance(env, OffersAgents) and env.agents else None


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
