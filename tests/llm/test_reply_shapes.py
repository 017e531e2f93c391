"""Replies as real servers shape them: parts, reasoning, costs and roles."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.reply_server import HELLO, KEY, Endpoint, reply, response

from codeplan.llm.openai_protocol import MAX_REASONING_CHARS
from codeplan.types import Completion, Message

THOUGHT = "First the pears."

SHAPES: dict[str, tuple[Any, str, str]] = {
    "parts of text": (reply([{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo."}]), "Hello.", ""),
    "one part, not in a list": (reply({"type": "text", "text": "Hello."}), "Hello.", ""),
    "texts without a type": (reply(["Hel", {"text": "lo."}]), "Hello.", ""),
    "parts of the Responses API": (reply([{"type": "output_text", "text": "Hello.", "annotations": []}]), "Hello.", ""),
    "a text with its value inside": (reply([{"type": "text", "text": {"value": "Hello."}}]), "Hello.", ""),
    "Mistral's thinking": (
        reply(
            [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}, {"type": "text", "text": "Hello."}]
        ),
        "Hello.",
        THOUGHT,
    ),
    "Anthropic's thinking": (
        reply([{"type": "thinking", "thinking": THOUGHT, "signature": "x"}, {"type": "text", "text": "Hello."}]),
        "Hello.",
        THOUGHT,
    ),
    "hidden thinking": (
        reply([{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Hello."}]),
        "Hello.",
        "",
    ),
    "reasoning after the text": (
        reply([{"type": "text", "text": "Hello."}, {"type": "reasoning", "text": THOUGHT}]),
        "Hello.",
        THOUGHT,
    ),
    "Google's mark of thoughts": (reply([{"text": THOUGHT, "thought": True}, {"text": "Hello."}]), "Hello.", THOUGHT),
    "a picture beside the text": (
        reply([{"type": "image_url", "image_url": {"url": "data:,"}}, {"type": "text", "text": "Hello."}]),
        "Hello.",
        "",
    ),
    "null among the parts": (
        reply([None, {"type": "text", "text": None}, {"type": "text", "text": "Hello."}]),
        "Hello.",
        "",
    ),
    "DeepSeek's field": (reply("Hello.", message={"reasoning_content": THOUGHT}), "Hello.", THOUGHT),
    "OpenRouter's field": (reply("Hello.", message={"reasoning": THOUGHT}), "Hello.", THOUGHT),
    "two fields with the same": (
        reply("Hello.", message={"reasoning": THOUGHT, "reasoning_content": THOUGHT}),
        "Hello.",
        THOUGHT,
    ),
    "OpenRouter's details": (
        reply("Hello.", message={"reasoning_details": [{"type": "reasoning.summary", "summary": THOUGHT}]}),
        "Hello.",
        THOUGHT,
    ),
    "Ollama's field": (reply("Hello.", message={"thinking": THOUGHT}), "Hello.", THOUGHT),
    "a tag": (reply(f"<think>\n{THOUGHT}\n</think>\n\nHello."), "Hello.", THOUGHT),
    "the end of a tag": (reply(f"{THOUGHT}</think>Hello."), "Hello.", THOUGHT),
    "a summary of the Responses API": (
        response(
            output=[
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": THOUGHT}]},
                {"type": "message", "content": [{"type": "output_text", "text": "Hello."}]},
            ]
        ),
        "Hello.",
        THOUGHT,
    ),
    "a content that is a text": (response(output=[{"type": "message", "content": "Hello."}]), "Hello.", ""),
    "half a surrogate pair": (json.dumps(reply("Hel\ud83dlo.")).encode(), "Hel?lo.", ""),
    "bytes that are not UTF-8": (json.dumps(reply("Hel#lo.")).encode().replace(b"#", b"\xe2\x82"), "Hel\ufffdlo.", ""),
    "a bare line end in a text": (json.dumps(reply("Hel\nlo.")).encode().replace(b"\\n", b"\n"), "Hel\nlo.", ""),
    "NaN": (json.dumps(reply() | {"score": float("nan")}).encode(), "Hello.", ""),
    "a byte order mark": (b"\xef\xbb\xbf" + json.dumps(reply()).encode(), "Hello.", ""),
    "a text in place of a message": (
        reply() | {"choices": [{"text": "Hello.", "finish_reason": "stop"}]},
        "Hello.",
        "",
    ),
    "a text as the message": (reply() | {"choices": [{"message": "Hello.", "finish_reason": "stop"}]}, "Hello.", ""),
    "a message without choices": (
        {"model": "m", "message": {"role": "assistant", "content": "Hello."}, "usage": {"prompt_tokens": 9}},
        "Hello.",
        "",
    ),
    "Gemma's tag": (reply(f"<thought>{THOUGHT}</thought>Hello."), "Hello.", THOUGHT),
    "a longer tag": (reply(f"<thinking>{THOUGHT}</thinking>\nHello."), "Hello.", THOUGHT),
    "a tag in quotes": (reply("Write print('</think>')."), "Write print('</think>').", ""),
    "a tag in quotes behind a thought": (
        reply(f"<think>{THOUGHT}</think>Write '</think>'."),
        "Write '</think>'.",
        THOUGHT,
    ),
    "a tag in quotes within a thought": (reply("<think>Not `</think>`.</think>Hello."), "Hello.", "Not `</think>`."),
    "Mistral's marks": (reply(f"[THINK]{THOUGHT}[/THINK]Hello."), "Hello.", THOUGHT),
    "Kimi's marks": (reply(f"◁think▷{THOUGHT}◁/think▷Hello."), "Hello.", THOUGHT),
    "MiniMax' marks": (reply(f"<mm:think>{THOUGHT}</mm:think>\nHello."), "Hello.", THOUGHT),
    "Gemma's channel": (reply(f"<|channel>thought\n{THOUGHT}<channel|>Hello."), "Hello.", THOUGHT),
    "a tag of reasoning": (reply(f"<reasoning>{THOUGHT}</reasoning>Hello."), "Hello.", THOUGHT),
    "marks of another family in a thought": (
        reply(f"[THINK]{THOUGHT} </think>[/THINK]Hello."),
        "Hello.",
        f"{THOUGHT} </think>",
    ),
    "a thought and an answer in tokens": (
        reply(f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|>\n<|begin_of_solution|>Hello.<|end_of_solution|>"),
        "Hello.",
        THOUGHT,
    ),
    "the channels of gpt-oss": (
        reply(
            f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>"
        ),
        "Hello.",
        THOUGHT,
    ),
    "the channels without their tokens": (reply(f"analysis{THOUGHT}assistantfinalHello."), "Hello.", THOUGHT),
    "words like a channel's": (reply("analysis: assistantfinal"), "analysis: assistantfinal", ""),
    "a call in a channel": (
        reply(
            f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant"
            "<|channel|>commentary to=python <|constrain|>code<|message|>Hello.<|call|>"
        ),
        "Hello.",
        THOUGHT,
    ),
    "control tokens around the text": (reply("<|im_start|>assistant\nHello.<|im_end|>\n</s>"), "Hello.", ""),
    "a token in quotes": (reply("Write '<|im_end|>'"), "Write '<|im_end|>'", ""),
    "a struck text": (reply("<s>Bye.</s>"), "<s>Bye.</s>", ""),
    "a tag as a word": (reply("Hello. <think> is a tag."), "Hello. <think> is a tag.", ""),
    "words before a thought": (reply("Well. <think>hm</think> Hello."), "Well. <think>hm</think> Hello.", ""),
    "counts with a point": (reply(usage={"prompt_tokens": 9.0, "completion_tokens": 3.0}), "Hello.", ""),
    "a number as fingerprint": (reply(system_fingerprint=7), "Hello.", ""),
    "a number as finish reason": (reply(finish_reason=0), "Hello.", ""),  # type: ignore[arg-type]
    "false as refusal": (reply(message={"refusal": False}), "Hello.", ""),
}


@pytest.mark.parametrize("name", SHAPES)
def test_text_and_reasoning_are_found_in(endpoint: Endpoint, name: str) -> None:
    body, text, reasoning = SHAPES[name]
    api = "responses" if isinstance(body, dict) and "output" in body else "chat"
    answer = endpoint.answer(body).model(api=api).complete(HELLO, purpose="ask")
    assert (answer.text, answer.reasoning, answer.usage.input_tokens) == (text, reasoning, 9)


@pytest.mark.parametrize("content", [[], [{"type": "thinking", "thinking": THOUGHT}], [{"type": "image"}], {}, 7])
def test_content_without_text_is_not_an_answer(endpoint: Endpoint, content: Any) -> None:
    assert "no text" in endpoint.answer(reply(content)).failure()


@pytest.mark.parametrize(
    "said",
    [f"<|channel|>analysis<|message|>{THOUGHT}", f"[THINK]{THOUGHT}", f"<|begin_of_thought|>{THOUGHT}", "<|im_end|>"],
)
def test_marks_without_an_answer_are_not_an_answer(endpoint: Endpoint, said: str) -> None:
    assert "no text" in endpoint.answer(reply(said)).failure()


def test_a_refusal_among_the_parts_is_one(endpoint: Endpoint) -> None:
    assert "I won't" in endpoint.answer(reply([{"type": "refusal", "refusal": "I won't."}])).failure()  # type: ignore[arg-type]


def test_long_reasoning_is_shortened_and_shows_no_key(endpoint: Endpoint) -> None:
    endpoint.answer(reply(message={"reasoning": f"{KEY} {'x' * 50_000}"}))
    reasoning = endpoint.model().complete(HELLO, purpose="ask").reasoning
    assert reasoning.startswith("*** xx")
    assert len(reasoning) < MAX_REASONING_CHARS + 1


COSTS = [(0.0125, 0.0125), (0, 0.0), (1, 1.0), (-1, None), ("0.1", None), (None, None), (1e9, None), (True, None)]


@pytest.mark.parametrize(("cost", "money"), COSTS)
def test_the_cost_is_what_the_endpoint_says(endpoint: Endpoint, cost: Any, money: float | None) -> None:
    endpoint.answer(reply(usage={"prompt_tokens": 9, "completion_tokens": 3, "cost": cost}))
    assert endpoint.model().complete(HELLO, purpose="ask").usage.money == money


def test_a_table_of_prices_counts_more_than_what_the_endpoint_says(endpoint: Endpoint, tmp_path: Any) -> None:
    (tmp_path / "prices.toml").write_text("[models.tiny]\ninput = 1\noutput = 1\n")
    endpoint.answer(reply(usage={"prompt_tokens": 500_000, "completion_tokens": 500_000, "cost": 0}))
    answer = endpoint.model(prices=tmp_path / "prices.toml").complete(HELLO, purpose="ask")
    assert answer.usage.money == 1.0


CHAT: list[Message] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello?"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "Go on."},
]
ROLES = {
    "system": ["system", "user", "assistant", "user"],
    "developer": ["developer", "user", "assistant", "user"],
    "user": ["user", "assistant", "user"],
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_the_system_text_has_the_role_that_the_model_knows(endpoint: Endpoint, role: str, api: str) -> None:
    endpoint.answer(reply() if api == "chat" else response())
    model = endpoint.model(system_role=role, api=api)
    model.complete(CHAT, purpose="ask")
    sent = endpoint.asked[0]["messages" if api == "chat" else "input"]
    assert [m["role"] for m in sent] == ROLES[role]
    assert sent[0]["content"] == ("Be brief.\n\nHello?" if role == "user" else "Be brief.")
    assert model.settings.get("system_role", "system") == role


def test_a_system_text_alone_becomes_the_users(endpoint: Endpoint) -> None:
    endpoint.answer(reply()).model(system_role="user").complete(CHAT[:1], purpose="ask")
    assert endpoint.asked[0]["messages"] == [{"role": "user", "content": "Be brief."}]


WANTS = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."


@pytest.mark.parametrize(
    ("given", "message", "wanted"),
    [
        ("max_tokens", WANTS, "max_completion_tokens"),
        (
            "max_tokens",
            "max_tokens: Extra inputs are not permitted, use max_completion_tokens",
            "max_completion_tokens",
        ),
        ("max_completion_tokens", "unrecognized request argument supplied: max_completion_tokens", "max_tokens"),
    ],
)
def test_the_limit_of_tokens_takes_the_name_that_the_endpoint_asks_for(
    endpoint: Endpoint, given: str, message: str, wanted: str
) -> None:
    def respond(request: dict[str, Any]) -> dict[str, Any]:
        return reply()

    endpoint.answer({"error": {"message": message}}, 400).answer(respond)
    model = endpoint.model(max_tokens=70, max_tokens_field=given)
    answers: list[Completion] = [model.complete(HELLO, purpose="ask") for _ in range(2)]
    assert [a.text for a in answers] == ["Hello.", "Hello."]
    assert [{given, wanted} & asked.keys() for asked in endpoint.asked] == [{given}, {wanted}, {wanted}]
    assert endpoint.asked[1][wanted] == 70


def test_an_endpoint_that_refuses_both_names_is_asked_twice(endpoint: Endpoint) -> None:
    assert "max_completion_tokens" in endpoint.answer({"error": {"message": WANTS}}, 400).failure(max_tokens=5)
    assert len(endpoint.asked) == 2


FENCED = [
    '```json\n{"answer": [1, "a"]}\n```',
    '\ufeff{"answer": [1, "a"]}',
    ' \n```\n{"answer": [1, "a"]}\n```\n\n',
    "~~~",
]


@pytest.mark.parametrize("text", FENCED)
def test_a_fence_around_an_answer_by_a_schema_is_taken_off(endpoint: Endpoint, text: str) -> None:
    answer = endpoint.answer(reply(text)).model(json_schema=True).complete(HELLO, purpose="ask")
    assert answer.text == ("~~~" if text == "~~~" else '[1, "a"]')
