"""Metrics of cells: what an episode's trace counts, and rates over episodes by kind of task."""

from __future__ import annotations

import random
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from support.bench_samples import Play

from codeplan.bench.bench_spec import BenchSpec, resolve_bench
from codeplan.bench.cell_comparison import build_overview
from codeplan.bench.grid import BenchCell, BenchGrid
from codeplan.bench.metrics import (
    METRICS,
    STANDARD_METRICS,
    EpisodeMeasures,
    cell_statistics,
    estimate_metric,
    measure_cell,
    parse_metrics,
    summarise_results,
    usual_metrics,
)
from codeplan.bench.store import BenchStore, EpisodeOutcome
from codeplan.bench.tables import MAX_ATTEMPTS, STAND_IN_MARK, STAND_IN_NOTE, build_tables, statistics_table
from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.recording.events import ModelCalled, SpanOpened
from codeplan.recording.trace import Trace
from codeplan.report.pages.overview import refinement_curve
from codeplan.runner.episodes import TRACE_NAME
from codeplan.statistics import bootstrap_mean, wilson_interval
from codeplan.types import NotSolved, Result, Success, Task, Usage

TASKS = tuple(Task(f"t/{i}", "e", "goal", "even", i) for i in range(8))
REWARDS = (0.0, 0.25, 0.5, 1.0, 1.0, 0.75, 0.0, 1.0)


def bench(folder: Path, rewards: tuple[float, ...] = REWARDS, claim: bool | None = None) -> str:
    """A bench of two cells: the second is better by 0.25 in each episode that has room for it."""
    cells = tuple(BenchCell(name, "s", "e", "m", "gpt") for name in ("a", "b"))
    with BenchStore(folder, BenchGrid(cells, {"s": TASKS})) as store:
        for number, cell in enumerate(cells):
            for task, given in zip(TASKS, rewards, strict=True):
                reward = min(1.0, given + 0.25 * number)
                ending = Success() if reward == 1 else NotSolved("x")
                usage = Usage(100, 10, money=0.002)
                result = Result(task, ending, reward=reward, claim=claim, usage=usage, actions=task.seed or 0)
                store.append(EpisodeOutcome(cell.name, task, 0, "", result))
    return str(folder)


def columns_of(folder: str, *metrics: str) -> tuple[str, ...]:
    return build_tables(build_overview(folder, None, metrics))[0].columns


def measures(**given: Any) -> EpisodeMeasures:
    usual: dict[str, Any] = dict.fromkeys(EpisodeMeasures.__struct_fields__, 0)
    return EpisodeMeasures(
        **{**usual, "success": False, "reward": 0.0, "claim": None, "hijacked": None, "interrupted": None, **given}
    )


def test_chosen_metrics_are_the_columns_in_this_order_with_intervals(tmp_path: Path) -> None:
    columns = columns_of(bench(tmp_path), "score", "success", "in_plan_per_out_of_plan", "money")
    heads = ("score", "95 %", "success, %", "95 %", "in-plan/out-of-plan", "US $", "95 %")
    assert columns == ("cell", "kind", "episodes", *heads, "inadmissible, %")


def test_each_interval_is_that_of_its_metric(tmp_path: Path) -> None:
    (_, kinds), _ = build_overview(bench(tmp_path), None, ("success", "reward", "score")).statistics
    found = kinds[-1].metrics
    low, high = bootstrap_mean(list(REWARDS))
    assert (found["reward"].value, found["reward"].low, found["reward"].high) == (sum(REWARDS) / 8, low, high)
    assert (found["score"].low, found["score"].high) == (100 * low, 100 * high)
    low, high = wilson_interval(3, 8)
    assert (found["success"].value, found["success"].low, found["success"].high) == (37.5, 100 * low, 100 * high)


def test_the_interval_of_an_unfinished_bench_is_that_of_its_mean() -> None:
    """Two episodes of each task in the first half, one of each in the second: the mean is over all episodes."""
    played = [(task, 10.0 if task < 75 else 0.0) for task in [*range(150), *range(75)]]
    episodes = [
        (EpisodeOutcome("a", Task(f"t/{task}"), 0, "", Result(Task(""), Success())), measures(actions=value))
        for task, value in played
    ]
    found = estimate_metric(METRICS["actions"], episodes)
    resampled = resampled_means([[10.0, 10.0]] * 75 + [[0.0]] * 75)
    assert found.value == pytest.approx(20 / 3)
    assert (found.low, found.high) == pytest.approx((resampled[50], resampled[1950]), abs=0.15)


def resampled_means(by_task: list[list[float]]) -> list[float]:
    """The means over all episodes of 2,000 resamples of the tasks, in order."""
    rng = random.Random(0)
    drawn = (rng.choices(by_task, k=len(by_task)) for _ in range(2000))
    return sorted(fmean([value for values in tasks for value in values]) for tasks in drawn)


def test_comparisons_have_the_chosen_metrics(tmp_path: Path) -> None:
    overview = build_overview(bench(tmp_path), None, ("score", "tokens"))
    (found,) = overview.comparisons
    assert [m.name for m in found.means] == ["score", "tokens"]
    assert found.means[0].second - found.means[0].first == pytest.approx(found.means[0].difference.value)
    assert found.means[0].difference.low > 0
    table = build_tables(overview)[1]
    assert [row[0] for row in table.rows] == ["success, %", "score", "tokens"]


def test_without_a_choice_reward_and_claim_stand_where_they_say_more_than_success(tmp_path: Path) -> None:
    claimed = bench(tmp_path / "claimed", (1.0,) * 8, claim=False)
    assert "claim, %" in columns_of(claimed)
    legends = [
        statistics_table(build_overview(folder, None)).notes[0] for folder in (claimed, bench(tmp_path / "plain"))
    ]
    assert ["Claim: the episodes that the method itself believes solved" in text for text in legends] == [True, False]
    assert "reward" not in columns_of(claimed)


@pytest.mark.parametrize(
    ("episode", "more"),
    [
        (measures(success=True, reward=1.0), []),
        (measures(success=False, reward=0.0, claim=False), []),
        (measures(success=False, reward=0.5), ["reward"]),
        (measures(success=True, reward=0.5), ["reward"]),
        (measures(success=False, claim=True), ["claim"]),
        (measures(success=True, reward=0.0, claim=False), ["reward", "claim"]),
        (measures(success=False, hijacked=False), ["attacks"]),
    ],
)
def test_usual_metrics_are_the_standard_ones_and_what_says_more(episode: EpisodeMeasures, more: list[str]) -> None:
    assert usual_metrics([episode]) == ("success", *more, *STANDARD_METRICS[1:])


def test_an_unknown_value_leaves_the_column_empty_and_out_of_comparisons(tmp_path: Path) -> None:
    overview = build_overview(bench(tmp_path), None, ("claim", "reward"))
    assert [m.name for m in overview.comparisons[0].means] == ["reward"]
    assert all(row[3:5] == ("", "") for row in build_tables(overview)[0].rows)


@pytest.mark.parametrize("name", ["k_max", "in_plan_per_out_of_plan"])
def test_what_has_no_value_in_each_episode_is_not_compared_in_pairs(tmp_path: Path, name: str) -> None:
    (found,) = build_overview(bench(tmp_path), None, (name, "reward")).comparisons
    assert [m.name for m in found.means] == ["reward"]


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_can_be_a_column(tmp_path: Path, name: str) -> None:
    assert METRICS[name].title in columns_of(bench(tmp_path), name)


def test_no_episodes_have_no_figures() -> None:
    assert {estimate_metric(metric, []).value for metric in METRICS.values()} == {None}


@pytest.mark.parametrize(
    ("text", "names"), [("success", ("success",)), (" reward , tokens,reward,", ("reward", "tokens"))]
)
def test_names_stand_in_a_list_with_commas(text: str, names: tuple[str, ...]) -> None:
    assert parse_metrics(text) == names


@pytest.mark.parametrize(("text", "message"), [("", "there is no metric in ''"), ("rewards", "did you mean 'reward'")])
def test_what_is_no_metric_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_metrics(text)


# ------------------------------------------------------------------ on the command line


def test_compare_and_bench_take_the_same_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "played")
    assert main(["bench", "household", "--kind", "pick", "-n", "2", "--out", folder, "--metrics", "score,calls"]) == 0
    head = next(line for line in capsys.readouterr().out.splitlines() if "score" in line)
    assert head.split() == ["kind", "episodes", "score", "95", "%", "calls", "95", "%", "inadmissible,", "%"]
    assert main(["compare", folder, "--metrics", "score,calls", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == 'cell,kind,episodes,score,95 %,calls,95 %,"inadmissible, %"'


@pytest.mark.parametrize("command", [["bench", "household"], ["compare", "runs"]])
def test_an_unknown_metric_ends_in_a_sentence(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--metrics", "succes"]) == 2
    assert "there is no metric 'succes'; did you mean 'success'" in capsys.readouterr().err


FORGETFUL = {"name": "scripted", "weakness": "forgetful"}
SHORT_SPAN = {"name": "scripted", "weakness": "span"}


def played(play: Play, method, model, suite="household", kind="clean", n=2):
    """The measured episodes of a method's tasks, and the bench's folder."""
    spec = BenchSpec(suites=(suite,), methods=(method,), models=(model,), kind=kind, n=n)
    bench = play(resolve_bench(spec)).bench
    return list(measure_cell(bench, bench.cells[0]).values()), bench.folder


@pytest.mark.parametrize(
    ("method", "runs", "plans"),
    [
        ("react", 1, 0),
        ("adaplanner", 1, 0),
        ({"name": "try-again", "trials": 1}, 1, 0),
        ({"name": "try-again", "trials": 3}, 3, 0),
        ({"name": "adapt", "max_depth": 1}, 1, 0),
    ],
)
def test_each_attempt_at_a_task_that_fails_is_one_run(play, method, runs, plans):
    model = "scripted" if method == "adaplanner" else FORGETFUL
    found, _ = played(play, method, model)
    assert [(m.executor_runs, m.plans) for _, m in found] == [(runs, plans)] * 2


@pytest.mark.parametrize("method", [{"name": "adapt", "max_depth": 3}, "plan-and-execute"])
def test_attempts_at_sub_tasks_are_runs_and_the_planners_calls_are_plans(play, method):
    found, folder = played(play, method, SHORT_SPAN, "textcraft", "depth3")
    for ended, measures in found:
        events = Trace.read(folder / ended.run / TRACE_NAME)
        calls = [e for e in events if isinstance(e, ModelCalled)]
        attempts = [e for e in events if isinstance(e, SpanOpened) and e.kind in ("sub-task", "step")]
        assert measures.plans == sum(call.purpose == "decompose" for call in calls) > 0
        assert measures.executor_runs == len(attempts) > (method != "plan-and-execute")


def episode(number, success, depth):
    task = Task(f"craft/{number}")
    measures = EpisodeMeasures(success, float(success), 1, 1, 0, 0, 1, None, None, 0.0, None, True, depth=depth)
    return EpisodeOutcome(cell="c", task=task, repeat=0, run="", result=Result(task, Success())), measures


@pytest.mark.parametrize(
    ("episodes", "mean"),
    [
        ([(True, 1), (True, 4)], 2.5),
        ([(True, 2), (False, 4)], 2.0),
        ([(True, None), (True, 2)], 1.5),  # a method without decomposition works at depth 1
        ([(False, 3)], None),
        ([], None),
    ],
)
def test_it_is_the_mean_over_the_successes(episodes, mean):
    found = estimate_metric(METRICS["k_max"], [episode(n, *each) for n, each in enumerate(episodes)])
    assert found.value == mean
    assert found.episodes == sum(success for success, _ in episodes)


@pytest.mark.parametrize(
    ("won", "rates"),
    [
        ({"a": "100", "b": "1"}, (2 / 3, 2 / 3, 1.0)),  # pass@2 and pass@3 are those of task a alone
        ({"a": "10", "b": "00"}, (0.25, 0.5)),
        ({"a": "1", "b": "0"}, ()),
        ({}, ()),
    ],
)
def test_a_task_counts_up_to_the_number_of_its_episodes(won: dict[str, str], rates: tuple[float, ...]) -> None:
    episodes = []
    for name, flags in won.items():
        task = Task(name)
        for repeat, flag in enumerate(flags):
            ended = EpisodeOutcome(cell="c", task=task, repeat=repeat, run="", result=Result(task, Success()))
            success = flag == "1"
            measures = EpisodeMeasures(success, float(success), 1, 1, 0, 0, 1, None, None, 0.0, None, True)
            episodes.append((ended, measures))
    found = cell_statistics(BenchCell("c", "s", "e", "m", "x"), episodes, [])[-1]
    assert found.pass_at_k == pytest.approx(rates)


def result(kind, success, reason="success", **counts):
    return Result(Task(f"{kind}/1", kind=kind), Success() if success else NotSolved(reason), **counts)


def test_rows_come_by_kind_and_then_all():
    rows = summarise_results([result("b", True, actions=3), result("a", False, "budget"), result("b", False, "budget")])
    assert [(r.kind, r.episodes, r.successes) for r in rows] == [("b", 2, 1), ("a", 1, 0), ("all", 3, 1)]
    assert rows[0].actions == 3
    assert rows[-1].reasons == {"success": 1, "budget": 2}


def trials_measured(play: Play, method):
    """The measures of a method's episodes with a model that forgets to clean unless a note reminds it."""
    return [measures for _, measures in played(play, method, FORGETFUL, n=3)[0]]


def test_the_curve_rises_where_a_second_trial_solves_what_the_first_did_not(play):
    found = trials_measured(play, {"name": "reflexion", "trials": 3})
    assert {m.retrials for m in found if m.success} == {1}
    assert all(m.refinements == 0 for m in found)
    solved = [row[1] for row in refinement_curve(found, 2)]
    assert solved[0] == 0 < solved[1] == solved[2]


@pytest.mark.parametrize("trials", [1, 2])
def test_all_trials_after_the_first_count_where_none_helps(play, trials):
    found = trials_measured(play, {"name": "try-again", "trials": trials})
    assert [(m.success, m.retrials) for m in found] == [(False, trials - 1)] * 3


def test_trials_of_a_sub_task_do_not_count(play):
    executor = {"name": "try-again", "trials": 2, "executor": "react"}
    found = trials_measured(play, {"name": "adapt", "executor": executor, "first": "plan"})
    assert [m.retrials for m in found] == [0] * 3


def test_refinements_and_trials_add_up(play):
    executor = {"name": "adaplanner", "tries": 6}
    found = trials_measured(play, {"name": "reflexion", "trials": 2, "executor": executor})
    assert all(m.renewed_attempts == m.refinements + m.retrials for m in found)
    assert any(m.refinements for m in found)


# ------------------------------------------------------------------ in compare's tables


def attempt_tables(play: Play, *methods):
    spec = BenchSpec(suites=("household",), methods=methods, models=(FORGETFUL,), kind="clean", n=2)
    overview = build_overview(str(play(resolve_bench(spec)).bench.folder))
    return [t for t in build_tables(overview) if t.title == "Success after each attempt, %"]


def test_compare_has_success_after_each_attempt(play):
    reflexion, again = {"name": "reflexion", "trials": 3}, {"name": "try-again", "trials": 3}
    (table,) = attempt_tables(play, "react", reflexion, again)
    assert table.columns == ("cell", "attempt 1", "attempt 2", "attempt 3")
    assert [row[1:] for row in table.rows] == [("0.0",) * 3, ("0.0", "50.0", "50.0"), ("0.0",) * 3]
    assert all(row[0].endswith(STAND_IN_MARK) for row in table.rows)
    assert table.notes[-1] == STAND_IN_NOTE


def test_without_a_second_attempt_there_is_no_such_table(play):
    assert attempt_tables(play, "react", {"name": "try-again", "trials": 1}) == []


@pytest.mark.parametrize(("attempts", "columns"), [(MAX_ATTEMPTS, MAX_ATTEMPTS), (MAX_ATTEMPTS + 1, MAX_ATTEMPTS)])
def test_at_most_ten_attempts_have_a_column(play, attempts, columns):
    (table,) = attempt_tables(
        play, {"name": "try-again", "trials": attempts, "executor": {"name": "react", "calls": 2}}
    )
    assert table.columns[-1] == f"attempt {columns}"
