"""Collects the output of a plan in Monty up to the limit, and reports it in pieces."""

from __future__ import annotations

from collections.abc import Callable

from codeplan.sandbox.host.run_accounting import require_within
from codeplan.sandbox.limits import Limits
from codeplan.sandbox.protocol.run_progress import OutputChunk
from codeplan.sandbox.protocol.values import escape_surrogates


class PrintedOutput:
    """The output of one run. ``is_closed`` means that no more output is collected, because the plan asked for its
    end.
    """

    def __init__(self, limits: Limits) -> None:
        self.is_closed = False
        self._limits = limits
        self._printed = 0
        self._parts: list[str] = []
        self._pending: list[str] = []

    @property
    def text(self) -> str:
        """The output up to the limit."""
        return "".join(self._parts)

    @property
    def size(self) -> int:
        """How many characters of the output were collected."""
        return min(self._printed, self._limits.output)

    def take(self, stream: str, text: str) -> None:
        """Collect printed text. Monty calls this, so it must not raise."""
        if self.is_closed:
            return
        kept = escape_surrogates(text)[: max(0, self._limits.output - self._printed)]
        self._printed += len(text)
        if kept:
            self._parts.append(kept)
            self._pending.append(kept)

    def report(self, on_event: Callable[[OutputChunk], None]) -> None:
        """Report pending output. Raises LimitExceededError if the output exceeds the limit."""
        if self._pending:
            text = "".join(self._pending)
            self._pending.clear()
            on_event(OutputChunk(text))
        require_within(self._limits, "output", self._printed)
