"""Servers at a URL that misbehave: what they send is bounded, and ends in a sentence."""

import gzip
import json
import socket
import threading
import time

import pytest
from support.mcp_site import Site, site, text

from codeplan.errors import AgentError, EnvironmentFailure
from codeplan.tools.mcp import McpServers


class Moved(Site):
    def do_POST(self):
        if self.path == "/mcp":
            self.rfile.read(int(self.headers["content-length"]))
            self.send(307, b"", location="/moved")
        else:
            super().do_POST()


class Impatient(Site):
    """Closes a connection that was not used for 3 seconds when the next call arrives. uvicorn does so after 5."""

    used_at = None

    def do_POST(self):
        if self.used_at and time.monotonic() - self.used_at > 3:
            self.close_connection = True
            return
        super().do_POST()
        self.used_at = time.monotonic()

    def do_GET(self):
        """A stream of messages, which has none."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.rfile.read(1)
        self.close_connection = True


def fault_of(call, seconds=20):
    with (
        site(call) as (_, address),
        McpServers([address], seconds=seconds) as servers,
        pytest.raises((AgentError, EnvironmentFailure)) as caught,
    ):
        servers.tools[0].call({})
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 700
    return str(caught.value)


def pour(handler, kind, chunk, *headers):
    """Send a chunk of the body again and again, until the reader goes."""
    handler.send_response(200)
    for name, value in (("content-type", kind), *headers):
        handler.send_header(name, value)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(chunk)
    except OSError:
        pass


def test_a_call_carries_the_headers_and_the_session_ends():
    with site(lambda handler, n: handler.answer(n, text("hi"))) as (server, address):
        with McpServers([address]) as servers:
            assert servers.tools[0].call({}) == "hi"
        headers = next(headers for method, headers in server.seen if method == "tools/call")
        assert {k.lower(): v for k, v in headers.items()}["x-key"] == "k"
        assert server.seen[-1][0] == "DELETE"


def test_a_body_that_is_too_large_is_not_read():
    def call(handler, _):
        pour(handler, "application/json", b"x" * (1 << 20), ("content-length", str(1 << 30)))

    words = "sent a message of more than 16 MiB during look; whether it was done is unknown"
    assert fault_of(call) == f"the MCP server site {words}"


def test_a_compressed_body_is_not_unpacked():
    body = gzip.compress(b"x" * (64 << 20))
    assert "sent a compressed message" in fault_of(lambda h, n: h.send(200, body, **{"content-encoding": "gzip"}))


def test_a_list_of_tools_that_does_not_come_is_not_blamed_on_the_missing_stream():
    def hang(handler, number, result, **headers):
        if "tools" in result:
            handler.server.hanging.wait(30)
        Site.send(handler, 200, json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode(), **headers)

    with site(None) as (server, address):
        server.hanging = threading.Event()
        server.RequestHandlerClass = type("Hanging", (Site,), {"answer": hang})
        with pytest.raises(EnvironmentFailure, match=r"the MCP server site does not answer in time$"):
            McpServers([address], seconds=2).__enter__()
        server.hanging.set()


@pytest.mark.parametrize("line", [b"data: " + b"x" * (1 << 20), b": comment\n\n"])
def test_an_endless_stream_of_events_is_given_up(line):
    assert fault_of(lambda handler, _: pour(handler, "text/event-stream", line, ("connection", "close")), seconds=3)


def test_a_flood_of_events_ends_the_connection():
    event = b'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n'

    def call(handler, _):
        pour(handler, "text/event-stream", event * 100, ("connection", "close"))

    assert "messages that nobody asked for" in fault_of(call, seconds=60)


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (302, b"", {"location": "http://127.0.0.1:9/elsewhere"}),
        (200, b"<html>", {"content-type": "text/html"}),
        (200, b"[" * 100_000, {}),
        (500, b"\x1b[2J" * 1_000, {"content-type": "text/plain"}),
    ],
)
def test_an_answer_that_is_none_is_an_error_of_the_call(status, body, headers):
    assert fault_of(lambda handler, _: handler.send(status, body, **headers))


def test_an_answer_that_cannot_be_read_is_not_quoted():
    words = "Failed to parse JSON response; whether it was done is unknown"
    assert fault_of(lambda handler, _: handler.send(200, b"{secret")) == f"look failed: {words}"


def test_a_site_that_does_not_answer_is_named_so():
    with site(None) as (server, address):
        server.hanging = threading.Event()
        server.RequestHandlerClass = type("Hanging", (Site,), {"do_POST": lambda self: server.hanging.wait(30)})
        with pytest.raises(EnvironmentFailure, match=r"the MCP server site does not answer in time$"):
            McpServers([address], seconds=1).__enter__()
        server.hanging.set()


def test_a_connection_that_its_server_is_about_to_close_is_not_used_again():
    answer = lambda handler, number: handler.answer(number, text("hi"))  # noqa: E731
    with site(answer, Impatient) as (_, address), McpServers([address]) as servers:
        time.sleep(3.5)
        assert servers.tools[0].call({}) == "hi"


def test_a_call_that_takes_too_long_leaves_the_connection_open():
    release, numbers = threading.Event(), []

    def call(handler, number):
        numbers.append(number)
        if len(numbers) < 4:
            release.wait(30)
        handler.answer(number, text("in time"))

    with site(call) as (server, address), McpServers([address], seconds=0.5) as servers:
        for _ in range(3):
            with pytest.raises(AgentError, match=r"look did not answer within 0\.5 s"):
                servers.tools[0].call({})
        assert servers.tools[0].call({}) == "in time"
        release.set()
        assert [method for method, _ in server.seen].count("initialize") == 1


def test_a_redirect_within_the_site_is_followed():
    with (
        site(lambda handler, n: handler.answer(n, text("hi")), Moved) as (_, address),
        McpServers([address]) as servers,
    ):
        assert servers.tools[0].call({}) == "hi"


def test_after_a_dropped_connection_the_next_call_is_made():
    numbers = []

    def call(handler, number):
        numbers.append(number)
        if len(numbers) > 1:
            handler.answer(number, text("again"))
        else:
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)

    with site(call) as (_, address), McpServers([address]) as servers:
        with pytest.raises(AgentError, match="the MCP server site ended during look; whether it was done is unknown"):
            servers.tools[0].call({})
        servers.tools[0].prepare()
        assert servers.tools[0].call({}) == "again"


@pytest.mark.parametrize("code", [-32_000, -32_001, -32_603])
@pytest.mark.parametrize("status", [200, 500])
def test_a_site_says_itself_why_a_call_failed_whatever_the_code(code, status):
    def call(handler, number):
        error = {"code": code, "message": "the shelf is empty"}
        handler.send(status, json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode())

    assert fault_of(call).startswith("look failed: the shelf is empty")


def test_a_failed_call_without_words_says_so():
    def call(handler, number):
        error = {"code": 1, "message": ""}
        handler.send(200, json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode())

    assert fault_of(call) == "look failed: it does not say why"


TABLE = b'{"content":[],"structuredContent":{"rows":[' + b"[]," * 300_000 + b"[]]}}"


def answer_in_events(number, newline, *, first=b"", result=TABLE):
    message = b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (number, result)
    return newline.join([first, b"event: message", b"data: " + message, b"", b""]).lstrip(newline)


def test_a_body_of_too_many_values_is_not_parsed():
    def call(handler, number):
        handler.send(200, b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (number, TABLE))

    words = "sent a message of more than 500,000 JSON values during look; whether it was done is unknown"
    assert fault_of(call) == f"the MCP server site {words}"


@pytest.mark.parametrize("first", [b"", b': "', b": ping\n"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_an_event_of_too_many_values_is_not_parsed(newline, first):
    def call(handler, number):
        handler.send(200, answer_in_events(number, newline, first=first), **{"content-type": "text/event-stream"})

    assert "sent a message of more than 500,000 JSON values during look" in fault_of(call)


def test_events_in_an_encoding_that_hides_their_values_are_not_read():
    def call(handler, number):
        body = answer_in_events(number, b"\n", result=b"{}").decode().encode("cp500")
        handler.send(200, body, **{"content-type": "text/event-stream; charset=cp500"})

    assert fault_of(call).startswith("look failed: SSE stream ended without a response")


def test_many_events_may_have_many_values_together():
    log = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":[' + b"[]," * 9_999 + b"[]]}}\n\n"

    def call(handler, number):
        body = log * 50 + answer_in_events(number, b"\n", result=json.dumps(text('["' * 600_000)).encode())
        handler.send(200, body, **{"content-type": "text/event-stream"})

    with site(call) as (_, address), McpServers([address]) as servers:
        assert servers.tools[0].call({}) == '["' * 600_000
