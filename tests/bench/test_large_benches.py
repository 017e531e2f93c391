"""A bench from elsewhere may be as large as its files: what is computed and shown of it is bounded, and says so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from codeplan.bench import store
from codeplan.bench.cell_comparison import MAX_KIND_ROWS, build_overview
from codeplan.bench.grid import MAX_EPISODES, MAX_NAME_CHARS, BenchCell, BenchGrid, LearntPlan, Training
from codeplan.bench.store import BenchStore, EpisodeOutcome, read_bench
from codeplan.bench.tables import build_tables
from codeplan.bench.trainings import build_training_tables
from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.report.pages.overview import build_overview as build_page
from codeplan.report.pages.report_source import MAX_COLUMNS, ReportSource
from codeplan.report.pages.report_source import MAX_EPISODES as MAX_EPISODES_LISTED
from codeplan.types import Result, Success, Task


def write_bench(
    folder: Path, cells: Sequence[str], tasks: Sequence[Task], repeats: int = 1, refinements: int = 0, run: str = ""
) -> str:
    """A bench as a stranger may write it: each episode ended, and named this run and these refinements."""
    made = tuple(BenchCell(name, "s", "e", "m", "x", no_effect_prefixes=()) for name in cells)
    grid = BenchGrid(made, {"s": tuple(tasks)}, repeats)
    (folder / store.GRID_FILE).write_bytes(msgspec.json.encode(grid))
    outcomes = (
        EpisodeOutcome(cell, task, repeat, run, Result(task, Success(), actions=number, refinements=refinements))
        for number, task in enumerate(tasks)
        for cell in dict.fromkeys(cells)
        for repeat in range(repeats)
    )
    (folder / store.RESULTS_FILE).write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in outcomes))
    return str(folder)


def tasks(count: int, kinds: int = 1) -> list[Task]:
    return [Task(f"t/{i}", kind=f"kind {i % kinds}") for i in range(count)]


@pytest.mark.parametrize(("iterations", "sound"), [((1, 1), True), ((1, 2), False)])
def test_trainings_have_a_plan_for_each_batch_size_and_iteration(tmp_path, iterations, sound):
    """Otherwise a grid of n plans would make a table of n * n figures."""
    learnt = [LearntPlan(Training("t", at + 2, 1, 0, "train"), iteration) for at, iteration in enumerate(iterations)]
    cells = tuple(BenchCell(plan.name, "s", "e", "m", "x", learnt=plan) for plan in learnt)
    (tmp_path / store.GRID_FILE).write_bytes(msgspec.json.encode(BenchGrid(cells, {"s": tuple(tasks(1))})))
    if sound:
        assert len(build_training_tables(read_bench(tmp_path))) == 2
    else:
        with pytest.raises(UsageError, match=r"is damaged: plans are missing of the trainings of 't'$"):
            read_bench(tmp_path)


@pytest.mark.parametrize(("cells", "compared", "left_out"), [(100, 100, 0), (103, 100, 3)])
def test_only_so_many_cells_are_compared_at_once(tmp_path, capsys, cells, compared, left_out):
    folder = write_bench(tmp_path, [f"c{i}" for i in range(cells)], tasks(2))
    overview = build_overview(folder)
    assert (len(overview.statistics), len(overview.comparisons)) == (compared, compared - 1)
    notes = " ".join(build_tables(overview)[0].notes)
    assert (f"Left out: {left_out} further cells" in notes) == bool(left_out)
    assert main(["compare", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == {"cells": left_out, "kinds": 0}


def test_a_cell_that_is_left_out_is_compared_by_name(tmp_path):
    folder = write_bench(tmp_path, ["first", *(f"c{i}" for i in range(100)), "last"], tasks(2))
    (found,) = build_overview(f"{folder}:first", f"{folder}:last").comparisons
    assert (found.first, found.second, found.pairs) == ("first", "last", 2)


@pytest.mark.parametrize(("more", "note"), [(0, ""), (7, "Left out: 14 rows of single kinds")])
def test_only_so_many_kinds_have_a_row(tmp_path, more, note):
    kinds = MAX_KIND_ROWS // 2 + more
    overview = build_overview(write_bench(tmp_path, ["a", "b"], tasks(kinds, kinds)))
    assert [len(rows) - 1 for _, rows in overview.statistics] == [MAX_KIND_ROWS // 2] * 2
    assert all(rows[-1].episodes == kinds for _, rows in overview.statistics)
    assert overview.kinds_left_out == 2 * more
    assert note in " ".join(build_tables(overview)[0].notes)


@pytest.mark.parametrize(("refinements", "attempts"), [(99, 100), (2**20, 100)])
def test_a_claimed_number_of_refinements_makes_no_long_list(tmp_path, refinements, attempts):
    folder = write_bench(tmp_path, ["a"], tasks(2), refinements=refinements)
    ((_, rows),) = build_overview(folder).statistics
    assert len(rows[-1].by_attempt) == attempts
    assert rows[-1].by_attempt[-1] == (1.0 if refinements < 100 else 0.0)


def test_pass_at_k_ends_at_the_largest_number_of_attempts(tmp_path):
    ((_, rows),) = build_overview(write_bench(tmp_path, ["a"], tasks(1), repeats=105)).statistics
    assert rows[-1].pass_at_k == (1.0,) * 100


def test_two_cells_of_one_name_are_refused(tmp_path):
    with pytest.raises(UsageError, match="is damaged: two of its cells have the same name"):
        read_bench(write_bench(tmp_path, ["same", "other", "same"], tasks(1)))


def test_a_grid_too_large_to_be_read_is_not_started(tmp_path):
    cell = BenchCell("a", "s", "e", "m", "x")
    most = BenchGrid((cell,), {"s": tuple(tasks(1))}, MAX_EPISODES)
    BenchStore(tmp_path / "most", most).close()
    assert read_bench(tmp_path / "most").total_episodes == MAX_EPISODES
    with pytest.raises(UsageError, match="a bench has at most 250,000 episodes, not 250,001; make several benches"):
        BenchStore(tmp_path / "more", msgspec.structs.replace(most, repeats=MAX_EPISODES + 1))
    assert not (tmp_path / "more").exists()


@pytest.mark.parametrize("field", ["name", "suite", "env", "method", "model"])
def test_a_grid_with_a_name_too_long_to_be_shown_is_neither_read_nor_started(tmp_path, field):
    def grid(length: int) -> BenchGrid:
        names = dict.fromkeys(("name", "suite", "env", "method", "model"), "x") | {field: "x" * length}
        return BenchGrid((BenchCell(**names),), {names["suite"]: tuple(tasks(1))})

    BenchStore(tmp_path / "most", grid(MAX_NAME_CHARS)).close()
    assert read_bench(tmp_path / "most").grid == grid(MAX_NAME_CHARS)
    with pytest.raises(UsageError, match="a name has at most 1,000 characters; give the cell 'x.* a label"):
        BenchStore(tmp_path / "more", grid(MAX_NAME_CHARS + 1))
    (tmp_path / "bench.json").write_bytes(msgspec.json.encode(grid(MAX_NAME_CHARS + 1)))
    with pytest.raises(UsageError, match="is damaged: a name has at most 1,000 characters"):
        read_bench(tmp_path)


def test_results_that_all_name_one_trace_do_not_make_it_read_for_each(tmp_path):
    (tmp_path / "runs" / "x").mkdir(parents=True)
    (tmp_path / "runs" / "x" / "trace.jsonl").write_text('{"event":"environment_reset","observation":{"text":"a"}}\n')
    write_bench(tmp_path, ["a"], tasks(3), run="runs/x")
    found = read_bench(tmp_path)
    assert [one.run for one in found.outcomes] == [store.episode_folder("a", f"t/{i}", 0) for i in range(3)]
    ((_, rows),) = build_overview(str(tmp_path)).statistics
    assert rows[-1].metrics["trajectory"].value == 1.0


@pytest.mark.parametrize("more", [0, 2])
def test_a_page_has_only_so_many_columns(tmp_path, capsys, more):
    folder = write_bench(tmp_path, [f"c{i}" for i in range(MAX_COLUMNS + more)], tasks(2))
    shown = build_page(ReportSource(Path(folder)).read())
    assert (len(shown["columns"]), len(shown["episodes"])) == (MAX_COLUMNS, 2 * MAX_COLUMNS)
    assert shown["leftOut"] == {"columns": more, "episodes": 0}
    assert main(["report", folder, "-o", str(tmp_path / "page.html")]) == 0
    assert ("left out to limit the size: 2 columns" in " ".join(capsys.readouterr().out.split())) == bool(more)


def test_the_columns_of_several_benches_share_the_limit(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_bench(tmp_path / name, [f"c{i}" for i in range(MAX_COLUMNS)], tasks(1))
    report = ReportSource(tmp_path).read()
    assert (len(report.columns), len(report.episodes), report.columns_left_out) == (MAX_COLUMNS,) * 3


def test_a_page_lists_only_so_many_episodes_and_counts_all(tmp_path, capsys):
    folder = write_bench(tmp_path, ["a"], tasks(1), repeats=MAX_EPISODES_LISTED + 3)
    shown = build_page(ReportSource(Path(folder)).read())
    assert len(shown["episodes"]) == MAX_EPISODES_LISTED
    assert shown["leftOut"] == {"columns": 0, "episodes": 3}
    assert shown["done"] == shown["columns"][0]["rate"][1] == MAX_EPISODES_LISTED + 3
    assert main(["report", folder, "-o", str(tmp_path / "page.html")]) == 0
    assert "not listed, but in the figures: 3 further episodes" in " ".join(capsys.readouterr().out.split())


def test_kinds_beyond_the_limit_share_a_row_of_a_page(tmp_path):
    shown = build_page(ReportSource(Path(write_bench(tmp_path, ["a"], tasks(2005, 2005)))).read())
    (group,) = shown["groups"]
    assert shown["kinds"][-2:] == [f"kind {MAX_KIND_ROWS - 1}", "other kinds"]
    assert len(group["kinds"]) == len(group["byKind"]) == MAX_KIND_ROWS + 1
    assert group["byKind"][-1][0][:2] == [5, 5]
    assert [row[1] for row in shown["episodes"][-6:]] == [MAX_KIND_ROWS - 1, *[MAX_KIND_ROWS] * 5]
