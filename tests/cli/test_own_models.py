"""A model of the user's own file, ``--model FILE.py:NAME``, in each command that runs episodes with one."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeplan.bench.store import read_bench
from codeplan.cli.app import main
from codeplan.recording.events import EpisodeStarted
from codeplan.recording.trace import Trace

OWN = """
from codeplan.runner.models import connect

stand_in = connect("scripted", mistakes="none")

class Mine:
    name = "mine"

    def complete(self, messages, *, purpose, stop=(), max_tokens=None):
        return stand_in.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)

model = Mine()

def hello(messages):
    return "hello"

def answer(messages):
    return stand_in.complete(messages, purpose="plan").text
"""


@pytest.fixture(autouse=True)
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)


def models(folder: str) -> set[str]:
    headers = [Trace.read(path)[0] for path in Path(folder).rglob("trace.jsonl")]
    return {header.model for header in headers if isinstance(header, EpisodeStarted)}


def test_learn_takes_a_model_of_the_users():
    assert main(["learn", "textcraft", "-n", "1", "--out", "learnt", "--model", "own.py:model"]) == 0
    assert models("learnt") == {"mine"}


@pytest.mark.parametrize("name", ["model", "answer"])
def test_skills_are_acquired_discovered_and_added_with_a_model_of_the_users(name):
    own = ["--model", f"own.py:{name}"]
    shown = {"mine" if name == "model" else "answer"}
    run = ["run", "household", "--kind", "clean", "--seed", "3", "--out", "run", "-q", *own]
    assert main([*run, "--acquire", "--library", "first"]) == 0
    assert list(Path("first").rglob("SKILL.md"))
    assert models("run") == shown
    assert main(["skills", "add", "run", "--library", "second", "--out", "proof", *own]) == 0
    assert list(Path("second").rglob("SKILL.md"))
    assert models("proof") == shown
    found = [
        "skills",
        "discover",
        "textcraft",
        "--library",
        "third",
        "--out",
        "found",
        "--pairs",
        "1",
        "--compare",
        "0",
        "-n",
        "1",
    ]
    assert main([*found, *own]) == 0
    assert models("found") == shown


@pytest.mark.parametrize(("name", "shown"), [("model", "mine"), ("hello", "hello")])
@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_a_bench_takes_a_model_of_the_users_with_any_engine(name, shown, engine):
    command = ["bench", "household", "-n", "1", "--kind", "clean", "--engine", engine, "--out", "bench"]
    assert main([*command, "--model", f"own.py:{name}"]) == 0
    (outcome,) = read_bench(Path("bench")).outcomes
    assert (outcome.cell, models("bench")) == (f"household.adaplanner.{shown}", {shown})
    assert outcome.result.success is (name == "model")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("own.py", "needs the name of its function: --model own.py:NAME"),
        ("own.py:other", "'own.py' has no 'other'"),
        ("own.py:Mine", "'own.py:Mine' is a class"),
        ("own.py:OWN", "'own.py:OWN' is a text"),
        ("own.py:scripted", "the name scripted, which is the stand-in's"),
    ],
)
def test_a_bench_refuses_what_is_no_model(given, why, capsys):
    with Path("own.py").open("a") as file:
        file.write("OWN = 'text'\ndef scripted(messages):\n    return ''\n")
    assert main(["bench", "household", "-n", "1", "--model", given, "--out", "bench"]) == 2
    assert why in capsys.readouterr().err


def test_a_setting_that_names_a_model_takes_no_file(capsys):
    command = ["bench", "household", "-n", "1", "--model", "gpt-x", "--set", "api_key=x", "--set", "ask_model=a.py:b"]
    assert main([*command, "--out", "bench"]) == 2
    assert "a function of a file, which --model alone takes" in capsys.readouterr().err


PLAN = """
from large_language_model import ask_llm

def solution(agent, start_from=1):
    if start_from <= 1:
        assert agent.add(1, 2) == 3
        said = {said}
        assert said
"""


@pytest.mark.parametrize(
    ("said", "given", "shown"),
    [
        ("'nothing'", [], []),
        ("'nothing'", ["--model", "own.py:hello"], ["hello"]),
        ("ask_llm('hello?')", ["--model", "own.py:hello"], ["hello", "hello"]),
    ],
)
def test_exec_names_a_model_only_if_one_takes_part(said, given, shown, capsys):
    Path("tools.py").write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    Path("plan.py").write_text(PLAN.replace("{said}", said))
    main(["exec", "plan.py", "--tools", "tools.py", *given])
    printed = capsys.readouterr().out
    assert "ran to its end" in printed or "Claimed" in printed
    rows = [line.split() for line in printed.splitlines() if line.split()[:1] == ["Model"]]
    assert [row[1:] for row in rows if row[1] != "calls"] == [[name] for name in shown]
    assert "stand-in" not in printed
