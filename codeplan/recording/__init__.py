"""The recordings of episodes: events, traces, tapes, and the comparison of recordings."""

from __future__ import annotations

from codeplan.recording.events import Event, EventHandler
from codeplan.recording.tape import Tape, TapeRecorder
from codeplan.recording.trace import Trace

__all__ = ["Event", "EventHandler", "Tape", "TapeRecorder", "Trace"]
