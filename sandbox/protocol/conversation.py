"""One table of the frames that the host and a worker may send in each state of their conversation.

The host looks up every frame that it receives and every frame that it sends. A frame that is not in the table ends the
conversation with a ProtocolError.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.frames import Frame, ProtocolError
from codeplan.untrusted.noun_phrases import with_article


class State(StrEnum):
    """The states of a conversation. The host waits for the worker in all but FORKED, READY, ASKED and ENDED."""

    FORKED = "forked"
    LOCKING = "locking down"
    READY = "ready"
    CHECKING = "checking"
    ANALYSING = "analysing"
    STARTING = "starting"
    RUNNING = "running"
    ASKED = "asked"
    ENDED = "ended"


class Sender(StrEnum):
    """The sender of a frame."""

    HOST = "host"
    WORKER = "worker"


class Condition(StrEnum):
    """The condition on the RunJob under which a frame is allowed."""

    CHECKPOINT = "only if the job has a checkpoint"
    NO_CODE = "only if the job has no compiled code"
    COVERAGE = "only if the job asks for coverage"


class Transition(NamedTuple):
    """In ``state``, ``sender`` may send ``frame``, which leads to ``next_state``; ``condition`` is None if always."""

    state: State
    sender: Sender
    frame: type[Frame]
    next_state: State
    condition: Condition | None = None


_HOST, _WORKER = Sender.HOST, Sender.WORKER

TRANSITIONS: Final = (
    Transition(State.FORKED, _HOST, frames.SetupFrame, State.LOCKING),
    Transition(State.LOCKING, _WORKER, frames.ReadyFrame, State.READY),
    Transition(State.READY, _HOST, frames.CheckJob, State.CHECKING),
    Transition(State.CHECKING, _WORKER, frames.AcceptanceFrame, State.ENDED),
    Transition(State.CHECKING, _WORKER, frames.RejectionFrame, State.ENDED),
    Transition(State.READY, _HOST, frames.AnalysisJob, State.ANALYSING),
    Transition(State.ANALYSING, _WORKER, frames.Analysis, State.ENDED),
    Transition(State.ANALYSING, _WORKER, frames.AnalysisFailed, State.ENDED),
    Transition(State.ANALYSING, _WORKER, frames.RejectionFrame, State.ENDED),
    Transition(State.READY, _HOST, frames.RunJob, State.STARTING),
    Transition(State.STARTING, _WORKER, frames.RejectionFrame, State.ENDED, Condition.NO_CODE),
    Transition(State.STARTING, _WORKER, frames.CheckpointErrorFrame, State.ENDED, Condition.CHECKPOINT),
    Transition(State.STARTING, _WORKER, frames.StartFrame, State.RUNNING),
    Transition(State.RUNNING, _WORKER, frames.StepFrame, State.RUNNING),
    Transition(State.RUNNING, _WORKER, frames.OutputFrame, State.RUNNING),
    Transition(State.RUNNING, _WORKER, frames.CoverageFrame, State.RUNNING, Condition.COVERAGE),
    Transition(State.RUNNING, _WORKER, frames.CallFrame, State.ASKED),
    Transition(State.RUNNING, _WORKER, frames.ReadFrame, State.ASKED),
    Transition(State.RUNNING, _WORKER, frames.AskFrame, State.ASKED),
    Transition(State.ASKED, _HOST, frames.ResultFrame, State.RUNNING),
    Transition(State.ASKED, _HOST, frames.ErrorFrame, State.RUNNING),
    Transition(State.RUNNING, _WORKER, frames.EndFrame, State.ENDED),
)
"""Every frame that may be sent."""

_TABLE: Final = {(t.state, t.sender, t.frame): t for t in TRANSITIONS}
_NO_CONDITIONS: Final[frozenset[Condition]] = frozenset()


class Conversation:
    """The state of one conversation. It begins with a new worker, or with a worker that is already locked down."""

    def __init__(self, state: State = State.FORKED) -> None:
        self.state = state
        self._met = _NO_CONDITIONS

    def take(self, sender: Sender, frame: Frame) -> None:
        """Go to the next state with this frame. Raises ProtocolError if ``sender`` may not send it now."""
        transition = _TABLE.get((self.state, sender, type(frame)))
        if transition is None:
            raise ProtocolError(f"the {sender} sent {with_article(type(frame).__name__)} in the state '{self.state}'")
        if transition.condition is not None and transition.condition not in self._met:
            raise ProtocolError(
                f"the {sender} sent {with_article(type(frame).__name__)}, which comes {transition.condition}"
            )
        if isinstance(frame, frames.RunJob):
            self._met = _conditions_met(frame)
        self.state = transition.next_state


def _conditions_met(job: frames.RunJob) -> frozenset[Condition]:
    met = {
        Condition.CHECKPOINT: job.checkpoint is not None,
        Condition.NO_CODE: not job.code,
        Condition.COVERAGE: job.coverage,
    }
    return frozenset(condition for condition, holds in met.items() if holds)
