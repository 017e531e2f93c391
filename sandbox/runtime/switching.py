"""Threads of a plan: one runs at a time, and another goes on where one waits.

A function of a plan that may wait is compiled twice (see ``language.thread_functions``). The second form is a
generator: where it would wait for a queue, a lock or a time, it yields a ``Wait``. A thread over such a function stands
still there while others run. Anything else that a thread calls runs to its end; if that has to wait, the threads that
stand still run inside the wait. There are no threads of the machine, so a replay repeats the order of everything.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from types import FunctionType, MethodType
from typing import Any, Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from codeplan.sandbox.runtime.classes import is_plan_function

Steps: TypeAlias = Generator["Wait", bool, Any]
"""What waits: it yields each wait, and gets whether that came to its end before its time was over."""

NO_OTHER: Final = "and no other thread runs that could change it"


_CLOSE: Final = 1e-6
"""Seconds by which a wait may end too early: the clock counts whole nanoseconds."""


class Wait(NamedTuple):
    """A wait until ``is_over``, for ``seconds`` at most; ``what`` says for people what keeps it waiting."""

    is_over: Callable[[], bool]
    seconds: float | None
    what: str


class EndedIteration(NamedTuple):
    """A StopIteration that leaves a function in a thread's steps: no generator can raise it."""

    error: StopIteration


def arrive(value: Any) -> Any:
    """What came out of a call in a thread's steps. Raises: StopIteration."""
    if type(value) is EndedIteration:
        raise value.error
    return value


def is_last(taken: Any, sentinel: Any) -> bool:
    """Return whether ``iter(f, sentinel)`` ends with what came out of a call of ``f``, as Python decides it."""
    return type(taken) is EndedIteration or sentinel is taken or bool(sentinel == taken)


class StarredCall:
    """A call with ``*`` or ``**`` in a thread's steps. Python's errors name its function."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, /, *args: Any, **named: Any) -> Steps:
        return THREADS.call(object.__getattribute__(self, "_function"), *args, **named)

    def __getattribute__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_function"), name)

    def __str__(self) -> str:
        return str(object.__getattribute__(self, "_function"))


class StandingThread:
    """A thread over the generator form of its function. ``end`` gets its value or its error."""

    def __init__(self, owner: Any, steps: Steps, end: Callable[[object, BaseException | None], None]) -> None:
        self.owner, self.steps, self.end = owner, steps, end
        self.wait: Wait | None = None
        self.until: float | None = None

    @property
    def is_daemon(self) -> bool:
        """Whether the step may end before it does."""
        return bool(getattr(self.owner, "daemon", False))


class ThreadSwitch:
    """Decides which of a run's threads goes on. It serves run after run."""

    def __init__(self) -> None:
        self.forms: WeakKeyDictionary[Any, Callable[..., Steps]] = WeakKeyDictionary()
        self.reset()

    def reset(self) -> None:
        """Forget the run before."""
        self.standing: list[StandingThread] = []
        self.running: list[Any] = []  # the owners of the threads on the stack, the innermost last

    def connect(self, now: Callable[[], float], sleep: Callable[[float], None], skip: Callable[[float], None]) -> None:
        """Give it the run's time: ``sleep`` waits, ``skip`` only lets the clock advance."""
        self._now, self._sleep, self._skip = now, sleep, skip

    def connect_calls(self, is_open: Callable[[], bool], deliver: Callable[[float | None], None]) -> None:
        """Give it the calls of the agent: whether one is open, and what waits for the next answer."""
        self._is_open, self._deliver = is_open, deliver

    @property
    def current(self) -> Any:
        """The owner of the thread that runs; None for the plan itself."""
        return self.running[-1] if self.running else None

    def form_of(self, function: Any) -> Callable[..., Steps] | None:
        """What makes the steps of a call of this function; None if it runs to its end at once."""
        if type(function) is MethodType:
            owner = function.__self__
            if type(function.__func__) is not FunctionType:
                return None
            if form := self.forms.get(function.__func__):
                return lambda *args, **named: form(owner, *args, **named)
            return None
        return self.forms.get(function) if type(function) is FunctionType else None

    def pair(self, form: Any) -> Callable[[Any], Any]:
        """Return the decorator that gives a function of the plan its generator form."""

        def decorate(function: Any) -> Any:
            if is_plan_function(function) and is_plan_function(form):
                form.__defaults__, form.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
                form.__name__, form.__qualname__ = function.__name__, function.__qualname__
                self.forms[function] = form
            return function

        return decorate

    def call(self, function: Any, /, *args: Any, **named: Any) -> Steps:
        """Call a function in a thread's steps."""
        form = self.form_of(function)
        try:
            return (yield from form(*args, **named)) if form is not None else function(*args, **named)
        except StopIteration as error:
            return EndedIteration(error)

    def begin(self, owner: Any, steps: Steps, end: Callable[[object, BaseException | None], None]) -> None:
        """Run a thread until it waits for the first time."""
        self._go_on(StandingThread(owner, steps, end), None)

    def run_whole(self, owner: Any, function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call a function as a thread that runs to its end."""
        self.running.append(owner)
        try:
            return function(*args, **named)
        finally:
            self.running.pop()

    def finish(self, steps: Steps) -> Any:
        """Run steps to their end in this place: other threads run while they wait."""
        try:
            wait = next(steps)
            while True:
                try:
                    came = self.wait(wait)
                except BaseException as error:  # the steps give back what they hold
                    wait = steps.throw(error)
                else:
                    wait = steps.send(came)
        except StopIteration as end:
            return arrive(end.value)

    def wait(self, wait: Wait) -> bool:
        """Let other threads run until the wait is over; False: its time is over.

        Raises: RuntimeError: nothing can end it.
        """
        until = None if wait.seconds is None else self._now() + wait.seconds
        while not wait.is_over():
            if until is not None and self._is_past(until):
                return False
            if not (self._resume_one() or self._advance(until)):
                raise RuntimeError(f"{wait.what}, {NO_OTHER}")
        return True

    def settle(self) -> None:
        """Run threads until all that are no daemons have ended, or wait for what only a later step can bring."""
        while any(not thread.is_daemon for thread in self.standing):
            if self._resume_one():
                continue
            if not any(thread.until is not None and not thread.is_daemon for thread in self.standing):
                return
            self._advance(None)

    def _is_past(self, moment: float) -> bool:
        return self._now() + _CLOSE >= moment

    def _resume_one(self) -> bool:
        """Let the first thread go on that can. Returns whether there is one."""
        for thread in self.standing:
            assert thread.wait is not None
            is_over = thread.wait.is_over()
            if is_over or (thread.until is not None and self._is_past(thread.until)):
                self.standing.remove(thread)
                self._go_on(thread, is_over)
                return True
        return False

    def _advance(self, until: float | None) -> bool:
        """Wait for the next answer of a call or the next time that somebody waits for. Returns whether there is one."""
        times = [thread.until for thread in self.standing if thread.until is not None]
        others = bool(times)
        if until is not None:
            times.append(until)
        left = max(0.0, min(times) - self._now()) if times else None
        if self._is_open():
            self._deliver(left)
            return True
        if left is None:
            return False
        (self._sleep if others else self._skip)(left)
        return True

    def _go_on(self, thread: StandingThread, came: bool | None) -> None:
        self.running.append(thread.owner)
        try:
            thread.wait = next(thread.steps) if came is None else thread.steps.send(came)
        except StopIteration as end:
            value = end.value
            if type(value) is EndedIteration:
                thread.end(None, value.error)
            else:
                thread.end(value, None)
        except (Exception, SystemExit) as error:
            thread.end(None, error)
        else:
            seconds = thread.wait.seconds
            thread.until = None if seconds is None else self._now() + seconds
            self.standing.append(thread)
        finally:
            self.running.pop()


THREADS: Final = ThreadSwitch()
"""That of this process."""


def waiting(steps: Callable[..., Steps]) -> Callable[..., Any]:
    """Return a method that runs these steps in its place, and whose calls in a thread stand still instead."""

    def method(*args: Any, **named: Any) -> Any:
        return THREADS.finish(steps(*args, **named))

    method.__name__, method.__doc__ = steps.__name__, steps.__doc__
    method.__qualname__, method.__module__ = steps.__qualname__, steps.__module__
    THREADS.forms[method] = steps
    return method
