"""Servers that speak the old transport: a stream of events, and an address for messages."""

import json
import queue
import threading
from contextlib import contextmanager, suppress
from http.server import ThreadingHTTPServer

import pytest
from support.mcp_site import Site, text

from codeplan.errors import AgentError, EnvironmentFailure
from codeplan.tools.failures import DoubtfulCall
from codeplan.tools.mcp import McpServers, ServerAddress, read_config


class OldSite(Site):
    """Answers in the stream what is sent to ``server.endpoint``; ``server.call(self, id)`` answers a call."""

    def do_GET(self):
        self.server.seen.append(("GET", dict(self.headers)))
        if self.path == "/sse":
            self.stream()
        else:
            self.send(404, b"")

    def stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.close_connection = True
        self.event("endpoint", self.server.endpoint)
        while (message := self.server.outbox.get(timeout=60)) is not None:
            self.event("message", json.dumps(message))

    def event(self, kind, data):
        with suppress(OSError):
            self.wfile.write(f": ping\n\nevent: {kind}\ndata: {data}\n\n".encode())

    def do_POST(self):
        if self.path == "/messages/?session_id=1":
            return super().do_POST()
        self.rfile.read(int(self.headers["content-length"]))
        return self.send(self.server.post_status if self.path == "/sse" else 404, b"")

    def answer(self, number, result, **_):
        self.server.outbox.put({"jsonrpc": "2.0", "id": number, "result": result})
        self.send(202, b"Accepted", **{"content-type": "text/plain"})


@contextmanager
def old_site(call=lambda handler, n: handler.answer(n, text("hi")), *, post_status=405, endpoint=None, is_sse=True):
    with ThreadingHTTPServer(("127.0.0.1", 0), OldSite) as server:
        server.call, server.seen, server.outbox, server.post_status = call, [], queue.Queue(), post_status
        server.endpoint = endpoint or "/messages/?session_id=1"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/sse"
        yield server, ServerAddress("old", url=url, headers={"X-Key": "k"}, is_sse=is_sse)
        server.outbox.put(None)
        server.shutdown()


def fault_of(call):
    with old_site(call) as (_, address), McpServers([address], seconds=20) as servers:
        with pytest.raises(AgentError) as caught:
            servers.tools[0].call({})
        return type(caught.value), str(caught.value)


@pytest.mark.parametrize(("is_sse", "post_status"), [(True, 405), (False, 405), (False, 404)])
def test_a_site_with_the_old_transport_is_used_whether_its_type_is_given_or_not(is_sse, post_status):
    with old_site(is_sse=is_sse, post_status=post_status) as (server, address), McpServers([address]) as servers:
        assert [servers.tools[0].call({}) for _ in range(2)] == ["hi", "hi"]
        assert all({k.lower(): v for k, v in headers.items()}["x-key"] == "k" for _, headers in server.seen)


def test_editors_write_the_old_transport_as_a_type(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"servers": {"old": {"type": "sse", "url": "http://127.0.0.1:1/sse"}}}')
    (address,) = read_config(file)
    assert address.is_sse


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:1/messages", "https://example.com/messages", "//evil.example/m"]
)
def test_messages_and_keys_go_to_the_same_site_only(endpoint):
    with (
        old_site(endpoint=endpoint) as (_, address),
        pytest.raises(
            EnvironmentFailure, match="the MCP server old cannot be used: it names an address at another site"
        ),
    ):
        McpServers([address]).__enter__()


def test_a_site_that_has_no_stream_either_is_told_with_what_it_said_first():
    with old_site(is_sse=False) as (server, address):
        elsewhere = ServerAddress("old", url=address.url.replace("/sse", "/mcp"))
        with pytest.raises(EnvironmentFailure, match=r"HTTP status 404 \(Not Found\); is its URL right\?"):
            McpServers([elsewhere]).__enter__()


def test_a_declared_stream_that_is_none_is_told_with_its_status():
    with old_site() as (server, address):
        elsewhere = ServerAddress("old", url=address.url.replace("/sse", "/mcp"), is_sse=True)
        with pytest.raises(
            EnvironmentFailure, match=r"the MCP server old cannot be used: HTTP status 404 \(Not Found\)$"
        ):
            McpServers([elsewhere]).__enter__()


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (504, DoubtfulCall, "HTTP status 504 (Gateway Timeout)"),
        (429, AgentError, "HTTP status 429 (Too Many Requests)"),
    ],
)
def test_errors_of_http_are_told_as_with_the_new_transport(status, kind, said):
    found, message = fault_of(lambda handler, number: handler.send(status, b""))
    assert found is kind and said in message


def test_a_stream_that_ends_leaves_the_call_in_doubt_and_is_opened_again():
    calls = []

    def call(handler, number):
        calls.append(number)
        if len(calls) == 1:
            handler.server.outbox.put(None)
            handler.send(202, b"")
        else:
            handler.answer(number, text("again"))

    with old_site(call) as (server, address), McpServers([address], seconds=20) as servers:
        with pytest.raises(DoubtfulCall):
            servers.tools[0].call({})
        assert servers.tools[0].call({}) == "again"
        assert [method for method, _ in server.seen].count("GET") == 2


def test_an_answer_of_several_megabytes_arrives():
    large = "x" * (3 << 20)
    with old_site(lambda h, n: h.answer(n, text(large))) as (_, address), McpServers([address], seconds=20) as servers:
        assert servers.tools[0].call({}) == large
