"""Replies of models: the bodies that endpoints send, and the texts in them, with the methods that read them."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from functools import cache
from pathlib import Path
from typing import Any, Final

from confinement import Watch, judge_error, judge_sentence
from mutation import as_json, mutate_bytes, mutate_text, mutate_tree, odd_value
from support.raw_server import serve_raw

import codeplan
from codeplan.errors import CodeplanError
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.openai_protocol import is_context_overflow, parse_chat, parse_embeddings, parse_response, read_error
from codeplan.planning import turns
from codeplan.planning.decomposition import DecompositionError, evaluate, parse_decomposition, step_numbers
from codeplan.sandbox.language.extraction import extract
from codeplan.types import Completion, Usage

_SHARED: Final = Path(__file__).parents[3] / "shared" / "fixtures" / "model_replies.jsonl"
_PLAN: Final = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] look')
        seen = agent.report()
        assert seen, f'Error in [Step 1]: {seen}. {agent.report()}'
```"""
_TEXTS: Final = (
    _PLAN,
    "think: I look around.",
    "> go to desk 1",
    "take mug 1 from desk 1",
    "think: done. task completed",
    "task failed",
    "Step 1: find a mug\nStep 2: take the mug\nExecution order: (Step 1 AND Step 2)",
    "1) find\n2) take\nExecution order: (Step 1 OR (Step 2 AND Step 1))",
    "<think>hm</think>The failed step is 2. I resume from step 2.",
    "2",
    "Yes. The answer is `['desk 1', 'shelf 2']`.",
    "FINISH",
)
_METHODS: Final = ("adaplanner", "adapt", "react", "reflexion", "plan-and-execute", "try-again", "autoplan")


@cache
def _texts() -> tuple[str, ...]:
    """Texts of models: our own, and recorded ones where the fixtures are present."""
    found = list(_TEXTS)
    if _SHARED.is_file():
        with _SHARED.open(encoding="utf-8") as lines:
            found += [c["reply"] for line in lines for c in json.loads(line).get("calls", ())][:3_000]
    return tuple(found)


def make_text(pick: random.Random) -> str:
    """The text of a reply."""
    text = pick.choice(_TEXTS if pick.random() < 0.5 else _texts())
    return text if pick.random() < 0.2 else mutate_text(pick, text, _TEXTS)


class HostileModel:
    """A model whose every reply is drawn by a number."""

    name = "hostile"

    def __init__(self, pick: random.Random) -> None:
        self._pick = pick

    def complete(self, messages: Any, **_: Any) -> Completion:
        """A changed reply, whatever was asked."""
        text = make_text(self._pick)
        return Completion(text.encode("utf-8", "replace").decode(), Usage(1, 1), "hostile")


def judge_text(pick: random.Random, watch: Watch) -> None:
    """A text, through all that reads it without an episode."""
    text = make_text(pick)
    with watch.example(), watch.watched():
        source = extract(text)
        assert source == "" or source.endswith("\n")
        line = turns.first_line(text)
        assert "\n" not in line
        assert turns.is_thought(line) in (True, False)
        assert turns.parse_claim(line) in (True, False, None)
        try:
            found = parse_decomposition(text)
            assert set(step_numbers(found.order)) == set(found.steps)
            assert evaluate(found.order, lambda step: True) is True
        except DecompositionError as error:
            judge_sentence(str(error))


def judge_episode(pick: random.Random, watch: Watch) -> None:
    """A short episode in which every reply of the model is hostile."""
    env = pick.choice(["household", "household", "textcraft"])
    budget = codeplan.Budget(actions=15, model_calls=12, refinements=3)
    with watch.example() as folder, watch.watched():
        try:
            result = codeplan.run(
                env, method=pick.choice(_METHODS), model=HostileModel(pick), budget=budget, out=folder / "run"
            )
            assert result.success in (True, False)
        except CodeplanError as error:
            judge_error(error)


# ------------------------------------------------------------------ bodies

_USAGE: Final = {
    "prompt_tokens": 3,
    "completion_tokens": 4,
    "total_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 1},
}
_CHAT: Final = {
    "id": "c",
    "object": "chat.completion",
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "take mug 1"}}],
    "usage": _USAGE,
}
_RESPONSE: Final = {
    "id": "r",
    "object": "response",
    "status": "completed",
    "model": "m",
    "output": [
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "take mug 1"}]},
    ],
    "usage": {"input_tokens": 3, "output_tokens": 4, "output_tokens_details": {"reasoning_tokens": 1}},
}
_ERROR: Final = {
    "error": {
        "message": "maximum context length is 5",
        "code": "context_length_exceeded",
        "type": "invalid_request_error",
    }
}
_EMBEDDINGS: Final = {
    "data": [{"index": 0, "embedding": [0.1, 0.2]}, {"index": 1, "embedding": [0.3, 0.4]}],
    "usage": {"total_tokens": 3},
}
_BODIES: Final = (_CHAT, _RESPONSE, _ERROR, _EMBEDDINGS)


def make_body(pick: random.Random) -> bytes:
    """The body of an answer."""
    tree = mutate_tree(pick, pick.choice(_BODIES), _BODIES) if pick.random() < 0.9 else odd_value(pick)
    data = as_json(tree)
    return mutate_bytes(pick, data) if pick.random() < 0.2 else data


def judge_body(pick: random.Random, watch: Watch) -> None:
    """A body, read by all that read bodies; often also sent to the real client over a real connection."""
    body = make_body(pick)
    with watch.example(), watch.watched():
        for parse in (parse_chat, parse_response, lambda data: parse_embeddings(data, 2)):
            parse(body)
        try:
            told = read_error(json.loads(body))
        except (ValueError, RecursionError):
            told = read_error(body.decode("utf-8", "replace"))
        assert isinstance(is_context_overflow(pick.choice([None, 400, 413, 500]), told), bool)
    if pick.random() < 0.3:
        _judge_client(pick, body, watch)


def _judge_client(pick: random.Random, body: bytes, watch: Watch) -> None:
    """The real client against a server that sends this body."""
    answer = _http_answer(pick, body)
    with watch.example(), serve_raw(lambda: [answer]) as url:
        model = OpenAIModel("m", base_url=url, max_retries=0, timeout=5)
        try:
            if pick.random() < 0.3:
                model.embed(["a", "b"], model="m")
            else:
                completion = model.complete([{"role": "user", "content": "x"}], purpose="ask")
                assert isinstance(completion.text, str)
        except CodeplanError as error:
            judge_error(error)


def _http_answer(pick: random.Random, body: bytes) -> bytes:
    status = pick.choice(
        ["200 OK", "200 OK", "200 OK", "400 Bad", "413 Large", "429 Slow", "500 Broken", "302 Found", "999 ?"]
    )
    headers = ["content-type: application/json"]
    match pick.randrange(8):
        case 0:
            body, encoding = gzip.compress(body * pick.choice([1, 300])), "gzip"
        case 1:
            body, encoding = zlib.compress(body), pick.choice(["deflate", "gzip", "br", "x" * 500])
        case _:
            encoding = ""
    headers += [f"content-encoding: {encoding}"] * bool(encoding)
    if status.startswith("302"):
        headers.append(f"location: {pick.choice(['http://127.0.0.1:9/', '/', '//x', 'file:///etc/passwd', ''])}")
    if pick.random() < 0.1:
        headers.append(pick.choice(["retry-after: nan", "retry-after: -5", "x: " + "a" * 70_000, "content-length: -1"]))
    length = len(body) + pick.choice([0] * 9 + [7])
    head = "\r\n".join([f"HTTP/1.1 {status}", *headers, f"content-length: {length}", "connection: close", "", ""])
    return head.encode("utf-8", "replace") + body
