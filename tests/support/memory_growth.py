"""Measures what a reply costs: a process of its own asks an endpoint once. And makes the bytes of such replies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from support.raw_server import Answer, serve_raw
from support.reply_server import reply

ASK_ONCE = Path(__file__).with_name("ask_once.py")
MAX_GROWTH = 120.0
"""Megabytes that a reply may cost. Hostile ones stand for several hundreds or thousands."""


def head(*headers: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", "Content-Type: application/json", *headers, "", ""]).encode()


def whole(body: bytes, *headers: str, status: str = "200 OK") -> Iterator[bytes]:
    yield head(f"Content-Length: {len(body)}", *headers, status=status)
    yield body


def ask(answer: Answer, api: str = "chat", seconds: float = 100) -> tuple[str, float]:
    """What a process of its own says of this endpoint, and by how many megabytes its memory grew."""
    next(iter(answer()))  # makes the bomb before the time counts
    environment = {name: value for name, value in os.environ.items() if "OPENAI" not in name and "PROXY" not in name}
    with serve_raw(lambda: whole(json.dumps(reply()).encode())) as honest, serve_raw(answer) as url:
        done = subprocess.run(
            [sys.executable, ASK_ONCE, url, honest, api, str(seconds)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return told["said"], told["grown"]
