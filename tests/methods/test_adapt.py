"""ADaPT's controller: the executor first, a plan where it fails, and so on; over executors of every behaviour."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.boxes import Boxes, BoxesInWords, Replies

from codeplan.methods.adapt import Adapt
from codeplan.recording.events import SpanOpened, WarningIssued
from codeplan.runner.episodes import run
from codeplan.types import ActionSpace, Completion, Observation, Task

SPACE = ActionSpace(forms=("open NUMBER",), no_effect_prefixes=("It is empty",))


class AlwaysUnsolved(Boxes):
    """Boxes to open without end; none has the ball."""

    space = SPACE

    def step(self, action):
        self.actions.append(action)
        return Observation(f"Box {action.removeprefix('open ')} is open.")


class LuckyExecutor:
    """An executor that succeeds or fails by the goal alone, and opens a box of its own each time."""

    name = "luck"

    def __init__(self, seed, chance):
        self.seed, self.chance = seed, chance
        self.attempts = []

    def luck(self, goal):
        return random.Random(f"{self.seed} {goal}").random() < self.chance

    def solve(self, task, episode):
        number = len(self.attempts)
        episode.act(f"open {number}")
        self.attempts.append((task.goal, task.notes))
        return episode.result("by luck", self.name, self.luck(task.goal))


class Planner:
    """A model that takes every goal apart into parts of its own, combined at random."""

    name = "planner"

    def __init__(self, seed):
        self.seed = seed

    def parts(self, goal):
        rng = random.Random(f"{self.seed} parts of {goal}")
        count = rng.randint(1, 4)
        order = "Step 1"
        for number in range(2, count + 1):
            order = f"({order} {rng.choice(['AND', 'OR'])} Step {number})"
        return [f"{goal}.{n}" for n in range(1, count + 1)], order

    def complete(self, messages, *, purpose, stop=(), max_tokens=None):
        goal = messages[-1]["content"].split("<goal>\n")[1].split("\n</goal>")[0]
        goals, order = self.parts(goal)
        steps = "\n".join(f"Step {n}: {g}" for n, g in enumerate(goals, 1))
        return Completion(f"{steps}\nExecution order: {order}")


def expected(goal, depth, max_depth, executor, planner, tried):
    """What the controller must come to, and the goals that it must try, by the paper's words."""
    tried.append((goal, depth))
    if executor.luck(goal):
        return True
    if depth >= max_depth:
        return False
    goals, order = planner.parts(goal)
    names = {f"Step {n}": g for n, g in enumerate(goals, 1)}
    env = {"AND": all, "OR": any}

    def value(text):
        if text in names:
            return expected(names[text], depth + 1, max_depth, executor, planner, tried)
        left, operator, right = split(text)
        return env[operator](value(part) for part in (left, right))

    return value(order)


def split(text):
    """The two sides of ``(LEFT OP RIGHT)``, where right is one step."""
    left, operator, right = (
        text[1:-1].rsplit(" ", 3)[0],
        *text[1:-1].rsplit(" ", 3)[1:2],
        " ".join(text[1:-1].rsplit(" ", 2)[1:]),
    )
    return left, operator, right


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from([0.2, 0.5, 0.8]), st.booleans())
def test_the_controller_does_what_the_logic_says_and_nothing_more(seed, max_depth, chance, rollback):
    executor, planner, env, spans = LuckyExecutor(seed, chance), Planner(seed), AlwaysUnsolved(), []

    def on_event(event):
        if isinstance(event, SpanOpened) and event.kind == "sub-task":
            spans.append(int(event.name.rsplit("(depth ", 1)[1].rstrip(")")))

    task = Task("t", "boxes", "find", "goal", 7)
    method = Adapt(executor=executor, max_depth=max_depth, rollback=rollback)
    result = run(env, task, method, planner, on_event=on_event)
    tried = []
    assert result.claim == expected("goal", 1, max_depth, executor, planner, tried)
    assert [goal for goal, _ in executor.attempts] == [goal for goal, _ in tried]
    assert spans == [depth for _, depth in tried]
    assert max(spans) <= max_depth
    assert result.success is False

    won = [n for n, (goal, _) in enumerate(executor.attempts) if executor.luck(goal)]
    for number, (_, notes) in enumerate(executor.attempts):
        before = [n for n in won if n < number]
        assert list(notes) == ([f"> open {before[-1]}\nBox {before[-1]} is open."] if before else [])
    if rollback:
        last = len(executor.attempts) - 1
        assert env.actions == [f"open {n}" for n in won] + ([] if last in won else [f"open {last}"])


def play(env, method, model, task="ball/2"):
    events = []
    result = run(env, task, method, model, on_event=events.append)
    return result, events


def test_the_environment_decides_success_and_the_claim_is_separate():
    result, _ = play(BoxesInWords(), Adapt(), Replies("open 1", "think: Task completed!"))
    assert (result.success, result.claim, result.actions) == (False, True, 1)


def test_where_the_environment_is_believed_a_false_claim_is_taken_apart():
    plan = "Step 1: open box 2\nExecution order: Step 1"
    model = Replies("open 1", "think: Task completed!", plan, "open 2")
    result, _ = play(BoxesInWords(), Adapt(success="environment"), model)
    assert result.success
    assert model.purposes == ["act", "act", "decompose", "act"]


def test_nothing_begins_after_the_environment_reports_success():
    plan = "Step 1: open box 2\nStep 2: dance\nExecution order: Step 1 AND Step 2"
    model = Replies("think: Task failed!", plan, "open 2")
    result, events = play(BoxesInWords(), Adapt(), model)
    assert (result.success, result.claim) == (True, True)
    assert [e.name for e in events if isinstance(e, SpanOpened)] == ["find the ball (depth 1)", "open box 2 (depth 2)"]


def test_a_plan_that_cannot_be_read_goes_back_once_and_is_then_refused():
    model = Replies("think: Task failed!", "just open them all", "Step 1: open them, all of them")
    result, events = play(BoxesInWords(), Adapt(), model)
    assert not result.success
    assert model.purposes == ["act", "decompose", "decompose"]
    assert "no line of the form 'Step 1: ...'" in model.asked[2][1][-1]["content"]
    assert "just open them all" in model.asked[2][1][-1]["content"]
    assert [e.message for e in events if isinstance(e, WarningIssued)] == [
        "a plan in sub-tasks was refused: it has no line of the form 'Execution order: (Step 1 AND Step 2)'"
    ]


def test_a_task_may_be_planned_for_before_it_is_tried():
    model = Replies("Step 1: open box 2\nExecution order: Step 1", "open 2")
    assert play(BoxesInWords(), Adapt(first="plan"), model)[0].success
    assert model.purposes == ["decompose", "act"]


def test_code_plans_serve_as_the_executor():
    code = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] look')\n        seen = agent.open({})\n        assert {}, 'no'\n"
    parts = "Step 1: open box 1\nStep 2: open box 2\nExecution order: Step 1 AND Step 2"
    model = Replies(code.format(3, "'ball' in seen"), parts, code.format(1, "seen"), code.format(2, "seen"))
    result, _ = play(BoxesInWords(), Adapt(executor={"name": "adaplanner", "tries": 1}), model)
    assert (result.success, result.actions) == (True, 3)
    assert model.purposes == ["plan", "decompose", "plan", "plan"]


@pytest.mark.parametrize(
    ("replies", "depth"),
    [
        (["open 2"], 1),
        (["think: task failed", "Step 1: open it\nExecution order: Step 1", "open 2"], 2),
        (["think: task failed", "Step 1: open it\nExecution order: Step 1", "think: task failed"] * 2, 3),
    ],
)
def test_the_result_has_the_greatest_depth_of_the_episode(replies, depth):
    result = run(BoxesInWords(), "ball/2", Adapt(max_depth=3), Replies(*replies))
    assert result.depth == depth


def test_a_method_that_does_not_decompose_has_no_depth():
    assert run(BoxesInWords(), "ball/2", "react", Replies("open 2")).depth is None


def test_a_sub_tasks_claim_is_believed_even_where_the_environment_judges_the_whole():
    parts = "Step 1: look around\nStep 2: open box 2\nExecution order: Step 1 AND Step 2"
    model = Replies("think: Task failed!", parts, "think: Task completed!", "open 2")
    result, events = play(BoxesInWords(), Adapt(success="environment", max_depth=2), model)
    assert result.success
    assert [e.name for e in events if isinstance(e, SpanOpened)][1:] == [
        "look around (depth 2)",
        "open box 2 (depth 2)",
    ]


def test_a_sub_task_that_claims_failure_is_not_done():
    parts = "Step 1: look around\nStep 2: open box 2\nExecution order: Step 1 AND Step 2"
    model = Replies("think: Task failed!", parts, "think: Task failed!")
    result, events = play(BoxesInWords(), Adapt(success="environment", max_depth=2), model)
    assert (result.success, result.claim) == (False, False)
    assert len([e for e in events if isinstance(e, SpanOpened)]) == 2
