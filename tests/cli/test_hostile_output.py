"""Names, plans, skills and traces from elsewhere cannot steer the terminal, whatever command shows them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from support.skill_samples import PLAN, skill
from support.trace_samples import acted, ended, started, write

from codeplan.cli.app import main, report_error
from codeplan.errors import UsageError
from codeplan.recording.events import TextPrinted
from codeplan.report.live import LiveDisplay, SummaryDisplay
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceRecord, SkillOrigin
from codeplan.types import NotSolved, Result
from codeplan.untrusted.console import CleanConsole

pytestmark = pytest.mark.long

HOSTILE = {
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\x\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "colour": "\x1b[31m",
    "device control": "\x1bPq\x1b\\",
    "C1": "\x9b31m\x9d0;t\x9c",
    "overwrite": "a\rb\bc",
    "bidi": "\u202eabc\u2066",
    "invisible": "\u200b\ufeff\U000e0041\u3164",
    "new line": "x\ncodeplan: all is well\x85y\u2028z",
    "not text": "\udcff\udc9b",
}
ESCAPES = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command; what it prints must be clean. Returns the exit code and both outputs."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert is_clean(out) and is_clean(err)
        return code, str(out), str(err)

    return call


def is_clean(text: str) -> bool:
    return all(c == "\n" or (c.isprintable() and c != "\u3164") for c in text)


def toml_text(text: str) -> str:
    """The text as TOML, every character escaped."""
    return '"' + "".join(f"\\U{ord(c):08x}" for c in text.encode("utf-8", "replace").decode()) + '"'


def file_name(text: str) -> str:
    return text.replace("/", "-")[:200]


@ESCAPES
def test_a_plans_file_name(text: str, tmp_path: Path, run: Run) -> None:
    for source, code in ((PLAN, 0), ("import os\n", 1), ("", 2)):
        name = file_name(f"{text}.py")
        (tmp_path / name).write_text(source)
        found, out, err = run("check", name, "--env", "household")
        assert found == code
        assert not [line for line in (out + err).splitlines() if line.startswith("codeplan: all is well")]
    run("check", file_name(f"{text}missing"), "--env", "household")


@ESCAPES
def test_a_plans_text(text: str, tmp_path: Path, run: Run) -> None:
    spelled = text.encode("utf-8", "surrogateescape")
    (tmp_path / "plan.py").write_bytes(b"import os  # " + spelled + b"\nx = '" + spelled + b"'\n")
    checked = run("check", "plan.py", "--env", "household")
    played = run("exec", "plan.py", "--env", "household", "--task", "clean/1")
    if text == HOSTILE["not text"]:
        assert checked == played == (2, "", "codeplan: plan.py is not UTF-8 (byte 13); save it as UTF-8\n")
        return
    reason = re.search(r"^plan\.py(?::\d+:\d+)?: (.+) \[(?:syntax|solution-missing)\]$", checked[1], re.MULTILINE)
    assert reason and (checked[0], checked[2]) == (1, "")
    assert (played[0], played[2]) == (1, "") and "Plan 1 was refused before any of it ran:" in played[1]


@ESCAPES
def test_the_names_of_run_folders(text: str, tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "runs" / file_name(text)
    folder.mkdir(parents=True)
    (folder / "trace.jsonl").write_text("nonsense\n")
    good = tmp_path / "runs" / file_name(f"good{text}")
    good.mkdir()
    write(good, started(), acted(), ended(started()))
    code, _, err = run("report", "runs")
    assert code == 0
    assert err.count("\n") == 1
    for command in ("resume", "replay"):
        assert run(command, folder)[0] == 2
    run("report", folder.with_name(file_name(f"{text}missing")))


@ESCAPES
def test_what_a_trace_says(text: str, tmp_path: Path) -> None:
    text = text.encode("utf-8", "replace").decode()
    head = started(text, goal=text, method=text, model=text, kind=text)
    head = msgspec.structs.replace(head, env=text)
    end = ended(head)
    end = msgspec.structs.replace(end, result=Result(head.task, NotSolved(text), text, text, plan=text, trace=text))
    with (tmp_path / "out").open("w+") as file:
        for display in (LiveDisplay, SummaryDisplay):
            on_event = display(CleanConsole(file=file, width=80))
            for event in (head, *acted(text, text), TextPrinted(text=text), end):
                on_event(event)
        file.seek(0)
        assert is_clean(file.read())


@ESCAPES
def test_what_a_skill_says(text: str, tmp_path: Path, run: Run) -> None:
    text = text.encode("utf-8", "replace").decode()
    library = SkillLibrary(tmp_path / "skills")
    made = skill(description=text, kind=text, parameters=(text, "b"), origins=(SkillOrigin(text, text, text, text),))
    library.add(msgspec.structs.replace(made, plan=f"{PLAN}# {text}\n"))
    library.record(made, EvidenceRecord(text, 1, text, True, True, run=text))
    code, out, _ = run("skills", "show", "heat-1")
    assert code == 0
    assert "\ncodeplan: all is well" not in out.split("def solution")[0]
    run("skills", "list")
    run("skills", "search", text)
    run("skills", "stats")
    code, out, _ = run("skills", "show", "heat-1", "--json")
    assert json.loads(out)["description"] == text
    assert out.isascii()
    run("skills", "show", text)
    run("skills", "list", "--library", file_name(text))


@ESCAPES
def test_what_an_error_says(text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for debug in ("", "1"):
        monkeypatch.setenv("CODEPLAN_DEBUG", debug)
        for error in (UsageError(text), OSError(5, text, text), ValueError(text)):
            report_error(error)
            err = capsys.readouterr().err
            assert is_clean(err)
            assert debug or err.count("\n") == 1


@ESCAPES
def test_settings_and_options(text: str, run: Run) -> None:
    for arguments in (["--task", text], ["--model", text], ["--set", text], ["--method", text], [f"--{text}"], [text]):
        assert run("run", "textcraft", *arguments)[0] == 2
    for arguments in ([text], [f"--{text}"], ["run", text], ["envs", text], ["fork", text, "--at", "1", "--out", "x"]):
        assert run(*arguments)[0] == 2


@ESCAPES
def test_a_manifest_and_its_name(text: str, tmp_path: Path, run: Run) -> None:
    text = text.encode("utf-8", "replace").decode()
    (tmp_path / "plan.py").write_text(PLAN)
    for key in ("plan", "env", "sample", "skill", "marks", text):
        given = {"plan": "plan.py", "env": "household", key: [text] if key == "marks" else text}
        values = {k: f"[{toml_text(v[0])}]" if isinstance(v, list) else toml_text(v) for k, v in given.items()}
        lines = [f"{toml_text(k)} = {v}" for k, v in values.items()]
        (tmp_path / "a.plan.toml").write_text("\n".join([*lines, '[[tasks]]\nid = "clean/1"\n']))
        assert run("mutate", "a.plan.toml")[0] == 2
    (tmp_path / "a.plan.toml").write_text(f"nonsense {text}")
    assert run("mutate", "a.plan.toml")[0] == 2
    assert run("mutate", file_name(f"{text}.plan.toml"))[0] == 2


def test_pytest_prints_no_manifests_name_that_could_steer_the_terminal(tmp_path: Path) -> None:
    manifest = 'plan = "plan.py"\nenv = "household"\n[[tasks]]\nid = "clean/1"\n'
    for text in HOSTILE.values():
        folder = tmp_path / file_name(f"d{text}")
        folder.mkdir()
        (folder / "plan.py").write_text(PLAN)
        (folder / "a.plan.toml").write_text(manifest)
        (tmp_path / file_name(f"{text}.plan.toml")).write_text(manifest)
    command = [sys.executable, "-m", "codeplan", "test", "-v", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="surrogateescape", check=False)
    assert done.returncode == 1
    assert is_clean(done.stdout) and is_clean(done.stderr)
    assert done.stdout.count("its name cannot be printed") == 2 * len(HOSTILE)


def test_pytest_prints_no_task_of_a_manifest_that_could_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "plan.py").write_text(PLAN)
    tasks = [f"[[tasks]]\nid = {toml_text(t)}\n" for t in HOSTILE.values()]
    (tmp_path / "a.plan.toml").write_text('plan = "plan.py"\nenv = "textcraft"\n' + "".join(tasks))
    command = [sys.executable, "-m", "codeplan", "test", "-v", "--plan-cov", "-p", "no:cacheprovider", "a.plan.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="surrogateescape", check=False)
    assert done.returncode == 1 and "textcraft has no task" in done.stdout
    assert is_clean(done.stdout) and is_clean(done.stderr)


def test_a_learnt_plan(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from codeplan.standin.model import ScriptedModel
    from codeplan.types import Completion, Usage

    text = "".join(t.encode("utf-8", "replace").decode() for t in HOSTILE.values())
    monkeypatch.setattr(ScriptedModel, "complete", lambda *_, **__: Completion(text, Usage(0, 0)))
    code, out, err = run("learn", "household", "-n", "1", "--out", "learnt")
    assert code == 0, err
    assert "learnt from 1 task;" in out
    assert os.path.exists("learnt/plan.txt")
