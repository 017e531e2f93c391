"""A bench's figures as rows: for tables, files and data frames."""

import csv
import json
from pathlib import Path

import pytest

import codeplan
from codeplan.bench import BenchRecord, frame, read_bench
from codeplan.bench.figures import rows_of, write_rows
from codeplan.cli import main
from codeplan.errors import UsageError
from codeplan.recording.events import CallAnswered, ModelCalled
from codeplan.recording.trace import Trace


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> BenchRecord:
    folder = tmp_path_factory.mktemp("bench")
    codeplan.bench.run("household", ["adaplanner", "react"], kind="clean", n=2, out=folder)
    return read_bench(folder)


def test_each_kind_of_row_is_what_the_traces_hold(bench: BenchRecord) -> None:
    traces = [Trace.read(bench.folder / each.run / "trace.jsonl") for each in bench.outcomes]
    calls = [event for trace in traces for event in trace if isinstance(event, CallAnswered)]
    asked = [event for trace in traces for event in trace if isinstance(event, ModelCalled)]
    rows = {kind: [*rows_of(bench, kind)] for kind in ("episodes", "calls", "model_calls", "plans")}
    assert [row["success"] for row in rows["episodes"]] == [each.result.success for each in bench.outcomes]
    assert sum(row["actions"] for row in rows["episodes"]) == len(rows["calls"]) == len(calls)
    assert [row["reply"] for row in rows["model_calls"]] == [event.completion.text for event in asked]
    assert {row["cell"] for row in rows["plans"]} == {"household.adaplanner.scripted"}
    assert {row["outcome"] for row in rows["plans"]} == {"failed", "finished"}
    plans = [each.result.refinements + 1 for each in bench.outcomes_of("household.adaplanner.scripted")]
    assert len(rows["plans"]) == sum(plans)
    for kind in rows:
        assert len({tuple(row) for row in rows[kind]}) == 1, f"the columns of {kind} differ from row to row"


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_the_command_writes_what_the_rows_say(bench: BenchRecord, tmp_path: Path, form: str) -> None:
    path = tmp_path / f"calls.{form}"
    if form == "parquet":
        pytest.importorskip("pyarrow")
    assert main(["export", str(bench.folder), "-o", str(path), "--rows", "calls"]) == 0
    expected = [*rows_of(bench, "calls")]
    if form == "csv":
        with path.open(newline="") as file:
            found = [*csv.DictReader(file)]
        assert [row["seconds"] for row in found] == [str(row["seconds"]) for row in expected]
    elif form == "jsonl":
        found = [json.loads(line) for line in path.read_text().splitlines()]
        assert found == expected
    else:
        import pandas

        found = pandas.read_parquet(path).to_dict("records")
    assert [row["name"] for row in found] == [row["name"] for row in expected]


def test_a_frame_has_numbers_as_numbers(bench: BenchRecord) -> None:
    pandas = pytest.importorskip("pandas")
    table = frame(bench)
    assert pandas.api.types.is_integer_dtype(table["actions"])
    assert pandas.api.types.is_bool_dtype(table["success"])
    assert len(frame(bench.folder, "calls")) == table["actions"].sum()
    with pytest.raises(UsageError, match="^name a bench's folder by its path, not by a value of the type int$"):
        frame(3)  # type: ignore[arg-type]


def test_a_broken_off_episode_is_part_of_no_rate(tmp_path: Path) -> None:
    def breaks(messages: list[codeplan.Message]) -> str:
        raise RuntimeError("no")

    def gives_up(messages: list[codeplan.Message]) -> str:
        return "def solution(agent, start_from=1):\n    if start_from <= 1:\n        assert False, 'no'\n"

    bench = codeplan.bench.run("household", model=[breaks, gives_up], kind="clean", n=1, tries=1).bench
    broken, failed = rows_of(bench)
    judged = ("success", "reward", "claim", "hijacked")
    assert [broken[name] for name in judged] == [None] * 4
    assert (broken["broken"], broken["model_calls"], broken["schema"]) == (True, 1, 2)
    assert (failed["success"], failed["reward"]) == (False, 0.0)
    write_rows(bench, tmp_path / "episodes.csv")
    with (tmp_path / "episodes.csv").open(newline="") as file:
        assert [row["success"] for row in csv.DictReader(file)] == ["", "False"]
    pytest.importorskip("pandas")
    means = frame(bench).groupby("cell")["success"].mean()
    assert [means.isna()["household.adaplanner.breaks"], means["household.adaplanner.gives_up"]] == [True, 0.0]


def test_a_cell_of_a_table_holds_a_list_or_dict_as_json(tmp_path: Path) -> None:
    def add(a: int, b: list[int]) -> dict[str, int]:
        return {"sum": a + sum(b)}

    reply = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        return agent.add(1, [2, 3])\n"
    run = tmp_path / "bench" / "runs" / "c" / "t"
    result = codeplan.do("Add", tools=add, model=lambda messages: f"```python\n{reply}```", out=run)
    record = BenchRecord(tmp_path / "bench", *_one_episode(result))
    (row,) = rows_of(record, "calls")
    assert (row["arguments"], row["value"], row["error"]) == ({"a": 1, "b": [2, 3]}, {"sum": 6}, None)
    write_rows(record, tmp_path / "calls.csv", "calls")
    with (tmp_path / "calls.csv").open(newline="") as file:
        (cells,) = csv.DictReader(file)
    assert json.loads(cells["arguments"]) == row["arguments"]
    assert cells["error"] == ""


def _one_episode(result: codeplan.Result) -> tuple[codeplan.bench.BenchGrid, tuple[codeplan.bench.EpisodeOutcome, ...]]:
    task = codeplan.Task("t")
    grid = codeplan.bench.BenchGrid((codeplan.bench.BenchCell("c", "s", "tools", "m", "f"),), {"s": (task,)}, 1, "0")
    return grid, (codeplan.bench.EpisodeOutcome("c", task, 0, "runs/c/t", result),)


def test_wrong_files_and_rows_are_refused_in_a_sentence(bench: BenchRecord, tmp_path: Path) -> None:
    taken = tmp_path / "taken.csv"
    taken.write_text("mine")
    with pytest.raises(UsageError, match=r"end the name with \.csv, \.jsonl or \.parquet"):
        write_rows(bench, tmp_path / "x.xlsx")
    with pytest.raises(UsageError, match="exists already and is not overwritten"):
        write_rows(bench, taken)
    with pytest.raises(UsageError, match="there are: episodes, calls, model_calls, plans"):
        write_rows(bench, tmp_path / "x.csv", "spans")  # type: ignore[arg-type]
    assert taken.read_text() == "mine"
    assert not (tmp_path / "x.csv").exists()
    assert main(["export", str(tmp_path), "-o", str(tmp_path / "x.csv")]) == 2
