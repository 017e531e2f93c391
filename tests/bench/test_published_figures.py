"""The papers' tables, and which of their figures may stand beside a bench."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codeplan import envs
from codeplan.bench.grid import BenchCell, BenchGrid
from codeplan.bench.metrics import METRICS
from codeplan.bench.paper_bench import P_VALUE
from codeplan.bench.papers import (
    PublishedResults,
    not_run,
    published_results,
    published_table,
    published_tables,
    task_counts,
)
from codeplan.bench.store import BenchRecord
from codeplan.errors import UsageError
from codeplan.types import Task

WEBSHOP = Path(__file__).parents[2] / ".." / "shared" / "fixtures" / "webshop_transcripts.jsonl"
SPEC = Path(__file__).parents[2] / ".." / "shared" / "specs" / "paper_tables.toml"


def shown(env: str, tasks: tuple[Task, ...], method: str = "adapt", **settings: Any) -> PublishedResults:
    cell = BenchCell("c", "suite", env, method, "scripted", settings)
    return published_results(BenchRecord(Path(), BenchGrid((cell,), {"suite": tasks})))


def alfworld(**counts: int) -> tuple[Task, ...]:
    counts = task_counts("alfworld") | counts
    return tuple(
        Task(f"{kind}/{n}", "alfworld", kind, split="valid_unseen")
        for kind, most in counts.items()
        for n in range(most)
    )


def shop(goals: dict[int, str], split: str = "test") -> tuple[Task, ...]:
    return tuple(
        Task(f"buy/{n}", "webshop", "buy", f"{goals.get(n, 'a mug')}, and price lower than {n}.00 dollars", n, split)
        for n in range(100)
    )


def overall(found: PublishedResults) -> list[float | None]:
    return [row.rates.get("all") for row in found.rows]


# ------------------------------------------------------------------ the tables


def test_the_file_has_every_table_of_the_specification() -> None:
    if not SPEC.is_file():
        pytest.skip("the specification is not here (../shared/specs)")
    import tomllib

    wanted = tomllib.loads(SPEC.read_text("utf-8"))["table"]
    assert [(t.id, len(t.rows)) for t in published_tables()] == [(t["id"], len(t.get("row", []))) for t in wanted]


def test_the_three_papers_report_twenty_one_experiments_and_three_released_runs() -> None:
    parts = dict.fromkeys(table.part_of for table in published_tables())
    released = {table.part_of for table in published_tables() if table.where.startswith("result file")}
    assert (len(parts), len(released)) == (24, 3)


def test_each_metric_is_either_measured_or_listed_with_the_reason_why_not() -> None:
    every = {table.metric for table in published_tables()}
    assert every == (every & {*METRICS, P_VALUE}) | {*not_run().metrics}
    assert not {*METRICS} & {*not_run().metrics}


def test_shares_by_kind_add_up_to_the_overall_rate() -> None:
    counts = task_counts("alfworld")
    row = published_table("adapt-table6").rows[-1]
    won = sum(row.kinds[kind] * n for kind, n in counts.items())
    assert won / 134 == pytest.approx(row.overall, abs=0.1)


def test_the_miniwob_rows_of_adaplanner_are_gpt_35() -> None:
    assert published_table("adaplanner-table3").rows[-1].model == "GPT-3.5 (text-davinci-003)"
    assert published_table("adaplanner-table2").rows[-1].overall == 80.6


def test_an_unknown_table_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="did you mean 'adapt-table8'"):
        published_table("adapt-table9")


# ------------------------------------------------------------------ beside a bench


def test_figures_on_the_papers_own_tasks_are_shown_with_model_and_source() -> None:
    found = shown("alfworld", alfworld())
    assert {71.6, 79.8, 79.85} <= {*overall(found)}
    assert all(row.model and row.source for row in found.rows)
    assert not any("134 tasks" in reason for reason in found.reasons)


def test_figures_of_methods_that_the_bench_does_not_play_are_left_out() -> None:
    assert {row.method for row in shown("alfworld", alfworld(), "react").rows} >= {"react", "ReAct (0 Shot)"}
    assert not any("butler" in row.method for row in shown("alfworld", alfworld(), "react").rows)


def test_another_number_of_tasks_hides_the_figures_and_says_so() -> None:
    found = shown("alfworld", alfworld()[:12])
    assert found.rows == ()
    assert any("the paper has 134 tasks, this bench 12" in reason for reason in found.reasons)


def test_as_many_tasks_of_other_kinds_are_other_tasks() -> None:
    found = shown("alfworld", alfworld(pick=23, clean=32))
    assert found.rows == ()
    assert any("other numbers of tasks" in reason for reason in found.reasons)


def test_the_invented_shop_never_has_a_papers_figure_beside_it() -> None:
    found = shown("webshop", tuple(envs.make("webshop").tasks("test"))[:100])
    assert found.rows == ()
    assert any("invented shop" in reason and "adapt-table2-webshop" in reason for reason in found.reasons)


def test_a_part_of_webshops_products_has_other_goals_and_no_figures() -> None:
    found = shown("webshop", shop({}), data="folder")
    assert found.rows == ()
    assert any("1.18 million products" in reason for reason in found.reasons)


@pytest.mark.skipif(not WEBSHOP.is_file(), reason="the recorded goals are not here (../shared/fixtures)")
def test_webshops_own_goals_have_the_figures_whatever_their_price_caps() -> None:
    lines = map(json.loads, WEBSHOP.read_text("utf-8").splitlines())
    goals = {int(r["id"].removeprefix("fixed_")): r["goal"].partition(", and price lower")[0] for r in lines}
    assert 44.0 in overall(shown("webshop", shop(goals), data="folder"))
    assert shown("webshop", shop(goals | {96: "another"}), data="folder").rows == ()
    assert shown("webshop", shop(goals, "train"), data="folder").rows == ()


def test_repeats_of_the_53_pages_have_the_figures_and_a_part_of_them_has_not() -> None:
    pages = tuple(published_table("adaplanner-appendix-f").rows[0].kinds)
    tasks = tuple(Task(f"{page}/{n}", "miniwob", page, seed=n) for page in pages for n in range(3))
    assert 92.87 in overall(shown("miniwob", tasks, "adaplanner"))
    assert shown("miniwob", tasks[:-3], "adaplanner").rows == ()
    assert any(
        "different numbers of episodes" in reason for reason in shown("miniwob", tasks[:-1], "adaplanner").reasons
    )


def test_judged_answers_never_stand_beside_exact_match() -> None:
    tasks = tuple(Task(f"bridge/{n}", "hotpotqa", "bridge", split="dev") for n in range(200))
    assert shown("hotpotqa", tasks, "react").rows == ()


def test_an_environment_of_no_paper_has_neither_figures_nor_reasons() -> None:
    assert shown("household", (Task("pick/0", "household", "pick"),)) == PublishedResults()
