"""What is to be played: cells and tasks, from flags or from a file, checked before anything begins.

A file is TOML; every suite is played by every method with every model and every table of settings:

    suites = ["alfworld-unseen", "textcraft"]
    methods = ["adaplanner", {name = "adapt", executor = {name = "react"}}]
    models = ["scripted", {name = "gpt-4o-mini", temperature = 0.0}]
    settings = [{}, {resume_by = "model"}]
    repeats = 3
    n = 10                    # at most so many tasks of each kind
    [common]                  # settings of all
    timeout = 60
    [budget]                  # of each episode
    actions = 50
"""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from codeplan.bench import named_suites
from codeplan.bench.store import BenchCell, BenchGrid
from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.recording.redaction import remove_secrets
from codeplan.runner.setup import EpisodeSetup
from codeplan.types.task import Task
from codeplan.version import VERSION

SpecEntry = str | dict[str, Any]
"""A name, or a table of ``name`` and settings; ``label`` is what the cell's name calls it."""


class BenchSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A bench as a person asks for it: every combination of ``suites``, ``methods``, ``models`` and ``settings``.

    ``common`` are settings of all cells, which go behind all others and into no name. ``budget`` is each episode's.
    ``split``, ``kind`` and ``n`` choose among each suite's tasks, as ``suites.chosen`` says.
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

    def __post_init__(self) -> None:
        for name in ("suites", "methods", "models", "settings"):
            if not getattr(self, name):
                raise UsageError(f"a bench with no {name} plays nothing; name at least one")
        for name in ("repeats", "n"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise UsageError(f"{name} is {number}; it must be at least 1")


class ResolvedBench(msgspec.Struct, frozen=True):
    """A bench that can begin: the grid, and each cell's settings by its name, secrets included."""

    grid: BenchGrid
    settings: dict[str, dict[str, Any]]


def read_spec(path: Path) -> BenchSpec:
    """What a TOML file asks for. Raises UsageError where it cannot be read, or asks for what there is not."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text()), BenchSpec)
    except OSError as e:
        raise UsageError(f"{path} cannot be read: {e.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as e:
        raise UsageError(f"{path} is no bench: {e}") from None
    except UsageError as e:
        raise UsageError(f"{path}: {e}") from None


def resolve_bench(
    spec: BenchSpec, model_settings: Callable[[str], dict[str, Any]] = lambda model: {}, *, offline: bool = False
) -> ResolvedBench:
    """The grid that was asked for, each cell tried on: its environment, method and model can be made.

    ``found`` gives the settings that were found elsewhere for a model, by its name; all others go before them.
    ``silent`` is for what plays from a tape: no model is asked, and none needs a key. Raises UsageError for whatever
    there is not.
    """
    cells: dict[str, BenchCell] = {}
    given: dict[str, dict[str, Any]] = {}
    tasks: dict[str, tuple[Task, ...]] = {}
    for suite, method, model, more in itertools.product(spec.suites, spec.methods, spec.models, spec.settings):
        names, settings = _combine_settings(suite, method, model, more)
        settings = {**model_settings(names.model), **spec.common, **settings}
        cell, there = _resolve_cell(names, settings, spec, offline)
        if cell.name in cells:
            raise UsageError(f"two cells of this bench are both called {cell.name}; give one of them a label")
        cells[cell.name], given[cell.name] = cell, settings
        if tasks.setdefault(suite, there) != there:
            raise UsageError(f"the cells of this bench have different tasks of {suite}; give them the same data")
    return ResolvedBench(BenchGrid(tuple(cells.values()), tasks, spec.repeats, VERSION), given)


class _Names(msgspec.Struct, frozen=True):
    cell: str
    suite: str
    method: str
    model: str


def _combine_settings(
    suite: str, method: SpecEntry, model: SpecEntry, more: dict[str, Any]
) -> tuple[_Names, dict[str, Any]]:
    """A cell's names and settings; what a table says goes before what the settings say to all."""
    method_name, method_label, of_method = _split_entry(method, "method")
    model_name, model_label, of_model = _split_entry(model, "model")
    _, label, of_all = _split_entry({"name": "", **more}, "settings")
    cell = ".".join(part for part in (suite, method_label, model_label, label) if part)
    return _Names(cell, suite, method_name, model_name), {**of_all, **of_model, **of_method}


def _split_entry(entry: SpecEntry, what: str) -> tuple[str, str, dict[str, Any]]:
    """Name, label and settings of an entry; the label is made of name and settings where none is given."""
    if isinstance(entry, str):
        return entry, entry, {}
    settings = dict(entry)
    name, label = settings.pop("name", None), settings.pop("label", None)
    if not isinstance(name, str) or not isinstance(label, str | None):
        raise UsageError(f"the {what} {entry} has no name; write it as {{name = 'NAME', …}}")
    told = [f"{n}={_format_setting(v)}" for n, v in remove_secrets(settings).items() if n not in _OMITTED_SETTINGS]
    return name, label or ",".join([name, *told] if name else told), settings


_OMITTED_SETTINGS = frozenset({"base_url", "extra_body", "data"})
"""Settings that do not belong into a name: addresses, paths, what may hold a secret."""


def _format_setting(value: object) -> str:
    if isinstance(value, dict):
        return str(value.get("name", "")) + "".join(
            f"({n}={_format_setting(v)})" for n, v in value.items() if n != "name"
        )
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _resolve_cell(
    names: _Names, settings: dict[str, Any], asked: BenchSpec, silent: bool
) -> tuple[BenchCell, tuple[Task, ...]]:
    """The cell, once everybody in it was made, and its suite's tasks."""
    env = named_suites.resolve_suite(names.suite).env
    with EpisodeSetup(env, names.method, names.model, settings, offline=silent) as cast:
        tasks = named_suites.select_tasks(names.suite, cast.env, split=asked.split, kind=asked.kind, n=asked.n)
        header = cast.header(tasks[0], asked.budget)
        space = getattr(cast.env, "space", None)
    futile = space.no_effect_prefixes if space is not None else None
    plain = msgspec.json.decode(msgspec.json.encode(header.settings))
    return BenchCell(names.cell, names.suite, env, names.method, names.model, plain, asked.budget, futile), tasks
