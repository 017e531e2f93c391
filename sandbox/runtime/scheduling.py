"""Calls at the same time: runs a plan's coroutines, and begins the calls of the agent that they await.

The scheduler runs one coroutine after the other, in the order in which they became ready. It has no threads and no
event loop of Python's: only the host's answers and the plan's own sleeps wake anything, and both have their order from
the host, so that a replay of the answers repeats the order of everything. Nothing outlives its block: what is left at
the end of ``asyncio.run`` or of a step is cancelled, and the calls that are being made are waited for.

A plan cannot hide its end here: PlanTermination and limits pass through every task at once.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import count
from types import CoroutineType, FunctionType, GenericAlias
from typing import Any, Final

from codeplan.sandbox.runtime.guards import CurrentRun, PlanStopper
from codeplan.sandbox.runtime.switching import THREADS, Wait
from codeplan.sandbox.runtime.termination import find_limit
from codeplan.untrusted.texts import with_article

MAX_OPEN_CALLS: Final = 1_000
"""A plan that begins more calls waits for an answer first."""

MIN_WAIT: Final = 0.01
"""The shortest wait beside open calls, in seconds: a plan that polls must not fill the trace."""

MAX_WAIT: Final = 1e6
"""The longest wait, in seconds, which is beyond every limit of a run."""

DEADLOCK: Final = "every task waits for another one, and no call is open that could wake it"

Begin = Callable[..., "Future"]
"""Begins a call of one of the agent's methods."""


class CancelledError(BaseException):
    """The task was cancelled. As in Python, ``except Exception`` does not catch it."""


class InvalidStateError(Exception):
    """The operation does not fit the state of a future."""


for _kind in (CancelledError, InvalidStateError):
    _kind.__module__ = "asyncio"


class Future:
    """A value that comes later, for coroutines that await it. ``number`` is that of an open call, 0 for anything else.

    Its hash is its age, so that a set of futures has the same order in every run.
    """

    def __init__(self, scheduler: Scheduler, number: int = 0) -> None:
        self._scheduler, self._number = scheduler, number
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._wakes: list[Callable[[], object]] = []
        self._age = next(scheduler.ages)
        self._name: str | None = None

    def __hash__(self) -> int:
        return self._age

    def __repr__(self) -> str:
        state = "pending" if not self._done else "cancelled" if self.cancelled() else "finished"
        return f"<{type(self).__name__} {state}>"

    def __await__(self) -> Generator[Future, None, Any]:
        if not self._done:
            yield self
        return self.result()

    def get_name(self) -> str:
        """The name of a task, numbered in the order in which tasks began."""
        if self._name is None:
            self._name = f"Task-{next(self._scheduler.task_numbers)}"
        return self._name

    def set_name(self, value: object, /) -> None:
        """Give a task another name."""
        self._name = str(value)

    def done(self) -> bool:
        """Whether it has its value or its error."""
        return self._done

    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return isinstance(self._error, CancelledError)

    def result(self) -> Any:
        """The value. Raises: the error; InvalidStateError: it is not done."""
        if not self._done:
            raise InvalidStateError("Result is not set.")
        if self._error is not None:
            raise self._error
        return self._value

    def exception(self) -> BaseException | None:
        """The error, or None. Raises: InvalidStateError: it is not done; CancelledError."""
        if not self._done:
            raise InvalidStateError("Exception is not set.")
        if isinstance(self._error, CancelledError):
            raise self._error
        return self._error

    def cancel(self, msg: object = None) -> bool:
        """Cancel it; False if it is done. A call that is being made goes on, and its answer is dropped."""
        if self._done:
            return False
        if self._number:
            self._scheduler.drop_call(self._number)
        self._finish(None, CancelledError())
        return True

    def add_done_callback(self, fn: Callable[[Any], object], *, context: object = None) -> None:
        """Call a function with this future once it is done, when the tasks that are ready have had their turn."""
        self._when_done(lambda: self._scheduler.ready.append(lambda: self._scheduler.call_back(fn, self)))

    def _finish(self, value: object, error: BaseException | None = None) -> None:
        if self._done:
            return
        self._done, self._value, self._error = True, value, error
        wakes, self._wakes = self._wakes, []
        for wake in wakes:
            wake()

    def _when_done(self, wake: Callable[[], object]) -> None:
        if self._done:
            wake()
        else:
            self._wakes.append(wake)


class PlanTask(Future):
    """A coroutine of the plan that runs beside others."""

    def __init__(self, scheduler: Scheduler, coroutine: Any) -> None:
        super().__init__(scheduler)
        self._coroutine = coroutine
        self.get_name()
        self.context = dict(scheduler.context)
        self._awaited: Future | None = None
        self._thrown: BaseException | None = None

    def cancel(self, msg: object = None) -> bool:
        """Throw CancelledError into the coroutine, where it awaits."""
        if self._done:
            return False
        if self._awaited is None or not self._awaited.cancel():
            self._thrown = CancelledError()
        return True

    def throw(self, error: BaseException) -> None:
        """Throw an error into the coroutine, whatever it awaits."""
        self._awaited, self._thrown = None, error
        self._scheduler.ready.append(self)

    def _await(self, future: Future) -> None:
        def wake() -> None:
            if self._awaited is future:
                self._awaited = None
                self._scheduler.ready.append(self)

        self._awaited = future
        future._when_done(wake)

    def _step(self) -> None:
        """Run the coroutine to its next await. Raises: PlanTermination."""
        thrown, self._thrown = self._thrown, None
        try:
            awaited = self._coroutine.send(None) if thrown is None else self._coroutine.throw(thrown)
        except StopIteration as end:
            self._finish(end.value)
        except (Exception, CancelledError) as error:
            self._scheduler.require_no_limit(error)
            self._finish(None, error)
        except SystemExit as error:  # as in Python, it ends more than its task
            self._finish(None, error)
            raise
        else:
            if isinstance(awaited, Future):
                self._await(awaited)
            elif awaited is None:
                self._scheduler.ready.append(self)
            else:
                self.throw(RuntimeError("Task got bad yield: a plan awaits coroutines, tasks and calls"))


PlanTask.__name__ = "Task"  # its name in Python


class SetFuture(Future):
    """As ``asyncio.Future``: the plan gives it its value."""

    __class_getitem__: Any = classmethod(GenericAlias)

    def __init__(self, *, loop: object = None) -> None:
        super().__init__(_schedulers[-1])

    def set_result(self, result: object, /) -> None:
        """Give it its value. Raises: InvalidStateError: it is done."""
        self._require_open()
        self._finish(result)

    def set_exception(self, exception: BaseException | type[BaseException], /) -> None:
        """Give it its error. Raises: InvalidStateError: it is done; TypeError: the error ends more than a call."""
        self._require_open()
        self._finish(None, _own_error(exception))

    def _require_open(self) -> None:
        if self._done:
            raise InvalidStateError("invalid state")


SetFuture.__name__ = "Future"


def _own_error(given: Any) -> Exception:
    """An error that a plan gives to a future. Raises: TypeError: it ends more than a call."""
    error = given() if issubclass(type(given), type) else given
    if not issubclass(type(error), Exception):
        raise TypeError("set_exception takes an Exception")
    return error  # type: ignore[no-any-return]


class Gathering(Future):
    """The results of several futures, in their order; or the first error, after all have ended."""

    def __init__(self, scheduler: Scheduler, parts: list[Future], *, errors_are_values: bool = False) -> None:
        super().__init__(scheduler)
        self._parts, self._errors_are_values = parts, errors_are_values
        self._left = len(parts)
        self._first: BaseException | None = None
        for part in parts:
            part._when_done(lambda part=part: self._take(part))  # type: ignore[misc]
        if not parts:
            self._finish([])

    def cancel(self, msg: object = None) -> bool:
        """Cancel all parts that are not done."""
        if self._done:
            return False
        self._errors_are_values, self._first = False, CancelledError()
        cancelled = [part.cancel() for part in self._parts]
        return any(cancelled)

    def _take(self, part: Future) -> None:
        self._left -= 1
        self._first = self._first or part._error
        if self._left:
            return
        if self._first is not None and not self._errors_are_values:
            self._finish(None, self._first)
        else:
            self._finish([_value_or_error(part) for part in self._parts])


def _value_or_error(part: Future) -> Any:
    if part._error is None:
        return part._value
    return CancelledError("") if part.cancelled() else part._error  # as Python makes it here


class _Ready:
    """A value that is there already, for ``await``: that of a call that was waited for."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __await__(self) -> Generator[Any, None, Any]:
        yield from ()
        return self._value


class Pause:
    """Lets the tasks that are ready run first, as ``asyncio.sleep(0)`` does."""

    def __await__(self) -> Generator[None, None, None]:
        yield


def as_awaitable(value: Any) -> Any:
    """What ``await`` gets in place of ``value``: a value that is there already is given as it is."""
    return value if hasattr(type(value), "__await__") else _Ready(value)


class PoolFuture(Future):
    """As ``concurrent.futures.Future``: its result is waited for."""

    __class_getitem__: Any = classmethod(GenericAlias)

    def __init__(self) -> None:
        super().__init__(_schedulers[-1])
        self._is_running = False

    def set_result(self, result: object) -> None:
        """Give it its value. Raises: InvalidStateError: it is done."""
        self._require_open()
        self._finish(result)

    def set_exception(self, exception: BaseException | type[BaseException]) -> None:
        """Give it its error. Raises: InvalidStateError: it is done; TypeError: the error ends more than a call."""
        self._require_open()
        self._finish(None, _own_error(exception))

    def set_running_or_notify_cancel(self) -> bool:
        """Mark it as running; False: it was cancelled. Raises: RuntimeError: it runs already, or is done."""
        if self.cancelled():
            return False
        if self._done or self._is_running:
            raise RuntimeError("Future in unexpected state")
        self._is_running = True
        return True

    def cancel(self, msg: object = None) -> bool:
        """Cancel it; False if it runs or is done. A call that is being made goes on, and its answer is dropped."""
        return self.cancelled() or (not self._is_running and super().cancel(msg))

    def _require_open(self) -> None:
        if self._done:
            raise InvalidStateError(f"{self!r} is done")

    def add_done_callback(self, fn: Callable[[Any], object], *, context: object = None) -> None:
        """Call a function with this future as soon as it is done."""
        self._when_done(lambda: self._scheduler.call_back(fn, self))

    def result(self, timeout: float | None = None) -> Any:
        """The value, once it is there. Raises: the error; TimeoutError."""
        self._wait(timeout)
        return super().result()

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """The error or None, once it is there. Raises: TimeoutError; CancelledError."""
        self._wait(timeout)
        return super().exception()

    def _wait(self, seconds: float | None) -> None:
        if not self._done and not self._scheduler.wait_for_any([self], seconds):
            raise TimeoutError

    def running(self) -> bool:
        """Whether a call of the agent, a thread or the plan itself is to give it its value."""
        return not self._done and (self._is_running or bool(self._number))


_schedulers: Final[list[Scheduler]] = []
"""That of the run that began last: a plan makes a Future without one."""


class Scheduler:
    """Runs the coroutines of one run after the other, and begins the agent's calls. It serves run after run.

    ``begins`` finds, for a method of the agent as plans have it, what begins a call of it. ``context`` has the values
    of context variables for the task that runs. ``write_error`` prints to the
    plan's stderr.
    """

    def __init__(self, run: CurrentRun, stopper: PlanStopper) -> None:
        self._run, self._stopper = run, stopper
        self.write_error: Callable[[str], object] = len
        self.begins: dict[object, Begin] = {}
        self.reset()

    def reset(self) -> None:
        """Forget the run before."""
        self.begins.clear()
        self.ages, self.task_numbers = count(1), count(1)
        self.ready: deque[PlanTask | Callable[[], object]] = deque()
        self.open: dict[int, Future | None] = {}  # None: nobody waits for the answer
        self.current: PlanTask | None = None
        self.context: dict[object, object] = {}
        THREADS.reset()
        _schedulers[:] = [self]
        THREADS.connect_calls(lambda: bool(self.open), self._deliver)
        self.thread_numbers = count(1)
        self.thread_idents = count(1)
        self._tasks: dict[PlanTask, None] = {}
        self._timers: list[tuple[float, int, Future]] = []
        self._now = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether no call is open and no task is left."""
        return not self.open and not self._tasks

    @property
    def waits(self) -> bool:
        """Whether calls or timers can wake a task. They are looked at only once no task is ready."""
        return bool(self.open or self._timers)

    @property
    def tasks(self) -> list[PlanTask]:
        """The tasks that have not ended, in the order in which they began."""
        return list(self._tasks)

    def time(self) -> float:
        """Seconds since the run began, later at each reading."""
        self._run.elapsed_ns += 1_000
        return self._run.elapsed_ns / 1e9

    # ------------------------------------------------------------------ calls

    def begin_call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Future:
        """Begin a call of the agent. The arguments are plain data."""
        while len(self.open) >= MAX_OPEN_CALLS:
            self._deliver(None)
        number = self._run.host.begin(method, args, kwargs)
        future = Future(self, number)
        self.open[number] = future
        return future

    def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """Make a call beside open ones, and wait for it. No coroutine runs meanwhile."""
        future = self.begin_call(method, args, kwargs)
        self.wait_for_calls([future])
        return future.result()

    def drop_call(self, number: int) -> None:
        """Nobody waits for this call any more: it is not made if it has not begun, otherwise its answer is dropped."""
        if self._run.host.cancel(number):
            self.open.pop(number, None)
        else:
            self.open[number] = None

    def begin_in_pool(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], owner: object = None
    ) -> PoolFuture:
        """Begin a call of a method of the agent, or a thread over a function that may wait; call any other at once.

        Errors are those of the future. ``owner`` is the thread as plans know it.
        """
        future = PoolFuture()
        begin = self.find_begin(function)
        form = THREADS.form_of(function)
        if form is not None:
            future._is_running = True
            THREADS.begin(owner, form(*args, **kwargs), lambda value, error: self._end_in_pool(future, value, error))
            return future
        try:
            value = begin(*args, **kwargs) if begin else THREADS.run_whole(owner, function, args, kwargs)
        except (Exception, CancelledError, SystemExit) as error:
            self.require_no_limit(error)
            future._finish(None, error)
            return future
        if begin is None:
            future._finish(value)
        else:
            future._number, self.open[value._number] = value._number, future
        return future

    def _end_in_pool(self, future: PoolFuture, value: object, error: BaseException | None) -> None:
        if error is not None:
            self.require_no_limit(error)
        future._finish(value, error)

    def finish_all(self, parts: list[Any]) -> list[Any]:
        """The values of futures, coroutines and plain values, in order. Raises: the first error, after all ended."""
        whole = Gathering(self, [self.future_of(part) for part in parts])
        if any(type(part) is not Future for part in parts):
            self.run_until(whole)
        else:
            self.wait_for_calls([whole])
        return whole.result()  # type: ignore[no-any-return]

    def wait_for_calls(self, futures: Iterable[Future]) -> None:
        """Wait for the answers of calls. No coroutine runs meanwhile. Raises: RuntimeError: none is open."""
        for future in futures:
            self.wait_until(lambda future=future: future._done, None)  # type: ignore[misc]

    def wait_for_any(self, futures: Sequence[Future], seconds: float | None = None) -> bool:
        """Wait until one of these is done; False: ``seconds`` have passed. No coroutine runs meanwhile."""
        return self.wait_until(lambda: any(future._done for future in futures), seconds)

    def wait_until(self, is_enough: Callable[[], bool], seconds: float | None) -> bool:
        """Wait for answers until there are enough; False: ``seconds`` have passed. No coroutine runs meanwhile."""
        if THREADS.standing:
            return THREADS.wait(Wait(is_enough, None if seconds is None else seconds_of(seconds), DEADLOCK))
        until = None if seconds is None else self._now + seconds_of(seconds)
        while not is_enough():
            left = None if until is None else until - self._now
            if left is not None and left <= 0:
                return False
            if self.open:
                self._deliver(None if left is None else max(left, MIN_WAIT))
            elif left is None:
                raise RuntimeError(DEADLOCK)
            else:
                self._pass(left)  # nothing can happen meanwhile
        return True

    def _deliver(self, seconds: float | None) -> None:
        """Wait for the next answer, for ``seconds`` at most, and give it to those that wait for it."""
        answer = self._run.host.wait(seconds)
        self._pass(answer.seconds)
        future = self.open.pop(answer.number, None)
        if future is not None:
            future._finish(answer.value, answer.error)

    def _pass(self, seconds: float) -> None:
        """Let time pass, also on the plan's clock."""
        self._now += seconds
        self._run.elapsed_ns += int(seconds * 1e9)

    # ------------------------------------------------------------------ tasks

    def future_of(self, value: Any) -> Future:
        """The future of anything that may stand in ``gather``: a coroutine becomes a task."""
        if isinstance(value, Future):
            return value
        if type(value) is CoroutineType:
            return self.start(value)
        if hasattr(type(value), "__await__"):
            return self.start(await_it(value))
        if isinstance(value, list | tuple) and any(isinstance(v, Future | CoroutineType) for v in value):
            raise TypeError(f"{with_article(type(value).__name__)} of awaitables cannot be awaited; write *calls")
        future = Future(self)
        future._finish(value)
        return future

    def start(self, coroutine: Any) -> PlanTask:
        """Run a coroutine as a task, from the next await on."""
        task = PlanTask(self, coroutine)
        self._tasks[task] = None
        task._when_done(lambda: self._tasks.pop(task, None))
        self.ready.append(task)
        return task

    def timer(self, seconds: float) -> Future:
        """A future that is done after this many seconds."""
        future = Future(self)
        heapq.heappush(self._timers, (self._now + max(seconds, 0.0), future._age, future))
        return future

    def run_coroutine(self, coroutine: Any) -> Any:
        """Run a coroutine to its end, and everything that it has begun. Raises as it does."""
        first = next(self.ages)
        task = self.start(coroutine)
        self.run_until(task)
        for _ in range(len(self.ready)):  # as in Python, which ends its round of ready tasks
            self._run_step(self.ready.popleft())
        self.end_tasks(first)
        return task.result()

    def run_until(self, future: Future) -> None:
        """Run the tasks that are ready until this is done. If nothing can wake a task, this one gets a RuntimeError."""
        while not future._done:
            if self.ready:
                self._run_step(self.ready.popleft())
            elif self.open or self._timers:
                self._await_event()
            elif isinstance(future, PlanTask) and future is not self.current:
                future.throw(RuntimeError(DEADLOCK))
            else:
                raise RuntimeError(DEADLOCK)

    def end_tasks(self, first: int = 0) -> None:
        """Cancel the tasks that began after this number, and wait until all calls that are being made are answered."""
        for task in [task for task in self._tasks if task._age > first]:
            task.cancel()
            while not task._done:
                self.run_until(task)
        for number, future in list(self.open.items()):
            if future is not None and future._age > first and number in self.open:
                future.cancel()
        self.wait_for_dropped_calls()

    def wait_for_dropped_calls(self) -> None:
        """Wait until the calls that are being made, and for which nobody waits, are answered."""
        while None in self.open.values():
            self._deliver(None)

    def call_back(self, function: Callable[[Any], object], future: Future) -> None:
        """Call a plan's function with a future that is done, and print its error."""
        try:
            function(future)
        except Exception as error:
            self.report(error, "exception calling a callback")

    def report(self, error: BaseException | None, where: str) -> None:
        """Print an error that nobody waits for, if there is one. Raises: PlanTermination: a limit is behind it."""
        if error is None or type(error) is SystemExit:
            return
        self.require_no_limit(error)
        self.write_error(f"{where}: {type(error).__name__}: {error}\n")

    def find_begin(self, function: object) -> Begin | None:
        """What begins a call of this method of the agent; None for anything else."""
        return self.begins.get(function) if type(function) is FunctionType else None

    def require_no_limit(self, error: BaseException) -> None:
        """Stop the plan if a limit is behind this error. Raises: PlanTermination."""
        self._stopper.raise_if_failed()
        reached = find_limit(error)
        if reached is not None:
            self._stopper.stop(reached)

    def _run_step(self, task: PlanTask | Callable[[], object]) -> None:
        if not isinstance(task, PlanTask):
            task()
            return
        if task._done:
            return
        before = self.current, self.context
        self.current, self.context = task, task.context
        try:
            task._step()
        finally:
            self.current, self.context = before

    def _await_event(self) -> None:
        """Wait for the next answer or the next timer, whichever comes first."""
        while self._timers and self._timers[0][2]._done:
            heapq.heappop(self._timers)
        wake = self._timers[0][0] if self._timers else None
        if self.open:
            self._deliver(None if wake is None else min(max(wake - self._now, MIN_WAIT), MAX_WAIT))
        elif wake is not None and wake > self._now:
            self._run.host.sleep(min(wake - self._now, MAX_WAIT))
            self._pass(wake - self._now)
            self._now = wake
        while self._timers and self._timers[0][0] <= self._now + 1e-9:
            heapq.heappop(self._timers)[2]._finish(None)


async def await_it(value: Any) -> Any:
    """Await anything that is no coroutine itself."""
    return await value


def seconds_of(value: Any) -> float:
    """A length of time, at most MAX_WAIT. Raises: TypeError: it is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise TypeError(f"a number of seconds is needed, not {with_article(type(value).__name__)}")
    return float(value) if value < MAX_WAIT else MAX_WAIT
