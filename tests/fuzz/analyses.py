"""A worker that lies about an analysis: the host returns plain data or Rejected, or raises its own error, in time."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import time
from typing import Any

import msgspec
from frame_streams import OUT_OF_ORDER, SLACK_SECONDS, break_frame

from codeplan.errors import SandboxError, UsageError
from codeplan.sandbox import Limits
from codeplan.sandbox.host.plan_texts import build_job, run_analysis
from codeplan.sandbox.host.worker_process import WorkerProcess
from codeplan.sandbox.protocol import frames
from codeplan.types import Rejected

LIMITS = Limits(wall=0.05)

_ODD: list[Any] = [
    None,
    True,
    2**63,
    -(2**63),
    float("nan"),
    float("inf"),
    "é",
    b"x",
    {1: 2},
    {"1": 10**400, "-": 1e300},
    [[[[]]]],
    {"a": [b""]},
    [0] * 300_000,
]


def play(seed: int) -> None:
    """Play one reply to the host. Raises AssertionError where the host was misled."""
    pick = random.Random(seed)
    ours, theirs = socket.socketpair()
    with theirs:
        reply = b"".join(_reply(pick) for _ in range(pick.choice([0, 1, 1, 1, 3])))
        theirs.setblocking(False)
        _send(theirs, reply)
        if pick.random() < 0.9:
            theirs.shutdown(socket.SHUT_WR)
        _judge(WorkerProcess(ours, os.getpid(), None))
    ours.close()


def _send(sock: socket.socket, reply: bytes) -> None:
    with contextlib.suppress(BlockingIOError):
        sock.send(reply[:100_000])


def _reply(pick: random.Random) -> bytes:
    found = msgspec.json.encode(_tree(pick, 0))
    replies = [frames.Analysis(found), frames.Analysis(_broken(pick, found)), pick.choice(OUT_OF_ORDER)]
    frame = frames.pack(pick.choice(replies))
    return break_frame(pick, frame) if pick.random() < 0.4 else frame


def _broken(pick: random.Random, found: bytes) -> bytes:
    at = pick.randrange(len(found) + 1)
    junk = pick.choice([b"", b"{", b"[" * 100_000, b"9" * 5_000, b"e999", b'"\\ud800"', pick.randbytes(3)])
    return found[:at] + junk + found[at + pick.choice([0, 1, 9]) :]


def _tree(pick: random.Random, depth: int) -> Any:
    kind = pick.randrange(4 if depth < 70 else 2)
    if kind == 0:
        return pick.choice(_ODD)
    if kind == 1:
        return pick.choice([1, "a", 2.5, None])
    inner = [_tree(pick, depth + 1) for _ in range(pick.choice([0, 1, 1, 2]))]
    return inner if kind == 2 else {str(i): v for i, v in enumerate(inner)}


def _judge(worker: WorkerProcess) -> None:
    began = time.monotonic()
    try:
        found = run_analysis(worker, build_job("literals", "x", {}), LIMITS)
        assert isinstance(found, Rejected) or msgspec.json.decode(msgspec.json.encode(found)) == found
    except (SandboxError, UsageError) as error:
        assert "\n" not in str(error), repr(error)
    assert time.monotonic() - began < LIMITS.wall + SLACK_SECONDS
