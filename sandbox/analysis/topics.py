"""The analyses of plan text by topic, which ``Sandbox.analyse`` offers. They run in the cage.

To add one, write a pure function ``(source, arguments) -> plain data`` in this package and list it in ANALYSES. Parse
the source with ``parsing.parse_plan``, which caps it, and let its RejectedPlanError pass: the caller gets a Rejected.
Arguments and results are plain data: None, bool, 64-bit int, finite float, text, list, dict with texts as keys. Raise
ValueError for wrong arguments. An analysis takes seconds and megabytes at most, has no files, and loads no module when
it runs: import what it needs at the module's head, and libcst only if necessary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from codeplan.sandbox.analysis import generalise, literal_search, merging, mutants, plan_shape, runnable_lines
from codeplan.sandbox.analysis.fixes import mending
from codeplan.sandbox.analysis.replies import reply_merging

AnalysisFunction: TypeAlias = Callable[[str, dict[str, Any]], Any]
"""Maps a source and arguments to plain data. Raises RejectedPlanError, ValueError."""

ANALYSES: Final[Mapping[str, AnalysisFunction]] = {
    "generalise": generalise.generalise,
    "lines": runnable_lines.runnable_lines,
    "literals": literal_search.find_literals,
    "mend": mending.mend,
    "merge": merging.merge_plans,
    "merge-reply": reply_merging.merge_reply,
    "mutants": mutants.find_mutants,
    "shape": plan_shape.plan_shape,
}
"""The analyses by topic."""
