"""A worker that lies: streams of frames, many of them broken, played to the host's side of a run over a real socket.

The host must end every run with an outcome, in time, and must believe nothing that it was not told in proper form.
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

from codeplan.sandbox.host.agent_port import AgentPort
from codeplan.sandbox.host.process import WorkerProcess
from codeplan.sandbox.host.session import GRACE_SECONDS, RunSession
from codeplan.sandbox.limits import Limits
from codeplan.sandbox.protocol import frames as wire
from codeplan.sandbox.protocol.codec import CheckpointError, decode, encode
from codeplan.testing.samples.home import SampleHome
from codeplan.types.plan import Checkpoint, Diagnostic, Plan, Rejected, Step
from codeplan.types.run import Failed, Finished, Stopped

LIMITS = Limits(
    wall=0.05, output=900, calls=12, reads=10, asks=6, call_bytes=400, ask_bytes=100, checkpoint_bytes=2_000
)
PLAN = Plan("def solution(agent, start_from=1):\n    pass\n" * 3, (Step(1, 2, 2, "a", ""), Step(2, 4, 4, "b", "")))
SLACK_SECONDS = 2.0

Outcome = Finished | Failed | Stopped | Rejected


class Listening(WorkerProcess):
    """The host's end of a worker, with a memory of what it understood."""

    heard: list[Any]

    def receive(self, deadline: float) -> wire.WorkerFrame:
        frame = super().receive(deadline)
        self.heard.append(frame)
        return frame


class Liar:
    """One stream of frames, made from a seed: mostly well-formed at first, then anything."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.silent = self._random.random() < 0.1
        self.frames = self._frames()

    def _frames(self) -> list[bytes]:
        pick = self._random
        frames = [wire.pack(wire.StartFrame())] if pick.random() < 0.95 else []
        broken = pick.random()
        for _ in range(pick.randrange(1, 60)):
            frame = wire.pack(pick.choice(_FRAMES)(pick))
            frames.append(break_frame(pick, frame) if pick.random() < broken * 0.1 else frame)
        if pick.random() < 0.5:
            frames.append(wire.pack(_end(pick)))
        return frames

    def play(self, sock: socket.socket, over: threading.Event) -> None:
        """Send the stream, read and forget the answers, and then hang up, or wait in silence."""
        rest = b"".join(self.frames)
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


def _table(pick: random.Random) -> wire.CheckpointTable:
    values: dict[str, object] = {"x": [1, "é", None], "y": (2.5, b"z"), "n": pick.randrange(2**70), "s": {1, 2}}
    names = pick.sample(sorted(values), pick.randrange(4))
    table = wire.CheckpointTable.from_checkpoint(encode({n: values[n] for n in names}, 1_000))
    if pick.random() < 0.1:
        odd: list[Any] = [["list", 9], ["tuple", 0], ["int", "x"], float("inf"), 2**60, ["deque:3", 0, 0, 0, 0], []]
        return wire.CheckpointTable({"x": pick.randrange(4)}, [*table.nodes, pick.choice(odd)], {"d": "lost"})
    return table


def _call(pick: random.Random) -> wire.Frame:
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
    return wire.CallFrame(method, pick.choice(args), pick.choice([{}, {}, {"k": None}, {"receptacle": "x"}]))


def _end(pick: random.Random) -> wire.Frame:
    status: Any = pick.choice(["finished", "failed", "stopped"])
    error = pick.choice(["", "ValueError", "wall", "turns", "checkpoint_bytes", "__class__"])
    amount = pick.choice([0.0, 3.5, 1e18])
    table = _table(pick) if pick.random() < 0.9 else None
    return wire.EndFrame(
        status, pick.choice([None, 1, 2, 77]), pick.choice([None, 1, 10**6]), error, "no", amount, 0.1, table
    )


_FRAMES: list[Callable[[random.Random], wire.Frame]] = [
    lambda pick: wire.StepFrame(
        pick.choice([1, 1, 2, 2, 2, 3]) if pick.random() < 0.1 else pick.choice([1, 2]), _table(pick)
    ),
    lambda pick: wire.CoverageFrame([(0, pick.choice([1, 10**6]))]),
    lambda pick: wire.OutputFrame(pick.choice(["a", "line\n", "é" * 30, "x" * 200])),
    lambda pick: wire.OutputFrame("b"),
    _call,
    lambda pick: wire.CallFrame("goto", ["shelf 1"], {}),
    lambda pick: wire.CallFrame("odd", [pick.choice(["KeyError", "AgentError", "self", "huge", "numbers"])], {}),
    lambda pick: wire.ReadFrame(
        pick.choice(["holding", "receptacles", "_secret", "act"]) if pick.random() < 0.2 else "holding"
    ),
    lambda pick: wire.AskFrame("why?" * pick.choice([1, 1, 1, 40])),
    lambda pick: _end(pick) if pick.random() < 0.1 else wire.OutputFrame("c"),
    lambda pick: pick.choice(OUT_OF_ORDER) if pick.random() < 0.1 else wire.OutputFrame("d"),
]
OUT_OF_ORDER: list[wire.Frame] = [
    wire.ReadyFrame([]),
    wire.StartFrame(),
    wire.AcceptanceFrame(PLAN, b"code"),
    wire.Analysis(b"[1]"),
    wire.AnalysisFailed("no", invalid_job=True),
    wire.RejectionFrame([Diagnostic(1, 1, "x", "no")]),
    wire.CheckpointErrorFrame("damaged"),
]

# ------------------------------------------------------------------ ways to break one


def _flip(pick: random.Random, frame: bytes) -> bytes:
    at = pick.randrange(len(frame))
    return frame[:at] + bytes([frame[at] ^ (1 << pick.randrange(8))]) + frame[at + 1 :]


def _flip_body(pick: random.Random, frame: bytes) -> bytes:
    return frame[: wire.HEADER_BYTES] + _flip(pick, frame[wire.HEADER_BYTES :])


def _length(pick: random.Random, frame: bytes) -> bytes:
    length = pick.choice([0, 1, 2**31, 2**32 - 1, len(frame), 2_000_000])
    return length.to_bytes(wire.HEADER_BYTES, "big") + frame[wire.HEADER_BYTES :]


def _junk(pick: random.Random, frame: bytes) -> bytes:
    return _framed(pick.randbytes(pick.choice([0, 1, 30, 3_000])))


def _deep(pick: random.Random, frame: bytes) -> bytes:
    return _framed(pick.choice([b"\x91", b"\x94\xa4Call\xa4goto", b"\x81\xa1a"]) * pick.choice([10, 2_000, 100_000]))


def _other_value(pick: random.Random, frame: bytes) -> bytes:
    """The frame with one of its values replaced by one of another kind."""
    body = msgspec.msgpack.decode(frame[wire.HEADER_BYTES :])
    at = pick.randrange(len(body))
    body[at] = pick.choice(
        [None, True, -1, 2**63, 2**64 - 1, 1e300, float("nan"), "", "x" * 9_000, b"\0", [], {}, [[[[]]]], {1: 2}]
    )
    if pick.random() < 0.2:
        body.append(1)
    return _framed(msgspec.msgpack.encode(body))


def _framed(body: bytes) -> bytes:
    return len(body).to_bytes(wire.HEADER_BYTES, "big") + body


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
    """Play one stream to the host; returns how many frames it took in. Raises AssertionError where it was misled."""
    liar, home, asked, printed = Liar(seed), SampleHome(print), list[str](), list[Any]()
    ours, theirs = socket.socketpair()
    worker = Listening(ours, os.getpid(), None)
    worker.heard = []
    over = threading.Event()
    thread = threading.Thread(target=liar.play, args=(theirs, over))

    def ask(question: str) -> str:
        asked.append(question)
        return "yes"

    thread.start()
    began = time.monotonic()
    try:
        port = AgentPort(home, ask)
        saved = encode({"x": 1}, 1_000) if seed % 2 else None
        job = wire.RunJob(PLAN.source, port.methods, port.attributes, 1, saved, 0, LIMITS)
        outcome: Outcome | CheckpointError = RunSession(worker, PLAN, port, LIMITS, printed.append).run(job)
    except CheckpointError as error:
        assert job.checkpoint is not None, "damaged is a checkpoint that nobody gave"
        outcome = error
    finally:
        took = time.monotonic() - began
        ours.close()
        over.set()
        thread.join()
    assert took < LIMITS.wall + GRACE_SECONDS + SLACK_SECONDS, f"it took {took:.1f} s"
    judge(outcome, worker.heard, home, asked)
    return len(worker.heard) + 1


def judge(outcome: Outcome | CheckpointError, heard: list[Any], home: SampleHome, asked: list[str]) -> None:
    """Assert that the outcome says no more than what was heard in proper form, and that no limit was passed."""
    assert len(home.history) <= LIMITS.calls
    assert len(asked) <= LIMITS.asks
    assert home.holding is None
    assert home.receptacles == ["shelf 1", "desk 1"]
    last = heard[-1] if heard else None
    if isinstance(outcome, CheckpointError):
        assert isinstance(heard[0], wire.CheckpointErrorFrame)
        return
    if isinstance(outcome, Rejected):
        assert last is None or (len(heard) == 1 and isinstance(last, wire.RejectionFrame))
        return
    if isinstance(outcome, Finished | Failed):
        assert isinstance(last, wire.EndFrame)
        assert last.status == ("finished" if isinstance(outcome, Finished) else "failed")
    if isinstance(outcome, Stopped) and outcome.checkpoint is not None:
        assert isinstance(last, wire.EndFrame)
        assert last.status == "stopped"
    begun = heard if heard and isinstance(heard[0], wire.StartFrame) else []
    _judge_amounts(outcome, begun)
    _judge_saved(outcome, begun)
    assert "CANARY" not in msgspec.json.encode(outcome).decode()


def _judge_amounts(outcome: Finished | Failed | Stopped, heard: list[Any]) -> None:
    text = "".join(f.text for f in heard if isinstance(f, wire.OutputFrame))
    assert outcome.output == text[: LIMITS.output]
    assert outcome.usage.output == len(outcome.output)
    assert outcome.usage.calls == sum(isinstance(f, wire.CallFrame) for f in heard) <= LIMITS.calls + 1
    assert outcome.usage.asks == sum(isinstance(f, wire.AskFrame) for f in heard) <= LIMITS.asks + 1
    assert 0 <= outcome.usage.wall < LIMITS.wall + GRACE_SECONDS + SLACK_SECONDS


def _judge_saved(outcome: Finished | Failed | Stopped, heard: list[Any]) -> None:
    entered = [f.step for f in heard if isinstance(f, wire.StepFrame) and PLAN.step(f.step) and _is_whole(f.table)]
    assert list(outcome.entries) == list(dict.fromkeys(entered))
    assert outcome.step in (None, *entered)
    for checkpoint in [outcome.checkpoint, *outcome.entries.values()]:
        if checkpoint is not None:
            assert read(checkpoint) == read(msgspec.json.decode(msgspec.json.encode(checkpoint), type=Checkpoint))


def _is_whole(table: wire.CheckpointTable) -> bool:
    try:
        decode(table.to_checkpoint())
    except CheckpointError:
        return False
    return True


def read(checkpoint: Checkpoint) -> str:
    """A checkpoint's variables as text. Raises CheckpointError where it is damaged."""
    return repr(decode(checkpoint))


def fuzz_frames(frames: int, seed: int = 0) -> int:
    """Play streams until the host has taken in so many frames; returns how many runs that were."""
    taken = runs = 0
    while taken < frames:
        try:
            taken += play(seed + runs)
        except Exception as error:
            raise AssertionError(f"the stream of seed {seed + runs} misled the host: {error!r}") from error
        runs += 1
    return runs
