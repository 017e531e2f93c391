"""AutoPlan: plans learnt batch by batch, from train tasks only, and followed by any executor."""

import pytest
from support.boxes import BoxesInWords, Replies

from codeplan.errors import ModelError, UsageError
from codeplan.methods.autoplan import AutoPlan
from codeplan.recording.events import SpanOpened
from codeplan.recording.trace import Trace
from codeplan.runner.new_episodes import learn, run

GIVE_UP = "think: Task failed!"
REVIEW = ["it opened box 1", "it gave up too early"]


def tasks(count=3, split="train"):
    return BoxesInWords().tasks(split)[:count]


def test_a_plan_is_learnt_batch_by_batch(tmp_path):
    first = [GIVE_UP, *REVIEW, GIVE_UP, *REVIEW, "1. Open all boxes."]
    second = [GIVE_UP, *REVIEW, "say which boxes", "1. Open box 1, 2 and 3."]
    model = Replies(*first, *second)
    learnt = learn(BoxesInWords(), tasks(), AutoPlan(batch=2, folder=tmp_path), model, out=tmp_path / "episodes")
    assert learnt.plan == "1. Open box 1, 2 and 3."
    assert model.purposes == [
        "act",
        *["reflect"] * 2,
        "act",
        *["reflect"] * 2,
        "generalise",
        "act",
        *["reflect"] * 3,
        "generalise",
    ]
    shown = ["\n".join(m["content"] for m in messages) for _, messages in model.asked]
    assert "1. Open all boxes." not in shown[3]
    assert "1. Open all boxes." in shown[7]
    assert "There is no plan yet." in shown[6]
    assert "say which boxes" in shown[-1]
    assert (tmp_path / "plan-1-01.txt").read_text() == "1. Open all boxes.\n"
    assert (tmp_path / "plan-1-02.txt").read_text() == "1. Open box 1, 2 and 3.\n"


def test_each_episode_says_which_batch_it_belongs_to(tmp_path):
    model = Replies(*[GIVE_UP, *REVIEW, "plan"], *[GIVE_UP, *REVIEW, "revision", "plan"])
    learn(BoxesInWords(), tasks(2), AutoPlan(batch=1), model, out=tmp_path)
    for number in (1, 2):
        spans = [e for e in Trace.read(tmp_path / f"00{number}" / "trace.jsonl") if isinstance(e, SpanOpened)]
        assert [(e.kind, e.name) for e in spans] == [("batch", f"1-0{number}")]


def test_an_interrupted_training_continues_where_it_stopped(tmp_path):
    replies = [GIVE_UP, *REVIEW, "plan one", GIVE_UP, *REVIEW, "revision", "plan two"]
    with pytest.raises(ModelError):
        learn(BoxesInWords(), tasks(2), AutoPlan(batch=1), Replies(*replies[:6]), out=tmp_path)
    rest = Replies(*replies[6:])
    assert learn(BoxesInWords(), tasks(2), AutoPlan(batch=1), rest, out=tmp_path).plan == "plan two"
    assert len(rest.asked) == len(replies) - 6


def test_it_learns_from_train_tasks_only(tmp_path):
    with pytest.raises(UsageError, match="of the split test; autoplan learns from train only"):
        learn(BoxesInWords(), tasks(split="test"), "autoplan", Replies(), out=tmp_path)
    with pytest.raises(UsageError, match="cannot learn from no tasks"):
        learn(BoxesInWords(), [], "autoplan", Replies(), out=tmp_path)


def test_a_method_that_does_not_learn_is_refused(tmp_path):
    with pytest.raises(UsageError, match="the method react does not learn"):
        learn(BoxesInWords(), tasks(), "react", Replies(), out=tmp_path)


def test_a_learnt_plan_is_followed_by_any_executor(tmp_path):
    file = tmp_path / "plan.txt"
    file.write_text("1. Open box 2.\n")
    model = Replies("open 2")
    assert run(BoxesInWords(), "ball/2", AutoPlan(plan=file), model).success
    assert "1. Open box 2." in model.asked[0][1][-1]["content"]
    code = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] look')\n        assert 'ball' in agent.open(2), 'no'\n"
    model = Replies(code)
    assert run(BoxesInWords(), "ball/2", AutoPlan(plan=file, executor="adaplanner"), model).success
    assert "1. Open box 2." in model.asked[0][1][-1]["content"]
