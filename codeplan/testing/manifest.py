"""Reads the manifest ``*.plan.toml``, which says what a plan's tests expect. Every error names file, line and key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from codeplan import plugins
from codeplan.errors import UsageError
from codeplan.prompts.templates import Prompts
from codeplan.skills import skill_folder
from codeplan.skills.parameter_binding import SkillParameterValue
from codeplan.skills.skill_folder import DamagedSkill
from codeplan.testing.faults import FAULTS
from codeplan.tools.environment import ToolEnvironment
from codeplan.untrusted import files
from codeplan.untrusted.patterns import MAX_SECONDS, compile_in_time, find_pattern_problem
from codeplan.untrusted.texts import MAX_REASON_CHARS, one_line, parser_reason
from codeplan.untrusted.toml import parse_toml
from codeplan.untrusted.values import in_quotes, value_text

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


TomlKey = tuple[str | int, ...]
"""The path to a value: names of tables and keys, and indices in arrays, outermost first."""

_PART = r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'"""
_DOTTED = rf"(?:{_PART})(?:\s*\.\s*(?:{_PART}))*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]")
_ENTRY = re.compile(rf"\s*({_DOTTED})\s*=")
_FENCE = re.compile(r'"""|' + "'''")


def line_of(text: str, key: TomlKey) -> int:
    """Return the line, from 1, of the key or of the innermost table or entry around it; 1 if there is none."""
    found = _lines_of_keys(text)
    while key and key not in found:
        key = key[:-1]
    return found.get(key, 1)


@lru_cache(maxsize=1)
def _lines_of_keys(text: str) -> dict[TomlKey, int]:
    """The first line of each key. A suite asks for the lines of all its tasks, in the same text."""
    return dict(reversed(list(_find_keys(text))))


def _find_keys(text: str) -> Iterator[tuple[TomlKey, int]]:
    """Yield every table and entry that begins on its own line, with that line."""
    table: TomlKey = ()
    counts: dict[TomlKey, int] = {}
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if not fenced and (header := _HEADER.match(line)):
            table = _open_table(_split_key(header[2]), header[1] == "[[", counts)
            yield table, number
        elif not fenced and (entry := _ENTRY.match(line)):
            yield (*table, *_split_key(entry[1])), number
        fenced ^= len(_FENCE.findall(line)) % 2 == 1


def _open_table(names: list[str], adds: bool, counts: dict[TomlKey, int]) -> TomlKey:
    """Return the table that a header opens. ``counts`` holds the number of tables in each array so far."""
    key: TomlKey = ()
    for name in names[:-1]:
        key = (*key, name)
        key = (*key, counts[key] - 1) if key in counts else key
    key = (*key, names[-1])
    if adds:
        counts[key] = counts.get(key, 0) + 1
    return (*key, counts[key] - 1) if key in counts else key


def _split_key(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_PART, dotted)]


MAX_SHOWN_CHARACTERS = 80
"""Maximum length of a value in a message."""

MAX_MANIFEST_FILE_BYTES = 1_000_000
"""Maximum size of a file, far above the sandbox's own cap."""


class ManifestError(UsageError):
    """A manifest is unusable. The message begins with ``FILE:LINE: KEY:``."""


def read_text(path: Path, below: Path | None = None) -> str:
    """Return a file's text; ``below`` is the folder of the manifest that names it. Links are not followed.

    Raises: ManifestError: the file cannot be read, is too large, or is not UTF-8.
    """
    try:
        data = files.read_bytes(path, MAX_MANIFEST_FILE_BYTES, below)
    except OSError as e:
        raise ManifestError(f"{path} cannot be read: {e.strerror}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise ManifestError(f"{path} is not UTF-8 (byte {e.start}); save it as UTF-8") from None


def read_manifest(path: Path, text: str) -> PlanManifest:
    """Return the manifest in a file's text. Raises ManifestError."""
    manifest = _convert(path, text)
    for key, problem in _problems(manifest, path):
        raise manifest_error(path, text, key, problem)
    return manifest


def _convert(path: Path, text: str) -> PlanManifest:
    try:
        return msgspec.convert(parse_toml(text), PlanManifest)
    except tomllib.TOMLDecodeError as e:
        line = re.search(r"at line (\d+)", str(e))
        number = int(line[1]) if line else text.count("\n") + 1
        raise ManifestError(f"{path}:{number}: this is not TOML: {parser_reason(e)}") from None
    except msgspec.ValidationError as e:
        raise manifest_error(path, text, *_locate_error(str(e))) from None


def _locate_error(message: str) -> tuple[TomlKey, str]:
    """Return the key and the complaint in msgspec's message."""
    complaint, _, place = message.partition(" - at `")
    key: TomlKey = tuple(name or int(index) for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", place))
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", complaint)
    if unknown:
        part = _part_at(key)
        return (*key, unknown[1]), f"there is no such key; {plugins.suggest_names(unknown[1], part.__struct_fields__)}"
    missing = re.fullmatch(r"Object missing required field `(.*)`", complaint)
    if missing:
        return (*key, missing[1]), "this key is missing"
    wrong = re.fullmatch(r"Invalid enum value '(.*)'", complaint, re.DOTALL)
    if wrong:
        texts, lists = _accepted_values(key)
        also = ", or a list" if lists else ""
        return key, f"there is no value {in_quotes(wrong[1])}; {plugins.suggest_names(wrong[1], texts)}{also}"
    return key, complaint.replace("`", "'")


def _accepted_values(key: TomlKey) -> tuple[list[str], bool]:
    """Return the texts that a key takes by its type, and whether it also takes a list."""
    kind = get_type_hints(_part_at(key)).get(str(key[-1]))
    choices = (kind,) if get_origin(kind) is Literal else get_args(kind)
    texts = [text for choice in choices if get_origin(choice) is Literal for text in get_args(choice)]
    return texts, any(get_origin(choice) is tuple for choice in choices)


def _part_at(key: TomlKey) -> type[msgspec.Struct]:
    """Return the part of the manifest to which a key leads."""
    parts: dict[str | int, type[msgspec.Struct]] = {
        "answers": AnswerSources,
        "patterns": PatternAnswer,
        "expect": Expectations,
        "refuses": ExpectedFailure,
        "tasks": TaskSelection,
        "mutation": MutationTarget,
    }
    return next((parts[name] for name in reversed(key) if name in parts), PlanManifest)


def manifest_error(path: Path, text: str, key: TomlKey, problem: str) -> ManifestError:
    """The error about a key, with its line in the file's text."""
    shown = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in key).lstrip(".")
    told = one_line(f"{shown + ': ' if shown else ''}{problem}", MAX_REASON_CHARS * 2)
    return ManifestError(f"{path}:{line_of(text, key)}: {told}")


def _problems(manifest: PlanManifest, path: Path) -> Iterator[tuple[TomlKey, str]]:
    yield from _problems_of_plan(manifest, path)
    if not compile_in_time(_patterns(manifest)):
        yield (), f"its regular expressions take more than {MAX_SECONDS:g} s to compile; write simpler ones"
    yield from _problems_of_answers(manifest.answers, path)
    yield from _problems_of_expect(manifest.expect, ("expect",))
    yield from _problems_of_faults(manifest.faults, ("faults",))
    yield from _problems_of_marks(manifest.marks, ("marks",))
    if not manifest.tasks:
        yield ("tasks",), "there are no tasks; write [[tasks]] and an id, or a kind and seeds"
    for i, tasks in enumerate(manifest.tasks):
        yield from _problems_of_tasks(tasks, ("tasks", i))
        if tasks.values and manifest.skill is None:
            yield ("tasks", i, "values"), "only a skill has parameters; for a plan, see 'names'"


def _problems_of_plan(manifest: PlanManifest, path: Path) -> Iterator[tuple[TomlKey, str]]:
    known = plugins.names("codeplan.envs")
    if manifest.calls is not None:
        yield from _problems_of_calls(manifest, path)
    elif manifest.env not in known:
        there = plugins.suggest_names(manifest.env, known)
        own = "your own is named by codeplan test --plan-env FILE.py:NAME, or codeplan mutate --env FILE.py:NAME"
        yield ("env",), f"there is no environment {in_quotes(manifest.env)}; {there}; {own}"
    given = [name for name in ("plan", "skill", "sample") if getattr(manifest, name) is not None]
    if len(given) != 1:
        yield (given[1] if given else "plan",), "give exactly one of: plan (its file), skill (its folder), sample"
    if manifest.skill not in (None, ".") and not _is_folder(path.parent / manifest.skill, path.parent):
        yield ("skill",), f"there is no folder {in_quotes(manifest.skill)} beside the manifest"
    if manifest.plan is not None and not files.is_regular_file(path.parent / manifest.plan, path.parent):
        yield ("plan",), f"there is no file {in_quotes(manifest.plan)} beside the manifest"
    if manifest.sample is not None and not _sample_plan(manifest):
        yield ("sample",), f"the prompts have no worked sample of kind {in_quotes(manifest.sample)} for {manifest.env}"


def _problems_of_calls(manifest: PlanManifest, path: Path) -> Iterator[tuple[TomlKey, str]]:
    if manifest.env != ToolEnvironment.name:
        yield ("calls",), f'recorded calls stand for tools; write env = "{ToolEnvironment.name}", or remove this key'
    if not files.is_regular_file(path.parent / (manifest.calls or ""), path.parent):
        yield ("calls",), f"there is no file {in_quotes(manifest.calls)} beside the manifest"
    if manifest.settings:
        yield ("settings",), "recorded calls have no settings; remove them"


def _is_folder(path: Path, below: Path) -> bool:
    """Whether the path leads to a folder below another one, without links."""
    try:
        files.open_folder(path, below).close()
    except OSError:
        return False
    return True


def environment_settings(manifest: PlanManifest, path: Path, text: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the manifest's environment. ``given`` are the user's own, which come first.

    A manifest may come from a stranger, so it sets only harmless settings. Of the user's settings, those that the
    environment accepts apply; recorded calls accept none. Raises: ManifestError: the manifest sets another setting.
    """
    if manifest.calls is not None:
        return {}
    specs = {spec.name: spec for spec in plugins.setting_specs(plugins.load_factory("codeplan.envs", manifest.env))}
    for name, value in manifest.settings.items():
        if name not in given and (problem := _problem_of_setting(name, value, specs)):
            raise manifest_error(path, text, ("settings", name), problem)
    return {**manifest.settings, **{name: value for name, value in given.items() if name in specs}}


def _problem_of_setting(name: str, value: object, specs: Mapping[str, plugins.SettingSpec]) -> str:
    """Return why a manifest cannot set this; empty if it can."""
    if name not in specs:
        return f"the environment has no such setting; {plugins.suggest_names(name, specs)}"
    try:
        specs[name].check(value, "the manifest")
    except UsageError as e:
        return str(e)
    if specs[name].allows_foreign(value):
        return ""
    shown = one_line(value_text(value, MAX_SHOWN_CHARACTERS), MAX_SHOWN_CHARACTERS)
    return (
        f"a manifest cannot set this to {shown}, only you can: with codeplan test --plan-set {name}=…, "
        f"or codeplan mutate --set {name}=…"
    )


def _sample_plan(manifest: PlanManifest) -> str | None:
    return Prompts.cached(None).sample(manifest.env, manifest.sample or "")


def plan_source(manifest: PlanManifest, path: Path) -> str:
    """Return the text of the manifest's plan. Raises ManifestError."""
    if manifest.plan is not None:
        return read_text(path.parent / manifest.plan, path.parent)
    if manifest.skill is None:
        return f"{_sample_plan(manifest)}\n"
    try:
        return skill_folder.read_skill(path.parent.resolve() / manifest.skill).plan
    except DamagedSkill as e:
        raise ManifestError(f"{path}: the skill cannot be read: {e}") from None


def _problems_of_answers(answers: AnswerSources, path: Path) -> Iterator[tuple[TomlKey, str]]:
    if answers.tape is not None and not files.is_regular_file(path.parent / answers.tape, path.parent):
        yield ("answers", "tape"), f"there is no file {in_quotes(answers.tape)} beside the manifest"
    for i, pattern in enumerate(answers.patterns or ()):
        yield from _problems_of_pattern(pattern.pattern, ("answers", "patterns", i, "pattern"))


def _problems_of_expect(expect: Expectations, key: TomlKey) -> Iterator[tuple[TomlKey, str]]:
    yield from _problems_of_pattern(expect.output or "", (*key, "output"))
    if expect.refuses:
        yield from _problems_of_pattern(expect.refuses.message, (*key, "refuses", "message"))
    if expect.refuses and expect.success:
        yield (*key, "success"), "a plan that refuses cannot succeed; remove one of the two"
    if expect.refuses and expect.resumes:
        yield (*key, "resumes"), "a plan that refuses is not resumed; remove one of the two"


def _patterns(manifest: PlanManifest) -> Iterator[str]:
    yield from (answer.pattern for answer in manifest.answers.patterns or ())
    for expect in (manifest.expect, *(tasks.expect for tasks in manifest.tasks)):
        yield expect.output or ""
        yield expect.refuses.message if expect.refuses else ""


def _problems_of_pattern(pattern: str, key: TomlKey) -> Iterator[tuple[TomlKey, str]]:
    if problem := find_pattern_problem(pattern):
        yield key, f"{in_quotes(pattern)} is not a regular expression: {problem}"


def _problems_of_faults(faults: str | tuple[str, ...] | None, key: TomlKey) -> Iterator[tuple[TomlKey, str]]:
    for name in faults if isinstance(faults, tuple) else ():
        if name not in FAULTS:
            yield key, f"there is no fault {in_quotes(name)}; {plugins.suggest_names(name, tuple(FAULTS))}"


def _problems_of_marks(marks: tuple[str, ...], key: TomlKey) -> Iterator[tuple[TomlKey, str]]:
    for name in marks:
        if not (name.isascii() and name.isidentifier()) or name.startswith("_"):
            advice = "begin with a letter, then letters, digits, underscores"
            yield key, f"{in_quotes(name)} is not a marker's name; {advice}"


def _problems_of_tasks(tasks: TaskSelection, key: TomlKey) -> Iterator[tuple[TomlKey, str]]:
    yield from _problems_of_expect(tasks.expect, (*key, "expect"))
    yield from _problems_of_faults(tasks.faults, (*key, "faults"))
    yield from _problems_of_marks(tasks.marks, (*key, "marks"))
    named = [name for name in ("id", "ids", "kind") if getattr(tasks, name) is not None]
    if len(named) != 1:
        yield (*key, named[1] if named else "id"), "name tasks by exactly one of id, ids and kind"
    try:
        seeds = seeds_of(tasks)
    except ValueError as e:
        yield (*key, "seeds"), str(e)
    else:
        if bool(seeds) != (tasks.kind is not None) or (tasks.seed is not None and tasks.seeds is not None):
            yield (
                (*key, "seeds" if tasks.seeds else "seed" if seeds else "kind"),
                "give seed or seeds together with kind, and only then",
            )
