"""AdaPlanner without one of its parts, for comparison."""

from support.boxes import Boxes, Replies
from support.trace_samples import outcomes_of

from codeplan.methods.adaplanner import AdaPlanner
from codeplan.recording.events import EnvironmentReset, PlanStarted
from codeplan.recording.trace import Trace
from codeplan.runner.episodes import run
from codeplan.types import Stopped

TWO = (
    "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] look')\n        assert agent.open(1), 'no'\n"
    "    if start_from <= 2:\n        print('[Step 2] look')\n        assert 'ball' in agent.open({}), 'no'\n"
)
ASK = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] look')\n        assert 'ball' in agent.open(int(ask_llm('Which?'))), 'no'\n"


def play(method, *replies):
    model, env, events = Replies(*replies), Boxes(), []
    return run(env, "ball/2", method, model, on_event=events.append), model, env, events


def starts(events):
    return [e.start_from for e in events if isinstance(e, PlanStarted)]


def test_without_resumption_the_environment_and_the_plan_restart():
    result, _, env, events = play(AdaPlanner(after_failure="restart"), TWO.format(3), TWO.format(2))
    assert result.success
    assert starts(events) == [1, 1]
    assert env.actions == ["open 1", "open 2"]
    assert sum(isinstance(e, EnvironmentReset) for e in events) == 2
    assert result.actions == 4


def test_without_asks_no_plan_may_ask_and_no_prompt_speaks_of_it():
    result, model, _, events = play(AdaPlanner(asks=False, tries=2), ASK, TWO.format(2))
    assert result.success
    assert result.asks == 0
    assert [e.limit for e in outcomes_of(events, Stopped)] == ["asks"]
    assert not any("ask_llm(question" in m["content"] for _, messages in model.asked for m in messages)


def test_the_number_of_samples_is_how_many_examples_are_shown(tmp_path):
    shown = {}
    for samples in (0, 1, 3):
        out = tmp_path / str(samples)
        run("household", "clean/2", model="scripted", mistakes="none", samples=samples, out=out)
        system = next(e for e in Trace.read(out / "trace.jsonl") if e.__class__.__name__ == "ModelCalled").messages[0][
            "content"
        ]
        shown[samples] = system.count("def solution(agent, start_from=1):") - 1
    assert shown == {0: 0, 1: 1, 3: 3}
