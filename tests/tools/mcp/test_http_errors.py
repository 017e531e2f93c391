"""Errors of HTTP during a call: refused, in doubt, or made again because it is certain that it was not done."""

import json
import socket
import threading
from http import HTTPStatus

import pytest
from support.mcp_site import Site, site, text

from codeplan.errors import AgentError, EnvironmentFailure
from codeplan.tools.failures import DoubtfulCall
from codeplan.tools.mcp import McpServers


def outcome_of(status, body=b"", **headers):
    """The error of a call that is answered so, and how often it was sent."""
    calls = []

    def call(handler, number):
        calls.append(number)
        told = body(number) if callable(body) else body
        handler.send(status, told if isinstance(told, bytes) else json.dumps(told).encode(), **headers)

    with site(call) as (_, address), McpServers([address], seconds=20) as servers, pytest.raises(AgentError) as caught:
        servers.tools[0].call({})
    assert "\n" not in str(caught.value)
    return caught.value, len(calls)


def error_of(message, code=-32_000):
    return lambda number: {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


HTML = {"content-type": "text/html; charset=utf-8"}


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504, 520, 522, 524, 202, 204])
@pytest.mark.parametrize(("body", "headers"), [(b"", {}), (b"<html><h1>Bad gateway</h1></html>", HTML)])
def test_what_may_have_been_done_is_in_doubt_and_not_repeated(status, body, headers):
    error, calls = outcome_of(status, b"" if status == 204 else body, **headers)
    assert isinstance(error, DoubtfulCall) and calls == 1
    assert f"HTTP status {status}" in str(error) and str(error).endswith("; whether it was done is unknown")


@pytest.mark.parametrize("body", [b"<html>", b"12"])
def test_a_page_in_place_of_an_answer_leaves_the_call_in_doubt(body):
    error, _ = outcome_of(200, body, **HTML)
    assert isinstance(error, DoubtfulCall) and "an answer of the type text/html" in str(error)


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_gateway_that_speaks_json_rpc_does_not_know_either(status):
    error, _ = outcome_of(status, error_of("upstream timed out"))
    assert isinstance(error, DoubtfulCall) and "upstream timed out" in str(error)


@pytest.mark.parametrize("status", [400, 404, 422, 500])
def test_a_servers_own_answer_is_a_plain_error_whatever_the_status(status):
    error, calls = outcome_of(status, error_of("the session of the court is over", -32_602))
    assert (type(error), error.error, str(error), calls) == (
        AgentError, "ValueError", "look failed: the session of the court is over", 1
    )  # fmt: skip


@pytest.mark.parametrize(
    ("status", "body", "headers", "said"),
    [
        (400, {"error": "bad\nrequest"}, {}, "HTTP status 400 (Bad Request): bad request"),
        (401, b"", {}, "HTTP status 401 (Unauthorized); it wants a key"),
        (
            403,
            b"<html><head><title>Just a moment</title></head></html>",
            HTML,
            "(Forbidden): a web page ('Just a moment'); the page is that of a proxy or firewall before the server",
        ),
        (403, {"message": "read only"}, {}, "HTTP status 403 (Forbidden): read only; the key that"),
        (409, {"detail": "locked"}, {}, "HTTP status 409 (Conflict): locked"),
        (413, b"too large", {"content-type": "text/plain"}, f"HTTP status 413 ({HTTPStatus(413).phrase}): too large"),
        (
            422,
            {"detail": [{"loc": ["x"], "msg": "no number"}]},
            {},
            f"HTTP status 422 ({HTTPStatus(422).phrase}): no number",
        ),
        (429, {"error": {"message": "slow down"}}, {"retry-after": "7"}, "slow down; it may be asked again in 7 s"),
        (401, {"error": "invalid_token", "error_description": "it expired"}, {}, "invalid_token: it expired"),
        (
            401,
            b"",
            {"www-authenticate": 'Bearer resource_metadata="https://a"'},
            "it offers a login by OAuth; log in: codeplan mcp login http://127.0.0.1:",
        ),
        (501, b"<html>", HTML, "HTTP status 501 (Not Implemented)"),
        (418, b"\x1b[2J{" * 1_000, {}, "HTTP status 418"),
        (418, b"[" * 100_000, {}, "HTTP status 418"),
    ],
)
def test_a_refusal_is_a_plain_error_with_the_sites_words(status, body, headers, said):
    error, calls = outcome_of(status, body, **headers)
    assert type(error) is AgentError and calls == 1
    assert str(error).startswith("look failed: HTTP status") and said in str(error) and len(str(error)) < 600


# ------------------------------------------------------------------ lost sessions and connections

SESSION_LOST = [
    (404, b""),
    (404, {"jsonrpc": "2.0", "id": None, "error": {"code": -32_001, "message": "Session not found"}}),
    (400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32_000, "message": "Bad Request: No valid session ID"}}),
    (400, {"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32_600, "message": "Missing session ID"}}),
    (400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32_000, "message": "Bad Request: Server not initialized"}}),
    (400, {"error": "Invalid session"}),
]


class Restarted(Site):
    """Has forgotten the session of every second call."""

    calls = 0

    def answer_call(self, number):
        Restarted.calls += 1
        if Restarted.calls % 2:
            status, body = self.server.forgets
            return self.send(status, body if isinstance(body, bytes) else json.dumps(body).encode())
        return self.answer(number, text("again"))


@pytest.mark.parametrize("forgets", SESSION_LOST)
def test_a_call_that_meets_a_forgotten_session_is_made_in_a_new_one(forgets):
    with site(Restarted.answer_call, Restarted) as (server, address), McpServers([address], restarts=0) as servers:
        server.forgets = forgets
        assert [servers.tools[0].call({}) for _ in range(3)] == ["again"] * 3
        methods = [method for method, _ in server.seen]
        assert (methods.count("initialize"), methods.count("tools/call")) == (4, 6)


def test_a_site_that_forgets_every_session_is_not_asked_for_ever():
    error, calls = outcome_of(404)
    assert calls == 2 and type(error) is AgentError
    assert str(error) == "the MCP server site has forgotten the session again; look was not done"


def test_a_missing_stream_is_no_forgotten_session():
    class NoStream(Site):
        def do_GET(self):
            self.send(404, b"")

    with site(lambda h, n: h.answer(n, text("hi")), NoStream) as (server, address), McpServers([address]) as servers:
        assert [servers.tools[0].call({}) for _ in range(2)] == ["hi", "hi"]
        assert [method for method, _ in server.seen].count("initialize") == 1


def test_400_without_a_word_of_the_session_is_a_refusal():
    error, calls = outcome_of(400, {"error": "no such tool"})
    assert (str(error), calls) == ("look failed: HTTP status 400 (Bad Request): no such tool", 1)


def test_a_call_that_could_not_be_sent_is_not_in_doubt():
    class Closing(Site):
        protocol_version = "HTTP/1.0"

    with site(None, Closing) as (server, address), McpServers([address], seconds=5) as servers:
        server.shutdown()
        server.server_close()
        with pytest.raises(EnvironmentFailure, match="the MCP server site cannot be reached at 127"):
            servers.tools[0].call({})


def test_a_connection_that_breaks_after_the_call_was_sent_leaves_it_in_doubt():
    calls = []

    def call(handler, number):
        calls.append(number)
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)

    with site(call) as (_, address), McpServers([address]) as servers, pytest.raises(DoubtfulCall):
        servers.tools[0].call({})
    assert len(calls) == 1


def test_an_answer_that_breaks_off_leaves_the_call_in_doubt():
    def call(handler, number):
        handler.send_response(200)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"jsonrpc":"2.0","id":')
        handler.close_connection = True

    with site(call) as (_, address), McpServers([address]) as servers, pytest.raises(DoubtfulCall):
        servers.tools[0].call({})


def test_of_two_calls_at_once_each_has_its_own_status():
    both = threading.Barrier(2, timeout=20)

    def call(handler, number):
        both.wait()
        handler.send(504 if number % 2 else 429, b"")

    errors = []
    with site(call) as (_, address), McpServers([address]) as servers:

        def run():
            with pytest.raises(AgentError) as caught:
                servers.tools[0].call({})
            errors.append(type(caught.value))

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(errors, key=str) == sorted([DoubtfulCall, AgentError], key=str)


# ------------------------------------------------------------------ opening


def opening_fault(status, body=b"{}"):
    class Refusal(Site):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send(status, body)

    with site(None, Refusal) as (_, address), pytest.raises(EnvironmentFailure) as caught:
        McpServers([address]).__enter__()
    return str(caught.value)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, '"headers": {"Authorization": "Bearer ${env:NAME}"}'),
        (403, "does not permit this"),
        (404, "is its URL right?"),
        (405, '"type": "sse"'),
        (406, "is its URL that of an MCP server?"),
        (415, "is its URL that of an MCP server?"),
        (503, "Service Unavailable"),
    ],
)
def test_a_site_that_refuses_to_open_is_named_with_what_to_do(status, advice):
    fault = opening_fault(status)
    assert fault.startswith(f"the MCP server site cannot be used: HTTP status {status} (") and advice in fault
