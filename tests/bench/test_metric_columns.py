"""A metric is a column: in a bench's table, in comparisons and in papers' tables, from one list."""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from codeplan.bench.cell_comparison import build_overview
from codeplan.bench.grid import BenchCell, BenchGrid
from codeplan.bench.metrics import (
    METRICS,
    STANDARD_METRICS,
    EpisodeMeasures,
    estimate_metric,
    parse_metrics,
    usual_metrics,
)
from codeplan.bench.store import BenchStore, EpisodeOutcome
from codeplan.bench.tables import build_tables, statistics_table
from codeplan.cli.app import main
from codeplan.errors import UsageError
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
    return EpisodeMeasures(**{**usual, "success": False, "reward": 0.0, "claim": None, **given})


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
    assert "reward" in columns_of(bench(tmp_path / "partial"))
    plain = columns_of(bench(tmp_path / "whole", (0.0, 1.0) * 4))
    assert "reward" in plain  # the second cell has partial rewards
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


def test_json_has_the_metrics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = bench(tmp_path)
    assert main(["compare", folder, "--metrics", "reward", "--json"]) == 0
    statistics = json.loads(capsys.readouterr().out)["statistics"]
    assert set(statistics["a"][-1]["metrics"]) == {"reward"}


@pytest.mark.parametrize("command", [["bench", "household"], ["compare", "runs"]])
def test_an_unknown_metric_ends_in_a_sentence(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--metrics", "succes"]) == 2
    assert "there is no metric 'succes'; did you mean 'success'" in capsys.readouterr().err
