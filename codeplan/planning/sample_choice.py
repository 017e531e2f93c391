"""Chooses the worked examples of a prompt: of the task's kind or a similar one, and never the task itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Any, Final, Literal

from codeplan.agent_interface import agent_api
from codeplan.errors import UsageError
from codeplan.prompts.templates import Prompts
from codeplan.protocols import HasSimilarKinds, OffersAgents
from codeplan.types import Value
from codeplan.untrusted.values import in_quotes

_THIS_KIND, _SIMILAR, _OTHER = "another task of this kind", "a task of a similar kind", "a task of another kind"

SampleOrigin = Literal["own", "paper"]
"""codeplan's own worked examples, or, where they exist, examples in the manner of AdaPlanner's: these ask, or leave
something to refine.
"""

SampleTable = Literal["nearest", "kind", "paper"]
"""The examples nearest to the task's kind, those of the task's kind alone, or exactly one: the one that the paper's
table names for the kind."""

PAPER_TABLE: Final[dict[int, dict[str, str]]] = {
    2: {
        **dict.fromkeys(("pick", "clean", "heat", "cool"), "clean"),
        **dict.fromkeys(("examine", "pick_two"), "examine"),
    },
    4: {
        "pick": "pick",
        **dict.fromkeys(("clean", "heat", "cool"), "clean"),
        "examine": "examine",
        "pick_two": "pick_two",
    },
    6: {kind: kind for kind in ("pick", "clean", "heat", "cool", "examine", "pick_two")},
}
"""The paper's tables, by their number of samples: for each kind, the kind of the sample that serves it (Sun et al.
2023, appendix B, table 6).
"""

_PAPER_FOLDER: Final = "paper_samples"

_USED = re.compile(r"\bagent\.([A-Za-z]\w*)")


class WorkedExample(Value, frozen=True):
    """A plan that prompts show. ``relation`` says how its task is related to the task at hand."""

    text: str
    relation: str


class SampleSettings(Value, frozen=True, kw_only=True):
    """Which worked examples a prompt shows: at most ``count``; if ``kinds`` are named, only of these.

    ``origin`` and ``table`` are as SampleOrigin and SampleTable say.

    Raises: UsageError: the settings do not fit each other.
    """

    count: int = 1
    kinds: tuple[str, ...] = ()
    origin: SampleOrigin = "own"
    table: SampleTable = "nearest"

    def __post_init__(self) -> None:
        if self.count < 0:
            raise UsageError(f"the setting samples is {self.count}; give a number from 0 up")
        if self.table == "paper" and self.count not in (0, *PAPER_TABLE):
            raise UsageError(f"sample_table=paper needs 0, 2, 4 or 6 samples, as in the paper (got {self.count})")
        if self.table == "paper" and self.kinds:
            raise UsageError("sample_table=paper chooses the kinds of the samples; leave out sample_kinds")

    def for_kind(self, kind: str) -> SampleSettings:
        """The settings for a task of this kind.

        With the paper's table, that is one example of the kind that the table names.

        Raises: UsageError: the table does not have the kind.
        """
        if self.table != "paper" or self.count == 0:
            return self
        served = PAPER_TABLE[self.count]
        if kind not in served:
            raise UsageError(
                f"sample_table=paper has no sample for tasks of kind {in_quotes(kind)}; it is for {', '.join(served)}"
            )
        return SampleSettings(kinds=(served[kind],), origin=self.origin)


def choose_samples(
    prompts: Prompts, env: Any, kind: str, goal: str, settings: SampleSettings, *, asks: bool = True, method: str = ""
) -> tuple[WorkedExample, ...]:
    """The worked examples for a task of ``env``: those of its kind first, then of similar kinds.

    A kind may have several: ``click-shape.j2``, ``click-shape_2.j2`` and so on. Examples of all other kinds come last,
    and only if ``settings.kinds`` or a count of 2 or more asks for them. An example for the same goal is left out;
    without ``asks``, so is an example that asks. If the environment has several agents, the examples come from the
    chosen agent's own folder (``household/paper``) if it exists, and use only names of that agent. With ``method``
    they are that method's own (``text_planner/household/heat.j2``).

    Raises: UsageError: the paper's table does not have the kind.
    """
    settings = settings.for_kind(kind)
    chosen: dict[str, WorkedExample] = {}
    folders = _folders(env, settings.origin)
    names = set(agent_api(env.agent).names) if isinstance(env, OffersAgents) and env.agents else None
    folders = [f"{method}/{folder}" for folder in folders] if method else folders

    def fits(text: str) -> bool:
        return (asks or "ask_llm(" not in text) and (names is None or names.issuperset(_USED.findall(text)))

    for each, relation in _kinds_in_order(env, kind, settings):
        for name in _example_names(prompts, env, folders, each):
            if len(chosen) >= settings.count:
                return tuple(chosen.values())
            found = (sample_for(prompts, folder, name, goal) for folder in folders)
            text = next((text for text in found if text and fits(text)), None)
            if text:
                chosen.setdefault(text, WorkedExample(text, relation))
    return tuple(chosen.values())


def _example_names(prompts: Prompts, env: Any, folders: list[str], kind: str) -> Iterator[str]:
    """The names of a kind's examples: the kind, then the kind with _2, _3 and so on while such examples exist."""
    yield kind
    for name in (f"{kind}_{n}" for n in count(2)):
        if name in getattr(env, "kinds", ()) or not any(prompts.sample(folder, name) for folder in folders):
            return
        yield name


def _folders(env: Any, origin: SampleOrigin) -> list[str]:
    """The folders with worked examples: those in the paper's manner if the settings ask for them, then the chosen
    agent's own.
    """
    agents = env.agents if isinstance(env, OffersAgents) else {}
    own = [*(f"{env.name}/{name}" for name, agent in agents.items() if agent is env.agent), env.name]
    return [f"{env.name}/{_PAPER_FOLDER}", *own] if origin == "paper" else own


def _kinds_in_order(env: Any, kind: str, settings: SampleSettings) -> Iterator[tuple[str, str]]:
    """Each kind whose examples may be shown with its relation to ``kind``, the nearest first."""
    similar = env.similar_kinds.get(kind, ()) if isinstance(env, HasSimilarKinds) and env.similar_kinds else ()
    order = [(kind, _THIS_KIND)]
    if settings.table != "kind":
        order += [(each, _SIMILAR) for each in similar if each != kind]
    if settings.table != "kind" and (settings.kinds or settings.count > 1):
        order += [(each, _OTHER) for each in getattr(env, "kinds", ()) if each != kind and each not in similar]
    yield from ((each, relation) for each, relation in order if not settings.kinds or each in settings.kinds)


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
