"""Odd HTTP requests, sent byte by byte as no client library would send them."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Callable

RawRequest = Callable[[str, int], bytes]


def exchange(port: int, request: bytes, *, seconds: float = 30.0) -> tuple[int, bytes]:
    """The status and the whole response; 0 if the server only closed the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        received = b""
        with contextlib.suppress(ConnectionError):  # the server may answer and leave before it read everything
            connection.sendall(request)
        with contextlib.suppress(ConnectionError):
            while not _is_whole(received) and (part := connection.recv(65536)):
                received += part
    status = received.split(b" ", 2)[1:2]
    return int(status[0]) if status else 0, received


def _is_whole(response: bytes) -> bool:
    """Whether a response with a length has come to its end; another one ends with the connection."""
    top, end, body = response.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", top)
    return bool(end and length and len(body) >= int(length[1]))


def head(method: str, path: str, port: int, *lines: str, host: str = "127.0.0.1") -> bytes:
    """A request's head with a valid Host, and ``Connection: close``."""
    return "\r\n".join(
        [f"{method} {path} HTTP/1.1", f"Host: {host}:{port}", "Connection: close", *lines, "", ""]
    ).encode("latin-1")


def post(path: str, port: int, body: bytes, *lines: str) -> bytes:
    """A whole POST request."""
    return head("POST", path, port, f"Content-Length: {len(body)}", *lines) + body


ODD_HEADS: dict[str, RawRequest] = {
    "no host": lambda path, port: f"GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n".encode(),
    "http 1.0 without host": lambda path, port: f"GET {path} HTTP/1.0\r\n\r\n".encode(),
    "an empty host": lambda path, port: f"GET {path} HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n".encode(),
    "a foreign host": lambda path, port: head("GET", path, port, host="evil.example"),
    "a host without its port": lambda path, port: f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
    "a host that begins like ours": lambda path, port: head("GET", path, port, host="127.0.0.1.evil.example"),
    "a login in the host": lambda path, port: head("GET", path, port, host="evil@127.0.0.1"),
    "all addresses": lambda path, port: head("GET", path, port, host="0.0.0.0"),
    "two hosts": lambda path, port: head("GET", path, port, f"Host: evil.example:{port}"),
    "two hosts, ours last": lambda path, port: head("GET", path, port, f"Host: localhost:{port}", host="evil.example"),
    "a foreign origin": lambda path, port: head("GET", path, port, "Origin: http://evil.example"),
    "no origin of a frame": lambda path, port: head("GET", path, port, "Origin: null"),
    "another port's origin": lambda path, port: head("GET", path, port, "Origin: http://127.0.0.1:1"),
    "our origin by https": lambda path, port: head("GET", path, port, f"Origin: https://127.0.0.1:{port}"),
    "two origins, ours last": lambda path, port: head(
        "GET", path, port, "Origin: http://evil.example", f"Origin: http://127.0.0.1:{port}"
    ),
    "an empty origin": lambda path, port: head("GET", path, port, "Origin:"),
    "another site": lambda path, port: head("GET", path, port, "Sec-Fetch-Site: cross-site"),
    "a neighbouring site": lambda path, port: head("GET", path, port, "Sec-Fetch-Site: same-site"),
    "a foreign preflight": lambda path, port: head(
        "OPTIONS", path, port, "Origin: http://evil.example", "Access-Control-Request-Private-Network: true"
    ),
    "a huge header": lambda path, port: head("GET", path, port, f"X-Long: {'x' * 1_000_000}"),
    "many headers": lambda path, port: head("GET", path, port, *(f"X-{n}: {n}" for n in range(20_000))),
    "a huge path": lambda path, port: head("GET", path + "x" * 1_000_000, port),
    "a negative length": lambda path, port: head("POST", path, port, "Content-Length: -5"),
    "a length that is no number": lambda path, port: head("POST", path, port, "Content-Length: 1e3"),
    "a length of many digits": lambda path, port: head("POST", path, port, f"Content-Length: {'9' * 5000}"),
    "two lengths": lambda path, port: head("POST", path, port, "Content-Length: 1", "Content-Length: 2") + b"xx",
    "a length and chunks": lambda path, port: head(
        "POST", path, port, "Content-Length: 5", "Transfer-Encoding: chunked"
    ) + b"0\r\n\r\n",
    "a chunk of a negative size": lambda path, port: head("POST", path, port, "Transfer-Encoding: chunked") + b"-5\r\nx",
    "an unknown coding": lambda path, port: head("POST", path, port, "Transfer-Encoding: gzip"),
    "a folded header": lambda path, port: f"GET {path} HTTP/1.1\r\nHost: evil\r\n localhost:{port}\r\n\r\n".encode(),
    "a header with a zero byte": lambda path, port: head("GET", path, port, "X-Zero: a\0b"),
    "an unknown method": lambda path, port: head("BREW", path, port),
    "a method with escapes": lambda path, port: head("\x1b[31mGET", path, port),
    "a connection through": lambda path, port: head("CONNECT", "evil.example:443", port),
    "a trace": lambda path, port: head("TRACE", path, port),
    "a websocket": lambda path, port: head(
        "GET", path, port, "Upgrade: websocket", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13",
        "Origin: http://evil.example",
    ),
    "tls": lambda path, port: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 500,
    "no http": lambda path, port: b"\xff\xfe\x00" * 1000 + b"\r\n\r\n",
    "a zero byte in the path": lambda path, port: head("GET", path + "%00", port),
    "a lone surrogate in the path": lambda path, port: head("GET", path + "%ED%A0%80", port),
    "broken escapes in the path": lambda path, port: head("GET", path + "%zz%", port),
    "a way up in the path": lambda path, port: head("GET", "/..%2f..%2fetc/passwd", port),
}  # fmt: skip
"""Requests that no honest client sends; each must be answered with a status from 400 to 499, or with nothing."""
