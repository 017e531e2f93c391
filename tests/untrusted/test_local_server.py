"""The bounds of a local server: connections, and the size and the time of a body."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn

from codeplan.untrusted import local_server
from codeplan.untrusted.local_server import LOOPBACK, LocalOnly, listen, uvicorn_settings

MAX_BODY = 1000


async def hello(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await say_hi(send)


async def say_hi(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


async def patient(scope: Any, receive: Any, send: Any) -> None:
    """Answers a second after the request, and looks meanwhile whether the client is still there."""
    while (await receive()).get("more_body"):
        pass
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(receive(), 1)
    await say_hi(send)


@contextlib.asynccontextmanager
async def serving(app: Any = hello) -> AsyncIterator[int]:
    listener = listen(0)
    port: int = listener.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(LocalOnly(app, port, max_body=MAX_BODY), **uvicorn_settings()))
    server.capture_signals = contextlib.nullcontext  # type: ignore[assignment]
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield port
    finally:
        server.should_exit = True
        await running


def head(port: int, more: str = "") -> bytes:
    return f"POST / HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\n{more}\r\n".encode()


async def answer(port: int, sent: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        writer.write(sent)
        with contextlib.suppress(ConnectionError):
            return await reader.read(1000)
        return b""
    finally:
        writer.close()


async def drip(port: int, first: bytes, piece: bytes) -> tuple[bytes, bool]:
    """What the server answers to pieces that never end, and whether it ends the connection."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    answered: list[bytes] = []

    async def read() -> None:
        with contextlib.suppress(ConnectionError):  # what came before it counts
            while data := await reader.read(1000):
                answered.append(data)

    begun = time.monotonic()
    writer.write(first)
    reading = asyncio.create_task(read())
    with contextlib.suppress(ConnectionError):
        while not reading.done() and time.monotonic() - begun < 30:
            writer.write(piece)
            await asyncio.sleep(0.05)
    ended = reading.done()
    writer.close()
    await reading
    return b"".join(answered), ended


def test_an_answer_may_take_longer_than_a_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_server, "MAX_BODY_SECONDS", 0.3)

    async def ask() -> bytes:
        async with serving(patient) as port:
            return await answer(port, head(port, "Content-Length: 1\r\n") + b"a")

    assert asyncio.run(ask()).startswith(b"HTTP/1.1 200")


def test_further_connections_are_closed_and_the_server_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_server, "MAX_CONNECTIONS", 4)

    async def attack() -> tuple[bytes, bytes]:
        async with serving() as port:
            idle = [await asyncio.open_connection(LOOPBACK, port) for _ in range(3)]
            refused = await answer(port, head(port))
            for _, writer in idle:
                writer.close()
            await asyncio.sleep(0.1)
            return refused, await answer(port, head(port))

    refused, served = asyncio.run(attack())
    assert refused.startswith(b"HTTP/1.1 503")
    assert served.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(("size", "status"), [(MAX_BODY, b"200"), (MAX_BODY + 1, b"413")])
def test_a_body_may_have_the_maximum_size_and_no_more(size: int, status: bytes) -> None:
    async def ask() -> bytes:
        async with serving() as port:
            return await answer(port, head(port, f"Content-Length: {size}\r\n") + b"a" * size)

    assert asyncio.run(ask()).startswith(b"HTTP/1.1 " + status)


def test_a_body_that_takes_too_long_is_refused_even_if_it_never_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_server, "MAX_BODY_SECONDS", 0.5)

    async def attack() -> tuple[bytes, bool]:
        async with serving() as port:
            return await drip(port, head(port, "Content-Length: 900\r\n"), b"a")

    answered, ended = asyncio.run(attack())
    assert answered.startswith(b"HTTP/1.1 408")
    assert ended
