"""What an episode leaves behind: events, traces, tapes, and how recordings are compared."""

from __future__ import annotations

from codeplan.recording.events import Event, EventHandler
from codeplan.recording.tape import Tape, TapeRecorder
from codeplan.recording.trace import Trace

__all__ = ["Event", "EventHandler", "Tape", "TapeRecorder", "Trace"]
