"""The end that an interruption leaves in a trace, and that a resumed episode replaces."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from codeplan.recording.events import CallDecided, DoubtDecided, EpisodeEnded, Event, ModelCallFailed, SpanClosed


def find_end(events: Sequence[Event]) -> EpisodeEnded | None:
    """The end of an episode that is over. None if it has none yet, or was broken off: ``resume`` finishes it."""
    end = events[-1] if events else None
    return end if isinstance(end, EpisodeEnded) and not end.broken_off else None


def _is_interruption(event: Event) -> bool:
    if isinstance(event, EpisodeEnded):
        return event.broken_off
    return isinstance(event, ModelCallFailed | SpanClosed | CallDecided | DoubtDecided)


def drop_interruption(events: list[Event], sizes: array[int]) -> tuple[list[Event], int]:
    """The events from which an episode can continue, and their size in the file.

    Drops the end that an interruption wrote, a failed last call (the model is asked again), a last decision about a
    tool's call (the call was not made, so the decision is taken again), and trailing SpanClosed events, so that spans
    interrupted by an exception reopen.
    """
    count = len(events)
    while count and _is_interruption(events[count - 1]):
        count -= 1
    return events[:count], sizes[count - 1] if count else 0
