"""Maximum sizes of a trace and of its events."""

from __future__ import annotations

from typing import Final

from codeplan.errors import SizeExceeded, UsageError
from codeplan.recording.events import EpisodeEnded, Event, ModelCallFailed, SpanClosed
from codeplan.types import Checkpoint
from codeplan.untrusted.json_sizes import MAX_NESTING, TOO_DEEP, ValueLimit, count_values, is_too_deep

MAX_EVENT_BYTES: Final = 8 << 20
"""Maximum size of an event in JSON. The longest prompt with the longest reply fits, in any script."""

MAX_TRACE_BYTES: Final = 1 << 29
"""Maximum size of a trace. A larger one is neither written nor read as a whole; the report reads any size in parts.

It holds four hundred model calls with the longest prompts and replies in ASCII; the default budget allows two hundred.
"""

MAX_LINE_BYTES: Final = 8 * MAX_EVENT_BYTES
"""Maximum length of a line in a trace. A reader treats a longer line as the trace's end, because no event is this
long.
"""

MAX_SAVED_VALUES: Final = 4_000_000
"""Maximum number of values in all checkpoints of an episode. In memory a value takes some hundred bytes, so a plan that
saves many small ones could otherwise fill ten times as much memory as its trace fills on disk."""

MAX_TRACE_VALUES: Final = 12_000_000
"""Maximum number of values in all events of a trace, nested ones included. A value takes at most some hundred bytes in
memory. A trace with more is neither written nor read as a whole."""

CLOSING_EVENTS: Final = (ModelCallFailed, SpanClosed, EpisodeEnded)
"""Events that are written even to a full trace, so that it ends as it should. Their own content bounds their size."""

_CLOSING_LINES = (b'{"event":"model_call_failed"', b'{"event":"span_closed"', b'{"event":"episode_ended"')

_MAX_FILLED_BYTES: Final = MAX_TRACE_BYTES - 4 * MAX_EVENT_BYTES
_MAX_FILLED_VALUES: Final = MAX_TRACE_VALUES - 2_000_000


class LineSizes:
    """Checks the lines of events before they are parsed: values can take thirty times as much memory as their text.

    ``max_values`` is the maximum number of values in all lines.
    """

    def __init__(self, max_values: int = MAX_TRACE_VALUES) -> None:
        self._values = ValueLimit(max_values)

    def check(self, line: bytes, where: str) -> None:
        """Check the next line; ``where`` is for the message.

        Raises: UsageError: the line is longer than an event can be, its values are nested too deep, or the lines hold
            too many values.
        """
        most = MAX_LINE_BYTES if line.startswith(_CLOSING_LINES) else MAX_EVENT_BYTES
        if len(line) > most:
            raise UsageError(f"{where} is too long for an event: it has {len(line):,} bytes, more than {most:,}")
        self._values.check(line, where)


class TraceSize:
    """Counts the bytes and values of a trace's events, and the values in their checkpoints."""

    def __init__(self) -> None:
        self._bytes = self._values = self._saved = 0

    def count(self, event: Event, packed: bytes) -> None:
        """Count an event and its JSON, even if there is no room for it."""
        self._bytes, self._values, self._saved = self._with(event, packed)

    def add(self, event: Event, packed: bytes) -> None:
        """Count an event and its JSON if there is room for it, and it can be read again. Raises: SizeExceeded."""
        if is_too_deep(packed):
            raise SizeExceeded("event", MAX_NESTING, f"an event of the trace holds {TOO_DEEP}")
        sums = self._with(event, packed)
        _require_room(event, len(packed), *sums)
        self._bytes, self._values, self._saved = sums

    def require_room(self, event: Event, packed: bytes) -> None:
        """Check that there is room for an event and its JSON. Raises: SizeExceeded."""
        _require_room(event, len(packed), *self._with(event, packed))

    def _with(self, event: Event, packed: bytes) -> tuple[int, int, int]:
        saved = _count_saved_values(event)
        return self._bytes + len(packed), self._values + count_values(packed), self._saved + saved


def _require_room(event: Event, size: int, total: int, values: int, saved: int) -> None:
    """Check an event's size, and the sums with it. Raises: SizeExceeded."""
    if isinstance(event, CLOSING_EVENTS):
        return
    if size > MAX_EVENT_BYTES:
        # The message leaves out the exact size, which differs between a run and its replay.
        raise SizeExceeded("event", MAX_EVENT_BYTES, f"an event of the trace has more than {MAX_EVENT_BYTES:,} bytes")
    if total > _MAX_FILLED_BYTES:
        raise SizeExceeded("trace", _MAX_FILLED_BYTES, f"the trace has reached {_MAX_FILLED_BYTES:,} bytes")
    if values > _MAX_FILLED_VALUES:
        raise SizeExceeded("trace", _MAX_FILLED_VALUES, f"the trace has reached {_MAX_FILLED_VALUES:,} values")
    if saved > MAX_SAVED_VALUES:
        reached = f"the trace's checkpoints have reached {MAX_SAVED_VALUES:,} values"
        raise SizeExceeded("trace", MAX_SAVED_VALUES, reached)


def _count_saved_values(event: Event) -> int:
    """The names and values in an event's checkpoint, with the parts of each value."""
    saved = getattr(event, "checkpoint", None)
    if not isinstance(saved, Checkpoint):
        return 0
    parts = sum(len(node) for node in saved.nodes if isinstance(node, list))
    return len(saved.names) + len(saved.nodes) + len(saved.dropped) + parts
