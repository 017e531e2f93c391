"""Runs recorded with real models, put into the papers' tables: the reported outcomes come out for the recorded half."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from support.recorded_runs import FIXTURES, recorded_bench

from codeplan.bench.paper_bench import build_paper_tables
from codeplan.bench.papers import find_experiment, published_table, task_counts
from codeplan.bench.tables import STAND_IN_MARK, BenchTable
from codeplan.statistics import wilson_interval

ALFWORLD = ("adapt-released-alfworld", 0, 0, "text-davinci-003")
TEXTCRAFT = ("adapt-released-textcraft", 0, 0, "gpt-3.5-turbo-instruct")
WEBSHOP = ("adapt-table2", 0, 0, "text-davinci-002")


def measured(table: BenchTable) -> dict[str, str]:
    """Our line of the table, by column."""
    (line,) = (row for row in table.rows if row[1].startswith("here"))
    return dict(zip(table.columns, line, strict=True))


def first_table(of: tuple[str, int, int, str]) -> BenchTable:
    return build_paper_tables(find_experiment(of[0]), recorded_bench(*of))[0]


@pytest.mark.parametrize(
    ("of", "table", "episodes"),
    [(ALFWORLD, "adapt-released-alfworld-success", 67), (TEXTCRAFT, "adapt-released-textcraft-success", 100)],
)
def test_the_recorded_half_has_its_outcomes_and_fits_the_whole_run(of, table, episodes):
    bench = recorded_bench(*of)
    line = measured(build_paper_tables(find_experiment(of[0]), bench)[0])
    assert line["episodes"] == str(episodes)
    solved = Counter(e.task.kind for e in bench.outcomes if e.result.success)
    played = Counter(e.task.kind for e in bench.outcomes)
    published = published_table(table).rows[0]
    assert published.overall is not None
    for kind, percent in published.kinds.items():
        assert line[kind] == f"{100 * solved[kind] / played[kind]:.1f}"
        low, high = wilson_interval(solved[kind], played[kind])
        assert 100 * low <= percent <= 100 * high + 1e-9, kind
        whole = task_counts(published_table(table).environment)[kind]
        assert solved[kind] <= round(percent * whole / 100)  # the half is a part of the whole run
    low, high = wilson_interval(solved.total(), episodes)
    assert line["success, %"] == f"{100 * solved.total() / episodes:.1f}"
    assert line["95 %"] == f"{100 * low:.1f} to {100 * high:.1f}"
    assert 100 * low < published.overall < 100 * high


def test_reacts_recorded_run_in_webshop_is_a_row_with_success_and_score():
    line = measured(first_table(WEBSHOP))
    assert (line["row"], line["episodes"], line["success, %"]) == ("react", "25", "40.0")
    _, score = build_paper_tables(find_experiment("adapt-table7"), recorded_bench("adapt-table7", 0, 0, "x"))
    found = measured(score)
    lines = [json.loads(line) for line in (FIXTURES / "webshop_transcripts.jsonl").read_text().splitlines()]
    scores = [line["score"] for line in lines if int(line["id"].removeprefix("fixed_")) < 100]
    assert found["score"] == f"{100 * sum(scores) / 25:.1f}" == "67.8"


@pytest.mark.parametrize("of", [ALFWORLD, TEXTCRAFT, WEBSHOP])
def test_half_of_the_tasks_has_no_paper_figure_beside_it_and_no_stamp(of):
    table = first_table(of)
    assert all(row[3] == "–" for row in table.rows if row[1].startswith("paper"))
    assert any("The paper's figures are not shown beside ours: the paper has " in note for note in table.notes)
    assert STAND_IN_MARK not in str(table)
