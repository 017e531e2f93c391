"""The course of an episode: which plans ran, through which steps, where each ended, where the next one resumed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from codeplan.report.pages.trace_index import EventHeader
from codeplan.report.pages.visible_text import label

_MAX_ROWS = 60
_MAX_STEPS = 60
_MAX_SPANS = 200

_ENDS = {"plan_failed": "failed", "plan_stopped": "stopped", "plan_finished": "finished"}


def plan_rows(course_events: Iterable[tuple[int, EventHeader]]) -> list[dict[str, Any]]:
    """One row for each plan that ran or was refused, in order.

    ``n`` is the number of the event that it begins with, ``plan`` the plan's number, ``from`` the step that it starts
    at; ``steps`` are [step, event, title] of those it entered; ``end`` says how it ended (``failed``, ``stopped``,
    ``finished``, ``refused``; None where the trace does not), with the event, step, line and sentence.
    """
    found: list[dict[str, Any]] = []
    for number, mark in course_events:
        if mark.event in ("plan_started", "plan_rejected"):
            if len(found) == _MAX_ROWS:
                break
            refused = mark.event == "plan_rejected"
            end = {"outcome": "refused", "n": number, "step": None, "line": None, "message": ""} if refused else None
            found.append({"n": number, "plan": mark.number, "from": mark.start_from or 1, "steps": [], "end": end})
        elif not found or found[-1]["end"]:
            continue
        elif mark.event == "step_entered":
            if len(found[-1]["steps"]) < _MAX_STEPS:
                found[-1]["steps"].append([mark.step, number, label(mark.title)])
        elif mark.event in _ENDS:
            found[-1]["end"] = {
                "outcome": _ENDS[mark.event],
                "n": number,
                "step": mark.step,
                "line": mark.line,
                "message": _why(mark),
            }
    return found


def span_rows(course_events: Iterable[tuple[int, EventHeader]]) -> list[list[Any]]:
    """[id, kind, name, event, depth] of each part of the episode, in the order in which they began."""
    found: list[list[Any]] = []
    depth: dict[int | None, int] = {None: -1}
    for number, mark in course_events:
        if mark.event == "span_opened" and mark.id is not None and len(found) < _MAX_SPANS:
            depth[mark.id] = depth.get(mark.span, -1) + 1
            found.append([mark.id, label(mark.kind), label(mark.name), number, min(depth[mark.id], 20)])
    return found


def _why(mark: EventHeader) -> str:
    if mark.event == "plan_failed" and mark.error != "AssertionError":
        return label(f"{mark.error}: {mark.message}")
    return mark.message
