"""A plan's text for the page: its lines, the ranges of its steps, and the changes of a refinement.

A step is recognised by its first line. This is for display only.
"""

from __future__ import annotations

import re
from typing import Any

from codeplan.report.pages.visible_text import make_visible
from codeplan.untrusted.differences import DiffEffort, DiffRow, compare_lines

MAX_LINES = 1500
MAX_CHARACTERS = 200_000
"""Limits for one plan. Each page of events holds the plan before it. The check refuses plans over 64,000 bytes."""

_STEP = re.compile(r"^( *)if start_from <= (\d{1,6}):")


def plan_layout(source: str) -> dict[str, Any]:
    """The plan's lines, the number of all its lines, and its steps as [number, first line, last line]."""
    lines = _lines(source)
    return {"lines": lines, "whole": source.count("\n") + 1, "steps": step_ranges(lines)}


def step_ranges(lines: list[str]) -> list[list[int]]:
    """[number, first line, last line] of each step; lines count from 1."""
    ranges: list[list[int]] = []
    depth = -1
    for at, line in enumerate(lines, 1):
        if match := _STEP.match(line):
            depth = len(match[1])
            ranges.append([int(match[2]), at, at])
        elif ranges and line.strip():
            if len(line) - len(line.lstrip()) <= depth and not line.lstrip().startswith("#"):
                depth = -1
            if depth >= 0:
                ranges[-1][2] = at
    return ranges


def diff_rows(before: str, after: str, effort: DiffEffort | None = None) -> list[DiffRow]:
    """The first lines of both plans, compared; ``effort`` is as for ``compare_lines``."""
    return list(compare_lines(_lines(before), _lines(after), effort))


def _lines(source: str) -> list[str]:
    return [make_visible(line[:2000]) for line in source[:MAX_CHARACTERS].split("\n", MAX_LINES)[:MAX_LINES]]
