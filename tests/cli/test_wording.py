"""The words of messages: one for each thing, and one sign for what is left out."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from codeplan.recording.events import PlanDrafted, PlanFixed
from codeplan.report.event_view import EventViewer
from codeplan.report.purposes import describe_purpose

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
