"""Writes docs/papers.md: what the presets set beside what the papers say, and what cannot be run.

python scripts/papers_page.py          # after each change of a preset; a test requires that the page is up to date
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codeplan.bench.papers import (
    ComparedSetting,
    PaperExperiment,
    compare_setting,
    not_run,
    paper_experiments,
    paper_settings,
    paper_titles,
)
from codeplan.bench.tables import BenchTable, format_markdown

PAGE = Path(__file__).resolve().parent.parent / "docs" / "papers.md"

_INTRODUCTION = """\
# The papers' settings, and ours
<!-- Made by scripts/papers_page.py from codeplan/bench/presets; do not edit. -->

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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
