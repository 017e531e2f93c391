"""Commands in README and in the documentation run as printed, as far as they can here; the others are understood.

Commands that name a real model run with an endpoint on loopback in its place. ``make run`` is played by test_demo.py;
``make test`` is this run. ``LEFT`` names the commands that are not run, and why: for these the command line reads each
one, and refuses names and options that do not exist. ``docs/tour.md`` has a test of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.endpoint import serve
from support.reply_server import Endpoint, endpoint, reply
from support.served import Serve
from support.shown_commands import code_blocks, codeplan_commands, named_files
from typer.main import get_command

from codeplan.cli.app import app

__all__ = ["endpoint", "serve"]

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
PAGES = sorted(
    str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "docker/README.md"]
)
COMMANDS = {page: found for page in PAGES if (found := codeplan_commands((ROOT / page).read_text()))}
KEY, HOURS, DATA = "needs a model of one's own", "takes minutes to hours", "needs data that is downloaded"
LEFT = {
    "docs/bench.md": {
        "bench alfworld-unseen": DATA,
        "trust benchmarks/": "is about a file of the checkout, which test_tool_tasks.py plays",
        "bench benchmarks/": KEY,
        "bench grid.toml --engine": "needs a cluster",
        "bench paper:": HOURS,
        "papers adapt-table2 --bench": "shows what the command before it has played",
    },
    "docs/envs/alfworld.md": {"envs alfworld": DATA, "bench alfworld-": DATA, "run alfworld": DATA},
    "docs/envs/hotpotqa.md": {"run hotpotqa --model": f"{DATA}, and the network"},
    "docs/envs/miniwob.md": {"run miniwob": "needs a browser", "bench miniwob-": HOURS},
    "docs/envs/scienceworld.md": {"run scienceworld": "needs Java"},
    "docs/mcp-server.md": {"mcp": "serves until it is interrupted"},
    "docs/methods.md": {"bench examples/": HOURS},
    "docs/models.md": {
        "run household --model qwen3": "needs a server at this port",
        "run household --model gpt-5 --api responses": KEY,
        "run household --model gpt-4.1 --ask-model qwen3@": "needs a server at this port",
        "trust --forget": "is about a folder of the reader's",
        "serve-scripted": "serves until it is interrupted",
    },
    "docs/report.md": {"bench household -n 23": HOURS, "view": "serves until it is interrupted"},
    "docs/sandbox.md": {"sandbox audit": HOURS},
    "docs/skills.md": {"skills discover": HOURS, "skills add": "is about a run of the reader's"},
    "docs/tools.md": {"do": KEY},
    "docs/traces.md": {"fork": "the number of the event is that of a run of the reader's"},
}
"""How the commands begin that are understood only, by page, and why they are not run."""

BEFORE = {
    "docs/report.md": [f"bench household --kind clean -n 1 --out runs/{name}" for name in ("mine", "other")],
    "docs/skills.md": ["skills discover household -n 1 --pairs 3 --compare 1"],
    "docs/traces.md": ["run household --task clean/22 --out RUN"],
}
"""What stands for the reader's own runs, by page."""

FILES = {
    "docs/models.md": {
        "codeplan.toml": 'model = "gpt-4.1"\n',
        "grid.toml": 'suites = ["household"]\nmodels = [{ name = "gpt-4.1", base_url = "http://127.0.0.1:9/v1" }]\n',
    }
}
"""What stands for the reader's own files, by page."""

OWN_TESTS = ("README.md", "docs/tour.md")
RUN_PAGES = {
    page: commands
    for page, commands in COMMANDS.items()
    if page not in OWN_TESTS and not all(" ".join(c).startswith(tuple(LEFT.get(page, ()))) for c in commands)
}
"""The pages of which commands are run, without those that have a test of their own."""

CODES = {"do": 1, "exec": 1}
"""Exit codes other than 0. README's goal has no verifier, so that it ends as claimed."""


def test_readmes_commands_run_as_printed(tmp_path: Path, endpoint: Endpoint, serve: Serve) -> None:
    for name, text in named_files(README).items():
        (tmp_path / name).write_text(text)
    endpoint.answer(reply(f"```python\n{named_files(README)['plan.py']}```"))
    household = serve()
    commands = codeplan_commands(README)
    assert len(commands) == 16
    for arguments in commands:
        url = endpoint.url if arguments[0] == "do" else household.url
        done = run_codeplan(arguments, tmp_path, OPENAI_BASE_URL=url)
        assert done.returncode == CODES.get(arguments[0], 0), (arguments, done.stdout[-2000:], done.stderr[-2000:])
        assert "Traceback" not in done.stderr
        if arguments[0] in ("do", "exec"):
            refused = "--ask" in arguments  # nobody is at a terminal who could be asked
            assert ("PermissionError" if refused else '"Grace"') in done.stdout
    assert {Path("first.html"), Path("runs"), Path("tests")} <= {p.relative_to(tmp_path) for p in tmp_path.iterdir()}


def run_codeplan(arguments: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OPENAI_API_KEY": "none", **variables}
    command = [sys.executable, "-m", "codeplan", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


@pytest.mark.parametrize("page", sorted(RUN_PAGES))
def test_the_commands_of_a_page_run_as_printed(page: str, tmp_path: Path, serve: Serve) -> None:
    for name, text in FILES.get(page, {}).items():
        (tmp_path / name).write_text(text)
    for arguments in BEFORE.get(page, []):
        assert run_codeplan(arguments.split(), tmp_path).returncode == 0, arguments
    commands = [arguments for arguments in RUN_PAGES[page] if not is_left(page, arguments)]
    url = serve().url if any("gpt" in " ".join(arguments) for arguments in commands) else "http://127.0.0.1:9/v1"
    for arguments in commands:
        done = run_codeplan(arguments, tmp_path, OPENAI_BASE_URL=url, HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path))
        assert done.returncode == 0, (arguments, done.stdout[-2000:], done.stderr[-2000:])
        assert "Traceback" not in done.stderr


def is_left(page: str, arguments: list[str]) -> bool:
    return " ".join(arguments).startswith(tuple(LEFT.get(page, ())))


def test_what_is_not_run_is_shown() -> None:
    shown = {page: [" ".join(arguments) for arguments in commands] for page, commands in COMMANDS.items()}
    idle = [
        begin for page, begins in LEFT.items() for begin in begins if not any(c.startswith(begin) for c in shown[page])
    ]
    assert idle == []


@pytest.mark.parametrize("page", [page for page in PAGES if codeplan_commands((ROOT / page).read_text())])
def test_each_shown_command_is_understood(page: str) -> None:
    for arguments in codeplan_commands((ROOT / page).read_text()):
        understand(arguments)


def understand(arguments: list[str]) -> None:
    """Read a command as the command line does, and run nothing.

    Raises: AssertionError or click's UsageError: there is no such command, option or choice, or something is missing.
    """
    command = get_command(app)
    context = command.make_context("codeplan", [*arguments], resilient_parsing=True)
    while hasattr(command, "resolve_command"):
        given = arguments
        name, command, arguments = command.resolve_command(context, arguments)
        assert command is not None, f"no such command: {given[0]}"
        is_group = hasattr(command, "resolve_command")
        context = command.make_context(name, [*arguments], parent=context, resilient_parsing=is_group)


@pytest.mark.parametrize(
    "arguments", [["rum", "household"], ["run", "household", "--modle", "x"], ["skills", "lost"], ["run"]]
)
def test_a_wrong_command_is_not_understood(arguments: list[str]) -> None:
    with pytest.raises(Exception, match=r"(?i)no such (command|option)|missing"):
        understand(arguments)


def test_blocks_are_found_with_their_headings() -> None:
    page = 'a\n```python title="x.py"\ny = 1\n```\n    codeplan run x  # comment\n\n```\ncodeplan envs\n```\n'
    assert [heading for heading, _ in code_blocks(page)] == ['python title="x.py"', "", ""]
    assert named_files(page) == {"x.py": "y = 1\n"}
    assert codeplan_commands(page) == [["run", "x"], ["envs"]]
