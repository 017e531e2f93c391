"""A small MCP server at a URL, which answers calls as a test says."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from codeplan.tools.mcp import ServerAddress

TOOL = {"name": "look", "inputSchema": {"type": "object"}}


class Site(BaseHTTPRequestHandler):
    """Answers the handshake and the list of tools; ``server.call(self, id)`` answers a call."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append((message.get("method"), dict(self.headers)))
        method, number = message.get("method"), message.get("id")
        if method == "tools/call":
            return self.server.call(self, number)
        if method == "initialize":
            info = {"name": "site", "version": "1"}
            result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {}, "serverInfo": info}
            return self.answer(number, result, **{"mcp-session-id": "s1"})
        if method == "tools/list":
            return self.answer(number, {"tools": [TOOL]})
        return self.send(202 if number is None else 404, b"")

    def do_GET(self):
        self.send(405, b"")

    def do_DELETE(self):
        self.server.seen.append(("DELETE", {}))
        self.send(200, b"")

    def answer(self, number, result, **headers):
        self.send(200, json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode(), **headers)

    def send(self, status, body, **headers):
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": len(body), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def site(call, kind=Site):
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        server.call, server.seen = call, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server, ServerAddress("site", url=f"http://127.0.0.1:{server.server_port}/mcp", headers={"X-Key": "k"})
        server.shutdown()


def text(words):
    return {"content": [{"type": "text", "text": words}]}
