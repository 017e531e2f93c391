"""An error of an endpoint names its cause, and is tried again only if that can help."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from support.reply_server import HELLO, Endpoint, reply

from codeplan.errors import ModelError
from codeplan.llm.endpoint_errors import EndpointError, parse_retry_after
from codeplan.llm.openai_client import OpenAIModel

PAGE = b"<!DOCTYPE html>\n<html><head><title>Just a moment...</title></head><body>Wait</body></html>"
NGINX = b"<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1><hr>nginx</body></html>"

CAUSES: dict[str, tuple[int, Any, str, int]] = {
    "FastAPI's list": (
        422,
        {"detail": [{"loc": ["body", "messages"], "msg": "field required"}]},
        "body.messages: field required",
        1,
    ),
    "two faults": (
        422,
        {"detail": [{"loc": ["body", "messages", 0], "msg": "too short"}, {"loc": ["body", "n"], "msg": "bad"}]},
        "body.messages.0: too short; body.n: bad",
        1,
    ),
    "Google's list": (
        400,
        [{"error": {"code": 400, "message": "no such schema", "status": "INVALID_ARGUMENT"}}],
        "no such schema",
        1,
    ),
    "errors by field": (422, {"errors": {"messages": ["must not be empty"]}}, "messages: must not be empty", 1),
    "a problem document": (400, {"title": "Bad", "detail": "no temperature here"}, "no temperature here", 1),
    "a list of texts": (400, {"errors": ["one", "two"]}, ": one; two;", 1),
    "an error in text": (400, b'\xef\xbb\xbf{"error": {"message": "with a mark"}}', ": with a mark;", 1),
    "plain text": (400, b"just words", ": just words;", 1),
    "the provider's own error": (
        400,
        {"error": {"message": "Provider returned error", "metadata": {"raw": '{"error": {"message": "bad tool"}}'}}},
        "Provider returned error: bad tool",
        1,
    ),
    "no such path": (
        404,
        NGINX,
        "has no such path (404) with an HTML page ('404 Not Found'); check that the base URL",
        1,
    ),
    "no such path in JSON": (
        404,
        {"detail": "Not Found"},
        "has no such path (404): Not Found; check that the base URL",
        1,
    ),
    "no such path in text": (404, b"404 page not found", "has no such path (404)", 1),
    "no words": (404, b"", "has no such path (404)", 1),
    "Express": (
        404,
        b"<!DOCTYPE html><html><body><pre>Cannot POST /chat</pre></body></html>",
        "has no such path (404)",
        1,
    ),
    "another method": (405, {"detail": "Method Not Allowed"}, "has no such path (405)", 1),
    "no such model": (
        404,
        {"error": {"message": 'model "tiny" not found, try pulling it first'}},
        "knows no model 'tiny'",
        1,
    ),
    "no such deployment": (
        404,
        {"error": {"code": "DeploymentNotFound", "message": "It does not exist."}},
        "knows no model",
        1,
    ),
    "a firewall": (403, PAGE, "refused the request (403) with an HTML page ('Just a moment')", 1),
    "a page as an answer": (200, PAGE, "answered with an HTML page ('Just a moment')", 1),
    "a page without title": (200, b"\n<html>hm</html>", "answered with an HTML page, not with a reply", 1),
    "a comment before a page": (200, b"<!-- x -->\n<html>hm</html>", "answered with an HTML page", 1),
    "a gateway's words beside a code": (200, {"code": 401, "msg": "the token has expired"}, "the token has expired", 1),
    "a gateway's words in a status": (200, {"status": "error", "message": "upstream is busy"}, "upstream is busy", 3),
    "null for choices, with a reason": (200, {"choices": None, "detail": "no worker"}, "no worker", 3),
    "an error of the choice": (
        200,
        reply("Hel", "error", choices=[{"message": {"content": "Hel"}, "error": {"code": 502, "message": "lost it"}}]),
        "lost it",
        3,
    ),
    "the words of MiniMax": (
        200,
        {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
        "answered with an error instead of a reply: insufficient balance",
        1,
    ),
    "a proxy's words": (200, b"upstream connect error", "not a reply of its API ('upstream connect error');", 3),
    "another kind of text": (200, b"x" * 2000, "something that is not a reply of its API; check", 3),
    "a wrapping of a reply": (200, {"code": 0, "msg": "ok", "data": reply()}, "not a reply of its API", 2),
    "nothing": (200, b"", "answered with an empty body; check", 3),
    "an event that is an error": (
        200,
        b'data: {"choices": [{"delta": {"content": "Hel"}}]}\n\nevent: error\ndata: {"message": "Overloaded"}\n\n',
        "an error instead of a reply: Overloaded;",
        3,
    ),
    "a stream without an end": (
        200,
        b'data: {"choices": [{"delta": {"content": "Hel"}}]}\n\n',
        "ended its stream before the reply was whole; try again later",
        3,
    ),
    "a stream of nothing": (200, b"data: 7\n\n", "answered with a stream that holds no reply of its API", 2),
    "a stream of its end alone": (200, b"data: [DONE]\n\n", "answered with a stream that holds no reply", 2),
    "a stream of an error without its name": (
        200,
        b'data: {"object": "error", "message": "engine died", "code": 500}\n\ndata: [DONE]\n\n',
        "an error instead of a reply: engine died",
        3,
    ),
    "a stream whose first piece is followed by an error": (
        200,
        b'data: {"choices": [{"delta": {"role": "assistant", "content": null}}]}\n\n'
        b'data: {"choices": null, "error_code": 500, "detail": "engine died"}\n\n',
        "an error instead of a reply: engine died",
        3,
    ),
    "a backend's error within a stream": (
        200,
        b': ping\n\n{"error": {"code": 400, "message": "request exceeds the available context size"}}',
        "the prompt is too long",
        1,
    ),
    "LM Studio's path without /v1": (
        200,
        {"error": "Unexpected endpoint or method. (POST /chat/completions)"},
        "Unexpected endpoint or method. (POST /chat/completions); check that the base URL is the one of the API",
        1,
    ),
    "the words of MiniMax beside no choices": (
        200,
        {"id": "x", "choices": [], "base_resp": {"status_code": 1000, "status_msg": "unknown error"}},
        "answered with an error instead of a reply: unknown error",
        3,
    ),
    "a gateway's error with its cause": (
        400,
        {
            "error": {
                "cause": '{"error": {"message": "temperature is not supported"}}',
                "code": 400,
                "message": "failed",
            }
        },
        "(400): failed: temperature is not supported",
        1,
    ),
    "Bedrock's filter": (200, reply("", "guardrail_intervened"), "content filter", 1),
    "Azure's filter": (
        400,
        {"error": {"message": "The response was filtered", "code": "content_filter", "param": "prompt"}},
        "refused the prompt by its content filter (400): The response was filtered; change the task",
        1,
    ),
    "a request beyond the minute": (
        413,
        {
            "error": {
                "message": "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9000"
            }
        },
        "allows fewer tokens a minute than this request has (413)",
        1,
    ),
    "the same at OpenAI": (
        429,
        {"error": {"message": "Request too large for m on tokens per min (TPM): Limit 10000, Requested 12000."}},
        "allows fewer tokens a minute than this request has (429)",
        1,
    ),
    "a template without a system role": (
        400,
        {"message": "Conversation roles must alternate user/assistant/user/assistant/..."},
        "set system_role=user",
        1,
    ),
    "no model loaded": (400, {"error": "No models loaded."}, "No models loaded; change what it names", 1),
    "z.AI's filter": (200, reply("", "sensitive"), "content filter", 1),
    "JSON of another API": (200, {"status": "ok"}, "not a reply of its API", 2),
    "half of JSON": (200, b'{"choices": [', "not a reply of its API", 3),
    "too little memory": (500, {"error": "model requires more system memory (9 GiB) than is available"}, "9 GiB", 1),
    "what a server cannot": (501, {"error": "no tools here"}, "failed (501): no tools here", 1),
    "a request that fails always": (
        500,
        {"error": {"message": "This model does not support tools"}},
        "does not support",
        1,
    ),
    "a failure that may pass": (500, {"error": {"message": "overloaded"}}, "overloaded; try again later", 3),
    "a gateway's page": (502, PAGE, "failed (502); try again later", 3),
    "no money": (402, {"error": {"message": "Insufficient credits"}}, "the quota is used up (402)", 1),
    "no money, said with 400": (
        400,
        {"error": {"message": "Your credit balance is too low to access"}},
        "the quota is used up",
        1,
    ),
    "a login for the proxy": (407, b"", "a proxy that wants a login (407)", 1),
    "no system role": (400, {"error": {"message": "System role not supported"}}, "set system_role=user", 1),
    "no system role for o1": (
        400,
        {"error": {"message": "Unsupported value: 'messages[0].role' does not support 'system' with this model."}},
        "set system_role=user",
        1,
    ),
    "an error that lasts, in a reply": (
        200,
        {"error": {"code": 402, "message": "Insufficient credits"}},
        "Insufficient",
        1,
    ),
    "an error that may pass, in a reply": (200, {"error": {"code": 503, "message": "no provider"}}, "no provider", 3),
    "reasoning alone": (200, reply(None, message={"reasoning_content": "hm"}), "sent only reasoning and no text", 2),
    "reasoning up to the limit": (
        200,
        reply("", "length", message={"reasoning": "hm"}),
        "its reasoning took all tokens",
        1,
    ),
}


@pytest.mark.parametrize("name", CAUSES)
def test_an_error_names_its_cause_and_is_tried_as_often_as_that_helps(endpoint: Endpoint, name: str) -> None:
    status, body, said, attempts = CAUSES[name]
    assert said in endpoint.answer(body, status, Retry_After="0.001").failure(max_retries=2)
    assert len(endpoint.asked) == attempts


@pytest.mark.parametrize("path", ["/chat/completions", "/responses", "/models"])
@pytest.mark.parametrize(("status", "body"), [(404, {"error": "no"}), (200, PAGE), (404, {"detail": "Not Found"})])
def test_a_base_url_with_a_path_too_many_is_told(endpoint: Endpoint, path: str, status: int, body: Any) -> None:
    endpoint.answer(body, status)
    with pytest.raises(ModelError, match=f"the base URL has the path {path} too many: give {endpoint.url}$"):
        OpenAIModel("tiny", base_url=endpoint.url + path, api_key="x").complete(HELLO, purpose="ask")


@pytest.mark.parametrize(("said", "low", "high"), [(40, 35, 40), (-40, 0, 0), (0.4, 0, 1)])
def test_a_date_says_how_long_to_wait(said: float, low: float, high: float) -> None:
    waits = parse_retry_after({"retry-after": formatdate(time.time() + said, usegmt=True)})
    assert waits is not None
    assert low <= waits <= high


USAGES = [
    ("empty, at the context's end", "", 32_767, 1, None, True),
    ("short, at the context's end", "Hel", 4_000, 96, None, True),
    ("less than was asked for", "Hel", 30_000, 700, 1_000, True),
    ("as much as was asked for", "Hel", 30_000, 1_000, 1_000, False),
    ("at a limit of the endpoint", "Hel", 3_000, 100, None, False),
    ("mostly reply", "Hel", 50, 974, None, False),
    ("thoughts, at the context's end", "", 1_085, 3_011, None, True),
    ("more was asked for than there is room", "Hel", 1_085, 3_010, 8_000, True),
    ("a limit of the endpoint, below what was asked for", "Hel", 3_000, 4_000, 8_000, False),
    ("without usage", "Hel", None, None, None, False),
]


@pytest.mark.parametrize(
    ("text", "sent", "written", "limit", "full"), [u[1:] for u in USAGES], ids=[u[0] for u in USAGES]
)
def test_a_full_context_is_told_from_a_limit_of_tokens(
    endpoint: Endpoint, text: str, sent: int | None, written: int | None, limit: int | None, full: bool
) -> None:
    endpoint.answer(reply(text, "length", usage={"prompt_tokens": sent, "completion_tokens": written}))
    with pytest.raises(EndpointError) as caught:
        endpoint.model(max_tokens=limit).complete(HELLO, purpose="ask")
    assert (caught.value.prompt_too_long, caught.value.reply_cut) == (full, not full)
    assert ("its context is full" in str(caught.value), "raise max_tokens" in str(caught.value)) == (full, not full)
    assert len(endpoint.asked) == 1


def test_a_refused_proxy_is_named_without_its_login(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("HTTP_PROXY", f"http://me:hunter-22@127.0.0.1:{port}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(ModelError) as caught:
        OpenAIModel("tiny", base_url="http://models.example/v1", api_key="x").complete(HELLO, purpose="ask")
    said = str(caught.value)
    assert f"through the proxy http://127.0.0.1:{port} (" in said
    assert "check HTTP_PROXY, or put models.example into NO_PROXY" in said
    assert "attempts" not in said
    assert "hunter" not in said


def test_a_host_that_does_not_exist_is_asked_for_once() -> None:
    with pytest.raises(ModelError) as caught:
        OpenAIModel("tiny", base_url="http://nowhere.invalid/v1", api_key="x", deadline=5).complete(
            HELLO, purpose="ask"
        )
    assert "nowhere.invalid/v1 cannot be reached (" in str(caught.value)


@contextmanager
def serve_tls(folder: Path) -> Iterator[Endpoint]:
    """An endpoint whose certificate, ``folder/own.pem``, nobody has signed."""
    what = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "own.key", "-out", "own.pem"]
    subprocess.run(["openssl", *what, *files], cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "own.pem", folder / "own.key")
    with Endpoint() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


ASK = """\
import sys
from codeplan.llm.openai_client import OpenAIModel
print(OpenAIModel("tiny", base_url=sys.argv[1], api_key="x").complete([{"role": "user", "content": "?"}], purpose="ask").text)
"""


def test_a_certificate_that_is_not_trusted_is_named_with_the_variable_that_helps(tmp_path: Path) -> None:
    with serve_tls(tmp_path) as server:
        url = server.answer(reply()).url.replace("http://", "https://")
        with pytest.raises(
            ModelError, match=r"does not trust \(self-signed certificate\); set SSL_CERT_FILE"
        ) as caught:
            OpenAIModel("tiny", base_url=url, api_key="x").complete(HELLO, purpose="ask")
        assert "attempts" not in str(caught.value)
        environment = {"SSL_CERT_FILE": str(tmp_path / "own.pem"), "PATH": ""}
        asked = subprocess.run(
            [sys.executable, "-c", ASK, url], env=environment, capture_output=True, text=True, check=False
        )
        gone = subprocess.run(
            [sys.executable, "-c", ASK, url],
            env=environment | {"SSL_CERT_FILE": str(tmp_path / "gone.pem")},
            capture_output=True,
            text=True,
            check=False,
        )
    assert (asked.stdout, asked.stderr) == ("Hello.\n", "")
    assert "the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be loaded (No such file" in gone.stderr


def test_tls_at_a_port_without_it_is_told(endpoint: Endpoint) -> None:
    url = endpoint.answer(reply()).url.replace("http://", "https://")
    with pytest.raises(ModelError, match="does not speak TLS .* whether the base URL begins with http://"):
        OpenAIModel("tiny", base_url=url, api_key="x").complete(HELLO, purpose="ask")
