"""Lines of server programs that are no good messages: an answer among them does not let the call wait for its end."""

import json
import sys

import pytest

from codeplan.errors import AgentError
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
    ],
)
def test_an_answer_that_breaks_the_protocol_is_a_failed_call_at_once(line):
    with pytest.raises(AgentError, match=r"^look failed: what the server sent is no answer of JSON-RPC 2\.0$"):
        answer(line)


@pytest.mark.parametrize(
    "line", [b"log", b"[]", b"{}", b"5", b'{"id":null}', b'{"id":1.5}', b'{"id":3,"method":5}', b"[" * 100_000]
)
def test_what_is_no_answer_stays_none(line):
    assert isinstance(read_message(line), ValueError)


def test_a_message_stays_as_it_is():
    line = {"jsonrpc": "2.0", "id": 3, "result": {"content": []}}
    assert read_message(json.dumps(line).encode()).message.model_dump() == line
