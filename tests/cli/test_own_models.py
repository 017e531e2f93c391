"""A model of the user's own file, ``--model FILE.py:NAME``, in each command that runs episodes with one."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_learn_takes_a_model_of_the_users() -> None:
    assert main(["learn", "textcraft", "-n", "1", "--out", "learnt", "--model", "own.py:model"]) == 0
    assert models("learnt") == {"mine"}


@pytest.mark.parametrize("name", ["model", "answer"])
def test_skills_are_acquired_discovered_and_added_with_a_model_of_the_users(name: str) -> None:
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
    ]
    assert main([*found, "-n", "1", *own]) == 0
    assert models("found") == shown


def test_a_bench_says_that_it_takes_names_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "household", "-n", "1", "--model", "own.py:model", "--out", "bench"]) == 2
    assert "a function of a file, which a bench and other settings than --model do not take" in capsys.readouterr().err
