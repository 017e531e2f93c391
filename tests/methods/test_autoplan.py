"""AutoPlan: plans learnt batch by batch, from train tasks only, and followed by any executor."""

import pytest
from support.boxes import BoxesInWords, Replies

from codeplan.errors import ModelError, UsageError
from codeplan.methods.autoplan import AutoPlan, write_plan
from codeplan.recording.events import SpanOpened
from codeplan.recording.trace import Trace
from codeplan.runner.episodes import learn, run
from codeplan.types import Task

GIVE_UP = "think: Task failed!"
REVIEW = ["it opened box 1", "it gave up too early"]


def tasks(count=3, split="train"):
    return BoxesInWords().tasks(split)[:count]


def test_a_plan_is_learnt_batch_by_batch(tmp_path):
    first = [GIVE_UP, *REVIEW, GIVE_UP, *REVIEW, "1. Open all boxes."]
    second = [GIVE_UP, *REVIEW, "say which boxes", "1. Open box 1, 2 and 3."]
    model = Replies(*first, *second)
    learnt = learn(
        BoxesInWords(), tasks(), AutoPlan(batch=2, batch_seed=None, folder=tmp_path), model, out=tmp_path / "episodes"
    )
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


def shown(model):
    return ["\n".join(m["content"] for m in messages) for _, messages in model.asked]


def test_flaws_are_named_from_the_history_and_the_result_or_from_the_summary_as_well(tmp_path):
    replies = [GIVE_UP, "a summary of it", "the flaws", "plan one", GIVE_UP, "a summary of it", "the flaws", "r", "two"]
    for source, sees in (("history", False), ("summary", True)):
        model = Replies(*replies)
        learn(BoxesInWords(), tasks(2), AutoPlan(batch=1, flaws_from=source), model, out=tmp_path / source)
        first, second, revision = (shown(model)[n] for n in (2, 6, 7))
        assert "> think: Task failed!" in first
        assert "The task was not done: it says that it cannot do the task." in first
        assert [("a summary of it" in prompt) for prompt in (first, second, revision)] == [sees] * 3
        assert "the flaws" in revision
        assert "a summary of it" in shown(model)[-1]


def test_a_reflection_can_be_the_summary_alone(tmp_path):
    model = Replies(*[GIVE_UP, "a summary", "plan one"] * 2)
    learn(BoxesInWords(), tasks(2), AutoPlan(batch=1, reflection="summary"), model, out=tmp_path)
    assert model.purposes == ["act", "reflect", "generalise"] * 2
    assert "Summary: a summary" in shown(model)[-1]
    assert "Flaws:" not in shown(model)[-1]
    assert "revision" not in shown(model)[-1]


def batches(folder, *args, **settings):
    """The tasks of each batch, as the traces tell."""
    model = Replies(*[GIVE_UP, "s", "p"] * 99)
    learn(BoxesInWords(), tasks(3), AutoPlan(batch=1, reflection="summary", **settings), model, out=folder)
    return [Trace.read(file)[0].task.id for file in sorted(folder.glob("*/trace.jsonl"))]


def test_batches_are_drawn_at_random_by_a_seed(tmp_path):
    in_order = ["ball/1", "ball/2", "ball/3"]
    assert batches(tmp_path / "order", batch_seed=None) == in_order
    drawn = {n: batches(tmp_path / f"{n}", batch_seed=n) for n in range(6)}
    assert all(sorted(each) == in_order for each in drawn.values())
    assert len({*map(tuple, drawn.values())}) > 1
    assert batches(tmp_path / "again", batch_seed=3) == drawn[3]
    epochs = batches(tmp_path / "epochs", batch_seed=2, epochs=4)
    assert len({tuple(epochs[n : n + 3]) for n in range(0, 12, 3)}) > 1


def kinds(split="train"):
    colours = {1: "red", 2: "blue", 3: "red"}
    return [Task(f"ball/{n}", "boxes", k, "find the ball", n, split) for n, k in colours.items()]


def test_a_plan_is_learnt_for_each_kind_and_the_tasks_kind_says_which_is_followed(tmp_path):
    model = Replies(GIVE_UP, "s", GIVE_UP, "s", "1. Open red boxes.", GIVE_UP, "s", "1. Open box 2.")
    method = AutoPlan(per_kind=True, reflection="summary", folder=tmp_path)
    learnt = learn(BoxesInWords(), kinds(), method, model, out=tmp_path / "episodes")
    assert learnt.plans == {"red": "1. Open red boxes.", "blue": "1. Open box 2."}
    assert "red boxes" not in shown(model)[5]
    assert (tmp_path / "red" / "plan-1-01.txt").read_text() == "1. Open red boxes.\n"
    plans = tmp_path / "plans"
    for kind, plan in learnt.plans.items():
        write_plan(plans / f"{kind}.txt", plan)
    for task, step in zip(kinds("test"), ("Open red boxes", "Open box 2", "Open red boxes"), strict=True):
        model = Replies(f"open {task.seed}")
        assert run(BoxesInWords(), task, AutoPlan(plan=plans), model).success
        assert step in shown(model)[0]


def test_a_folder_of_plans_that_lacks_the_tasks_kind_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"the folder .* has no plans; name a file"):
        AutoPlan(plan=tmp_path)
    (tmp_path / "blue.txt").write_text("1. Open box 2.")
    with pytest.raises(UsageError, match="has no plan for the kind 'red', only for 'blue'; learn one"):
        run(BoxesInWords(), kinds("test")[0], AutoPlan(plan=tmp_path), Replies())


def test_a_kind_that_cannot_name_a_file_has_no_plan_of_its_own(tmp_path):
    odd = [Task("ball/1", "boxes", "../red", "find the ball", 1, "train")]
    with pytest.raises(UsageError, match=r"the kind '../red' cannot name a plan's file"):
        learn(BoxesInWords(), odd, AutoPlan(per_kind=True), Replies(), out=tmp_path)


def test_forced_thoughts_are_part_of_what_is_reviewed(tmp_path):
    model = Replies("I am at step 1.", "open 1", "summary", "plan")
    executor = {"name": "react", "thoughts": "forced", "calls": 1}
    method = AutoPlan(executor=executor, reflection="summary")
    learn(BoxesInWords(), tasks(3)[1:2], method, model, out=tmp_path)
    assert "> think: I am at step 1.\nOK.\n> open 1\nIt is empty." in shown(model)[2]


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
