"""Records which lines of a plan run and in which order. Used only if the job asks for coverage."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Final

from codeplan.sandbox.language.compilation import PLAN_FILENAME
from codeplan.sandbox.limits import MAX_ARCS

_UNKNOWN: Final = -1


class LineTracer:
    """Records arcs: pairs of lines that ran one after the other in one function.

    A function is entered from line 0 and left to line 0. A jump that an exception causes is not an arc.
    """

    def __init__(self) -> None:
        self._seen_arcs: set[tuple[int, int]] = set()
        self._new_arcs: list[tuple[int, int]] = []

    def start(self) -> None:
        """Trace every plan function called from now on."""
        sys.settrace(self._trace_call)

    def stop(self) -> None:
        """Stop tracing."""
        sys.settrace(None)

    def take_new_arcs(self) -> list[tuple[int, int]]:
        """The arcs that are new since the last call."""
        news, self._new_arcs = self._new_arcs, []
        return news

    def _trace_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename != PLAN_FILENAME or code.co_name.startswith("<"):  # lambdas are part of a line
            return None
        last = 0

        def moved(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal last
            if event == "exception":
                last = _UNKNOWN
            elif event in ("line", "return"):
                here = frame.f_lineno if event == "line" else 0
                self._add_arc((last, here))
                last = here
            return moved

        return moved

    def _add_arc(self, arc: tuple[int, int]) -> None:
        if arc not in self._seen_arcs and arc[0] != _UNKNOWN and len(self._seen_arcs) < MAX_ARCS:
            self._seen_arcs.add(arc)
            self._new_arcs.append(arc)
