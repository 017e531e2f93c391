"""An episode that ended for want of something goes on with it: on its own trace, and without a call twice."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from support.boxes import Boxes, Replies

import codeplan
from codeplan import Budget, UsageError
from codeplan.cli import main
from codeplan.errors import Diverged
from codeplan.recording.events import CallAnswered, CallBegun, EpisodeContinued, EpisodeEnded, ModelCalled
from codeplan.recording.trace import Trace

TOOLS = """
import pathlib

LOG = pathlib.Path("sent.log")

def send(to: str) -> int:
    LOG.write_text((LOG.read_text() if LOG.exists() else "") + to + " ")
    return len(LOG.read_text().split())
"""
PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] send')
        said = []
        for name in 'abcd':
            said.append(agent.send(name))
        assert len(said) == 4, 'Error in [Step 1]: not all'
    return said
"""
ALL = ["a", "b", "c", "d"]
FAILS = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] send')
        said = agent.send('a')
        assert said == 0, 'Error in [Step 1]: wrong'
    return said
"""
WORKS = FAILS.replace("said == 0", "said > 0")
STUCK = FAILS.replace("agent.send('a')", "1")
GIVES_UP = FAILS.replace("said = agent.send('a')", "said = agent.send('a'); give_up('no idea')")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path


def sent():
    return Path("sent.log").read_text().split() if Path("sent.log").exists() else []


def do(*replies, **options):
    return codeplan.do("send", tools="tools.py", model=Replies(*replies), out="run", **options)


def go_on(*replies, run="run", **options):
    return codeplan.resume(run, tools="tools.py", model=Replies(*replies), **options)


def events(*kinds, run="run"):
    return [e for e in Trace.read(f"{run}/trace.jsonl") if isinstance(e, kinds)]


def cuts(run="run"):
    """Folders with each beginning of a trace, as a kill leaves them, with its events."""
    lines = Path(f"{run}/trace.jsonl").read_bytes().splitlines(keepends=True)
    every = Trace.read(f"{run}/trace.jsonl")
    for count in range(1, len(lines)):
        Path(f"cut-{count}").mkdir()
        Path(f"cut-{count}/trace.jsonl").write_bytes(b"".join(lines[:count]))
        yield f"cut-{count}", every[:count]


# ------------------------------------------------------------------ budgets


BUDGETS = {
    "actions": (Budget(actions=2), [PLAN], Budget(actions=10), [], "abcd"),
    "model_calls": (Budget(model_calls=1), [FAILS, WORKS], Budget(model_calls=3), [WORKS], "aa"),
    "refinements": (Budget(refinements=0), [FAILS, WORKS], Budget(refinements=1), [WORKS], "aa"),
    "tokens": (Budget(tokens=0), [PLAN], Budget(tokens=10), [PLAN], "abcd"),
    "seconds": (Budget(seconds=0), [PLAN], Budget(seconds=600), [PLAN], "abcd"),
}


@pytest.mark.parametrize("kind", BUDGETS)
def test_a_budget_that_was_spent_is_raised_and_the_episode_goes_on_where_it_was(kind):
    tight, replies, more, left, calls = BUDGETS[kind]
    result = do(*replies, budget=tight)
    assert (result.ending.name, result.ending.kind) == ("budget_spent", kind)
    before, already = Path("run/trace.jsonl").read_bytes(), sent()
    lower = Budget(**{kind: getattr(tight, kind)})
    assert go_on(budget=lower) == result and go_on() == result and Path("run/trace.jsonl").read_bytes() == before
    again = go_on(*left, budget=more)
    assert again.ending.name == "claimed" and "".join(sent()) == calls and sent()[: len(already)] == already
    (continued,) = events(EpisodeContinued)
    assert continued.ended == result.reason and getattr(continued.budget, kind) == getattr(more, kind)
    assert Path("run/trace.jsonl").read_bytes()[:100] == before[:100] and len(events(EpisodeEnded)) == 1
    assert codeplan.replay("run") == again


def test_an_episode_may_go_on_several_times_and_a_raised_limit_stays():
    do(PLAN, budget=Budget(actions=1, refinements=7))
    for actions in (2, 3):
        assert go_on(budget=Budget(actions=actions)).ending.limit == actions
    result = go_on(budget=Budget(actions=9, refinements=8))
    assert result.value == [1, 2, 3, 4] and sent() == ALL
    assert [(e.budget.actions, e.budget.refinements) for e in events(EpisodeContinued)] == [(2, 7), (3, 7), (9, 8)]
    assert codeplan.replay("run") == result


def test_killed_anywhere_after_it_went_on_it_ends_alike():
    do(PLAN, budget=Budget(actions=2))
    whole = go_on(budget=Budget(actions=10))
    for run, kept in cuts():
        begun, answered = ([e.id for e in kept if isinstance(e, kind)] for kind in (CallBegun, CallAnswered))
        Path("sent.log").write_text("".join(f"{'abcd'[n - 1]} " for n in answered))
        model = [] if any(isinstance(e, ModelCalled) for e in kept) else [PLAN]
        in_doubt = "retry" if len(begun) > len(answered) else "stop"
        result = go_on(*model, run=run, in_doubt=in_doubt)
        if result.ending.name == "budget_spent":  # it was cut before it went on
            result = go_on(run=run, budget=Budget(actions=10), in_doubt=in_doubt)
        assert (result.value, result.ending, sent()) == (whole.value, whole.ending, ALL), run
        assert codeplan.replay(run) == result


# ------------------------------------------------------------------ tries


TRIES = {
    "no success": ([FAILS], {"tries": 1}, "not_solved"),
    "gave up": ([GIVES_UP], {}, "gave_up"),
    "no progress": ([STUCK] * 4, {"no_progress": 2}, "no_progress"),
    "refused": (["```python\nno plan\n```"] * 9, {"tries": 1, "no_progress": 0}, "refused"),
    "not verified": ([WORKS], {"tries": 1, "verify": lambda value: "not yet"}, "not_solved"),
}


@pytest.mark.parametrize("name", TRIES)
def test_an_episode_without_success_goes_on_with_further_tries(name):
    replies, options, ending = TRIES[name]
    result = do(*replies, **options)
    assert result.ending.name == ending, result.reason
    verify = {"verify": lambda value: value > 1 or "not yet"} if "verify" in options else {}
    already = len(sent())
    again = go_on(FAILS.replace("== 0", "== 1"), WORKS, WORKS, tries=3, **verify)
    assert again.ending.name in ("claimed", "success") and len(sent()) > already
    (continued,) = events(EpisodeContinued)
    assert (continued.ended, continued.tries) == (result.reason, 3)
    assert codeplan.replay("run") == again


def test_further_tries_are_no_more_than_were_given_and_may_be_given_again():
    do(FAILS, tries=1)
    others = [FAILS.replace("wrong", f"wrong {n}") for n in range(5)]
    second = go_on(*others[:2], tries=2)
    assert second.ending.name == "not_solved" and len(sent()) == 3
    third = go_on(others[2], WORKS, tries=2)
    assert third.ending.name == "claimed" and len(sent()) == 5 and third.refinements == 4
    assert codeplan.replay("run") == third


def test_killed_anywhere_in_its_further_tries_it_ends_alike():
    do(FAILS, tries=1)
    whole = go_on(FAILS.replace("wrong", "no"), WORKS, tries=2)
    for run, kept in cuts():
        begun, answered = ([e.id for e in kept if isinstance(e, kind)] for kind in (CallBegun, CallAnswered))
        Path("sent.log").write_text("a " * len(answered))
        left = [FAILS, FAILS.replace("wrong", "no"), WORKS][sum(isinstance(e, ModelCalled) for e in kept) :]
        in_doubt = "retry" if len(begun) > len(answered) else "stop"
        continued = any(isinstance(e, EpisodeContinued) for e in kept)
        result = go_on(*left[: None if continued else 1 - (len(left) < 3)], run=run, in_doubt=in_doubt)
        if not continued:
            result = go_on(*left[-2:], run=run, tries=2, in_doubt=in_doubt)
        assert (result.value, result.ending, len(sent())) == (whole.value, whole.ending, 3), run
        assert codeplan.replay(run) == result


def test_the_same_command_goes_on_after_a_kill():
    """The trace has the further tries already, so those that are given again change nothing."""
    do(FAILS, tries=1)
    go_on(FAILS.replace("wrong", "no"), WORKS, tries=2)
    for run, kept in cuts():
        if any(isinstance(e, EpisodeContinued) for e in kept):
            left = [FAILS, FAILS.replace("wrong", "no"), WORKS][sum(isinstance(e, ModelCalled) for e in kept) :]
            assert go_on(*left, run=run, tries=2, in_doubt="retry").ending.name == "claimed", run


# ------------------------------------------------------------------ another model


def test_an_episode_whose_model_was_lost_goes_on_with_another():
    with pytest.raises(codeplan.InfrastructureError):
        do(FAILS)
    (other := Replies(WORKS)).name = "another"
    result = codeplan.resume("run", tools="tools.py", model=other)
    assert (result.ending.name, result.model, len(sent())) == ("claimed", "another", 2)
    assert codeplan.replay("run") == result


# ------------------------------------------------------------------ what does not go on


def test_what_does_not_go_on_says_so_and_changes_nothing(capsys):
    do(WORKS)
    before = Path("run/trace.jsonl").read_bytes()
    for given in (["--tries", "3"], ["--max-actions", "50"]):
        assert main(["resume", "run", "--tools", "tools.py", *given, "-q"]) == 1
        said = "codeplan: the episode has ended before; this is its result, and nothing ran\n"
        assert said in capsys.readouterr().err
    assert Path("run/trace.jsonl").read_bytes() == before and sent() == ["a"]


def test_a_method_without_tries_says_so():
    turns = ['send {"to": "a"}', 'give_up {"reason": "no idea"}']
    result = do(*turns, method="react")
    assert result.ending.name == "gave_up"
    with pytest.raises(UsageError, match="the method 'react' of the episode has no tries to add; run it again"):
        go_on(tries=2)
    for wrong in (-1, True, "2", 1.5):
        with pytest.raises(UsageError):
            go_on(tries=wrong)


SEND = 'send {"to": "%s"}'
FINISH, GIVE_UP = 'finish {"value": 1}', 'give_up {"reason": "no"}'
METHODS = {
    "adaplanner": [FAILS, "```python\nno plan\n```", WORKS],
    "react": [SEND % "a", SEND % "b", FINISH],
    "reflexion": [SEND % "a", GIVE_UP, "I learnt.", SEND % "a", SEND % "b", FINISH],
    "adapt": [
        SEND % "a",
        GIVE_UP,
        "Step 1: send to a\nStep 2: send to b\nExecution Order: (Step 1 AND Step 2)",
        SEND % "a",
        FINISH,
        SEND % "b",
        FINISH,
    ],
}


@pytest.mark.parametrize("method", METHODS)
def test_whichever_model_call_was_the_last_in_the_budget_it_ends_as_without_one(method):
    replies = METHODS[method]
    whole = do(*replies, method=method)
    calls = sent()
    assert whole.model_calls == len(replies)
    for most in range(1, len(replies)):
        Path("sent.log").unlink(missing_ok=True)
        given = {"model": Replies(*replies[:most]), "budget": Budget(model_calls=most), "method": method}
        result = codeplan.do("send", tools="tools.py", out=f"at-{most}", **given)
        assert (result.ending.name, result.ending.kind) == ("budget_spent", "model_calls")
        result = go_on(*replies[most:], run=f"at-{most}", budget=Budget(model_calls=50))
        assert (result.ending, result.value, sent()) == (whole.ending, whole.value, calls), most
        assert codeplan.replay(f"at-{most}") == result


def test_an_episode_in_a_simulated_world_goes_on_as_well():
    source = """def solution(agent, start_from=1):
    if start_from <= 1:
        for box in [1, 2, 3]:
            seen = agent.open(box)
            if "ball" in seen:
                break
        assert "ball" in seen"""
    result = codeplan.run(Boxes(), "ball/2", model=Replies(source), out="run", budget=Budget(actions=1))
    assert result.ending.name == "budget_spent"
    result = codeplan.resume("run", env=Boxes(), model=Replies(), budget=Budget(actions=5))
    assert result.success and result.actions == 2 and codeplan.replay("run", env=Boxes()) == result


def test_a_trace_of_a_stranger_raises_no_limit():
    """Its events may claim that the episode went on, with any budget: the user's own one holds."""
    do(PLAN, budget=Budget(actions=2))
    go_on(budget=Budget(actions=3))
    lines = Path("run/trace.jsonl").read_text().splitlines(keepends=True)
    (at,) = (e.seq for e in events(EpisodeContinued))
    event = json.loads(lines[at])
    event["budget"]["model_calls"] = 10**6
    Path("run/trace.jsonl").write_text("".join([*lines[:at], json.dumps(event) + "\n"]))
    with pytest.raises(UsageError, match="the budget in the trace exceeds your own: model_calls=1000000"):
        go_on()
    event["budget"]["model_calls"], event["tries"] = 200, 2**40
    Path("run/trace.jsonl").write_text("".join([*lines[:at], json.dumps(event) + "\n"]))
    assert go_on().ending.name == "budget_spent" and sent() == ["a", "b", "c", "c"]
    event["tries"] = -1
    Path("run/trace.jsonl").write_text("".join([*lines[:at], json.dumps(event) + "\n"]))
    with pytest.raises(UsageError, match="is no event of a trace"):
        go_on()
    Path("run/trace.jsonl").write_text("".join([lines[0], json.dumps(event | {"seq": 1, "tries": 1}) + "\n"]))
    with pytest.raises((Diverged, UsageError)):
        go_on(PLAN)


# ------------------------------------------------------------------ the command that is printed


def printed_command(err):
    (command,) = re.findall(
        r"^codeplan: to go on, run: (.*?)(?:; name the tools again, as for this command)?$", err, re.M
    )
    return command


@pytest.mark.parametrize(
    ("options", "replies", "calls"),
    [
        (["--max-actions", "2"], [PLAN], "abcd"),
        (["--max-model-calls", "1"], [FAILS, WORKS], "aa"),
        (["--set", "tries=1"], [FAILS, WORKS], "aa"),
    ],
)
def test_the_command_that_the_message_prints_goes_on(options, replies, calls):
    body = f"REPLIES = {replies!r}\n\ndef reply(messages):\n    return REPLIES[min(len(messages) // 3, len(REPLIES) - 1)]\n"
    Path("model.py").write_text(body)
    given = ["--tools", "tools.py", "--model", "model.py:reply", "-q"]
    start = ["do", "send", *given, *options, "--out", "a run"]
    ended = subprocess.run([sys.executable, "-m", "codeplan", *start], capture_output=True, text=True)
    assert ended.returncode in (1, 3)
    words = shlex.split(printed_command(ended.stderr))
    assert words[:3] == ["codeplan", "resume", "a run"]
    again = subprocess.run([sys.executable, "-m", *words, *given], capture_output=True, text=True)
    assert again.returncode == 1 and "".join(sent()) == calls, again.stderr
    assert "to go on" not in again.stderr


def test_refinements_go_on_by_the_variable_that_the_message_prints(capsys, monkeypatch):
    Path("model.py").write_text(f"REPLIES = {[FAILS, WORKS]!r}\ndef reply(m):\n    return REPLIES[len(m) > 2]\n")
    given = ["--tools", "tools.py", "--model", "model.py:reply", "-q"]
    monkeypatch.setenv("CODEPLAN_BUDGET_REFINEMENTS", "0")
    assert main(["do", "send", *given, "--out", "run"]) == 3
    variable, *words = shlex.split(printed_command(capsys.readouterr().err))
    assert words == ["codeplan", "resume", "run", "--model", "model.py:reply"]
    monkeypatch.setenv(*variable.split("="))
    assert main([*words[1:], *given]) == 1 and sent() == ["a", "a"]
