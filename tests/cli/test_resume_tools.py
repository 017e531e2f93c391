"""``codeplan resume`` of episodes with tools: what it prints, asks and exits with."""

import json

import pytest
from support.terminals import answer_questions

from codeplan.cli import main
from codeplan.recording.events import CallBegun, DoubtDecided
from codeplan.recording.trace import Trace

TOOLS = '''
import pathlib

def send(to: str, text: str) -> str:
    """Send a text."""
    with pathlib.Path("sent").open("a") as file:
        file.write(f"{to} ")
    return to
'''
MODEL = """
PLAN = '''
def solution(agent, start_from=1):
    if start_from <= 1:
        x = agent.send('ann', 'hello')
        y = agent.send('bob\\x1b[2J', 'z' * 5000)
        assert y, agent.report()
    return [x, y]
'''

def reply(messages):
    return PLAN

def verify(value):
    return value[0] == "ann"
"""
OPTIONS = ["--tools", "tools.py", "--verify", "model.py:verify", "--model", "model.py:reply", "-q"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a whole episode in ``run``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "model.py").write_text(MODEL)
    assert main(["do", "send them", "--out", "run", *OPTIONS]) == 0
    (tmp_path / "sent").write_text("")
    return tmp_path


@pytest.fixture
def in_doubt(folder):
    """The same, but the episode was killed in its second call."""
    trace = folder / "run" / "trace.jsonl"
    begun = [e.seq for e in Trace.read(trace) if isinstance(e, CallBegun)]
    trace.write_bytes(b"".join(trace.read_bytes().splitlines(keepends=True)[: begun[1] + 1]))
    return folder


@pytest.fixture
def resume(capsys):
    def run(*arguments):
        capsys.readouterr()
        code = main(["resume", "run", *arguments])
        written = capsys.readouterr()
        return code, written.out, written.err

    return run


def test_an_episode_that_ended_says_so_and_shows_its_value(folder, resume):
    code, out, err = resume("-q")
    assert (code, err) == (0, "codeplan: the episode has ended before; this is its result, and nothing ran\n")
    assert json.loads(out[out.index("[") :]) == ["ann", "bob\x1b[2J"]
    code, out, err = resume("--json", *OPTIONS)
    assert (code, json.loads(out)["value"][0]) == (0, "ann")
    assert err.endswith("this is its result, and nothing ran but your verifier, which confirms it\n")
    (folder / "other.py").write_text(MODEL.replace('== "ann"', '== "bob" or "it was not bob"'))
    code, out, err = resume("--json", "--tools", "tools.py", "--verify", "other.py:verify")
    assert (code, out, err.count("\n")) == (1, "", 1) and "now it is not: 'The result was not accepted: it" in err
    assert (folder / "sent").read_text() == ""


def test_elsewhere_than_on_a_terminal_it_stops_with_a_sentence(in_doubt, resume):
    for options in (OPTIONS, [*OPTIONS, "--in-doubt", "stop"], [*OPTIONS, "--json"]):
        code, out, err = resume(*options)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("codeplan: nobody knows whether this call was done, because the episode was ended")
        assert "send(to='bob\\x1b[2J', text='zzz" in err and len(err) < 1_050
        assert "--in-doubt retry (make it again) or --in-doubt skip (the plan gets an error in its place)" in err
    assert (in_doubt / "sent").read_text() == ""


def test_the_option_decides(in_doubt, resume):
    code, out, err = resume("--in-doubt", "retry", *OPTIONS)
    assert (code, err) == (0, "") and '"ann"' in out
    assert (in_doubt / "sent").read_text().startswith("bob")


def test_a_pattern_that_names_no_tool_is_refused(in_doubt, resume):
    code, _, err = resume("--idempotent", "sned", *OPTIONS)
    assert code == 2 and "no tool has a name that fits idempotent 'sned'" in err
    code, _, err = resume("--idempotent", "s*", *OPTIONS)
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--model", "model.py:reply"], "the episode has tools, which are never taken from a trace (send); name them"),
        (["--tools", "tools.py", "--model", "model.py:reply"], "the episode has a verifier, which is never taken"),
        (
            OPTIONS[:4],
            "the model 'reply' of the episode is a function or an object of yours, which is never taken from",
        ),
        ([*OPTIONS, "--tools", "model.py:reply"], "the tools differ from those of the recorded episode (new: reply)"),
        ([*OPTIONS, "--in-doubt", "again"], "Invalid value for '--in-doubt'"),
        ([*OPTIONS, "--idempotent", ""], "idempotent has a pattern that is no name of a tool: ''"),
    ],
)
def test_what_is_missing_or_wrong_is_named_in_a_sentence(in_doubt, resume, arguments, sentence):
    code, out, err = resume(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1) and err.startswith(f"codeplan: {sentence}")
    assert (in_doubt / "sent").read_text() == ""


@pytest.mark.parametrize(
    ("answer", "code", "decided"), [("retry", 0, ["retry"]), ("SKIP", 0, ["skip"]), ("", 2, []), ("yes", 2, [])]
)
def test_on_a_terminal_it_asks(in_doubt, answer, code, decided):
    ended, shown, _ = answer_questions(["resume", "run", *OPTIONS], b"[retry/skip/STOP] ", [f"{answer}\n"])
    assert ended == code
    assert b"send(to='bob\\x1b[2J', text='zzz" in shown and b"\x1b[2J" not in shown
    assert b"Some of the arguments are too long to show" in shown
    trace = Trace.read(in_doubt / "run" / "trace.jsonl")
    assert [e.way for e in trace if isinstance(e, DoubtDecided)] == decided


def test_a_resumed_episode_that_is_interrupted_says_to_name_the_tools_again(in_doubt, capsys):
    stopping = TOOLS.replace("    return to", "    raise KeyboardInterrupt")
    (in_doubt / "stopping.py").write_text(stopping)
    assert main(["resume", "run", "--tools", "stopping.py", *OPTIONS[2:], "--in-doubt", "retry"]) == 130
    said = "codeplan: interrupted; to go on, run: codeplan resume run --model model.py:reply; name the tools again, as "
    assert capsys.readouterr().err == said + "for this command\n"
