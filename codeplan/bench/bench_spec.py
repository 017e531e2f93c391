"""Reads from flags or a file which cells and tasks a bench runs, and checks them before anything starts.

A file is TOML. Every method runs every suite with every model and every table of settings:

    suites = ["alfworld-unseen", "textcraft"]
    methods = ["adaplanner", {name = "adapt", executor = {name = "react"}}]
    models = ["scripted", {name = "gpt-4o-mini", temperature = 0.0}]
    settings = [{}, {resume_by = "model"}]
    repeats = 3
    n = 10                    # at most this many tasks of each kind
    [common]                  # settings of all cells
    timeout = 60
    [budget]                  # of each episode
    actions = 50
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from codeplan import envs, plugins
from codeplan.bench.grid import BenchCell, BenchGrid, TrainingGrid, TrainingJob, resolve_trainings
from codeplan.bench.tool_tasks import TasksOnTools, take_tool_tasks
from codeplan.budget import Budget
from codeplan.envs.registry import take_of_each_kind
from codeplan.errors import UsageError
from codeplan.llm.prices import unpriced_models
from codeplan.plugins import SettingSpec, load_factory, remove_secrets, setting_specs
from codeplan.protocols import BaseEnvironment, Environment, described_actions
from codeplan.runner import models
from codeplan.runner.settings_files import tightens_budget
from codeplan.runner.setup import EpisodeSetup, require_recordable
from codeplan.types import Task
from codeplan.untrusted.files import read_user_text
from codeplan.untrusted.texts import parser_reason, shell_word
from codeplan.untrusted.toml import parse_toml
from codeplan.untrusted.values import in_quotes
from codeplan.version import VERSION

__all__ = ["NAMED_SUITES", "SuiteDefinition", "resolve_suite", "select_tasks"]


class SuiteDefinition(msgspec.Struct, frozen=True):
    """A split of an environment, or its ``first`` tasks, or the first ``of_each_kind``."""

    env: str
    split: str | None
    first: int | None = None
    of_each_kind: int | None = None


NAMED_SUITES = {
    "alfworld-unseen": SuiteDefinition("alfworld", "valid_unseen"),
    "alfworld-seen": SuiteDefinition("alfworld", "valid_seen"),
    "household-134": SuiteDefinition("household", "test", first=134),
    "miniwob-53": SuiteDefinition("miniwob", "test"),
    "miniwob-feedback": SuiteDefinition("miniwob", "feedback"),
    "hotpotqa-500": SuiteDefinition("hotpotqa", "react-500"),
    "hotpotqa-200": SuiteDefinition("hotpotqa", "dev", first=200),
    "scienceworld-test": SuiteDefinition("scienceworld", "test"),
    "scienceworld-271": SuiteDefinition("scienceworld", "test", of_each_kind=10),
    "webshop-100": SuiteDefinition("webshop", "test", first=100),
}
"""The suites by name."""


def resolve_suite(suite: str) -> SuiteDefinition:
    """Return the suite with this name; for an environment's name, one with an open split (None).

    Raises: UsageError for an unknown name.
    """
    if suite in NAMED_SUITES:
        return NAMED_SUITES[suite]
    every = (*NAMED_SUITES, *envs.names())
    if suite not in every:
        raise UsageError(f"there is no suite or environment {in_quotes(suite)}; {plugins.suggest_names(suite, every)}")
    return SuiteDefinition(suite, None)


def select_tasks(
    suite: str, env: BaseEnvironment, *, split: str | None = None, kind: str | None = None, n: int | None = None
) -> tuple[Task, ...]:
    """Return a suite's tasks in this environment, always the same: those of ``kind``, at most ``n`` of each kind.

    ``split`` is for suites without a split of their own. Raises: UsageError if there is no such task or split, if
    two of the tasks have the same id, or if no trace could hold one of them.
    """
    named = resolve_suite(suite)
    if named.split and split:
        raise UsageError(f"the suite {suite} is the split {named.split} of {env.name}; leave the split out")
    there = envs.splits(env)
    wanted = named.split or split or there[0]
    if wanted not in there:
        raise UsageError(f"{env.name} has no split {wanted} here; there are: {', '.join(there)}")
    every = take_of_each_kind(envs.tasks_of(env, wanted)[: named.first], named.of_each_kind)
    found = take_of_each_kind([task for task in every if kind in (None, task.kind)], n)
    if not found:
        of_kind = f" of kind {kind}" if kind else ""
        has = ", ".join(dict.fromkeys(task.kind for task in every)) or "no tasks at all"
        raise UsageError(f"{env.name} has no task{of_kind} in its split {wanted}; that split has: {has}")
    for task in found:
        require_recordable(task, env.name)
    if twice := [id for id, count in Counter(task.id for task in found).items() if count > 1]:
        which = f"the id {in_quotes(twice[0])} in its split {wanted}"
        raise UsageError(f"{env.name} has several tasks with {which}; give each an id of its own")
    return tuple(found)


MAX_SPEC_BYTES = 1_000_000
"""A larger file is not read."""

MAX_COMBINATIONS = 1_000
"""Maximum number of combinations of suite, method, model and settings. Each is tried on before the bench starts."""

SpecEntry = str | dict[str, Any]
"""A name, or a table of ``name`` and settings; ``label`` replaces them in the cell's name."""


class BenchSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A bench as requested: every combination of ``suites``, ``methods``, ``models`` and ``settings``.

    ``common`` applies to all cells. All other settings override it, and it is in no cell's name. ``budget`` is for
    each episode. ``split``, ``kind`` and ``n`` select tasks as in ``select_tasks``. With ``tool_tasks``,
    the suites are theirs. With ``learn``, each method first learns plans, and one
    cell follows each plan.
    Raises: UsageError for an empty list, too many combinations, or a number below 1.
    """

    suites: tuple[str, ...]
    methods: tuple[SpecEntry, ...] = ("adaplanner",)
    models: tuple[SpecEntry, ...] = ("scripted",)
    settings: tuple[dict[str, Any], ...] = ({},)
    common: dict[str, Any] = {}
    repeats: int = 1
    split: str | None = None
    kind: str | None = None
    n: int | None = None
    budget: Budget = Budget()
    tool_tasks: TasksOnTools | None = None
    learn: TrainingGrid | None = None

    def __post_init__(self) -> None:
        for name in ("suites", "methods", "models", "settings"):
            if not getattr(self, name):
                raise UsageError(f"a bench without {name} has nothing to run; name at least one")
        count = math.prod(map(len, (self.suites, self.methods, self.models, self.settings)))
        if count > MAX_COMBINATIONS:
            what = "combinations of suite, method, model and settings"
            raise UsageError(f"a bench has at most {MAX_COMBINATIONS:,} {what}, not {count:,}; make several benches")
        for name in ("repeats", "n"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise UsageError(f"{name} is {number}; it must be at least 1")
        if self.learn and self.tool_tasks:
            raise UsageError("tasks on tools have no training tasks; leave the table learn out")


class ResolvedBench(msgspec.Struct, frozen=True):
    """A bench that can start: the grid, each cell's settings by name (including secrets), and the models without a
    price. ``trainings`` run first; the cells then follow their plans.
    """

    grid: BenchGrid
    settings: dict[str, dict[str, Any]]
    unpriced_models: tuple[str, ...] = ()
    trainings: tuple[TrainingJob, ...] = ()


def read_spec(path: Path, is_trusted: Callable[[str], bool] = lambda sha256: True) -> BenchSpec:
    """Read a TOML file.

    ``is_trusted`` says whether the user trusts the file with this SHA-256. It is asked only if the file sets what
    ``untrusted_settings`` finds. Raises: UsageError if the file cannot be read, is invalid, or is not trusted.
    """
    try:
        text = read_user_text(path, MAX_SPEC_BYTES)
        spec = _build_spec(parse_toml(text), path)
    except OSError as e:
        raise UsageError(f"{path} cannot be read: {e.strerror}") from None
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as e:
        raise UsageError(f"{path} does not describe a bench: {parser_reason(e)}") from None
    except UsageError as e:
        raise UsageError(f"{path}: {e}") from None
    if (names := untrusted_settings(spec)) and not is_trusted(hashlib.sha256(text.encode()).hexdigest()):
        raise UsageError(
            f"{path} sets what only a file that you trust may set: {', '.join(names)}; "
            f"look at it, then run: codeplan trust {shell_word(path)}"
        )
    return spec


def _build_spec(table: dict[str, Any], path: Path) -> BenchSpec:
    if "tool_tasks" in table:
        raise UsageError("there is no setting tool_tasks; tasks on tools stand under [[tasks]]")
    if "tasks" not in table:
        return msgspec.convert(table, BenchSpec)
    if "suites" in table:
        raise UsageError("a file has either suites or tasks of its own, not both")
    tasks, rest = take_tool_tasks(table, path.resolve().parent)
    spec = msgspec.convert({**rest, "suites": [path.stem]}, BenchSpec)
    return msgspec.structs.replace(spec, tool_tasks=tasks)


def untrusted_settings(spec: BenchSpec) -> dict[str, Any]:
    """The names of the settings in a bench's file that need the user's trust: models other than the stand-in, settings
    that are not safe, a budget looser than the default, and what tasks on tools reach.
    """
    of_tasks = spec.tool_tasks.needs_trust if spec.tool_tasks else {}
    return {**of_tasks, **_untrusted_of_grid(spec)}


def _untrusted_of_grid(spec: BenchSpec) -> dict[str, Any]:
    models_used = [_split_entry(entry, "model")[0] for entry in spec.models]
    found: dict[str, Any] = {"models": models_used} if {*models_used} != {"scripted"} else {}
    found |= {"suites": [*spec.suites]} if any(map(_is_file, spec.suites)) else {}
    declared = _declared_settings(spec, models_used)
    entries = [_split_entry(entry, what)[2] for what in ("method", "model") for entry in getattr(spec, f"{what}s")]
    of_trainings = (spec.learn.settings,) if spec.learn else ()
    for table in (spec.common, *spec.settings, *entries, *of_trainings):
        found |= {n: v for n, v in table.items() if not all(s.allows_foreign(v) for s in declared.get(n, ()))}
    limits = {f: getattr(spec.budget, f) for f in Budget.__struct_fields__}
    return found | {f"budget.{limit}": value for limit, value in limits.items() if not tightens_budget(limit, value)}


def _declared_settings(spec: BenchSpec, models_used: list[str]) -> dict[str, list[SettingSpec]]:
    """The declarations of all settings that the bench's environments, methods and models take, by name."""
    of_package = [suite for suite in spec.suites if not _is_file(suite)]
    envs = () if spec.tool_tasks else {resolve_suite(suite).env for suite in of_package}
    methods = {_split_entry(entry, "method")[0] for entry in spec.methods}
    factories = [load_factory("codeplan.envs", env) for env in envs]
    factories += [load_factory("codeplan.methods", method) for method in methods]
    found: dict[str, list[SettingSpec]] = {}
    of_models = (setting for model in {*models_used} for setting in models.setting_specs(model))
    for setting in itertools.chain(*map(setting_specs, factories), of_models):
        found.setdefault(setting.name, []).append(setting)
    return found


def _is_file(name: str) -> bool:
    """Whether an entry of a grid is ``FILE.py:NAME``: code, which only a file that the user trusts may name."""
    return ".py:" in name


def resolve_bench(
    spec: BenchSpec,
    model_settings: Callable[[str], dict[str, Any]] = lambda model: {},
    *,
    offline: bool = False,
    environments: Mapping[str, Environment] | None = None,
) -> ResolvedBench:
    """Return the grid of a spec, after creating each cell's environment, method and model once.

    ``environments`` are objects that replace the environments with their names. ``model_settings`` returns a model's
    configured settings; all other settings override them. ``offline`` is for playing from a tape: no model is called,
    and none needs a key. Raises: UsageError if a cell cannot be created.
    """
    if spec.tool_tasks and "scripted" in [_split_entry(model, "model")[0] for model in spec.models]:
        raise UsageError(
            "the scripted stand-in knows codeplan's own environments only; name an endpoint's model (--model NAME) "
            "or a function of yours (--model FILE.py:FUNCTION)"
        )
    parts: list[ResolvedBench] = []
    for suite, method, model, more in itertools.product(spec.suites, spec.methods, spec.models, spec.settings):
        names, settings = _combine_settings(suite, method, model, more)
        settings = {**model_settings(names.model), **spec.common, **settings}
        cell, tasks, unpriced = _resolve_cell(names, settings, spec, offline, environments or {})
        jobs = resolve_trainings(spec.learn, cell, spec.kind, settings, offline=offline) if spec.learn else []
        plans = [plan for job in jobs for plan in job.plans()]
        learnt = [msgspec.structs.replace(cell, name=plan.name, learnt=plan) for plan in plans]
        grid = BenchGrid(tuple(learnt) if spec.learn else (cell,), {suite: tasks}, spec.repeats, VERSION)
        parts.append(ResolvedBench(grid, {one.name: settings for one in grid.cells}, unpriced, tuple(jobs)))
    return merge_benches(parts)


def merge_benches(parts: Sequence[ResolvedBench]) -> ResolvedBench:
    """One bench with all cells. Raises: UsageError: two cells have one name, or a suite has different tasks."""
    tasks: dict[str, tuple[Task, ...]] = {}
    for part in parts:
        for suite, of_suite in part.grid.tasks.items():
            if tasks.setdefault(suite, of_suite) != of_suite:
                raise UsageError(f"the cells of this bench have different tasks of {suite}; give them the same data")
    cells = tuple(cell for part in parts for cell in part.grid.cells)
    if twice := next((name for name, count in Counter(cell.name for cell in cells).items() if count > 1), None):
        raise UsageError(f"two cells of this bench are called {twice}; give one of them a label")
    return ResolvedBench(
        msgspec.structs.replace(parts[0].grid, cells=cells, tasks=tasks),
        {name: settings for part in parts for name, settings in part.settings.items()},
        tuple(dict.fromkeys(name for part in parts for name in part.unpriced_models)),
        tuple(job for part in parts for job in part.trainings),
    )


class _Names(msgspec.Struct, frozen=True):
    cell: str
    suite: str
    method: str
    model: str


def _combine_settings(
    suite: str, method: SpecEntry, model: SpecEntry, more: dict[str, Any]
) -> tuple[_Names, dict[str, Any]]:
    """A cell's names and settings; the settings of a method or model override those for all."""
    method_name, method_label, of_method = _split_entry(method, "method")
    model_name, model_label, of_model = _split_entry(model, "model")
    _, label, of_all = _split_entry({"name": "", **more}, "settings")
    cell = ".".join(part for part in (suite, method_label, model_label, label) if part)
    return _Names(cell, suite, method_name, model_name), {**of_all, **of_model, **of_method}


def _split_entry(entry: SpecEntry, what: str) -> tuple[str, str, dict[str, Any]]:
    """Name, label and settings of an entry; the default label consists of name and settings."""
    if isinstance(entry, str):
        return entry, entry, {}
    settings = dict(entry)
    name, label = settings.pop("name", None), settings.pop("label", None)
    if not isinstance(name, str) or not isinstance(label, str | None):
        raise UsageError(f"the {what} {in_quotes(entry)} has no name; write it as {{name = 'NAME', …}}")
    shown = [f"{n}={_format_setting(v)}" for n, v in remove_secrets(settings).items() if n not in _OMITTED_SETTINGS]
    return name, label or ",".join([name, *shown] if name else shown), settings


_OMITTED_SETTINGS = frozenset({"base_url", "extra_body", "data", "reply_cache"})
"""Settings that appear in no cell's name: addresses, paths, and settings that may hold a secret."""


def _format_setting(value: object) -> str:
    if isinstance(value, dict):
        return str(value.get("name", "")) + "".join(
            f"({n}={_format_setting(v)})" for n, v in value.items() if n != "name"
        )
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _resolve_cell(
    names: _Names, settings: dict[str, Any], spec: BenchSpec, offline: bool, environments: Mapping[str, Environment]
) -> tuple[BenchCell, tuple[Task, ...], tuple[str, ...]]:
    """The cell, its suite's tasks and its models without a price, after creating environment, method and model."""
    env, select = _suite(names.suite, spec)
    own = environments.get(env, env) if isinstance(env, str) else env
    with EpisodeSetup(own, names.method, names.model, settings, offline=offline) as setup:
        tasks = select(setup.env)
        header = setup.header(tasks[0], spec.budget)
        space = described_actions(setup.env)
        if not offline:
            setup.require_known_world(tasks)
    prefixes = space.no_effect_prefixes if space is not None and not spec.tool_tasks else None
    plain = msgspec.json.decode(msgspec.json.encode(header.settings))
    env_name = env if isinstance(env, str) else env.name
    cell = BenchCell(names.cell, names.suite, env_name, names.method, names.model, plain, spec.budget, prefixes)
    return cell, tasks, unpriced_models(header.model, header.model_settings)


def _suite(suite: str, spec: BenchSpec) -> tuple[str | BaseEnvironment, Callable[[BaseEnvironment], tuple[Task, ...]]]:
    """A suite's environment, and the selection of its tasks there."""
    if tool_tasks := spec.tool_tasks:
        return tool_tasks.example(), lambda env: tool_tasks.select(spec.kind, spec.n, suite)
    split, kind, n = spec.split, spec.kind, spec.n
    return resolve_suite(suite).env, lambda env: select_tasks(suite, env, split=split, kind=kind, n=n)
