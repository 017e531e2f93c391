"""Embeddings: our client against the served stand-in, and OpenAI's client against it."""

from __future__ import annotations

import math
from operator import mul
from typing import Any

import openai
import pytest
from support.boxes import Replies
from support.served import Serve

from codeplan.errors import ModelError, UsageError
from codeplan.llm import openai_protocol
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.routing import RoutedModel
from codeplan.protocols import Embeds
from codeplan.standin.server import DIMENSIONS, text_vector
from codeplan.types import Usage

TEXTS = ["heat an apple", "cool a mug", "heat an apple"]


def model(url: str, **settings: Any) -> OpenAIModel:
    return OpenAIModel("tiny", base_url=url, **{"max_retries": 0, **settings})


# ------------------------------------------------------------------ the client


def test_each_text_gets_a_vector_and_the_tokens_match_the_endpoints_log(serve: Serve) -> None:
    served = serve()
    asked = model(served.url, extra_body={"top_k": 3}, temperature=0.5)
    assert isinstance(asked, Embeds)
    found = asked.embed(TEXTS, model="small")
    assert found.vectors == tuple(tuple(text_vector(text)) for text in TEXTS)
    assert (found.usage.input_tokens, found.usage.output_tokens) == served.tokens
    assert [(e["api"], e["model"]) for e in served.log] == [("embeddings", "small")]


def test_failed_attempts_are_retried_and_their_usage_is_counted(serve: Serve) -> None:
    served = serve("null=0.3,length=0.3,seed=45")
    found = model(served.url, max_retries=9).embed(TEXTS, model="small")
    assert [e["fault"] for e in served.log] == ["null", "length", ""]
    assert len(found.vectors) == 3
    assert (found.usage.input_tokens, found.usage.output_tokens) == served.tokens


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("cut", "cannot be reached"),
        ("null", "sent no whole embeddings from the model 'small'"),
        ("length", "sent no whole embeddings from the model 'small'"),
    ],
)
def test_an_incomplete_answer_is_an_error_of_one_sentence(serve: Serve, fault: str, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        model(serve(f"{fault}=1").url).embed(TEXTS, model="small")


def test_the_price_of_the_embedding_model_applies_to_its_tokens(serve: Serve, tmp_path: Any) -> None:
    table = tmp_path / "prices.toml"
    table.write_text('[models."small"]\ninput = 1000000.0\noutput = 0.0\n')
    usage = model(serve().url, prices=table).embed(TEXTS, model="small").usage
    assert usage.money == usage.input_tokens


def test_a_routed_model_embeds_with_its_main_model(serve: Serve) -> None:
    main = model(serve().url)
    assert len(RoutedModel(main, {"ask": Replies()}).embed(TEXTS, model="small").vectors) == 3
    with pytest.raises(UsageError, match="the model replies does not embed texts"):
        RoutedModel(Replies(), {"ask": main}).embed(TEXTS, model="small")


@pytest.mark.parametrize(
    "data",
    [
        "[]",
        '[{"index": 0, "embedding": [1]}]',
        '[{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]',
        '[{"index": 0, "embedding": [1]}, {"index": 2, "embedding": [1]}]',
        '[{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]',
        '[{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]',
        '[{"index": 0, "embedding": null}, {"index": 1, "embedding": [1]}]',
        '[{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}]',
    ],
)
def test_missing_or_unequal_vectors_are_rejected(data: str) -> None:
    reply = openai_protocol.parse_embeddings(f'{{"data": {data}}}'.encode(), 2)
    assert reply is not None
    assert reply.vectors is None


def test_vectors_come_in_the_order_of_the_texts() -> None:
    body = b'{"data": [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}], "usage": {"total_tokens": 7}}'
    reply = openai_protocol.parse_embeddings(body, 2)
    assert reply is not None
    assert (reply.vectors, reply.usage) == (((1.0,), (2.0,)), Usage(7, 0))


@pytest.mark.parametrize("body", [b"", b"[]", b'{"data": 3}', b"{}"])
def test_a_body_without_vectors_is_not_a_reply(body: bytes) -> None:
    assert openai_protocol.parse_embeddings(body, 1) is None


# ------------------------------------------------------------------ the served stand-in


def test_openais_client_gets_unit_vectors_that_are_near_if_texts_share_words(serve: Serve) -> None:
    with openai.OpenAI(base_url=serve().url, api_key="any", max_retries=0) as client:
        several = client.embeddings.create(model="small", input=["heat the apple", "heat the egg", "sort letters"])
        one = client.embeddings.create(model="small", input="heat the apple")
    first, second, third = (item.embedding for item in several.data)
    assert one.data[0].embedding == first
    assert len(first) == DIMENSIONS
    assert math.hypot(*first) == pytest.approx(1)
    assert sum(map(mul, first, second)) > 0.5 > sum(map(mul, first, third))
    assert one.usage.prompt_tokens == one.usage.total_tokens > 0


@pytest.mark.parametrize("text", ["", "  ", "\ud800", "a" * 100_000])
def test_any_text_has_a_vector(text: str) -> None:
    assert math.hypot(*text_vector(text)) == pytest.approx(1)


@pytest.mark.parametrize("given", [[], [""], "", 3, None, [3], [[1, 2]]])
def test_an_input_that_is_not_text_is_a_bad_request(serve: Serve, given: Any) -> None:
    client = openai.OpenAI(base_url=serve().url, api_key="any", max_retries=0)
    with client, pytest.raises(openai.BadRequestError, match="the input is not a text"):
        client.embeddings.create(model="small", input=given, encoding_format="float")
