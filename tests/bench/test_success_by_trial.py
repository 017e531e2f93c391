"""Success by trial: what Reflexion and Try-Again needed beyond their first trial, read from the trace."""

import pytest
from support.bench_samples import Play

from codeplan.bench.bench_spec import BenchSpec, resolve_bench
from codeplan.bench.cell_comparison import build_overview
from codeplan.bench.metrics import measure_cell
from codeplan.bench.tables import MAX_ATTEMPTS, STAND_IN_MARK, STAND_IN_NOTE, build_tables
from codeplan.report.pages.overview import refinement_curve


def measures(play: Play, method, n=3, kind="clean"):
    """The measures of a method's episodes with a model that forgets to clean unless a note reminds it."""
    model = {"name": "scripted", "weakness": "forgetful"}
    bench = play(
        resolve_bench(BenchSpec(suites=("household",), methods=(method,), models=(model,), kind=kind, n=n))
    ).bench
    return [found for _, found in measure_cell(bench, bench.cells[0]).values()]


def test_the_curve_rises_where_a_second_trial_solves_what_the_first_did_not(play):
    found = measures(play, {"name": "reflexion", "trials": 3})
    assert {m.retrials for m in found if m.success} == {1}
    assert all(m.refinements == 0 for m in found)
    solved = [row[1] for row in refinement_curve(found, 2)]
    assert solved[0] == 0 < solved[1] == solved[2]


@pytest.mark.parametrize("trials", [1, 2])
def test_all_trials_after_the_first_count_where_none_helps(play, trials):
    found = measures(play, {"name": "try-again", "trials": trials})
    assert [(m.success, m.retrials) for m in found] == [(False, trials - 1)] * 3


def test_trials_of_a_sub_task_do_not_count(play):
    executor = {"name": "try-again", "trials": 2, "executor": "react"}
    found = measures(play, {"name": "adapt", "executor": executor, "first": "plan"})
    assert [m.retrials for m in found] == [0] * 3


def test_refinements_and_trials_add_up(play):
    executor = {"name": "adaplanner", "tries": 6}
    found = measures(play, {"name": "reflexion", "trials": 2, "executor": executor})
    assert all(m.renewed_attempts == m.refinements + m.retrials for m in found)
    assert any(m.refinements for m in found)


# ------------------------------------------------------------------ in compare's tables


def attempt_tables(play: Play, *methods):
    model = {"name": "scripted", "weakness": "forgetful"}
    spec = BenchSpec(suites=("household",), methods=methods, models=(model,), kind="clean", n=2)
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
