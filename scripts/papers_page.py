"""Writes docs/papers.md: what the presets set beside what the papers say, and what cannot be run.

python scripts/papers_page.py          # after each change of a preset; a test requires that the page is up to date

The papers' settings are in ``scripts/paper_settings.toml``:

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

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from codeplan.bench.papers import (
    ExperimentPart,
    ExperimentRow,
    PaperExperiment,
    not_run,
    paper_experiments,
    paper_titles,
)
from codeplan.bench.tables import BenchTable, format_markdown
from codeplan.plugins import load_factory, setting_specs
from codeplan.types import Value
from codeplan.untrusted.values import in_quotes

PAGE = Path(__file__).resolve().parent.parent / "docs" / "papers.md"

_INTRODUCTION = """\
# The papers' settings, and ours
<!-- Made by scripts/papers_page.py from codeplan/bench/presets and scripts/paper_settings.toml; do not edit. -->

`codeplan papers` lists the experiments of three papers, `codeplan bench paper:ID` plays one
([bench.md](bench.md#the-papers-experiments)). This page says how near the presets come to the papers' settings, what
they still lack, and what no bench can play. *Code*: the authors' repository says it, not the paper.
"""


def page() -> str:
    """The page's text."""
    parts = [_INTRODUCTION]
    for paper, title in paper_titles().items():
        found = [compare_setting(s) for s in paper_settings() if s.paper == paper]
        parts.append(f"## {_SHORT[paper]}\n{title}.\n")
        parts.append(
            _table(
                ("cells", "setting", "the paper", "where", "here", "why not, or what else"), map(_setting_row, found)
            )
        )
        if missing := list(_missing(paper)):
            parts.append(f"{_SHORT[paper]}'s set-up has what codeplan has no setting for yet:\n")
            parts.append(_table(("experiment", "cells", "missing"), missing))
    parts += ["## What cannot be run\nAll other rows of the papers' tables have a cell.\n"]
    parts.append(_table(("what", "why"), _not_run()))
    return "\n".join(parts)


_SHORT = {"adaplanner": "AdaPlanner", "adapt": "ADaPT", "autoplan": "AutoPlan"}


def _setting_row(found: ComparedSetting) -> tuple[str, ...]:
    setting = found.paper
    where = ", ".join(filter(None, (setting.environment, *setting.methods))) or "all"
    return where, setting.what, setting.says, setting.place, _ours(found), setting.why


def _ours(found: ComparedSetting) -> str:
    """The value of all cells, or each value with the experiments that have it."""
    name = found.paper.setting
    if not name:
        return ""
    if len(found.ours) == 1:
        return f"`{name}={_plain(found.ours[0][0])}`"
    return "; ".join(
        f"`{name}={_plain(value)}` ({', '.join(dict.fromkeys(cell.partition(':')[0] for cell in cells))})"
        for value, cells in found.ours
    )


def _plain(value: Any) -> str:
    if value is None:
        return "not set"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _missing(paper: str) -> Iterator[tuple[str, ...]]:
    for experiment in _experiments(paper):
        for part in experiment.parts:
            yield from ((experiment.id, f"all on {part.suite}", what) for what in part.missing)
            yield from ((experiment.id, row.name, what) for row in part.rows for what in row.missing)


def _experiments(paper: str) -> list[PaperExperiment]:
    return [e for e in paper_experiments() if e.published[0].paper == paper]


def _not_run() -> Iterator[tuple[str, ...]]:
    listed = not_run()
    yield from ((f"the experiment {name}", reason) for name, reason in listed.experiments.items())
    yield from ((f"rows of {name}", reason) for name, reason in listed.methods.items())
    yield from ((f"the measure {name}", reason) for name, reason in listed.metrics.items())
    for experiment in paper_experiments():
        for part in experiment.parts:
            yield from ((f"{experiment.id}: {row.name}", row.cannot) for row in part.rows if row.cannot)


def _table(columns: tuple[str, ...], rows: Any) -> str:
    text = format_markdown(BenchTable("", columns, tuple(rows)))
    lines = text.splitlines()[2:]  # without a title
    return "\n".join([lines[0], f"|{'---|' * len(columns)}", *lines[2:], ""])


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


class _SettingsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    setting: tuple[PaperSetting, ...]


@cache
def paper_settings() -> tuple[PaperSetting, ...]:
    """All settings, in the file's order."""
    text = Path(__file__).with_name("paper_settings.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_SettingsFile).setting


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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
