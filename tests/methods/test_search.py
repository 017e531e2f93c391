"""Search over plans: which plan counts, where the world stands in the end, and what a search may spend."""

import random
import time

import msgspec
import pytest
from support.boxes import BoxAgent, Boxes, BoxesInWords, Replies

import codeplan
from codeplan.bench.metrics import measure_episode
from codeplan.bench.store import EpisodeOutcome
from codeplan.budget import Budget, sampling_temperature
from codeplan.errors import Diverged, UsageError
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.methods.adapt import Adapt
from codeplan.methods.registry import make
from codeplan.methods.search import BestOfN, Tree
from codeplan.recording.events import (
    EnvironmentReset,
    EnvironmentRestored,
    EpisodeEnded,
    EpisodeStarted,
    SpanClosed,
    SpanOpened,
)
from codeplan.recording.trace import Trace, describe_difference
from codeplan.report.event_view import EventViewer, PlanBlock
from codeplan.runner.episodes import run
from codeplan.runner.recorded_episodes import replay, resume
from codeplan.types import Observation


class Shelf(Boxes):
    """Boxes whose state can be kept."""

    def __init__(self, max_actions=50):
        super().__init__(max_actions)
        self.resets = 0

    def reset(self, task):
        self.resets += 1
        return super().reset(task)

    def snapshot(self):
        return self.ball, tuple(self.actions)

    def restore(self, snapshot):
        self.ball, actions = snapshot
        self.actions = list(actions)


WORLDS = {"with snapshots": Shelf, "without": Boxes}


@pytest.fixture(params=WORLDS)
def world(request):
    return WORLDS[request.param]


def plan(*boxes, wants="empty"):
    """A plan that opens a box in each step; the last step holds if its answer has ``wants``."""
    lines = ["def solution(agent, start_from=1):"]
    for number, box in enumerate(boxes, 1):
        said = wants if number == len(boxes) else "e"
        lines += [
            f"    if start_from <= {number}:",
            f"        print('[Step {number}] open {box}')",
            f"        answer = agent.open({box})",
            f"        assert '{said}' in answer, 'Error in [Step {number}]: ' + answer",
        ]
    return "\n".join(lines) + "\n"


NOTHING = plan(1, wants="ball")
HALF = plan(1, 3, wants="ball")
MOST = plan(3, 1, 3, wants="ball")
FOUND = plan(1, 2, wants="ball")


def play(method, *replies, env=None, **options):
    env, model, events = env or Shelf(), Replies(*replies), []
    result = run(env, "ball/2", method, model, on_event=events.append, **options)
    return result, env, model, events


def trials(events):
    return [e.name for e in events if isinstance(e, SpanOpened)]


def restored(events):
    return [e.to for e in events if isinstance(e, EnvironmentRestored)]


def without_frame(events):
    frame = EpisodeStarted | EpisodeEnded | SpanOpened | SpanClosed
    return [msgspec.structs.replace(e, span=None) for e in events if not isinstance(e, frame)]


# ------------------------------------------------------------------ one plan, or one branch, is AdaPlanner


@pytest.mark.parametrize(
    ("search", "planner"),
    [(BestOfN(n=1), AdaPlanner(tries=1)), (Tree(width=1), AdaPlanner())],
    ids=["best-of-n", "tree"],
)
@pytest.mark.parametrize("task", ["household heat/3", "textcraft depth3/17", "webshop buy/3"])
def test_without_a_choice_it_does_what_adaplanner_does(search, planner, task):
    env, id = task.split()
    played = []
    for method in (search, planner):
        events = []
        run(env, id, method, "scripted", mistakes="many", on_event=events.append)
        played.append(without_frame(events))
    assert [describe_difference(a, b) for a, b in zip(*played, strict=True)] == [""] * len(played[0])


# ------------------------------------------------------------------ the plan that counts


def test_the_plan_with_most_steps_done_counts_and_the_others_leave_no_trace_in_the_world(world):
    result, env, model, events = play(BestOfN(n=4), NOTHING, HALF, MOST, NOTHING.replace("1)", "3)"), env=world())
    assert (result.success, result.plan, len(model.asked)) == (False, MOST, 4)
    assert env.actions == ["open 3", "open 1", "open 3"]
    assert (result.actions, result.failure.step) == (7, 3)
    assert result.reason == "the best of 4 plans: no success in 1 try"
    assert trials(events) == ["1", "2", "3", "4"]
    assert len(restored(events)) == 4


def test_of_plans_that_came_equally_far_the_first_counts():
    result, env, _, _ = play(BestOfN(n=2), HALF, plan(3, 1, wants="ball"))
    assert (result.plan, env.actions) == (HALF, ["open 1", "open 3"])


def test_the_last_plan_counts_without_a_way_back():
    result, _, _, events = play(BestOfN(n=2), NOTHING, MOST)
    assert (result.plan, len(restored(events))) == (MOST, 1)


def test_a_success_ends_the_search(world):
    result, env, model, _ = play(BestOfN(n=4), MOST, FOUND, env=world())
    assert (result.success, result.reward, result.plan, result.failure) == (True, 1.0, FOUND, None)
    assert (env.actions, model.replies) == (["open 1", "open 2"], [])


class Scored(Shelf):
    """Opening box 3 is worth half a point."""

    def step(self, action):
        seen = super().step(action)
        return Observation(seen.text, 0.5 if action == "open 3" else seen.reward, seen.done, seen.success)


def test_a_reward_counts_before_the_steps_that_are_done():
    result, env, _, _ = play(BestOfN(n=3), plan(1, 1, 1, wants="ball"), plan(3, wants="ball"), NOTHING, env=Scored())
    assert (result.reward, env.actions) == (0.5, ["open 3"])


def test_a_plan_that_ends_the_episode_ends_only_its_own_attempt(world):
    result, env, _, _ = play(BestOfN(n=2), plan(1, 3, 1, wants="ball"), FOUND, env=world(max_actions=2))
    assert (result.success, env.actions) == (True, ["open 1", "open 2"])


def test_a_refused_plan_is_the_worst():
    result, env, _, events = play(BestOfN(n=2), HALF, *["nothing"] * 3)
    assert (result.plan, env.actions) == (HALF, ["open 1", "open 3"])
    assert len(restored(events)) == 2


def test_an_equal_plan_is_not_played_again_and_ends_the_search():
    result, env, model, events = play(BestOfN(n=4), HALF, HALF)
    assert (result.actions, len(model.asked), trials(events)) == (2, 2, ["1", "2"])
    assert (result.plan, env.actions) == (HALF, ["open 1", "open 3"])


def test_each_plan_may_be_refined():
    executor = {"name": "adaplanner", "tries": 2}
    result, env, model, _ = play(BestOfN(n=2, executor=executor), NOTHING, NOTHING, HALF, FOUND)
    assert (result.success, result.refinements) == (True, 2)
    assert model.purposes == ["plan", "refine", "plan", "refine"]
    assert env.actions == ["open 1", "open 3", "open 2"]


class Thermometer(Replies):
    """Keeps the temperature of each call; its own is 0."""

    def complete(self, messages, **rest):
        self.felt = [*getattr(self, "felt", ()), sampling_temperature(0.0)]
        return super().complete(messages, **rest)


def test_plans_after_the_first_of_a_state_sample_at_a_temperature_of_their_own():
    model = Thermometer(NOTHING, HALF, MOST)
    run(Shelf(), "ball/2", BestOfN(n=3, temperature=0.9), model)
    assert model.felt == [0.0, 0.9, 0.9]
    model = Thermometer(NOTHING, HALF, MOST, FOUND)
    run(Shelf(), "ball/2", Tree(width=2, word=0, temperature=0.9), model)
    assert model.felt == [0.0, 0.9, 0.0, 0.9]


# ------------------------------------------------------------------ the tree


def test_the_tree_refines_where_most_steps_are_done():
    method = Tree(width=2, word=0, exploration=0)
    result, env, model, events = play(method, NOTHING, HALF, FOUND.replace("open(1)", "open(3)"))
    assert (result.success, trials(events)) == (True, ["1", "2", "2.1"])
    assert model.purposes == ["plan", "plan", "refine"]
    assert env.actions[:2] == ["open 1", "open 3"]


@pytest.mark.parametrize(
    ("ratings", "chosen"), [(("10", "0"), "1.1"), (("2", "I say 9.5 of 10"), "2.1"), (("?", "?"), "2.1")]
)
def test_the_models_rating_counts_by_its_weight(ratings, chosen):
    replies = [NOTHING, ratings[0], HALF, ratings[1], FOUND]
    _, _, model, events = play(Tree(width=2, word=0.9, exploration=0), *replies)
    assert trials(events) == ["1", "2", chosen]
    assert model.purposes == ["plan", "rate", "plan", "rate", "refine"]
    assert "<done>\n1 of the plan's 2 steps are done.\n</done>" in model.asked[3][1][-1]["content"]


def test_a_branch_goes_on_with_its_own_agent_and_conversation(world):
    ends = plan(3)
    replies = [ends, plan(1), plan(3, 3), plan(3, 1), FOUND]
    result, env, model, events = play(Tree(width=2, word=0, exploration=0), *replies, env=world())
    assert trials(events) == ["1", "2", "1.1", "1.2", "1.1.1"]
    second, third = (model.asked[n][1] for n in (3, 4))
    assert "Opened so far: [3]." in second[-1]["content"]
    assert plan(1).strip() not in str([m["content"] for m in third])
    assert env.actions[0] == "open 3"
    assert result.success


def test_seldom_tried_plans_get_their_turn():
    replies = [HALF, NOTHING, plan(1, 3, 3, wants="ball"), plan(3, 3, wants="ball"), FOUND]
    _, _, _, eager = play(Tree(width=2, word=0, exploration=0), *replies)
    _, _, _, curious = play(Tree(width=2, word=0, exploration=100), *replies)
    assert trials(eager)[:4] == ["1", "2", "1.1", "1.2"]
    assert trials(curious)[:4] == ["1", "2", "1.1", "2.1"]


@pytest.mark.parametrize(("calls", "begun"), [(1, 1), (2, 2), (3, 3)])
def test_the_tree_begins_no_plan_after_its_calls(calls, begun):
    result, env, _, events = play(Tree(width=2, word=0, calls=calls), HALF, NOTHING, MOST, FOUND)
    assert len(trials(events)) == begun
    assert (result.ending.name, result.plan) == ("trial_ended", HALF if calls < 3 else result.plan)


def test_the_tree_ends_when_every_branch_has_ended():
    executor = {"name": "adaplanner", "tries": 1}
    result, _, model, _ = play(Tree(executor=executor, width=2, word=0), HALF, NOTHING, FOUND)
    assert (result.success, len(model.asked)) == (False, 2)


# ------------------------------------------------------------------ budgets


def test_a_spent_budget_ends_the_search_with_the_best_plan_so_far_and_a_larger_one_goes_on(world, tmp_path):
    replies = [HALF, NOTHING, MOST, FOUND]
    result, env, _, _ = play(BestOfN(n=4), *replies, env=world(), budget=Budget(actions=5), out=tmp_path / "run")
    assert (result.ending.name, result.ending.kind, result.plan) == ("budget_spent", "actions", HALF)
    assert env.actions == ["open 1", "open 3"]
    assert replay(tmp_path / "run", env=world()) == result
    env = world()
    again = resume(tmp_path / "run", env=env, model=Replies(FOUND), budget=Budget(actions=20), method=BestOfN(n=4))
    assert (again.success, again.actions, env.actions) == (True, 7, ["open 1", "open 2"])
    assert replay(tmp_path / "run", env=world()) == again


def test_a_budget_that_ends_within_the_first_plan_ends_it_as_adaplanners(tmp_path):
    result, env, _, events = play(BestOfN(n=4), MOST, budget=Budget(actions=1))
    assert (result.ending.name, result.plan, env.actions, restored(events)) == ("budget_spent", MOST, ["open 3"], [])


class LateSecond(Replies):
    """Its second reply comes when the time is over."""

    def complete(self, messages, **options):
        if self.asked:
            time.sleep(4.1)
        return super().complete(messages, **options)


def test_a_search_that_the_clock_ended_replays(tmp_path):
    model = LateSecond(HALF, NOTHING)
    result = run(Shelf(), "ball/2", BestOfN(), model, out=tmp_path / "run", budget=Budget(seconds=4))
    assert (result.ending.kind, result.plan) == ("seconds", HALF)
    assert replay(tmp_path / "run", env=Shelf()) == result


# ------------------------------------------------------------------ records


SEARCHES = {
    "best-of-n": (BestOfN(n=3), [HALF, MOST, NOTHING]),
    "tree": (Tree(width=2, calls=11), [HALF, "3", NOTHING, "4", plan(1, 3, 3, wants="ball"), "5", MOST, "6", FOUND]),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_killed_anywhere_it_ends_alike_and_its_world_stands_alike(name, world, tmp_path):
    method, replies = SEARCHES[name]
    before, env, _, _ = play(method, *replies, env=world(), out=tmp_path / "whole")
    lines = (tmp_path / "whole" / "trace.jsonl").read_bytes().splitlines(keepends=True)
    whole = Trace.read(tmp_path / "whole")
    for count in sorted(random.Random(name).sample(range(1, len(lines)), 15)):
        folder = tmp_path / str(count)
        folder.mkdir()
        (folder / "trace.jsonl").write_bytes(b"".join(lines[:count]))
        asked = sum(type(e).__name__ == "ModelCalled" for e in whole[:count])
        fresh = world()
        resume(folder, env=fresh, model=Replies(*replies[asked:]), method=method)
        assert [describe_difference(a, b) for a, b in zip(whole, Trace.read(folder), strict=True)] == [""] * len(whole)
        assert fresh.actions == env.actions, count
    assert replay(tmp_path / "whole", env=world(), method=method) == before


def test_a_snapshot_spares_the_reset_and_the_actions():
    env = Shelf()
    play(BestOfN(n=3), HALF, MOST, NOTHING, env=env)
    assert env.resets == 1


class Fickle(Boxes):
    """Another world after each reset."""

    resets = 0

    def reset(self, task):
        self.resets += 1
        return Observation(f"{super().reset(task).text} This is day {self.resets}.")


def test_a_world_that_cannot_go_back_to_a_state_is_not_searched():
    with pytest.raises(Diverged, match="This is day 2"):
        play(BestOfN(n=2), HALF, FOUND, env=Fickle())


def test_a_part_of_a_task_is_searched_from_where_it_began(world):
    class Words(BoxesInWords, world):
        pass

    split = "Step 1: open box 1\nStep 2: open box 2\nExecution order: Step 1 AND Step 2"
    method = Adapt(executor=BestOfN(n=2), rollback=False, first="plan")
    env = Words()
    result, _, _, events = play(method, split, plan(1), MOST, FOUND.replace("agent.open(1)", "'e'"), env=env)
    assert result.success
    assert env.actions == ["open 1", "open 2"]
    assert len(restored(events)) == 1
    assert sum(isinstance(e, EnvironmentReset) for e in events) == 1


def test_the_trajectory_of_a_bench_is_that_of_the_plan_that_counts(tmp_path):
    result, env, _, _ = play(BestOfN(n=4), NOTHING, MOST, HALF, plan(2, 1, 2, 2), out=tmp_path / "run", env=Shelf(3))
    measured = measure_episode(EpisodeOutcome("cell", result.task, 0, "run", result), tmp_path, ())
    assert (result.success, env.actions) == (True, ["open 2"])
    assert (measured.trajectory, measured.actions, measured.retrials) == (1, 7, 3)
    result, env, _, _ = play(BestOfN(n=3), NOTHING, MOST, HALF, out=tmp_path / "failed")
    measured = measure_episode(EpisodeOutcome("cell", result.task, 0, "failed", result), tmp_path, ())
    assert (measured.trajectory, len(env.actions), measured.actions) == (3, 3, 6)


def test_a_display_compares_a_refined_plan_with_its_parent():
    replies = [NOTHING, HALF, plan(1, 3, 3, wants="ball"), NOTHING.replace("1)", "3)"), FOUND]
    _, _, _, events = play(Tree(width=2, word=0, exploration=100), *replies)
    viewer = EventViewer()
    shown = [block for event in events for block in viewer.view(event).blocks if isinstance(block, PlanBlock)]
    assert trials(events)[:4] == ["1", "2", "2.1", "1.1"]
    assert [block.before for block in shown[:4]] == [None, None, HALF, NOTHING]


# ------------------------------------------------------------------ what cannot be searched


@pytest.mark.parametrize("name", ["best-of-n", "tree"])
def test_tools_that_act_for_real_are_not_searched(name):
    model = Replies(FOUND)
    with pytest.raises(UsageError, match="cannot go back; take .*the method adaplanner"):
        codeplan.do("send", tools=[print], model=model, method=name)
    assert model.asked == []


def test_a_single_plan_may_act_for_real():
    def send(to: str) -> str:
        return to

    reply = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        x = agent.send('a')\n    return x\n"
    assert codeplan.do("send", tools=[send], model=Replies(reply), method=BestOfN(n=1)).value == "a"


class Locked(BoxAgent):
    """An agent that cannot be copied."""

    def __init__(self, act):
        super().__init__(act)
        self._lines = (line for line in ())


def test_an_agent_that_cannot_be_copied_is_one_clear_sentence():
    env = Shelf()
    env.agent = Locked
    with pytest.raises(UsageError, match=r"^the agent of the environment boxes cannot be copied.*best-of-n$"):
        play(Tree(width=1), HALF, FOUND, env=env)
    assert play(BestOfN(n=2), HALF, FOUND, env=env)[0].success


@pytest.mark.parametrize(
    ("name", "settings", "why"),
    [
        ("best-of-n", {"executor": "react"}, "is 'react', and it searches over plans in code; give adaplanner"),
        ("tree", {"executor": "adapt"}, "is 'adapt'"),
        ("best-of-n", {"temperature": -0.1}, "temperature"),
        ("tree", {"temperature": float("nan")}, "temperature"),
        ("tree", {"word": 1.01}, "word"),
        ("tree", {"word": -0.01}, "word"),
        ("tree", {"exploration": -1.0}, "exploration"),
        ("tree", {"exploration": float("inf")}, "exploration"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused(name, settings, why):
    with pytest.raises(UsageError, match=why):
        make(name, **settings)


@pytest.mark.parametrize("settings", [{"word": 0.0}, {"word": 1.0}, {"exploration": 0.0}, {"temperature": None}])
def test_a_setting_may_be_at_its_bound(settings):
    (name, value) = next(iter(settings.items()))
    assert getattr(make("tree", **settings), name) == value
