"""Every block of code in README and in the documentation is of a kind that a test plays, runs or loads."""

from __future__ import annotations

import functools
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from support.alfworld_files import write
from support.shown_commands import named_files, understand

from codeplan.bench.bench_spec import BenchSpec, read_spec, resolve_bench
from codeplan.flows import flows_of_table
from codeplan.llm.prices import read_prices
from codeplan.runner.settings_files import read_settings_file
from codeplan.testing.manifest import read_manifest
from codeplan.tools.mcp import read_config

ROOT = Path(__file__).parents[2]
PAGES = sorted(str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
TARGETS = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)

RUN_BY = {
    "README.md": "tests/test_docs.py",
    "docs/conversations.md": "tests/docs/test_conversations_page.py",
    "docs/envs/alfworld.md": "tests/docs/test_shown_blocks.py",
    "docs/envs/hotpotqa.md": "tests/envs/test_pages.py",
    "docs/flows.md": "tests/docs/test_flows_page.py",
    "docs/integrations.md": "tests/integrations/test_integrations_page.py",
    "docs/methods.md": "tests/test_docs.py",
    "docs/own-environment.md": "tests/test_docs.py",
    "docs/plans.md": "tests/sandbox/language/test_plans_page.py",
    "docs/python.md": "tests/test_docs.py",
    "docs/skills.md": "tests/skills/test_selection.py",
    "docs/testing-plans.md": "tests/testing/test_docs_page.py",
    "docs/tools.md": "tests/test_docs.py",
}
"""The test that runs a page's Python blocks. Those with a file's name are saved by the tests of the page's commands."""


def fences(page: str) -> list[tuple[int, str, str]]:
    """Each fenced block: the line of its opening fence, what stands behind the fence, and its text."""
    found: list[tuple[int, str, str]] = []
    start, heading, lines = 0, "", list[str]()
    for number, line in enumerate(page.splitlines(), 1):
        fence = line.lstrip().startswith("```")
        if fence and start:
            found.append((start, heading, "".join(f"{each}\n" for each in lines)))
            start = 0
        elif fence:
            start, heading, lines = number, line.lstrip()[3:], []
        else:
            lines.append(line)
    assert not start, f"the block that line {start} opens is not closed"
    return found


BLOCKS = [(page, *fence) for page in PAGES for fence in fences((ROOT / page).read_text(encoding="utf-8"))]


def check_commands(text: str) -> None:
    """Raises AssertionError or click's UsageError: a line is no command that this project has."""
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["opentelemetry-instrument"]:
            words = words[1:]
        program, arguments = (words[0], words[1:]) if words else ("", [])
        if program == "codeplan":
            understand(arguments)
            assert arguments[0] != "test" or unknown_to_pytest(arguments) == [], line
        elif program == "make":
            assert set(arguments) <= set(TARGETS), f"the Makefile does not have all of {arguments}"
        elif program == "pip":
            assert arguments[0] == "install", line
            check_extras(line)
        else:
            assert program in ("", "export"), f"no command of a page: {line}; output is a block of text"


def unknown_to_pytest(arguments: list[str]) -> list[str]:
    """The long options that ``codeplan test`` hands to pytest, and that pytest does not have."""
    return [word for word in arguments if word.startswith("--") and not re.search(rf"{word}\b", pytest_help())]


@functools.cache
def pytest_help() -> str:
    """What pytest says of its options and of those of its plugins, codeplan's and xdist among them."""
    done = subprocess.run([sys.executable, "-m", "pytest", "--help"], capture_output=True, text=True, check=True)
    return done.stdout


def check_extras(text: str) -> None:
    named = {extra for names in re.findall(r"codeplan\[([\w,-]+)\]", text) for extra in names.split(",")}
    assert named <= set(EXTRAS), f"pyproject.toml does not have all of {named}"


def check_toml(text: str, folder: Path) -> None:
    """Give a table to the loader of what it is. Raises: KeyError for a table of an unknown kind; what loaders raise."""
    keys = set(tomllib.loads(text))
    kinds: list[tuple[set[str], Callable[[str, Path], None]]] = [
        ({"suites"}, load_bench),
        ({"methods", "tasks"}, load_bench),
        ({"plan", "env"}, load_manifest),
        ({"tasks"}, lambda added, path: load_manifest(f'plan = "x.py"\nenv = "household"\n{added}', path)),
        ({"rules"}, lambda added, path: load_flows(added)),
        ({"model"}, load_settings),
        ({"models"}, load_prices),
        ({"project"}, load_entry_points),
    ]
    load = next((load for wanted, load in kinds if wanted <= keys), None)
    assert load, f"no loader takes a table of {sorted(keys)}"
    load(text, folder)


def load_bench(text: str, folder: Path) -> None:
    (folder / "grid.toml").write_text(text)
    spec = read_spec(folder / "grid.toml")
    assert isinstance(spec, BenchSpec)
    if not spec.tool_tasks:  # their servers and files are the reader's
        assert resolve_bench(spec, offline=True).grid.cells


def load_manifest(text: str, folder: Path) -> None:
    for name in re.findall(r'^(?:plan|tape) = "(.*)"', text, re.MULTILINE):
        (folder / name).touch()  # the loader looks whether it is there
    assert read_manifest(folder / "x.plan.toml", text).tasks


def load_flows(text: str) -> None:
    assert flows_of_table(tomllib.loads(text)).rules


def load_settings(text: str, folder: Path) -> None:
    (folder / "codeplan.toml").write_text(text)
    found = read_settings_file(folder)
    assert found
    assert found.settings


def load_prices(text: str, folder: Path) -> None:
    (folder / "prices.toml").write_text(text)
    assert read_prices(folder / "prices.toml").models


def load_entry_points(text: str, folder: Path) -> None:
    own = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    shown = tomllib.loads(text)["project"]["entry-points"]
    assert shown.keys() <= own.keys()
    assert all(re.fullmatch(r"\w+:\w+", place) for group in shown.values() for place in group.values())


def check_json(text: str, folder: Path) -> None:
    (folder / "servers.json").write_text(text)
    assert read_config(folder / "servers.json")
    for entry in json.loads(text)["mcpServers"].values():
        if entry["command"] == "codeplan":
            understand(entry["args"])


def check_yaml(text: str) -> None:
    """A workflow's commands are understood."""
    commands = re.findall(r"^ +- run: (.*)$", text, re.MULTILINE)
    assert commands, "no workflow with commands"
    check_commands("\n".join(commands))


def check_python(page: str, heading: str) -> None:
    if 'title="' not in heading:
        assert Path(page).name in (ROOT / RUN_BY[page]).read_text()


def check_block(page: str, heading: str, text: str, folder: Path) -> None:
    """Raises: whatever says why no reader could use the block."""
    language = heading.split(" ")[0]
    if language in ("", "bash"):
        check_commands(text)
    elif language == "console":
        assert page == "docs/tour.md", "only the tour's commands are compared with their output"
    elif language == "python":
        check_python(page, heading)
    elif language == "toml":
        check_toml(text, folder)
    elif language == "json":
        check_json(text, folder)
    elif language == "yaml":
        check_yaml(text)
    else:
        assert language == "text", f"no test knows blocks of {language}"


@pytest.mark.parametrize(
    ("page", "line", "heading", "text"), BLOCKS, ids=[f"{page}:{line}" for page, line, *_ in BLOCKS]
)
def test_a_block_is_what_it_says(
    page: str, line: int, heading: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "data" / "valid_unseen", "pick", 1)
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    for name, named in named_files((ROOT / page).read_text(encoding="utf-8")).items():
        if name.endswith(".py") and "/" not in name:
            (tmp_path / name).write_text(named)  # a command may name its model's file
    problem = ""
    try:
        check_block(page, heading, text, tmp_path)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    assert problem == "", f"{page}:{line}"


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("", "the agent's answer\n"),
        ("", "codeplan rum household\n"),
        ("", "opentelemetry-instrument codeplan rum\n"),
        ("", "make tests\n"),
        ("", "pip install 'codeplan[webb]'\n"),
        ("toml", 'suites = ["lost"]\n'),
        ("toml", 'suits = ["household"]\n'),
        ("toml", 'model = "m"\nmodle = "m"\n'),
        ("toml", '[[tasks]]\nseed = "x"\n'),
        ("toml", "[models.x]\ninputs = 0.1\n"),
        ("json", '{"mcpServers": {"x": {"command": "codeplan", "args": ["mpc"]}}}'),
        ("json", "{}"),
        ("yaml", "steps:\n  - run: codeplan test --lost x\n"),
        ("yaml", "name: x\n"),
        ("pyhton", "x = 1\n"),
        ("console", "$ codeplan envs\n"),
        ("python", "x = 1\n"),
    ],
)
def test_a_wrong_block_is_found(heading: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"\S"):
        check_block("docs/bench.md", heading, text, tmp_path)


def test_an_open_block_is_found() -> None:
    assert fences("a\n```x\nb\n```\n") == [(2, "x", "b\n")]
    with pytest.raises(AssertionError, match="line 2"):
        fences("a\n```x\nb\n")


@pytest.mark.parametrize("page", [*PAGES, "docker/README.md"])
def test_targets_and_extras_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert set(re.findall(r"(?:^ {4}|`)make ([a-z][\w-]*)", text, re.MULTILINE)) <= set(TARGETS)
    check_extras(text)


def test_alfworlds_python_makes_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "FOLDER" / "valid_unseen", "pick", 1)
    monkeypatch.chdir(tmp_path)
    (block,) = [text for page, _, heading, text in BLOCKS if (page, heading) == ("docs/envs/alfworld.md", "python")]
    namespace: dict[str, object] = {"__name__": "page"}
    exec(compile(block, "alfworld.md", "exec"), namespace)
    assert len(namespace["env"].tasks("valid_unseen")) == 1  # type: ignore[attr-defined]
