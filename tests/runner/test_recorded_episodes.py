"""Episodes that are done again: resumed after a crash, replayed offline, forked."""

import subprocess
import sys
import time

import msgspec
import pytest
from support.boxes import Boxes, Replies

from codeplan.budget import Budget
from codeplan.curation.acquisition import read_episode
from codeplan.errors import Diverged, InfrastructureError, ModelError, UsageError
from codeplan.recording.events import (
    CallAnswered,
    CallBegun,
    EpisodeEnded,
    EpisodeStarted,
    ModelCalled,
    ModelCallFailed,
    PlanDrafted,
    SpanClosed,
    TextPrinted,
)
from codeplan.recording.trace import Trace, describe_difference, write_trace
from codeplan.runner.episodes import run
from codeplan.runner.recorded_episodes import fork, replay, resume
from codeplan.testing.scaffold import new_test
from codeplan.types import Call, LastFailure, Result, Success, Task

OPEN = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] look')\n        assert 'ball' in agent.open({}), 'no'\n"
ASK = OPEN.format("int(ask_llm('Which?'))")


def recorded(folder, *replies, task="ball/2", **settings):
    """A whole episode on disk: three plans, the last of which asks and wins."""
    replies = replies or (OPEN.format(1), OPEN.format(3), ASK, "2")
    run(Boxes(), task, model=Replies(*replies), out=folder, **settings)
    return list(Trace.read(folder / "trace.jsonl"))


def cut(folder, lines, torn=b""):
    """Leave so many lines of a trace, and a piece of the next one."""
    path = folder / "trace.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]) + torn)


def rewrite(folder, events):
    """Replace the events of a trace."""
    (folder / "trace.jsonl").write_bytes(b"".join(msgspec.json.encode(e) + b"\n" for e in events))


def same(events, others):
    assert [describe_difference(a, b) for a, b in zip(events, others, strict=True)] == [""] * len(events)


def test_an_episode_killed_anywhere_ends_with_the_same_trace(tmp_path):
    whole = recorded(tmp_path / "whole")
    for lines in range(1, len(whole)):
        folder = tmp_path / str(lines)
        recorded(folder)
        cut(folder, lines, torn=b'{"event":"act')
        asked = sum(isinstance(e, ModelCalled) for e in whole[:lines])
        left = [OPEN.format(1), OPEN.format(3), ASK, "2"][asked:]
        model, env = Replies(*left), Boxes()
        result = resume(folder, env=env, model=model)
        assert result.success
        assert len(model.asked) == len(left)
        after = Trace.read(folder / "trace.jsonl")
        same(whole, after)
        live = [e for e in whole[lines:] if isinstance(e, CallAnswered)]
        success = any(isinstance(e, CallAnswered) and e.answer.observation.success for e in whole[:lines])
        assert env.actions == (["open 1", "open 3", "open 2"] if live or success else [])


ASK_FOR_FORM = OPEN.format("ask_llm('Which?', agent.opened, int)")


def test_questions_with_a_form_are_replayed_and_resumed_as_they_were(tmp_path):
    replies = (ASK_FOR_FORM, "the second", "'2'", "2")
    whole = recorded(tmp_path / "whole", *replies)
    asked = [e for e in whole if isinstance(e, ModelCalled) and e.purpose == "ask"]
    assert [e.completion.text for e in asked] == ["the second", "'2'", "2"]
    assert "Your last answer was wrong" in asked[2].question
    for lines in range(1, len(whole)):
        folder = tmp_path / str(lines)
        recorded(folder, *replies)
        cut(folder, lines)
        done = sum(isinstance(e, ModelCalled) for e in whole[:lines])
        result = resume(folder, env=Boxes(), model=Replies(*replies[done:]))
        assert result.asks == 3
        same(whole, Trace.read(folder / "trace.jsonl"))


def test_an_episode_that_ended_is_not_run_again(tmp_path):
    whole = recorded(tmp_path / "run")
    seen = []
    result = resume(tmp_path / "run", env=Boxes(), model=Replies(), on_event=seen.append)
    assert result == whole[-1].result
    assert seen == [whole[-1]]
    assert Trace.read(tmp_path / "run" / "trace.jsonl") == whole


def test_an_interrupted_episode_goes_on(tmp_path):
    with pytest.raises(InfrastructureError):
        run(Boxes(), "ball/2", model=Replies(OPEN.format(1)), out=tmp_path / "run")
    *_, failed, end = Trace.read(tmp_path / "run" / "trace.jsonl")
    assert isinstance(failed, ModelCallFailed) and end.broken_off
    assert resume(tmp_path / "run", env=Boxes(), model=Replies(OPEN.format(2))).success
    after = Trace.read(tmp_path / "run" / "trace.jsonl")
    assert [e.broken_off for e in after if isinstance(e, EpisodeEnded)] == [False]
    assert not any(isinstance(e, ModelCallFailed) for e in after)


def interrupt_after(count):
    """A handler of events that interrupts the episode after so many."""
    seen = []

    def on_event(event):
        seen.append(event)
        if len(seen) == count:
            raise KeyboardInterrupt

    return on_event


def test_an_interrupted_replay_is_no_difference(tmp_path):
    for count in range(1, len(recorded(tmp_path / "run")) + 1):
        with pytest.raises(KeyboardInterrupt):
            replay(tmp_path / "run", env=Boxes(), on_event=interrupt_after(count))


def test_a_resumption_that_is_interrupted_while_the_trace_answers_leaves_the_trace_as_it_is(tmp_path):
    recorded(tmp_path / "run")
    cut(tmp_path / "run", 8)
    before = (tmp_path / "run" / "trace.jsonl").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        resume(tmp_path / "run", env=Boxes(), model=Replies(), on_event=interrupt_after(5))
    assert (tmp_path / "run" / "trace.jsonl").read_bytes() == before
    assert resume(tmp_path / "run", env=Boxes(), model=Replies(OPEN.format(3), ASK, "2")).success


class Slow(Replies):
    """Answers once, and then so late that the episode's time is over."""

    def complete(self, messages, **options):
        if self.replies:
            return super().complete(messages, **options)
        time.sleep(4.1)
        raise ModelError("no answer within the time that was left")


def test_a_call_that_outlasts_the_budget_is_on_the_trace_and_replays(tmp_path):
    result = run(Boxes(), "ball/2", model=Slow(OPEN.format(1)), out=tmp_path / "run", budget=Budget(seconds=4))
    assert result.reason == "budget: the budget of 4 seconds is spent"
    assert result.model_calls == 2
    failed = Trace.read(tmp_path / "run" / "trace.jsonl")[-2]
    assert isinstance(failed, ModelCallFailed)
    assert failed.error == "no answer within the time that was left"
    assert replay(tmp_path / "run", env=Boxes()) == result


def test_budgets_count_what_was_spent_before_the_crash(tmp_path):
    whole = recorded(tmp_path / "run", budget=Budget(model_calls=2))
    assert whole[-1].result.reason.startswith("budget")
    cut(tmp_path / "run", 5)
    result = resume(tmp_path / "run", env=Boxes(), model=Replies(OPEN.format(3), "never asked"))
    assert result.reason.startswith("budget")
    same(whole, Trace.read(tmp_path / "run" / "trace.jsonl"))


def test_a_trace_cannot_be_written_by_two_at_once(tmp_path):
    recorded(tmp_path / "run")
    cut(tmp_path / "run", 4)
    one = Trace.resume(tmp_path / "run" / "trace.jsonl")
    with pytest.raises(UsageError, match="still running"):
        Trace.resume(tmp_path / "run" / "trace.jsonl")
    one.close()


def test_a_replay_is_identical_and_uses_neither_environment_nor_model(tmp_path):
    whole = recorded(tmp_path / "run")

    class Untouchable(Boxes):
        def reset(self, task):
            raise AssertionError("a replay does not touch the environment")

        step = reset

    seen = []
    result = replay(tmp_path / "run", env=Untouchable(), on_event=seen.append)
    assert result == whole[-1].result
    assert seen == whole


def test_a_replay_makes_no_connection(tmp_path):
    """In a process that may have no socket but the sandbox's own, which are pairs within the machine."""
    run("household", "clean/22", mistakes="forgotten_walk", out=tmp_path / "run")
    code = f"""
import socket, sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname"):
        raise RuntimeError(f"no connection is to be made: {{event}} {{arguments}}")
    if event == "socket.__new__" and arguments[1] not in (socket.AF_UNIX, -1):
        raise RuntimeError(f"no socket is to be made: {{arguments}}")
sys.addaudithook(refuse)
import codeplan
print(codeplan.replay({str(tmp_path / "run")!r}).success)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


def test_an_episode_goes_on_at_the_address_of_today_with_what_was_recorded(tmp_path):
    """The model's name, its settings and the budget are the recorded ones; how it is reached is not."""
    folder = broken_off(tmp_path / "run")
    seen, today = {}, {"base_url": "http://127.0.0.1:9/v1", "timeout": 9.0}
    with pytest.raises(ModelError, match="127.0.0.1:9/v1 cannot be reached"):
        resume(folder, model_overrides=today | {"no_such_setting": 1}, on_event=lambda e: seen.update({type(e): e}))
    started = seen[EpisodeStarted]
    assert (started.model, started.model_settings["temperature"]) == ("strong (ask: cheap)", 0.5)
    assert started.budget == Budget(model_calls=7)
    with pytest.raises(ModelError, match="localhost:1/v1 cannot be reached"):
        resume(folder, model_overrides=today, base_url="http://localhost:1/v1")


@pytest.fixture(autouse=True)
def no_endpoint_of_this_machine(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def broken_off(folder):
    """The folder of an episode whose endpoint never answered."""
    settings = {"base_url": "http://127.0.0.1:1/v1", "ask_model": "cheap", "temperature": 0.5, "max_retries": 0}
    with pytest.raises(ModelError):
        run("household", "clean/22", model="strong", out=folder, budget=Budget(model_calls=7), **settings)
    return folder


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        (CallBegun, {"call": Call("open 2")}, "open 2"),
        (TextPrinted, {"text": "[Step 1] something else"}, "something else"),
        (PlanDrafted, {"source": "pass"}, "source differs"),
        (ModelCalled, {"messages": [{"role": "user", "content": "another prompt"}]}, "another prompt"),
    ],
)
def test_a_tampered_trace_is_caught_at_the_event(tmp_path, kind, change, message):
    events = recorded(tmp_path / "run")
    at = next(i for i, e in enumerate(events) if isinstance(e, kind))
    events[at] = msgspec.structs.replace(events[at], **change)
    rewrite(tmp_path / "run", events)
    with pytest.raises(Diverged, match=f"event {at} ") as caught:
        replay(tmp_path / "run", env=Boxes())
    assert message in str(caught.value)


@pytest.mark.parametrize("failure", [None, LastFailure("NeverHappened", "forged", 3, 1)])
def test_a_forged_failure_in_the_result_is_a_difference(tmp_path, failure):
    events = recorded(tmp_path / "run")
    assert events[-1].result.failure.error == "AssertionError"
    events[-1] = msgspec.structs.replace(events[-1], result=msgspec.structs.replace(events[-1].result, failure=failure))
    rewrite(tmp_path / "run", events)
    with pytest.raises(Diverged, match=f"event {len(events) - 1} is not what was recorded: result.failure"):
        replay(tmp_path / "run", env=Boxes())


def test_a_line_that_is_missing_from_a_trace_is_named(tmp_path):
    recorded(tmp_path / "run")
    path = tmp_path / "run" / "trace.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], *lines[4:]]))
    for do in (replay, resume):
        with pytest.raises(UsageError, match="line 4 is out of order: it holds event 4, not 3"):
            do(tmp_path / "run", env=Boxes())


@pytest.mark.parametrize("broken_off", [False, True])
@pytest.mark.parametrize("more", [SpanClosed(id=1), EpisodeEnded(result=Result(Task("a"), Success()))])
def test_a_trace_that_goes_on_after_the_end_is_damaged_for_every_reader(tmp_path, more, broken_off):
    events = recorded(tmp_path / "run")
    end = msgspec.structs.replace(events[-1], broken_off=broken_off)
    path = tmp_path / "run" / "trace.jsonl"
    path.unlink()
    write_trace(path, [*events[:-1], end, msgspec.structs.replace(more, seq=len(events))])
    with pytest.raises(UsageError) as caught:
        Trace.read(path)
    assert str(caught.value) == f"{path}, line {len(events) + 1} is damaged: its event follows the episode's end"
    readers = (
        lambda: replay(tmp_path / "run", env=Boxes()),
        lambda: resume(tmp_path / "run", env=Boxes()),
        lambda: new_test(tmp_path / "run", tmp_path / "test"),
        lambda: read_episode(tmp_path / "run"),
    )
    for read in readers:
        with pytest.raises(UsageError, match="follows the episode's end"):
            read()


def test_a_changed_reply_is_caught_where_it_first_makes_a_difference(tmp_path):
    events = recorded(tmp_path / "run")
    at = next(i for i, e in enumerate(events) if isinstance(e, ModelCalled))
    completion = msgspec.structs.replace(events[at].completion, text=OPEN.format(2))
    events[at] = msgspec.structs.replace(events[at], completion=completion)
    rewrite(tmp_path / "run", events)
    with pytest.raises(Diverged, match=f"event {at + 1} .*source differs"):
        replay(tmp_path / "run", env=Boxes())


def test_a_replay_of_what_broke_off_says_where(tmp_path):
    recorded(tmp_path / "run")
    cut(tmp_path / "run", 8)
    with pytest.raises(Diverged, match="the recording ends before event 8; resume can finish the episode"):
        replay(tmp_path / "run", env=Boxes())


def test_a_fork_goes_another_way_from_an_event(tmp_path):
    whole = recorded(tmp_path / "run")
    at = [i for i, e in enumerate(whole) if isinstance(e, ModelCalled)][1]
    result = fork(tmp_path / "run", at, tmp_path / "other", env=Boxes(), model=Replies(OPEN.format(2)))
    assert (result.success, result.model_calls, result.actions) == (True, 2, 2)
    branch = Trace.read(tmp_path / "other" / "trace.jsonl")
    assert branch[1:at] == whole[1:at]
    assert (branch[0].branched_at, whole[0].branched_at) == (at, None)
    assert Trace.read(tmp_path / "run" / "trace.jsonl") == whole


def test_an_episode_that_goes_on_with_another_model_is_replayed(tmp_path):
    def other(messages):
        return OPEN.format(2)

    whole = recorded(tmp_path / "run")
    at = [i for i, e in enumerate(whole) if isinstance(e, ModelCalled)][1]
    forked = fork(tmp_path / "run", at, tmp_path / "other", env=Boxes(), model=other)
    assert forked.model == "other" and replay(tmp_path / "other", env=Boxes()) == forked
    cut(tmp_path / "run", at)
    resumed = resume(tmp_path / "run", env=Boxes(), model=other)
    assert resumed.model == "other" and replay(tmp_path / "run", env=Boxes()) == resumed


def test_a_fork_takes_a_plan_in_place_of_the_models(tmp_path):
    recorded(tmp_path / "run")
    result = fork(tmp_path / "run", 1, tmp_path / "other", plan=OPEN.format(2), env=Boxes(), model=Replies())
    assert (result.success, result.model_calls, result.actions) == (True, 1, 1)


def test_a_fork_takes_a_plan_whole_that_holds_a_fence_itself(tmp_path):
    recorded(tmp_path / "run")
    plan = OPEN.format(2) + '    """\n```python\nx = 1\n```\n"""\n'
    fork(tmp_path / "run", 1, tmp_path / "other", plan=plan, env=Boxes(), model=Replies())
    drafted = [e for e in Trace.read(tmp_path / "other" / "trace.jsonl") if isinstance(e, PlanDrafted)]
    assert drafted[0].source == plan


def test_a_fork_takes_an_answer_in_place_of_the_models(tmp_path):
    whole = recorded(tmp_path / "run")
    at = next(i for i, e in enumerate(whole) if isinstance(e, ModelCalled) and e.purpose == "ask")
    model = Replies(OPEN.format(2))
    result = fork(tmp_path / "run", at, tmp_path / "other", answer="3", env=Boxes(), model=model)
    assert result.success
    assert model.purposes == ["refine"]


def test_a_fork_that_cannot_begin_leaves_nothing_behind(tmp_path):
    recorded(tmp_path / "run")
    with pytest.raises(UsageError, match="no_such_setting"):
        fork(tmp_path / "run", 3, tmp_path / "other", env=Boxes(), model=Replies(), no_such_setting=1)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("back", [1, 2])
def test_a_fork_may_begin_at_the_last_event(tmp_path, back):
    events = recorded(tmp_path / "run")
    at = len(events) - back
    assert fork(tmp_path / "run", at, tmp_path / "other", env=Boxes(), model=Replies()).success
    same(Trace.read(tmp_path / "other" / "trace.jsonl")[1:], events[1:])


@pytest.mark.parametrize("at", [-1, 0, "end", 999])
def test_a_fork_at_no_event_is_refused(tmp_path, at):
    last = len(recorded(tmp_path / "run")) - 1
    at = last + 1 if at == "end" else at
    with pytest.raises(UsageError, match=f"no event {at} .* has the events 1 to {last}$"):
        fork(tmp_path / "run", at, tmp_path / "other", env=Boxes(), model=Replies())
    trace = tmp_path / "run" / "trace.jsonl"
    trace.write_text(trace.read_text().splitlines(keepends=True)[0])
    with pytest.raises(UsageError, match=f"no event {at} .* has only its first event, 0$"):
        fork(tmp_path / "run", at, tmp_path / "other", env=Boxes(), model=Replies())


@pytest.mark.parametrize(
    "content", [None, b"", b'{"event":"text_printed","text":"x","seq":0,"at":1.0}\n', b"no json\n"]
)
def test_a_folder_without_a_proper_trace_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "trace.jsonl").write_bytes(content)
    for do in (resume, replay):
        with pytest.raises(UsageError, match="trace"):
            do(tmp_path, env=Boxes())


def test_what_guards_this_machine_is_never_taken_from_a_trace(tmp_path):
    run("household", "pick/1", mistakes="none", out=tmp_path / "run", allow_weak_sandbox=True)
    trace = tmp_path / "run" / "trace.jsonl"
    assert b'"allow_weak_sandbox":true' in trace.read_bytes().splitlines()[0]
    from codeplan.runner.recorded_episodes import _header, recorded_setup

    recording = Trace.read(trace)
    header = _header(recording, tmp_path)
    for given in ({}, {"allow_weak_sandbox": True}):
        with recorded_setup(header, recording, None, None, None, given, {}) as setup:
            assert setup.method.sandbox._allow_weak is bool(given)
