"""What a page shows of many episodes: which there are, and what they come to."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import ANY

import msgspec
import pytest
from msgspec.structs import replace
from support.bench_samples import plan
from support.trace_samples import acted, ended, started, write

from codeplan import envs
from codeplan.bench import engines, grid, store
from codeplan.bench.bench_runner import run_bench
from codeplan.bench.cell_comparison import build_overview as build_comparison
from codeplan.bench.metrics import EpisodeMeasures
from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.report.pages.overview import build_overview, cost_curve, cost_unit, refinement_curve
from codeplan.report.pages.report_source import ReportSource
from codeplan.runner.episodes import run
from codeplan.runner.recorded_episodes import fork
from codeplan.runner.session import Session
from codeplan.runner.tools import do
from codeplan.statistics import wilson_interval
from codeplan.types import InfrastructureFailed, Result, Success, Task


def result(
    success: bool = True, refinements: int = 0, tokens: int | None = 15, money: float | None = None
) -> EpisodeMeasures:
    return EpisodeMeasures(success, float(success), 5, 5, 0, refinements, 1, tokens, money, 0.1, None)


def test_a_folder_of_runs_shows_each_in_natural_order(tmp_path: Path) -> None:
    for name in ("a-10", "a-9", "deep/er/b"):
        write(tmp_path / name, started(name), ended(started(name)))
    assert [r.task.id for r in ReportSource(tmp_path).read().episodes] == ["a-9", "a-10", "deep/er/b"]


def test_one_run_can_be_shown_alone(tmp_path: Path) -> None:
    write(tmp_path / "one", started(), ended(started()))
    found = ReportSource(tmp_path / "one").read()
    assert (found.name, len(found.episodes), found.episodes[0].state) == ("one", 1, "success")


def test_a_run_is_open_until_its_trace_has_an_end(tmp_path: Path) -> None:
    path = write(tmp_path / "one", started(), acted())
    source = ReportSource(tmp_path)
    assert source.read().episodes[0].state == "open"
    path.unlink()
    write(tmp_path / "one", started(), acted(), ended(started(), success=False))
    assert source.read().episodes[0].state == "failure"


def test_runs_with_other_methods_models_or_settings_stand_in_other_columns(tmp_path: Path) -> None:
    write(tmp_path / "1", started(), ended(started()))
    write(tmp_path / "2", started(method="react"), ended(started(method="react")))
    write(tmp_path / "3", started(model="gpt-x"), ended(started(model="gpt-x")))
    write(tmp_path / "4", started("clean/2"), ended(started("clean/2")))
    found = ReportSource(tmp_path).read()
    assert [c.name for c in found.columns] == ["adaplanner", "react", "adaplanner, gpt-x"]
    assert [r.column for r in found.episodes] == ["adaplanner", "react", "adaplanner, gpt-x", "adaplanner"]


@pytest.fixture
def two_benches(tmp_path: Path) -> Path:
    """A folder with two benches, one of them a folder deeper, and a run of no bench."""
    for name in ("first", "deep/er/second"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        run_bench(plan(), engines.make_engine("threads", 1), tmp_path / name)
    write(tmp_path / "runs" / "alone", started("heat/5"), ended(started("heat/5")))
    return tmp_path


def test_benches_in_a_folder_are_shown_with_the_runs_beside_them(two_benches: Path) -> None:
    found = ReportSource(two_benches).read()
    assert [c.name for c in found.columns] == [
        "deep/er/second: adaplanner",
        "first: adaplanner",
        f"{two_benches.name}: adaplanner",
    ]
    assert [r.column for r in found.episodes] == [c.name for c in found.columns]
    assert [r.state for r in found.episodes] == ["success"] * 3
    assert found.total == 3
    assert build_overview(found)["columns"][1]["name"] == "first: adaplanner"


def test_several_folders_are_shown_together(two_benches: Path) -> None:
    found = ReportSource(two_benches / "first", two_benches / "runs").read()
    assert (found.name, found.total) == ("first, runs", 2)
    assert [c.name for c in found.columns] == ["first: adaplanner", "runs: adaplanner"]


def test_the_command_takes_several_folders_and_looks_deeper(
    two_benches: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = str(tmp_path / "page.html")
    assert main(["report", str(two_benches), "-o", page]) == 0
    assert "3 episodes" in capsys.readouterr().out
    assert Path(page).read_bytes().startswith(b"<!doctype html>")
    assert main(["report", str(two_benches / "first"), str(two_benches / "deep"), "-o", page]) == 0
    assert "2 episodes" in capsys.readouterr().out


def test_folders_of_one_name_are_told_apart(two_benches: Path) -> None:
    (two_benches / "other").mkdir()
    (two_benches / "first").rename(two_benches / "other" / "second")
    found = ReportSource(two_benches / "other" / "second", two_benches / "deep" / "er" / "second").read()
    assert [c.name for c in found.columns] == ["1. second: adaplanner", "2. second: adaplanner"]


def test_a_folder_given_twice_is_shown_once(two_benches: Path) -> None:
    assert len(ReportSource(two_benches / "first", two_benches / "first").read().episodes) == 1


def test_a_folder_with_nothing_to_show_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to show"):
        ReportSource(tmp_path)
    with pytest.raises(UsageError, match="no folder"):
        ReportSource(tmp_path / "none")


def test_a_link_to_another_folder_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", started("secret"), ended(started("secret")))
    write(tmp_path / "runs" / "one", started("mine"), ended(started("mine")))
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "elsewhere")
    assert [r.task.id for r in ReportSource(tmp_path / "runs").read().episodes] == ["mine"]


def test_a_bench_that_runs_shows_what_ended_and_what_has_begun(tmp_path: Path) -> None:
    tasks = tuple(Task(f"t/{n}", "household", "clean") for n in range(3))
    cell = grid.BenchCell("household.mine.scripted", "household", "household", "adaplanner", "scripted")
    with store.BenchStore(tmp_path, grid.BenchGrid((cell,), {"household": tasks})) as kept:
        run = store.episode_folder(cell.name, "t/0", 0)
        kept.append(store.EpisodeOutcome(cell.name, tasks[0], 0, run, Result(tasks[0], Success())))
        write(tmp_path / store.episode_folder(cell.name, "t/1", 0), started("t/1"))
        found = ReportSource(tmp_path).read()
    assert [(r.task.id, r.state) for r in found.episodes] == [("t/0", "success"), ("t/1", "open")]
    assert found.total == 3
    assert found.columns[0].name == "mine"
    shown = build_overview(found)
    assert shown["total"] == 3
    assert [e[4] for e in shown["episodes"]] == ["success", "open"]


def test_the_figures_agree_with_the_bench(bench: Path) -> None:
    read = store.read_bench(bench)
    shown = build_overview(ReportSource(bench).read())
    compared = build_comparison(str(bench), None, ("actions",))
    for cell, column in zip(read.cells, shown["columns"], strict=True):
        ended_ones = read.outcomes_of(cell.name)
        solved = sum(e.result.success for e in ended_ones)
        assert column["rate"] == [
            solved,
            len(ended_ones),
            *(round(x, 4) for x in wilson_interval(solved, len(ended_ones))),
        ]
        actions = sum(e.result.actions for e in ended_ones) / len(ended_ones)
        assert column["means"]["actions"] == pytest.approx(actions)
        _, row = next(s for s in compared.statistics if s[0] == cell.name)
        estimate = row[-1].metrics["actions"]
        assert column["intervals"]["actions"] == pytest.approx([estimate.low, estimate.high])
        assert column["scripted"]
    (group,) = shown["groups"]
    assert (group["env"], group["columns"], len(group["kinds"])) == ("household", [0, 1], 6)
    by_kind = [rates[0] for rates in group["byKind"]]
    assert sum(rate[0] for rate in by_kind) == shown["columns"][0]["rate"][0]
    assert sum(rate[1] for rate in by_kind) == shown["columns"][0]["rate"][1]


def test_broken_episodes_count_apart(tmp_path: Path) -> None:
    tasks = tuple(Task(f"t/{n}", "household", "clean") for n in range(2))
    cell = grid.BenchCell("c", "household", "household", "adaplanner", "scripted")
    with store.BenchStore(tmp_path, grid.BenchGrid((cell,), {"household": tasks})) as kept:
        kept.append(store.EpisodeOutcome("c", tasks[0], 0, "runs/c/0", Result(tasks[0], Success())))
        broken = Result(tasks[1], InfrastructureFailed("ModelError", "no answer"))
        kept.append(store.EpisodeOutcome("c", tasks[1], 0, "runs/c/1", broken, broken=True, failures=3))
    column = build_overview(ReportSource(tmp_path).read())["columns"][0]
    assert (column["rate"][:2], column["broken"]) == ([1, 1], 1)


def test_success_against_refinements_grows_with_what_is_allowed() -> None:
    results = [result(refinements=0), result(refinements=2), result(success=False, refinements=3)]
    assert [row[:3] for row in refinement_curve(results, 3)] == [[0, 1, 3], [1, 1, 3], [2, 2, 3], [3, 2, 3]]


def test_success_against_cost_counts_the_solved_ones_in_order_of_cost() -> None:
    results = [result(tokens=n) for n in (30, 10)] + [result(success=False), result(tokens=20)]
    assert cost_curve(results, lambda m: m.tokens) == [[10, 0.25], [20, 0.5], [30, 0.75]]


def test_cost_is_money_where_it_is_known_of_all_else_tokens_else_calls() -> None:
    paid = result(money=0.5)
    assert cost_unit([paid]) == "money"
    assert cost_unit([paid, result()]) == "tokens"
    assert cost_unit([paid, result(tokens=None)]) == "calls"


def test_published_results_are_apart_from_ours_with_model_and_source(tmp_path: Path) -> None:
    tasks = tuple(envs.make("textcraft").tasks("test"))
    cell = grid.BenchCell("c", "textcraft", "textcraft", "adapt", "scripted")
    with store.BenchStore(tmp_path, grid.BenchGrid((cell,), {"textcraft": tasks})) as kept:
        kept.append(store.EpisodeOutcome("c", tasks[0], 0, "runs/c/0", Result(tasks[0], Success())))
    shown = build_overview(ReportSource(tmp_path).read())
    assert [p["rates"]["all"] for p in shown["published"] if "Table 2" in p["source"]] == [52.0]
    assert all(p["model"] and p["source"] for p in shown["published"])
    assert not any(p["model"] == "scripted" for p in shown["published"])
    assert len(shown["columns"]) == 1


def test_published_results_on_other_tasks_are_not_shown_and_the_page_says_why(tmp_path: Path) -> None:
    tasks = tuple(envs.make("textcraft").tasks("test"))[:5]
    cell = grid.BenchCell("c", "textcraft", "textcraft", "adapt", "scripted")
    with store.BenchStore(tmp_path, grid.BenchGrid((cell,), {"textcraft": tasks})):
        shown = build_overview(ReportSource(tmp_path).read())
    assert shown["published"] == []
    assert any("adapt-table2-textcraft" in reason and "200 tasks" in reason for reason in shown["unpublished"])


def test_a_line_of_results_cannot_lead_to_another_folder(tmp_path: Path) -> None:
    write(tmp_path / "secret", started("secret"), acted())
    task = Task("t/0", "household", "clean")
    cell = grid.BenchCell("c", "household", "household", "adaplanner", "scripted")
    with store.BenchStore(tmp_path / "bench", grid.BenchGrid((cell,), {"household": (task,)})) as kept:
        kept.append(store.EpisodeOutcome("c", task, 0, "../secret", Result(task, Success())))
    (run,) = ReportSource(tmp_path / "bench").read().episodes
    assert run.folder.is_relative_to(tmp_path / "bench" / "runs")


def test_names_of_columns_are_short_and_unique_whatever_the_settings(tmp_path: Path) -> None:
    deep: object = 1
    for _ in range(190):
        deep = [deep]
    odd: list[dict[str, object]] = [{f"s{run}_{n}": n for n in range(2_000)} for run in range(3)]
    odd += [{"a": deep}, {"a": [deep, 2]}, {"b": "x" * 100_000}, {"b": "x" * 100_001}, {"\x1b[2J" * 500: 1}]
    for number, settings in enumerate(odd):
        write(tmp_path / f"r{number}", replace(started(), settings=settings), acted())
    names = [column.name for column in ReportSource(tmp_path).read().columns]
    assert len(set(names)) == len(odd)
    assert all(len(name) < 2_000 and name.isprintable() for name in names)


def test_a_bench_with_very_many_repeats_looks_for_no_episode_that_has_no_folder(tmp_path: Path) -> None:
    tasks = tuple(Task(name, "household", "clean") for name in ("t-r2", "t", "../x"))
    cell = grid.BenchCell("c", "household", "household", "adaplanner", "scripted")
    whole = grid.BenchGrid((cell,), {"household": tasks}, repeats=grid.MAX_EPISODES // 3)
    (tmp_path / store.GRID_FILE).write_bytes(msgspec.json.encode(whole))
    begun = [(tasks[0], 0), (tasks[2], 0), (tasks[1], 7), (tasks[0], grid.MAX_EPISODES // 3 - 1)]
    for task, repeat in begun:
        write(tmp_path / store.episode_folder("c", task.id, repeat), started(), acted())
    for name in ("t-r99999999999999999999", "t-r-1", "other", "t-r٣"):
        write(tmp_path / "runs" / "c" / name, started(), acted())
    assert [(e.task, e.repeat) for e in ReportSource(tmp_path).read().episodes] == begun


def pears() -> int:
    """The pears that there are."""
    return 3


def apples() -> int:
    """The apples that there are."""
    return 2


def looks(messages: object) -> str:
    """A model whose plans return at once."""
    return "```python\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n        return agent.report()\n```"


def test_runs_on_tools_are_one_task_only_with_one_goal_and_the_same_tools_and_verifier(tmp_path: Path) -> None:
    def verify(value: object) -> bool:
        return True

    def verify_strictly(value: object) -> bool:
        return value is not None

    for name, goal, tools, judge in (
        ("a", "Count", pears, verify),
        ("b", "Count", pears, verify),
        ("c", "Fly to Saturn", pears, verify),
        ("d", "Count", apples, verify),
        ("e", "Count", pears, None),
        ("f", "Count", pears, verify_strictly),
        ("g", "Count", pears, lambda value: True),
    ):
        do(goal, tools=tools, verify=judge, model=looks, out=tmp_path / name)
    read = ReportSource(tmp_path).read()
    a, b, *others = [run.task.id for run in read.episodes]
    assert a == b
    assert len({a, *others}) == 6
    shown = build_overview(read)
    for row, folder in zip(shown["episodes"], "abcdefg", strict=True):
        assert re.fullmatch(rf"{folder}, \d{{4}}-\d\d-\d\d \d\d:\d\d UTC", row[2])
    assert [row[3] for row in shown["episodes"]] == ["Count" if name != "c" else "Fly to Saturn" for name in "abcdefg"]


def test_sessions_are_shown_with_their_turns_and_repeat_no_goal(tmp_path: Path) -> None:
    for name, messages in {"a": ["Count", "Again", "And now?"], "b": ["Count"], "c": ["Count", "And now?"]}.items():
        with Session(folder=tmp_path / name, tools=pears, model=looks) as session:
            results = [session.do(message) for message in messages]
    do("Count", tools=pears, model=looks, out=tmp_path / "d")
    source = ReportSource(tmp_path)
    shown = build_overview(source.read())
    rows = shown["episodes"]
    assert [row[3] for row in rows] == ["Count … And now? (3 turns)", "Count", "Count … And now? (2 turns)", "Count"]
    assert [shown["kinds"][row[1]] for row in rows] == ["session", "goal", "session", "goal"]
    assert [(row[4], row[5]) for row in rows] == [("claimed", results[-1].reason)] * 4
    assert [row[10] for row in rows] == [3, 1, 2, 1], "model calls of all turns"
    assert all(re.fullmatch(rf"{name}, .* UTC", row[2]) for name, row in zip("abcd", rows, strict=True))
    a, b, c, d = [run.task.id for run in source.read().episodes]
    assert b == d
    assert len({a, b, c}) == 3
    with Session(folder=tmp_path / "a", tools=pears, model=looks) as session:
        session.do("Thanks")
    assert build_overview(source.read())["episodes"][0][3] == "Count … Thanks (4 turns)"


def test_other_goals_are_no_repetitions_of_one_task(tmp_path: Path) -> None:
    for name, goal, success in (("a", "Count", True), ("b", "Fly to Saturn", False)):
        start = started("goal", env="tools")
        start = replace(start, task=Task("goal", env="tools", kind="goal", goal=goal))
        write(tmp_path / name, start, ended(start, success=success))
    (column,) = build_overview(ReportSource(tmp_path).read())["columns"]
    assert column["passes"] == []
    assert column["rate"][:2] == [1, 2]


def test_branches_stand_below_the_run_that_they_left_and_do_not_count(tmp_path: Path) -> None:
    other = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        agent.goto('shelf 1')\n"
    run("household", "clean/22", model="scripted", out=tmp_path / "b-whole")
    fork(tmp_path / "b-whole", 2, tmp_path / "a-other", plan=other)
    fork(tmp_path / "a-other", 10, tmp_path / "c-deeper", answer="no")
    write(tmp_path / "d-alone", started("heat/5"), ended(started("heat/5")))
    overview = build_overview(ReportSource(tmp_path).read())
    assert overview["branches"] == [[1, None, 0, "b-whole"], [0, 1, 2, "a-other"], [2, 0, ANY, "c-deeper"]]
    assert overview["branches"][2][2] >= 10
    assert sum(column["rate"][1] for column in overview["columns"]) == 2


def test_a_branch_without_its_origin_is_a_run_like_any_other(tmp_path: Path) -> None:
    run("household", "clean/22", model="scripted", out=tmp_path / "whole")
    fork(tmp_path / "whole", 5, tmp_path / "runs" / "branch")
    overview = build_overview(ReportSource(tmp_path / "runs").read())
    assert (overview["branches"], overview["columns"][0]["rate"][1]) == ([], 1)
