"""Papers' experiments on the terminal: the list, one with its settings, and its tables with a bench's figures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from codeplan.bench.paper_bench import build_paper_tables, row_notes
from codeplan.bench.papers import ExperimentPart, PaperExperiment, PublishedTable, not_run, paper_titles
from codeplan.bench.store import BenchRecord
from codeplan.bench.tables import format_number
from codeplan.cli.bench_table import bench_table_text
from codeplan.cli.text_tables import terminal_width
from codeplan.untrusted.console import print_wrapped
from codeplan.untrusted.texts import one_line, shell_word, with_count
from codeplan.untrusted.values import in_quotes

_WIDTH = 80
"""The columns of lists that are written to no terminal."""


def list_experiments(experiments: Sequence[PaperExperiment]) -> Iterator[str]:
    """The lines of the list: a paper's title, then its experiments, as wide as the terminal."""
    paper = ""
    for experiment in experiments:
        if experiment.published[0].paper != paper:
            paper = experiment.published[0].paper
            yield from textwrap.wrap(paper_titles()[paper], _width())
        environments = dict.fromkeys(f"{t.environment} {t.tasks}" for t in experiment.published)
        yield from _wrapped(f"  {experiment.id:24} ", f"{', '.join(environments)}: {experiment.title}")
        yield from _wrapped(" " * 27, state_of(experiment))
    yield "Play one with: codeplan bench paper:ID --model NAME"


def state_of(experiment: PaperExperiment) -> str:
    """Whether an experiment can be played here, and what it needs."""
    if experiment.cannot:
        return f"not played: {experiment.cannot}"
    needs = dict.fromkeys(part.data for part in experiment.parts if part.data)
    rows = [row for part in experiment.parts for row in part.rows]
    cells, idle = sum(row.cells for row in rows), sum(row.cells for row in rows if row.cannot)
    trainings = sum(row.trainings for row in rows)
    return "; ".join(
        [f"played: {cells - idle} of {with_count(cells, 'cell')}" if idle else f"played: {with_count(cells, 'cell')}"]
        + ([f"first {with_count(trainings, 'training')}"] if trainings else [])
        + [f"needs {need}" for need in needs]
    )


def describe_experiment(experiment: PaperExperiment) -> Iterator[str]:
    """The lines about one experiment: its cells with their settings, the published figures, the caveats."""
    yield from _wrapped("", f"{experiment.id}: {experiment.title}")
    yield from textwrap.wrap(paper_titles()[experiment.published[0].paper], _width())
    yield from _wrapped("", state_of(experiment))
    for part in experiment.parts:
        yield from ("", *_describe_part(part))
    for table in experiment.published:
        yield from ("", *_describe_published(table))
    yield from _bullets("Caveats", experiment.caveats)
    if not experiment.cannot:
        yield from ("", f"Play it with: codeplan bench paper:{experiment.id} --model NAME")


def _describe_part(part: ExperimentPart) -> Iterator[str]:
    selection = {"split": part.split, "kind": part.kind, "at most of each kind": part.n}
    chosen = [f"{what} {value}" for what, value in selection.items() if value is not None]
    yield f"Suite {', '.join([part.suite, *chosen])}"
    budget = {f: value for f in part.budget.__struct_fields__ if (value := getattr(part.budget, f)) is not None}
    tables = {"all cells": part.settings, "the model": part.model_settings, "budget of an episode": budget}
    for what, settings in tables.items():
        if settings:
            yield from _wrapped(f"  {what}: ", setting_list(settings))
    for row in part.rows:
        said = f"not played: {row.cannot}" if row.cannot else f"{row.method} {setting_list(row.settings)}".strip()
        second = {"executor": " (executor: --executor-model)", "all": " (model: --executor-model)"}
        yield from _wrapped(f"  {row.name:24} ", said + second.get(row.second_model, ""))
        if row.learn:
            learn = msgspec.json.decode(msgspec.json.encode(row.learn))
            yield from _wrapped(" " * 27, f"trained first: {setting_list(learn)}")
        yield from (line for what in row.missing for line in _wrapped(" " * 27, f"no setting yet: {what}"))
        yield from (line for caveat in row.caveats for line in _wrapped(" " * 27, caveat))
    yield from _bullets("No setting yet", part.missing)
    yield from _bullets("Caveats", part.caveats)
    left_out = dict.fromkeys(note for table in part.published for note in row_notes(table, part))
    yield from _bullets("Rows that are not played", [note for note in left_out if "is not played" not in note])


def _describe_published(table: PublishedTable) -> Iterator[str]:
    yield from _wrapped(
        "", f"{table.cited}: {table.title}. {table.metric} in {table.unit}, {with_count(table.tasks, 'task')}"
    )
    if reason := not_run().metrics.get(table.metric):
        yield from _wrapped("  ", f"not measured: {reason}")
    for row in table.rows:
        overall = format_number(row.overall if row.overall is not None else row.overall_computed)
        kinds = ", ".join(f"{kind} {value:g}" for kind, value in row.kinds.items())
        yield from _wrapped(f"  {overall:>8}  ", f"{row.name} with {row.model}{': ' if kinds else ''}{kinds}")
        yield from (line for note in [row.note] if note for line in _wrapped(" " * 12, note))
    yield from _bullets("Notes", table.notes)


def setting_list(settings: dict[str, Any]) -> str:
    """Settings as NAME=VALUE, with a nested table in brackets."""
    return ", ".join(
        f"{name}=({setting_list(value)})" if isinstance(value, dict) else f"{name}={_plain(value)}"
        for name, value in settings.items()
    )


def _plain(value: object) -> str:
    return value if isinstance(value, str) else in_quotes(value)


def _bullets(title: str, sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield f"{title}:"
        yield from (line for sentence in sentences for line in _wrapped("- ", sentence, "  "))


def _wrapped(first: str, text: str, indent: str | None = None) -> list[str]:
    further = " " * len(first) if indent is None else indent
    return textwrap.wrap(text, _width(), initial_indent=first, subsequent_indent=further, break_on_hyphens=False)


def _width() -> int:
    return max(terminal_width() or _WIDTH, 40)


def print_experiment(console: Console, experiment: PaperExperiment, bench: BenchRecord, folder: Path | None) -> None:
    """Print the experiment's tables: the published rows, and below each what the bench measured."""
    for table in build_paper_tables(experiment, bench):
        console.print(f"{bench_table_text(table, terminal_width())}\n", soft_wrap=True)
    if folder:
        print_wrapped(console, Text(one_line(f"Statistics and tests: codeplan compare {shell_word(folder)}", 1000)))
        print_wrapped(console, Text(one_line(f"Traces and results: {folder}", 1000)))
