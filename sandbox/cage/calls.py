"""The plan's way out, inside the worker: its calls to the host, and the clock that ends it."""

from __future__ import annotations

import math
import resource
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, Protocol

from codeplan.sandbox.cage.tracing import Tracer
from codeplan.sandbox.protocol import frames, values
from codeplan.sandbox.runtime.control import LimitReached, PlanAssertion

_TICK_SECONDS: Final = 0.01
_FLUSH_CHARS: Final = 4_096
_FLUSH_SECONDS: Final = 0.05


class Link(Protocol):
    """The connection to the host."""

    def send(self, frame: frames.Frame) -> int:
        """Send the frame; returns its bytes."""
        ...

    def receive(self) -> frames.FromHost:
        """The host's next frame."""
        ...


class Clock:
    """Raises LimitReached in the plan when its time is up, again and again until it ends.

    The host kills a plan that does not listen; this one comes a moment earlier, so that the step, the line and the
    variables are known. ``report`` is told before the first.
    """

    def __init__(self) -> None:
        self.armed = False
        self.waited = 0.0
        self.report: Callable[[LimitReached], None] = lambda limit: None
        self._wall = self._cpu = math.inf
        self.start()

    def listen(self) -> None:
        """Take the timers' signals from now on."""
        signal.signal(signal.SIGALRM, self._tick)
        signal.signal(signal.SIGPROF, self._tick)

    def wind(self, wall: float, cpu: float) -> None:
        """Set the timers, in seconds: before the worker is locked in, where they cannot be set any more."""
        self._wall, self._cpu = wall, cpu
        signal.setitimer(signal.ITIMER_REAL, wall, _TICK_SECONDS)
        signal.setitimer(signal.ITIMER_PROF, cpu, _TICK_SECONDS)

    def start(self) -> None:
        """Count from now on."""
        self._began, self._cpu_before = time.monotonic(), _processor_seconds()

    def cpu(self) -> float:
        """Seconds of processor time since the start."""
        return _processor_seconds() - self._cpu_before

    def _tick(self, signum: int, frame: FrameType | None) -> None:
        if not self.armed:
            return
        wall, cpu = time.monotonic() - self._began - self.waited, self.cpu()
        if wall > self._wall:
            self._strike(LimitReached("wall", wall, self._wall))
        elif cpu > self._cpu:
            self._strike(LimitReached("cpu", cpu, self._cpu))

    def _strike(self, limit: LimitReached) -> None:
        self.report(limit)
        raise limit


def _processor_seconds() -> float:
    """By ``getrusage``: the process clock is coarse while a timer of the process runs."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Calls:
    """What the plan reaches of the host (the language half's ``HostCalls``). The host counts again: this side gives
    the line.
    """

    def __init__(self, link: Link, job: frames.RunJob, clock: Clock) -> None:
        self.methods, self.attributes = job.methods, job.attributes
        self.failure: PlanAssertion | LimitReached | None = None
        self._link, self._limits, self._clock = link, job.limits, clock
        self._calls = self._reads = self._asks = self._output = 0
        self._printed: list[str] = []
        self._held = 0
        self._flushed = time.monotonic()
        self.tracer: Tracer | None = None
        clock.report = self._time_is_up

    def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """The result of the agent's method. Raises TypeError where an argument is not plain, RuntimeError where the
        call failed.
        """
        self._calls += 1
        self._allow("calls", self._calls, self._limits.calls)
        frame = frames.Call(method, [_pack(method, a) for a in args], {k: _pack(method, v) for k, v in kwargs.items()})
        self._allow("call_bytes", frames.size(frame), self._limits.call_bytes)
        return self._exchange(frame)

    def read(self, attribute: str) -> object:
        """The value of the agent's attribute. Raises RuntimeError where it could not be read."""
        self._reads += 1
        self._allow("reads", self._reads, self._limits.reads)
        return self._exchange(frames.Read(attribute))

    def ask(self, question: str) -> str:
        """The answer to a question. Raises TypeError for what is not text, RuntimeError where asking failed."""
        if type(question) is not str:
            raise TypeError("ask_llm takes one text")
        self._asks += 1
        self._allow("asks", self._asks, self._limits.asks)
        text = values.printable(question)
        self._allow("ask_bytes", len(text.encode()), self._limits.ask_bytes)
        return str(self._exchange(frames.Ask(text)))

    def print(self, text: str) -> None:
        """Add to the output, as much of it as is allowed."""
        self._refuse_after_failure()
        text = values.printable(text)
        room = self._limits.output - self._output
        self._output += len(text)
        self._hold(text[:room])
        self._allow("output", self._output, self._limits.output)

    def flush(self) -> None:
        """Send what was printed, and which lines ran. Only with the clock not armed: a frame must not be cut short."""
        if self._held:
            self._link.send(frames.Printed("".join(self._printed)))
        if self.tracer is not None and (arcs := self.tracer.take()):
            self._link.send(frames.Covered(arcs))
        self._printed.clear()
        self._held, self._flushed = 0, time.monotonic()

    def _hold(self, text: str) -> None:
        self._printed.append(text)
        self._held += len(text)
        if self._held > _FLUSH_CHARS or time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self._clock.armed = False
            self.flush()
            self._clock.armed = True

    def _exchange(self, frame: frames.Frame) -> object:
        self._clock.armed = False
        began = time.monotonic()
        try:
            self.flush()
            self._link.send(frame)
            reply = self._link.receive()
        except MemoryError:
            self.failure = LimitReached("memory", 0, 0)  # the stream may be cut: nothing more is read
            raise self.failure from None
        finally:
            self._clock.waited += time.monotonic() - began
            self._clock.armed = True
        if isinstance(reply, frames.Answer):
            return values.from_wire(reply.value)
        raise RuntimeError(reply.message if isinstance(reply, frames.Raised) else "the host gave no answer")

    def _allow(self, limit: str, value: int, allowed: int) -> None:
        self._refuse_after_failure()
        if value > allowed:
            self.failure = LimitReached(limit, value, allowed)
            raise self.failure

    def _refuse_after_failure(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _time_is_up(self, limit: LimitReached) -> None:
        if self.failure is None:
            self.failure = limit


def _pack(method: str, value: object) -> object:
    try:
        return values.to_wire(value)
    except values.NotPlain as reason:
        raise TypeError(f"{method} was given {reason}; give it texts, numbers, lists, tuples and dicts") from None
