"""Presets that test_paper_presets does not play: TextCraft, WebShop, HotpotQA and MiniWoB++, end to end to their rows."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import msgspec
import pytest
from support import alfworld_files

from codeplan.bench.bench_runner import run_bench
from codeplan.bench.engines import make_engine
from codeplan.bench.metrics import METRICS
from codeplan.bench.paper_bench import ExperimentChoice, build_paper_tables, resolve_experiment
from codeplan.bench.papers import ExperimentPart, PaperExperiment, not_run, paper_experiments, published_tables
from codeplan.bench.store import BenchRecord, EpisodeOutcome
from codeplan.bench.tables import STAND_IN_MARK, STAND_IN_NOTE, BenchTable
from codeplan.envs.miniwob.browser import find_browser
from codeplan.errors import CodeplanError
from codeplan.types import Task

STEPS = 6
"""Model calls and actions of an episode: enough for a row, and quick."""


def parts_on(environment: str) -> list[tuple[PaperExperiment, ExperimentPart]]:
    """The parts that are played in an environment, each with an experiment of it alone."""
    return [
        (msgspec.structs.replace(experiment, parts=(short(part),)), short(part))
        for experiment in paper_experiments()
        for part in experiment.parts
        if part.published[0].environment == environment and any(not row.cannot for row in part.rows)
    ]


def short(part: ExperimentPart) -> ExperimentPart:
    """The part with episodes of a few steps. Settings stay as they are: the budget ends the episode."""
    budget = msgspec.structs.replace(part.budget, model_calls=STEPS, actions=STEPS)
    return msgspec.structs.replace(part, budget=budget)


def cases(environment: str) -> list[object]:
    return [pytest.param(e, p, id=f"{e.id}-{p.suite}") for e, p in parts_on(environment)]


@cache
def has_browser() -> bool:
    try:
        return bool(find_browser())
    except CodeplanError:
        return False


def play(experiment: PaperExperiment, kind: str | None = None) -> BenchRecord:
    plan = resolve_experiment(experiment, ExperimentChoice(model="scripted", n=1, kind=kind))
    first: dict[str, tuple[Task, ...]] = {suite: tasks[:1] for suite, tasks in plan.grid.tasks.items()}
    plan = msgspec.structs.replace(plan, grid=msgspec.structs.replace(plan.grid, tasks=first))
    return run_bench(plan, make_engine("threads", 2), retries=0).bench


def played_rows(part: ExperimentPart) -> list[str]:
    return [row.name for row in part.rows if not row.cannot and not row.second_model]


def check_rows(experiment: PaperExperiment, part: ExperimentPart, bench: BenchRecord) -> None:
    """Every cell was played, and is a stamped row below the published one of each table that has a metric."""
    names = played_rows(part)
    broken = [e for e in bench.outcomes if e.broken and not is_beyond_the_stand_in(e)]
    assert not [e.result.reason for e in broken]
    assert len(bench.outcomes) == len(names)
    tables = build_paper_tables(experiment, bench)
    assert len(tables) == len(part.tables)
    for table, published in zip(tables, part.published, strict=True):
        check_stamps(table)
        if published.metric not in METRICS:  # such as the judgement of three people: the table says why
            assert any(not_run().metrics[published.metric] in note for note in table.notes)
            continue
        turned = [column.split(",")[0] for column in table.columns if ", here, " in column]
        assert (turned or [row[0] for row in table.rows if row[1].startswith("here")]) == names


def is_beyond_the_stand_in(outcome: EpisodeOutcome) -> bool:
    """Whether the stand-in said itself that it cannot act there: it knows no plans in words for MiniWoB++'s pages.

    Such an episode is broken off and in no figure. The row, its settings and its stamp are tested nonetheless.
    """
    reason = "the scripted model answers prompts about codeplan's own tasks only"
    return outcome.cell == "miniwob-53.text-planner.scripted" and reason in outcome.result.reason


def check_stamps(table: BenchTable) -> None:
    """No line of the stand-in lacks its mark, none of the paper has it, and the note says what it means."""
    marked = STAND_IN_MARK in str((table.columns, table.rows))
    assert marked == (STAND_IN_NOTE in table.notes)
    for name in [*table.columns, *(row[1] for row in table.rows)]:
        if "scripted" in name:
            assert name.endswith(STAND_IN_MARK)
        if name.startswith("paper, "):
            assert STAND_IN_MARK.strip() not in name


@pytest.mark.parametrize(("experiment", "part"), [*cases("textcraft"), *cases("webshop"), *cases("hotpotqa")])
def test_a_preset_is_played_to_its_rows(experiment: PaperExperiment, part: ExperimentPart) -> None:
    bench = play(experiment)
    assert [cell.name for cell in bench.cells] == [f"{part.suite}.{name}.scripted" for name in played_rows(part)]
    check_rows(experiment, part, bench)


@pytest.mark.skipif(not has_browser(), reason="there is no Chrome or Chromium")
@pytest.mark.parametrize(("experiment", "part"), cases("miniwob"))
def test_a_preset_on_miniwob_is_played_to_its_rows(experiment: PaperExperiment, part: ExperimentPart) -> None:
    bench = play(experiment)
    assert [cell.name for cell in bench.cells] == [f"{part.suite}.{name}.scripted" for name in played_rows(part)]
    check_rows(experiment, part, bench)


def test_every_part_of_every_preset_is_played_by_a_test() -> None:
    played = {"alfworld", "textcraft", "webshop", "hotpotqa", "miniwob"}  # alfworld: test_paper_presets, _trainings
    assert {part.published[0].environment for e in paper_experiments() for part in e.parts} == played


# ------------------------------------------------------------------ the stamp


@pytest.mark.parametrize("environment", sorted({t.environment for t in published_tables()}))
def test_the_stand_in_never_stands_unstamped_beside_a_papers_figure(environment: str, tmp_path: Path) -> None:
    """On the papers' own tasks, too, where their figures are shown: no episode needs to have ended for that."""
    for experiment in paper_experiments():
        for part in experiment.parts:
            if part.published[0].environment != environment:
                continue
            alone = msgspec.structs.replace(experiment, parts=(part,))
            settings = alfworld_settings(tmp_path) if environment == "alfworld" else {}
            grid = resolve_experiment(alone, ExperimentChoice(model="scripted", settings=settings)).grid
            for table in build_paper_tables(alone, BenchRecord(tmp_path, grid)):
                check_stamps(table)
                here = [name for name in [*table.columns, *(r[1] for r in table.rows)] if re.search("here, ", name)]
                assert all("scripted †" in name for name in here)


def alfworld_settings(folder: Path) -> dict[str, str]:
    for split in ("valid_seen", "valid_unseen"):
        if not (folder / "json_2.1.1" / split).exists():
            alfworld_files.write(folder / "json_2.1.1" / split, "pick", 3)
            alfworld_files.write(folder / "json_2.1.1" / split, "heat", 3)
    if not (folder / "json_2.1.1" / "train").exists():
        for seed in range(24):
            alfworld_files.write(folder / "json_2.1.1" / "train", "heat", seed)
    return {"data": str(folder)}
