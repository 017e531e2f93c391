"""Ports of this machine that the documentation names, each for one test at a time."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def hold_port(port: int) -> Iterator[int]:
    """The port; skips the test if a program of somebody else listens there."""
    lock_file = Path(tempfile.gettempdir()) / f"codeplan-tests-{os.getuid()}-port-{port}"
    with lock_file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                pytest.skip(f"another program listens at port {port}")
        yield port


@pytest.fixture
def port_8000() -> Iterator[int]:
    """The port 8000, that of ``serve-scripted``."""
    with hold_port(8000) as port:
        yield port
