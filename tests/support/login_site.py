"""An MCP server that wants a login by OAuth, with its authorization server, at one URL. A browser that agrees."""

import base64
import hashlib
import itertools
import json
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from urllib.parse import parse_qs, urlencode, urlsplit

from support.mcp_site import Site, site

from codeplan.tools.mcp.login_store import LoginFile

BROWSER = """
import sys, urllib.error, urllib.request
try:
    urllib.request.urlopen(sys.argv[1]).read()
except urllib.error.HTTPError as refusal:
    refusal.close()
"""


class LoginSite(Site):
    """Counts its tokens: ``server.valid`` are those that it takes. ``server.odd`` replaces parts of its answers."""

    def do_POST(self):
        path = urlsplit(self.path).path
        if path in ("/register", "/token"):
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            self.server.asked.append((path, dict(self.headers), body))
            return self.register(json.loads(body)) if path == "/register" else self.give_token(parse_qs(body))
        if self.headers.get("authorization", "") in {f"Bearer {token}" for token in self.server.valid}:
            return super().do_POST()
        self.server.seen.append(("401", dict(self.headers)))
        self.rfile.read(int(self.headers["content-length"]))
        return self.send(401, b"", **self.server.odd.get("refusal", self.challenge))

    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers), ""))
        path = urlsplit(self.path).path
        if path == "/authorize":
            self.server.visited.append(self.path)
            return self.authorize({n: v[-1] for n, v in parse_qs(urlsplit(self.path).query).items()})
        if path.startswith("/.well-known/oauth-protected-resource"):
            return self.tell("resource", {"resource": f"{self.url}/mcp", "authorization_servers": [self.url]})
        if path == "/.well-known/oauth-authorization-server":
            return self.tell(
                "metadata", {"issuer": self.url, "code_challenge_methods_supported": ["S256"]} | self.places
            )
        return self.send(405, b"")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    @property
    def challenge(self):
        return {"www-authenticate": f'Bearer resource_metadata="{self.url}/.well-known/oauth-protected-resource/mcp"'}

    @property
    def places(self):
        names = {"authorization": "authorize", "token": "token", "registration": "register"}
        return {f"{name}_endpoint": f"{self.url}/{path}" for name, path in names.items()}

    def tell(self, what, content):
        odd = self.server.odd.get(what, {})
        body = odd if isinstance(odd, bytes) else json.dumps(content | odd).encode()
        self.send(200, body, **self.server.odd.get("headers", {}))

    def register(self, wanted):
        if status := self.server.odd.get("registered"):
            return self.send(status, b"<html>", **{"content-type": "text/html"})
        return self.send(201, json.dumps(wanted | {"client_id": "c1"}).encode())

    def authorize(self, given):
        """Agrees at once. Before that, another page sends an answer of its own."""
        back = given["redirect_uri"]
        for wrong in self.server.odd.get("wrong answers", ()):
            self.server.refused.append(visit(f"{back}?{urlencode(wrong)}"))
        self.server.challenges[code := f"code{next(self.server.numbers)}"] = given["code_challenge"]
        answer = self.server.odd.get("answer", {"code": code}) | {"state": given["state"]}
        self.send(302, b"", location=f"{back}?{urlencode(answer)}")

    def give_token(self, given):
        if given["grant_type"] == ["refresh_token"]:
            is_known = given["refresh_token"][0] in self.server.renewals
            self.server.renewals.discard(given["refresh_token"][0])
        else:
            digest = hashlib.sha256(given["code_verifier"][0].encode()).digest()
            known = self.server.challenges.pop(given["code"][0], "")
            is_known = known == base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if not is_known:
            return self.send(400, b'{"error": "invalid_grant"}')
        number = next(self.server.numbers)
        self.server.valid = {f"access-token-{number}"}
        self.server.renewals.add(f"renewal-{number}")
        token = {"access_token": f"access-token-{number}", "refresh_token": f"renewal-{number}", "token_type": "bearer"}
        return self.tell("token", token | {"expires_in": self.server.lifetime})


def visit(url):
    """The status of the page."""
    try:
        with urllib.request.urlopen(url) as page:
            return page.status
    except urllib.error.HTTPError as refusal:
        refusal.close()
        return refusal.code


@contextmanager
def login_site(call=lambda handler, number: handler.answer(number, {"content": []}), kind=LoginSite, **odd):
    """The server and its address. ``asked`` is what its authorization server was asked, with headers and body."""
    with site(call, kind) as (server, address):
        server.odd, server.asked, server.valid, server.renewals = odd, [], set(), set()
        server.visited, server.refused = [], []
        server.challenges, server.numbers, server.lifetime = {}, itertools.count(1), 3600
        yield server, address


def use_browser(monkeypatch, folder):
    """Each address that is opened is visited by a browser that follows where it is sent."""
    (folder / "browser.py").write_text(BROWSER)
    monkeypatch.setenv("BROWSER", f"{sys.executable} {folder / 'browser.py'} %s")


def stored(address):
    return LoginFile(address.url).read()
