"""Decodes events from the lines of traces and tapes, which may come from a stranger."""

from __future__ import annotations

import msgspec

from codeplan.errors import UsageError
from codeplan.recording.events import TRACE_FORMAT, EpisodeStarted, Event
from codeplan.untrusted.terminal import parser_reason

_decoder = msgspec.json.Decoder(Event)


class _FormatLine(msgspec.Struct):
    event: str
    format: int = 1


def decode_event(line: bytes | msgspec.Raw, where: str, what: str) -> Event:
    """The event on a line; ``where`` and ``what`` (as in "event of a trace") are for the message.

    Raises: UsageError: the line is damaged, or the header of a trace in another format.
    """
    try:
        event: Event = _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        _check_format(line, where)
        raise UsageError(f"{where} is no {what}: {parser_reason(e)}") from None
    if isinstance(event, EpisodeStarted):
        _check_format(line, where)
    return event


def _check_format(line: bytes | msgspec.Raw, where: str) -> None:
    try:
        found = msgspec.json.decode(line, type=_FormatLine)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    if found.event == "episode_started" and found.format != TRACE_FORMAT:
        raise UsageError(
            f"{where} is in trace format {found.format}, and this version of codeplan reads format {TRACE_FORMAT}; "
            "run the episode again"
        )
