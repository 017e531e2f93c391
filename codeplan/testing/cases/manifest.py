"""A manifest says what a plan is held to: a file ``*.plan.toml``. ``reading`` reads it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec

MANIFEST_SUFFIX = ".plan.toml"
"""What the name of a manifest ends with."""

MAX_SEEDS = 10_000
"""More seeds than this in one range are taken for a slip."""

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]


class _ManifestPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the manifest's parts: an unknown key is an error."""


class PatternAnswer(_ManifestPart, frozen=True):
    """An answer to every question in which the regular expression ``pattern`` is found."""

    pattern: str
    answer: str


class AnswerSources(_ManifestPart, frozen=True):
    """Who answers the plan's ``ask_llm``: the first that has an answer, in the order ``tape``, ``patterns``, ``fixed``,
    ``model``. With none of them, it is the scripted model.

    ``fixed`` is the answer to every question, or answers in order; ``patterns`` are tried in order; ``tape`` is the
    path of a tape; ``model`` is a model's name, and one that is not ``"scripted"`` is asked only where ``--live-llm``
    is given.
    """

    fixed: str | tuple[str, ...] | None = None
    patterns: tuple[PatternAnswer, ...] | None = None
    tape: str | None = None
    model: str | None = None


class ExpectedFailure(_ManifestPart, frozen=True):
    """The plan stops itself: an assertion of ``step`` fails, with a message in which ``message`` (a regular
    expression) is found.
    """

    step: int
    message: str = ""


class Expectations(_ManifestPart, frozen=True):
    """What is expected. None, or empty, where nothing is.

    ``success`` is the environment's word, expected True unless ``refuses`` is given. ``actions`` and ``asks`` are how
    many there may be at most. ``steps`` are those that are entered, in order. ``resumes`` are steps from whose entry a
    run that was broken off there goes on as if it had not been: the same actions, none of them twice, the same end.
    ``checkpoint`` has variables with the values that they end with. ``output`` is a regular expression found in what
    the plan prints.
    """

    success: bool | None = None
    actions: _Count | None = None
    asks: _Count | None = None
    steps: tuple[int, ...] | None = None
    refuses: ExpectedFailure | None = None
    resumes: Literal["all"] | tuple[int, ...] | None = None
    checkpoint: dict[str, Any] | None = None
    output: str | None = None

    def with_defaults(self, general: Expectations) -> Expectations:
        """These expectations, and the general ones where these say nothing."""
        return msgspec.structs.replace(
            general, **{n: v for n in self.__struct_fields__ if (v := getattr(self, n)) is not None}
        )


class TaskSelection(_ManifestPart, frozen=True):
    """Some tasks, by ``id``, by ``ids``, or by ``kind`` with ``seed`` or ``seeds`` (a list, or a range as in "0-9").

    ``names`` are words of the plan and what stands there for these tasks instead, so that a plan for one thing is tried
    on others; ``values`` are those of a skill's parameters. What is said in ``expect`` and ``faults`` goes before what
    the manifest says; ``marks`` are added to the manifest's.
    """

    id: str | None = None
    ids: tuple[str, ...] | None = None
    kind: str | None = None
    seed: _Count | None = None
    seeds: str | tuple[_Count, ...] | None = None
    names: dict[str, str] = {}
    values: dict[str, str | list[str]] = {}
    expect: Expectations = Expectations()
    faults: Literal["all", "none"] | tuple[str, ...] | None = None
    marks: tuple[str, ...] = ()


class MutationTarget(_ManifestPart, frozen=True):
    """What share of the plan's mutants the tests must kill, survivors that are explained not counted.

    ``survivors`` maps a mutant's name to the reason why it may survive.
    """

    at_least: _Fraction = 0.9
    survivors: dict[str, str] = {}


class PlanManifest(_ManifestPart, frozen=True):
    """A plan and its tests. One of ``plan`` (a file's path, from the manifest's folder), ``skill`` (the path of a
    skill's folder in a library) and ``sample`` (the kind of a worked sample of codeplan's prompts for ``env``).

    ``settings`` are the environment's. ``faults`` are the ways in which the world misbehaves in further tests, and
    ``caught`` says where an assertion must notice: in the step that a fault strikes, or in that or any later step.
    ``marks`` are pytest markers.
    """

    env: str
    tasks: tuple[TaskSelection, ...]
    plan: str | None = None
    skill: str | None = None
    sample: str | None = None
    settings: dict[str, Any] = {}
    answers: AnswerSources = AnswerSources()
    expect: Expectations = Expectations()
    faults: Literal["all", "none"] | tuple[str, ...] = "none"
    caught: Literal["same-step", "any-step"] = "same-step"
    marks: tuple[str, ...] = ()
    mutation: MutationTarget | None = None


def seeds_of(tasks: TaskSelection) -> tuple[int, ...]:
    """The seeds that are meant; empty where tasks are named otherwise. Raises ValueError for what is no range."""
    if tasks.seed is not None:
        return (tasks.seed,)
    if not isinstance(tasks.seeds, str):
        return tasks.seeds or ()
    found = re.fullmatch(r"\s*(\d{1,9})\s*-\s*(\d{1,9})\s*", tasks.seeds, re.ASCII)
    if not found or not 0 <= int(found[2]) - int(found[1]) < MAX_SEEDS:
        raise ValueError(f'{tasks.seeds!r} is no range of seeds; write it as in "0-9", the last one included')
    return tuple(range(int(found[1]), int(found[2]) + 1))
