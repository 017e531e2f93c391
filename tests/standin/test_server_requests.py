"""The served stand-in and requests that no honest client sends."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.raw_requests import ODD_HEADS, RawRequest, exchange, head, post
from support.served import ASK, Serve, Served

from codeplan.standin.prompt_reading import find_section

CHAT, EMBED = "/v1/chat/completions", "/v1/embeddings"
HONEST = json.dumps({"model": "tiny", "messages": ASK}).encode()


def port_of(served: Served) -> int:
    port = urlsplit(served.url).port
    assert port is not None
    return port


def is_well(served: Served) -> bool:
    """Whether the server still answers honest requests."""
    return exchange(port_of(served), post(CHAT, port_of(served), HONEST))[0] == 200


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve()


@pytest.mark.parametrize("make", ODD_HEADS.values(), ids=ODD_HEADS.keys())
def test_an_odd_head_gets_a_clear_refusal(served: Served, make: RawRequest, capfd: pytest.CaptureFixture[str]) -> None:
    status, response = exchange(port_of(served), make(CHAT, port_of(served)))
    assert status == 0 or 400 <= status < 500
    assert b"access-control-allow" not in response.lower()
    assert is_well(served)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "line", ["Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Host: evil.example"]
)
def test_an_honest_body_from_another_site_is_not_answered(served: Served, line: str) -> None:
    status, response = exchange(port_of(served), post(CHAT, port_of(served), HONEST, line))
    assert status in (400, 403)
    assert b"countertop" not in response
    assert served.log == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LocalHost"])
def test_this_machine_s_names_are_answered(served: Served, host: str) -> None:
    port = port_of(served)
    request = head("GET", "/v1/models", port, f"Origin: http://{host.lower()}:{port}", host=host)
    assert exchange(port, request)[0] == 200


def deep(opening: str, closing: str) -> bytes:
    return f'{{"messages": {opening * 100_000}{closing * 100_000}}}'.encode()


def message(content: Any, role: Any = "user") -> dict[str, Any]:
    return {"messages": [{"role": role, "content": content}]}


ODD_BODIES: dict[str, tuple[str, Any]] = {
    "nothing": (CHAT, b""),
    "too much to embed": (EMBED, {"input": ["a b " * 300_001]}),
    "too much to embed in all": (EMBED, {"input": ["a b " * 1_000] * 400}),
    "a form": (CHAT, b"model=tiny&messages=x"),
    "a number": (CHAT, b"3"),
    "a list": (CHAT, b"[]"),
    "nested lists": (CHAT, deep("[", "]")),
    "nested tables": (CHAT, deep('{"a":', "}").replace(b'"a":}', b'"a":1}')),
    "a lone surrogate": (CHAT, b'{"messages": [{"role": "user", "content": "\\ud800"}]}'),
    "a broken escape": (CHAT, b'{"messages": "\\u12"}'),
    "not UTF-8": (CHAT, b'{"messages": [{"role": "user", "content": "\xff"}]}'),
    "a model that is a list": (CHAT, {"model": [[]], "messages": ASK}),
    "a model that is a table": (CHAT, {"model": {"a": 1}, "messages": ASK}),
    "a long model": (CHAT, {"model": "x" * 1_000_000, "messages": ASK}),
    "a user that is a number": (CHAT, {"user": 7, "messages": ASK}),
    "messages that are a number": (CHAT, {"messages": 1e308}),
    "messages that are texts": (CHAT, {"messages": ["a", "b"]}),
    "messages of nothing": (CHAT, {"messages": [None]}),
    "a role that is a list": (CHAT, message("x", ["user"])),
    "a role that there is not": (CHAT, message("x", "king")),
    "a content that is a table": (CHAT, message({"a": 1})),
    "parts that are numbers": (CHAT, message([1, 2])),
    "parts whose text is a number": (CHAT, message([{"text": 5}])),
    "no content": (CHAT, {"messages": [{"role": "user"}]}),
    "instructions that are a number": ("/v1/responses", {"input": "x", "instructions": 5}),
    "no input": ("/v1/responses", {}),
    "no texts": (EMBED, {"input": []}),
    "texts that are numbers": (EMBED, {"input": [1, 2]}),
    "too many texts": (EMBED, {"input": ["a"] * 2049}),
    "millions of texts": (EMBED, b'{"input": [' + b'"a",' * 5_000_000 + b'"a"]}'),
}


@pytest.mark.parametrize(("path", "body"), ODD_BODIES.values(), ids=ODD_BODIES.keys())
def test_an_odd_body_is_a_bad_request(served: Served, path: str, body: Any, capfd: pytest.CaptureFixture[str]) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    status, response = exchange(port_of(served), post(path, port_of(served), content))
    assert status == 400
    error = json.loads(response.partition(b"\r\n\r\n")[2])["error"]
    assert error["type"] == "invalid_request_error"
    assert 0 < len(error["message"]) < 500
    assert is_well(served)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("options", [[], "x", 5, {"include_usage": [1]}, [["include_usage"]]])
def test_odd_options_of_a_stream_count_as_none(served: Served, options: Any) -> None:
    body = json.dumps({"messages": ASK, "stream": True, "stream_options": options}).encode()
    status, response = exchange(port_of(served), post(CHAT, port_of(served), body))
    assert status == 200
    assert b"data: [DONE]" in response
    assert b'"usage"' not in response


def test_a_field_that_is_repeated_counts_once(served: Served) -> None:
    body = b'{"messages": 3, ' + HONEST[1:]
    assert exchange(port_of(served), post(CHAT, port_of(served), body))[0] == 200


@pytest.mark.parametrize("lines", [("Content-Length: 99999999999",), ("Transfer-Encoding: chunked",)])
def test_a_body_without_end_is_refused_while_it_comes(served: Served, lines: tuple[str, ...]) -> None:
    port = port_of(served)
    megabyte = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    status, _ = exchange(port, head("POST", CHAT, port, *lines) + megabyte * 40)
    assert status in (0, 413)  # 0: the server left before it read everything, and the system dropped its answer
    assert is_well(served)


@pytest.mark.parametrize("beginning", [b"", b"POST /v1/chat", head("POST", CHAT, 1, "Content-Length: 100") + b"{"])
def test_slow_senders_hold_up_nobody(served: Served, beginning: bytes) -> None:
    port = port_of(served)
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
    try:
        for connection in slow:
            connection.sendall(beginning.replace(b":1\r\n", f":{port}\r\n".encode()))
        assert is_well(served)
    finally:
        for connection in slow:
            connection.close()
    assert is_well(served)


def test_a_client_that_leaves_early_is_no_error(served: Served, capfd: pytest.CaptureFixture[str]) -> None:
    port = port_of(served)

    def leave() -> None:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(head("POST", CHAT, port, "Content-Length: 1000") + b"{")

    leaving = [threading.Thread(target=leave) for _ in range(10)]
    for thread in leaving:
        thread.start()
    for thread in leaving:
        thread.join()
    assert is_well(served)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("<goal>\na\n</goal>", "a"),
        ("<goal>a</goal> <goal>b</goal>", "a"),
        ("<goal>\n\na\n\n</goal>", "\na\n"),
        ("<goal></goal>", ""),
        ("<goal>\n</goal>", ""),
        ("</goal><goal>", None),
        ("<goal>", None),
        ("<goal>" * 500_000, None),
    ],
)
def test_a_section_is_what_stands_between_the_first_tags(prompt: str, found: str | None) -> None:
    assert find_section(prompt, "goal") == found
