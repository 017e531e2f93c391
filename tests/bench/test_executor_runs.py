"""The metrics executor_runs and plans: attempts at the task and its sub-tasks, and the calls that split a goal."""

import pytest
from support.bench_samples import Play

from codeplan.bench.bench_spec import BenchSpec, resolve_bench
from codeplan.bench.metrics import METRICS, estimate_metric, measure_cell
from codeplan.recording.events import ModelCalled, SpanOpened
from codeplan.recording.trace import Trace
from codeplan.runner.episodes import TRACE_NAME

FORGETFUL = {"name": "scripted", "weakness": "forgetful"}
SHORT_SPAN = {"name": "scripted", "weakness": "span"}


def played(play: Play, method, model, suite="household", kind="clean"):
    """The measured episodes of a method's two tasks, and the bench's folder."""
    spec = BenchSpec(suites=(suite,), methods=(method,), models=(model,), kind=kind, n=2)
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


def test_a_column_is_the_mean_over_all_episodes(play):
    found, _ = played(play, {"name": "try-again", "trials": 2}, FORGETFUL)
    for name, mean in {"executor_runs": 2.0, "plans": 0.0}.items():
        estimate = estimate_metric(METRICS[name], found)
        assert (estimate.value, estimate.episodes) == (mean, 2)
