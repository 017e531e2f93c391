from support.task_runs import run_tasks

from codeplan import envs
from codeplan.bench.metrics import summarise_results
from codeplan.types import InfrastructureFailed, NotSolved, Result, Success, Task


def result(kind, success, reason="success", **counts):
    return Result(Task(f"{kind}/1", kind=kind), Success() if success else NotSolved(reason), **counts)


def test_rows_come_by_kind_and_then_all():
    rows = summarise_results([result("b", True, actions=3), result("a", False, "budget"), result("b", False, "budget")])
    assert [(r.kind, r.episodes, r.successes) for r in rows] == [("b", 2, 1), ("a", 1, 0), ("all", 3, 1)]
    assert rows[0].actions == 3
    assert rows[-1].reasons == {"success": 1, "budget": 2}


def test_an_unreachable_endpoint_is_an_ending_and_not_a_traceback():
    tasks = envs.make("household").tasks("test")[:1]
    settings = {"base_url": "http://127.0.0.1:9", "max_retries": 0}
    (only,) = run_tasks("household", tasks, model="some-model", **settings)
    assert isinstance(only.ending, InfrastructureFailed)
