"""Compares the papers' settings with the presets'. They are in ``bench/presets/paper_settings.toml``.

    [[setting]]
    paper = "adapt"
    environment = "alfworld"      # whose cells have it; empty for all
    methods = ["adapt"]           # likewise
    what = "calls of an executor in a sub-task"
    place = "Appendix A; code"
    says = "20 iterations, one of them without a call"    # the paper's value in words
    setting = "executor.calls"    # ours: of the method, environment or model, dotted inside a table; or n, budget.NAME,
                                  # learn.NAME
    value = 19                    # what the setting is if it is the paper's
    why = ""                      # why ours differs, where it does; or what it is here, without a setting

The compared value is the preset's, or else the default. A test requires a ``why`` for each setting that differs.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from codeplan.bench.papers.presets import ExperimentPart, ExperimentRow, PaperExperiment, paper_experiments
from codeplan.plugins import load_factory, setting_specs
from codeplan.types import Value
from codeplan.untrusted.values import in_quotes


class PaperSetting(Value, frozen=True, forbid_unknown_fields=True):
    """A setting as a paper or its code has it; see the module's text. ``setting`` is empty if codeplan has none."""

    paper: str
    what: str
    says: str
    place: str
    environment: str = ""
    methods: tuple[str, ...] = ()
    experiments: tuple[str, ...] = ()
    setting: str = ""
    value: Any = None
    why: str = ""


class ComparedSetting(Value, frozen=True):
    """A paper's setting and ours: each value with the cells that have it, as ``experiment: row``."""

    paper: PaperSetting
    ours: tuple[tuple[Any, tuple[str, ...]], ...]

    @property
    def agrees(self) -> bool:
        """Whether every cell has the paper's value."""
        return bool(self.paper.setting) and [value for value, _ in self.ours] == [self.paper.value]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    setting: tuple[PaperSetting, ...]


@cache
def paper_settings() -> tuple[PaperSetting, ...]:
    """All settings, in the file's order."""
    text = files("codeplan.bench").joinpath("presets", "paper_settings.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_File).setting


def compare_setting(setting: PaperSetting) -> ComparedSetting:
    """The setting beside the values of all cells that the presets play of its paper, environment and methods."""
    found: dict[str, tuple[Any, list[str]]] = {}
    for experiment, part, row in _cells(setting):
        value = _value(setting.setting, part, row) if setting.setting else None
        found.setdefault(in_quotes(value), (value, []))[1].append(f"{experiment.id}: {row.name}")
    ours = tuple((value, tuple(cells)) for value, cells in found.values()) if setting.setting else ()
    return ComparedSetting(setting, ours)


def _cells(setting: PaperSetting) -> list[tuple[PaperExperiment, ExperimentPart, ExperimentRow]]:
    return [
        (experiment, part, row)
        for experiment in paper_experiments()
        if experiment.parts and experiment.published[0].paper == setting.paper
        if not setting.experiments or experiment.id in setting.experiments
        for part in experiment.parts
        if setting.environment in ("", part.published[0].environment)
        for row in part.rows
        if not row.cannot and (not setting.methods or row.method in setting.methods)
    ]


def _value(name: str, part: ExperimentPart, row: ExperimentRow) -> Any:
    """The value in a cell: the row's, the part's, or the default of what takes it."""
    first, *inner = name.split(".")
    if first in ("n", "split"):
        return getattr(part, first)
    if first == "budget":
        return getattr(part.budget, inner[0])
    if first == "learn":
        return _of_trainings(inner, row)
    given = {**part.model_settings, **part.settings, **row.settings}
    value = given.get(first, _default(first, part, row))
    for key in inner:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _of_trainings(names: list[str], row: ExperimentRow) -> Any:
    """A value of the row's grid of trainings, or one of its settings; None if the row is not trained."""
    value = msgspec.json.decode(msgspec.json.encode(row.learn)) if row.learn else {}
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _default(name: str, part: ExperimentPart, row: ExperimentRow) -> Any:
    factories = (
        load_factory("codeplan.methods", row.method),
        load_factory("codeplan.envs", part.published[0].environment),
    )
    return next((s.default for factory in factories for s in setting_specs(factory) if s.name == name), None)
