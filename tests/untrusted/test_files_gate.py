"""Files are opened through ``codeplan.untrusted.files``; each other place has a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "glob", "rglob", "iterdir", "walk"}
MODULES = {"files", "toml", "manifest", "skill_folder", "embeddings"}
"""Modules with functions of such names, and ``importlib.resources.files``."""

DATA = "it reads the data that the user names for an environment"
OWN = "it reads a file of the package"
EXEMPT = {
    "codeplan/untrusted/files.py": "it is the gate",
    "codeplan/cli/app.py": "it opens the null device",
    "codeplan/mcp_server/transports.py": "it opens the null device",
    "codeplan/audit/auditor.py": "it reads /proc, the hostile plans that the user names, and a folder that it has made",
    "codeplan/runner/settings_files.py": "it reads the user's own list of trusted folders, whose owner and mode it checks",
    "codeplan/skills/import_export.py": "it wraps the descriptor of a file that the gate opened",
    "codeplan/skills/index.py": "it removes damaged indexes",
    "envs/alfworld/game_files.py": DATA,
    "envs/hotpotqa/environment.py": DATA,
    "envs/miniwob/page.py": OWN,
    "envs/miniwob/tasks.py": DATA,
    "envs/webshop/loading.py": "the user's data; it builds an index in a folder that the user names",
}


def opening(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The calls that open a file or list a folder past the gate."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            owner, _, name = called.rpartition(".")
            if (
                called in ("open", "os.open", "io.open", "io.FileIO", "os.walk", "os.fwalk")
                or (name in METHODS and owner not in MODULES and owner and not owner.startswith("files("))
                or (
                    name == "open"
                    and (
                        any(isinstance(a, ast.Constant) and a.value in MODES for a in node.args)
                        or any(k.arg in ("mode", "encoding") for k in node.keywords)
                    )
                )
            ):
                yield node.lineno, called


MODES = {"r", "rb", "r+b", "rb+", "w", "wb", "x", "xb", "a", "ab", "a+b", "ab+"}


def test_no_file_is_opened_past_the_gate() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}: {call}"
        for folder in ("codeplan", "envs", "prompts")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if str(path.relative_to(ROOT)) not in EXEMPT
        for line, call in opening(ast.parse(path.read_text()))
    }
    assert not found, "use codeplan.untrusted.files or folders"


def test_every_exemption_is_still_needed() -> None:
    assert [name for name in EXEMPT if not list(opening(ast.parse((ROOT / name).read_text())))] == []


@pytest.mark.parametrize(
    "code",
    ["open('a')", "path.open('rb')", "Path(p).read_text()", "os.walk(f)", "(f / n).write_bytes(b)", "p.rglob('*')"],
)
def test_the_search_finds_what_opens(code: str) -> None:
    assert list(opening(ast.parse(code)))
