"""The frames between the host and a worker: typed, tagged, length-prefixed msgpack, and capped.

The host trusts no frame: each is bounded before it is read and checked against its type before it is looked at.
A run goes: Setup →, ← Ready, then one job →. A RunJob is answered by Refused, Damaged or Started; after Started come
any number of Entered, Printed, Covered (where the job asks for it), Call, Read and Ask (the last three are each
answered by Answer or Raised), and one End. A CheckJob is answered by Checked or Refused, a StudyJob by Studied,
Refused or Unstudied.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from codeplan.sandbox.limits import MAX_ARCS, MAX_MESSAGE_CHARS, MAX_NAME_CHARS, MAX_REPORTED, Limits
from codeplan.sandbox.protocol.codec import Node
from codeplan.sandbox.protocol.layers import Layer
from codeplan.sandbox.protocol.table import MAX_NAMES, MAX_NODES, MAX_REASON_CHARS
from codeplan.sandbox.protocol.values import Crossing
from codeplan.types.agent import AgentApi
from codeplan.types.plan import Checkpoint, Diagnostic, Plan

HEADER_BYTES: Final = 4
_Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS)]
_Message: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_MESSAGE_CHARS + 100)]
_Reason: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_REASON_CHARS)]
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Amount: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=MAX_REPORTED)]


class ProtocolError(Exception):
    """A frame that is too long, damaged, or not of a known form."""


class Frame(msgspec.Struct, frozen=True, array_like=True, tag=True, forbid_unknown_fields=True):
    """Base of all frames."""


class CheckpointTable(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A checkpoint as it travels: the nodes' form is checked on the way in."""

    names: Annotated[dict[_Name, _Count], msgspec.Meta(max_length=MAX_NAMES)]
    nodes: Annotated[list[Node], msgspec.Meta(max_length=MAX_NODES)]
    dropped: Annotated[dict[_Name, _Reason], msgspec.Meta(max_length=MAX_NAMES + 1)]

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint) -> CheckpointTable:
        """The checkpoint, ready to travel."""
        return cls(checkpoint.names, checkpoint.nodes, checkpoint.dropped)

    def to_checkpoint(self) -> Checkpoint:
        """The checkpoint again."""
        return Checkpoint(self.names, self.nodes, self.dropped)


# ------------------------------------------------------------------ from the host


class SetupFrame(Frame, frozen=True):
    """Lock yourself in: bytes of memory, seconds of processor time and by the clock."""

    memory: int
    cpu: float
    wall: float


class CheckJob(Frame, frozen=True):
    """Check this source against this API."""

    source: str
    api: AgentApi


class RunJob(Frame, frozen=True):
    """Run this source. ``code`` is what a worker compiled it to when it was checked; empty where none did."""

    source: str
    methods: frozenset[str]
    attributes: frozenset[str]
    start_from: int
    checkpoint: Checkpoint | None
    seed: int
    limits: Limits
    coverage: bool = False
    code: bytes = b""


class AnalysisJob(Frame, frozen=True):
    """Study this source: ``topic`` is a name in ``language.studies``."""

    topic: str
    source: str
    arguments: dict[str, Any]


class ResultFrame(Frame, frozen=True):
    """The result of a call, a read or an ask, in the form of ``crossing``."""

    value: Any


class ErrorFrame(Frame, frozen=True):
    """The call, read or ask failed; the message is fit for the plan."""

    message: str


HostFrame: TypeAlias = SetupFrame | CheckJob | AnalysisJob | RunJob | ResultFrame | ErrorFrame

# ------------------------------------------------------------------ from the worker


class ReadyFrame(Frame, frozen=True):
    """Locked in, by these layers; nothing of the plan has been seen yet."""

    layers: list[Layer]


class AcceptanceFrame(Frame, frozen=True):
    """The source is a plan, and compiles to this code, which only another worker can read."""

    plan: Plan
    code: bytes


class RejectionFrame(Frame, frozen=True):
    """The source is no plan, for these reasons."""

    diagnostics: Annotated[list[Diagnostic], msgspec.Meta(min_length=1, max_length=1_000)]


class Analysis(Frame, frozen=True):
    """What a study found, as JSON: whoever reads that hashes nothing but texts. Plain data, or so it should be."""

    findings: bytes


class AnalysisFailed(Frame, frozen=True):
    """The study came to nothing, for this reason; ``misused`` says that the job asked for what cannot be."""

    message: _Message
    invalid_job: bool


class CheckpointErrorFrame(Frame, frozen=True):
    """The checkpoint to start from cannot be read."""

    message: _Message


class StartFrame(Frame, frozen=True):
    """The plan is compiled and its variables restored; from here on its code runs."""


class StepFrame(Frame, frozen=True):
    """A step begins, with these variables."""

    step: Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
    table: CheckpointTable


class OutputFrame(Frame, frozen=True):
    """The plan printed this."""

    text: Annotated[str, msgspec.Meta(min_length=1)]


class CoverageFrame(Frame, frozen=True):
    """Pairs of lines of the plan that ran one after the other, each told once; line 0 is outside the function."""

    arcs: Annotated[list[tuple[_Count, _Count]], msgspec.Meta(min_length=1, max_length=MAX_ARCS)]


class CallFrame(Frame, frozen=True):
    """The plan calls a method of the agent; arguments in the form of ``crossing``."""

    method: str
    args: list[Crossing]
    kwargs: dict[str, Crossing]


class ReadFrame(Frame, frozen=True):
    """The plan reads an attribute of the agent."""

    attribute: str


class AskFrame(Frame, frozen=True):
    """The plan asks a question."""

    question: str


class EndFrame(Frame, frozen=True):
    """The run is over. ``step`` and ``line`` say where, None where it was outside all steps or is not known.

    ``error`` names the exception, or for ``"stopped"`` the limit; ``value`` is what was reached of that limit;
    ``cpu`` is in seconds. ``table`` is None where there was no memory left to save the variables in.
    """

    status: Literal["finished", "failed", "stopped"]
    step: Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)] | None
    line: _Count | None
    error: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]
    message: _Message
    value: _Amount
    cpu: _Amount
    table: CheckpointTable | None


WorkerFrame: TypeAlias = (
    ReadyFrame
    | AcceptanceFrame
    | Analysis
    | AnalysisFailed
    | RejectionFrame
    | CheckpointErrorFrame
    | StartFrame
    | StepFrame
    | OutputFrame
    | CoverageFrame
    | CallFrame
    | ReadFrame
    | AskFrame
    | EndFrame
)

_encoder: Final = msgspec.msgpack.Encoder()
_host_decoder: Final[msgspec.msgpack.Decoder[HostFrame]] = msgspec.msgpack.Decoder(HostFrame)
_worker_decoder: Final[msgspec.msgpack.Decoder[WorkerFrame]] = msgspec.msgpack.Decoder(WorkerFrame)


def pack(frame: Frame) -> bytes:
    """The frame with its length in front."""
    body = _encoder.encode(frame)
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def packed_size(value: object) -> int:
    """The bytes that a value takes on the way."""
    return len(_encoder.encode(value))


def unpack_host_frame(body: bytes) -> HostFrame:
    """The host's frame. Raises ProtocolError."""
    frame: HostFrame = _decode(_host_decoder, body)
    return frame


def unpack_worker_frame(body: bytes) -> WorkerFrame:
    """The worker's frame, checked against its type. Raises ProtocolError."""
    frame: WorkerFrame = _decode(_worker_decoder, body)
    return frame


def _decode(decoder: msgspec.msgpack.Decoder[Any], body: bytes) -> Any:
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError) as error:
        raise ProtocolError(f"a frame is not of a known form ({error})") from None


class FrameAssembler:
    """Cuts a stream of bytes into frames; ``most`` is the length of the longest that is taken."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        """Add what has arrived."""
        self._bytes += data

    def next_body(self) -> bytes | None:
        """The next whole frame, without its length; None until it is all there. Raises ProtocolError for one too
        long.
        """
        if len(self._bytes) < HEADER_BYTES:
            return None
        end = HEADER_BYTES + int.from_bytes(self._bytes[:HEADER_BYTES], "big")
        if end - HEADER_BYTES > self.max_bytes:
            raise ProtocolError(f"a frame of {end - HEADER_BYTES:,} bytes, where {self.max_bytes:,} are the most")
        if len(self._bytes) < end:
            return None
        frame = bytes(self._bytes[HEADER_BYTES:end])
        del self._bytes[:end]
        return frame
