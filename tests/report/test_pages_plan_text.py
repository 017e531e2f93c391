"""A plan's text on the page, and the course of an episode."""

from __future__ import annotations

import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from support.trace_samples import PLAN, started, state, write

from codeplan.recording.events import PlanDrafted, PlanEnded, PlanRejected, PlanStarted, SpanOpened, StepEntered
from codeplan.report.pages import episode_pages
from codeplan.report.pages.html_page import MAX_PLAN_LINES, diff_rows, plan_layout
from codeplan.report.pages.trace_index import TraceIndex
from codeplan.types import Diagnostic, Failed, Finished


def test_a_step_ranges_from_its_guard_to_the_last_line_within() -> None:
    assert plan_layout(PLAN)["steps"] == [[1, 2, 3], [2, 4, 5]]
    inner = (
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        a = 1\n\n        b = 2\n    print(a)\n"
    )
    assert plan_layout(inner)["steps"] == [[1, 2, 5]]


def test_text_that_is_not_a_plan_has_no_steps() -> None:
    assert plan_layout("I cannot do that.")["steps"] == []


def test_a_very_long_plan_is_cut_and_says_how_long_it_is() -> None:
    laid = plan_layout("x = 1\n" * 5000)
    assert (len(laid["lines"]), laid["whole"]) == (MAX_PLAN_LINES, 5001)


lines = st.lists(st.sampled_from(["a", "b", "c", "    d"]), max_size=12)


@given(lines, lines)
def test_a_diff_holds_both_plans_line_by_line(before: list[str], after: list[str]) -> None:
    rows = diff_rows("\n".join(before), "\n".join(after))
    assert [text for mark, _, _, text in rows if mark != "+"] == "\n".join(before).split("\n")
    assert [text for mark, _, _, text in rows if mark != "-"] == "\n".join(after).split("\n")
    assert [old for mark, old, _, _ in rows if mark != "+"] == list(range(1, len("\n".join(before).split("\n")) + 1))


def test_adversarial_plans_are_compared_in_time() -> None:
    started = time.process_time()
    diff_rows("a\nb\n" * 4000, "b\na\n" * 4000)
    assert time.process_time() - started < 10


def test_the_course_has_each_run_with_steps_end_and_resume_point(tmp_path: Path) -> None:
    index = TraceIndex(
        write(
            tmp_path,
            started(),
            SpanOpened(id=1, kind="trial", name="first"),
            PlanDrafted(number=1, origin="plan", source=PLAN),
            PlanRejected(number=1, diagnostics=(Diagnostic(1, 1, "syntax", "broken"),)),
            PlanStarted(number=2, start_from=1),
            StepEntered(step=1, title="look", checkpoint=state()),
            StepEntered(step=2, title="take", checkpoint=state()),
            PlanEnded(outcome=Failed(step=2, line=5, error="AssertionError", message="no\nmug", checkpoint=state())),
            PlanStarted(number=3, start_from=2),
            StepEntered(step=2, title="take", checkpoint=state()),
            PlanEnded(outcome=Failed(step=2, line=5, error="KeyError", message="'a'", checkpoint=state())),
            PlanStarted(number=4, start_from=2),
            PlanEnded(outcome=Finished(step=2)),
        )
    ).refresh()
    refused, first, second, third = episode_pages.plan_rows(index.course_events)
    assert (refused["plan"], refused["end"]["outcome"]) == (1, "refused")
    assert first["steps"] == [[1, 5, "look"], [2, 6, "take"]]
    assert first["end"] == {"outcome": "failed", "n": 7, "step": 2, "line": 5, "message": "no mug"}
    assert (second["from"], second["end"]["message"]) == (2, "KeyError: 'a'")
    assert third["end"]["outcome"] == "finished"
    assert episode_pages.span_rows(index.course_events) == [[1, "trial", "first", 1, 0]]
