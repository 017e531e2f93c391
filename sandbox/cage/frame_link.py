"""A worker's connection to its host."""

from __future__ import annotations

import os
import select
import socket
from typing import Final

from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.frames import PatientReceiver

_CHUNK: Final = 1 << 16
_MAX_FRAME: Final = (1 << 32) - 1  # the host bounds what it sends


class FrameLink:
    """Sends and receives frames over two descriptors. The worker exits if the host is gone."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd, self._write_fd = read_fd, write_fd
        self._received = frames.FrameAssembler(_MAX_FRAME)

    def send(self, frame: frames.Frame) -> int:
        """Send a frame and return its size in bytes."""
        packed = frames.pack(frame)
        rest = memoryview(packed)
        while rest:
            rest = rest[os.write(self._write_fd, rest) :]
        return len(packed)

    def receive(self) -> frames.HostFrame:
        """Receive the host's next frame."""
        body = self._received.next_body()
        while body is None:
            data = self._read(_CHUNK)
            if not data:
                os._exit(0)
            body = self._received.next_body(data)
        return frames.unpack_host_frame(body)

    def _read(self, most: int) -> bytes:
        return os.read(self._read_fd, most)


class SocketLink(FrameLink):
    """A link over one socket, made before the lockdown. It polls for the host's next frame before it sleeps."""

    def __init__(self, fd: int) -> None:
        super().__init__(fd, fd)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=fd)
        self._receiver = PatientReceiver(self._socket, super()._read)

    def has_input(self) -> bool:
        """Whether the host has sent bytes that this side has not received yet."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def close(self) -> None:
        """Forget the socket, which stays open."""
        self._socket.detach()

    def _read(self, most: int) -> bytes:
        return self._receiver.receive(most)
