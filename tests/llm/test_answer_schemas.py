"""Answers as JSON by a schema: only if asked for, and plans read the same texts as without."""

from __future__ import annotations

import json
from ast import literal_eval
from typing import Any

import pytest
from support.reply_server import HELLO, KEY, Endpoint, reply, response

from codeplan.protocols import answer_schema
from codeplan.sandbox.protocol.forms import DictOf, Either, Fields, ListOf, Scalar, read_answer
from codeplan.sandbox.protocol.forms import answer_schema as form_schema
from codeplan.skills.parameter_binding import SkillParameter, parse_values
from codeplan.types import Purpose

APIS = ("chat", "responses")


def answer(endpoint: Endpoint, text: str, purpose: Purpose = "ask", api: str = "chat", **settings: Any) -> str:
    content = [{"type": "output_text", "text": text}]
    output = [{"type": "message", "role": "assistant", "content": content}]
    endpoint.answer(reply(text) if api == "chat" else response(output=output))
    return endpoint.model(api=api, **{"json_schema": True, **settings}).complete(HELLO, purpose=purpose).text


def sent_format(endpoint: Endpoint, api: str) -> dict[str, Any]:
    asked = endpoint.asked[-1]
    return asked["response_format"]["json_schema"] if api == "chat" else asked["text"]["format"]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("purpose", ["ask", "bind"])
def test_answers_that_programs_read_are_asked_for_by_a_strict_schema(endpoint, api, purpose):
    answer(endpoint, "{}", purpose, api)
    sent = sent_format(endpoint, api)
    assert sent["strict"] is True
    assert sent["schema"]["additionalProperties"] is False


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("purpose", "asked_for"), [("ask", False), ("plan", True), ("refine", True), ("act", True)])
def test_no_schema_is_sent_by_default_nor_for_other_purposes(endpoint, api, purpose, asked_for):
    raw = '{"answer": 1}'
    assert answer(endpoint, raw, purpose, api, json_schema=asked_for) == raw
    assert not {"response_format", "text"} & set(endpoint.asked[0])


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "value", [["shelf 2", "desk 1"], [], 3, -2.5, True, None, [1, None, False], [["a", 1], ["b", 2]], [["it's", '"']]]
)
def test_a_plan_reads_the_value_with_literal_eval(endpoint, api, value):
    assert literal_eval(answer(endpoint, json.dumps({"answer": value}), api=api)) == value


@pytest.mark.parametrize("value", [["shelf 2", "desk 1"], ["it's", 'a "b"', "\n", "\u00e4"], 3, 0.5, [[1], [2]]])
def test_texts_and_numbers_are_json_as_well(endpoint, value):
    assert json.loads(answer(endpoint, json.dumps({"answer": value}))) == value


@pytest.mark.parametrize("text", ["mug 1", "'mug 1'", "{'a': 1}", "", "a\nb"])
def test_a_string_stands_for_its_characters(endpoint, text):
    assert answer(endpoint, json.dumps({"answer": text})) == text


HOSTILE = {
    "no JSON": "['shelf 2']",
    "another key": '{"result": 1}',
    "an object": '{"answer": {"a": 1}}',
    "deep lists": '{"answer": ' + "[" * 3000 + "]" * 3000 + "}",
    "three levels": '{"answer": [[[1]]]}',
    "a number beyond floats": '{"answer": 1e999}',
    "a number without end": '{"answer": ' + "9" * 5000 + "}",
    "NaN": '{"answer": NaN}',
    "half a pair": '{"answer": "\\ud800"}',
    "two values": '{"answer": 1} {"answer": 2}',
    "a cut text": '{"answer": ["shelf 2", "de',
    "too large": '{"answer": [' + "0," * 200_000 + "0]}",
    "a list": '[{"answer": 1}]',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_does_not_follow_the_schema_stays_as_it_is(endpoint, text):
    assert answer(endpoint, text) == text


PARAMETERS = (SkillParameter("the_item", "mug 1"), SkillParameter("places", ["a"]))


@pytest.mark.parametrize("api", APIS)
def test_the_values_of_parameters_become_an_object(endpoint, api):
    values = [{"name": "the_item", "value": "cup \u00e4"}, {"name": "places", "value": ["desk 1", "it's"]}]
    text = answer(endpoint, json.dumps({"values": values}), "bind", api)
    assert parse_values(text, PARAMETERS) == {"the_item": "cup \u00e4", "places": ["desk 1", "it's"]}


def test_a_plain_object_of_values_is_read_as_before(endpoint):
    text = answer(endpoint, '{"the_item": "cup", "places": []}', "bind")
    assert parse_values(text, PARAMETERS) == {"the_item": "cup", "places": []}


def test_stop_sequences_are_not_sent_with_a_schema_and_cut_the_text(endpoint):
    assert answer(endpoint, '{"answer": "one END two"}', stop=["END"]) == "one "
    assert "stop" not in endpoint.asked[0]


def test_a_key_in_an_answer_is_masked(endpoint):
    assert answer(endpoint, json.dumps({"answer": [KEY]})) == '["***"]'


def test_other_text_options_of_the_user_are_kept(endpoint):
    assert answer(endpoint, '{"answer": 1}', api="responses", extra_body={"text": {"verbosity": "low"}}) == "1"
    assert endpoint.asked[0]["text"]["verbosity"] == "low"
    assert endpoint.asked[0]["text"]["format"]["type"] == "json_schema"


@pytest.mark.parametrize("api", APIS)
def test_a_plans_question_carries_the_schema_of_its_form_and_the_answer_stays_json(endpoint, api):
    form = Fields({"iban": Scalar("str"), "due": Either((Scalar("date"), Scalar("None")))})
    before = answer_schema.set(form_schema(form))
    try:
        text = answer(endpoint, '{"answer": {"iban": "DE1", "due": null}}', api=api)
    finally:
        answer_schema.reset(before)
    sent = sent_format(endpoint, api)
    assert sent["strict"] is True
    assert sent["schema"] == json.loads(json.dumps(form_schema(form)))
    assert read_answer(form, text) == {"iban": "DE1", "due": None}


def test_a_schema_that_leaves_keys_open_is_not_strict(endpoint):
    before = answer_schema.set(form_schema(ListOf(DictOf(Scalar("int")))))
    try:
        answer(endpoint, '{"answer": []}')
    finally:
        answer_schema.reset(before)
    assert sent_format(endpoint, "chat")["strict"] is False
