"""Calls that are begun and not waited for: each is decided about, begun and answered on the trace, one after the other.

While the trace replays a recording, the recording says which call begins and is answered when, so that a replay has the
same order. After its end, the calls that it left open go on: those that were begun are in doubt, each of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from msgspec.structs import replace

from codeplan.episode.history import OnceCalls
from codeplan.episode.replayable import raise_if_left_open
from codeplan.errors import Diverged
from codeplan.recording.events import (
    ApprovalAnswered,
    BegunCall,
    CallAnswered,
    CallBegun,
    CallDecided,
    CallRepeated,
    CallSite,
    DoubtDecided,
    Event,
    KeepsCallsOpen,
    TimePassed,
    ToolFailed,
    WarningIssued,
)
from codeplan.recording.trace import Trace
from codeplan.types import Answer, Call

_OWN_EVENTS: Final = (CallDecided, ApprovalAnswered, CallRepeated, CallBegun, DoubtDecided, ToolFailed, CallAnswered)
"""Events that belong to the call whose id they have."""


@dataclass
class _OpenCall:
    """A call of the plan. ``made`` is the call as it is made: somebody may have changed its arguments."""

    id: int
    call: Call
    made: Call
    site: CallSite
    is_begun: bool = False
    is_repeated: bool = False
    is_decided: bool = False


class NextAnswer(NamedTuple):
    """An answer, and the seconds between it and the one before."""

    event: CallAnswered
    seconds: float


class OpenCalls:
    """The open calls of one episode, in an environment that makes several at the same time.

    ``record`` takes the events, ``take`` those of the answers. ``take_up`` lets the environment continue a recorded
    episode; ``once`` has the answers of calls that are not made again.
    """

    def __init__(
        self,
        env: KeepsCallsOpen,
        trace: Trace,
        record: Callable[[Event], None],
        take: Callable[[CallAnswered], None],
        take_up: Callable[[], None],
        once: OnceCalls,
    ) -> None:
        self._env, self._trace, self._record, self._take = env, trace, record, take
        self._take_up, self._once = take_up, once
        self._open: dict[int, _OpenCall] = {}  # in the order in which the plan began them
        self._answered: deque[NextAnswer] = deque()
        self._recorded: set[int] = set()  # open calls that only the recording knows so far
        self._clock = 0.0

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, id: int, call: Call, site: CallSite) -> None:
        """Begin a call. Raises as ``ReplayableEnvironment.call``."""
        if not self._open and not self._answered:
            self._clock = self._trace.events[-1].at
        self._open[id] = _OpenCall(id, call, call, site)
        self._recorded.add(id)
        self._replay()
        if not self._trace.is_replaying:
            self._go_on_live()
            self._take_answers_now()

    def next_answer(self, seconds: float | None) -> NextAnswer | None:
        """Wait for the next answer; None: ``seconds`` have passed (None: no limit). Raises as ``begin``."""
        self._replay()
        if not self._answered and self._trace.is_replaying:
            self._pass_time(self._trace.next_recorded(TimePassed))
        elif not self._answered:
            self._go_on_live()
            if self._answered or self._wait(seconds):
                self._take_answers_now()
            else:
                self._pass_time(TimePassed(seconds=seconds or 0.0))
        return self._answered.popleft() if self._answered else None

    def drop(self, id: int) -> bool:
        """Drop a call that is not begun, neither here nor in the recording."""
        self._replay()
        each = self._open.get(id)
        if each is None or each.is_begun or not (id in self._recorded or self._env.drop(id)):
            return False
        self._forget(id)
        return True

    def finish(self) -> None:
        """Drop the calls that are not begun, and wait for the answers of the others."""
        self._drop_waiting()
        self._replay()
        while self._open and not self._trace.is_replaying:
            self._go_on_live()
            self._drop_waiting()
            if self._open and not self._wait(None):
                break
        self._open.clear()
        self._recorded.clear()
        self._answered.clear()

    def abandon(self) -> None:
        """Stop waiting. The calls that are being made stay in doubt."""
        self._env.leave_open()
        self._open.clear()
        self._recorded.clear()
        self._answered.clear()

    # ------------------------------------------------------------------ from the recording

    def _replay(self) -> None:
        """Take the events of open calls that come next in the recording."""
        while event := self._trace.peek_recorded(*_OWN_EVENTS, WarningIssued):
            if isinstance(event, WarningIssued):
                if not self._open:
                    return
                self._record(event)
                continue
            each = self._open.get(cast(CallBegun, event).id)
            if each is None:
                return
            self._replay_event(each, event)

    def _replay_event(self, each: _OpenCall, event: Any) -> None:
        match event:
            case CallAnswered():
                if event.answer.observation is not None:
                    raise Diverged(f"event {event.seq} is not what was recorded: it is no answer of a tool")
                self._answer(each, event)
                return
            case CallBegun():
                each.is_begun = True
                event = replace(event, call=each.made)
            case CallRepeated():
                each.is_repeated = True
            case CallDecided():
                each.is_decided = event.allowed
                if event.arguments is not None:
                    each.made = replace(each.call, arguments=event.arguments)
            case ApprovalAnswered() if event == self._trace.approval:
                each.site = each.site._replace(answer=event)
        self._record(cast(Event, event))
        if isinstance(event, CallDecided):
            raise_if_left_open(event, each.call)

    def _pass_time(self, event: TimePassed | None) -> None:
        """No call was answered in this time; None: the recording, which has further events, would say so."""
        assert event is not None, "the recording has further events"
        self._record(event)
        self._clock = self._trace.events[-1].at

    # ------------------------------------------------------------------ live

    def _go_on_live(self) -> None:
        """Have the environment make the open calls that it does not know yet; those that were begun are in doubt."""
        new = [self._open[id] for id in sorted(self._recorded)]
        self._recorded.clear()
        if not new:
            return
        self._take_up()
        in_doubt = [self._as_begun(each) for each in new if each.is_begun and not each.is_repeated]
        skipped = self._env.settle_doubts(in_doubt) if in_doubt else {}
        for each in new:
            if each.id in skipped:
                self._answer(each, CallAnswered(id=each.id, answer=skipped[each.id], seconds=0.0))
        for each in new:
            if each.id not in skipped:
                self._hand_over(each)

    def _hand_over(self, each: _OpenCall) -> None:
        """Answer a call that is not made again, or have the environment begin it."""
        known = None if each.is_begun and not each.is_repeated else self._once.find(each.call)
        if known is not None:
            if not each.is_repeated:
                self._record(CallRepeated(id=each.id, tool=each.call.name, of=known.id))
                each.is_repeated = True
            self._complete(each, known.answer, 0.0)
        elif (answer := self._env.begin(self._as_begun(each))) is not None:
            self._complete(each, answer, 0.0)

    def _as_begun(self, each: _OpenCall) -> BegunCall:
        def record(event: Event) -> None:
            each.is_begun = each.is_begun or isinstance(event, CallBegun)
            self._record(event)

        decided = each.is_decided and not each.is_begun
        return BegunCall(each.id, each.made if decided else each.call, record, each.site, self._drain, decided)

    def _wait(self, seconds: float | None) -> bool:
        """Wait for one answer and take it; False: ``seconds`` have passed, or nothing is being made."""
        ended = self._env.next_answer(seconds)
        if ended is not None:
            self._complete(self._open[ended.id], ended.answer, ended.seconds)
        return ended is not None

    def _take_answers_now(self) -> None:
        for ended in self._env.answers_now():
            self._complete(self._open[ended.id], ended.answer, ended.seconds)

    def _drain(self) -> None:
        """Wait until every call that is being made is answered."""
        while any(each.is_begun for each in self._open.values()) and self._wait(None):
            pass

    def _drop_waiting(self) -> None:
        for id in [id for id, each in self._open.items() if not each.is_begun]:
            self._env.drop(id)
            self._forget(id)

    def _complete(self, each: _OpenCall, answer: Answer, seconds: float) -> None:
        """Record an answer; a refused or repeated call never began outside, but it has a place in the trace."""
        if not each.is_begun:
            self._record(CallBegun(id=each.id, call=each.call, line=each.site.line))
        self._answer(each, CallAnswered(id=each.id, answer=answer, seconds=seconds))

    def _answer(self, each: _OpenCall, answered: CallAnswered) -> None:
        self._forget(each.id)
        self._take(answered)
        self._once.note(each.id, each.call, answered.answer, repeated=each.is_repeated)
        at = self._trace.events[-1].at
        self._answered.append(NextAnswer(answered, max(at - self._clock, 0.0)))
        self._clock = max(at, self._clock)

    def _forget(self, id: int) -> None:
        del self._open[id]
        self._recorded.discard(id)
