"""An endpoint that has no room for a prompt says so in many ways; all are recognised, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest
from support.reply_server import HELLO, Endpoint

from codeplan.errors import ModelError

OPENAI = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce "
    "the length of the messages."
)
TOO_LONG: list[tuple[int, Any]] = [
    (400, {"error": {"message": ["prompt is too long"], "code": ["context_length_exceeded"]}}),
    (400, {"error": {"message": OPENAI, "type": "invalid_request_error", "code": "context_length_exceeded"}}),
    (400, {"error": {"message": "Too much.", "code": "context_length_exceeded"}}),
    (400, {"error": {"message": "Your input exceeds the context window of this model.", "code": None}}),
    (400, {"error": {"message": "Invalid 'messages[1].content'", "code": "string_above_max_length"}}),
    (400, {"object": "error", "message": OPENAI, "type": "BadRequestError", "param": None, "code": 400}),
    (400, {"error": {"message": "The decoder prompt (length 9) is longer than the maximum model length of 8."}}),
    (400, {"error": {"code": 400, "message": "too big", "type": "exceed_context_size_error", "n_ctx": 4096}}),
    (500, {"error": {"code": 500, "message": "the request exceeds the available context size"}}),
    (400, {"error": "the input length exceeds the context length"}),
    (400, {"error": {"message": "prompt too long; exceeded max context length by 12 tokens"}}),
    (400, {"type": "error", "error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}),
    (413, {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
    (413, b"<html><h1>413 Request Entity Too Large</h1></html>"),
    (422, {"error": "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000"}),
    (400, {"error": {"message": "litellm.ContextWindowExceededError: litellm.BadRequestError: no", "code": "400"}}),
    (400, {"detail": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."}),
    (400, {"message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"}),
    (200, {"error": {"message": OPENAI, "code": "context_length_exceeded"}}),
    (200, {"error": {"code": 400, "message": "the request exceeds the available context size", "type": "x"}}),
]
SOMETHING_ELSE: list[tuple[int, Any]] = [
    (400, {"error": {"message": "temperature is not supported", "code": "unsupported_parameter"}}),
    (400, {"error": {"message": "max_tokens is too large: 5000. This model supports at most 4096 completion tokens."}}),
    (401, {"error": {"message": OPENAI, "code": "context_length_exceeded"}}),
    (404, {"error": {"message": "no model with a maximum context length"}}),
    (429, {"error": {"message": "Request too large for model on tokens per minute", "code": "rate_limit_exceeded"}}),
    (503, {"error": {"message": "prompt is too long"}}),
    (400, {"error": {"error": {"error": {"error": {"error": {"message": "prompt is too long"}}}}}}),
    (400, b"<html>prompt is too long</html>"),
    (400, b""),
]


def failure(endpoint: Endpoint, status: int, body: Any) -> ModelError:
    endpoint.answer(body, status)
    with pytest.raises(ModelError) as caught:
        endpoint.model(max_retries=2).complete(HELLO, purpose="ask")
    return caught.value


@pytest.mark.parametrize(("status", "body"), TOO_LONG)
def test_a_prompt_that_is_too_long_is_known_as_such_and_not_sent_again(endpoint, status, body):
    error = failure(endpoint, status, body)
    assert error.prompt_too_long
    assert "says that the prompt is too long for the model 'tiny'" in str(error)
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize(("status", "body"), SOMETHING_ELSE)
def test_other_errors_are_not_taken_for_it(endpoint, status, body):
    assert not failure(endpoint, status, body).prompt_too_long
