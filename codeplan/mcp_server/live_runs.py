"""Runs plans in their own threads, beside the event loop that serves clients; some run, and others wait."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from codeplan.errors import UsageError
from codeplan.mcp_server.answers import RunAnswer
from codeplan.mcp_server.plan_runner import RunControl
from codeplan.recording.events import Event, StepEntered
from codeplan.recording.trace import EventsOnly
from codeplan.tools.approvals import MAX_APPROVAL_CHARS, Always, ProposedCall
from codeplan.types import Plan, Value
from codeplan.untrusted.values import call_text

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp_types import CallToolRequestParams, ElicitRequestFormParams, ElicitResult, InputRequiredResult


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


class LiveRun(RunControl, Generic[_T]):
    """One piece of work in a thread, as the event loop sees it. ``with_approvals``: the client can be asked."""

    def __init__(self, work: Callable[[RunControl], _T], with_approvals: bool, at_end: Callable[[], None]) -> None:
        self._work, self._at_end = work, at_end
        self._server = asyncio.get_running_loop()
        self._news: asyncio.Queue[StepNews | ProposedCall | None] = asyncio.Queue()
        self._result: Future[_T] = Future()
        self._answer: Future[bool | str | Always] | None = None
        self._steps = 0
        self._is_cancelled = False
        self.thread = threading.Thread(target=self._run, name="codeplan-mcp-run", daemon=True)
        self.approve = self._ask if with_approvals else None
        self.on_event, self.on_plan = EventsOnly(self._take_event), self._take_plan
        self.thread.start()

    # ------------------------------------------------------------------ in the event loop

    async def next_news(self) -> StepNews | ProposedCall | None:
        """The run's next news; None once it has ended."""
        return await self._news.get()

    @property
    def result(self) -> _T:
        """The result of ended work. Raises: what the work raised."""
        return self._result.result(timeout=0)

    def answer(self, given: bool | str | Always) -> None:
        """Answer the call that needs approval; a text says why it is refused."""
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_result(given)

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

    def _ask(self, call: ProposedCall) -> bool | str | Always:
        answer = self._answer = Future[bool | str | Always]()
        self._tell(call)
        try:
            return answer.result(APPROVAL_SECONDS)
        except TimeoutError:
            return False

    def _tell(self, news: StepNews | ProposedCall | None) -> None:
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


_KEY: Final = "approval"
_ALWAYS: Final = {"equal calls": Always.ARGUMENTS, "all calls of this tool": Always.TOOL}
_FORM: Final = {
    "allow": {"type": "boolean", "title": "Make this call", "default": False},
    "reason": {"type": "string", "title": "If not, why", "maxLength": MAX_APPROVAL_CHARS},
}


class ApprovalDesk:
    """Puts the questions of runs to clients. A call that is not clearly allowed is refused."""

    def __init__(self) -> None:
        self._asked: dict[str, LiveRun[RunAnswer]] = {}

    def can_ask(self, context: ServerRequestContext[Any]) -> bool:
        """Whether the client can put a question to its user."""
        capabilities = context.session.client_capabilities
        found = capabilities.elicitation if capabilities else None
        if found is None or (found.form is None and found.url is not None):
            return False
        return self.asks_in_results(context) or context.session.can_send_request

    def asks_in_results(self, context: ServerRequestContext[Any]) -> bool:
        """Whether questions are results in the protocol's version."""
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        return context.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def ask(self, context: ServerRequestContext[Any], call: ProposedCall) -> bool | str | Always:
        """Ask while the client waits for the run."""
        from mcp import MCPError

        form = _form(call)
        try:
            answer = await context.session.elicit_form(form.message, form.requested_schema, context.request_id)
        except (MCPError, ValueError):  # the client cannot ask after all, or its answer is meaningless
            return False
        return _decision(answer)

    def question(self, live: LiveRun[RunAnswer], call: ProposedCall) -> InputRequiredResult:
        """Ask in a result; the run waits for ``take_up``."""
        from mcp_types import ElicitRequest, InputRequiredResult

        ticket = secrets.token_hex(16)
        self._asked = {t: run for t, run in self._asked.items() if run.thread.is_alive()} | {ticket: live}
        return InputRequiredResult(input_requests={_KEY: ElicitRequest(params=_form(call))}, request_state=ticket)

    def take_up(self, params: CallToolRequestParams) -> LiveRun[RunAnswer]:
        """The run that waits for the answers in ``params``, and now continues. Raises: UsageError: no run waits for
        them.
        """
        from mcp_types import ElicitResult

        live = self._asked.pop(params.request_state or "", None)
        if live is None:
            raise UsageError("no run waits for this answer any more; send the plan again without request_state")
        answer = (params.input_responses or {}).get(_KEY)
        live.answer(_decision(answer) if isinstance(answer, ElicitResult) else False)
        return live


def _form(call: ProposedCall) -> ElicitRequestFormParams:
    from mcp_types import ElicitRequestFormParams

    shown, is_cut = call_text(call.tool, call.arguments)
    cut = " Some of the arguments are too long to show; … stands for what is left out." if is_cut else ""
    said = f" Its server says: {call.hint}." if call.hint else ""
    place = "" if call.line is None else f" in line {call.line}"
    flows = f" The flows ask, because {call.why}." if call.why else ""
    question = f"The plan calls {shown}{place}.{cut}{said}{flows} Allow it?"
    later = ["no", *(name for name, way in _ALWAYS.items() if way is Always.ARGUMENTS or not call.why)]
    always = {"type": "string", "title": "Allow later calls of this run as well", "enum": later, "default": "no"}
    schema = {"type": "object", "properties": {**_FORM, "always": always}, "required": ["allow"]}
    return ElicitRequestFormParams(message=question, requested_schema=schema)


def _decision(answer: ElicitResult) -> bool | str | Always:
    """Whether the call may be made, and later ones with it, or why not."""
    content = answer.content or {}
    if answer.action == "accept" and content.get("allow") is True:
        return _ALWAYS.get(str(content.get("always")), True)
    reason = content.get("reason")
    return reason if isinstance(reason, str) else False
