"""Lines of server programs that are no good messages: an answer among them does not let the call wait for its end."""

import sys

import pytest

from codeplan.errors import AgentError
from codeplan.tools.failures import DoubtfulCall
from codeplan.tools.mcp import McpServers, ServerAddress
from codeplan.tools.mcp.messages import read_message

SERVER = r"""
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    number, method = message.get("id"), message.get("method")
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
    results = {"initialize": info, "tools/list": {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}}
    if method == "tools/call":
        sys.stdout.buffer.write(eval(sys.argv[1]).replace(b"ID", b"%d" % number) + b"\n")
    elif number is not None:
        answer = {"result": results[method]} if method in results else {"error": {"code": -32601, "message": "unknown"}}
        sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", "id": number, **answer}).encode() + b"\n")
    sys.stdout.flush()
"""


def answer(line):
    address = ServerAddress("loose", command=(sys.executable, "-c", SERVER, repr(line)))
    with McpServers([address], seconds=20, notify=lambda _: None) as servers:
        return servers.tools[0].call({})


def text_line(words):
    return b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"' + words + b'"}]}}'


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (text_line(rb"cut \ud83d"), "cut \ud83d"),
        (text_line(b"caf\xe9"), "caf\ufffd"),
        (b"\xef\xbb\xbf" + text_line(b"marked"), "marked"),
    ],
)
def test_a_text_that_is_no_good_unicode_still_arrives(line, text):
    assert answer(line) == text


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":ID,"result":null}',
        b'{"jsonrpc":"2.0","id":ID}',
        b'{"id":ID,"result":{"content":[]}}',
        b'{"jsonrpc":"2.0","id":ID,"error":"broken"}',
        b'{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"n":1' + b"0" * 5_000 + b"}}}",
        b'{"jsonrpc":"2.0","id":ID,"result":{"a":NaN,"b":1e999,"c":1' + b"0" * 5_000 + b"}}",
        b'{"jsonrpc":"2.0","id":ID,"result":{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}}",
        b'{"id" : ID, "jsonrpc": "2.0", "error": {"message": "cut',
        b'{"jsonrpc":"2.0","id":"ID","result":{,}}',
    ],
)
def test_an_answer_that_cannot_be_read_is_a_failed_call_at_once(line):
    with pytest.raises(AgentError) as caught:
        answer(line)
    words = "the server's answer is no JSON-RPC 2.0 that codeplan can read; whether it was done is unknown"
    assert (caught.value.error, str(caught.value)) == ("ConnectionError", f"look failed: {words}")


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","result":{"content":[,]},"id":ID}',
        b'{"jsonrpc":"2.0","id":1e999,"result":{"content":[]}}',
        b'{"jsonrpc":"2.0","id":ID' + b"0" * 5_000 + b',"result":{"content":[]}}',
    ],
)
def test_an_unreadable_answer_without_a_readable_id_ends_the_connection_at_once(line):
    with pytest.raises(AgentError) as caught:
        answer(line)
    words = "sent an answer that is no JSON codeplan can read during look; whether it was done is unknown"
    assert (caught.value.error, str(caught.value)) == ("ConnectionError", f"the MCP server loose {words}")


def test_a_servers_own_word_for_an_unreadable_message_is_an_error_that_it_answered():
    with pytest.raises(AgentError, match="^look failed: say it again$") as caught:
        answer(b'{"jsonrpc":"2.0","id":ID,"error":{"code":-32700,"message":"say it again"}}')
    assert caught.value.error == "RuntimeError"


@pytest.mark.parametrize(
    "line",
    [
        *[b"log", b"[]", b"{}", b"5", b'{"id":null}', b'{"id":1.5}', b'{"id":3,"method":5}', b"[" * 100_000],
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":[' + b"[" * 100_000,
        b'{"jsonrpc":"2.0","id":3,"method":"ping","params":{"result":NaN,}}',
        b'{"error": "cut',
        b"{'jsonrpc': '2.0', 'id': 3, 'result': {}}",
    ],
)
def test_what_is_no_answer_stays_none(line):
    assert isinstance(read_message(line), ValueError)


def test_an_error_without_an_id_is_that_of_the_only_open_call():
    with pytest.raises(AgentError, match="^look failed: cannot read this$") as caught:
        answer(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"cannot read this"}}')
    assert caught.value.error == "RuntimeError"


def test_an_error_without_an_id_that_answers_a_notification_is_not_the_next_request_s():
    refused = '{"jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": "no such method"}}'
    server = SERVER.replace("    elif number", f"    elif number is None:\n        print({refused!r})\n    elif number")
    address = ServerAddress("loose", command=(sys.executable, "-c", server, repr(text_line(b"seen"))))
    with McpServers([address], seconds=20, notify=lambda _: None) as servers:
        assert servers.tools[0].call({}) == "seen"


@pytest.mark.parametrize("number", ["7000", '"call-1"'])
def test_an_answer_to_no_request_is_named_when_none_comes(number):
    line = b'{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"bad"}}' % number.encode()
    address = ServerAddress("loose", command=(sys.executable, "-c", SERVER, repr(line)))
    with (
        McpServers([address], seconds=1, notify=lambda _: None) as servers,
        pytest.raises(DoubtfulCall, match="sends answers with the id .*, which no request has; whether it was done"),
    ):
        servers.tools[0].call({})
