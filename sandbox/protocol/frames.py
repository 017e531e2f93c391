"""The frames between the host and a worker: typed, tagged, length-prefixed msgpack with a maximum size.

The host trusts no frame: it caps each before reading it, checks each against its type, and accepts it only in a state
of the conversation that allows it (see ``conversation``).
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from codeplan.sandbox.limits import MAX_ARCS, MAX_CODE_BYTES, MAX_MESSAGE_CHARS, MAX_NAME_CHARS, MAX_REPORTED, Limits
from codeplan.sandbox.protocol.cage_layers import Layer
from codeplan.sandbox.protocol.checkpoint_table import MAX_NAMES, MAX_NODES, MAX_REASON_CHARS
from codeplan.sandbox.protocol.codec import Node
from codeplan.sandbox.protocol.plain_data import MAX_ANALYSIS_BYTES
from codeplan.sandbox.protocol.plan_rows import DiagnosticRows, PlanRow
from codeplan.sandbox.protocol.values import MAX_VALUES, Crossing
from codeplan.types import AgentApi, Checkpoint
from codeplan.untrusted.terminal import parser_reason

HEADER_BYTES: Final = 4
MAX_LAYERS: Final = 50
_Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS)]
_Message: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_MESSAGE_CHARS + 100)]
_Reason: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_REASON_CHARS)]
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
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


# ------------------------------------------------------------------ from the host


class SetupFrame(Frame, frozen=True):
    """Lock yourself down: bytes of memory, seconds of processor time, elapsed seconds."""

    memory: int
    cpu: float
    wall: float


class CheckJob(Frame, frozen=True):
    """Check this source against this API."""

    source: str
    api: AgentApi


class RunJob(Frame, frozen=True):
    """Run this source. ``code`` is its compiled form from an earlier check, or empty."""

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
    """Analyse this source; ``topic`` is a name in ``analysis.topics``."""

    topic: str
    source: str
    arguments: dict[str, Any]


class ResultFrame(Frame, frozen=True):
    """The packed result of a call, a read or a question (see ``values``)."""

    value: Any


class ErrorFrame(Frame, frozen=True):
    """The call, read or question failed; the plan may see the message, in the built-in exception named ``error``."""

    message: str
    error: str = "RuntimeError"


HostFrame: TypeAlias = SetupFrame | CheckJob | AnalysisJob | RunJob | ResultFrame | ErrorFrame

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
    """The plan calls an agent method with packed arguments (see ``values``)."""

    method: _Name
    args: Annotated[list[Crossing], msgspec.Meta(max_length=MAX_VALUES)]
    kwargs: Annotated[dict[_Name, Crossing], msgspec.Meta(max_length=MAX_VALUES)]


class ReadFrame(Frame, frozen=True):
    """The plan reads an agent attribute."""

    attribute: _Name


class AskFrame(Frame, frozen=True):
    """The plan asks the model."""

    question: str


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
WorkerFrame: TypeAlias = _Conclusion | _Progress | CallFrame | ReadFrame | AskFrame

_encoder: Final = msgspec.msgpack.Encoder()
_host_decoder: Final[msgspec.msgpack.Decoder[HostFrame]] = msgspec.msgpack.Decoder(HostFrame)
_worker_decoder: Final[msgspec.msgpack.Decoder[WorkerFrame]] = msgspec.msgpack.Decoder(WorkerFrame)


def pack(frame: Frame) -> bytes:
    """Encode a frame with its length in front."""
    body = _encoder.encode(frame)
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def packed_size(value: object) -> int:
    """The size of a value as msgpack, in bytes."""
    return len(_encoder.encode(value))


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
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        """Add received bytes."""
        self._bytes += data

    def next_body(self) -> bytes | None:
        """The next frame without its length; None if incomplete. Raises ProtocolError if it is too long."""
        if len(self._bytes) < HEADER_BYTES:
            return None
        end = HEADER_BYTES + int.from_bytes(self._bytes[:HEADER_BYTES], "big")
        if end - HEADER_BYTES > self.max_bytes:
            raise ProtocolError(f"a frame of {end - HEADER_BYTES:,} bytes, but the maximum is {self.max_bytes:,}")
        if len(self._bytes) < end:
            return None
        frame = bytes(self._bytes[HEADER_BYTES:end])
        del self._bytes[:end]
        return frame
