"""A side looks for a frame a few times, takes what has come, and never waits."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from codeplan.sandbox.protocol.frames import MAX_LOOKS, SOON_SECONDS, USUAL_LOOKS, PatientReceiver, receive_soon

PRINT_LOOKS = """
import socket
from codeplan.sandbox.protocol.frames import receive_soon
class Counting(socket.socket):
    looks = 0
    def recv(self, most, flags):
        self.looks += 1
        return super().recv(most, flags)
ours, theirs = socket.socketpair()
counting = Counting(fileno=ours.detach())
receive_soon(counting, 1)
print(counting.looks)
"""
MANY = len(os.sched_getaffinity(0)) > 1


class LateSocket(socket.socket):
    """A socket whose other end sends only after some looks."""

    looks = 0

    def recv(self, most: int, flags: int = 0) -> bytes:
        self.looks += 1
        if self.looks == self.send_at:
            self.other.send(b"frame")
        return super().recv(most, flags)

    send_at = 0
    other: socket.socket


def late_socket(send_at: int) -> LateSocket:
    ours, theirs = socket.socketpair()
    late = LateSocket(fileno=ours.detach())
    late.send_at, late.other = send_at, theirs
    return late


def test_what_comes_during_the_looks_is_taken_and_what_comes_later_is_not():
    usual = USUAL_LOOKS if MANY else 1
    for send_at, expected in ((1, b"frame"), (usual, b"frame"), (usual + 1, None)):
        with late_socket(send_at) as late, late.other:
            assert receive_soon(late, 100) == expected
            assert late.looks == min(send_at, usual)


def test_no_more_is_taken_than_asked_for_and_a_closed_end_is_no_silence():
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            assert receive_soon(ours, 3) is None
            theirs.send(b"frame")
            assert receive_soon(ours, 3) == b"fra"
            assert receive_soon(ours, 3) == b"me"
        assert receive_soon(ours, 3) == b""


def test_with_one_processor_a_side_looks_once():
    def looks(processors: set[int]) -> str:
        limited = f"import os; os.sched_setaffinity(0, {processors})\n{PRINT_LOOKS}"
        return subprocess.run(
            [sys.executable, "-c", limited], capture_output=True, text=True, check=True
        ).stdout.strip()

    mine = os.sched_getaffinity(0)
    assert looks({min(mine)}) == "1"
    if len(mine) > 1:
        assert looks(mine) == str(USUAL_LOOKS) == "30"


@contextmanager
def patient_receiver(naps: list[float]) -> Iterator[tuple[PatientReceiver, LateSocket]]:
    """A receiver whose sleeps last so many seconds, each of the naps once."""

    def sleep(most: int) -> bytes:
        time.sleep(naps.pop(0))
        return b"slept"

    with late_socket(0) as late, late.other:
        yield PatientReceiver(late, sleep), late


def looks_of(receiver: PatientReceiver, late: LateSocket) -> int:
    late.looks = 0
    assert receiver.receive(100) == b"slept"
    return late.looks


def test_a_side_looks_longer_after_a_short_sleep_and_no_longer_after_a_long_one():
    with patient_receiver([0.0] * 1_000 + [10 * SOON_SECONDS, 0.0]) as (receiver, late):
        counts = [looks_of(receiver, late) for _ in range(1_000)]
        assert counts[0] == (USUAL_LOOKS if MANY else 1)
        assert max(counts) == (MAX_LOOKS if MANY else 1)  # on a busy machine, some short sleeps are long
        looks_of(receiver, late)
        assert looks_of(receiver, late) == counts[0]


def test_what_is_found_by_looking_is_taken_without_a_sleep():
    with patient_receiver([]) as (receiver, late):
        late.other.send(b"frame")
        assert receiver.receive(3) == b"fra"
        assert receiver.receive(100) == b"me"
        late.other.close()
        assert receiver.receive(100) == b""
