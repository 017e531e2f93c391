"""Sessions: goals that follow one another over one state, and one trace."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.llm.callable_model import ModelFunction
from codeplan.protocols import LLM
from codeplan.recording.events import EpisodeEnded, Event, EventHandler, ReplyWritten, TurnStarted
from codeplan.recording.trace import Trace, asks_user, find_end, hears_replies
from codeplan.runner import telemetry
from codeplan.runner.approval_answers import take_answer
from codeplan.runner.async_episodes import in_thread
from codeplan.runner.episodes import TRACE_NAME
from codeplan.runner.recorded_episodes import recorded_setup
from codeplan.runner.setup import EpisodeSetup, require_handler, require_out
from codeplan.runner.start_state import merge_variables, read_variables
from codeplan.runner.tools import (
    ToolSources,
    latest_turn,
    open_tools,
    require_model,
    require_same_returns,
    require_same_tools,
    sources_of_recording,
    with_type,
    with_typed_value,
)
from codeplan.tools.environment import ToolEnvironment, require_goal
from codeplan.tools.return_types import WantedType, read_returns
from codeplan.types import AgentTool, Checkpoint, Result
from codeplan.types.value import MAX_CELL, MAX_ROWS, html_list, html_text, short_repr
from codeplan.untrusted.texts import with_count
from codeplan.untrusted.values import value_text

METHOD = "adaplanner"
"""The method of sessions: plans are what a later turn can go on from."""


class SessionTurn(NamedTuple):
    """A turn of a session: the user's message, and how it ended (None: it has not)."""

    message: str
    result: Result | None


def _shown(turn: SessionTurn) -> tuple[str, str, str]:
    """The message, how the turn ended, and its value."""
    if turn.result is None:
        return turn.message, "not ended", ""
    value = "" if turn.result.value is None else value_text(turn.result.value, MAX_CELL)
    return turn.message, turn.result.reason, value


class Session:
    """Reaches goals that follow one another: each plan has what the plans before it left.

    ``do`` takes a message and returns a Result, as ``codeplan.do`` does for a single goal. The next plan may read the
    variables of the plans before, and ``returned_N``, what turn N returned, whole; its prompt shows the latest turns,
    calls and values within bounds. ``model``, ``tools`` and all other ``options`` are those of ``codeplan.do``, but
    for ``verify``, ``method`` and ``out``. ``budget`` holds for each turn.

    ``folder`` keeps the session's trace, which ``codeplan.resume``, ``replay``, ``fork``, ``show`` and ``report`` take
    like any other. If it has one already, the session goes on: give the same options again. Without it, the trace is
    kept until ``close``. One process at a time has the session.

    Ctrl-C, a spent budget, a call that waits for an approval, or a question to you (``NeedsInput``) end a turn, not the
    session. ``resume`` goes on in such a turn, ``answer`` with your answer; ``do`` leaves it. A session that was killed
    in a turn goes on with ``resume``. No call is made twice.

    It is a context manager; ``close`` ends its servers. Not safe for two turns at the same time.

    Raises: UsageError: the input is wrong. EnvironmentFailure: a server does not start.
    """

    def __init__(
        self,
        *,
        model: str | LLM | ModelFunction,
        folder: Path | str | None = None,
        budget: Budget | None = None,
        on_event: EventHandler | None = None,
        variables: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        require_handler(on_event)
        if odd := next((name for name in ("verify", "method", "out", "returns") if name in options), None):
            raise UsageError(f"a session takes no {odd}{_INSTEAD.get(odd, '')}")
        if folder is not None:
            require_out(folder)
        self._model, self._budget, self._on_event = model, budget, on_event
        of_tools = {field.name for field in fields(ToolSources)}
        self._sources = ToolSources(**{n: v for n, v in options.items() if n in of_tools}, variables=variables)
        self._settings = {name: value for name, value in options.items() if name not in of_tools}
        self._lock = threading.Lock()
        self._live: _LiveSession | None = None
        with ExitStack() as stack:
            self._path = Path(folder or stack.enter_context(TemporaryDirectory(prefix="codeplan-"))) / TRACE_NAME
            if self._has_trace:
                self._sources = sources_of_recording(Trace.read(self._path), self._sources)
            opening = open_tools(self._sources, self._path.parent, may_log_in=True)
            require_model(model)  # what the user named is looked at before what they left out
            self._tools = stack.enter_context(opening)
            self._offered = self._tools.toolset
            self._given: object = self._sources.tools
            self._stack = stack.pop_all()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the servers of the tools. The session can be opened again from its folder."""
        with self._lock:
            self._leave()
            self._stack.close()

    @property
    def folder(self) -> Path:
        """The folder of the session's trace."""
        return self._path.parent

    @property
    def turns(self) -> tuple[SessionTurn, ...]:
        """The turns so far, with their results."""
        if not self._has_trace:
            return ()
        events = Trace.read(self._path)
        header, starts = latest_turn(events)[0], [e for e in events if isinstance(e, TurnStarted)]
        end = find_end(events)
        messages = [header.task.goal, *(turn.message for turn in starts)]
        results = [*(turn.before for turn in starts), end.result if end else None]
        return tuple(map(SessionTurn, messages, results))

    def __repr__(self) -> str:
        return short_repr(self, {"folder": str(self.folder), "turns": [turn.message for turn in self.turns]})

    def _repr_html_(self) -> str:
        """The latest turns as a table, for a notebook."""
        turns = [*enumerate(self.turns, 1)]
        rows = [(f"{number:,}", *map(html_text, _shown(turn))) for number, turn in turns[-MAX_ROWS:]]
        title = f"Session: {with_count(len(turns), 'turn')}"
        return html_list(title, ("Turn", "Message", "Ending", "Value"), rows, len(turns) - MAX_ROWS)

    def do(
        self, message: str, *, tools: object = None, returns: Any = None, variables: Mapping[str, Any] | None = None
    ) -> Result:
        """Reach the next goal, and return how that ended.

        ``tools`` replace the tools of your own from this turn on; ``returns`` is the type of this turn's value, and
        ``variables`` are further values for plans to read, all as in ``codeplan.do``.

        Raises: as ``codeplan.do``; UsageError: the session was killed within a turn, or another process has it.
        """
        require_goal(message)
        with self._lock:
            self._given = self._given if tools is None else tools
            if self._tools.refresh() or tools is not None:
                self._offered = self._tools.toolset_of(self._given)
            wanted = read_returns(returns, self._offered.api.types)
            given = read_variables(variables)
            if not self._has_trace:
                return self._begin(message, wanted, given)
            described = wanted.described if wanted else None
            next_turn = partial(TurnStarted, message=message, returns=described, variables=given)
            if self._live is None:
                return self._take_up(wanted, next_turn)
            live = self._live
            live.env.expect(self._offered, wanted)
            turn = next_turn(before=_for_trace(live.result))
            return self._advance(live, self._with_tools(turn, live.env.described_tools))

    async def ado(self, message: str, **options: Any) -> Result:
        """``do`` for a running event loop; cancelled as ``codeplan.arun``."""
        return await in_thread(lambda: self.do(message, **options))

    def resume(self, *, returns: Any = None) -> Result:
        """Go on in the latest turn, if it was killed or interrupted, or waits for you; otherwise return its result.

        ``returns`` is its type again, if it has one. Raises: as ``codeplan.resume``.
        """
        with self._lock:
            return self._resume(returns)

    def answer(self, text: str, *, returns: Any = None) -> Result:
        """Answer what the latest turn asks you (its ending is ``NeedsInput``), and go on in it. As ``resume``."""
        with self._lock:
            return self._resume(returns, text)

    # ------------------------------------------------------------------

    @property
    def _has_trace(self) -> bool:
        return os.path.lexists(self._path)

    def _begin(self, message: str, wanted: WantedType | None, given: Checkpoint | None) -> Result:
        """The first turn."""
        env = self._tools.environment(message, user=self._sources.user())
        env.begin_with(self._offered, wanted, merge_variables(env.variables, given))
        with ExitStack() as stack:
            stack.enter_context(closing(env))
            setup = stack.enter_context(EpisodeSetup(env, METHOD, self._model, self._settings))
            (task,) = env.tasks("test")
            header = setup.header(task, self._budget or Budget())
            trace = stack.enter_context(closing(Trace(self._path, telemetry.with_telemetry(self._on_event))))
            self._live = _LiveSession(env, setup.run_turns(header, trace), stack.pop_all())
        return self._advance(self._live)

    def _resume(self, returns: Any, answer: str | None = None) -> Result:
        """Go on in the latest turn."""
        if not self._has_trace:
            raise UsageError("the session has no turn yet; begin with do(message)")
        if self._live is not None and answer is None:
            return self._live.result
        return self._take_up(read_returns(returns, self._offered.api.types), None, answer)

    def _take_up(
        self, wanted: WantedType | None, next_turn: Callable[..., TurnStarted] | None, answer: str | None = None
    ) -> Result:
        """Go on from the trace: with the next turn, or in the latest."""
        self._leave()
        with ExitStack() as stack:
            told = _NewEvents(self._on_event)
            trace = stack.enter_context(closing(Trace.resume(self._path, telemetry.with_telemetry(told))))
            recording, end = trace.recording, trace.last_end
            told.known = len(recording) - (find_end(recording) is not None)
            header, tools, returned = latest_turn(recording)
            if answer is not None and not (end and asks_user(end)):
                raise UsageError("the session asks you nothing; say what is next with do(message)")
            if next_turn is not None:
                trace.start_turn(self._with_tools(next_turn(before=_result_before(end)), tools))
            elif find_end(recording):
                assert end is not None, "it is the last event"
                return with_type(end.result, recording, None)
            else:
                take_answer(trace)
                require_same_tools(tools, self._offered.described)
                require_same_returns(returned, wanted.described if wanted else None)
            env = self._tools.environment(header.task.goal, user=self._sources.user(answer))
            stack.enter_context(closing(env))
            env.expect(self._offered, wanted)
            env.begin_as_recorded(header)
            given: dict[str, Any] = {"method": None, "model": self._model, "settings": self._settings}
            setup = recorded_setup(header, recording, env, **given, overrides={}, budget=self._budget or Budget())
            stack.enter_context(setup)
            self._live = _LiveSession(env, setup.run_turns(header, trace), stack.pop_all())
        return self._advance(self._live)

    def _advance(self, live: _LiveSession, turn: TurnStarted | None = None) -> Result:
        """Run until the turn ends. If something else than the method ended it, only the trace goes on."""
        try:
            live.result = live.turns.send(turn)
        except StopIteration as end:
            live.result = end.value
            self._leave()
        except BaseException:
            self._leave()
            raise
        return with_typed_value(live.result, live.env)

    def _with_tools(self, turn: TurnStarted, before: Sequence[AgentTool]) -> TurnStarted:
        """The turn, with the tools that hold from here on if they are others than before."""
        offered = self._offered
        if offered.described == tuple(before):
            return turn
        once = tuple(tool.name for tool in offered.tools if tool.once)
        return replace(turn, tools=offered.described, tools_doc=offered.doc, once=once)

    def _leave(self) -> None:
        """End the present run, so that the trace is free."""
        live, self._live = self._live, None
        if live is not None:
            live.turns.close()
            live.stack.close()


class _NewEvents:
    """Hands on events, but for the first ``known`` ones, which happened before."""

    def __init__(self, on_event: EventHandler | None) -> None:
        self._on_event, self.known = on_event, 0

    @property
    def hears_replies(self) -> bool:
        """Whether the handler hears replies while they are written."""
        return hears_replies(self._on_event)

    def __call__(self, event: Event) -> None:
        if self._on_event and (isinstance(event, ReplyWritten) or event.seq >= self.known):
            self._on_event(event)


@dataclass
class _LiveSession:
    """A session between two turns, whose episode goes on in this process. ``result`` is that of the latest turn."""

    env: ToolEnvironment
    turns: Generator[Result, TurnStarted | None, Result]
    stack: ExitStack
    result: Result = field(init=False)


def _for_trace(result: Result) -> Result:
    """A turn's result without what other events hold."""
    return replace(result, plan=None, variables={}, trace=None)


def _result_before(end: EpisodeEnded | None) -> Result:
    """How the latest recorded turn ended. Raises: UsageError: it has not."""
    if end is None:
        raise UsageError("the session was ended within a turn; go on there first, with resume()")
    return _for_trace(end.result)


_INSTEAD: Final = {"out": "; name its folder", "returns": "; do(message, returns=…) takes it"}
"""What to give in place of options that a session does not take."""
