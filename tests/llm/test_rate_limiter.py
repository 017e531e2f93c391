"""The rate limit, in a window made short; and shared by models at real endpoints."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

from support.served import ASK, Serve

from codeplan.llm.connections import RateLimiter
from codeplan.llm.openai_client import OpenAIModel

WINDOW = 0.2


def admitted(limiter: RateLimiter, sizes: list[int]) -> list[float]:
    """When each request was let through, in seconds from the first."""

    async def all_at_once() -> list[float]:
        sent = await asyncio.gather(*(limiter.admit(size) for size in sizes))
        return [s.time - sent[0].time for s in sent]

    return asyncio.run(all_at_once())


def test_no_window_has_more_requests_than_the_limit() -> None:
    times = admitted(RateLimiter(3, None, WINDOW), [1] * 8)
    assert times == sorted(times), "first come, first served"
    assert all(later - earlier >= WINDOW for earlier, later in zip(times, times[3:], strict=False))
    assert times[-1] < 5 * WINDOW


def test_no_window_has_more_tokens_than_the_limit() -> None:
    times = admitted(RateLimiter(None, 100, WINDOW), [60, 40, 50, 50])
    assert times[1] < WINDOW <= times[2] < times[3] + 0.01


def test_a_request_above_the_limit_waits_for_an_empty_window() -> None:
    times = admitted(RateLimiter(None, 100, WINDOW), [10, 1000, 10])
    assert WINDOW <= times[1] < 2 * WINDOW <= times[2]


def test_the_reported_tokens_replace_the_estimate() -> None:
    async def three() -> float:
        limiter = RateLimiter(None, 100, 5.0)
        first = await limiter.admit(90)
        first.tokens = 10
        second = await limiter.admit(80)
        return second.time - first.time

    assert asyncio.run(three()) < 1


def test_without_limits_nothing_waits() -> None:
    assert admitted(RateLimiter(None, None, 60.0), [10**9] * 100)[-1] < 1


def test_all_models_of_a_process_at_one_endpoint_share_the_limit(serve: Serve) -> None:
    served = serve()

    def ask(number: int) -> str:
        model = OpenAIModel("tiny", base_url=served.url, requests_per_minute=5, deadline=1.0)
        try:
            return model.complete(ASK, purpose="ask").text
        except Exception as e:
            return type(e).__name__

    began = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert answers.count("EndpointError") == 3, "the sixth in a minute has to wait longer than its deadline"
    assert len(served.log) == 5
    assert time.monotonic() - began < 4
