"""Fixtures: the stand-in served on loopback, for tests of its clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.served import Serve, Served

from codeplan.standin.model import ScriptedModel
from codeplan.standin.server import FaultSettings, StandInServer

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "HTTP_PROXY", "http_proxy", "ALL_PROXY")


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts endpoints: ``serve(faults="500=0.1", latency=0.01)``; they end with the test."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    endpoints: list[StandInServer] = []

    def start(
        faults: str = "", latency: float = 0.0, mistakes: str = "none", port: int = 0, streams: Any = "yes"
    ) -> Served:
        log = tmp_path / f"requests-{len(endpoints)}.jsonl"
        endpoint = StandInServer(
            ScriptedModel(mistakes=mistakes),
            latency=latency,
            faults=FaultSettings.parse(faults),
            log=log,
            streams=streams,
        )
        endpoints.append(endpoint)
        return Served(asyncio.run_coroutine_threadsafe(endpoint.start(port), loop).result(10), log)

    async def stop() -> None:
        await asyncio.gather(*(endpoint.stop() for endpoint in endpoints))

    yield start
    asyncio.run_coroutine_threadsafe(stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
