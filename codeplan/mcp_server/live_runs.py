"""Runs plans in their own threads, beside the event loop that serves clients; some run, and others wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Final, Generic, TypeVar

from codeplan.errors import UsageError
from codeplan.mcp_server.plan_runner import RunControl
from codeplan.recording.events import Event, StepEntered
from codeplan.types import Plan, Value

MAX_WAITING: Final = 200
"""How many runs, or checks, may wait for others to end. Further ones are refused at once."""

APPROVAL_SECONDS: Final = 600.0
"""How long a call waits for its approval. Then it is refused."""

_CLOSING_SECONDS: Final = 5.0

_T = TypeVar("_T")


class StepNews(Value, frozen=True):
    """The run enters a step, one of ``steps``."""

    step: int
    steps: int
    title: str


class ApprovalNeeded(Value, frozen=True):
    """The plan makes a call that needs approval, and waits for it. ``hint`` is what the tool's server says about it."""

    tool: str
    arguments: dict[str, Any]
    hint: str = ""


class LiveRun(RunControl, Generic[_T]):
    """One piece of work in a thread, as the event loop sees it. ``with_approvals``: the client can be asked."""

    def __init__(self, work: Callable[[RunControl], _T], with_approvals: bool, at_end: Callable[[], None]) -> None:
        self._work, self._at_end = work, at_end
        self._server = asyncio.get_running_loop()
        self._news: asyncio.Queue[StepNews | ApprovalNeeded | None] = asyncio.Queue()
        self._result: Future[_T] = Future()
        self._answer: Future[bool] | None = None
        self._steps = 0
        self._is_cancelled = False
        self.thread = threading.Thread(target=self._run, name="codeplan-mcp-run", daemon=True)
        self.approve = self._ask if with_approvals else None
        self.on_event, self.on_plan = self._take_event, self._take_plan
        self.thread.start()

    # ------------------------------------------------------------------ in the event loop

    async def next_news(self) -> StepNews | ApprovalNeeded | None:
        """The run's next news; None once it has ended."""
        return await self._news.get()

    @property
    def result(self) -> _T:
        """The result of ended work. Raises: what the work raised."""
        return self._result.result(timeout=0)

    def answer(self, allowed: bool) -> None:
        """Answer the call that needs approval."""
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_result(allowed)

    def cancel(self) -> None:
        """End the work at its next event. A plan that does nothing but calculate ends at its time limit."""
        self._is_cancelled = True
        self.answer(False)

    # ------------------------------------------------------------------ in the thread

    def _run(self) -> None:
        try:
            self._result.set_result(self._work(self))
        except BaseException as error:
            self._result.set_exception(error)
        self._tell(None)
        self._call_server(self._at_end)

    def _take_plan(self, plan: Plan) -> None:
        self._steps = len(plan.steps)

    def _take_event(self, event: Event) -> None:
        if self._is_cancelled:
            self._is_cancelled = False  # the trace writes its end yet
            raise KeyboardInterrupt
        if isinstance(event, StepEntered):
            self._tell(StepNews(event.step, self._steps, event.title))

    def _ask(self, tool: str, arguments: Mapping[str, Any], hint: str) -> bool:
        answer = self._answer = Future[bool]()
        self._tell(ApprovalNeeded(tool, dict(arguments), hint))
        try:
            return answer.result(APPROVAL_SECONDS)
        except TimeoutError:
            return False

    def _tell(self, news: StepNews | ApprovalNeeded | None) -> None:
        self._call_server(lambda: self._news.put_nowait(news))

    def _call_server(self, call: Callable[[], None]) -> None:
        try:
            self._server.call_soon_threadsafe(call)
        except RuntimeError:  # the server has ended, and its event loop is closed
            return


class LiveRuns:
    """At most ``at_once`` pieces of work at a time; MAX_WAITING more may wait."""

    def __init__(self, at_once: int) -> None:
        self._at_once, self._waiting = at_once, 0
        self._slots = asyncio.Semaphore(at_once)
        self._live: set[LiveRun[Any]] = set()

    async def start(self, work: Callable[[RunControl], _T], *, with_approvals: bool = False) -> LiveRun[_T]:
        """Start the work in a thread as soon as there is room. Raises: UsageError: too many wait already."""
        if self._slots.locked() and self._waiting >= MAX_WAITING:
            raise UsageError(f"{self._at_once} plans run and {self._waiting} wait; send this one again later")
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        live: LiveRun[_T]

        def at_end() -> None:
            self._live.discard(live)
            self._slots.release()

        live = LiveRun(work, with_approvals, at_end)
        self._live.add(live)
        return live

    async def run(self, work: Callable[[], _T]) -> _T:
        """Do work that reports no news."""
        live = await self.start(lambda _: work())
        while await live.next_news() is not None:
            pass
        return live.result

    async def close(self) -> None:
        """Cancel all work, and wait a moment for its end."""
        live = list(self._live)
        for each in live:
            each.cancel()
        deadline = self._loop_time() + _CLOSING_SECONDS
        while any(each.thread.is_alive() for each in live) and self._loop_time() < deadline:
            await asyncio.sleep(0.02)

    @staticmethod
    def _loop_time() -> float:
        return asyncio.get_running_loop().time()
