"""What displays say about decisions on calls of tools."""

from __future__ import annotations

from codeplan.recording.events import CallDecided

_DECIDERS = {
    "pattern": "by the pattern {pattern}",
    "approver": "by the user",
    "nobody": "because there was nobody to ask",
}


def describe_decision(event: CallDecided) -> str:
    """The decision in a sentence."""
    decided = "allowed" if event.allowed else "refused"
    return f"A call of {event.tool} was {decided} {_DECIDERS[event.by].format(pattern=event.pattern)}"
