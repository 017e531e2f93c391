"""What displays say about decisions on calls of tools."""

from __future__ import annotations

from codeplan.recording.events import CallDecided, DoubtDecided

_DECIDERS = {
    "pattern": "by the pattern {pattern}",
    "approver": "by the user",
    "nobody": "because there was nobody to ask",
}


_WAYS = {"retry": "is made again", "skip": "is not made again"}
_DOUBT_DECIDERS = {
    "option": "as --in-doubt says",
    "pattern": "as the pattern {pattern} says",
    "user": "as the user says",
}


def describe_decision(event: CallDecided | DoubtDecided) -> str:
    """The decision in a sentence."""
    if isinstance(event, DoubtDecided):
        decided = _DOUBT_DECIDERS[event.by].format(pattern=event.pattern)
        return f"The episode was ended during a call of {event.tool}, which {_WAYS[event.way]}, {decided}"
    decided = "allowed" if event.allowed else "refused"
    return f"A call of {event.tool} was {decided} {_DECIDERS[event.by].format(pattern=event.pattern)}"
