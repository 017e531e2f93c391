"""Commands in README and in the documentation run as printed; those of pages that assume something in
test_pages_played.py, which names the few that are not run, and in test_tools_pages.py.

Commands that name a real model run with an endpoint on loopback in its place. ``make run`` is played by test_demo.py;
``make test`` is this run. ``docs/tour.md`` and ``docs/testing-plans.md`` have tests of their own.
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
from support.shown_commands import code_blocks, codeplan_commands, named_files, understand

__all__ = ["endpoint", "serve"]

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
PAGES = sorted(
    str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "docker/README.md"]
)
COMMANDS = {page: found for page in PAGES if (found := codeplan_commands((ROOT / page).read_text()))}
OWN_TESTS = (
    "README.md",
    "docs/conversations.md",
    "docs/flows.md",
    "docs/tour.md",
    "docs/testing-plans.md",
    "docs/envs/textcraft.md",
    "docs/envs/webshop.md",
)
"""Pages that tests of their own play: the one below, test_tour.py, test_docs_page.py and test_…_page.py."""

PLAYED = "".join((Path(__file__).parent / f"test_{name}.py").read_text() for name in ("pages_played", "tools_pages"))
CODES = {"do": 1, "exec": 1}
"""Exit codes other than 0. README's goal has no verifier, so that it ends as claimed; with --ask it waits (5)."""


@pytest.mark.long
def test_readmes_commands_run_as_printed(tmp_path: Path, endpoint: Endpoint, serve: Serve) -> None:
    for name, text in named_files(README).items():
        (tmp_path / name).write_text(text)
    endpoint.answer(reply(f"```python\n{named_files(README)['plan.py']}```"))
    household = serve()
    commands = codeplan_commands(README)
    assert len(commands) == 17
    for arguments in commands:
        url = endpoint.url if arguments[0] == "do" else household.url
        done = run_codeplan(arguments, tmp_path, OPENAI_BASE_URL=url)
        waits = "--ask" in arguments  # nobody is at a terminal who could be asked
        assert done.returncode == (5 if waits else CODES.get(arguments[0], 0)), (
            arguments,
            done.stdout[-2000:],
            done.stderr[-2000:],
        )
        assert "Traceback" not in done.stderr
        if arguments[0] in ("do", "exec"):
            assert ("waiting for approval: remind(" if waits else '"Grace"') in done.stdout
    assert {Path("first.html"), Path("runs"), Path("tests")} <= {p.relative_to(tmp_path) for p in tmp_path.iterdir()}


def run_codeplan(arguments: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OPENAI_API_KEY": "none", **variables}
    command = [sys.executable, "-m", "codeplan", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def test_each_page_with_commands_has_a_test_that_plays_them() -> None:
    assert [page for page in COMMANDS if page not in OWN_TESTS and f'read("{page}"' not in PLAYED] == []


@pytest.mark.parametrize("page", COMMANDS)
def test_each_shown_command_is_understood(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in named_files((ROOT / page).read_text()).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for arguments in COMMANDS[page]:
        words = understand(arguments).split()
        assert len(words) > 1 and ["codeplan", *arguments][: len(words)] == words


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
