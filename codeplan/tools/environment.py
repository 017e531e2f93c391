"""The user's tools as an environment: it decides about each call, makes it and answers it."""

from __future__ import annotations

import hashlib
import inspect
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from types import NoneType, SimpleNamespace
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from msgspec.structs import replace

from codeplan.budget import deadline_in, seconds_left
from codeplan.cancellation import (
    POLL_SECONDS,
    CallThreads,
    Cancellation,
    DeadlinePassed,
    LoopThread,
    raise_if_cancelled,
)
from codeplan.errors import (
    AgentError,
    EnvironmentFailure,
    UsageError,
    VerifierBroken,
    WaitingForAnswer,
    WaitingForApproval,
)
from codeplan.flows import Flows, FlowVerdict
from codeplan.plain_data import MAX_VALUES, NotPlainData, Packed, pack, unpack
from codeplan.recording.events import (
    NO_SITE,
    BegunCall,
    CallBegun,
    CallDecided,
    CallEnd,
    CallSite,
    CarriedAnswer,
    DoubtDecided,
    EarlierCalls,
    EpisodeStarted,
    EventHandler,
    ToolFailed,
    TurnStarted,
    WarningIssued,
    call_key,
)
from codeplan.tools.agent import agent_class_for
from codeplan.tools.approvals import (
    QUESTION,
    ApprovalDecision,
    Approvals,
    DoubtDecision,
    DoubtRules,
    ProposedCall,
    User,
    call_line,
    calls_in_doubt,
    require_callable,
)
from codeplan.tools.failures import (
    DoubtfulCall,
    call_in_doubt,
    error_for_plan,
    error_said,
    failure_message,
    failure_sentence,
    refusal,
    require_failure,
    show_failure,
    shows_each_failure,
)
from codeplan.tools.flow_checks import ALLOWED, FlowChecks, with_marks
from codeplan.tools.results import full_type_name, pack_result
from codeplan.tools.return_types import Misfit, WantedType
from codeplan.tools.tool import Tool
from codeplan.tools.toolset import Toolset
from codeplan.types import ActionSpace, AgentTool, Answer, Call, Checkpoint, Observation, Result, ReturnType, Task
from codeplan.untrusted.texts import echo, echo_message, escape_surrogates, is_utf8, parser_reason
from codeplan.untrusted.tracebacks import traceback_text
from codeplan.untrusted.values import in_quotes, type_name

Verdict: TypeAlias = bool | str
"""True: the goal is reached. A text says what is missing, and so does False without words."""

MAX_VERDICT_CHARS = 2_000
"""Maximum length of a verifier's text, in characters."""


MAX_VERIFIER_NAME_CHARS = 200


class Verifier:
    """A function ``verify(value, tools)``, or ``verify(value)``, sync or async.

    ``value`` is the value that the plan returned. ``tools`` has the tools as methods, to inspect the world; their
    calls count towards no limit. An asynchronous verifier awaits the results of asynchronous tools. A ``final`` verdict
    ends the episode: the model hears no other. Raises: UsageError: the function takes neither two arguments nor one.
    """

    def __init__(self, verify: Callable[..., Verdict | Awaitable[Verdict]], *, final: bool = False) -> None:
        self._verify, self.final = verify, final
        self._count = require_callable(verify, "verify", "verify(value, tools)", (2, 1))

    @property
    def name(self) -> str:
        """The function's name, with a digest of its source if there is any: functions of other text are told apart."""
        of = self._verify if hasattr(self._verify, "__qualname__") else type(self._verify)
        name = f"{of.__module__}.{of.__qualname__}"[:MAX_VERIFIER_NAME_CHARS]
        with suppress(OSError, TypeError):
            return f"{name}-{hashlib.sha256(inspect.getsource(of).encode()).hexdigest()[:16]}"
        return name

    def judge(self, value: object, tools: object, finish: Callable[[object], object]) -> Verdict:
        """The verdict; ``finish`` waits for an asynchronous one.

        Raises: VerifierBroken: the function fails, or returns neither a bool nor a text.
        """
        try:
            verdict: Any = finish(self._verify(value, tools) if self._count == 2 else self._verify(value))
        except BaseException as error:
            require_failure(error)
            echo(f"The verifier failed:\n{traceback_text(error)}", err=True)
            raise VerifierBroken(f"the verifier failed: {failure_sentence(error)}") from error
        if not isinstance(verdict, bool | str):
            raise VerifierBroken(
                f"the verifier returned a value of the type {full_type_name(verdict)}; return True, False or a text "
                "that says what is missing"
            )
        return escape_surrogates(verdict[:MAX_VERDICT_CHARS]) if isinstance(verdict, str) else verdict


GOAL = "goal"
"""The kind of the tasks that are the user's own goals."""

ToolErrors = Literal["plan", "stop"]
"""What a tool's exception does: the plan gets it as an error, or the episode ends."""

MAX_TURNS = 50
"""Maximum number of model calls of an executor that acts by one call at a time, unless its settings say otherwise."""

_FIRST = "No tool was called yet."
_AT_ONCE = frozenset({NoneType, bool, int, float, str, list, tuple, dict})  # spares the slower look at other types


class _Request(NamedTuple):
    """A call with its tool and its unpacked arguments; ``record`` takes its events."""

    id: int
    call: Call
    tool: Tool
    arguments: Mapping[str, Any]
    record: EventHandler
    site: CallSite
    drain: Callable[[], None] = lambda: None


class _RunningCall(NamedTuple):
    """A call whose tool works in a thread, and the seconds that the budget left for it (None: no limit)."""

    asked: _Request
    left: float | None
    cancellation: Cancellation


class _WorkDone(NamedTuple):
    """What a tool's work came to, and how many seconds it took."""

    id: int
    found: tuple[Packed, str] | None
    error: BaseException | None
    seconds: float

    def result(self) -> tuple[Packed, str]:
        """The packed result, and what it is in place of the declared type. Raises as the tool does."""
        if self.error is not None:
            raise self.error
        assert self.found is not None, "without an error there is a result"
        return self.found


class CallRules(NamedTuple):
    """The user's rules about calls.

    ``approvals`` say which calls need an approval, and who gives it. ``doubts`` decide about the call during which a
    resumed episode was ended; without them the episode stays as it is. ``flows`` decide about calls by where their
    arguments come from. A tool's error ends the ``plan``, or stops the episode.
    """

    approvals: Approvals | None = None
    doubts: DoubtRules | None = None
    flows: Flows | None = None
    tool_errors: ToolErrors = "plan"


class ToolEnvironment:
    """Offers a toolset for one goal. Tools act in the real world, so an episode cannot start over.

    Without a ``verifier``, what plans return is not judged, and an episode ends as claimed at best. Asynchronous tools
    run in ``loop``, if several episodes share one. ``carried`` are answers of an episode with which this one goes on.
    ``is_blind``: prompts for revised plans have shapes in place of what tools answered. ``instructions`` are the user's
    own system text. ``returns`` is the type that the values of plans must have; ``typed_value`` is the latest such
    value, in a tuple, that had it. ``user`` answers what plans ask; without one they have no ``ask_user``. Plans have
    the ``variables`` from the start. Of many tools, prompts show those in full that fit ``shown_for``; None: the goal.

    Raises: UsageError: the goal is empty, or is not text in UTF-8; or the instructions are not, or are too long.
    """

    name = "tools"
    splits = ("test",)

    def __init__(
        self,
        goal: str,
        toolset: Toolset,
        *,
        verifier: Verifier | None = None,
        rules: CallRules = CallRules(),  # noqa: B008  # immutable
        loop: LoopThread | None = None,
        carried: Sequence[CarriedAnswer] = (),
        is_blind: bool = False,
        instructions: str | None = None,
        returns: WantedType | None = None,
        user: User | None = None,
        variables: Checkpoint | None = None,
        shown_for: str | None = None,
    ) -> None:
        require_goal(goal)
        self._shown_for, self._recalls = goal if shown_for is None else shown_for, False
        self._lately: tuple[str, ...] | None = None
        self._own_toolset = toolset
        self.use_toolset(toolset)
        self.let_ask(user)
        self._task = Task(id="goal", env=self.name, kind=GOAL, goal=goal.strip())
        self.verifier_name, self.has_flows = verifier.name if verifier else "", rules.flows is not None
        self.is_blind, self.instructions = is_blind, checked_instructions(instructions)
        self.returns, self._wanted = returns.described if returns else None, returns
        self._own_wanted, self.variables = returns, variables
        self.typed_value: tuple[object] | None = None
        self.flow_checks: FlowChecks | None = None
        if rules.flows is not None:
            self.flow_checks = FlowChecks(with_marks(rules.flows, toolset), goal, self.instructions)
        self.carried = tuple(carried)
        self._verifier, self._approvals = verifier, rules.approvals or Approvals()
        self._doubts, self._stops_at_errors = rules.doubts or DoubtRules(), rules.tool_errors == "stop"
        self._loop, self._owns_loop = loop or LoopThread(), loop is None
        self._threads = CallThreads()
        self._misfits: set[str] = set()  # tools that returned another type than declared
        self._begun = self._over = False
        self._earlier = EarlierCalls(())
        self._in_doubt: Call | None = None
        self._waiting: list[_Request] = []  # calls that are decided, and not made yet
        self._running: dict[int, _RunningCall] = {}
        self._refused: deque[CallEnd] = deque()  # calls that could not be made when their turn came
        self._done: SimpleQueue[_WorkDone] = SimpleQueue()

    def use_toolset(self, toolset: Toolset) -> None:
        """Offer these tools."""
        self.toolset = toolset
        self.described_tools = toolset.described
        self.tools_doc, self.space = toolset.doc, ActionSpace(toolset.first_lines, calls=MAX_TURNS)
        self.once_tools = frozenset(tool.name for tool in toolset.tools if tool.once)

    @property
    def readonly_tools(self) -> frozenset[str]:
        """The tools that the user says only read, and whose calls nobody has to approve; none where flows decide."""
        if self.has_flows:
            return frozenset()
        free = (t for t in self.toolset.tools if t.readonly and self._approvals.rule_for(t).approval == "allow")
        return frozenset(tool.name for tool in free)

    def let_ask(self, user: User | None) -> None:
        """Let plans ask this user; None: they have no ``ask_user``, as where a tool has that name."""
        self._user = user or User()
        self.asks_user = user is not None and self.toolset.get(QUESTION.name) is None
        self._make_agent()

    def _make_agent(self) -> None:
        more = {"asks_user": self.asks_user, "recalls": self._recalls}
        self.agent = agent_class_for(self.toolset, self._shown_for, **more, lately=self._lately)

    def begin_turn(self, turn: TurnStarted, number: int, *, recalls: bool, lately: Sequence[str]) -> Task:
        """Go on with the next goal of a session, and the tools and the type of value that hold from here on.

        The tools of a recorded turn that are not those of now are only described: the recording answers their calls.
        """
        self._shown_for, self._recalls, self._lately = turn.message, recalls, tuple(lately)
        if turn.tools is not None:
            self._use_recorded(turn.tools, turn.tools_doc, turn.once)
        self._use_returns(turn.returns)
        self._make_agent()
        if self.flow_checks is not None:
            self.flow_checks.begin_turn(turn.message)
        self.leave_open()
        self._over, self._in_doubt = False, None
        self._task = Task(id=f"turn-{number}", env=self.name, kind=GOAL, goal=turn.message.strip())
        return self._task

    def begin_as_recorded(self, header: EpisodeStarted) -> None:
        """Begin a recorded session, which had other tools or another type of value at its start than at its end."""
        self._use_recorded(header.tools, header.tools_doc, header.once)
        self._use_returns(header.returns)
        self._make_agent()

    def begin_with(self, toolset: Toolset, returns: WantedType | None, variables: Checkpoint | None) -> None:
        """Begin the first turn of a session with these."""
        self.expect(toolset, returns)
        self.use_toolset(toolset)
        self._use_returns(returns.described if returns else None)
        self.variables = variables
        self._make_agent()

    def expect(self, toolset: Toolset, returns: WantedType | None) -> None:
        """Have the next turn of the session use these tools, and want this type of value."""
        self._own_toolset, self._own_wanted = toolset, returns

    def _use_recorded(self, tools: tuple[AgentTool, ...], doc: str, once: Collection[str]) -> None:
        own = self._own_toolset
        self.use_toolset(own if tools == own.described else recorded_toolset(tools, doc, once))

    def _use_returns(self, returns: ReturnType | None) -> None:
        own = self._own_wanted
        self.returns, self.typed_value = returns, None
        self._wanted = own if own is not None and own.described == returns else None

    def tasks(self, split: str) -> Sequence[Task]:
        """The one task."""
        return (self._task,) if split == "test" else ()

    def reset(self, task: Task) -> Observation:
        """Begin the task. Raises: EnvironmentFailure: it has begun before."""
        if self._begun:
            raise EnvironmentFailure(
                "tools act in the real world, which has no start to go back to; use a method and settings that do not "
                "start over"
            )
        self._begun = True
        return Observation(_FIRST)

    def take_up(self, in_doubt: Call | None) -> None:
        """Continue a recorded episode; ``in_doubt`` is the call that the next ``call`` decides about."""
        self._begun, self._in_doubt = True, in_doubt

    def call(self, id: int, call: Call, record: EventHandler, site: CallSite = NO_SITE) -> Answer:
        """Make a call, and answer with its result or its error.

        Raises: CallInDoubt: see ``take_up``. WaitingForApproval: it needs approval, and there is nobody to ask.
        """
        in_doubt, self._in_doubt = self._in_doubt, None
        try:
            asked = _Request(id, call, self._find(call.name), _unpacked(call), record, site)
            asked.tool.require_fit(asked.arguments)  # what does not fit was never made, so it is not in doubt
            if in_doubt and asked.tool is not QUESTION:
                self._decide_doubt(asked, _unpacked(in_doubt))
            return Answer(self._make(self._require_approval(asked)))
        except AgentError as error:
            return self._error_answer(error)

    def _error_answer(self, error: AgentError) -> Answer:
        name, message = refusal(error)
        return Answer(error=name, message=message, done=self._over, in_doubt=isinstance(error, DoubtfulCall))

    # ------------------------------------------------------------------ calls at the same time

    def begin(self, begun: BegunCall) -> Answer | None:
        """Decide about a call, which then waits for its turn; an answer if it is not to be made. Raises as ``call``."""
        try:
            asked = self._request(begun)
            self._waiting.append(asked if begun.is_decided else self._require_approval(asked))
        except AgentError as error:
            return self._error_answer(error)
        return None

    def settle_doubts(self, in_doubt: Sequence[BegunCall]) -> dict[int, Answer]:
        """Decide about calls that were begun when the episode ended: the answers of those that are not made again.

        Raises: CallInDoubt: no setting decides about one; it names all of these.
        """
        asked = [self._request(begun) for begun in in_doubt if self._find(begun.call.name) is not QUESTION]
        found = [(each, self._doubts.find(each.tool.name, each.arguments, self._finish)) for each in asked]
        if open_calls := [(each.tool.name, each.arguments) for each, decision in found if decision is None]:
            raise calls_in_doubt(open_calls)
        answers: dict[int, Answer] = {}
        for each, decision in found:
            assert decision is not None, "the others were raised"
            self._record_doubt(each, decision)
            if decision.way == "skip":
                answers[each.id] = self._error_answer(call_in_doubt(each.tool.name))
        return answers

    def next_answer(self, seconds: float | None) -> CallEnd | None:
        """Make the calls whose turn it is, and wait for the next answer; None: ``seconds`` have passed.

        Without ``seconds`` there is no limit. A tool that runs alone works in this thread, while others work in theirs.
        """
        self._start_calls()
        if self._refused:
            return self._refused.popleft()
        alone = next((asked for asked in self._waiting if asked.tool.runs_alone), None)
        if alone is not None and self._done.empty() and len(self._running) < self.toolset.at_once:
            self._waiting.remove(alone)
            began = time.perf_counter()
            answer = self._answered(partial(self._make, alone))
            return CallEnd(alone.id, answer, time.perf_counter() - began)
        done = self._wait_for_work(seconds)
        return done and self._end(done)

    def answers_now(self) -> list[CallEnd]:
        """Start the calls whose turn it is. Returns the answers that are there."""
        ended: list[CallEnd] = []
        while True:
            self._start_calls()
            ended += self._refused
            self._refused.clear()
            if self._done.empty():
                return ended
            ended.append(self._end(self._done.get()))

    def drop(self, id: int) -> bool:
        """Drop a call that waits for its turn; False if it does not."""
        dropped = next((asked for asked in self._waiting if asked.id == id), None)
        if dropped is not None:
            self._waiting.remove(dropped)
        return dropped is not None

    def leave_open(self) -> None:
        """Drop the calls that wait for their turn, and end the wait for those that are being made."""
        self._waiting.clear()
        self._refused.clear()
        for running in self._running.values():
            running.cancellation.cancel()
        self._running.clear()
        self._done = SimpleQueue()  # what still comes goes to the one before

    def _request(self, begun: BegunCall) -> _Request:
        """Raises: AgentError: no tool takes this call."""
        asked = _Request(begun.id, begun.call, self._find(begun.call.name), _unpacked(begun.call), *begun[2:5])
        asked.tool.require_fit(asked.arguments)
        return asked

    def _start_calls(self) -> None:
        """Have the tools that may run beside others work on the calls whose turn it is.

        A call that runs alone keeps a place free for itself before those that come after it.
        """
        most = self.toolset.at_once
        for asked in list(self._waiting):
            tool = asked.tool
            if len(self._running) >= most:
                return
            if tool.runs_alone:
                most = self.toolset.at_once - 1
            elif sum(each.asked.tool is tool for each in self._running.values()) < (tool.at_once or most):
                self._waiting.remove(asked)
                self._start(asked)

    def _start(self, asked: _Request) -> None:
        try:
            left = self._prepare(asked.tool)
        except AgentError as error:
            self._refused.append(CallEnd(asked.id, self._error_answer(error), 0.0))
            return
        asked.record(CallBegun(id=asked.id, call=asked.call, line=asked.site.line))
        began, done = time.perf_counter(), self._done

        def tell(found: tuple[Packed, str] | None, error: BaseException | None) -> None:
            done.put(_WorkDone(asked.id, found, error, time.perf_counter() - began))

        cancellation = self._threads.start(partial(self._call_in_time, asked, left), tell)
        self._running[asked.id] = _RunningCall(asked, left, cancellation)

    def _wait_for_work(self, seconds: float | None) -> _WorkDone | None:
        """The next work that is done; None: ``seconds`` have passed, or there is none.

        Raises: KeyboardInterrupt: this thread's work was cancelled.
        """
        if not self._running and self._done.empty():
            return None
        wake = None if seconds is None else time.monotonic() + seconds
        while True:
            left = POLL_SECONDS if wake is None else max(wake - time.monotonic(), 0.0)
            with suppress(Empty):
                return self._done.get(timeout=min(left, POLL_SECONDS))
            raise_if_cancelled()
            if wake is not None and time.monotonic() >= wake:
                return None

    def _end(self, done: _WorkDone) -> CallEnd:
        """The answer of a call whose tool has done its work."""
        running = self._running.pop(done.id)
        answer = self._answered(partial(self._settle, running.asked, running.left, done.result))
        return CallEnd(done.id, answer, done.seconds)

    def _answered(self, make: Callable[[], Packed]) -> Answer:
        try:
            return Answer(make())
        except AgentError as error:
            return self._error_answer(error)

    # ------------------------------------------------------------------ the end

    def judge(self, value: object) -> Observation | None:
        """The verdict on the value that a plan returned: that of its type, then the verifier's. None if it has the type
        and there is no verifier.

        Raises: VerifierBroken; EnvironmentFailure: the user's code in the type fails.
        """
        self.typed_value = None
        if self._wanted is not None:
            try:
                value = self._wanted.convert(value, blind=self.is_blind)
            except Misfit as reason:
                return Observation(f"The result was not accepted: {reason}")
            self.typed_value = (value,)
        if self._verifier is None:
            return None
        tools = SimpleNamespace(**{tool.name: partial(self._call_for_verifier, tool) for tool in self.toolset.tools})
        verdict = self._verifier.judge(value, tools, self._finish)
        if verdict is True:
            return Observation("The result was verified.", reward=1.0, done=True, success=True)
        why = f": {verdict}" if isinstance(verdict, str) and verdict else ""
        return Observation(f"The result was not accepted{why}", done=self._verifier.final)

    def typed_value_of(self, result: Result) -> object:
        """The value of the episode's result with the type that it must have; None if it does not have it.

        If the recording judged it, it is made of the JSON data there.
        """
        if self._wanted is None or self.typed_value is not None:
            return self.typed_value[0] if self.typed_value is not None else result.value
        try:
            return self._wanted.convert(result.value)
        except Misfit:
            return None

    def close(self) -> None:
        """End the tasks that asynchronous tools left running, if the loop is this environment's own."""
        self._threads.close()
        if self._owns_loop:
            self._loop.close()

    def _find(self, name: str) -> Tool:
        tool = QUESTION if self.asks_user and name == QUESTION.name else self.toolset.get(name)
        if tool is None:
            raise AgentError(f"there is no tool {in_quotes(name)}; there are: {', '.join(self.toolset.names)}")
        return tool

    def _make(self, asked: _Request) -> Packed:
        """The packed result. Raises as ``_settle``."""
        left = self._prepare(asked.tool)
        asked.record(CallBegun(id=asked.id, call=asked.call, line=asked.site.line))
        return self._settle(asked, left, partial(self._call_in_time, asked, left))

    def _settle(self, asked: _Request, left: float | None, work: Callable[[], tuple[Packed, str]]) -> Packed:
        """The packed result of the tool's work.

        Raises: AgentError: the tool fails, returns what is not plain data, or takes too long.
        """
        tool = asked.tool
        try:
            packed, misfit = work()
        except DeadlinePassed:
            raise DoubtfulCall(
                f"{tool.name} did not answer within {_limit_text(tool, left)}; whether it was done is unknown",
                "TimeoutError",
            ) from None
        except NotPlainData as reason:
            raise AgentError(f"{tool.name} returned {reason}", "ValueError") from None
        except AgentError:  # the tool refuses the call
            raise
        except BaseException as error:  # reading a result may also run the tool's code
            require_failure(error)
            failed = ToolFailed(
                id=asked.id,
                tool=tool.name,
                error=type_name(error),
                message=failure_message(error),
                traceback=traceback_text(error),
            )
            raise self._report_failure(asked, failed, error_for_plan(error)) from None
        if misfit:
            self._tell_misfit(asked, misfit)
        self._require_no_error(asked, packed)
        return packed

    def _prepare(self, tool: Tool) -> float | None:
        """Prepare the call; returns the seconds that the budget leaves for it, None without a limit.

        Raises: AgentError: none are left, and the call is not made.
        """
        try:
            if tool.prepare:
                tool.prepare()
            left = seconds_left()
            if left is not None and left <= 0:
                raise DeadlinePassed
            return left
        except DeadlinePassed:
            why = "the budget of seconds is spent"
            raise AgentError(f"{tool.name} was not called: {why}", "TimeoutError") from None

    def _call_in_time(self, asked: _Request, left: float | None) -> tuple[Packed, str]:
        """The packed result, and what it is in place of the declared type. Raises: DeadlinePassed; what the tool
        raises; NotPlainData.
        """
        tool = asked.tool
        limits = [seconds for seconds in (tool.timeout, left) if seconds is not None]
        if not limits:
            return self._packed(tool, self._finish(tool.call(asked.arguments)))
        with deadline_in(min(limits)):
            if tool.keeps_deadline:
                return self._packed(tool, self._finish(tool.call(asked.arguments), seconds_left()))

            def work() -> Any:
                result = tool.call(asked.arguments)
                return result if _is_asynchronous(result) else self._packed(tool, result)

            found = self._threads.run(work, min(limits))
            if _is_asynchronous(found):
                found = self._packed(tool, self._finish(found, seconds_left()))
            return found  # type: ignore[no-any-return]

    def _packed(self, tool: Tool, result: object) -> tuple[Packed, str]:
        wants_check = tool.misfit is not None and tool.name not in self._misfits
        return pack_result(result), tool.misfit(result) if tool.misfit and wants_check else ""

    def _tell_misfit(self, asked: _Request, misfit: str) -> None:
        """Tell the user, once for each tool, that the declared type of its results is wrong."""
        tool = asked.tool
        self._misfits.add(tool.name)
        declared = tool.method.signature.rpartition(" -> ")[2]
        told = f"{tool.name} declares -> {declared}, but returned {misfit}; the model was told {declared}"
        echo_message(told, "codeplan: ", err=True)
        asked.record(WarningIssued(message=told))

    def _require_no_error(self, asked: _Request, packed: Packed) -> None:
        """Raises: AgentError: the tool's answer is an error, as ``error_if`` says. EnvironmentFailure: that fails."""
        tool = asked.tool
        if tool.error_if is None:
            return
        try:
            message = error_said(tool.name, tool.error_if, unpack(packed), self._finish)
        except BaseException as error:
            require_failure(error)
            failure = EnvironmentFailure(f"error_if failed for {tool.name}: {failure_sentence(error)}")
            failure.is_users_bug = True
            raise failure from error
        if message:
            failed = ToolFailed(id=asked.id, tool=tool.name, error="RuntimeError", message=message, traceback="")
            raise self._report_failure(asked, failed, AgentError(message))

    def _report_failure(self, asked: _Request, failed: ToolFailed, error: AgentError) -> AgentError:
        """Record the failure, and end the episode if it is to; returns the error for the plan.

        The developer sees the traceback if the plan ends because of it, which shows later.
        """
        if self._stops_at_errors or shows_each_failure():
            show_failure(failed.tool, failed.traceback)
        asked.record(failed)
        self._over = self._stops_at_errors
        return error

    def _decide_doubt(self, asked: _Request, arguments: Mapping[str, Any]) -> None:
        """Return only if this call, which is in doubt, is to be made again; it was begun with these arguments.

        Raises: CallInDoubt; AgentError: it is skipped.
        """
        tool = asked.tool
        decision = self._doubts.decide(tool.name, arguments, self._finish)
        self._record_doubt(asked, decision)
        if decision.way == "skip":
            raise call_in_doubt(tool.name)

    def _record_doubt(self, asked: _Request, decision: DoubtDecision) -> None:
        way, by, pattern = decision
        asked.record(DoubtDecided(id=asked.id, tool=asked.tool.name, way=way, by=by, pattern=pattern))

    def _require_approval(self, asked: _Request) -> _Request:
        """The call as it is to be made. Raises: AgentError: it may not be made. WaitingForApproval."""
        if asked.tool is QUESTION:
            return self._ask_user(asked)
        tool, answer = asked.tool, asked.site.answer
        need, pattern = self._approvals.rule_for(tool)
        verdict = self._judge(asked)
        if answer and call_key(answer.call) == call_key(asked.call):
            decision = ApprovalDecision(answer.allowed, answer.reason)
        elif need == "allow" and verdict.way == "allow":
            self._record_allowed(asked, pattern, verdict)
            return asked
        elif self._approvals.approve is None:
            raise self._wait(asked, pattern, verdict)
        else:
            decision = self._ask_approver(asked, verdict)
        changed = None if decision.arguments is None else _changed_call(asked, decision.arguments)
        asked.record(
            CallDecided(
                id=asked.id,
                tool=tool.name,
                allowed=decision.allowed,
                by=decision.by,
                pattern=pattern,
                reason=decision.reason,
                arguments=None if changed is None else changed.arguments,
                origins=dict(verdict.origins),
            )
        )
        if not decision.allowed:
            why = f": {decision.reason}" if decision.reason else ""
            raise AgentError(f"the user did not approve this call of {tool.name}{why}", "PermissionError")
        return asked if changed is None else asked._replace(call=changed, arguments=_unpacked(changed))

    def _ask_user(self, asked: _Request) -> _Request:
        """The question with its answer. Raises: WaitingForAnswer: the user is not there, which is recorded.

        AgentError: the answers did not have the form. EnvironmentFailure: the user's function fails.
        """
        try:
            return asked._replace(arguments={**asked.arguments, "answer": self._user.answer(asked.call, self._finish)})
        except WaitingForAnswer as waits:
            asked.drain()
            asked.record(
                CallDecided(id=asked.id, tool=asked.tool.name, allowed=False, by="no_answer", reason=str(waits))
            )
            raise

    def _judge(self, asked: _Request) -> FlowVerdict:
        """What the flows say about a call. Raises: AgentError: they refuse it, which is recorded."""
        if self.flow_checks is None:
            return ALLOWED
        tool = asked.tool
        verdict = self.flow_checks.judge(tool, asked.arguments, asked.site)
        if verdict.way == "refuse":
            why, origins = verdict.why, dict(verdict.origins)
            asked.record(
                CallDecided(id=asked.id, tool=tool.name, allowed=False, by="flows", reason=why, origins=origins)
            )
            raise AgentError(f"the user's flows do not allow this call of {tool.name}: {why}", "PermissionError")
        return verdict

    def _record_allowed(self, asked: _Request, pattern: str, verdict: FlowVerdict) -> None:
        """Record that a pattern, or the flows, allowed a call; a tool that only reads is not worth an event."""
        by: Literal["pattern", "flows"] = "pattern" if pattern else "flows"
        judged = self.flow_checks is not None and verdict is not ALLOWED
        if pattern or judged:
            given = dict(verdict.origins) if judged else {}
            name = asked.tool.name
            asked.record(CallDecided(id=asked.id, tool=name, allowed=True, by=by, pattern=pattern, origins=given))

    def _wait(self, asked: _Request, pattern: str, verdict: FlowVerdict) -> WaitingForApproval:
        """The exception that ends the episode until somebody answers; the decision is recorded."""
        tool, site = asked.tool, asked.site
        where = f" at {site.place}" if site.place else ""
        waits = f"waiting for approval: {call_line(tool.name, asked.arguments)}{where}"
        if verdict.findings:
            reason = f"{waits}; {verdict.why}, which the flows do not allow unasked; answer: codeplan approve RUN"
        else:
            wins = len(pattern) >= len(tool.name)  # takes precedence over an --allow with the name
            way = f"--allow {tool.name}{f' in place of --ask {in_quotes(pattern)}' if wins else ''}"
            reason = f"{waits}; allow it: codeplan approve RUN, or resume with {way}"
        asked.drain()
        asked.record(
            CallDecided(
                id=asked.id,
                tool=tool.name,
                allowed=False,
                by="nobody",
                pattern=pattern,
                reason=reason,
                origins=dict(verdict.origins),
            )
        )
        return WaitingForApproval(reason, asked.call)

    def _ask_approver(self, asked: _Request, verdict: FlowVerdict) -> ApprovalDecision:
        """The user's decision. Raises: EnvironmentFailure: ``approve`` fails."""

        def proposed() -> ProposedCall:
            tool, site = asked.tool, asked.site
            calls = self._calls_before(site)
            earlier = tuple(map(_with_plain_value, calls.answers_to(asked.call)))
            place = (site.step, site.line, calls.plan)
            shown = (verdict.origins, verdict.why)
            return ProposedCall(tool.name, _unpacked(asked.call), tool.hint, *place, earlier, *shown)

        try:
            return self._approvals.decide(asked.call, proposed, self._finish, by_flows=bool(verdict.findings))
        except BaseException as error:
            require_failure(error)
            raise EnvironmentFailure(f"the function that approves calls failed: {failure_sentence(error)}") from error

    def _calls_before(self, site: CallSite) -> EarlierCalls:
        if self._earlier.events is not site.events:
            self._earlier = EarlierCalls(site.events)
        return self._earlier

    def _call_for_verifier(self, tool: Tool, /, *args: Any, **kwargs: Any) -> object:
        """Call a tool outside the episode, for a verifier that inspects the world. It gets the same plain data as a
        plan. An asynchronous verifier awaits it.

        Raises: AgentError: the result is no plain data.
        """
        bound = tool.signature.bind(None, *args, **kwargs).arguments
        result = tool.call({name: value for name, value in bound.items() if name != "_agent_"})
        if not self._loop.is_current:
            return _plain(tool, self._finish(result))
        return _plain_later(tool, result) if _is_asynchronous(result) else _plain(tool, result)

    def _finish(self, result: object, seconds: float | None = None) -> object:
        """Wait for an asynchronous result. Raises: DeadlinePassed: ``seconds`` are over; None: no limit."""
        if type(result) in _AT_ONCE:
            return result
        if isinstance(result, Awaitable):
            return self._loop.run(result, seconds)
        return self._loop.run(_collect(result), seconds) if isinstance(result, AsyncIterator) else result


def _plain(tool: Tool, result: object) -> object:
    """The plain data that a plan gets of this result. Raises: AgentError: there is none."""
    try:
        return unpack(pack_result(result))
    except NotPlainData as reason:
        raise AgentError(f"{tool.name} returned {reason}", "ValueError") from None


async def _plain_later(tool: Tool, result: Any) -> object:
    return _plain(tool, await (_collect(result) if isinstance(result, AsyncIterator) else result))


def _is_asynchronous(result: object) -> bool:
    return type(result) not in _AT_ONCE and isinstance(result, Awaitable | AsyncIterator)


def _limit_text(tool: Tool, left: float | None) -> str:
    """The limit that ended a call: the tool's own, or what was left of the budget."""
    if left is None or (tool.timeout is not None and tool.timeout <= left):
        return f"its limit of {tool.timeout:g} s"
    return f"the {left:.1f} s that the budget of seconds left"


def _changed_call(asked: _Request, arguments: Mapping[str, Any]) -> Call:
    """The call with these arguments. Raises: EnvironmentFailure: they do not fit the tool."""
    try:
        if odd := next((name for name in arguments if not isinstance(name, str)), None):
            raise AgentError(f"{in_quotes(odd)} is no parameter's name")
        asked.tool.require_fit(arguments)
        return Call(asked.call.name, {name: pack(value) for name, value in arguments.items()})
    except (AgentError, NotPlainData) as reason:
        raise EnvironmentFailure(
            f"the function that approves calls returned arguments that do not fit {asked.tool.name}: {reason}"
        ) from None


def _with_plain_value(answer: Answer) -> Answer:
    """An answer whose value is not packed."""
    try:
        return replace(answer, value=unpack(answer.value))
    except NotPlainData:  # a forged trace may hold anything
        return replace(answer, value=None)


def _unpacked(call: Call) -> dict[str, Any]:
    """The arguments of a call, a copy. Raises: AgentError: they are not plain data."""
    try:
        return {name: unpack(value) for name, value in (call.arguments or {}).items()}
    except NotPlainData as reason:
        raise AgentError(f"{call.name} was given {reason}", "ValueError") from None


def require_goal(goal: object) -> None:
    """Raises: UsageError: the goal is empty, or not a text that a trace can hold."""
    if not isinstance(goal, str):
        raise UsageError(f"the goal is a text, not {in_quotes(goal)}")
    if not goal.strip():
        raise UsageError("the goal is empty; say in a sentence what is to be done")
    if not is_utf8(goal):
        raise UsageError(f"the goal {in_quotes(goal)} is not text in UTF-8; type it again")


MAX_INSTRUCTIONS_CHARS = 100_000
"""Maximum length of the user's instructions, in characters: each prompt repeats them."""


def checked_instructions(given: object) -> str:
    """The user's instructions without blank lines around them; None and blank text are none.

    Raises: UsageError: they are not a text that a trace can hold, or are too long.
    """
    if given is None:
        return ""
    if not isinstance(given, str):
        raise UsageError(f"instructions are a text, not {in_quotes(given)}; in a file: --instructions FILE")
    if not is_utf8(given):
        raise UsageError("the instructions are not text in UTF-8; they have half of a surrogate pair")
    text = given.strip()
    if len(text) > MAX_INSTRUCTIONS_CHARS:
        raise UsageError(
            f"the instructions have {len(text):,} characters, more than {MAX_INSTRUCTIONS_CHARS:,}; shorten them, or "
            "give what is data to a tool"
        )
    return text


async def _collect(items: AsyncIterator[Any]) -> list[Any]:
    """As many items as one result may have, and one more, so that too many are refused."""
    found = []
    async for item in items:
        found.append(item)
        if len(found) > MAX_VALUES:
            break
    return found


def recorded_environment(
    goal: str,
    tools: Sequence[AgentTool],
    doc: str,
    once: Collection[str] = (),
    *,
    has_flows: bool = False,
    is_blind: bool = False,
    instructions: str = "",
    returns: ReturnType | None = None,
    asks_user: bool = False,
) -> ToolEnvironment:
    """An environment for the replay of an episode. The recording answers every call, so its tools are never called.

    Raises: UsageError: the descriptions, which may come from a stranger, or the goal cannot be those of an episode.
    """
    try:
        user = User() if asks_user else None
        toolset = recorded_toolset(tools, doc, once)
        env = ToolEnvironment(goal, toolset, is_blind=is_blind, instructions=instructions, user=user)
        env.has_flows, env.returns = has_flows, returns
        return env
    except (UsageError, ValueError) as e:
        raise UsageError(f"the trace's header is damaged: its tools: {parser_reason(e)}") from None


def recorded_toolset(tools: Sequence[AgentTool], doc: str, once: Collection[str]) -> Toolset:
    """Tools that are only described. Raises: UsageError: the descriptions cannot be those of tools."""
    return Toolset((Tool(t.method, _never_called, t.types, once=t.method.name in once) for t in tools), doc)


def _never_called(arguments: Mapping[str, Any]) -> NoReturn:
    raise AssertionError("the recording answers in place of the tools")
