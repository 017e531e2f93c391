"""Answers a job to analyse a plan's text, in the process that received it. It loads libcst."""

from __future__ import annotations

import msgspec

from codeplan.sandbox.analysis.topics import ANALYSES
from codeplan.sandbox.language.diagnostics import RejectedPlanError
from codeplan.sandbox.limits import shorten
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.plain_data import ANALYSIS_RULES, MAX_ANALYSIS_BYTES, find_non_plain
from codeplan.sandbox.protocol.plan_rows import diagnostic_rows
from codeplan.sandbox.protocol.values import escape_surrogates


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
        return frames.AnalysisFailed(escape_surrogates(shorten(str(error))), invalid_job=True)
    except Exception as error:
        return frames.AnalysisFailed(f"it failed on this source ({type(error).__name__})", invalid_job=False)
    problem = find_non_plain(found, ANALYSIS_RULES)
    written = b"" if problem else msgspec.json.encode(found)
    if len(written) > MAX_ANALYSIS_BYTES:
        problem = f"more than {MAX_ANALYSIS_BYTES:,} bytes"
    return frames.AnalysisFailed(f"it found {problem}", invalid_job=False) if problem else frames.Analysis(written)
