"""Success by trial: what Reflexion and Try-Again needed beyond their first trial, read from the trace."""

import pytest
from support.bench_samples import Play

from codeplan.bench.bench_spec import BenchSpec, resolve_bench
from codeplan.bench.episode_measures import measure_cell
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
