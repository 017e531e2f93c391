"""Tapes: the traces of many episodes in one file, to replay them without environment and model.

A tape is a JSON Lines file. Each line holds an event, the number of its episode on the tape, and a digest of both that
reveals changes. Environment, task, method and model identify an episode; recordings of the same episode play in their
order.
"""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import msgspec

from codeplan.errors import Diverged, UsageError
from codeplan.recording.event_log import MAX_TRACE_VALUES, LineSizes, check_order, decode_event
from codeplan.recording.events import EpisodeStarted, Event, EventHandler
from codeplan.untrusted import files
from codeplan.untrusted.texts import parser_reason

MAX_TAPE_BYTES = 1 << 29
"""A larger tape is not read."""

MAX_TAPE_VALUES = 2 * MAX_TRACE_VALUES
"""A tape with more values, nested ones included, is not read."""

_Key = tuple[str, str, str, str]


class _Line(msgspec.Struct, frozen=True):
    episode: int
    digest: str
    event: msgspec.Raw


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(_Line)


class TapeRecorder:
    """Writes a tape. Each episode has its own event handler; episodes may run at the same time.

    Raises: UsageError: the file exists already or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = files.create_file(path)
        except FileExistsError:
            raise UsageError(f"the tape {path} exists already and is not overwritten; name another file") from None
        except OSError as e:
            raise UsageError(f"the tape {path} cannot be written: {e.strerror}") from None
        self._lock = threading.Lock()
        self._episodes = 0

    def start_episode(self) -> EventHandler:
        """The event handler for one more episode."""
        with self._lock:
            number = self._episodes
            self._episodes += 1

        def write(event: Event) -> None:
            packed = _encoder.encode(event)
            line = _encoder.encode(_Line(number, _digest(number, packed), msgspec.Raw(packed)))
            with self._lock:
                files.write_all(self._file, line + b"\n")

        return write

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self._file.close()


class Tape:
    """A tape to play from. Each recorded episode plays once.

    Raises: UsageError: the file cannot be read, or a line (the message gives its number) is damaged or out of order.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._episodes: dict[_Key, list[list[Event]]] = {}
        for events in read_tape(path).values():
            if isinstance(events[0], EpisodeStarted):
                self._episodes.setdefault(_key(events[0]), []).append(events)

    def take_episode(self, header: EpisodeStarted) -> list[Event]:
        """The recording of the episode with this header.

        Raises: Diverged: the tape has no such episode, or no more of them.
        """
        with self._lock:
            left = self._episodes.get(_key(header))
            if not left:
                what = f"{header.env} {header.task.id} by {header.method} with {header.model}"
                raise Diverged(f"the tape {self.path} has no episode of {what}{' left' if left == [] else ''}")
            return left.pop(0)


def _key(header: EpisodeStarted) -> _Key:
    return header.env, header.task.id, header.method, header.model


def read_tape(path: Path, below: Path | None = None) -> dict[int, list[Event]]:
    """The episodes of a tape by number, each with its events in order.

    ``below`` is the folder that named the tape; links in it are not followed. None means that the user named it.

    Raises: UsageError: the file cannot be read, or a line (the message gives its number) is damaged or out of order.
    """
    try:
        with files.open_to_read(path, below) if below else files.open_user_file(path) as file:
            lines = files.read_bounded(file, MAX_TAPE_BYTES, path).splitlines()
    except OSError as e:
        raise UsageError(f"the tape {path} cannot be read: {e.strerror}") from None
    episodes: dict[int, list[Event]] = {}
    checked = LineSizes(MAX_TAPE_VALUES)
    for number, line in enumerate(lines, 1):
        try:
            decoded = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
            raise UsageError(f"{path}, line {number} is no line of a tape: {parser_reason(e)}") from None
        if decoded.digest != _digest(decoded.episode, decoded.event):
            raise UsageError(f"{path}, line {number} was changed after it was recorded; record the tape again")
        checked.check(bytes(decoded.event), f"{path}, line {number}")
        event = decode_event(decoded.event, f"{path}, line {number}", "line of a tape")
        events = episodes.setdefault(decoded.episode, [])
        check_order(event, events, path, number)
        events.append(event)
    return episodes


def _digest(episode: int, event: bytes | msgspec.Raw) -> str:
    """A digest that reveals accidental changes to a line. It does not protect against forgery."""
    return hashlib.sha256(b"%d " % episode + bytes(event)).hexdigest()[:16]
