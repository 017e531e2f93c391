"""What an episode leaves behind: events, traces, tapes, and how recordings are compared."""

from __future__ import annotations

from codeplan.recording.events import Event, Listener
from codeplan.recording.tape import Recorder, Tape
from codeplan.recording.trace import Trace

__all__ = ["Event", "Listener", "Recorder", "Tape", "Trace"]
