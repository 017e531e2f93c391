"""An episode that needs an approval waits for it: it is answered from any process, and goes on at that very call."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from support.boxes import Replies

import codeplan
from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.recording.events import ApprovalAnswered, CallBegun, CallDecided, EpisodeEnded
from codeplan.recording.trace import Trace
from codeplan.types import Call, Waiting

TOOLS = """
def people() -> list[str]:
    return ["ann", "bob"]

def send(to: str, text: str = "hello") -> str:
    with open("sent.log", "a") as log:
        log.write(f"{to} {text}\\n")
    return f"sent to {to}"
"""
PLAN = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] send')
        said = []
        for p in agent.people():
            try:
                said.append(agent.send(p))
            except PermissionError as refused:
                said.append(str(refused))
        assert len(said) == 2, 'Error in [Step 1]: not all'
    return said
"""
GIVEN = {"tools": "tools.py", "ask": ["send"]}
OPTIONS = ["--tools", "tools.py", "--ask", "send", "--model", "model.py:reply", "-q"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "model.py").write_text(f"def reply(messages):\n    return {PLAN!r}\n")
    return tmp_path


def waits(run="run", **given):
    model = Replies(PLAN)
    result = codeplan.do("send letters", model=model, out=run, **(GIVEN | given))
    assert isinstance(result.ending, Waiting) and model.purposes == ["plan"]
    return result


def go_on(run="run", **given):
    return codeplan.resume(run, model=Replies(), **(GIVEN | given))


def sent():
    return Path("sent.log").read_text().splitlines() if Path("sent.log").exists() else []


def events(*kinds):
    return [e for e in Trace.read("run/trace.jsonl") if isinstance(e, kinds)]


# ------------------------------------------------------------------ how it waits


@pytest.mark.parametrize("given", [{}, {"approve": "later"}, {"approve": "later", "ask": None, "allow": ["people"]}])
def test_an_episode_waits_at_the_call_which_is_not_made_and_its_replay_ends_the_same_way(given):
    result = waits(**given)
    ending = result.ending
    assert (ending.tool, ending.call, result.success, result.model_calls) == (
        "send",
        Call("send", {"to": "ann"}),
        False,
        1,
    )
    assert result.reason.startswith(
        "waiting for approval: send(to='ann') at step 1, line 7; allow it: codeplan approve RUN"
    )
    assert sent() == []
    (decided,) = events(CallDecided)[-1:]
    assert (decided.allowed, decided.by, decided.reason) == (False, "nobody", result.reason)
    assert [event.line for event in events(CallBegun)] == [5]
    assert codeplan.replay("run") == result


def test_an_episode_that_a_tool_runs_by_itself_has_no_place_in_the_plan():
    def inner() -> str:
        turns = Replies("people {}", 'finish {"value": 1}')
        codeplan.do("look", tools="tools.py", method="react", model=turns, out="run")
        return "done"

    body = "        x = agent.inner()\n        assert x, 'Error in [Step 1]: no'"
    outer = f"def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] a')\n{body}\n"
    codeplan.do("look", tools=inner, model=Replies(outer), out="outer")
    assert [event.line for event in events(CallBegun)] == [None]


def test_a_pattern_or_somebody_to_ask_lets_it_go_on_in_the_same_plan_run():
    waits()
    result = go_on(ask=(), allow=["send"])
    assert result.value == ["sent to ann", "sent to bob"] and sent() == ["ann hello", "bob hello"]
    assert [(event.call.name, event.line) for event in events(CallBegun)] == [("people", 5), ("send", 7), ("send", 7)]
    assert not events(ApprovalAnswered) and codeplan.replay("run").value == result.value


def test_changed_arguments_are_made_recorded_and_repeated():
    given = {"approve": lambda call: {**call.arguments, "text": "bye"} if call.arguments["to"] == "ann" else "not Bob"}
    result = codeplan.do("send letters", model=Replies(PLAN), out="run", **GIVEN, **given)
    assert result.value == ["sent to ann", "the user did not approve this call of send: not Bob"]
    assert sent() == ["ann bye"]
    assert [event.call.arguments for event in events(CallBegun)] == [{}, {"to": "ann", "text": "bye"}, {"to": "bob"}]
    assert codeplan.replay("run") == result


# ------------------------------------------------------------------ the answer


def test_answers_are_given_one_by_one_and_nothing_is_made_twice():
    waits()
    assert codeplan.approve("run").call == Call("send", {"to": "ann"})
    with pytest.raises(UsageError, match="^the call was answered before; go on with: codeplan resume run$"):
        codeplan.approve("run", False)
    assert go_on().ending.call == Call("send", {"to": "bob"}) and sent() == ["ann hello"]
    codeplan.approve("run", False, "Bob moved")
    result = go_on()
    assert result.value == ["sent to ann", "the user did not approve this call of send: Bob moved"]
    assert sent() == ["ann hello"] and result.actions == 3
    assert codeplan.replay("run") == result
    with pytest.raises(UsageError, match="^the episode of run waits for no approval: it has ended$"):
        codeplan.approve("run")


def test_the_wait_does_not_count_as_the_episode_s_time():
    waits()
    time.sleep(0.3)
    codeplan.approve("run")
    before = Trace.read("run/trace.jsonl")
    assert before[-1].at == before[-2].at
    assert go_on().seconds - 0.3 < before[-1].at - before[0].at + 5


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"allowed": "yes"}, "allowed is True or False"),
        ({"reason": "because"}, "a reason says why a call is not allowed"),
        ({"allowed": False, "reason": "x" * 2_001}, "the reason is a text of at most 2,000 characters"),
    ],
)
def test_an_answer_that_is_none_is_refused_and_the_run_still_waits(given, sentence):
    waits()
    with pytest.raises(UsageError, match=sentence):
        codeplan.approve("run", **given)
    assert isinstance(Trace.read("run/trace.jsonl")[-1], EpisodeEnded)


def test_the_key_is_the_users_alone(folder):
    waits()
    codeplan.approve("run")
    key = folder / "config/codeplan/approvals.key"
    assert key.stat().st_mode & 0o777 == 0o600 and len(key.read_bytes()) == 32
    key.chmod(0o644)
    with pytest.raises(UsageError, match="others may read the key of your answers"):
        go_on()


# ------------------------------------------------------------------ answers of strangers


def forged_by_another_key():
    codeplan.approve("run")
    shutil.rmtree("config")


def forged_call():
    codeplan.approve("run")
    edit_last(lambda event: event["call"]["arguments"].update(to="eve"))


def forged_to_a_yes():
    codeplan.approve("run", False)
    edit_last(lambda event: event.update(allowed=True))


def copied_from_another_run():
    waits("other")
    codeplan.approve("other")
    *kept, _, _ = Path("run/trace.jsonl").read_text().splitlines(keepends=True)
    Path("run/trace.jsonl").write_text("".join(kept) + Path("other/trace.jsonl").read_text().splitlines()[-1] + "\n")


def changed_before_the_answer():
    codeplan.approve("run")
    first, rest = Path("run/trace.jsonl").read_text().split("\n", 1)
    header = json.loads(first)
    Path("run/trace.jsonl").write_text(json.dumps({**header, "at": header["at"] - 1}) + "\n" + rest)


def edit_last(change):
    *kept, last = Path("run/trace.jsonl").read_text().splitlines(keepends=True)
    event = json.loads(last)
    change(event)
    Path("run/trace.jsonl").write_text("".join(kept) + json.dumps(event) + "\n")


@pytest.mark.parametrize(
    "forge", [forged_by_another_key, forged_call, forged_to_a_yes, copied_from_another_run, changed_before_the_answer]
)
def test_an_answer_that_was_not_made_with_the_users_key_for_this_trace_allows_nothing(forge, capsys):
    waits()
    forge()
    result = go_on()
    assert isinstance(result.ending, Waiting) and sent() == []
    said = capsys.readouterr().err
    assert said.startswith(
        "codeplan: the answer to an approval in this trace was not made with your key; it is ignored"
    )
    codeplan.approve("run")
    assert go_on().ending.call == Call("send", {"to": "bob"}) and sent() == ["ann hello"]


# ------------------------------------------------------------------ the command, and other processes


def command(capsys, *arguments):
    code = main(list(map(str, arguments)))
    written = capsys.readouterr()
    return code, written.out, written.err


def test_the_command_answers_and_with_tools_goes_on_at_once(capsys):
    assert command(capsys, "do", "send letters", *OPTIONS, "--out", "run")[0] == 5
    code, out, err = command(capsys, "approve", "run")
    assert (code, out) == (0, "") and err.startswith(
        "allowed: send(to='ann')\nto go on, run: codeplan resume run, with"
    )
    code, _, err = command(capsys, "approve", "run", "--no")
    assert (code, err) == (2, "codeplan: the call was answered before; go on with: codeplan resume run\n")
    assert command(capsys, "resume", "run", *OPTIONS)[0] == 5
    code, out, err = command(capsys, "approve", "run", "--no", "Bob moved", *OPTIONS)
    assert code == 1 and "not allowed: send(to='bob')" in err
    assert json.loads(out[out.index("[\n") :])[1].endswith("send: Bob moved") and sent() == ["ann hello"]
    code, _, err = command(capsys, "approve", "run")
    assert (code, err) == (2, "codeplan: the episode of run waits for no approval: it has ended\n")
    code, _, err = command(capsys, "approve", "run", "because")
    assert (code, err) == (2, "codeplan: a reason says why a call is not allowed; it goes with --no\n")


def test_of_two_answers_at_once_one_counts():
    waits()
    code = "import sys, codeplan; codeplan.approve('run', sys.argv[1] == 'yes')"
    both = [subprocess.Popen([sys.executable, "-c", code, word], stderr=subprocess.PIPE) for word in ("yes", "no")]
    said = [process.communicate(timeout=60)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 1]
    assert sum(b"UsageError: the call was answered before" in text for text in said) == 1
    (answered,) = events(ApprovalAnswered)
    assert answered.allowed == (both[0].returncode == 0)
    go_on()
    assert sent() == (["ann hello"] if answered.allowed else [])


@pytest.mark.parametrize("milliseconds", [0, 2, 5, 10, 20, 40])
def test_a_kill_while_it_is_answered_leaves_a_run_that_goes_on(milliseconds):
    waits()
    code = """
        import sys, codeplan
        from codeplan.runner import approval_answers
        print("ready", flush=True)
        codeplan.approve("run")
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE)
    process.stdout.readline()
    time.sleep(milliseconds / 1_000)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    answered = bool(events(ApprovalAnswered))
    assert go_on().ending.call == Call("send", {"to": "bob" if answered else "ann"})
    assert sent() == (["ann hello"] if answered else [])
    assert go_on(ask=(), allow=["send"]).value == ["sent to ann", "sent to bob"] and sent() == [
        "ann hello",
        "bob hello",
    ]


def test_a_call_in_doubt_that_is_made_again_may_wait_and_be_answered_too():
    waits()
    codeplan.approve("run")
    go_on()
    path = Path("run/trace.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    cut = next(i for i, line in enumerate(lines) if '"approval_answered"' in line)
    path.write_text("".join(lines[: cut + 3]))  # killed once the call had begun
    with pytest.raises(codeplan.CallInDoubt):
        go_on()
    assert isinstance(go_on(in_doubt="retry").ending, Waiting) and sent() == ["ann hello"]
    codeplan.approve("run")
    assert go_on(in_doubt="retry").ending.call == Call("send", {"to": "bob"}) and sent() == ["ann hello"] * 2
    assert isinstance(codeplan.replay("run").ending, Waiting)


@pytest.mark.parametrize("kept", [-1, -2])
def test_a_run_that_was_cut_short_around_its_answer_decides_anew_or_by_it(kept):
    """Killed after the end was removed, or after the decision that the answer made."""
    waits()
    path = Path("run/trace.jsonl")
    if kept == -2:  # neither the end nor the answer is there
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-2]))
        with pytest.raises(UsageError, match="^the episode of run waits for no approval: it was broken off$"):
            codeplan.approve("run")
        assert go_on().ending.call == Call("send", {"to": "ann"}) and sent() == []
        return
    codeplan.approve("run")
    go_on()
    lines = path.read_text().splitlines(keepends=True)
    cut = next(i for i, line in enumerate(lines) if '"approval_answered"' in line)
    path.write_text("".join(lines[: cut + 2]))  # with the decision by this answer
    assert go_on().ending.call == Call("send", {"to": "bob"}) and sent() == ["ann hello"] * 2
