"""The manifest ``*.plan.toml``, which says what a plan's tests expect. ``manifest_files`` reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec

from codeplan.skills.parameter_binding import SkillParameterValue
from codeplan.untrusted.values import in_quotes

MANIFEST_SUFFIX = ".plan.toml"
"""The suffix of a manifest's file name."""

PLAN_SUFFIX = ".plan.py"
"""The suffix of the plans that ``new-test`` writes. Python imports no module from such a file, whatever its name."""

MAX_TESTS = 10_000
"""Maximum number of tests of a manifest."""

MAX_NAMES = 100
"""Maximum number of words that are replaced in a plan."""

MAX_STEPS = 1_000
"""Maximum number of steps in a list of a manifest."""

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Steps = Annotated[tuple[int, ...], msgspec.Meta(max_length=MAX_STEPS)]
_Word = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class _ManifestPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the manifest's parts: an unknown key is an error."""


class PatternAnswer(_ManifestPart, frozen=True):
    """An answer to every question in which the regular expression ``pattern`` is found."""

    pattern: str
    answer: str


class AnswerSources(_ManifestPart, frozen=True):
    """The sources of answers to ``ask_llm``: the first of ``tape``, ``patterns``, ``fixed`` and ``model`` that has an
    answer.

    Without any, the scripted model answers. ``fixed`` is the answer to every question, or answers in order.
    ``patterns`` are tried in order. ``tape`` is a tape's path. A ``model`` other than ``"scripted"`` is asked only with
    ``--live-llm``.
    """

    fixed: str | tuple[str, ...] | None = None
    patterns: tuple[PatternAnswer, ...] | None = None
    tape: str | None = None
    model: str | None = None


class ExpectedFailure(_ManifestPart, frozen=True):
    """An assertion of ``step`` fails, with a message in which the regular expression ``message`` is found."""

    step: int
    message: str = ""


class Expectations(_ManifestPart, frozen=True):
    """The expectations of a manifest. A field that is None or empty expects nothing.

    ``success`` is the environment's judgement, expected to be True unless ``refuses`` is given. ``actions`` and
    ``asks`` are maximum counts. ``steps`` are the steps entered, in order. From the entry of the steps in ``resumes``,
    an interrupted run continues as if uninterrupted: the same actions, none twice, the same end. ``checkpoint`` maps
    variables to their final values. ``output`` is a regular expression found in the plan's output.
    """

    success: bool | None = None
    actions: _Count | None = None
    asks: _Count | None = None
    steps: _Steps | None = None
    refuses: ExpectedFailure | None = None
    resumes: Literal["all"] | _Steps | None = None
    checkpoint: dict[str, Any] | None = None
    output: str | None = None

    def with_defaults(self, general: Expectations) -> Expectations:
        """Return these expectations, completed by the general ones."""
        return msgspec.structs.replace(
            general, **{n: v for n in self.__struct_fields__ if (v := getattr(self, n)) is not None}
        )


class TaskSelection(_ManifestPart, frozen=True):
    """Some tasks, by ``id``, by ``ids``, or by ``kind`` with ``seed`` or ``seeds`` (a list, or a range such as "0-9").

    ``names`` maps words of the plan to their replacements for these tasks, to try a plan for one thing on others.
    ``values`` are those of a skill's parameters. ``expect`` and ``faults`` override the manifest's; ``marks`` are added
    to it.
    """

    id: str | None = None
    ids: tuple[str, ...] | None = None
    kind: str | None = None
    seed: _Count | None = None
    seeds: str | tuple[_Count, ...] | None = None
    names: Annotated[dict[_Word, _Word], msgspec.Meta(max_length=MAX_NAMES)] = {}
    values: dict[str, SkillParameterValue] = {}
    expect: Expectations = Expectations()
    faults: Literal["all", "none"] | tuple[str, ...] | None = None
    marks: tuple[str, ...] = ()


class MutationTarget(_ManifestPart, frozen=True):
    """The share of mutants that the tests must kill, without explained survivors.

    ``survivors`` maps a mutant's name to the reason why it may survive.
    """

    at_least: _Fraction = 0.9
    survivors: dict[str, str] = {}


class PlanManifest(_ManifestPart, frozen=True):
    """A plan and its tests.

    Exactly one is given of ``plan`` (a file), ``skill`` (a skill's folder), both relative to the manifest, and
    ``sample`` (the kind of a worked sample in codeplan's prompts for ``env``). ``settings`` are the environment's.
    ``calls`` is the path of a tape whose recorded answers stand for the tools of ``env = "tools"``.
    ``faults`` are injected in further tests, and ``caught`` says where an assertion must notice: in the step of the
    fault, or also in a later one. ``marks`` are pytest markers.
    """

    env: str
    tasks: tuple[TaskSelection, ...]
    plan: str | None = None
    skill: str | None = None
    sample: str | None = None
    calls: str | None = None
    settings: dict[str, Any] = {}
    answers: AnswerSources = AnswerSources()
    expect: Expectations = Expectations()
    faults: Literal["all", "none"] | tuple[str, ...] = "none"
    caught: Literal["same-step", "any-step"] = "same-step"
    marks: tuple[str, ...] = ()
    mutation: MutationTarget | None = None


def seeds_of(tasks: TaskSelection) -> Sequence[int]:
    """Return the selected seeds, which may be a billion; empty if tasks are named otherwise.

    Raises: ValueError: a range is malformed.
    """
    if tasks.seed is not None:
        return (tasks.seed,)
    if not isinstance(tasks.seeds, str):
        return tasks.seeds or ()
    found = re.fullmatch(r"\s*(\d{1,9})\s*-\s*(\d{1,9})\s*", tasks.seeds, re.ASCII)
    if not found or int(found[1]) > int(found[2]):
        raise ValueError(f'{in_quotes(tasks.seeds)} is not a range of seeds; write "0-9", which includes both ends')
    return range(int(found[1]), int(found[2]) + 1)
