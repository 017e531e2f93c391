"""What the machine itself takes for a fork and for a message: no sandbox can be faster."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PAGES = 750
"""About as many pages as a trivial plan's worker writes to."""

_FORKS = f"""
import os, socket, sys
host, page = socket.socket(fileno=int(sys.argv[1])), os.sysconf("SC_PAGE_SIZE")
memory = bytearray(b"1") * ({PAGES} * page)
while host.recv(1):
    child = os.fork()
    if child == 0:
        for start in range(0, len(memory), page):
            memory[start] = 2
        os._exit(0)
    os.waitpid(child, 0)
    host.send(b"x")
"""

_ECHOES = """
import socket, sys
host = socket.socket(fileno=int(sys.argv[1]))
while data := host.recv(100):
    host.send(data)
"""


@contextmanager
def forks() -> Iterator[Callable[[], None]]:
    """Has a small process fork a child that writes to as many pages as a worker, and waits for the child's end."""
    with _other_process(_FORKS, b"x") as exchange:
        yield exchange


@contextmanager
def echoes(count: int) -> Iterator[Callable[[], None]]:
    """Sends 60 bytes to another process and receives them, ``count`` times."""
    with _other_process(_ECHOES, b"x" * 60) as exchange:

        def repeat() -> None:
            for _ in range(count):
                exchange()

        yield repeat


@contextmanager
def _other_process(code: str, message: bytes) -> Iterator[Callable[[], None]]:
    """Sends a message to a process over a socket pair and waits for its answer; the process ends with the context."""
    ours, theirs = socket.socketpair()
    arguments = [sys.executable, "-S", "-c", code, str(theirs.fileno())]
    with ours, subprocess.Popen(arguments, pass_fds=(theirs.fileno(),)):
        theirs.close()

        def exchange() -> None:
            ours.send(message)
            ours.recv(100)

        try:
            exchange()  # it has started
            yield exchange
        finally:
            ours.shutdown(socket.SHUT_RDWR)
