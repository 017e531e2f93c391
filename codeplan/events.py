"""What happens in an episode, as values, and the trace that keeps them.

A trace is a JSON Lines file: one event a line, appended and flushed as it happens, never changed. So an episode that
died leaves all but its last line readable, and a reader can follow one that still runs.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import msgspec

from codeplan.errors import TraceFailure, UsageError
from codeplan.types import Checkpoint, Completion, Diagnostic, Message, Observation, Purpose, Result, Task


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    """Base of the events: ``seq`` counts from 0, ``at`` is Unix time, ``span`` the innermost open span or None."""

    seq: int = -1
    at: float = 0.0
    span: int | None = None


class EpisodeStarted(_Event, frozen=True, tag="episode_started"):
    """The head of a trace: what is run, with what. ``settings`` holds no secret."""

    task: Task
    method: str
    model: str
    codeplan: str
    settings: dict[str, Any] = {}


class EnvironmentReset(_Event, frozen=True, tag="environment_reset"):
    """The environment began the task (anew, where it is not the first event of its kind)."""

    observation: Observation


class Acted(_Event, frozen=True, tag="acted"):
    """One action and what the environment answered; ``seconds`` is the environment's time."""

    action: str
    observation: Observation
    seconds: float


class Asked(_Event, frozen=True, tag="asked"):
    """One model call, whole. ``prompt`` names the template and its digest; empty where none was used."""

    purpose: Purpose
    messages: list[Message]
    completion: Completion
    seconds: float
    prompt: str = ""


class PlanDrafted(_Event, frozen=True, tag="plan_drafted"):
    """A plan's text as it was read out of a reply. ``number`` counts the plans of this episode from 1."""

    number: int
    origin: Purpose
    source: str


class PlanRejected(_Event, frozen=True, tag="plan_rejected"):
    """The check refused the plan; none of it ran."""

    number: int
    diagnostics: tuple[Diagnostic, ...]


class PlanStarted(_Event, frozen=True, tag="plan_started"):
    """A plan starts, or resumes at ``start_from`` with the variables named in ``restored``."""

    number: int
    start_from: int
    restored: tuple[str, ...] = ()
    dropped: dict[str, str] = {}


class StepEntered(_Event, frozen=True, tag="step_entered"):
    """The plan enters a step; ``checkpoint`` holds its variables at that moment."""

    step: int
    title: str
    checkpoint: Checkpoint


class Printed(_Event, frozen=True, tag="printed"):
    """Text that the plan printed. Untrusted."""

    text: str


class PlanFailed(_Event, frozen=True, tag="plan_failed"):
    """An assertion failed, or the plan raised: ``error`` names the exception."""

    step: int | None
    line: int | None
    error: str
    message: str
    checkpoint: Checkpoint


class PlanStopped(_Event, frozen=True, tag="plan_stopped"):
    """A limit of the sandbox ended the plan."""

    limit: str
    value: float
    allowed: float
    step: int | None
    line: int | None
    message: str


class PlanFinished(_Event, frozen=True, tag="plan_finished"):
    """The plan ran to its end. Whether the task is done is the environment's word."""

    step: int | None


class SpanOpened(_Event, frozen=True, tag="span_opened"):
    """A part of the episode begins: a trial, a sub-task, a batch. Events up to its end bear its ``id``."""

    id: int
    kind: str
    name: str


class SpanClosed(_Event, frozen=True, tag="span_closed"):
    """The part with this ``id`` ended."""

    id: int


class Warned(_Event, frozen=True, tag="warned"):
    """Something a reader of the figures must know, such as a sandbox weaker than asked for."""

    message: str


class EpisodeEnded(_Event, frozen=True, tag="episode_ended"):
    """The last event: the result. A trace without it is of an episode that was interrupted."""

    result: Result


Event = (
    EpisodeStarted
    | EnvironmentReset
    | Acted
    | Asked
    | PlanDrafted
    | PlanRejected
    | PlanStarted
    | StepEntered
    | Printed
    | PlanFailed
    | PlanStopped
    | PlanFinished
    | SpanOpened
    | SpanClosed
    | Warned
    | EpisodeEnded
)

Listener = Callable[[Event], None]

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Event)


class Trace:
    """Collects the events of one episode: in memory, in a file where one is given, and to a listener.

    Events are on disk before ``append`` returns. Safe to use from several threads. ``path`` must not exist yet:
    a trace is never overwritten. Raises UsageError where it cannot be created, TraceFailure where writing fails.
    """

    def __init__(self, path: Path | None = None, listen: Listener | None = None) -> None:
        self.path = path
        self.events: list[Event] = []
        self._listen = listen
        self._lock = threading.Lock()
        self._file = _create(path) if path else None

    def append(self, event: Event, span: int | None = None) -> Event:
        """Number, date, write and return the event."""
        with self._lock:
            event = msgspec.structs.replace(event, seq=len(self.events), at=time.time(), span=span)
            self._write(event)
            self.events.append(event)
        if self._listen:
            self._listen(event)
        return event

    def _write(self, event: Event) -> None:
        if self._file is None:
            return
        try:
            self._file.write(_encoder.encode(event) + b"\n")
        except OSError as e:
            raise TraceFailure(f"the trace {self.path} cannot be written on: {e.strerror}") from e

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        if self._file:
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    @staticmethod
    def read(path: Path) -> list[Event]:
        """All events of a trace file. A torn last line, as a crash leaves it, is left out.

        Raises UsageError where the file cannot be read, or where another line is damaged (its number is named).
        """
        return list(_decoded(path))


def _create(path: Path) -> IO[bytes]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb", buffering=0)
    except FileExistsError as e:
        raise UsageError(f"{e.filename or path} exists already and is not overwritten; name another folder") from None
    except OSError as e:
        raise UsageError(f"the trace cannot be written to {path}: {e.strerror}") from None


def _decoded(path: Path) -> Iterator[Event]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as e:
        raise UsageError(f"the trace {path} cannot be read: {e.strerror}") from None
    for number, line in enumerate(lines, 1):
        if number == len(lines):
            return  # what follows the last newline is empty, or torn
        try:
            yield _decoder.decode(line)
        except (msgspec.DecodeError, RecursionError) as e:
            raise UsageError(f"{path}, line {number} is no event of a trace: {e}") from None
