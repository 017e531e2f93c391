"""Texts for displays about calls of tools: the call, its answer, and decisions about it."""

from __future__ import annotations

from typing import Final

from codeplan.recording.events import CallDecided, DoubtDecided
from codeplan.tools.shown_calls import shown_answer, shown_call

_CALL: Final = '{"tool":'  # how the text of a call begins; other environments' actions are shown as they are
_MAX_SHOWN: Final = 20_000  # characters of an argument; each display shortens the whole to its own room

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


def shown_action(action: str) -> str:
    """An action as displays show it: a call of a tool in Python, any other as it is."""
    return shown_call(action, _MAX_SHOWN, _MAX_SHOWN) if action.startswith(_CALL) else action


def shown_observation(action: str, observation: str) -> str:
    """The environment's answer to the action, as displays show it; a tool's result or error has the form that plans
    get.
    """
    if not action.startswith(_CALL):
        return observation
    return shown_answer(observation) or "''"
