"""Limits the requests and tokens that go to an endpoint in any sixty seconds."""

from __future__ import annotations

import asyncio
from collections import deque

import msgspec

_WINDOW = 60.0


class AdmittedRequest(msgspec.Struct, eq=False):
    """When a request was admitted, and its tokens: an estimate until the answer reports them."""

    time: float
    tokens: int


class RateLimiter:
    """Admits requests in order of arrival within both limits (None: no limit). For the background loop only."""

    def __init__(self, requests: int | None, tokens: int | None, window: float = _WINDOW) -> None:
        self._requests, self._tokens, self._window = requests, tokens, window
        self._admitted: deque[AdmittedRequest] = deque()
        self._queue_lock = asyncio.Lock()

    async def admit(self, tokens: int) -> AdmittedRequest:
        """Wait until a request of about this many tokens fits. The caller then corrects the result's ``tokens``."""
        async with self._queue_lock:
            while (wait := self._seconds_to_wait(tokens)) > 0:
                await asyncio.sleep(wait)
            request = AdmittedRequest(asyncio.get_running_loop().time(), tokens)
            self._admitted.append(request)
            return request

    def _seconds_to_wait(self, tokens: int) -> float:
        """Seconds to wait before trying again; a request above the limit needs an empty window."""
        now = asyncio.get_running_loop().time()
        while self._admitted and self._admitted[0].time <= now - self._window:
            self._admitted.popleft()
        if not self._admitted or self._fits(tokens):
            return 0.0
        return self._admitted[0].time + self._window - now

    def _fits(self, tokens: int) -> bool:
        if self._requests is not None and len(self._admitted) >= self._requests:
            return False
        return self._tokens is None or sum(s.tokens for s in self._admitted) + tokens <= self._tokens
