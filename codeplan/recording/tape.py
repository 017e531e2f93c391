"""Tapes: the traces of many episodes in one file, to run them again without a world and without a model.

A tape is a JSON Lines file; each line is an event with the number of its episode on the tape, and a digest of both, so
that a line which was changed is found. An episode is found again by environment, task, method and model; the same one
recorded twice is played in the order of recording.
"""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import msgspec

from codeplan.errors import Diverged, UsageError
from codeplan.recording.events import EpisodeStarted, Event, EventHandler, decode_event
from codeplan.recording.trace import check_sequence

_Key = tuple[str, str, str, str]


class _Line(msgspec.Struct, frozen=True):
    episode: int
    digest: str
    event: msgspec.Raw


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(_Line)


class TapeRecorder:
    """Writes a tape. Each episode has a listener of its own; episodes may run at the same time.

    Raises UsageError where the file exists already or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("xb", buffering=0)
        except FileExistsError:
            raise UsageError(f"the tape {path} exists already and is not overwritten; name another file") from None
        except OSError as e:
            raise UsageError(f"the tape {path} cannot be written: {e.strerror}") from None
        self._lock = threading.Lock()
        self._episodes = 0

    def start_episode(self) -> EventHandler:
        """What is to be told the events of one more episode."""
        with self._lock:
            number = self._episodes
            self._episodes += 1

        def listen(event: Event) -> None:
            packed = _encoder.encode(event)
            line = _encoder.encode(_Line(number, _digest(number, packed), msgspec.Raw(packed)))
            with self._lock:
                self._file.write(line + b"\n")

        return listen

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self._file.close()


class Tape:
    """A tape to be played. Each recorded episode is played once."""

    def __init__(self, path: Path) -> None:
        """Raises UsageError where the file cannot be read, or where a line is damaged or out of its place (its number
        is named).
        """
        self.path = path
        self._lock = threading.Lock()
        self._episodes: dict[_Key, list[list[Event]]] = {}
        for events in read_tape(path).values():
            if isinstance(events[0], EpisodeStarted):
                self._episodes.setdefault(_key(events[0]), []).append(events)

    def take_episode(self, header: EpisodeStarted) -> list[Event]:
        """The recording of the episode that begins like this. Raises Diverged where the tape has none (left)."""
        with self._lock:
            left = self._episodes.get(_key(header))
            if not left:
                what = f"{header.env} {header.task.id} by {header.method} with {header.model}"
                raise Diverged(f"the tape {self.path} has no episode of {what}{' left' if left == [] else ''}")
            return left.pop(0)


def _key(header: EpisodeStarted) -> _Key:
    return header.env, header.task.id, header.method, header.model


def read_tape(path: Path) -> dict[int, list[Event]]:
    """A tape's episodes by number, each with its events in their order.

    Raises UsageError where it cannot be read, or is damaged (the line is named).
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as e:
        raise UsageError(f"the tape {path} cannot be read: {e.strerror}") from None
    episodes: dict[int, list[Event]] = {}
    for number, line in enumerate(lines, 1):
        try:
            decoded = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
            raise UsageError(f"{path}, line {number} is no line of a tape: {e}") from None
        if decoded.digest != _digest(decoded.episode, decoded.event):
            raise UsageError(f"{path}, line {number} was changed after it was recorded; record the tape again")
        event = decode_event(decoded.event, f"{path}, line {number}", "line of a tape")
        events = episodes.setdefault(decoded.episode, [])
        check_sequence(event, len(events), path, number)
        events.append(event)
    return episodes


def _digest(episode: int, event: bytes | msgspec.Raw) -> str:
    """What tells a line from any other: no proof against who writes tapes, but against hands and disks."""
    return hashlib.sha256(b"%d " % episode + bytes(event)).hexdigest()[:16]
