"""The frames between the host and a worker: typed, tagged, length-prefixed msgpack with a maximum size.

The host trusts no frame: it caps each before reading it, checks each against its type, and accepts it only in a state
of the conversation that allows it (``WorkerConversation``).

Plain data in a frame: a scalar stands for itself, anything else is the JSON of its packed form, as a tuple of bytes.
The packed form and its limits are those of ``codeplan.plain_data``; unpacking always creates a copy. JSON has texts
alone as keys, so that decoding hashes nothing that a plan can choose to have one hash.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from codeplan import plain_data
from codeplan.plain_data import MAX_VALUES, NotPlainData
from codeplan.sandbox.protocol.codec import MAX_NAMES, MAX_NODES, MAX_REASON_CHARS, Node
from codeplan.sandbox.protocol.forms import Form
from codeplan.sandbox.protocol.limits import (
    MAX_ARCS,
    MAX_CODE_BYTES,
    MAX_DIAGNOSTIC_CHARS,
    MAX_DIAGNOSTICS,
    MAX_MESSAGE_CHARS,
    MAX_NAME_CHARS,
    MAX_REPORTED,
    MAX_STEPS,
    Limits,
    shorten,
)
from codeplan.sandbox.protocol.plain_data import MAX_ANALYSIS_BYTES
from codeplan.types import AgentApi, Checkpoint, Diagnostic, Plan, Step
from codeplan.untrusted.texts import escape_surrogates as escape_surrogates
from codeplan.untrusted.texts import is_utf8, parser_reason, with_article, with_count

HALF_PAIR: Final = "half of a surrogate pair, which is not text; remove it"
"""What a plan may not give to an agent, in words that follow "was given"."""

SCALAR_TYPES: Final = frozenset({type(None), str, bool, int, float})

Crossing: TypeAlias = bool | int | float | str | tuple[bytes] | None
"""A value in a frame."""

_INT64_BOUND: Final = 2**63
_AT_ONCE: Final = frozenset({type(None), bool, float})
_HALF_PAIR_MARK: Final = b'{"$text":'  # within a text, JSON writes \\" for a quotation mark


def pack_value(value: object) -> Crossing:
    """A value as it stands in a frame. Subclasses of plain types become those types. Raises: NotPlainData."""
    kind = type(value)
    if kind in _AT_ONCE:
        return value  # type: ignore[return-value]
    if isinstance(value, str) and kind is str and is_utf8(value):
        return value
    if isinstance(value, int) and kind is int and -_INT64_BOUND <= value < _INT64_BOUND:
        return value
    return (msgspec.json.encode(plain_data.pack(value)),)


def unpack_value(packed: Crossing) -> object:
    """The value in a frame. Raises: NotPlainData for anything that ``pack_value`` never produces."""
    if type(packed) is not tuple:
        return packed
    try:
        return plain_data.unpack(msgspec.json.decode(packed[0]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NotPlainData("an unknown form") from None


def holds_half_pair(packed: Crossing) -> bool:
    """Whether a value in a frame holds a text with half of a surrogate pair, which is not Unicode."""
    return type(packed) is tuple and _HALF_PAIR_MARK in packed[0]


MAX_OPEN_CALLS: Final = 1_000
"""Maximum number of calls that are begun and not answered; a worker waits for an answer before it begins another."""

MAX_WAIT_SECONDS: Final = 1e6
"""The longest time for which a worker asks to wait; longer sleeps end at the limit ``wall`` at once."""

MAX_POSITION: Final = 1_000_000  # largest line and column; a worker parses no more than 64,000 bytes
MAX_STEP_NAMES: Final = 14_000  # maximum number of names that one step needs or sets: no plan has more nodes
DIGEST_CHARS: Final = 16
_MARK_CHARS: Final = 50  # room for the mark that says how much of a message is missing

_Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS)]
_Position: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_POSITION)]
_Line: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=MAX_POSITION)]
_Names: TypeAlias = Annotated[tuple[_Name, ...], msgspec.Meta(max_length=MAX_STEP_NAMES)]

_Rule: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z-]{0,49}\Z")]


class DiagnosticRow(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One reason of a refusal (see ``Diagnostic``)."""

    line: _Position
    column: _Position
    rule: _Rule
    message: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_DIAGNOSTIC_CHARS)]

    def to_diagnostic(self) -> Diagnostic:
        """The diagnostic of this row."""
        return Diagnostic(self.line, self.column, self.rule, self.message)


DiagnosticRows: TypeAlias = Annotated[list[DiagnosticRow], msgspec.Meta(min_length=1, max_length=MAX_DIAGNOSTICS)]

WarningRows: TypeAlias = Annotated[list[DiagnosticRow], msgspec.Meta(max_length=MAX_DIAGNOSTICS)]


class StepRow(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One step of a checked plan (see ``Step``)."""

    number: Annotated[int, msgspec.Meta(ge=1, le=MAX_STEPS)]
    line: _Line
    end_line: _Line
    title: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]
    digest: Annotated[str, msgspec.Meta(pattern=rf"^[0-9a-f]{{{DIGEST_CHARS}}}\Z")]
    needs: _Names
    sets: _Names
    replan_line: _Line | None = None

    @classmethod
    def from_step(cls, s: Step) -> StepRow:
        """The row of a step."""
        return cls(s.number, s.line, s.end_line, s.title, s.digest, s.needs, s.sets, s.replan_line)

    def to_step(self) -> Step:
        """The step of this row."""
        fields = (self.number, self.line, self.end_line, self.title, self.digest, self.needs, self.sets)
        return Step(*fields, self.replan_line)


class PlanRow(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A checked plan (see ``Plan``). The host verifies it against the source that it sent."""

    source: str
    steps: Annotated[list[StepRow], msgspec.Meta(max_length=MAX_STEPS)]
    provides: _Names
    warnings: WarningRows = []
    start_from: Annotated[int, msgspec.Meta(ge=2, le=MAX_STEPS)] | None = None
    needs: _Names = ()
    kept: _Names = ()

    @classmethod
    def from_plan(cls, plan: Plan) -> PlanRow:
        """The row of a plan."""
        steps = [StepRow.from_step(s) for s in plan.steps]
        warnings = diagnostic_rows(plan.warnings)
        start = plan.start_from if plan.start_from is not None and plan.start_from <= MAX_STEPS else None
        return cls(plan.source, steps, plan.provides, warnings, start, plan.needs, plan.kept)

    def to_plan(self) -> Plan:
        """The plan of this row."""
        steps = tuple(row.to_step() for row in self.steps)
        warnings = tuple(row.to_diagnostic() for row in self.warnings)
        return Plan(self.source, steps, self.provides, (), warnings, self.start_from, self.needs, self.kept)


def diagnostic_rows(diagnostics: Iterable[Diagnostic]) -> list[DiagnosticRow]:
    """The rows of a refusal or of warnings, within their caps.

    Long messages are cut, and the last row counts those left out.
    """
    every = list(diagnostics)
    rows = [_row(d) for d in every[:MAX_DIAGNOSTICS]]
    if len(every) > MAX_DIAGNOSTICS:
        missing = len(every) - MAX_DIAGNOSTICS + 1
        rows[-1] = DiagnosticRow(
            0, 0, "size", f"the plan has {with_count(missing, 'more problem')}; write it shorter and simpler"
        )
    return rows


def _row(diagnostic: Diagnostic) -> DiagnosticRow:
    message = shorten(escape_surrogates(diagnostic.message), MAX_DIAGNOSTIC_CHARS - _MARK_CHARS)
    return DiagnosticRow(_clamp(diagnostic.line), _clamp(diagnostic.column), diagnostic.rule, message)


def _clamp(position: int) -> int:
    return max(0, min(position, MAX_POSITION))


OPTIONAL_LAYERS: Final = ("user-namespace", "mount-namespace", "network-namespace", "ipc-namespace", "pid-namespace")
"""The optional layers, which many machines do not allow. All other layers are necessary."""


class Layer(msgspec.Struct, frozen=True):
    """One layer of the cage on this machine. ``detail`` describes it, or says why it is missing."""

    name: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]
    present: bool
    detail: Annotated[str, msgspec.Meta(max_length=MAX_MESSAGE_CHARS)]

    @property
    def optional(self) -> bool:
        """Whether plans run without this layer."""
        return self.name in OPTIONAL_LAYERS


HEADER_BYTES: Final = 4
MAX_LAYERS: Final = 50
_Message: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_MESSAGE_CHARS + 100)]
_Reason: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_REASON_CHARS)]
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Number: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
_StepNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
_Amount: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=MAX_REPORTED)]


class ProtocolError(Exception):
    """A frame is too long, damaged, or of no known type."""


class Frame(msgspec.Struct, frozen=True, array_like=True, tag=True, forbid_unknown_fields=True):
    """Base of all frames."""


class CheckpointTable(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A checkpoint in a frame. Its nodes are type-checked when the frame is unpacked."""

    names: Annotated[dict[_Name, _Count], msgspec.Meta(max_length=MAX_NAMES)]
    nodes: Annotated[list[Node], msgspec.Meta(max_length=MAX_NODES)]
    dropped: Annotated[dict[_Name, _Reason], msgspec.Meta(max_length=MAX_NAMES + 1)]

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint) -> CheckpointTable:
        """The table of a checkpoint."""
        return cls(checkpoint.names, checkpoint.nodes, checkpoint.dropped)

    def to_checkpoint(self) -> Checkpoint:
        """The checkpoint of this table."""
        return Checkpoint(self.names, self.nodes, self.dropped)


# ------------------------------------------------------------------ between the host and a zygote

REQUEST_FORMAT: Final = struct.Struct(">cI")  # an operation and a number
REPLY_FORMAT: Final = struct.Struct(">iI")  # an error number (0 for none; for ``s`` the wait status) and the pid
READY_MESSAGE: Final = b"ready\n"
REFUSED_IMPORT: Final = b"!"  # begins the zygote's message if the user named a package that it cannot load
"""The first message on the control socket; any other first message says why the start failed."""

UNKNOWN_STATUS: Final = -1  # the wait status of an unknown worker

# ------------------------------------------------------------------ from the host


class SetupFrame(Frame, frozen=True):
    """Lock yourself down: bytes of memory, seconds of processor time, elapsed seconds."""

    memory: int
    cpu: float
    wall: float


class CheckJob(Frame, frozen=True):
    """Check this source against this API.

    ``kept`` are the variables of the run before: the next run starts with them, or without them if it ``starts_over``.
    """

    source: str
    api: AgentApi
    kept: _Names = ()
    starts_over: bool = False


class RunJob(Frame, frozen=True):
    """Run this source. ``code`` is its compiled form from an earlier check, or empty; ``kept`` is that of the plan.

    The run's clock begins at ``started``, in Unix time; ``waits`` says whether it sleeps, which a replay need not.
    """

    source: str
    methods: frozenset[str]
    attributes: frozenset[str]
    start_from: int
    checkpoint: Checkpoint | None
    seed: int
    limits: Limits
    coverage: bool = False
    code: bytes = b""
    kept: _Names = ()
    started: float = 0.0
    waits: bool = True


class AnalysisJob(Frame, frozen=True):
    """Analyse this source; ``topic`` is a name in ``analysis.topics``."""

    topic: str
    source: str
    arguments: dict[str, Any]


class ResultFrame(Frame, frozen=True):
    """The packed result of a call, a read or a question (see ``values``)."""

    value: Crossing


class ErrorFrame(Frame, frozen=True):
    """The call, read or question failed; the plan may see the message, in the built-in exception named ``error``."""

    message: str
    error: str = "RuntimeError"


class AnswerFrame(Frame, frozen=True):
    """The end of a wait, after this many ``seconds``: the answer of the open call ``number``, or 0: no call was
    answered within the time.

    ``value`` is as in ResultFrame. If ``error`` is not empty, it and ``message`` are as in ErrorFrame.
    """

    number: int
    seconds: float
    value: Crossing = None
    error: str = ""
    message: str = ""


HostFrame: TypeAlias = SetupFrame | CheckJob | AnalysisJob | RunJob | ResultFrame | ErrorFrame | AnswerFrame

# ------------------------------------------------------------------ from the worker


class ReadyFrame(Frame, frozen=True):
    """The worker is locked down by these layers and has seen nothing of the plan."""

    layers: Annotated[list[Layer], msgspec.Meta(max_length=MAX_LAYERS)]


class AcceptanceFrame(Frame, frozen=True):
    """The source is a plan. Only another worker can read ``code``, which is empty if it is too long."""

    plan: PlanRow
    code: Annotated[bytes, msgspec.Meta(max_length=MAX_CODE_BYTES)]


class RejectionFrame(Frame, frozen=True):
    """The source is not a plan, for these reasons."""

    diagnostics: DiagnosticRows


class Analysis(Frame, frozen=True):
    """The findings of an analysis as JSON: decoding JSON hashes nothing but texts. They should be plain data."""

    findings: Annotated[bytes, msgspec.Meta(max_length=MAX_ANALYSIS_BYTES)]


class AnalysisFailed(Frame, frozen=True):
    """The analysis failed. ``invalid_job`` means that the topic or the arguments were wrong."""

    message: _Message
    invalid_job: bool


class CheckpointErrorFrame(Frame, frozen=True):
    """The worker cannot read the checkpoint to start from."""

    message: _Message


class StartFrame(Frame, frozen=True):
    """The plan is compiled and its variables are restored; its code runs next."""


class StepFrame(Frame, frozen=True):
    """The plan enters a step with these variables."""

    step: _StepNumber
    table: CheckpointTable


class OutputFrame(Frame, frozen=True):
    """The plan printed this text."""

    text: Annotated[str, msgspec.Meta(min_length=1)]


class CoverageFrame(Frame, frozen=True):
    """Pairs of plan lines that ran one after the other, each reported once; line 0 is outside the function."""

    arcs: Annotated[list[tuple[_Count, _Count]], msgspec.Meta(min_length=1, max_length=MAX_ARCS)]


class CallFrame(Frame, frozen=True):
    """The plan calls an agent method with packed arguments (see ``values``).

    ``line`` is the plan's line that makes the call; None if it is unknown.
    """

    method: _Name
    args: Annotated[list[Crossing], msgspec.Meta(max_length=MAX_VALUES)]
    kwargs: Annotated[dict[_Name, Crossing], msgspec.Meta(max_length=MAX_VALUES)]
    line: _Line | None = None


class BeginFrame(Frame, frozen=True):
    """The plan begins a call of an agent method and does not wait for it: the host sends nothing in reply.

    ``number`` counts these calls of the run from 1. The rest is as in CallFrame.
    """

    number: _Number
    method: _Name
    args: Annotated[list[Crossing], msgspec.Meta(max_length=MAX_VALUES)]
    kwargs: Annotated[dict[_Name, Crossing], msgspec.Meta(max_length=MAX_VALUES)]
    line: _Line | None = None


class WaitFrame(Frame, frozen=True):
    """The plan waits for the next answer of any open call, or until ``seconds`` have passed; None: without a limit.

    Without an open call it sleeps for this time. The host replies with an AnswerFrame.
    """

    seconds: Annotated[float, msgspec.Meta(ge=0, le=MAX_WAIT_SECONDS)] | None


class CancelFrame(Frame, frozen=True):
    """The plan no longer wants the open call ``number``. The host replies whether it was dropped: it was not made."""

    number: _Number


class ReadFrame(Frame, frozen=True):
    """The plan reads an agent attribute."""

    attribute: _Name


class AskFrame(Frame, frozen=True):
    """The plan asks the model, about packed ``data`` if there is one.

    The answer to a question without a form is a text. With a ``form`` it is the packed list ``["known", value]``,
    ``["unknown"]`` or ``["wrong", why]``; ``wrong`` is that reason when the worker asks again.
    """

    question: str
    data: Annotated[list[Crossing], msgspec.Meta(max_length=1)] = []
    form: Form | None = None
    wrong: Annotated[str, msgspec.Meta(max_length=MAX_MESSAGE_CHARS)] = ""

    @property
    def size(self) -> int:
        """The bytes of what the plan gave."""
        form = 0 if self.form is None else packed_size(self.form)
        return len(self.question.encode()) + form + sum(map(packed_size, self.data))


class EndFrame(Frame, frozen=True):
    """The run is over. ``step`` and ``line`` are None if outside all steps or unknown.

    ``error`` names the exception or, for ``"stopped"``, the limit; ``value`` is the amount reached of that limit;
    ``message`` is the error's, or the reason of ``"replan"`` and ``"give_up"``. ``cpu`` is in seconds. ``table`` is
    None if there was no memory left to save the variables. ``step_done``, only for ``"replan"``, claims that the call
    was the last statement of the step's block. ``returned`` has the value of a plan that finished, under RETURNED_NAME;
    None for a plan that returned nothing.
    """

    status: Literal["finished", "failed", "stopped", "replan", "give_up"]
    step: _StepNumber | None
    line: _Count | None
    error: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]
    message: _Message
    value: _Amount
    cpu: _Amount
    table: CheckpointTable | None
    step_done: bool = False
    returned: CheckpointTable | None = None


_Conclusion: TypeAlias = AcceptanceFrame | RejectionFrame | Analysis | AnalysisFailed | CheckpointErrorFrame | EndFrame
_Progress: TypeAlias = ReadyFrame | StartFrame | StepFrame | OutputFrame | CoverageFrame
_Question: TypeAlias = CallFrame | ReadFrame | AskFrame | BeginFrame | WaitFrame | CancelFrame
WorkerFrame: TypeAlias = _Conclusion | _Progress | _Question

encode_frame: Final = msgspec.msgpack.Encoder().encode  # of a frame, or of anything else that is plain data
_host_decoder: Final[msgspec.msgpack.Decoder[HostFrame]] = msgspec.msgpack.Decoder(HostFrame)
_worker_decoder: Final[msgspec.msgpack.Decoder[WorkerFrame]] = msgspec.msgpack.Decoder(WorkerFrame)


def pack(frame: Frame) -> bytes:
    """Encode a frame with its length in front."""
    body = encode_frame(frame)
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def packed_size(value: object) -> int:
    """The size of a value as msgpack, in bytes."""
    return len(encode_frame(value))


def unpack_host_frame(body: bytes) -> HostFrame:
    """Decode a frame from the host. Raises ProtocolError."""
    frame: HostFrame = _decode(_host_decoder, body)
    return frame


def unpack_worker_frame(body: bytes) -> WorkerFrame:
    """Decode a frame from a worker and check it against its type. Raises ProtocolError."""
    frame: WorkerFrame = _decode(_worker_decoder, body)
    return frame


def _decode(decoder: msgspec.msgpack.Decoder[Any], body: bytes) -> Any:
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError) as error:
        raise ProtocolError(f"a frame is not of a known form ({parser_reason(error)})") from None


class FrameAssembler:
    """Cuts a stream of bytes into frames of at most ``max_bytes``."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.left = bytearray()  # received, and not cut yet

    def next_body(self, received: bytes = b"") -> bytes | None:
        """The next frame without its length, with the bytes ``received`` added; None if incomplete.

        Raises: ProtocolError: it is too long.
        """
        self.left += received
        if len(self.left) < HEADER_BYTES:
            return None
        end = HEADER_BYTES + int.from_bytes(self.left[:HEADER_BYTES], "big")
        if end - HEADER_BYTES > self.max_bytes:
            raise ProtocolError(f"a frame of {end - HEADER_BYTES:,} bytes, but the maximum is {self.max_bytes:,}")
        if len(self.left) < end:
            return None
        frame = bytes(self.left[HEADER_BYTES:end])
        del self.left[:end]
        return frame

    def next_worker_frame(self, received: bytes = b"") -> WorkerFrame | None:
        """The next frame of a worker; None if incomplete. Raises: ProtocolError: it is too long, or of another form."""
        body = self.next_body(received)
        return None if body is None else unpack_worker_frame(body)


class State(StrEnum):
    """The states of a conversation. The host waits in all but FORKED, READY, ASKED, WAITING and ENDED."""

    FORKED = "forked"
    LOCKING = "locking down"
    READY = "ready"
    CHECKING = "checking"
    ANALYSING = "analysing"
    STARTING = "starting"
    RUNNING = "running"
    ASKED = "asked"
    WAITING = "waiting for an answer"
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
    Transition(State.FORKED, _HOST, SetupFrame, State.LOCKING),
    Transition(State.LOCKING, _WORKER, ReadyFrame, State.READY),
    Transition(State.READY, _HOST, CheckJob, State.CHECKING),
    Transition(State.CHECKING, _WORKER, AcceptanceFrame, State.ENDED),
    Transition(State.CHECKING, _WORKER, RejectionFrame, State.ENDED),
    Transition(State.READY, _HOST, AnalysisJob, State.ANALYSING),
    Transition(State.ANALYSING, _WORKER, Analysis, State.ENDED),
    Transition(State.ANALYSING, _WORKER, AnalysisFailed, State.ENDED),
    Transition(State.ANALYSING, _WORKER, RejectionFrame, State.ENDED),
    Transition(State.READY, _HOST, RunJob, State.STARTING),
    Transition(State.STARTING, _WORKER, RejectionFrame, State.ENDED, Condition.NO_CODE),
    Transition(State.STARTING, _WORKER, CheckpointErrorFrame, State.ENDED, Condition.CHECKPOINT),
    Transition(State.STARTING, _WORKER, StartFrame, State.RUNNING),
    Transition(State.RUNNING, _WORKER, StepFrame, State.RUNNING),
    Transition(State.RUNNING, _WORKER, OutputFrame, State.RUNNING),
    Transition(State.RUNNING, _WORKER, CoverageFrame, State.RUNNING, Condition.COVERAGE),
    Transition(State.RUNNING, _WORKER, CallFrame, State.ASKED),
    Transition(State.RUNNING, _WORKER, ReadFrame, State.ASKED),
    Transition(State.RUNNING, _WORKER, AskFrame, State.ASKED),
    Transition(State.RUNNING, _WORKER, CancelFrame, State.ASKED),
    Transition(State.ASKED, _HOST, ResultFrame, State.RUNNING),
    Transition(State.ASKED, _HOST, ErrorFrame, State.RUNNING),
    Transition(State.RUNNING, _WORKER, BeginFrame, State.RUNNING),
    Transition(State.RUNNING, _WORKER, WaitFrame, State.WAITING),
    Transition(State.WAITING, _HOST, AnswerFrame, State.RUNNING),
    Transition(State.RUNNING, _WORKER, EndFrame, State.ENDED),
)
"""Every frame that may be sent."""

_TABLE: Final = {(t.state, t.sender, t.frame): t for t in TRANSITIONS}
_NO_CONDITIONS: Final[frozenset[Condition]] = frozenset()


class WorkerConversation:
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
        if isinstance(frame, RunJob):
            self._met = _conditions_met(frame)
        self.state = transition.next_state


def _conditions_met(job: RunJob) -> frozenset[Condition]:
    met = {
        Condition.CHECKPOINT: job.checkpoint is not None,
        Condition.NO_CODE: not job.code,
        Condition.COVERAGE: job.coverage,
    }
    return frozenset(condition for condition, holds in met.items() if holds)


USUAL_LOOKS: Final = 30
"""How often a side polls for the other's frame before it sleeps; together the polls last as long as a quick call."""

MAX_LOOKS: Final = 100
"""Maximum number of polls while the other side's frames arrive soon after the usual polls."""

SOON_SECONDS: Final = 0.0003
"""After a sleep shorter than this, more polls would have found the frame sooner than the wake-up did."""


def receive_soon(sock: socket.socket, most: int, looks: int = USUAL_LOOKS) -> bytes | None:
    """Up to ``most`` bytes that are there or arrive during this many polls of a microsecond each; None if none arrive.

    The bytes are empty if the other side is gone. Raises OSError.
    """
    for _ in range(looks if _may_look else 1):
        try:
            return sock.recv(most, socket.MSG_DONTWAIT)
        except BlockingIOError:
            pass
    return None


class PatientReceiver:
    """Receives from a socket, and sleeps only if polling finds nothing.

    It polls up to MAX_LOOKS times while the other side answers soon, and USUAL_LOOKS times after a long sleep, so
    waiting for a slow tool takes no processor time. ``sleep`` waits for bytes and receives up to the given number.
    """

    def __init__(self, sock: socket.socket, sleep: Callable[[int], bytes]) -> None:
        self._socket, self._sleep = sock, sleep
        self._looks = USUAL_LOOKS

    def receive(self, most: int) -> bytes:
        """Up to ``most`` bytes; none if the other side is gone. Raises OSError."""
        data = receive_soon(self._socket, most, self._looks)
        if data is None:
            began = time.monotonic()
            data = self._sleep(most)
            self._looks = MAX_LOOKS if time.monotonic() - began < SOON_SECONDS else USUAL_LOOKS
        return data


def _count_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_may_look: Final = _count_processors() > 1
"""With one processor, the other side can work only while this side sleeps."""
