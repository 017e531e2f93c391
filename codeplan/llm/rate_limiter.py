"""How fast an endpoint may be asked: requests and tokens a minute, shared by all episodes of the process.

In no stretch of sixty seconds more than the limits are sent. To be used in the background loop only: no locks.
"""

from __future__ import annotations

import asyncio
from collections import deque

import msgspec

_WINDOW = 60.0


class AdmittedRequest(msgspec.Struct, eq=False):
    """A request that was let through: when, with how many tokens (estimated, until its answer tells)."""

    time: float
    tokens: int


class RateLimiter:
    """Lets requests through, first come first served, so that neither limit is passed. None is no limit."""

    def __init__(self, requests: int | None, tokens: int | None, window: float = _WINDOW) -> None:
        self._requests, self._tokens, self._window = requests, tokens, window
        self._admitted: deque[AdmittedRequest] = deque()
        self._queue_lock = asyncio.Lock()

    async def admit(self, tokens: int) -> AdmittedRequest:
        """Wait until a request of about so many tokens may be sent; set the ``tokens`` of what is returned aright."""
        async with self._queue_lock:
            while (wait := self._seconds_to_wait(tokens)) > 0:
                await asyncio.sleep(wait)
            sent = AdmittedRequest(asyncio.get_running_loop().time(), tokens)
            self._admitted.append(sent)
            return sent

    def _seconds_to_wait(self, tokens: int) -> float:
        """Seconds until the request may be sent; a request larger than the limit waits for an empty window."""
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
