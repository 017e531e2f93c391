"""The course of an episode: the plans that ran, their steps, how each ended and where the next resumed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from codeplan.report.pages.trace_index import EventHeader
from codeplan.report.pages.visible_text import label

_MAX_ROWS = 60
_MAX_STEPS = 60
_MAX_SPANS = 200

_ENDS = {
    "plan_failed": "failed",
    "plan_stopped": "stopped",
    "plan_replanned": "replanned",
    "plan_gave_up": "gave up",
    "plan_finished": "finished",
}


def plan_rows(course_events: Iterable[tuple[int, EventHeader]]) -> list[dict[str, Any]]:
    """One row for each plan that ran or was refused, in order.

    ``n`` is the number of its first event, ``plan`` the plan's number and ``from`` its first step. ``steps`` are
    [step, event, title] of the steps it entered. ``end`` has the outcome (a value of ``_ENDS``, or ``refused``), event,
    step, line and message; it is None if the trace has no end.
    """
    rows: list[dict[str, Any]] = []
    for number, header in course_events:
        if header.event in ("plan_started", "plan_rejected"):
            if len(rows) == _MAX_ROWS:
                break
            refused = header.event == "plan_rejected"
            end = {"outcome": "refused", "n": number, "step": None, "line": None, "message": ""} if refused else None
            rows.append({"n": number, "plan": header.number, "from": header.start_from or 1, "steps": [], "end": end})
        elif not rows or rows[-1]["end"]:
            continue
        elif header.event == "step_entered":
            if len(rows[-1]["steps"]) < _MAX_STEPS:
                rows[-1]["steps"].append([header.step, number, label(header.title)])
        elif header.event in _ENDS:
            place = {"n": number, "step": header.step, "line": header.line}
            rows[-1]["end"] = {"outcome": _ENDS[header.event], **place, "message": _message(header)}
    return rows


def span_rows(course_events: Iterable[tuple[int, EventHeader]]) -> list[list[Any]]:
    """[id, kind, name, event, depth] of each span, in the order of their starts."""
    rows: list[list[Any]] = []
    depth: dict[int | None, int] = {None: -1}
    for number, header in course_events:
        if header.event == "span_opened" and header.id is not None and len(rows) < _MAX_SPANS:
            depth[header.id] = depth.get(header.span, -1) + 1
            rows.append([header.id, label(header.kind), label(header.name), number, min(depth[header.id], 20)])
    return rows


def _message(header: EventHeader) -> str:
    if header.event == "plan_failed" and header.error != "AssertionError":
        return label(f"{header.error}: {header.message}")
    return label(header.reason) if header.reason else header.message
