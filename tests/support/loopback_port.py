"""The port 8000 of this machine, which the documentation names, for one test at a time."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

PORT = 8000
LOCK = Path(tempfile.gettempdir()) / f"codeplan-tests-{os.getuid()}-port-{PORT}"


@pytest.fixture
def port_8000() -> Iterator[int]:
    """The port; skips the test if a program of somebody else listens there."""
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", PORT))
            except OSError:
                pytest.skip(f"another program listens at port {PORT}")
        yield PORT
