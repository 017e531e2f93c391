import pytest
from support.boxes import Boxes, BoxesInWords, Replies

from codeplan import methods
from codeplan.budget import Budget
from codeplan.errors import InfrastructureError, UsageError
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.methods.reflexion import Reflexion
from codeplan.methods.try_again import TryAgain
from codeplan.recording.events import EpisodeEnded, EpisodeStarted
from codeplan.recording.trace import Trace
from codeplan.runner.episodes import run
from codeplan.runner.given_plans import execute
from codeplan.types import Failed, Rejected

OPEN = "def solution(agent, start_from=1):\n    print(agent.open({}))\n"


def test_a_trace_begins_with_the_settings_and_ends_with_the_result(tmp_path):
    result = run(Boxes(), "ball/2", model=Replies(OPEN.format(2)), out=tmp_path / "run", tries=2)
    events = Trace.read(tmp_path / "run" / "trace.jsonl")
    assert isinstance(events[0], EpisodeStarted)
    assert events[0].settings["tries"] == 2
    assert isinstance(events[-1], EpisodeEnded)
    assert events[-1].result == result
    assert result.trace == str(tmp_path / "run" / "trace.jsonl")


def test_the_first_test_task_is_taken_when_none_is_named():
    assert run(Boxes(), model=Replies(OPEN.format(1))).task.id == "ball/1"


def test_an_interrupted_run_leaves_a_readable_trace(tmp_path):
    class Interrupted(Replies):
        def complete(self, messages, **options):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Boxes(), "ball/2", model=Interrupted(), out=tmp_path / "run")
    assert Trace.read(tmp_path / "run" / "trace.jsonl")[-1].result.reason == "interrupted"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"env": "houshold"}, "no environment 'houshold'; did you mean 'household'"),
        ({"env": "household", "method": "adaplaner"}, "no method 'adaplaner'; did you mean 'adaplanner'"),
        ({"env": "household", "task": "clean/x"}, "clean/x"),
        (
            {"env": "household", "dialekt": "put"},
            "no setting 'dialekt' for household or adaplanner or scripted; did you mean 'dialect'",
        ),
        ({"env": "household", "model": ""}, "model"),
    ],
)
def test_bad_input_is_one_sentence(arguments, message):
    with pytest.raises(UsageError, match=message):
        run(**arguments)


def test_an_api_key_never_reaches_the_trace(tmp_path):
    with pytest.raises(InfrastructureError):
        run(
            "household",
            "clean/3",
            model="some-model",
            base_url="http://127.0.0.1:9",
            api_key="CANARY",
            max_retries=0,
            out=tmp_path / "run",
        )
    assert "CANARY" not in (tmp_path / "run" / "trace.jsonl").read_text()


def test_executing_says_what_failed():
    done = execute(OPEN.format("1, 2"), Boxes(), "ball/2", model=Replies())
    assert isinstance(done.outcome, Rejected)
    done = execute("def solution(agent, start_from=1):\n    return [][1]\n", Boxes(), "ball/2", model=Replies())
    assert isinstance(done.outcome, Failed)
    assert "IndexError" in done.result.reason


def test_executing_obeys_the_budget():
    done = execute(OPEN.format(1), Boxes(), "ball/2", model=Replies(), budget=Budget(actions=0))
    assert done.outcome is None
    assert done.result.reason.startswith("budget: ")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"env": Boxes}, "codeplan.Environment or a name, not the class Boxes"),
        ({"method": AdaPlanner}, "codeplan.Method or a name, not the class AdaPlanner"),
        ({"model": None}, "codeplan.LLM or a name, not a NoneType"),
        ({"task": 3}, "codeplan.Task, not an int"),
        ({"budget": {"actions": 3}}, "codeplan.Budget, not a dict"),
    ],
)
def test_an_argument_of_another_type_is_refused_with_the_right_type(given, wanted):
    with pytest.raises(UsageError, match=f"^give a {wanted}$"):
        run(**({"env": "household"} | given))


def test_a_method_that_returns_no_result_is_refused():
    class NoResult:
        name = "no-result"

        def solve(self, task, episode):
            return None

    with pytest.raises(UsageError, match="the method no-result returned a NoneType, not a Result"):
        run("household", "clean/3", NoResult())


@pytest.mark.parametrize(
    "method",
    [
        *(name for name in methods.names() if name not in ("adaplanner", "best-of-n", "tree")),
        Reflexion(executor=TryAgain()),
    ],
)
def test_an_environment_that_does_not_describe_its_actions_is_refused_before_the_episode(tmp_path, method):
    with pytest.raises(
        UsageError, match=r"the environment boxes does not describe its actions.* ActionSpace\(forms=…\)"
    ):
        run(Boxes(), method=method, model=Replies(), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


class SpacelessBoxes(Boxes):
    space = None
    similar_kinds = None


class ListedBoxes(Boxes):
    space = ["open BOX"]


def test_no_description_of_the_actions_is_none_and_a_wrong_one_is_named():
    with pytest.raises(UsageError, match="the environment boxes does not describe its actions"):
        run(SpacelessBoxes(), method="react", model=Replies())
    assert run(SpacelessBoxes(), "ball/2", model=Replies(OPEN.format(2))).success
    with pytest.raises(UsageError, match="^space of the environment boxes is a list; give a codeplan.ActionSpace$"):
        run(ListedBoxes(), method="react", model=Replies())


def test_a_method_needs_a_description_of_the_actions_only_for_an_executor_whose_model_writes_them():
    method = Reflexion(executor=AdaPlanner())
    assert run(Boxes(), "ball/2", method=method, model=Replies(OPEN.format(2))).success
    assert run(BoxesInWords(), "ball/2", method=Reflexion(), model=Replies("open 2")).success
