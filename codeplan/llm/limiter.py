"""How fast an endpoint may be asked: requests and tokens a minute, shared by all episodes of the process.

In no stretch of sixty seconds more than the limits are sent. To be used in the background loop only: no locks.
"""

from __future__ import annotations

import asyncio
from collections import deque

import msgspec

_WINDOW = 60.0


class Sent(msgspec.Struct, eq=False):
    """A request that was let through: when, with how many tokens (estimated, until its answer tells)."""

    at: float
    tokens: int


class Limiter:
    """Lets requests through, first come first served, so that neither limit is passed. None is no limit."""

    def __init__(self, requests: int | None, tokens: int | None, window: float = _WINDOW) -> None:
        self._requests, self._tokens, self._window = requests, tokens, window
        self._sent: deque[Sent] = deque()
        self._turn = asyncio.Lock()

    async def admit(self, tokens: int) -> Sent:
        """Wait until a request of about so many tokens may be sent; set the ``tokens`` of what is returned aright."""
        async with self._turn:
            while (wait := self._wait(tokens)) > 0:
                await asyncio.sleep(wait)
            sent = Sent(asyncio.get_running_loop().time(), tokens)
            self._sent.append(sent)
            return sent

    def _wait(self, tokens: int) -> float:
        """Seconds until the request may be sent; a request larger than the limit waits for an empty window."""
        now = asyncio.get_running_loop().time()
        while self._sent and self._sent[0].at <= now - self._window:
            self._sent.popleft()
        if not self._sent or self._fits(tokens):
            return 0.0
        return self._sent[0].at + self._window - now

    def _fits(self, tokens: int) -> bool:
        if self._requests is not None and len(self._sent) >= self._requests:
            return False
        return self._tokens is None or sum(s.tokens for s in self._sent) + tokens <= self._tokens
