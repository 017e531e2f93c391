"""The port of a worker that reads a plan's text, in a cage or without one."""

from __future__ import annotations

from typing import Protocol

from codeplan.sandbox.host.worker_end import WorkerEnd
from codeplan.sandbox.protocol.frames import Frame, WorkerFrame


class WorkerDisconnected(Exception):
    """The worker closed its end of the connection: it exited, was killed, or closed its socket. ``find_end`` says
    which.
    """


class DeadlineExceeded(Exception):
    """The deadline of a send or a receive passed. The worker keeps running until the host kills it."""


class TextWorker(Protocol):
    """Takes one job about a plan's text and answers it."""

    def set_max_frame(self, max_bytes: int) -> None:
        """Accept frames of up to ``max_bytes`` from now on."""

    def send(self, frame: Frame, deadline: float) -> None:
        """Send a frame before ``deadline`` (monotonic seconds).

        Raises DeadlineExceeded, WorkerDisconnected, and ProtocolError if the conversation has no place for the frame.
        """

    def receive(self, deadline: float) -> WorkerFrame:
        """Receive the next frame. Raises DeadlineExceeded, WorkerDisconnected, ProtocolError."""

    def find_end(self) -> WorkerEnd:
        """Why the worker closed its connection."""
