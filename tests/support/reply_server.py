"""A loopback server that sends the replies that a test gives it, for tests of the client."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from codeplan.errors import ModelError
from codeplan.llm.openai_client import OpenAIModel
from codeplan.types import Message

KEY = "sk-very-secret-0123456789"
HELLO: list[Message] = [{"role": "user", "content": "Say hello."}]


class Endpoint(ThreadingHTTPServer):
    """Answers each request with the next of its answers (the last one again and again), and keeps what it was asked.

    An answer that is a function makes the body from the request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[tuple[int, Any, dict[str, str]]] = []
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.wait = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def answer(self, body: Any, status: int = 200, **headers: str) -> Endpoint:
        self.answers.append((status, body, {name.replace("_", "-"): value for name, value in headers.items()}))
        return self

    def model(self, **settings: Any) -> OpenAIModel:
        return OpenAIModel("tiny", base_url=self.url, **{"api_key": KEY, "max_retries": 0, **settings})

    def failure(self, **settings: Any) -> str:
        with pytest.raises(ModelError) as caught:
            self.model(**settings).complete(HELLO, purpose="ask")
        said = str(caught.value)
        assert self.url in said
        assert KEY not in said
        assert "\n" not in said
        return said

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up (the time-out's test) is no news."""


class Handler(BaseHTTPRequestHandler):
    @property
    def endpoint(self) -> Endpoint:
        assert isinstance(self.server, Endpoint)
        return self.server

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.endpoint.asked.append(request)
        self._answer(request)

    def _answer(self, request: dict[str, Any]) -> None:
        self.endpoint.keys.append(self.headers["Authorization"])
        self.endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.endpoint.paths.append(self.path)
        time.sleep(self.endpoint.wait)
        answers = self.endpoint.answers
        status, body, headers = answers.pop(0) if len(answers) > 1 else answers[0]
        if callable(body):
            body = body(request)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serve_replies() as server:
        yield server


@contextmanager
def serve_replies() -> Iterator[Endpoint]:
    """A running endpoint, for tests with several."""
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def reply(content: str | None = "Hello.", finish_reason: str | None = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    choice = {"index": 0, "finish_reason": finish_reason, "message": message}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "tiny-2",
        "choices": [choice],
        "usage": usage,
    } | more


def response(**more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": "Hel"}, {"type": "output_text", "text": "lo. END and more"}]
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": content}]
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    return {
        "id": "r",
        "object": "response",
        "model": "tiny-2",
        "status": "completed",
        "output": output,
        "usage": usage,
    } | more
