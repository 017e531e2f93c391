"""A listener, a file, a folder and a program that nothing may touch, for tests with input from strangers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECRET = "canary-8f3a71-secret"


class Canaries:
    """Canaries in a folder. ``url`` is a real address on loopback; ``touched`` says what was used.

    The class itself stands for canaries where only names are needed.
    """

    url, file, folder, program = "http://127.0.0.1:1/v1", Path("file"), Path("folder"), Path("program")

    def __init__(self, folder: Path, listener: socket.socket) -> None:
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        self.file, self.folder, self.program = folder / "canary.txt", folder / "canary-folder", folder / "canary.sh"
        self.file.write_text(SECRET)
        (self.folder / "adaplanner").mkdir(parents=True)
        (self.folder / "adaplanner" / "plan.j2").write_text(SECRET)
        self.started = folder / "started"
        self.program.write_text(f"#!/bin/sh\ntouch {self.started}\n")
        self.program.chmod(0o755)
        self.connections = 0
        self.before = self._contents()

    @property
    def touched(self) -> list[str]:
        """What was used; empty if all is well."""
        found = ["the address"] * bool(self.connections) + ["the program"] * self.started.exists()
        return found + ["the files were changed"] * (self._contents() != self.before)

    def _contents(self) -> list[tuple[str, bytes]]:
        files = [self.file, self.program, *sorted(p for p in self.folder.rglob("*") if p.is_file())]
        return [(str(p), p.read_bytes()) for p in files]


@contextmanager
def canaries(folder: Path) -> Iterator[Canaries]:
    """Canaries in a new folder; the listener runs until the end of the context."""
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = Canaries(folder, listener)
        thread = threading.Thread(target=_accept, args=(listener, found), daemon=True)
        thread.start()
        yield found
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def _accept(listener: socket.socket, found: Canaries) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        found.connections += 1
        connection.close()
