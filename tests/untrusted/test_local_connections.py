"""Connections that send nothing, or too slowly, are closed, and the others are served."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn

from codeplan.untrusted import local_connections, local_server
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
    settings = uvicorn_settings() | {"timeout_keep_alive": 1000}  # uvicorn's own timer does not help
    server = uvicorn.Server(uvicorn.Config(LocalOnly(app, port, max_body=MAX_BODY), **settings))
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
    monkeypatch.setattr(local_connections, "max_connections", lambda: 3)

    async def attack() -> tuple[bytes, bytes]:
        async with serving() as port:
            idle = [await asyncio.open_connection(LOOPBACK, port) for _ in range(3)]
            refused = await answer(port, head(port))
            for _, writer in idle:
                writer.close()
            await asyncio.sleep(0.1)
            return refused, await answer(port, head(port))

    refused, served = asyncio.run(attack())
    assert refused == b""
    assert served.startswith(b"HTTP/1.1 200")


def test_a_connection_that_sends_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_connections, "MAX_HEAD_SECONDS", 0.5)

    async def attack() -> tuple[bytes, bool]:
        async with serving() as port:
            return await drip(port, b"", b"")

    assert asyncio.run(attack()) == (b"", True)


def test_a_body_may_take_longer_than_a_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_connections, "MAX_HEAD_SECONDS", 0.2)

    async def ask() -> bytes:
        async with serving() as port:
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
            writer.write(head(port, "Content-Length: 2\r\n"))
            await asyncio.sleep(1)
            writer.write(b"ab")
            answered = await reader.read(1000)
            writer.close()
            return answered

    assert asyncio.run(ask()).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("piece", [b"", b"X-A: 1\r\n"])
@pytest.mark.parametrize("requests", [0, 1])
def test_a_head_that_takes_too_long_ends_the_connection(
    requests: int, piece: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it is not the connection's first."""
    monkeypatch.setattr(local_connections, "MAX_HEAD_SECONDS", 0.5)

    async def attack() -> tuple[bytes, bool]:
        async with serving() as port:
            return await drip(port, head(port) * requests + b"GET / HTTP/1.1\r\n", piece)

    answered, ended = asyncio.run(attack())
    assert answered.count(b"HTTP/1.1 200") == requests
    assert ended


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


@pytest.mark.parametrize(("files", "most"), [(300, 200), (resource.RLIM_INFINITY, 682)])
def test_a_third_of_the_files_is_left_for_everything_else(files: int, most: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert local_connections.max_connections() == most


def test_a_client_has_ten_seconds_for_a_head_and_a_minute_for_a_body() -> None:
    assert (local_connections.MAX_HEAD_SECONDS, local_server.MAX_BODY_SECONDS) == (10, 60)
