"""The words of messages: one for each thing, and one sign for what is left out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplan.recording.events import PlanDrafted, PlanFixed
from codeplan.report.event_view import EventViewer, describe_purpose

ROOT = Path(__file__).parents[2]
FILES = [*(ROOT / "codeplan" / "cli").glob("*.py"), *(ROOT / "codeplan" / "report").glob("*.py"), ROOT / "codeplan/doctor.py"]  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_is_left_out_is_one_character(file: Path) -> None:
    texts = (node.value for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Constant))
    assert [text for text in texts if isinstance(text, str) and "..." in text] == []


def test_the_check_mends_the_model_repairs_and_refines_and_the_glossary_says_so() -> None:
    viewer = EventViewer()
    views = [viewer.view(PlanDrafted(number=1, origin=origin, source="x")) for origin in ("check", "refine")]
    assert [view.title for view in views] == ["Plan 1, repaired", "Plan 1, refined"]
    assert viewer.view(PlanFixed(number=1, fixes=(), source="x")).title == "The check mended plan 1"
    assert [describe_purpose("check"), describe_purpose("refine")] == ["repair the plan", "refine the plan"]
    glossary = (ROOT / "docs" / "glossary.md").read_text()
    assert all(f"\n| {term} |" in glossary for term in ("mending", "repair", "out-of-plan refinement"))


COMMAND = re.compile(r"(codeplan (bench|compare|fork|replay|report|resume|run|show|test|trust|view)|--out) $")


def arguments_of_commands(file: Path) -> Iterator[str]:
    """The expressions that follow a command or an option in a message which tells the user what to type."""
    texts = (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.JoinedStr))
    for text in texts:
        for before, value in zip(text.values, text.values[1:], strict=False):
            constant = before.value if isinstance(before, ast.Constant) else ""
            if isinstance(value, ast.FormattedValue) and isinstance(constant, str) and COMMAND.search(constant):
                yield ast.unparse(value.value)


def test_a_command_that_a_message_names_can_be_copied_into_a_shell() -> None:
    """A folder's name may hold spaces."""
    files = (ROOT / "codeplan").rglob("*.py")
    found = {f"{file.relative_to(ROOT)}: {value}" for file in files for value in arguments_of_commands(file)}
    assert len(found) > 10
    assert {one for one in found if "shell_word" not in one} == set()
