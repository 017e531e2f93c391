"""AutoPlan's Table 5: fifteen trainings, their plans' success rates, and the tests between batch sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import alfworld_files

from codeplan.bench.grid import BenchGrid
from codeplan.bench.paper_bench import ExperimentChoice, build_paper_tables, resolve_experiment
from codeplan.bench.papers import find_experiment
from codeplan.bench.store import BenchRecord, EpisodeOutcome
from codeplan.bench.tables import STAND_IN_NOTE, BenchTable
from codeplan.bench.trainings import build_training_tables, collect_rates
from codeplan.cli.app import main
from codeplan.statistics import welch_test
from codeplan.types import NotSolved, Result, Success, Task

TABLE = find_experiment("autoplan-table5")
HEAT = tuple(Task(f"heat/{n}", "alfworld", "heat", split="valid_unseen") for n in range(23))


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of ALFWorld's form with two games to play, and as many to learn from as the largest training needs."""
    folder = tmp_path_factory.mktemp("alfworld")
    for split, count in (("train", 24), ("valid_unseen", 2)):
        for seed in range(count):
            alfworld_files.write(folder / "json_2.1.1" / split, "heat", seed)
    return folder


def grid(games: Path, **choice: Any) -> BenchGrid:
    return resolve_experiment(TABLE, ExperimentChoice(model="scripted", settings={"data": str(games)}, **choice)).grid


def bench(of: BenchGrid, solved: dict[tuple[int, int], list[int]], tasks: tuple[Task, ...] = HEAT) -> BenchRecord:
    """A bench in which each training's plan solved so many of the tasks, by batch size and iteration."""
    outcomes = []
    for cell in of.cells:
        assert cell.learnt
        found = solved.get((cell.learnt.training.batch, cell.learnt.iteration), [])
        if cell.learnt.training.number <= len(found):
            count = found[cell.learnt.training.number - 1]
            endings = [Success() if n < count else NotSolved("no") for n in range(len(tasks))]
            outcomes += [
                EpisodeOutcome(cell.name, task, 0, "", Result(task, ending, cell.method, cell.model))
                for task, ending in zip(tasks, endings, strict=True)
            ]
    return BenchRecord(Path("nowhere"), BenchGrid(of.cells, {"alfworld-unseen": tasks}), tuple(outcomes))


TWO, FOUR = [10, 12, 9, 14, 11], [16, 15, 17, 15, 18]


def paper_table(of: BenchRecord) -> BenchTable:
    rates, table = build_paper_tables(TABLE, of)
    assert rates.title.startswith("alfworld-unseen.autoplan.scripted: success after each iteration")
    return table


# ------------------------------------------------------------------ the preset


def test_the_preset_has_the_papers_trainings(games):
    plan = resolve_experiment(TABLE, ExperimentChoice(model="scripted", settings={"data": str(games)}))
    assert len(plan.trainings) == 15
    assert len(plan.grid.cells) == 45
    assert [len(job.tasks) for job in plan.trainings] == [6] * 5 + [12] * 5 + [24] * 5
    assert {task.split for job in plan.trainings for task in job.tasks} == {"train"}
    assert sum(row.cells for part in TABLE.parts for row in part.rows) == 45


def test_a_model_samples_by_the_papers_settings_in_training_and_the_users_are_preferred(games, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")

    def settings(**given: Any) -> list[tuple[Any, Any]]:
        choice = ExperimentChoice(model="gpt-4o-mini", trainings=1, settings={"data": str(games), **given})
        plan = resolve_experiment(TABLE, choice)
        both = plan.grid.cells[0].settings, plan.trainings[0].settings
        return [(each.get("temperature"), each.get("top_p")) for each in both]

    assert settings() == [(0.0, None), (1.0, 0.9)]
    assert settings(temperature=0.5, top_p=0.7) == [(0.5, 0.7), (0.5, 0.7)]


def test_one_command_trains_and_plays_it_to_its_tables(games, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["bench", "paper:autoplan-table5", "--data", str(games), "--trainings", "2", "-n", "1", "--out", "out"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert len([*tmp_path.glob("out/trainings/*/plan-1-03.txt")]) == 6
    assert len([*tmp_path.glob("out/trainings/*/episodes/*/trace.jsonl")]) == 2 * (6 + 12 + 24)
    assert "The trainings took " in shown
    for batch in (2, 4, 8):
        (line,) = (line for line in shown.splitlines() if line.startswith(f"{batch} "))
        assert "scripted †" in line
        assert line.count(" ± ") == 3
    assert shown.count("here, scripted †") == shown.count("paper, GPT-4-0314") == 2
    assert "0.44" not in shown
    assert "The paper's figures are not shown beside ours: the paper has 23 tasks, this bench 1." in shown
    before = {file: file.read_bytes() for file in tmp_path.glob("out/trainings/*/episodes/*/*")}
    assert main(command) == 0
    assert capsys.readouterr().out == shown
    assert {file: file.read_bytes() for file in tmp_path.glob("out/trainings/*/episodes/*/*")} == before
    assert main(["papers", "autoplan-table5", "--bench", "out"]) == 0
    assert capsys.readouterr().out == shown


def test_the_papers_figure_3b_is_a_setting(games, tmp_path, capsys):
    command = ["bench", "paper:autoplan-table5", "--data", str(games), "--trainings", "1", "-n", "1"]
    assert main([*command, "--set", "reflection=summary", "--out", str(tmp_path / "out")]) == 0
    for trace in tmp_path.glob("out/trainings/*/episodes/*/trace.jsonl"):
        assert "Flaws:" not in trace.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["paper:autoplan-table5", "--set", "batch=4"], "a grid of trainings sets batch itself"),
        (["paper:adapt-table3", "--trainings", "2"], "no row of adapt-table3 is trained; omit --trainings"),
        (["household", "--trainings", "2"], "household is no paper's experiment that trains first; omit --trainings"),
        (["paper:autoplan-table5", "--kind", "pick"], "no task of kind pick in its split valid_unseen"),
        (["paper:autoplan-table5", "--record", "tape"], "trainings go on no tape"),
    ],
)
def test_what_does_not_fit_is_one_sentence(words, message, games, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data = ["--data", str(games)] if "paper:autoplan-table5" in words else []
    assert main(["bench", *words, *data]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1


def test_with_too_few_games_it_says_how_many_it_needs(tmp_path, capsys):
    for split in ("train", "valid_unseen"):
        alfworld_files.write(tmp_path / "json_2.1.1" / split, "heat", 3)
    assert main(["bench", "paper:autoplan-table5", "--data", str(tmp_path)]) == 2
    assert "3 iterations of 8 tasks need 24 tasks, but alfworld has 1 of the chosen kind" in capsys.readouterr().err


# ------------------------------------------------------------------ what it will cost


def test_a_dry_run_tells_trainings_and_episodes_apart_and_a_pilot_trains_once(games, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["bench", "paper:autoplan-table5", "--data", str(games), "--trainings", "2", "--out", "out", "--dry-run"]

    def estimate(*more: str) -> list[dict[str, Any]]:
        assert main([*command, *more, "--json"]) == 0
        cells: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["estimate"]["cells"]
        return cells

    name = "alfworld-unseen.autoplan.scripted"
    before = estimate()
    assert [(one["cell"], one["episodes"], one["seen"]) for one in before] == [
        (f"{name}: 6 trainings", 84, 0),
        (f"{name} with its plans", 36, 0),
    ]
    assert [*tmp_path.iterdir()] == []
    after = estimate("--pilot")
    assert [(one["episodes"], one["seen"]) for one in after] == [(82, 2), (34, 2)]
    assert main([*command[:-1], "-j", "2"]) == 0
    capsys.readouterr()
    assert [(one["episodes"], one["seen"]) for one in estimate()] == [(0, 84), (0, 36)]
    elsewhere = ["bench", "paper:autoplan-table5", "--data", str(games), "--dry-run", "--estimate-from", "out"]
    assert main(elsewhere) == 0
    assert "15 trainings" in (shown := capsys.readouterr().out)
    assert "unknown" not in shown


# ------------------------------------------------------------------ the table


def test_the_tests_stand_below_the_papers_of_the_same_work(games):
    found = bench(grid(games), {(batch, i): TWO if batch == 2 else FOUR for batch in (2, 4, 8) for i in (1, 2, 3)})
    table = paper_table(found)
    test = welch_test([100 * n / 23 for n in TWO], [100 * n / 23 for n in FOUR])
    assert test and 0.0001 < test.p_value < 0.01
    assert [row[:3] for row in table.rows] == [
        ("batch size 2 against 4", "paper, GPT-4-0314", "5"),
        ("batch size 2 against 4", "here, scripted †", "5"),
        ("batch size 2 against 8", "paper, GPT-4-0314", "5"),
        ("batch size 2 against 8", "here, scripted †", "5"),
    ]
    assert [row[3:] for row in table.rows[::2]] == [("0.440", "0.350", "0.013"), ("0.007", "0.110", "0.005")]
    assert [row[3:] for row in table.rows[1::2]] == [(f"{test.p_value:.2g}",) * 3] * 2
    assert not any("not shown" in note or "evaluated" in note for note in table.notes)
    assert STAND_IN_NOTE in table.notes
    assert any("Welch's, two-sided" in note for note in table.notes)


@pytest.mark.parametrize(
    ("choice", "tasks", "reason"),
    [
        ({"trainings": 3}, HEAT, "the paper has 5 trainings of each batch size, this bench 3"),
        ({}, HEAT[:22], "the paper has 23 tasks, this bench 22"),
    ],
)
def test_other_work_is_not_set_beside_the_papers(games, choice, tasks, reason):
    table = paper_table(bench(grid(games, **choice), {}, tasks))
    assert {row[3:] for row in table.rows[::2]} == {("–", "–", "–")}
    assert f"The paper's figures are not shown beside ours: {reason}." in table.notes


def test_means_and_deviations_are_those_of_the_trainings(games):
    found = bench(grid(games), {(2, 1): TWO, (4, 1): FOUR, (8, 1): [23], (2, 2): [23, 0]})
    table, tests = build_training_tables(found)
    assert [row[0] for row in table.rows] == ["2", "4", "8"]
    assert table.rows[0][3:] == ("48.7 ± 8.4", "50.0 ± 70.7", "")
    assert table.rows[2][3:] == ("100.0", "", "")
    assert (
        "Batch size 8: after the iterations, 1, 0, 0 of 5 plans are evaluated; the others are in no figure."
        in table.notes
    )
    assert [row[0] for row in tests.rows] == ["2 against 4", "2 against 8"]
    assert tests.rows[0][2] and tests.rows[1][2:] == ("", "", "")


def test_a_plan_counts_once_all_its_episodes_ended(games):
    whole = bench(grid(games), {(2, 1): TWO})
    (rates,) = collect_rates(BenchRecord(whole.folder, whole.grid, whole.outcomes[:-1]))
    assert rates.rates == {(2, 1): pytest.approx(tuple(100 * n / 23 for n in TWO[:-1]))}


def test_trainings_that_do_not_differ_have_no_test(games):
    (rates,) = collect_rates(bench(grid(games), {(2, 1): [5] * 5, (4, 1): [9] * 5}))
    assert rates.p_value(2, 4, 1) is None


def test_a_folders_bench_without_tasks_has_tables_without_figures(games):
    table, tests = build_training_tables(bench(grid(games), {}, ()))
    assert {row[3:] for row in (*table.rows, *(("", "", "", *row[2:]) for row in tests.rows))} == {("", "", "")}
