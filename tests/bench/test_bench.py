from codeplan import envs
from codeplan.bench.suite import TaskSuite, summarise_results
from codeplan.types.ending import NotSolved, Success
from codeplan.types.result import Result
from codeplan.types.task import Task


def result(kind, success, reason="success", **counts):
    return Result(Task(f"{kind}/1", kind=kind), Success() if success else NotSolved(reason), **counts)


def test_rows_come_by_kind_and_then_all():
    rows = summarise_results([result("b", True, actions=3), result("a", False, "budget"), result("b", False, "budget")])
    assert [(r.kind, r.episodes, r.successes) for r in rows] == [("b", 2, 1), ("a", 1, 0), ("all", 3, 1)]
    assert rows[0].actions == 3
    assert rows[-1].reasons == {"success": 1, "budget": 2}


def test_results_come_in_the_order_of_the_tasks_however_many_workers():
    tasks = envs.make("household").tasks("test")[:8]
    suite = TaskSuite(env="household", tasks=tasks, workers=4)
    heard = []
    results = suite.run(heard.append)
    assert [r.task.id for r in results] == [t.id for t in tasks]
    assert heard == results


def test_an_unreachable_endpoint_is_a_reason_and_not_a_traceback():
    tasks = envs.make("household").tasks("test")[:1]
    settings = {"base_url": "http://127.0.0.1:9", "max_retries": 0}
    (only,) = TaskSuite(env="household", tasks=tasks, model="some-model", settings=settings).run()
    assert only.reason.startswith("infrastructure: ")
