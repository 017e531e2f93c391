"""A worker that lies about a check: the host returns a plan of the source it sent, or a refusal, in time."""

from __future__ import annotations

import os
import random
import socket
import time
from typing import Any

import msgspec
from frame_streams import OUT_OF_ORDER, SLACK_SECONDS, break_frame

from codeplan.sandbox import Limits
from codeplan.sandbox.host.locked_backend import LockedBackend
from codeplan.sandbox.host.worker_process import WorkerProcess
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.limits import MAX_DIAGNOSTIC_CHARS, MAX_DIAGNOSTICS, MAX_NAME_CHARS
from codeplan.types import AgentApi, Plan, Rejected

LIMITS = Limits(wall=0.05)
SOURCE = "".join(f"line {k} = f'{{x}}'\n" for k in range(1, 21))
LINES = SOURCE.count("\n") + 1


def play(seed: int) -> None:
    """Play one answer to the host. Raises AssertionError where the host was misled."""
    pick = random.Random(seed)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        theirs.send(_answer(pick)[:100_000])
        if pick.random() < 0.95:
            theirs.shutdown(socket.SHUT_WR)
        began = time.monotonic()
        worker = WorkerProcess(ours, os.getpid(), None)
        judge(LockedBackend(LIMITS).texts.exchange_check(worker, frames.CheckJob(SOURCE, AgentApi())))
        assert time.monotonic() - began < LIMITS.wall + SLACK_SECONDS


def judge(found: Plan | Rejected) -> None:
    """Assert that the host believes no more than a correct worker may say."""
    if isinstance(found, Rejected):
        assert 1 <= len(found.diagnostics) <= MAX_DIAGNOSTICS
        assert all(0 <= d.line <= LINES + 1 and len(d.message) <= MAX_DIAGNOSTIC_CHARS for d in found.diagnostics)
        return
    assert found.source.replace('"', "'") == SOURCE
    assert [s.number for s in found.steps] == list(range(1, len(found.steps) + 1))
    lines = [line for s in found.steps for line in (s.line, s.end_line)]
    assert all(1 <= line <= LINES for line in lines)
    assert lines == sorted(lines)
    for step in found.steps:
        assert len(step.title) <= MAX_NAME_CHARS
        assert len(step.digest) == 16
        assert all(name.isidentifier() and len(name) <= MAX_NAME_CHARS for name in (*step.needs, *step.sets))


def _answer(pick: random.Random) -> bytes:
    if pick.random() < 0.1:
        frame = frames.pack(pick.choice(OUT_OF_ORDER))
    else:
        made = _acceptance(pick) if pick.random() < 0.8 else _refusal(pick)
        body = msgspec.msgpack.encode(made)
        frame = len(body).to_bytes(frames.HEADER_BYTES, "big") + body
    return break_frame(pick, frame) if pick.random() < 0.2 else frame


def _acceptance(pick: random.Random) -> list[Any]:
    source = SOURCE if pick.random() < 0.9 else pick.choice([SOURCE.replace("'", '"'), SOURCE + " ", "", SOURCE[1:]])
    steps = [_step(pick, k) for k in range(1, pick.randrange(1, 9))]
    return ["AcceptanceFrame", [source, steps, _names(pick)], b"code"]


def _step(pick: random.Random, number: int) -> list[Any]:
    step: list[Any] = [number, 2 * number, 2 * number + 1, "title", "0" * 16, _names(pick), _names(pick)]
    if pick.random() < 0.05:
        odd = [0, -1, 1, 3, 22, 2**63, "x" * 201, "g" * 16, "", None, ["a b"], [""], ["n" * 201], [1], {}, b"x", 1.5]
        step[pick.randrange(len(step))] = pick.choice(odd)
    return step


def _names(pick: random.Random) -> list[Any]:
    return pick.sample(["a", "é", "_", "name_2", "x" * 200], pick.randrange(4))


def _refusal(pick: random.Random) -> list[Any]:
    rows: list[Any] = [
        [pick.choice([0, 1, 21, 22]), pick.choice([0, 1]), "size", "no"] for _ in range(pick.choice([1, 1, 1, 100]))
    ]
    if pick.random() < 0.5:
        odd = [-1, 23, 10**7, "", "X", "x" * 1_001, "\x1b[2J", None, [], b"x"]
        rows[-1][pick.randrange(4)] = pick.choice(odd)
    return ["RejectionFrame", rows * pick.choice([1, 1, 2])]
