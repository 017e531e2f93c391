"""The targets of hostile plans on the host: a file with a secret, a place to leave a mark, a port to call."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import socket
import tempfile
from pathlib import Path
from typing import Final

PORT_PLACEHOLDER: Final = "45991"
"""The port that hostile plans call. Each ``Canaries`` puts the port that it listens on in its place."""


class Canaries:
    """A temporary folder, a TCP and a UDP socket, and a secret; ``find_damage`` reports which of them was touched."""

    def __init__(self) -> None:
        self.nonce = secrets.token_hex(6)
        self.folder = Path(tempfile.mkdtemp(prefix="codeplan-audit-"))
        self.folder.chmod(0o777)  # writable for everyone: only the sandbox keeps a plan from it
        self.secret, self.marker = self.folder / "secret", self.folder / "marker"
        self._content = f"CANARY-FILE-{self.nonce}\n"
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._datagrams.bind(("127.0.0.1", self.port))
        for listening in (self._server, self._datagrams):
            listening.setblocking(False)
        self.reset()

    def reset(self) -> None:
        """Restore the files and forget earlier calls."""
        self._drain_calls()
        for path in (self.marker, self.secret):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)
        self.secret.write_text(self._content, encoding="utf-8")
        self.secret.chmod(0o666)

    def fill_placeholders(self, source: str) -> str:
        """The plan with the paths and the port of these canaries."""
        values = {"@SECRET@": str(self.secret), "@MARKER@": str(self.marker), PORT_PLACEHOLDER: str(self.port)}
        return re.sub("|".join(values), lambda found: values[found[0]], source)

    def find_damage(self) -> str:
        """The targets that were touched since the last reset; empty if none was."""
        if os.path.lexists(self.marker):
            return "it left a mark in the file system"
        if not self.secret.is_file() or self.secret.read_text(encoding="utf-8") != self._content:
            return "it changed a file of the host's"
        return "it called a port of the host's" if self._drain_calls() else ""

    def _drain_calls(self) -> bool:
        """Whether anything connected or sent data since the last call of this method."""
        calls = 0
        with contextlib.suppress(OSError):
            while True:
                self._server.accept()[0].close()
                calls += 1
        with contextlib.suppress(OSError):
            while True:
                self._datagrams.recv(1)
                calls += 1
        return calls > 0

    def close(self) -> None:
        """Close the sockets and delete the folder."""
        self._server.close()
        self._datagrams.close()
        shutil.rmtree(self.folder, ignore_errors=True)
