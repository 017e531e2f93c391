"""Replies of the Responses API, and reasoning within replies."""

from __future__ import annotations

from typing import Any

import pytest
from support.reply_server import HELLO, Endpoint, reply, response

from codeplan.types import Usage


def test_the_setting_api_selects_the_responses_api(endpoint: Endpoint) -> None:
    endpoint.answer(response())
    model = endpoint.model(api="responses", temperature=0.5, reasoning_effort="low", max_tokens=50)
    answer = model.complete(HELLO, purpose="ask", stop=["END"])
    assert (answer.text, answer.model, answer.finish_reason) == ("Hello. ", "tiny-2", "stop")
    assert answer.usage == Usage(9, 3, 4, 2)
    assert endpoint.paths == ["/v1/responses"]
    assert endpoint.asked == [
        {
            "model": "tiny",
            "input": HELLO,
            "store": False,
            "temperature": 0.5,
            "reasoning": {"effort": "low"},
            "max_output_tokens": 50,
        }
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "cut off"),
        (response(status="incomplete", incomplete_details={"reason": "content_filter"}), "withheld"),
        (response(status="incomplete", incomplete_details=None), "'incomplete'"),
        (response(status="incomplete", incomplete_details={"reason": "max_tool_calls"}), "'max_tool_calls'"),
        (response(status="cancelled"), "no whole reply"),
        (response(status="in_progress"), "no whole reply"),
        (response(output=[]), "no text"),
        (response(status="failed", error={"code": "server_error", "message": "out of memory"}), "out of memory"),
        (response(output=[{"type": "message", "content": [{"type": "refusal", "refusal": "I won't."}]}]), "I won't"),
        (reply(), "not a reply"),
    ],
)
def test_an_incomplete_response_is_an_error(endpoint: Endpoint, body: Any, said: str) -> None:
    assert said in endpoint.answer(body).failure(api="responses")


@pytest.mark.parametrize(
    "thought",
    [
        reply("<think>hm, and hm"),
        reply("<think>hm, and hm</think>\n"),
        reply("", message={"reasoning_content": "hm, and hm"}),
        reply("\n", message={"reasoning": "hm, and hm"}),
    ],
)
def test_reasoning_alone_is_not_an_answer(endpoint: Endpoint, thought: dict[str, Any]) -> None:
    assert "no text" in endpoint.answer(thought).failure()


def test_reasoning_tokens_are_counted_within_the_output(endpoint: Endpoint) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 30, "completion_tokens_details": {"reasoning_tokens": 25}}
    answer = endpoint.answer(reply(usage=usage)).model(reasoning_effort="high").complete(HELLO, purpose="ask")
    assert answer.usage == Usage(9, 30, 0, 25)
    assert endpoint.asked[0]["reasoning_effort"] == "high"
