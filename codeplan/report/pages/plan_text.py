"""A plan's text for the page: its lines, the ranges of its steps, and the changes of a refinement.

A step is match by its first line. This is for display only.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Any

from codeplan.report.pages.visible_text import make_visible

MAX_LINES = 1500

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


def diff_rows(before: str, after: str) -> list[list[Any]]:
    """Every line of both, in order: [mark, line number before, line number after, text]; mark is " ", "-" or "+"."""
    old, new = _lines(before), _lines(after)
    rows: list[list[Any]] = []
    for what, i1, i2, j1, j2 in SequenceMatcher(None, old, new).get_opcodes():
        if what == "equal":
            rows += [[" ", i1 + k + 1, j1 + k + 1, old[i1 + k]] for k in range(i2 - i1)]
        else:
            rows += [["-", i + 1, None, old[i]] for i in range(i1, i2)]
            rows += [["+", None, j + 1, new[j]] for j in range(j1, j2)]
    return rows


def _lines(source: str) -> list[str]:
    return [make_visible(line[:2000]) for line in source.split("\n", MAX_LINES)[:MAX_LINES]]
