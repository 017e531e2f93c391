"""A branch of an episode with tools makes no call that the episode has made after the point where they part."""

import shutil
from collections import Counter
from pathlib import Path

import pytest
from support.boxes import Replies

import codeplan
from codeplan import UsageError
from codeplan.cli import main
from codeplan.recording.events import CallAnswered, CallBegun, CallRepeated, EpisodeStarted
from codeplan.recording.trace import Trace

FIRST = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] send two')
        a = [agent.send('ann'), agent.send('ann')]
        assert a, 'Error in [Step 1]: nothing was sent'
    if start_from <= 2:
        print('[Step 2] send one')
        b = agent.send('bob')
        assert b == 0, 'Error in [Step 2]: wrong'
    return [*a, b]
"""
SECOND = FIRST.replace("b == 0", "b == 3 or b == 4").replace("[Step 2] send one", "[Step 2] send again")
TOOLS = """
import pathlib

def send(to: str) -> str:  # a wrong type, of which a warning within the call tells
    log = pathlib.Path("sent.log")
    log.write_text((log.read_text() if log.exists() else "") + to + " ")
    return len(log.read_text().split())
"""


def sent():
    return Path("sent.log").read_text().split()


@pytest.fixture(autouse=True)
def whole(tmp_path, monkeypatch):
    """The folder of a whole episode, which has refined its plan once, and so sent to Bob twice."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "model.py").write_text(f"def reply(messages):\n    return {SECOND!r}\n")
    result = codeplan.do("send", tools="tools.py", model=Replies(FIRST, SECOND), out="whole")
    assert result.value == [1, 2, 4] and sent() == ["ann", "ann", "bob", "bob"]
    return tmp_path / "whole"


def fork(at, out="branch", *replies, **options):
    return codeplan.fork("whole", at, out, tools="tools.py", model=Replies(*replies), **options)


def events(run, *kinds):
    return [e for e in Trace.read(f"{run}/trace.jsonl") if isinstance(e, kinds)]


def test_from_wherever_it_branches_off_the_branch_reaches_its_end_without_a_call(whole):
    every = Trace.read(whole / "trace.jsonl")
    for at in range(1, len(every)):
        left = [FIRST, SECOND][sum(type(e).__name__ == "ModelCalled" for e in every[:at]) :]
        result = fork(at, f"at-{at}", *left)
        bob = next(e.seq for e in every if isinstance(e, CallAnswered) and e.id == 3)
        assert result.value == [1, 2, 3 if at <= bob else 4] and sent() == ["ann", "ann", "bob", "bob"], at
        answered = sum(isinstance(e, CallAnswered) for e in every[:at])
        assert [e.of for e in events(f"at-{at}", CallRepeated)] == [1, 2, 3, 3 if at <= bob else 4][answered:]
        assert codeplan.replay(f"at-{at}") == result


def test_another_plan_makes_the_calls_that_the_episode_has_not_made():
    other = SECOND.replace("agent.send('ann')]", "agent.send('ann'), agent.send('ann'), agent.send('cid')]")
    result = fork(1, "branch", other.replace("b == 3 or", "b == 3 and b or"))
    assert result.value == [1, 2, 5, 6, 3] and sent()[4:] == ["ann", "cid"]
    with pytest.raises(UsageError, match="no model call follows event 26 that could be answered otherwise"):
        fork(len(events("whole", object)) - 1, "none", plan=other)


def test_tools_that_may_be_called_twice_are_called_again():
    result = fork(1, "branch", SECOND.replace("b == 4", "b"), idempotent=["s*"])
    assert result.value == [5, 6, 7] and sent()[4:] == ["ann", "ann", "bob"]
    assert not events("branch", EpisodeStarted)[0].carried


@pytest.mark.parametrize("idempotent", [(), ["send"]])
def test_a_branch_that_was_killed_goes_on_as_a_branch(idempotent):
    fork(1, "branch", FIRST, SECOND.replace("b == 4", "b"), idempotent=idempotent)
    log, lines = sent(), Path("branch/trace.jsonl").read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines)):
        shutil.copytree("branch", f"cut-{count}")
        Path(f"cut-{count}/trace.jsonl").write_bytes(b"".join(lines[:count]))
        begun, answered = events(f"cut-{count}", CallBegun), events(f"cut-{count}", CallAnswered)
        left = [FIRST, SECOND.replace("b == 4", "b")][sum(b'"model_called"' in line for line in lines[:count]) :]
        given = {"tools": "tools.py", "model": Replies(*left)}
        if idempotent:
            if len(begun) > len(answered):
                with pytest.raises(codeplan.CallInDoubt):
                    codeplan.resume(f"cut-{count}", **given)
            continue
        assert codeplan.resume(f"cut-{count}", **given).value == [1, 2, 3], count
        assert sent() == log


def test_a_call_in_doubt_at_the_end_of_the_episode_is_in_doubt_in_the_branch(whole):
    lines = (whole / "trace.jsonl").read_bytes().splitlines(keepends=True)
    begun = [e.seq for e in events("whole", CallBegun)]
    (whole / "trace.jsonl").write_bytes(b"".join(lines[: begun[1] + 1]))
    lenient = FIRST.replace("'ann')]", "'ann')]", 1).replace(
        "a = [agent.send('ann'), agent.send('ann')]",
        "a = [agent.send('ann')]\n        try:\n            agent.send('ann')\n        except OSError as e:\n"
        "            a.append(str(e))",
    )
    result = fork(1, "branch", lenient.replace("b == 0", "b"))
    said = "codeplan was ended during this call of send, and it is not made again; whether it was done is unknown"
    assert result.value == [1, said, 5] and Counter(sent()) == {"ann": 2, "bob": 3}
    assert [e.answer.in_doubt for e in events("branch", CallAnswered)] == [False, True, False]
    assert codeplan.replay("branch") == result


def test_the_command_takes_tools_and_prints_the_value(capsys):
    given = ["--tools", "tools.py", "--model", "model.py:reply", "-q"]
    assert main(["fork", "whole", "--at", "1", "--out", "branch", *given]) == 1
    assert "[\n  1,\n  2,\n  3\n]" in capsys.readouterr().out and len(sent()) == 4
    assert main(["fork", "whole", "--at", "1", "--out", "other", *given[2:]]) == 2
    assert "never taken from a trace (send)" in capsys.readouterr().err
    assert main(["fork", "whole", "--at", "1", "--out", "other", *given, "--idempotent", "sned"]) == 2
    assert "no tool has a name that fits idempotent 'sned'" in capsys.readouterr().err
