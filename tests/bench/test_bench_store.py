"""The folder of a bench keeps all that ended, whatever happens to it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import msgspec
import pytest

from codeplan.bench.grid import BenchCell, BenchGrid
from codeplan.bench.store import BenchStore, EpisodeOutcome, episode_folder, read_bench
from codeplan.errors import UsageError
from codeplan.types import NotSolved, Result, Success, Task

TASKS = (Task("one/1", kind="one"), Task("two/1", kind="two"))
GRID = BenchGrid((BenchCell("a", "s", "e", "m", "scripted", {"tries": 2}),), {"s": TASKS}, 2, "0.1.0")


def ended(task: Task, repeat: int = 0, success: bool = True, broken: bool = False) -> EpisodeOutcome:
    return EpisodeOutcome(
        "a",
        task,
        repeat,
        episode_folder("a", task.id, repeat),
        Result(task, Success() if success else NotSolved("x")),
        broken,
    )


def test_outcomes_are_read_in_the_order_of_the_grid(tmp_path):
    with BenchStore(tmp_path, GRID) as store:
        for one in (ended(TASKS[1], 1), ended(TASKS[0]), ended(TASKS[1])):
            store.append(one)
        assert [e.key for e in read_bench(tmp_path).outcomes] == [
            ("a", "one/1", 0),
            ("a", "two/1", 0),
            ("a", "two/1", 1),
        ]
    bench = read_bench(tmp_path)
    assert (bench.grid, bench.total_episodes, len(bench.outcomes_of("a"))) == (GRID, 4, 3)


def test_a_torn_last_line_is_ignored_and_then_overwritten(tmp_path):
    with BenchStore(tmp_path, GRID) as store:
        store.append(ended(TASKS[0]))
    with (tmp_path / "results.jsonl").open("ab") as file:
        file.write(b'{"cell":"a","task":{"id":"tw')
    assert len(read_bench(tmp_path).outcomes) == 1
    with BenchStore(tmp_path, GRID) as store:
        store.append(ended(TASKS[1]))
    assert [e.task for e in read_bench(tmp_path).outcomes] == list(TASKS)


def test_the_latest_outcome_of_an_episode_counts(tmp_path):
    with BenchStore(tmp_path, GRID) as store:
        store.append(ended(TASKS[0], success=False, broken=True))
        store.append(ended(TASKS[0]))
    assert [(e.broken, e.result.success) for e in read_bench(tmp_path).outcomes] == [(False, True)]


def test_a_folder_is_written_by_one_bench_at_a_time(tmp_path):
    with BenchStore(tmp_path, GRID), pytest.raises(UsageError, match="a bench is still running in"):
        BenchStore(tmp_path, GRID)


def test_a_bench_is_not_mixed_with_an_episode(tmp_path):
    """A report of the folder would leave the episode out."""
    (tmp_path / "trace.jsonl").write_text("")
    with pytest.raises(UsageError, match="needs a folder of its own, not .*: it holds one episode; see it with: "):
        BenchStore(tmp_path, GRID)
    assert [file.name for file in tmp_path.iterdir()] == ["trace.jsonl"]


def test_a_bench_may_grow_and_is_not_mixed_with_another(tmp_path):
    BenchStore(tmp_path, GRID).close()
    more = BenchGrid((*GRID.cells, BenchCell("b", "s", "e", "m", "n")), {"s": (*TASKS, Task("three/1"))}, 3, "0.2.0")
    BenchStore(tmp_path, more).close()
    assert (len(read_bench(tmp_path).cells), read_bench(tmp_path).grid.codeplan_version) == (2, "0.1.0")
    with pytest.raises(UsageError, match="'b' is missing"):
        BenchStore(tmp_path, BenchGrid(GRID.cells, more.tasks, 3))
    with pytest.raises(UsageError, match="'a' has other settings"):
        BenchStore(tmp_path, BenchGrid((BenchCell("a", "s", "e", "m", "scripted"), more.cells[1]), more.tasks, 3))
    with pytest.raises(UsageError, match="other tasks of s"):
        BenchStore(tmp_path, BenchGrid(more.cells, {"s": TASKS}, 3))
    with pytest.raises(UsageError, match="3 repeats"):
        BenchStore(tmp_path, BenchGrid(more.cells, more.tasks, 2))


@pytest.mark.parametrize(
    ("changed", "advice"),
    [
        ({"method": "adapt"}, "give --method m; or name"),
        ({"method": "adapt", "model": "gpt"}, "give --method m --model 'a n'; or name"),
        ({"suite": "other"}, "name the suite 's'; or name"),
        (
            {"settings": {"tries": 2}},
            "give the same settings (tries was 3, here 2; width was 'x', here not set); or name",
        ),
    ],
)
def test_a_bench_that_does_not_fit_its_folder_names_the_options_to_give(tmp_path, changed, advice):
    cell = BenchCell("a", "s", "e", "m", "a n", {"tries": 3, "width": "x"})
    BenchStore(tmp_path, BenchGrid((cell,), {"s": TASKS})).close()
    other = msgspec.structs.replace(cell, name="b", **changed)
    with pytest.raises(UsageError, match=re.escape(f"'a' is missing here; to go on with it, {advice} another folder")):
        BenchStore(tmp_path, BenchGrid((other,), {other.suite: TASKS}))


def test_a_bench_of_a_file_that_does_not_fit_its_folder_asks_for_the_file(tmp_path):
    cells = BenchCell("a", "s", "e", "m", "n"), BenchCell("b", "s", "e", "react", "n")
    BenchStore(tmp_path, BenchGrid(cells, {"s": TASKS})).close()
    with pytest.raises(
        UsageError, match="to go on with it, give its file or its paper:NAME, with the same options; or name"
    ):
        BenchStore(tmp_path, BenchGrid(cells[1:], {"s": TASKS}))


def test_a_missing_or_damaged_bench_is_refused(tmp_path):
    with pytest.raises(
        UsageError, match="there is no bench in .*: it has no bench.json; name the folder of a bench, as given to --out"
    ):
        read_bench(tmp_path)
    (tmp_path / "trace.jsonl").touch()
    with pytest.raises(UsageError, match=f"it holds one episode; see it with: codeplan show {tmp_path}"):
        read_bench(tmp_path)
    (tmp_path / "trace.jsonl").unlink()
    BenchStore(tmp_path, GRID).close()
    for damaged in (b"{}", b'{"cell":"\xff'):
        (tmp_path / "results.jsonl").write_bytes(damaged + b"\n")
        with pytest.raises(UsageError, match="line 1"):
            read_bench(tmp_path)
    for damaged in (b"[]", b'{"cells":"\xff'):
        (tmp_path / "bench.json").write_bytes(damaged)
        with pytest.raises(UsageError, match="is not a bench"):
            read_bench(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [{"tasks": {}}, {"tasks": {"t": []}}, {"repeats": 0}, {"repeats": -1}, {"repeats": 10**9}, {"repeats": 2**63 - 1}],
)
def test_a_strangers_grid_without_its_tasks_or_with_endless_episodes_is_refused(changed, tmp_path):
    BenchStore(tmp_path, GRID).close()
    grid = tmp_path / "bench.json"
    grid.write_text(json.dumps(json.loads(grid.read_text()) | changed))
    with pytest.raises(UsageError, match=r"bench\.json is damaged"):
        read_bench(tmp_path)


def test_outcomes_that_the_grid_does_not_have_are_left_out(tmp_path):
    with BenchStore(tmp_path, GRID) as store:
        for repeat in (-1, 2, 5, 2**62):
            store.append(ended(TASKS[0], repeat))
        store.append(ended(Task("other/1")))
        store.append(ended(TASKS[0]))
    assert [e.key for e in read_bench(tmp_path).outcomes] == [("a", "one/1", 0)]


@pytest.mark.parametrize("name", ["bench.json", "results.jsonl"])
def test_a_file_of_more_than_512_mib_is_refused_before_it_is_read(tmp_path, name):
    with BenchStore(tmp_path, GRID) as store:
        store.append(ended(TASKS[0]))
    os.truncate(tmp_path / name, 512 * 2**20 + 1)
    with pytest.raises(UsageError, match=f"{name} cannot be read.*larger than 536,870,912 bytes"):
        read_bench(tmp_path)


def test_every_episode_has_its_own_folder_inside_the_benchs():
    names = ["a/b", "a-b", "a:b", "..", "../x", "", "a-b-r1", "é", "x" * 300, "x" * 301, "clean/1"]
    folders = [episode_folder(cell, task, repeat) for cell in names for task in names for repeat in (0, 1)]
    assert len(set(folders)) == len(folders)
    for folder in folders:
        parts = Path(folder).parts
        assert parts[0] == "runs" and len(parts) == 3 and ".." not in parts
        assert all(len(part) < 120 for part in parts)
