"""A body may hold only so many JSON values: parsed, small values take many times their size in memory."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.memory_growth import MAX_GROWTH, ask, whole
from support.reply_server import HELLO, Endpoint, reply, response

from codeplan.errors import ModelError
from codeplan.llm.connections import MAX_BODY_BYTES, MAX_BODY_VALUES, MAX_EMBEDDINGS_VALUES, excess_of_values
from codeplan.llm.openai_protocol import EMBEDDINGS_PATH
from codeplan.untrusted.json_values import count_values

ENDS = {
    "parts": ("responses", '{"output":[{"type":"message","content":[', "]}]}"),
    "items": ("responses", '{"output":[', "]}"),
    "choices": ("chat", '{"choices":[', "]}"),
    "an error": ("chat", '{"error":[', "]}"),
    "lists for a usage": ("responses", '{"output":[{"type":"message"}],"usage":[', "]}"),
    "what nobody reads": ("responses", '{"output":[{"type":"message"}],"more":[', "]}"),
}
SAID = {"an error": "answered with an error", "choices": "not a reply"}


def body_of(name: str, values: int) -> bytes:
    """A body of the maximum size with so many values."""
    _, before, after = ENDS[name]
    missing = values + 1 - count_values((before + after).encode())  # an item and a comma for each but the last
    first = '{"a":1,"b":2},' if missing % 2 else ""
    body = before + first + ",".join(["{}"] * ((missing - 3 * bool(first)) // 2)) + after
    assert count_values(body.encode()) == values
    return body.encode().ljust(MAX_BODY_BYTES)


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("more", [0, 1])
def test_values_of_a_body_take_little_memory_up_to_their_maximum(name: str, more: int) -> None:
    body = body_of(name, MAX_BODY_VALUES + more)
    told, grown = ask(lambda: whole(body), ENDS[name][0])
    assert ("sent a body of more than 1,500,000 JSON values, which is not read; ask for less" in told) == bool(more)
    assert more or SAID.get(name, "sent no text") in told
    assert grown < MAX_GROWTH


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_body_of_the_maximum_size_full_of_small_objects_is_not_parsed(api: str) -> None:
    body = b'{"output":[{"content":[' + b"{}," * (MAX_BODY_BYTES // 3 - 100) + b"{}]}]}"
    told, grown = ask(lambda: whole(body), api)
    assert "more than 1,500,000 JSON values" in told
    assert grown < MAX_GROWTH


def vectors(texts: int, numbers: int) -> bytes:
    vector = b"0," * (numbers - 1) + b"0"
    return b'{"data":[' + b",".join(b'{"index":%d,"embedding":[%s]}' % (i, vector) for i in range(texts)) + b"]}"


@pytest.mark.parametrize(("numbers", "said"), [(8192, "an answer"), (65_000, "more than 2,500,000 JSON values")])
def test_the_largest_batch_of_vectors_is_read_and_a_larger_one_is_not(numbers: int, said: str) -> None:
    body = vectors(256, numbers)
    told, grown = ask(lambda: whole(body), "many embeddings")
    assert said in told
    assert grown < MAX_GROWTH


@pytest.mark.parametrize(("path", "most"), [(EMBEDDINGS_PATH, MAX_EMBEDDINGS_VALUES), ("/responses", MAX_BODY_VALUES)])
def test_the_maximum_is_exact(path: str, most: int) -> None:
    assert excess_of_values(path, b"[" + b"0," * (most - 2) + b"0]") == ""
    assert "JSON values, which is not read" in excess_of_values(path, b"[" + b"0," * (most - 1) + b"0]")


@pytest.mark.parametrize(("api", "body"), [("chat", reply("[1, {}" * 500_000)), ("responses", response())])
def test_signs_in_a_text_are_no_values(endpoint: Endpoint, api: str, body: Any) -> None:
    if api == "responses":
        body["output"][1]["content"] = [{"type": "output_text", "text": "[1, {}" * 500_000}]
    assert json.dumps(body).count("[") > 500_000
    assert endpoint.answer(body).model(api=api).complete(HELLO, purpose="ask").text == "[1, {}" * 500_000


def test_too_many_values_are_not_asked_for_again(endpoint: Endpoint) -> None:
    endpoint.answer(body_of("choices", MAX_BODY_VALUES + 1))
    with pytest.raises(ModelError, match="JSON values"):
        endpoint.model(max_retries=3).complete(HELLO, purpose="ask")
    assert len(endpoint.asked) == 1
