"""Studies of plan text, by topic: what ``Sandbox.study`` may be asked. They run in the cage.

To add one, write in a module of this package a pure function ``(source, arguments) -> plain data`` and name it in
STUDIES. The source is any text; read it with ``syntax.parse``, which caps it, and let the PlanRefused that it raises
pass: the caller gets its diagnostics as a Rejected. ``arguments`` is a dict of plain data (None, bool, int of 64 bits,
finite float, text, list, dict with texts as keys), and so must be what is returned. Raise ValueError, with one sentence
on what to give instead, for arguments that do not fit. A study takes seconds and megabytes at most, has no files, and
loads no module when it runs: import what it needs at the module's head, and libcst as little as can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from codeplan.sandbox.analysis import generalise, literal_search, merging, mutants, runnable_lines, shape

AnalysisFunction: TypeAlias = Callable[[str, dict[str, Any]], Any]
"""From a source and arguments to plain data. Raises PlanRefused, ValueError."""

ANALYSES: Final[Mapping[str, AnalysisFunction]] = {
    "generalise": generalise.generalise,
    "lines": runnable_lines.runnable_lines,
    "literals": literal_search.find_literals,
    "merge": merging.merge_plans,
    "mutants": mutants.find_mutants,
    "shape": shape.plan_shape,
}
"""The studies by topic."""
