"""A side looks for a frame a few times, takes what has come, and never waits."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from codeplan.sandbox.protocol.quick_looks import MAX_LOOKS, receive_soon

PRINT_LOOKS = "from codeplan.sandbox.protocol import quick_looks; print(quick_looks._looks)"


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
    usual = MAX_LOOKS if len(os.sched_getaffinity(0)) > 1 else 1
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
        limited = f"import os; os.sched_setaffinity(0, {processors}); {PRINT_LOOKS}"
        return subprocess.run(
            [sys.executable, "-c", limited], capture_output=True, text=True, check=True
        ).stdout.strip()

    mine = os.sched_getaffinity(0)
    assert looks({min(mine)}) == "1"
    if len(mine) > 1:
        assert looks(mine) == str(MAX_LOOKS) == "30"
