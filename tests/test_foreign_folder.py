"""A stranger's folder, opened with every command: nothing leaves this machine, nothing starts, nothing outside changes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from support.canaries import SECRET, Canaries, canaries
from support.foreign_folder import KEY, fill

from codeplan.cli.app import app, main

pytestmark = pytest.mark.long

CODEPLAN = Path(sys.executable).with_name("codeplan")
SECONDS = 300

RUNS = ("address", "routes", "file", "program", "limits", "prompts", "data", "types", "weak", "linked", "honest")
READ = ("data", "types", "linked", "honest")
"""What commands that only read a trace could stumble over: they open no setting of it."""

COMMANDS: dict[str, list[list[str]]] = {
    "run": [["household", "-q"], ["household", "--method", "react", "-q", "--json"]],
    "do": [
        ["look", "--tools", "plan.py", "-q", "--json"],
        ["look", "--tools", "plan.py", "--verify", "plan.py:solution"],
    ],
    "chat": [["--tools", "plan.py", "--model", "gpt-4.1"], ["runs/honest", "--tools", "plan.py", "--model", "gpt-4.1"]],
    "mcp": [
        ["--tools", "plan.py", "--runs", "runs"],
        ["--tools", "plan.py", "--library", "skills"],
        ["--mcp-config", "evil.json"],
    ],
    "learn": [["household", "-n", "1", "--out", "learnt"]],
    "check": [["plan.py"], ["tests/plans/linked.py"], ["plan.py", "--tools", "plan.py"]],
    "exec": [["plan.py", "--env", "household", "--json"], ["plan.py", "--tools", "plan.py", "--json"]],
    "resume": [[f"runs/{name}"] for name in RUNS],
    "approve": [[f"runs/{name}"] for name in READ] + [["runs/honest", "--no", "because"]],
    "replay": [[f"runs/{name}"] for name in RUNS],
    "show": [[f"runs/{name}"] for name in READ] + [["runs/honest", "--event", "0"]],
    "fork": [[f"runs/{name}", "--at", "2", "--out", f"forked/{name}"] for name in RUNS],
    "test": [[], ["tests/plans", "-n", "1"], ["--lf", "tests"]],
    "mutate": [
        [f"tests/plans/{n}.plan.toml"] for n in ("program", "data", "outside", "above", "link", "tape", "model")
    ],
    "new-test": [[f"runs/{name}", "-o", f"made/{name}"] for name in RUNS],
    "bench": [["household", "-n", "1", "--kind", "pick", "--engine", "processes", "-j", "1"], ["grid.toml"]],
    "papers": [[], ["adapt-table2"], ["adapt-table2", "--bench", "runs"]],
    "export": [
        ["runs", "-o", "new.csv"],
        ["runs", "-o", "new.jsonl", "--rows", "calls"],
        ["runs", "-o", "x.jsonl", "--for", "sft"],
    ],
    "compare": [["runs", "runs/honest"]],
    "report": [["runs"]],
    "view": [["runs"]],
    "serve-scripted": [["--log", "new.jsonl"]],
    "envs": [[], ["household"], ["plan.py:solution"]],
    "tasks": [["household"], ["plan.py:solution"]],
    "methods": [[]],
    "doctor": [[]],
    "trust": [["--list"], ["--forget"]],
    "sandbox audit": [[]],
    "skills add": [[f"runs/{name}", "--library", "made/library"] for name in RUNS],
    "skills list": [[]],
    "skills run": [["evil", "--tools", "plan.py"]],
    "skills show": [["evil"], ["other"]],
    "skills diff": [["evil", "other"]],
    "skills search": [["look"]],
    "skills match": [["look"]],
    "skills say": [["evil", "look for it"]],
    "skills stats": [[]],
    "skills test": [["evil"], ["evil", "--tools", "plan.py"], ["evil", "--trial", "plan.py"]],
    "skills promote": [["evil"]],
    "skills retire": [["evil"]],
    "skills pin": [["evil"]],
    "skills merge": [["evil", "other"]],
    "skills export": [["out.zip"], ["report.html"]],
    "skills import": [["skills.zip"]],
    "skills rebuild": [[]],
    "skills discover": [["household", "-n", "1", "--pairs", "1", "--compare", "1"]],
    "skills filter": [["household", "--pairs", "1"]],
    "skills check": [["--pairs", "1"]],
}
"""Each command with the arguments that open the folder's files."""

SERVERS = ("view", "serve-scripted")


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The names of all commands that do something."""
    if not hasattr(command, "commands"):
        yield " ".join(path)
        return
    for name, inner in command.commands.items():
        yield from leaves(inner, (*path, name))


def test_every_command_is_tried() -> None:
    assert set(COMMANDS) == set(leaves(typer.main.get_command(app)))


@pytest.fixture(scope="module")
def honest_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("honest") / "run"
    assert main(["run", "household", "--task", "pick/0", "--mistakes", "none", "--out", str(folder), "-q"]) == 0
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Canaries]:
    with canaries(tmp_path / "outside") as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path, outside: Canaries, honest_run: Path) -> Path:
    """A stranger's folder."""
    fill(tmp_path / "folder", outside, honest_run)
    return tmp_path / "folder"


@pytest.fixture
def environment(tmp_path: Path, outside: Canaries) -> dict[str, str]:
    """The user's variables. Whatever leaves by HTTP goes to the canary as its proxy."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
    proxies = dict.fromkeys(names, outside.url.removesuffix("/v1"))
    own = {"HOME": str(tmp_path / "home"), "OPENAI_API_KEY": KEY, "CANARY_KEY": KEY, "PATH": os.environ["PATH"]}
    return own | proxies | {"PYTHONDONTWRITEBYTECODE": "1"}


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in SERVERS])
def test_no_command_lets_anything_out(
    command: str, tmp_path: Path, folder: Path, outside: Canaries, environment: dict[str, str]
) -> None:
    opened = tmp_path / "opened"
    for arguments in COMMANDS[command]:
        shutil.rmtree(opened, ignore_errors=True)
        shutil.copytree(folder, opened, symlinks=True)
        done = subprocess.run(
            [CODEPLAN, *command.split(), *arguments],
            cwd=opened, env=environment, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        shown = (done.stdout + done.stderr).decode("utf-8", "replace")
        described = f"{command} {' '.join(arguments)}\n{shown[-3000:]}"
        assert outside.touched == [], described
        assert done.returncode in (0, 1, 2), described
        assert SECRET not in shown and KEY not in shown, described
        assert "Traceback" not in shown and "internal error" not in shown, described
        assert "\x1b]" not in shown and "\x1b[2J" not in shown, described
        assert not (tmp_path / "evil.txt").exists()


@pytest.mark.parametrize("command", SERVERS)
def test_no_server_lets_anything_out(
    command: str, folder: Path, outside: Canaries, environment: dict[str, str]
) -> None:
    (arguments,) = COMMANDS[command]
    pages = ["api/overview", "", *(f"api/episodes/{n}" for n in range(len(RUNS)))] if command == "view" else ["/models"]
    process = subprocess.Popen(
        [CODEPLAN, command, *arguments], cwd=folder, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    shown = "".join(read_page(address + page) for page in pages)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert SECRET not in shown + output + errors
    assert KEY not in shown + output + errors
    assert "Traceback" not in errors
    assert outside.touched == []


def read_page(address: str) -> str:
    """The page, or the error in its place."""
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=60) as page:
            return str(page.read(), "utf-8", "replace")
    except urllib.error.HTTPError as e:
        assert e.code in (404, 500)
        return str(e.read(), "utf-8", "replace")


@pytest.mark.parametrize("safe", [(), ("-P",)])
def test_python_m_does_not_import_packages_from_the_folder(
    folder: Path, outside: Canaries, environment: dict[str, str], safe: tuple[str, ...]
) -> None:
    """Without ``-P``, Python itself looks for its own modules there before codeplan starts; so those are left out."""
    for name in (*sys.stdlib_module_names, "codeplan") if not safe else ():
        (folder / f"{name}.py").unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, *safe, "-m", "codeplan", "run", "household", "-q", "--mistakes", "none"],
        cwd=folder, env=environment, capture_output=True, timeout=SECONDS,
    )  # fmt: skip
    assert outside.touched == []
    assert done.returncode == 0, done.stderr
