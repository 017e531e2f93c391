"""Frames to and from a worker wait no longer than their deadline, whatever the worker does with its socket."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from codeplan.cancellation import Cancellation
from codeplan.sandbox.host import worker_process
from codeplan.sandbox.host.worker_process import DeadlineExceeded, WorkerDisconnected, WorkerProcess
from codeplan.sandbox.protocol.frames import AcceptanceFrame, CheckJob, PlanRow, ProtocolError, pack, unpack_host_frame
from codeplan.types import AgentApi

LARGE = CheckJob("x" * 5_000_000, AgentApi())
SMALL = CheckJob("print(1)", AgentApi())
ACCEPTED = AcceptanceFrame(PlanRow("print(1)", [], ()), b"")
Ends = tuple[WorkerProcess, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    """The host's view of a worker that has no process, and the worker's end of the socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield WorkerProcess(ours, 0, None), theirs


def test_a_worker_that_reads_nothing_is_given_up_at_the_deadline(ends: Ends) -> None:
    with pytest.raises(DeadlineExceeded):
        ends[0].send(LARGE, time.monotonic() + 0.2)


def test_a_worker_that_sends_nothing_or_half_a_frame_is_given_up_at_the_deadline(ends: Ends) -> None:
    worker, theirs = ends
    worker.send(SMALL, time.monotonic() + 5)
    for piece in (b"", b"\0\0", b"\0\1"):
        theirs.send(piece)
        with pytest.raises(DeadlineExceeded):
            worker.receive(time.monotonic() + 0.1)


def test_a_deadline_may_be_over_or_never_come(ends: Ends) -> None:
    worker, theirs = ends
    worker.send(SMALL, float("inf"))
    with pytest.raises(DeadlineExceeded):
        worker.receive(time.monotonic() - 1)
    threading.Timer(0.1, theirs.sendall, [b"\0\0\0\1\xc0"]).start()
    with pytest.raises(ProtocolError):  # it has come, and is no frame that a worker may send
        worker.receive(float("inf"))


def test_a_frame_of_many_parts_arrives_whole(ends: Ends) -> None:
    worker, theirs = ends
    found = bytearray()

    def read() -> None:
        while len(found) < 5_000_000:
            found.extend(theirs.recv(1 << 16))

    reader = threading.Thread(target=read)
    reader.start()
    worker.send(LARGE, time.monotonic() + 30)
    reader.join(30)
    assert unpack_host_frame(bytes(found[4:])) == LARGE


def test_a_worker_that_hung_up_is_disconnected(ends: Ends) -> None:
    worker, theirs = ends
    worker.send(SMALL, time.monotonic() + 5)
    theirs.close()
    with pytest.raises(WorkerDisconnected):
        worker.receive(time.monotonic() + 5)


def test_a_frame_to_a_worker_that_hung_up_is_refused(ends: Ends) -> None:
    worker, theirs = ends
    theirs.close()
    with pytest.raises(WorkerDisconnected):
        worker.send(LARGE, time.monotonic() + 5)


@pytest.fixture
def packets() -> Iterator[Ends]:
    """As ``ends``, over a socket that gives the host one of the worker's messages at a time."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        yield WorkerProcess(ours, 0, None), theirs


def test_a_worker_that_sends_single_bytes_without_pause_is_given_up_at_the_deadline(packets: Ends) -> None:
    worker, theirs = packets
    worker.send(SMALL, time.monotonic() + 5)
    for byte in pack(ACCEPTED):
        theirs.send(bytes([byte]))
    with pytest.raises(DeadlineExceeded):
        worker.receive(time.monotonic() - 1, soon=True)


@pytest.mark.parametrize("soon", [False, True])
def test_a_worker_that_sends_without_pause_does_not_keep_its_thread_from_being_cancelled(
    packets: Ends, soon: bool
) -> None:
    worker, theirs = packets
    worker.send(SMALL, time.monotonic() + 5)
    theirs.send(pack(ACCEPTED))
    cancellation = Cancellation()
    cancellation.cancel()
    with cancellation.in_force(), pytest.raises(KeyboardInterrupt):
        worker.receive(time.monotonic() + 5, soon=soon)


def test_where_a_worker_runs_is_asked_only_after_polls_that_find_nothing_and_four_times_at_most(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, _ = ends
    asked: list[int] = []
    monkeypatch.setattr(worker_process, "leave_processor_of", asked.append)

    def receive(soon: bool) -> None:
        with pytest.raises((DeadlineExceeded, ProtocolError)):
            worker.receive(time.monotonic() + 0.01, soon=soon)

    receive(soon=False)
    assert asked == []
    for times in (1, 2, 3, 4, 4, 4):
        receive(soon=True)
        assert asked == [worker.pid] * times


def test_where_a_worker_runs_is_not_asked_if_polling_finds_its_frame(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, theirs = ends
    monkeypatch.setattr(worker_process, "leave_processor_of", pytest.fail)
    worker.send(SMALL, time.monotonic() + 5)
    theirs.send(pack(ACCEPTED))
    assert worker.receive(time.monotonic() + 5, soon=True) == ACCEPTED
