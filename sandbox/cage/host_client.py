"""The plan's connection to the host inside a worker: its calls and output, and the timer that stops it."""

from __future__ import annotations

import builtins
import math
import resource
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, Protocol

from codeplan.sandbox.cage.line_tracer import LineTracer
from codeplan.sandbox.limits import MAX_NAME_CHARS
from codeplan.sandbox.protocol import frames, values
from codeplan.sandbox.runtime.termination import LimitExceeded, PlanTermination

_TICK_SECONDS: Final = 0.01
_FLUSH_CHARS: Final = 4_096
_FLUSH_SECONDS: Final = 0.05


class HostLink(Protocol):
    """A connection to the host."""

    def send(self, frame: frames.Frame) -> int:
        """Send a frame and return its size in bytes."""

    def receive(self) -> frames.HostFrame:
        """Receive the host's next frame."""


class PlanTimer:
    """Raises LimitExceeded in the plan when its time is up, repeatedly until the plan ends.

    It fires shortly before the host would kill the worker, so that step, line and variables are known. It calls
    ``on_expiry`` before it raises.
    """

    def __init__(self) -> None:
        self.is_armed = False
        self.waited_seconds = 0.0
        self.on_expiry: Callable[[LimitExceeded], None] = lambda limit: None
        self._wall = self._cpu = math.inf
        self.restart()

    def install_handlers(self) -> None:
        """Handle the timers' signals from now on."""
        signal.signal(signal.SIGALRM, self._tick)
        signal.signal(signal.SIGPROF, self._tick)

    def set_timers(self, wall: float, cpu: float) -> None:
        """Set the timers, in seconds. Call it before the lockdown, which forbids it."""
        self._wall, self._cpu = wall, cpu
        signal.setitimer(signal.ITIMER_REAL, wall, _TICK_SECONDS)
        signal.setitimer(signal.ITIMER_PROF, cpu, _TICK_SECONDS)

    def restart(self) -> None:
        """Start counting."""
        self._started_at, self._cpu_before = time.monotonic(), _processor_seconds()

    def cpu_seconds(self) -> float:
        """Processor time since the start."""
        return _processor_seconds() - self._cpu_before

    def _tick(self, signum: int, frame: FrameType | None) -> None:
        if not self.is_armed:
            return
        wall, cpu = time.monotonic() - self._started_at - self.waited_seconds, self.cpu_seconds()
        if wall > self._wall:
            self._interrupt(LimitExceeded("wall", wall, self._wall))
        elif cpu > self._cpu:
            self._interrupt(LimitExceeded("cpu", cpu, self._cpu))

    def _interrupt(self, limit: LimitExceeded) -> None:
        self.on_expiry(limit)
        raise limit


def _processor_seconds() -> float:
    """Processor time by ``getrusage``: the process clock is coarse while a timer runs."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class HostClient:
    """Implements ``HostCalls`` for the runtime. It keeps the same counts as the host, because only the worker knows
    the line at which a limit is reached.
    """

    def __init__(self, link: HostLink, job: frames.RunJob, timer: PlanTimer) -> None:
        self.methods, self.attributes = job.methods, job.attributes
        self.failure: PlanTermination | None = None
        self._link, self._limits, self._timer = link, job.limits, timer
        self._calls = self._reads = self._asks = self._output_chars = 0
        self._pending_output: list[str] = []
        self._pending_chars = 0
        self._flushed_at = time.monotonic()
        self.tracer: LineTracer | None = None
        timer.on_expiry = self._record_expiry

    def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """Call an agent method.

        Raises TypeError if an argument is not plain data, and the exception that the host names (usually RuntimeError)
        if the call failed.
        """
        self._calls += 1
        self._require_within("calls", self._calls, self._limits.calls)
        if len(args) + len(kwargs) > values.MAX_VALUES:
            raise TypeError(f"{method} was given more than {values.MAX_VALUES:,} arguments")
        if any(not 0 < len(name) <= MAX_NAME_CHARS for name in kwargs):
            raise TypeError(f"{method} was given an argument whose name is empty or longer than {MAX_NAME_CHARS}")
        frame = frames.CallFrame(
            method, [_pack_argument(method, a) for a in args], {k: _pack_argument(method, v) for k, v in kwargs.items()}
        )
        self._require_within("call_bytes", frames.packed_size(frame), self._limits.call_bytes)
        return self._exchange(frame)

    def read(self, attribute: str) -> object:
        """Read an agent attribute. Raises RuntimeError if that failed."""
        self._reads += 1
        self._require_within("reads", self._reads, self._limits.reads)
        return self._exchange(frames.ReadFrame(attribute))

    def ask(self, question: str) -> str:
        """Ask the model. Raises TypeError if the question is not text, RuntimeError if asking failed."""
        if type(question) is not str:
            raise TypeError("ask_llm takes one text")
        self._asks += 1
        self._require_within("asks", self._asks, self._limits.asks)
        text = values.escape_surrogates(question)
        self._require_within("ask_bytes", len(text.encode()), self._limits.ask_bytes)
        return str(self._exchange(frames.AskFrame(text)))

    def print(self, text: str) -> None:
        """Add to the output, up to the limit."""
        self._refuse_after_failure()
        text = values.escape_surrogates(text)
        room = self._limits.output - self._output_chars
        self._output_chars += len(text)
        self._buffer(text[:room])
        self._require_within("output", self._output_chars, self._limits.output)

    def flush(self) -> None:
        """Send pending output and coverage. The timer must be off, as it would cut a frame short."""
        if self._pending_chars:
            self._link.send(frames.OutputFrame("".join(self._pending_output)))
        if self.tracer is not None and (arcs := self.tracer.take_new_arcs()):
            self._link.send(frames.CoverageFrame(arcs))
        self._pending_output.clear()
        self._pending_chars, self._flushed_at = 0, time.monotonic()

    def _buffer(self, text: str) -> None:
        self._pending_output.append(text)
        self._pending_chars += len(text)
        if self._pending_chars > _FLUSH_CHARS or time.monotonic() - self._flushed_at > _FLUSH_SECONDS:
            self._timer.is_armed = False
            self.flush()
            self._timer.is_armed = True

    def _exchange(self, frame: frames.Frame) -> object:
        self._timer.is_armed = False
        began = time.monotonic()
        try:
            self.flush()
            self._link.send(frame)
            reply = self._link.receive()
        except MemoryError:
            self.failure = LimitExceeded("memory", 0, 0)  # the timer may have cut a frame short: read nothing more
            raise self.failure from None
        finally:
            self._timer.waited_seconds += time.monotonic() - began
            self._timer.is_armed = True
        if isinstance(reply, frames.ResultFrame):
            return values.unpack_value(reply.value)
        assert isinstance(reply, frames.ErrorFrame), "the conversation allows no other answer"
        raise _failure(reply)

    def _require_within(self, limit: str, value: int, allowed: int) -> None:
        self._refuse_after_failure()
        if value > allowed:
            self.failure = LimitExceeded(limit, value, allowed)
            raise self.failure

    def _refuse_after_failure(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _record_expiry(self, limit: LimitExceeded) -> None:
        if self.failure is None:
            self.failure = limit


def _failure(reply: frames.ErrorFrame) -> Exception:
    """The exception that the host names: one of CALL_ERRORS, because the worker trusts the host."""
    kind: type[Exception] = getattr(builtins, reply.error)
    return kind(reply.message)


def _pack_argument(method: str, value: object) -> object:
    try:
        return values.pack_value(value)
    except values.NotPlainData as reason:
        raise TypeError(f"{method} was given {reason}; give it texts, numbers, lists, tuples and dicts") from None
