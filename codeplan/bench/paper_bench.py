"""A paper's experiment as a bench: each row of its preset is a cell, in the paper's order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from codeplan.bench import named_suites
from codeplan.bench.bench_spec import BenchSpec, ResolvedBench, resolve_bench
from codeplan.bench.grid import BenchGrid
from codeplan.bench.papers.presets import ExperimentPart, ExperimentRow, PaperExperiment
from codeplan.bench.trainings import TrainingGrid
from codeplan.errors import UsageError
from codeplan.plugins import load_factory, setting_names
from codeplan.runner import models
from codeplan.version import VERSION

PAPER_PREFIX = "paper:"
"""The prefix of an experiment's id, where ``bench`` takes a suite."""


class ExperimentChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What the user decides about an experiment's bench.

    ``settings`` go to each cell whose environment, method or model accepts them, and override the preset's. ``n``,
    ``kind`` and ``trainings`` replace the preset's; None keeps these. ``second_model`` plays the rows of a second
    model; None leaves these rows out.
    """

    model: str
    second_model: str | None = None
    settings: Mapping[str, Any] = {}
    kind: str | None = None
    n: int | None = None
    trainings: int | None = None
    repeats: int = 1


def resolve_experiment(
    experiment: PaperExperiment,
    choice: ExperimentChoice,
    model_settings: Callable[[str], dict[str, Any]] = lambda model: {},
    *,
    offline: bool = False,
) -> ResolvedBench:
    """The bench of an experiment. ``model_settings`` and ``offline`` are as in ``resolve_bench``.

    Raises: UsageError: nothing of the experiment can be played, data is missing, or no cell takes a setting.
    """
    if experiment.cannot:
        raise UsageError(f"{experiment.id} cannot be played: {experiment.cannot}")
    played = list(_played_rows(experiment, choice))
    if not played:
        raise UsageError(f"{experiment.id} has no row that can be played; see: codeplan papers {experiment.id}")
    if choice.trainings and not any(row.learn for _, row in played):
        raise UsageError(f"no row of {experiment.id} is trained; omit --trainings")
    accepted = {name for part, row in played for name in _accepted_settings(part, row, choice)}
    for name in choice.settings:
        if name not in accepted:
            raise UsageError(
                f"no row of {experiment.id} takes the setting {name}; see: codeplan papers {experiment.id}"
            )
    return _merge(
        [resolve_bench(_row_spec(part, row, choice), model_settings, offline=offline) for part, row in played],
        choice.repeats,
    )


def _played_rows(
    experiment: PaperExperiment, choice: ExperimentChoice
) -> Iterator[tuple[ExperimentPart, ExperimentRow]]:
    for part in experiment.parts:
        for row in part.rows:
            if not row.cannot and (choice.second_model or not row.second_model):
                yield part, row


def _accepted_settings(part: ExperimentPart, row: ExperimentRow, choice: ExperimentChoice) -> set[str]:
    """The settings that the row's environment, method or model takes."""
    env = named_suites.resolve_suite(part.suite).env
    factories = (load_factory("codeplan.envs", env), load_factory("codeplan.methods", row.method))
    return {*models.setting_names(_main_model(row, choice)), *(name for f in factories for name in setting_names(f))}


def _main_model(row: ExperimentRow, choice: ExperimentChoice) -> str:
    return choice.second_model if row.second_model == "all" and choice.second_model else choice.model


def _row_spec(part: ExperimentPart, row: ExperimentRow, choice: ExperimentChoice) -> BenchSpec:
    """A bench of one cell. The user's settings override the row's, and these override the part's."""
    model = _main_model(row, choice)
    accepted = _accepted_settings(part, row, choice)
    given = {name: value for name, value in choice.settings.items() if name in accepted}
    own = {name: value for name, value in part.model_settings.items() if name in models.setting_names(model)}
    if row.second_model == "executor":
        own |= {"executor_model": choice.second_model}
    settings = {**part.settings, **row.settings, **given}
    return BenchSpec(
        suites=(part.suite,),
        methods=({"name": row.method, "label": row.name, **settings},),
        models=({"name": model, "label": model, **own},),
        split=part.split,
        kind=choice.kind or part.kind,
        n=choice.n or part.n,
        repeats=choice.repeats,
        budget=part.budget,
        learn=_trainings(row.learn, model, choice) if row.learn else None,
    )


def _trainings(grid: TrainingGrid, model: str, choice: ExperimentChoice) -> TrainingGrid:
    """The grid with the chosen number of trainings, and with the settings that the model accepts and the user has not
    set.
    """
    taken = {*models.setting_names(model)} - {*choice.settings}
    settings = {name: value for name, value in grid.settings.items() if name in taken}
    return replace(grid, settings=settings, trainings=choice.trainings or grid.trainings)


def _merge(benches: list[ResolvedBench], repeats: int) -> ResolvedBench:
    """One bench with all cells. Raises: UsageError: two cells have one name, or a suite has different tasks."""
    cells = {cell.name: cell for bench in benches for cell in bench.grid.cells}
    if len(cells) < sum(len(bench.grid.cells) for bench in benches):
        raise UsageError("two rows of the experiment have one name; give one of them a label in its preset")
    tasks: dict[str, Any] = {}
    for bench in benches:
        for suite, of_suite in bench.grid.tasks.items():
            if tasks.setdefault(suite, of_suite) != of_suite:
                raise UsageError(f"the rows of the experiment have different tasks of {suite}")
    settings = {name: given for bench in benches for name, given in bench.settings.items()}
    unpriced = dict.fromkeys(name for bench in benches for name in bench.unpriced_models)
    trainings = tuple(job for bench in benches for job in bench.trainings)
    return ResolvedBench(
        BenchGrid(tuple(cells.values()), tasks, repeats, VERSION), settings, tuple(unpriced), trainings
    )
