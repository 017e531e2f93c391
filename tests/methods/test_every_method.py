"""What holds for every method: budgets are kept, a killed episode goes on, a replay is identical, spans tell the part."""

import random
from functools import cache

import pytest

from codeplan import methods
from codeplan.budget import Budget
from codeplan.recording.events import CallAnswered, EpisodeEnded, ModelCalled, SpanClosed, SpanOpened
from codeplan.recording.trace import Trace, describe_difference
from codeplan.runner.episodes import run
from codeplan.runner.recorded_episodes import replay, resume

EVERY = {
    "react": {},
    "try-again": {"weakness": "forgetful"},
    "reflexion": {"weakness": "forgetful"},
    "plan-and-execute": {},
    "adapt": {"weakness": "span"},
    "autoplan": {"weakness": "forgetful", "executor": "try-again"},
    "text-planner": {"weakness": "forgetful"},
    "adaplanner": {"mistakes": "forgotten_walk,wrong_guess,wrong_count"},
    "best-of-n": {"mistakes": "forgotten_walk,wrong_guess,wrong_count"},
    "tree": {"mistakes": "forgotten_walk,wrong_guess,wrong_count", "width": 2},
}
PARTS = {
    "try-again": "trial",
    "reflexion": "trial",
    "plan-and-execute": "step",
    "adapt": "sub-task",
    "autoplan": "trial",
    "text-planner": "plan",
    "best-of-n": "trial",
    "tree": "trial",
}
TASKS = {"household": "heat/3", "textcraft": "depth3/17"}


def test_they_are_all_there():
    assert set(methods.names()) == set(EVERY)


@pytest.fixture(params=TASKS)
def env(request):
    return request.param


def play(env, name, out=None, **more):
    return run(env, TASKS[env], name, out=out, **EVERY[name], **more)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The result and the folder of an undisturbed episode, which is played once."""

    @cache
    def played(env, name):
        folder = tmp_path_factory.mktemp("run")
        return play(env, name, folder), folder

    return played


@pytest.mark.parametrize("name", EVERY)
def test_its_replay_is_identical(env, name, played):
    result, folder = played(env, name)
    assert replay(folder) == result
    assert result.method == name


@pytest.mark.parametrize("name", EVERY)
def test_an_episode_that_died_goes_on_to_the_same_end(env, name, played, tmp_path):
    folder = played(env, name)[1]
    whole = (folder / "trace.jsonl").read_bytes().splitlines(keepends=True)
    before = Trace.read(folder / "trace.jsonl")
    for number in random.Random(f"{env} {name}").sample(range(1, len(whole)), 2):
        trace = tmp_path / str(number) / "trace.jsonl"
        trace.parent.mkdir()
        trace.write_bytes(b"".join(whole[:number]) + b'{"event":"act')
        resume(trace.parent)
        after = Trace.read(trace)
        assert [describe_difference(a, b) for a, b in zip(before, after, strict=True)] == [""] * len(before)


@pytest.mark.long
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("limit", ["model_calls", "actions", "tokens"])
def test_it_keeps_every_budget(name, limit, played):
    whole, _ = played("textcraft", name)
    allowed = {"model_calls": whole.model_calls // 2, "actions": whole.actions // 2, "tokens": 1}[limit]
    events = []
    result = play("textcraft", name, budget=Budget(**{limit: allowed}), on_event=events.append)
    assert not result.success
    assert result.reason.startswith("budget: ")
    calls, actions = (sum(isinstance(e, kind) for e in events) for kind in (ModelCalled, CallAnswered))
    assert {"model_calls": calls, "actions": actions, "tokens": calls}[limit] == allowed
    assert isinstance(events[-1], EpisodeEnded)


@pytest.mark.parametrize("name", PARTS)
def test_its_trace_tells_which_part_each_event_belongs_to(env, name, played):
    events = Trace.read(played(env, name)[1] / "trace.jsonl")
    opened = {e.id: e for e in events if isinstance(e, SpanOpened)}
    assert PARTS[name] in {e.kind for e in opened.values()}
    assert {e.id for e in events if isinstance(e, SpanClosed)} == set(opened)
    assert all(e.span in opened for e in events if isinstance(e, CallAnswered))


def test_nested_methods_are_resumed_from_their_table(tmp_path):
    table = {"name": "reflexion", "trials": 2, "executor": {"name": "react", "calls": 30}}
    run("household", "heat/3", "adapt", out=tmp_path / "run", executor=table, weakness="forgetful", max_depth=2)
    lines = (tmp_path / "run" / "trace.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "trace.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    resume(tmp_path / "cut")
    assert len((tmp_path / "cut" / "trace.jsonl").read_bytes().splitlines()) == len(lines)
