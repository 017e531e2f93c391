"""A worker that lies: it sends streams of frames, many of them broken, to the host's side of a run over a real socket.

The host must end every run in time with an outcome, and must believe only what well-formed frames say.
"""

from __future__ import annotations

import os
import random
import select
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec
from support.sample_worlds import SampleHome

from codeplan.sandbox import Limits, decode, encode
from codeplan.sandbox.host.agent_port import AgentPort, RunAccount
from codeplan.sandbox.host.locked_backend import GRACE_SECONDS, RunSession
from codeplan.sandbox.host.worker_process import WorkerProcess
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.codec import CheckpointError
from codeplan.sandbox.protocol.forms import Choice, Fields, ListOf, Scalar
from codeplan.sandbox.protocol.frames import PlanRow, diagnostic_rows
from codeplan.types import Checkpoint, Diagnostic, Failed, Finished, Plan, Rejected, Step, Stopped

LIMITS = Limits(
    wall=0.05, output=900, calls=12, reads=10, asks=6, call_bytes=400, ask_bytes=100, checkpoint_bytes=2_000
)
PLAN = Plan("pass\n" * 60, tuple(Step(k, k, k, "a title", "0" * 16) for k in range(1, 60)))
SLACK_SECONDS = 10.0
"""A busy machine may stop this process for seconds; without the limit on time, a silent worker is waited for so long."""

Outcome = Finished | Failed | Stopped | Rejected


class RecordingWorker(WorkerProcess):
    """The host's end of a worker, which records the frames that it accepted."""

    received: list[Any]

    def receive(self, deadline: float, *, soon: bool = False) -> frames.WorkerFrame:
        frame = super().receive(deadline, soon=soon)
        self.received.append(frame)
        return frame


class LyingWorker:
    """One stream of frames from a seed: mostly well-formed at first, then anything."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.silent = self._random.random() < 0.1
        self.stream = self._frames()

    def _frames(self) -> list[bytes]:
        pick = self._random
        stream = [frames.pack(frames.StartFrame())] if pick.random() < 0.95 else []
        broken, step = pick.random(), 0
        for _ in range(pick.randrange(1, 60)):
            made = pick.choice(_FRAME_MAKERS)(pick)
            if isinstance(made, frames.StepFrame) and pick.random() < 0.95:
                step += pick.choice([1, 1, 2])
                made = msgspec.structs.replace(made, step=step)
            frame = frames.pack(made)
            stream.append(break_frame(pick, frame) if pick.random() < broken * 0.1 else frame)
        if pick.random() < 0.5:
            stream.append(frames.pack(_end(pick)))
        return stream

    def play(self, sock: socket.socket, over: threading.Event) -> None:
        """Send the stream, discard the answers, then hang up or wait in silence."""
        rest = b"".join(self.stream)
        sock.setblocking(False)
        try:
            while rest:
                readable, writable, _ = select.select([sock], [sock], [], 1.0)
                if readable and not sock.recv(1 << 16):
                    return
                if writable:
                    rest = rest[sock.send(rest[: 1 << 16]) :]
            if self.silent:
                over.wait(SLACK_SECONDS)
            sock.setblocking(True)
            sock.shutdown(socket.SHUT_WR)
            while sock.recv(1 << 16):
                pass
        except OSError:
            pass
        finally:
            sock.close()


# ------------------------------------------------------------------ frames that a worker may send


def _table(pick: random.Random) -> frames.CheckpointTable:
    values: dict[str, object] = {"x": [1, "é", None], "y": (2.5, b"z"), "n": pick.randrange(2**70), "s": {1, 2}}
    names = pick.sample(sorted(values), pick.randrange(4))
    table = frames.CheckpointTable.from_checkpoint(encode({n: values[n] for n in names}, 1_000))
    if pick.random() < 0.1:
        odd: list[Any] = [["list", 9], ["tuple", 0], ["int", "x"], float("inf"), 2**60, ["deque:3", 0, 0, 0, 0], []]
        return frames.CheckpointTable({"x": pick.randrange(4)}, [*table.nodes, pick.choice(odd)], {"d": "lost"})
    return table


def _call(pick: random.Random) -> frames.Frame:
    args: list[Any] = [
        ["desk 1"],
        [["list", 1, 2]],
        [["dict", "a"]],
        [],
        [["int", hex(2**70)]],
        ["x" * pick.choice((1, 500))],
    ]
    bad = pick.random() < 0.1
    method = pick.choice(["_secret", "__class__", "fly", "", "act"] if bad else ["goto", "echo", "odd", "report"])
    return frames.CallFrame(method, pick.choice(args), pick.choice([{}, {}, {"k": None}, {"receptacle": "x"}]))


def _end(pick: random.Random) -> frames.Frame:
    status: Any = pick.choice(["finished", "failed", "stopped"])
    error = pick.choice(["", "ValueError", "wall", "turns", "checkpoint_bytes", "__class__"])
    amount = pick.choice([0.0, 3.5, 1e18])
    table = _table(pick) if pick.random() < 0.9 else None
    return frames.EndFrame(
        status, pick.choice([None, 1, 2, 77]), pick.choice([None, 1, 10**6]), error, "no", amount, 0.1, table
    )


_FRAME_MAKERS: list[Callable[[random.Random], frames.Frame]] = [
    lambda pick: frames.StepFrame(pick.choice([0, -1, 1, 2, 60, 2**53]), _table(pick)),
    lambda pick: frames.CoverageFrame([(0, pick.choice([1, 10**6]))]),
    lambda pick: frames.OutputFrame(pick.choice(["a", "line\n", "é" * 30, "x" * 200])),
    lambda pick: frames.OutputFrame("b"),
    _call,
    lambda pick: frames.CallFrame("goto", ["shelf 1"], {}),
    lambda pick: frames.CallFrame(
        "odd", [pick.choice(["typed KeyError", "AgentError", "self", "huge", "numbers"])], {}
    ),
    lambda pick: frames.ReadFrame(
        pick.choice(["holding", "receptacles", "_secret", "act"]) if pick.random() < 0.2 else "holding"
    ),
    lambda pick: frames.BeginFrame(pick.choice([1, 1, 2, 3, 4]), pick.choice(["goto", "fly"]), ["desk 1"], {}),
    lambda pick: frames.WaitFrame(pick.choice([None, None, 0.0, 0.01])),
    lambda pick: frames.CancelFrame(pick.choice([1, 2, 2**53])) if pick.random() < 0.3 else frames.OutputFrame("e"),
    lambda pick: frames.AskFrame("why?" * pick.choice([1, 1, 1, 40])),
    lambda pick: frames.AskFrame("why?", [pick.choice([None, "x" * 90, (b'{"a":1}',)])], pick.choice(FORMS), "no"),
    lambda pick: _end(pick) if pick.random() < 0.1 else frames.OutputFrame("c"),
    lambda pick: pick.choice(OUT_OF_ORDER) if pick.random() < 0.1 else frames.OutputFrame("d"),
]
FORMS = [None, Scalar("int"), ListOf(Scalar("str")), Fields({"a": Choice(("x" * 50, None))})]
OUT_OF_ORDER: list[frames.Frame] = [
    frames.ReadyFrame([]),
    frames.StartFrame(),
    frames.AcceptanceFrame(PlanRow.from_plan(PLAN), b"code"),
    frames.Analysis(b"[1]"),
    frames.AnalysisFailed("no", invalid_job=True),
    frames.RejectionFrame(diagnostic_rows([Diagnostic(1, 1, "x", "no")])),
    frames.CheckpointErrorFrame("damaged"),
]

# ------------------------------------------------------------------ ways to break one


def _flip(pick: random.Random, frame: bytes) -> bytes:
    at = pick.randrange(len(frame))
    return frame[:at] + bytes([frame[at] ^ (1 << pick.randrange(8))]) + frame[at + 1 :]


def _flip_body(pick: random.Random, frame: bytes) -> bytes:
    return frame[: frames.HEADER_BYTES] + _flip(pick, frame[frames.HEADER_BYTES :])


def _length(pick: random.Random, frame: bytes) -> bytes:
    length = pick.choice([0, 1, 2**31, 2**32 - 1, len(frame), 2_000_000])
    return length.to_bytes(frames.HEADER_BYTES, "big") + frame[frames.HEADER_BYTES :]


def _junk(pick: random.Random, frame: bytes) -> bytes:
    return _framed(pick.randbytes(pick.choice([0, 1, 30, 3_000])))


def _deep(pick: random.Random, frame: bytes) -> bytes:
    return _framed(pick.choice([b"\x91", b"\x94\xa4Call\xa4goto", b"\x81\xa1a"]) * pick.choice([10, 2_000, 100_000]))


def _other_value(pick: random.Random, frame: bytes) -> bytes:
    """The frame with one of its values replaced by one of another kind."""
    body = msgspec.msgpack.decode(frame[frames.HEADER_BYTES :])
    at = pick.randrange(len(body))
    body[at] = pick.choice(
        [None, True, -1, 2**63, 2**64 - 1, 1e300, float("nan"), "", "x" * 9_000, b"\0", [], {}, [[[[]]]], {1: 2}]
    )
    if pick.random() < 0.2:
        body.append(1)
    return _framed(msgspec.msgpack.encode(body))


def _framed(body: bytes) -> bytes:
    return len(body).to_bytes(frames.HEADER_BYTES, "big") + body


_BREAKS: list[Callable[[random.Random, bytes], bytes]] = [
    _flip,
    _flip_body,
    _length,
    _junk,
    _deep,
    _other_value,
    _other_value,
    lambda pick, frame: frame[: pick.randrange(len(frame))],
    lambda pick, frame: frame + frame[: pick.randrange(len(frame))],
    lambda pick, frame: frame * 3,
    lambda pick, frame: frame[::-1],
]


def break_frame(pick: random.Random, frame: bytes) -> bytes:
    """The frame, broken in one way or another."""
    return pick.choice(_BREAKS)(pick, frame)


# ------------------------------------------------------------------ playing a stream, and judging


def play(seed: int) -> int:
    """Play one stream to the host and return how many frames it accepted. Raises AssertionError if it was misled."""
    worker_end, home, asked, printed = LyingWorker(seed), SampleHome(print), list[str](), list[Any]()
    ours, theirs = socket.socketpair()
    worker = RecordingWorker(ours, os.getpid(), None)
    worker.received = []
    over = threading.Event()
    thread = threading.Thread(target=worker_end.play, args=(theirs, over))

    def ask(question: str) -> str:
        asked.append(question)
        return "yes"

    thread.start()
    began = time.monotonic()
    try:
        port = AgentPort(home, ask)
        saved = encode({"x": 1}, 1_000) if seed % 2 else None
        job = frames.RunJob(PLAN.source, port.methods, port.attributes, 1, saved, 0, LIMITS)
        outcome: Outcome | CheckpointError = RunSession(worker, RunAccount(PLAN, port, LIMITS, printed.append)).run(job)
    except CheckpointError as error:
        assert job.checkpoint is not None, "the host reports a damaged checkpoint, but there was none"
        outcome = error
    finally:
        took = time.monotonic() - began
        ours.close()
        over.set()
        thread.join()
    assert took < LIMITS.wall + GRACE_SECONDS + SLACK_SECONDS, f"it took {took:.1f} s"
    judge(outcome, worker.received, home, asked)
    return len(worker.received) + 1


def judge(outcome: Outcome | CheckpointError, received: list[Any], home: SampleHome, asked: list[str]) -> None:
    """Assert that the outcome says no more than the well-formed frames, and that no limit was exceeded."""
    assert len(home.history) <= LIMITS.calls
    assert len(asked) <= LIMITS.asks
    assert home.holding is None
    assert home.receptacles == ["shelf 1", "desk 1"]
    last = received[-1] if received else None
    if isinstance(outcome, CheckpointError):
        assert isinstance(received[0], frames.CheckpointErrorFrame)
        return
    if isinstance(outcome, Rejected):
        assert last is None or (len(received) == 1 and isinstance(last, frames.RejectionFrame))
        return
    if isinstance(outcome, Finished | Failed):
        assert isinstance(last, frames.EndFrame)
        assert last.status == ("finished" if isinstance(outcome, Finished) else "failed")
    if isinstance(outcome, Stopped) and outcome.checkpoint is not None:
        assert isinstance(last, frames.EndFrame)
        assert last.status == "stopped"
    begun = received if received and isinstance(received[0], frames.StartFrame) else []
    _judge_amounts(outcome, begun)
    _judge_saved(outcome, begun)
    assert "CANARY" not in msgspec.json.encode(outcome).decode()


def _judge_amounts(outcome: Finished | Failed | Stopped, received: list[Any]) -> None:
    text = "".join(f.text for f in received if isinstance(f, frames.OutputFrame))
    assert outcome.output == text[: LIMITS.output]
    assert outcome.usage.output == len(outcome.output)
    calls = sum(isinstance(f, frames.CallFrame | frames.BeginFrame) for f in received)
    assert calls - 1 <= outcome.usage.calls <= calls <= LIMITS.calls + 1  # the last may be one that was refused
    assert outcome.usage.asks == sum(isinstance(f, frames.AskFrame) for f in received) <= LIMITS.asks + 1
    assert 0 <= outcome.usage.wall < LIMITS.wall + GRACE_SECONDS + SLACK_SECONDS


def _judge_saved(outcome: Finished | Failed | Stopped, received: list[Any]) -> None:
    entered = [f.step for f in received if isinstance(f, frames.StepFrame) and PLAN.step(f.step) and _is_whole(f.table)]
    refused = isinstance(received[-1], frames.StepFrame) if received else False
    if refused and entered and list(outcome.entries) == entered[:-1]:
        entered.pop()  # the frame that ended the run
    assert list(outcome.entries) == sorted(set(entered)) == entered
    assert outcome.step in (None, *entered)
    for checkpoint in [outcome.checkpoint, *outcome.entries.values()]:
        if checkpoint is not None:
            assert read(checkpoint) == read(msgspec.json.decode(msgspec.json.encode(checkpoint), type=Checkpoint))


def _is_whole(table: frames.CheckpointTable) -> bool:
    try:
        decode(table.to_checkpoint())
    except CheckpointError:
        return False
    return True


def read(checkpoint: Checkpoint) -> str:
    """A checkpoint's variables as text. Raises CheckpointError where it is damaged."""
    return repr(decode(checkpoint))
