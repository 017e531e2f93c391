"""Attempts, waits and deadlines."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

import pytest
from support.reply_server import HELLO, Endpoint, reply

from codeplan.budget import Budget, Meter
from codeplan.errors import BudgetExceeded, ModelError
from codeplan.llm.endpoint_errors import EndpointError, parse_retry_after
from codeplan.llm.openai_client import OpenAIModel, RetryPolicy
from codeplan.types import Usage

FAIL = ({"error": {"message": "busy"}}, 503)


def test_transient_failures_are_retried_and_lasting_ones_are_not(endpoint: Endpoint) -> None:
    endpoint.answer(*FAIL).answer({"error": {"message": "slow down"}}, 429, Retry_After="0.01").answer(b"<ht")
    endpoint.answer(reply(content=None)).answer(reply())
    answer = endpoint.model(max_retries=4).complete(HELLO, purpose="ask")
    assert (answer.text, answer.retries) == ("Hello.", 4)
    for body, status in (
        ({"error": {"message": "no such thing"}}, 400),
        ({"error": {"message": "pay", "code": "insufficient_quota"}}, 429),
        (reply(content="Hel", finish_reason="length"), 200),
        (reply(message={"refusal": "No."}), 200),
    ):
        endpoint.asked.clear()
        endpoint.answers.clear()
        endpoint.answer(body, status)
        endpoint.failure(max_retries=3)
        assert len(endpoint.asked) == 1


def test_the_error_has_the_number_of_failed_attempts(endpoint: Endpoint) -> None:
    assert endpoint.answer(*FAIL, Retry_After="0").failure(max_retries=2).endswith("; 3 attempts were made")
    assert len(endpoint.asked) == 3


def test_pauses_stay_bounded_after_many_attempts() -> None:
    faults = [EndpointError("no", is_transient=True)] * 5000
    assert 4.0 <= (RetryPolicy(1.0, 1.0, 10**6).pause_before_retry(faults) or 0.0) <= 8.0


@pytest.mark.parametrize("header", ["Retry-After", "retry-after-ms"])
def test_the_endpoint_says_how_long_to_wait(endpoint: Endpoint, header: str) -> None:
    seconds = {"Retry-After": "0.7", "retry-after-ms": "700"}[header]
    endpoint.answer(*FAIL, **{header.replace("-", "_"): seconds}).answer(reply())
    began = time.monotonic()
    endpoint.model(max_retries=1).complete(HELLO, purpose="ask")
    assert 0.7 <= time.monotonic() - began < 2


def test_a_call_does_not_wait_beyond_its_deadline(endpoint: Endpoint) -> None:
    began = time.monotonic()
    assert "failed (503)" in endpoint.answer(*FAIL, Retry_After="3600").failure(max_retries=3, deadline=5.0)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5", "retry-after-ms": "100"}, 0.1),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "Wed, 99 Foo"}, None),
        ({"retry-after": "٣٣s"}, None),
        ({}, None),
    ],
)
def test_every_form_of_retry_after_is_read(headers: dict[str, str], wait: float | None) -> None:
    assert parse_retry_after(headers) == wait


def test_the_time_out_covers_the_whole_attempt() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        thread = threading.Thread(target=drip, args=(server,))
        thread.start()
        began = time.monotonic()
        with pytest.raises(ModelError, match=r"no answer within 0\.3 s"):
            OpenAIModel("tiny", base_url=url, timeout=0.3, max_retries=0).complete(HELLO, purpose="ask")
        assert time.monotonic() - began < 1.5
        thread.join()


def drip(server: socket.socket) -> None:
    """An answer that never stops coming, a byte at a time, until the client hangs up."""
    connection, _ = server.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        with contextlib.suppress(OSError):
            for _ in range(500):
                connection.sendall(b" ")
                time.sleep(0.02)


def test_the_deadline_ends_a_call_within_an_attempt(endpoint: Endpoint) -> None:
    endpoint.wait = 0.2
    began = time.monotonic()
    assert "that the call had" in endpoint.answer(reply()).failure(timeout=10.0, deadline=0.1)
    assert time.monotonic() - began < 1.5


def test_the_seconds_of_an_episode_end_a_call_with_a_spent_budget(endpoint: Endpoint) -> None:
    endpoint.wait = 1.0
    model = endpoint.answer(reply()).model()
    meter = Meter(Budget(seconds=0.2))
    with pytest.raises(BudgetExceeded, match="seconds"), meter.call("ask"):
        model.complete(HELLO, purpose="ask")
    assert 0.2 <= meter.seconds < 0.9


def test_the_usage_of_failed_attempts_is_counted(endpoint: Endpoint) -> None:
    endpoint.answer(reply(content=None)).answer(reply())
    assert endpoint.model(max_retries=1).complete(HELLO, purpose="ask").usage == Usage(18, 6, 8)
    endpoint.answers.clear()
    endpoint.answer(reply(content="Hel", finish_reason="length"))
    meter = Meter()
    with pytest.raises(ModelError), meter.call("ask"):
        endpoint.model().complete(HELLO, purpose="ask")
    assert meter.usage == Usage(9, 3, 4)
