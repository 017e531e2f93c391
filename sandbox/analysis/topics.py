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

import msgspec

from codeplan.sandbox.analysis import (
    fixes,
    generalise,
    mutants,
    origins,
    plan_merging,
    plan_shape,
    reply_merging,
    snippets,
)
from codeplan.sandbox.language.parsing import RejectedPlanError
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.frames import diagnostic_rows, escape_surrogates
from codeplan.sandbox.protocol.limits import shorten
from codeplan.sandbox.protocol.plain_data import ANALYSIS_RULES, MAX_ANALYSIS_BYTES, find_non_plain

AnalysisFunction: TypeAlias = Callable[[str, dict[str, Any]], Any]
"""Maps a source and arguments to plain data. Raises RejectedPlanError, ValueError."""

ANALYSES: Final[Mapping[str, AnalysisFunction]] = {
    "choose-reading": reply_merging.choose_reading,
    "generalise": generalise.generalise,
    "lines": plan_shape.runnable_lines,
    "literals": plan_shape.find_literals,
    "mend": fixes.mend,
    "merge": plan_merging.merge_plans,
    "merge-reply": reply_merging.merge_reply,
    "mutants": mutants.find_mutants,
    "origins": origins.find_origins,
    "shape": plan_shape.plan_shape,
    "snippet": snippets.wrap_snippet,
}
"""The analyses by topic."""


def answer_analysis(job: frames.AnalysisJob) -> frames.Analysis | frames.AnalysisFailed | frames.RejectionFrame:
    """Run the analysis that the job names on its text."""
    conduct = ANALYSES.get(job.topic)
    if conduct is None:
        return frames.AnalysisFailed(
            f"there is no such analysis; choose one of: {', '.join(sorted(ANALYSES))}", invalid_job=True
        )
    try:
        found = conduct(job.source, job.arguments)
    except RejectedPlanError as refused:
        return frames.RejectionFrame(diagnostic_rows(refused.diagnostics))
    except ValueError as error:
        return frames.AnalysisFailed(shorten(escape_surrogates(str(error))), invalid_job=True)
    except Exception as error:
        return frames.AnalysisFailed(f"it failed on this source ({type(error).__name__})", invalid_job=False)
    problem = find_non_plain(found, ANALYSIS_RULES)
    written = b"" if problem else msgspec.json.encode(found)
    if len(written) > MAX_ANALYSIS_BYTES:
        problem = f"more than {MAX_ANALYSIS_BYTES:,} bytes"
    return frames.AnalysisFailed(f"it found {problem}", invalid_job=False) if problem else frames.Analysis(written)
