"""The one model behind all runners: asked at an endpoint and recorded, or replayed from a recording.

A recording is a file of JSON lines, one for each call: a digest of the prompt, and the reply. The task's folder, which
is another one in each run, is written as ``@FOLDER@`` in replies. Tokens are counted here, by one tokenizer for all.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
import urllib.request
from collections.abc import Sequence
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 3_000
ENCODING = "o200k_base"
PLACE = "@FOLDER@"  # nothing that a plan may contain itself, such as the {folder} of an f-string
SAME_FOLDER = "/tmp/codeplan-task-abcdefgh"


class OutOfReplies(Exception):
    """A recording has no further reply: the runner asks more often than it did when it was recorded."""


@cache
def encoder() -> Any:
    """The tokenizer, from the folder that install.sh made."""
    sys.path.append(f"{os.environ['TOOL_TASKS_SERVERS']}/tokens")
    import bpe_openai

    return bpe_openai.get_encoding(ENCODING)


def count_tokens(text: str) -> int:
    """How many tokens a text has."""
    return len(encoder().encode_ordinary(text))


def plain_messages(messages: Sequence[Any]) -> list[dict[str, str]]:
    """Messages whose content is one text, where clients may send a list of parts."""

    def text(content: Any) -> str:
        return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])

    return [{"role": m["role"], "content": text(m["content"])} for m in messages]


class RecordedModel:
    """Answers from ``replies`` in their order, or by asking at ``url``. ``usage`` counts calls and tokens.

    ``changed`` counts replies whose prompt is not the one that was recorded: they may not be what the model would say.
    """

    def __init__(self, folder: Path, *, url: str = "", name: str = "m", replay: Path | None = None) -> None:
        self.folder, self.url, self.name = str(folder), url, name
        lines = replay.read_text(encoding="utf-8").splitlines() if replay else []
        self.recorded = [json.loads(line) for line in lines]
        self.new: list[dict[str, str]] = []
        self.calls = self.input_tokens = self.output_tokens = self.changed = 0
        self._lock = threading.Lock()

    def answer(self, messages: Sequence[Any], stop: Sequence[str] = ()) -> str:
        """The reply to a chat. Raises: OutOfReplies."""
        with self._lock:
            plain = plain_messages(messages)
            prompt = json.dumps(plain).replace(self.folder, "{folder}")
            digest = hashlib.sha256(prompt.encode()).hexdigest()[:16]
            reply = cut(self._reply(plain, digest), stop)
            self.calls += 1
            self.input_tokens += sum(self._count(m["content"]) for m in plain)
            self.output_tokens += self._count(reply)
            self.new.append({"prompt": digest, "reply": reply.replace(self.folder, PLACE)})
            return reply

    def _count(self, text: str) -> int:
        """The tokens of a text in which the task's folder always has the same name."""
        return count_tokens(text.replace(self.folder, SAME_FOLDER))

    def _reply(self, messages: list[dict[str, str]], digest: str) -> str:
        if self.url:
            return ask(self.url, self.name, messages)
        if self.calls >= len(self.recorded):
            raise OutOfReplies(f"the recording has {len(self.recorded)} replies, and one more is asked for")
        found = self.recorded[self.calls]
        self.changed += found["prompt"] != digest
        return str(found["reply"]).replace(PLACE, self.folder)

    def save(self, path: Path) -> None:
        """Write the calls so far as a recording."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in self.new), encoding="utf-8")


def cut(reply: str, stop: Sequence[str]) -> str:
    """The reply up to the first of the stop sequences."""
    return reply[: min([at for s in stop if (at := reply.find(s)) >= 0], default=len(reply))]


def ask(url: str, model: str, messages: list[dict[str, str]]) -> str:
    """A reply from an endpoint with OpenAI's chat protocol."""
    body = json.dumps({"model": model, "messages": messages}).encode()
    key = os.environ.get("OPENAI_API_KEY", "none")
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    request = urllib.request.Request(f"{url}/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:
        return str(json.load(response)["choices"][0]["message"]["content"])


def serve(model: RecordedModel) -> ThreadingHTTPServer:
    """An endpoint on loopback in front of the model, for runners in another process."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            stop = body.get("stop") or []
            try:
                reply, status = model.answer(body["messages"], [stop] if isinstance(stop, str) else stop), 200
            except Exception as error:
                reply, status = f"{type(error).__name__}: {error}", 400
            message = {"role": "assistant", "content": reply}
            answer: dict[str, Any] = {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": body.get("model", ""),
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
            data = json.dumps(answer if status == 200 else {"error": {"message": reply}}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
