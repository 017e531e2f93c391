"""Ctrl-C in a command that plays many episodes: it says how to go on, and loses nothing that is done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.curation_samples import made
from support.served import Serve, Served
from support.terminals import OnTerminal, codeplan_on_terminal

from codeplan.recording.trace import Trace
from codeplan.skills.library import SkillLibrary

pytestmark = pytest.mark.long

LATENCY = 0.05
"""Seconds before each answer, so that there is time to interrupt."""


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def endpoint(serve: Serve) -> Served:
    return serve(latency=LATENCY)


def of(endpoint: Served) -> list[str]:
    return ["--model", "strong", "--base-url", endpoint.url]


def said(shown: OnTerminal) -> str:
    """The last line, without the line that moved before it."""
    return " ".join(shown.text.split()).rpartition("codeplan: ")[2]


def calls(endpoint: Served) -> int:
    return len(endpoint.log)


def test_an_interrupted_training_goes_on_where_it_was(endpoint: Served, tmp_path: Path) -> None:
    command = ["learn", "textcraft", "-n", "3", *of(endpoint), "--out"]
    assert codeplan_on_terminal([*command, "whole"], tmp_path).code == 0
    needed = calls(endpoint)
    shown = codeplan_on_terminal([*command, "mine"], tmp_path, interrupt_at=lambda: calls(endpoint) >= needed + 8)
    assert (shown.code, said(shown)) == (130, "interrupted; to go on, repeat the command with the same --out")
    assert needed + 8 <= calls(endpoint) < 2 * needed
    assert Trace.read(tmp_path / "mine" / "episodes" / "001" / "trace.jsonl")
    assert codeplan_on_terminal([*command, "mine"], tmp_path).code == 0
    assert (tmp_path / "mine" / "plan.txt").read_text() == (tmp_path / "whole" / "plan.txt").read_text()
    assert 2 * needed <= calls(endpoint) <= 2 * needed + 2  # what was being asked is asked again


def test_an_interrupted_discovery_keeps_its_skills(endpoint: Served, tmp_path: Path) -> None:
    command = ["skills", "discover", "household", "-n", "1", "--pairs", "7", "--compare", "2", "-j", "1", *of(endpoint)]
    skills = tmp_path / "skills"
    shown = codeplan_on_terminal(command, tmp_path, interrupt_at=lambda: any(skills.glob("household/*/SKILL.md")))
    assert shown.code == 130
    goes_on = "the library keeps what was found until then; codeplan skills filter goes on with its candidates"
    assert said(shown) == f"interrupted; {goes_on}"
    library = SkillLibrary(skills)
    assert library.entries()
    assert library.faults() == []


LATE_CTRL_C = """
import atexit, os, signal, sys
from codeplan.cli import main

sys.argv = ["codeplan", "methods"]
code = main()
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
sys.exit(code)
"""


def test_ctrl_c_while_a_command_ends_shows_no_traceback() -> None:
    ended = subprocess.run([sys.executable, "-c", LATE_CTRL_C], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_interrupted_filtering_keeps_its_evidence(endpoint: Served, tmp_path: Path) -> None:
    library = SkillLibrary(tmp_path / "skills")
    skill = library.add(made("heat", name="heat-good"))
    command = ["skills", "filter", "household", "--pairs", "20", "--alone", "1", "-j", "1", *of(endpoint)]
    shown = codeplan_on_terminal(command, tmp_path, interrupt_at=lambda: len(library.read_evidence(skill)) >= 3)
    assert shown.code == 130
    assert said(shown) == "interrupted; the library keeps what was found until then; to go on, repeat the command"
    kept = SkillLibrary(tmp_path / "skills").read_evidence(skill)
    assert 3 <= len(kept) < 25  # a pair is recorded once both have ended, and no test decides before the twelfth
    assert codeplan_on_terminal(command, tmp_path).code == 0
    after = SkillLibrary(tmp_path / "skills").read_evidence(skill)
    assert after[: len(kept)] == kept
    assert len(after) > len(kept)


def test_an_interrupted_check_says_to_repeat_it(serve: Serve, tmp_path: Path) -> None:
    SkillLibrary(tmp_path / "skills").add(made("heat", name="heat-good"))
    command = ["skills", "check", "--skill", "heat-good", "-j", "1", *of(serve(latency=5))]
    shown = codeplan_on_terminal(command, tmp_path, interrupt_at="0/1 ended")
    assert (shown.code, said(shown)) == (130, "interrupted; to check the skills, repeat the command")
