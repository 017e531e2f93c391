"""Looking around on the command line: help, ``codeplan show`` and ``tasks``, and settings that do not fit."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

from codeplan.cli.app import app, main


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Ran]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs the command line in a fresh folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ran:
        code = main(arguments)
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


def test_help_lists_every_command_in_a_group_with_its_whole_summary(cli: Cli) -> None:
    text = cli("--help").out
    assert "..." not in text.partition("Episodes:")[2]
    assert "More:" not in text
    listed = re.findall(r"^  ([a-z][a-z-]*)  ", text, re.M)
    assert sorted(listed) == sorted(typer.main.get_command(app).commands)


def test_show_lists_an_episode_with_the_numbers_that_fork_takes(cli: Cli, tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    assert cli("run", "household", "--task", "clean/22", "--mistakes", "none", "-q", "--out", folder).code == 0
    lines = cli("show", folder).out.splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(len(lines)))
    actions = cli("show", folder, "--only", "actions").out.splitlines()
    assert set(actions) < set(lines)
    assert all("> " in line for line in actions[1:])
    assert json.loads(cli("show", folder, "--only", "failures", "--json").out) == []
    assert "reply:\n```python\ndef solution" in cli("show", folder, "--event", "2").out


def test_show_refuses_what_is_not_there_in_one_line(cli: Cli, tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    cli("run", "household", "--task", "clean/22", "--mistakes", "none", "-q", "--out", folder)
    last = len(cli("show", folder).out.splitlines()) - 1
    assert cli("show", folder, "--event", str(last)).code == 0
    refused = cli("show", folder, "--event", str(last + 1))
    assert (refused.code, refused.err) == (2, f"codeplan: there is no event {last + 1}; the events are 0 to {last}\n")
    refused = cli("show", folder, "--only", "plan")
    assert refused.err == "codeplan: --only takes plans, actions, model, failures or other, not 'plan'\n"


def test_tasks_lists_ids_and_goals(cli: Cli) -> None:
    lines = cli("tasks", "household", "--kind", "clean", "-n", "2").out.splitlines()
    assert lines[0].startswith("clean/0  put a clean ")
    assert lines[2] == "and 48 more; -n 50 lists all"
    assert len(cli("tasks", "household", "--kind", "clean", "-n", "50").out.splitlines()) == 50
    assert [t["id"] for t in json.loads(cli("tasks", "textcraft", "-n", "1", "--json").out)] == ["depth4/0"]


def test_tasks_names_a_wrong_split_or_kind(cli: Cli) -> None:
    refused = cli("tasks", "household", "--split", "tests")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "did you mean 'test'?" in refused.err
    assert "no tasks of the kind 'clen' in the split test" in cli("tasks", "household", "--kind", "clen").err


@pytest.mark.parametrize("flag", ["--prices=p.toml", "--temperature=0.3", "--base-url=http://localhost:1/v1"])
def test_a_flag_for_endpoints_says_that_the_scripted_model_does_not_take_it(cli: Cli, flag: str) -> None:
    refused = cli("run", "household", flag)
    name = flag[2:].partition("=")[0].replace("-", "_")
    assert refused.code == 2
    assert f"the scripted model has no setting '{name}'; --model NAME (model=NAME) gives one that has" in refused.err


def test_a_reader_that_closes_the_output_leaves_an_episode_that_can_be_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    codeplan = Path(sys.executable).with_name("codeplan")
    command = [codeplan, "run", "household", "--task", "clean/22", "--out", folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr is not None
        assert "SystemExit" not in running.stderr.read()
    assert main(["resume", str(folder), "-q"]) == 0
