"""Benches are compared in pairs, and the tables say what was measured, what was not, and whose it is."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codeplan import envs
from codeplan.bench.cell_comparison import build_overview
from codeplan.bench.grid import BenchCell, BenchGrid
from codeplan.bench.metrics import measure_episode
from codeplan.bench.store import BenchStore, EpisodeOutcome, read_bench
from codeplan.bench.tables import TABLE_FORMATS, BenchTable, build_tables, format_latex, format_markdown, format_tables
from codeplan.cli import main
from codeplan.errors import UsageError
from codeplan.recording.trace import Trace
from codeplan.runner.episodes import find_trace
from codeplan.statistics import mcnemar_exact
from codeplan.types import NotSolved, Result, Success, Task, Usage

TASKS = tuple(Task(f"t/{i}", kind="odd" if i % 2 else "even") for i in range(20))


def bench(folder: Path, cells: dict[str, str], repeats: int = 1, model: str = "scripted") -> Path:
    """A bench whose cells won (1), lost (0), or broke off (x) the tasks in turn, then those of the next repeat."""
    made = tuple(BenchCell(name, "s", "e", "m", model) for name in cells)
    with BenchStore(folder, BenchGrid(made, {"s": TASKS}, repeats)) as store:
        for name, ends in cells.items():
            for i, end in enumerate(ends):
                task, repeat = TASKS[i % 20], i // 20
                spent = Usage(10 * i, 1, money=0.5)
                result = Result(
                    task, Success() if end == "1" else NotSolved("x"), actions=i + (name == "b"), usage=spent
                )
                store.append(EpisodeOutcome(name, task, repeat, "", result, broken=end == "x"))
    return folder


def test_two_cells_are_compared_over_their_common_episodes(tmp_path: Path) -> None:
    folder = bench(tmp_path, {"a": "1" * 8 + "0" * 10 + "x", "b": "1" * 6 + "0" * 2 + "1" * 8 + "0" * 4})
    (found,) = build_overview(str(folder)).comparisons
    assert (found.first, found.second, found.pairs, found.left_out) == ("a", "b", 18, 3)
    assert (found.both, found.only_first, found.only_second, found.neither) == (6, 2, 8, 2)
    assert found.p_value == pytest.approx(0.109375)
    assert found.difference.value == pytest.approx(6 / 18)
    assert found.more_pairs is not None and found.more_pairs > 0
    means = {m.name: m for m in found.means}
    assert (means["actions"].first, means["actions"].difference.low, means["actions"].difference.high) == (8.5, 1, 1)
    assert means["money"].first == 0.5


def test_repeats_are_paired_by_number_and_averaged_by_task(tmp_path: Path) -> None:
    folder = bench(tmp_path, {"a": "1" * 20 + "0" * 20, "b": "1" * 40}, repeats=2)
    found = build_overview(str(folder))
    compared = found.comparisons[0]
    assert (compared.pairs, compared.tasks, compared.difference.low, compared.difference.high) == (40, 20, 0.5, 0.5)
    assert compared.p_value == mcnemar_exact(0, 20)
    (_, kinds), _ = found.statistics
    assert kinds[-1].pass_at_k == (0.5, 1.0)


def test_cells_are_named_by_folder_and_part_of_their_name(tmp_path: Path) -> None:
    one = bench(tmp_path / "one", {"alpha": "1" * 20, "beta": "0" * 20})
    two = bench(tmp_path / "two", {"alpha": "0" * 20, "beta": "0" * 20})
    (found,) = build_overview(f"{one}:alp", f"{two}:beta").comparisons
    assert (found.first, found.second, found.only_first) == ("alpha", "beta", 20)
    both = build_overview(str(one), str(two)).comparisons
    assert [c.first for c in both] == [f"{one}:alpha", f"{one}:beta"]
    for first, second, message in (
        (f"{one}:gamma", None, "no cell with 'gamma' in its name"),
        (f"{one}:alpha", str(two), "name one cell on each side"),
        (f"{one}:alpha", f"{one}:alpha", "on both sides"),
        (str(tmp_path / "none"), None, "there is no bench"),
    ):
        with pytest.raises(UsageError, match=message):
            build_overview(first, second)


def test_several_cells_are_paired_by_their_model_or_else_their_method(tmp_path: Path) -> None:
    made = [BenchCell(f"{m}.{llm}", "s", "e", m, llm) for m in ("plan", "react") for llm in ("good", "poor")]
    with BenchStore(tmp_path, BenchGrid(tuple(made), {"s": TASKS}, 1)) as store:
        for cell in made:
            store.append(EpisodeOutcome(cell.name, TASKS[0], 0, "", Result(TASKS[0], Success())))
    both = build_overview(f"{tmp_path}:plan", f"{tmp_path}:react").comparisons
    assert [(c.first, c.second) for c in both] == [("plan.good", "react.good"), ("plan.poor", "react.poor")]
    both = build_overview(f"{tmp_path}:good", f"{tmp_path}:poor").comparisons
    assert [(c.first, c.second) for c in both] == [("plan.good", "plan.poor"), ("react.good", "react.poor")]
    with pytest.raises(UsageError, match="the first has plan.good, plan.poor, the second react.good"):
        build_overview(f"{tmp_path}:plan", f"{tmp_path}:react.good")


def test_repeats_that_agree_are_no_further_evidence(tmp_path: Path) -> None:
    once = build_overview(str(bench(tmp_path / "1", {"a": "1" * 12 + "0" * 8, "b": "0" * 3 + "1" * 17})))
    wins = {"a": ("1" * 12 + "0" * 8) * 3, "b": ("0" * 3 + "1" * 17) * 3}
    thrice = build_overview(str(bench(tmp_path / "3", wins, repeats=3)))
    for (_, a), (_, b) in zip(once.statistics, thrice.statistics, strict=True):
        assert [k.low for k in a] == pytest.approx([k.low for k in b])
        assert [k.high for k in a] == pytest.approx([k.high for k in b])
    (one,), (three,) = once.comparisons, thrice.comparisons
    assert three.difference == one.difference
    assert (three.pairs, three.p_value) == (3 * one.pairs, one.p_value)
    assert three.more_pairs is not None and one.more_pairs is not None and three.more_pairs >= 3 * one.more_pairs


def test_benches_without_a_common_task_are_not_compared(tmp_path: Path) -> None:
    folder = bench(tmp_path, {"a": "1" * 3, "b": "xxx" + "1" * 2})
    overview = build_overview(str(folder))
    assert (overview.comparisons, len(overview.statistics)) == ((), 2)
    assert overview.not_compared == ("a and b have no finished episode of the same task in common",)


def test_a_cell_without_a_finished_episode_is_named_and_the_others_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bench(tmp_path / "four", {"broken": "xx", "a": "10", "empty": "", "b": "11"})
    overview = build_overview(str(folder))
    assert [(c.first, c.second) for c in overview.comparisons] == [("a", "b")]
    assert overview.not_compared == ("broken has no finished episode", "empty has no finished episode")
    assert {label: kinds[-1].episodes for label, kinds in overview.statistics}["broken"] == 0
    assert main(["compare", str(folder), "--format", "markdown"]) == 0
    shown = capsys.readouterr().out
    assert "Not compared: broken has no finished episode." in shown
    assert "Left out: 2 episodes of 1 cell that broke off without a result; the same bench, started again" in shown
    assert main(["compare", str(folder), "--format", "csv"]) == 0
    assert "not compared: empty has no finished episode" in capsys.readouterr().err
    assert main(["compare", str(bench(tmp_path / "two", {"a": "1", "b": "x"}))]) == 2
    out, err = capsys.readouterr()
    assert "| a † | all | 1 | 100.0 |" in out
    assert err == "codeplan: no cells can be compared: b has no finished episode\n"


def test_unknown_values_stay_unknown(tmp_path: Path) -> None:
    result = Result(TASKS[0], Success(), actions=4, usage=Usage(None, None))
    one = measure_episode(EpisodeOutcome("a", TASKS[0], 0, "", result), tmp_path, ("Nothing",))
    assert (one.trajectory, one.inadmissible, one.tokens, one.money) == (4, None, None, None)
    assert (one.plans, one.executor_runs, one.retrials) == (None, None, 0)


def test_trajectory_and_inadmissible_actions_are_counted_in_the_trace(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "x"
    run.mkdir(parents=True)
    reset = '{"event":"environment_reset","observation":{"text":"a room"}}\n'
    act = '{{"event":"call_begun","id":1,"call":{{"name":"a"}}}}\n'
    act += '{{"event":"call_answered","id":1,"answer":{{"observation":{{"text":"{}"}}}},"seconds":0}}\n'
    (run / "trace.jsonl").write_text(
        reset
        + act.format("Nothing happens.")
        + reset
        + act.format("Nothing happens. No.")
        + act.format("You go.")
        + "{"
    )
    ended = EpisodeOutcome("a", TASKS[0], 0, "runs/x", Result(TASKS[0], Success(), actions=3))
    known, unknown = (measure_episode(ended, tmp_path, prefixes) for prefixes in (("Nothing happens.",), None))
    assert (known.trajectory, known.inadmissible, unknown.inadmissible) == (2, 2, None)


@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_tables_have_every_format(tmp_path: Path, form: str) -> None:
    text = format_tables(build_tables(build_overview(str(bench(tmp_path, {"a": "1" * 20, "b": "01" * 10})))), form)
    assert "50.0" in text and "even" in text


def test_special_characters_are_escaped_in_each_format() -> None:
    table = BenchTable("50 %_", ("a|b", "n"), (("x&y\\~^{}#$|\n", "1"),))
    assert "| x&y\\~^{}#$\\| | 1 |" in format_markdown(table)
    assert r"x\&y\textbackslash{}\textasciitilde{}\textasciicircum{}\{\}\#\$|" in format_latex(table)
    assert r"\caption{50 \%\_.}" in format_latex(table)
    assert list(csv.reader(io.StringIO(TABLE_FORMATS["csv"](table))))[1] == ["x&y\\~^{}#$|\n", "1"]


def test_scripted_cells_are_marked_and_published_results_are_separate(tmp_path: Path) -> None:
    cells = tuple(
        BenchCell(n, "textcraft", "textcraft", "adapt", m) for n, m in (("ours", "scripted"), ("real", "gpt"))
    )
    tasks = tuple(envs.make("textcraft").tasks("test"))
    with BenchStore(tmp_path, BenchGrid(cells, {"textcraft": tasks})) as store:
        for cell in cells:
            store.append(EpisodeOutcome(cell.name, tasks[0], 0, "", Result(tasks[0], Success())))
    found = build_tables(build_overview(str(tmp_path)))
    figures, theirs = found[0], found[-1]
    assert {row[0] for row in figures.rows} == {"ours †", "real"}
    assert any("scripted stand-in" in note for note in figures.notes)
    assert theirs.title.startswith("Published")
    assert any(row[:3] == ("textcraft: adapt", "GPT-3.5 (gpt-3.5-turbo-instruct)", "52.00") for row in theirs.rows)
    assert not any("†" in cell for row in theirs.rows for cell in row)


def test_without_a_published_result_there_is_no_table_of_them_but_the_reason(tmp_path: Path) -> None:
    cell = BenchCell("ours", "textcraft", "textcraft", "adapt", "gpt")
    tasks = tuple(envs.make("textcraft").tasks("test"))[:1]
    with BenchStore(tmp_path, BenchGrid((cell,), {"textcraft": tasks})) as store:
        store.append(EpisodeOutcome(cell.name, tasks[0], 0, "", Result(tasks[0], Success())))
    found = build_tables(build_overview(str(tmp_path)))
    assert all(table.rows for table in found)
    assert any("the paper has 200 tasks, this bench 1" in note for note in found[0].notes)


def test_the_name_of_a_cell_and_of_a_folder_may_hold_colons(tmp_path: Path) -> None:
    folder = bench(tmp_path / "at:noon", {"m.qwen3:8b": "1", "m.qwen3:32b": "0"})
    (found,) = build_overview(f"{folder}:m.qwen3:8b", f"{folder}:32b").comparisons
    assert (found.first, found.second, found.only_first) == ("m.qwen3:8b", "m.qwen3:32b", 1)
    with pytest.raises(UsageError, match="no cell with 'qwen3:9b'"):
        build_overview(f"{folder}:qwen3:9b")
    with pytest.raises(UsageError, match="no cell with 'xxx"):
        build_overview(f"{folder}:{'x' * 300}")


@pytest.mark.parametrize("read", [Trace.read, find_trace, read_bench, build_overview])
def test_what_is_named_by_a_path_refuses_a_value_in_one_sentence(tmp_path: Path, read: Callable[[Any], object]) -> None:
    record = read_bench(bench(tmp_path, {"a": "1"}))
    with pytest.raises(UsageError, match=r"^name .* by its path, not by a value of the type BenchRecord$"):
        read(record)
