"""Whatever a request raises is one sentence about the endpoint, and what our own code raises is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.raw_server import serve_raw
from support.reply_server import HELLO, KEY, Endpoint, reply

from codeplan.errors import ModelError
from codeplan.llm.connections import RateLimits, shared_connection
from codeplan.llm.endpoint import Secret
from codeplan.llm.endpoint_errors import EndpointError, ErrorFactory
from codeplan.llm.openai_client import EndpointCall, OpenAIModel, RetryPolicy, call_with_retries
from codeplan.llm.openai_protocol import ModelReply

PLACES = [
    "http://127.0.0.1:65536/",
    "http://[::1",
    "http://xn--" + "a9" * 20_000 + "/",
    "http://" + "a" * 64 + ".b/",
    "http://%00/",
    "http://\u00ad/",
    "http://127.0.0.1:0/",
    "/\x7f",
    "file:///etc/passwd",
    "javascript:1",
    "",
]


def chat(model: OpenAIModel) -> None:
    model.complete(HELLO, purpose="ask")


def embed(model: OpenAIModel) -> None:
    model.embed(["a"], model="tiny")


@pytest.mark.parametrize("use", [chat, embed, OpenAIModel.ping])
@pytest.mark.parametrize("place", PLACES)
def test_a_redirection_that_cannot_be_followed_is_one_sentence(place: str, use: Callable[[OpenAIModel], None]) -> None:
    sent = f"HTTP/1.1 307 Go\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode()
    with serve_raw(lambda: [sent]) as url, pytest.raises(EndpointError) as caught:
        use(OpenAIModel("tiny", base_url=url, max_retries=0))
    said = str(caught.value)
    assert said.startswith(f"the model endpoint {url} ")
    assert said.isprintable()
    assert len(said) < 700


def errors() -> ErrorFactory:
    return ErrorFactory("http://localhost/v1", "tiny", [KEY], has_key=True)


@pytest.mark.parametrize(
    "error",
    [
        OverflowError(f"no port {KEY}"),
        ExceptionGroup("several", [ExceptionGroup("more", [OverflowError(f"no port {KEY}"), KeyError("x")])]),
        UnicodeError("no port ***\x1b[31m\n" + "x" * 100_000),
        AssertionError(),
        MemoryError(),
        RecursionError("no port ***"),
    ],
)
def test_an_unexpected_exception_is_named_without_the_key(error: Exception) -> None:
    said = str(errors().convert_client_error(error))
    assert said.startswith(f"the model endpoint http://localhost/v1 could not be used ({type(error).__name__}")
    assert said.endswith("); check the base URL, and what answers there")
    assert "no port ***" in said or not str(error)
    assert said.isprintable()
    assert len(said) < 400


def test_an_unexpected_exception_is_not_retried() -> None:
    assert not errors().convert_client_error(OverflowError()).is_transient


def test_a_fault_of_our_own_code_keeps_its_exception(endpoint: Endpoint) -> None:
    def broken(body: bytes) -> ModelReply | EndpointError:
        raise ZeroDivisionError(len(body))

    endpoint.answer(reply())
    connection = shared_connection(endpoint.url, Secret(), {}, RateLimits(), errors())
    call = EndpointCall("/chat/completions", {}, 1, errors(), broken)
    with pytest.raises(ZeroDivisionError):
        call_with_retries(call, connection, RetryPolicy(9.0, 9.0, 3))
    assert len(endpoint.asked) == 1


def test_an_unexpected_exception_of_an_attempt_keeps_the_usage_of_those_before(endpoint: Endpoint) -> None:
    endpoint.answer(reply(content=None)).answer(b"", 307, Location="http://127.0.0.1:65536/")
    with pytest.raises(ModelError, match="2 attempts were made") as caught:
        endpoint.model(max_retries=1).complete(HELLO, purpose="ask")
    assert caught.value.usage.input_tokens == 9
