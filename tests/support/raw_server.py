"""A loopback server that answers with raw bytes, for tests of clients against hostile endpoints."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator

Answer = Callable[[], Iterable[bytes]]


@contextlib.contextmanager
def serve_raw(answer: Answer) -> Iterator[str]:
    """Answer each request with the bytes of a new ``answer()``, until the client hangs up; yields the base URL."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        threading.Thread(target=_accept, args=(listening, answer), daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


def _accept(listening: socket.socket, answer: Answer) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=_answer, args=(connection, answer), daemon=True).start()


def _answer(connection: socket.socket, answer: Answer) -> None:
    with connection, contextlib.suppress(OSError):
        _read_request(connection)
        for piece in answer():
            connection.sendall(piece)


def _read_request(connection: socket.socket) -> None:
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next((int(n.split(b":")[1]) for n in head.split(b"\r\n") if n.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65536)
