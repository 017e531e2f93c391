"""Tools that are called once: however an episode fails, is killed or goes on, the world sees each call once."""

import json
from pathlib import Path

import pytest
from support.boxes import Replies

import codeplan
from codeplan import UsageError
from codeplan.cli import main
from codeplan.recording.events import CallAnswered, CallBegun, CallRepeated, EpisodeStarted
from codeplan.recording.trace import Trace

TOOLS = """
import pathlib

import codeplan

def people() -> list[str]:
    log = pathlib.Path("asked.log")
    log.write_text((log.read_text() if log.exists() else "") + "x")
    return ["ann", "bob", "cid"]

def send(to: str) -> int:
    log = pathlib.Path("sent.log")
    log.write_text((log.read_text() if log.exists() else "") + to + " ")
    letters = log.read_text().split()
    if letters == ["ann", "bob"]:
        raise ConnectionError("try again")
    return len(letters)

marked = codeplan.tool(send, once=True)
"""
FIRST = """
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] send to all')
        said = [agent.send(name) for name in agent.people()]
        assert said, 'Error in [Step 1]: nothing'
    if start_from <= 2:
        print('[Step 2] send to Ann again')
        said.append(agent.send('ann'))
        assert len(said) == 4, 'Error in [Step 2]: not four'
    return said
"""
SECOND = FIRST.replace("send to all", "send to everybody")  # the careless repair: the whole step again
THIRD = SECOND.replace("'send to Ann", "'Ann")
SENT = ["ann", "bob", "bob", "cid", "ann"]  # Bob's first letter failed


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.py").write_text(TOOLS)
    body = f"REPLIES = {[FIRST, SECOND]!r}\n\ndef reply(messages):\n    return REPLIES[len(messages) > 2]\n"
    (tmp_path / "model.py").write_text(f"{body}\ndef verify(value):\n    return len(value) == 4\n")
    return tmp_path


def sent():
    return Path("sent.log").read_text().split() if Path("sent.log").exists() else []


def events(run, *kinds):
    return [e for e in Trace.read(f"{run}/trace.jsonl") if isinstance(e, kinds)]


@pytest.fixture
def whole():
    result = codeplan.do("send", tools="tools.py:people,send", once=["s*"], model=Replies(FIRST, SECOND), out="whole")
    assert result.value == [1, 3, 4, 5] and sent() == SENT
    return result


# ------------------------------------------------------------------ the ways to say it


def test_a_careless_repair_repeats_no_call_and_the_others_as_they_are(whole):
    assert [(e.tool, e.id, e.of) for e in events("whole", CallRepeated)] == [("send", 5, 2)]
    assert Path("asked.log").read_text() == "xx"
    assert events("whole", EpisodeStarted)[0].once == ("send",)
    assert [e.seconds for e in events("whole", CallAnswered) if e.id == 5] == [0.0]
    assert codeplan.replay("whole") == whole and sent() == SENT


@pytest.mark.parametrize("tools", ["tools.py:people,marked", "tools.py:people,send"])
def test_the_command_and_the_decorator_say_it_as_well(capsys, tools):
    options = ["--once", "send"] if "marked" not in tools else []
    given = ["--tools", tools, "--model", "model.py:reply", "--verify", "model.py:verify"]
    assert main(["do", "send", *given, *options, "--out", "run"]) == 0
    shown = capsys.readouterr()
    assert sent() == SENT and json.dumps([1, 3, 4, 5], indent=2) in shown.out
    assert shown.out.count("is not made again: it gets the answer of call 2") == 1 and "ToolsWith" not in shown.err
    assert main(["replay", "run"]) == 0 and main(["show", "run"]) == 0
    assert "not made again" in capsys.readouterr().out


def test_without_it_the_repair_sends_again():
    result = codeplan.do("send", tools="tools.py:people,send", model=Replies(FIRST, SECOND))
    assert result.value == [3, 4, 5, 6] and sent() == ["ann", "bob", "ann", "bob", "cid", "ann"]


def test_a_pattern_that_names_no_tool_is_refused_before_anything_starts(capsys):
    given = ["--tools", "tools.py:people,send", "--model", "model.py:reply"]
    assert main(["do", "send", *given, "--once", "sned"]) == 2
    assert "no tool has a name that fits once 'sned'" in capsys.readouterr().err
    with pytest.raises(UsageError, match="'sned'"):
        codeplan.do("send", tools="tools.py:people,send", once="sned", model=Replies())
    assert sent() == []


# ------------------------------------------------------------------ killed, and resumed


def test_killed_before_or_in_any_event_it_ends_alike_with_each_call_made_once(whole):
    lines = Path("whole/trace.jsonl").read_bytes().splitlines(keepends=True)
    every = events("whole", object)
    for count in range(1, len(lines)):
        kept, run = every[:count], Path(f"cut-{count}")
        run.mkdir()
        (run / "trace.jsonl").write_bytes(b"".join(lines[:count]) + b'{"event":"call_')
        repeated = {e.id for e in every if isinstance(e, CallRepeated)}
        begun = [e for e in kept if isinstance(e, CallBegun) and e.call.name == "send" and e.id not in repeated]
        Path("sent.log").write_text("".join(f"{e.call.arguments['to']} " for e in begun))
        left = [FIRST, SECOND][sum(type(e).__name__ == "ModelCalled" for e in kept) :]
        given = {"tools": "tools.py:people,send", "model": Replies(*left)}
        try:
            result = codeplan.resume(run, **given)
        except codeplan.CallInDoubt as doubt:
            last = next(e for e in reversed(kept) if isinstance(e, CallBegun))
            assert last.call.name == doubt.tool and not any(
                isinstance(e, CallAnswered) and e.id == last.id for e in kept
            )
            before = [] if doubt.tool == "people" else [begun[-1].call.arguments["to"]]
            Path("sent.log").write_text(
                "".join(f"{e.call.arguments['to']} " for e in begun[: len(begun) - len(before)])
            )
            result = codeplan.resume(run, **given, in_doubt="retry")
        assert (result.value, sent()) == ([1, 3, 4, 5], SENT), count
        assert [e.of for e in events(run, CallRepeated)] == [2] and codeplan.replay(run) == result


def test_a_call_in_doubt_is_not_made_again_by_a_repair(whole):
    lines = Path("whole/trace.jsonl").read_bytes().splitlines(keepends=True)
    begun = events("whole", CallBegun)[1]
    Path("whole/trace.jsonl").write_bytes(b"".join(lines[: begun.seq + 1]))
    Path("sent.log").write_text("ann ")
    lenient = SECOND.replace(
        "[agent.send(name) for name in agent.people()]",
        "[]\n        for name in agent.people():\n            try:\n                said.append(agent.send(name))\n"
        "            except OSError as e:\n                said.append(str(e))",
    )
    replies = Replies(lenient, lenient.replace("everybody", "every one"))
    result = codeplan.resume("whole", tools="tools.py:people,send", model=replies, in_doubt="skip")
    assert "whether it was done is unknown" in result.value[0] and sent()[:1] == ["ann"]
    assert sent().count("ann") == 2  # the call in doubt, and the second letter of the plan
    assert codeplan.replay("whole") == result


def test_a_resume_may_say_once_for_a_tool_that_was_not_called_once():
    with pytest.raises(codeplan.InfrastructureError):
        codeplan.do("send", tools="tools.py:people,send", model=Replies(FIRST), out="run")
    assert sent() == ["ann", "bob"]
    result = codeplan.resume("run", tools="tools.py:people,send", model=Replies(SECOND), once=["send"])
    assert result.value == [1, 3, 4, 5] and sent() == SENT
    assert codeplan.replay("run") == result


# ------------------------------------------------------------------ traces of strangers


def edited(change, count):
    """The first lines of the trace, with another header."""
    first, *rest = Path("whole/trace.jsonl").read_text().splitlines(keepends=True)
    header = json.loads(first)
    change(header)
    Path("whole/trace.jsonl").write_text(json.dumps(header) + "\n" + "".join(rest[: count - 1]))


CARRIED = {"id": 1, "call": {"name": "send", "arguments": {"to": "ann"}}, "answer": {"value": 7}}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"once": ["send", 1]}, "line 1 is no event"),
        ({"once": [f"t{n}" for n in range(100_000)]}, None),
        ({"once": ["x\x1b[2J"]}, None),
        ({"carried": [CARRIED | {"id": -1}]}, "line 1 is no event"),
        ({"carried": [CARRIED | {"call": {"name": "send"}}]}, None),
        ({"carried": [CARRIED | {"call": {"name": "no_such_tool", "arguments": {}}}]}, None),
        ({"carried": [CARRIED | {"answer": {"value": [[["nonsense"]]]}}]}, None),
        ({"carried": [CARRIED | {"step": 2**70}]}, "line 1 is no event"),
        ({"carried": [CARRIED] * 20_000}, None),
    ],
)
def test_an_odd_header_ends_in_a_sentence_or_goes_on(whole, capsys, change, sentence):
    edited(lambda header: header.update(change), 3)
    capsys.readouterr()
    code = main(["resume", "whole", "--tools", "tools.py:people,send", "--model", "model.py:reply", "-q"])
    err = capsys.readouterr().err
    assert (code, sentence in err) == (2, True) if sentence else code in (1, 2), err
    assert "Traceback" not in err and "\x1b" not in err
    assert len(err) < 2_000 and main(["show", "whole"]) in (0, 2)


def test_a_call_that_the_header_claims_to_have_carried_is_shown_as_not_made(whole):
    edited(lambda header: header.update(carried=[CARRIED]), 3)
    Path("sent.log").unlink()
    result = codeplan.resume("whole", tools="tools.py:people,send", model=Replies(SECOND, THIRD))
    assert result.value[0] == 7 and next(e.of for e in events("whole", CallRepeated)) == 1
    assert codeplan.replay("whole") == result
