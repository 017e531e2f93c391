"""The presets: each experiment of the papers as cells that a bench can play."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support import alfworld_files

from codeplan import methods
from codeplan.bench import bench_spec
from codeplan.bench.bench_runner import run_bench
from codeplan.bench.engines import make_engine
from codeplan.bench.grid import BenchGrid
from codeplan.bench.paper_bench import ExperimentChoice, build_paper_tables, resolve_experiment
from codeplan.bench.papers import PaperExperiment, find_experiment, not_run, paper_experiments, published_tables
from codeplan.bench.store import BenchRecord
from codeplan.bench.tables import STAND_IN_NOTE
from codeplan.envs.miniwob.environment import MiniWob
from codeplan.envs.miniwob.tasks import PAPER_TASKS
from codeplan.errors import UsageError
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.planning.asking import choose_samples
from codeplan.plugins import load_factory, setting_names, setting_specs
from codeplan.runner import models

PARTS = [(e.id, at, part) for e in paper_experiments() for at, part in enumerate(e.parts)]
CELLS = [(f"{name}-{at}-{row.name}", part, row) for name, at, part in PARTS for row in part.rows]


def test_each_experiment_of_the_papers_has_a_preset_or_a_reason():
    found = paper_experiments()
    assert [e.id for e in found] == list(dict.fromkeys(t.part_of for t in published_tables()))
    assert all(bool(e.parts) != bool(e.cannot) for e in found)
    assert {*not_run().experiments} == {e.id for e in found if e.cannot}


@pytest.mark.parametrize(("name", "at", "part"), PARTS, ids=[f"{n}-{at}" for n, at, _ in PARTS])
def test_a_part_repeats_each_row_of_its_tables_once_in_the_papers_order(name, at, part):
    for table in part.published:
        assert table.part_of == name
        assert table.environment == bench_spec.resolve_suite(part.suite).env
        named = [number for row in part.rows for number in row.rows]
        outside = [n for n, row in enumerate(table.rows, 1) if row.method in not_run().methods]
        assert sorted(named) == named
        assert Counter(named + outside) == Counter(range(1, len(table.rows) + 1))
        for row in part.rows:
            played = "naive" if row.settings.get("demonstrations") == "naive" else row.method
            assert {table.rows[n - 1].method for n in row.rows} == {played}


@pytest.mark.parametrize(("part", "row"), [c[1:] for c in CELLS], ids=[c[0] for c in CELLS])
def test_a_cell_has_only_settings_that_exist_and_fit(part, row):
    env = bench_spec.resolve_suite(part.suite).env
    specs: dict[str, Any] = {}
    for factory in (load_factory("codeplan.envs", env), load_factory("codeplan.methods", row.method)):
        specs |= {spec.name: spec for spec in setting_specs(factory)}
    for name, value in {**part.settings, **row.settings}.items():
        specs[name].check(value, row.name)
    of_method = setting_names(load_factory("codeplan.methods", row.method))
    methods.make(row.method, **{name: value for name, value in row.settings.items() if name in of_method})
    assert {*part.model_settings} <= {*models.setting_names("gpt-4o-mini")}


def test_names_of_cells_are_unique_in_an_experiment():
    for experiment in paper_experiments():
        names = Counter((part.suite, row.name) for part in experiment.parts for row in part.rows)
        assert max(names.values(), default=1) == 1, experiment.id


@pytest.mark.parametrize(("row", "count"), [(6, 38), (7, 30), (8, 20), (9, 15), (10, 0)])
def test_a_row_of_table_5_shows_as_many_written_samples_in_all_as_the_papers(row, count):
    (part,) = find_experiment("adaplanner-table5").parts
    (cell,) = (each for each in part.rows if each.rows == (row,))
    env = MiniWob(agent="paper")
    method = AdaPlanner(**{name: value for name, value in cell.settings.items() if name != "agent"})
    shown = [choose_samples(method.prompts, env, kind, "another goal", method.samples) for kind in PAPER_TASKS]
    assert sum(map(len, shown)) == count


# ------------------------------------------------------------------ played


def test_a_preset_is_played_in_the_papers_order_with_its_settings():
    plan = resolve_experiment(find_experiment("adapt-table3"), ExperimentChoice(model="scripted", n=1))
    assert [(c.method, c.settings["actions"], c.budget.model_calls) for c in plan.grid.cells] == [
        ("react", 1000, 1000),
        ("adapt", 1000, 1000),
    ]
    assert plan.grid.cells[1].settings["max_depth"] == 4
    assert [task.split for task in plan.grid.tasks["textcraft"]] == ["test"] * 3


def test_the_users_settings_go_where_they_fit_and_are_preferred():
    choice = ExperimentChoice(model="scripted", n=1, settings={"max_depth": 2, "weakness": "span"})
    react, adapt = resolve_experiment(find_experiment("adapt-table3"), choice).grid.cells
    assert "max_depth" not in react.settings
    assert adapt.settings["max_depth"] == 2
    assert {react.settings["weakness"], adapt.settings["weakness"]} == {"span"}


def test_a_setting_that_no_cell_takes_is_refused():
    choice = ExperimentChoice(model="scripted", settings={"library": "x"})
    with pytest.raises(UsageError, match="no row of adapt-table3 takes the setting library"):
        resolve_experiment(find_experiment("adapt-table3"), choice)


def test_an_experiment_that_cannot_be_played_says_why():
    with pytest.raises(UsageError, match="autoplan-errors cannot be played: People read"):
        resolve_experiment(find_experiment("autoplan-errors"), ExperimentChoice(model="scripted"))


def test_model_settings_of_the_paper_go_to_models_that_take_them(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    plan = resolve_experiment(find_experiment("adapt-table3"), ExperimentChoice(model="gpt-4o-mini", n=1))
    assert {cell.settings["temperature"] for cell in plan.grid.cells} == {0.0}
    scripted = resolve_experiment(find_experiment("adapt-table3"), ExperimentChoice(model="scripted", n=1))
    assert not any("temperature" in cell.settings for cell in scripted.grid.cells)


def two_models() -> PaperExperiment:
    """ADaPT's table with two models, on TextCraft, which needs no data."""
    experiment = find_experiment("adapt-table4")
    part = msgspec.structs.replace(experiment.parts[0], suite="textcraft", split="test", n=1)
    return msgspec.structs.replace(experiment, parts=(part,))


def test_rows_of_a_second_model_are_played_only_with_one(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    one = resolve_experiment(two_models(), ExperimentChoice(model="scripted"))
    two = resolve_experiment(two_models(), ExperimentChoice(model="a", second_model="b"))
    assert len(one.grid.cells) == 2
    assert [(c.method, c.model, c.settings.get("executor_model")) for c in two.grid.cells] == [
        ("react", "a", None),
        ("adapt", "a", None),
        ("react", "b", None),
        ("adapt", "a", "b"),
    ]


def played(name: str, **choice: Any) -> BenchRecord:
    plan = resolve_experiment(find_experiment(name), ExperimentChoice(model="scripted", n=1, **choice))
    return run_bench(plan, make_engine("threads", 2), retries=0).bench


def test_the_table_has_the_published_row_and_ours_below_in_the_papers_order():
    table, depths = build_paper_tables(find_experiment("adapt-table3"), played("adapt-table3"))
    assert [row[:2] for row in table.rows] == [
        ("react", "paper, GPT-3.5 (gpt-3.5-turbo-instruct)"),
        ("react", "here, scripted †"),
        ("adapt", "paper, GPT-3.5 (gpt-3.5-turbo-instruct)"),
        ("adapt", "here, scripted †"),
    ]
    assert all(row[3] == "–" for row in table.rows[::2])
    assert all(row[2] == "2" and row[3] for row in table.rows[1::2])
    assert any("the paper has 189 tasks, this bench 2" in note for note in table.notes)
    assert STAND_IN_NOTE in table.notes
    assert [row[3] for row in depths.rows] == ["–", "1.00", "–", "1.00"]
    assert any("the paper has 189 tasks, this bench 2" in note for note in depths.notes)


def test_the_whole_suite_has_the_papers_figures_beside_ours():
    plan = resolve_experiment(find_experiment("adapt-table3"), ExperimentChoice(model="scripted"))
    table, _ = build_paper_tables(find_experiment("adapt-table3"), BenchRecord(Path(), plan.grid))
    assert [row[-2:] for row in table.rows[::2]] == [("26.90", "1.80"), ("78.20", "38.70")]
    assert not any("not shown" in note for note in table.notes)
    assert any("0 of 200 episodes ended" in note for note in table.notes)


def test_a_paper_table_of_many_pages_has_a_row_for_each():
    experiment = find_experiment("adaplanner-appendix-f")
    (table,) = build_paper_tables(experiment, BenchRecord(Path(), BenchGrid((), {})))
    assert len(table.rows) == 3 + 53
    assert len(table.columns) == 1 + 5


ON_ALFWORLD = [
    e.id
    for e in paper_experiments()
    if e.parts and all(p.suite.startswith("alfworld") for p in e.parts)
    if not any(row.learn for p in e.parts for row in p.rows)  # test_paper_trainings
]


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of ALFWorld's form, with a game of two kinds in each split."""
    folder = tmp_path_factory.mktemp("alfworld")
    for split in ("valid_seen", "valid_unseen"):
        for kind in ("pick", "heat"):
            alfworld_files.write(folder / "json_2.1.1" / split, kind, 3)
    return folder


@pytest.mark.parametrize("name", ON_ALFWORLD)
def test_a_preset_on_alfworld_is_played_to_its_table(name, games):
    experiment = find_experiment(name)
    bench = played(name, settings={"data": str(games)})
    cells = {row.name for part in experiment.parts for row in part.rows if not row.cannot and not row.second_model}
    assert len(bench.cells) == len(cells)
    assert not [e.result.reason for e in bench.outcomes if e.broken]
    for table in build_paper_tables(experiment, bench)[:1]:
        assert {row[0] for row in table.rows if row[1].startswith("here")} == cells
        assert all(row[2] == "2" and row[3] for row in table.rows if row[1].startswith("here"))
        assert all(row[3] == "–" for row in table.rows if row[1].startswith("paper"))
