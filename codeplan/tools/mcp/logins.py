"""Logins by OAuth at MCP servers over HTTP, as the official client does them: signs requests, renews tokens, logs in.

The official client's provider leads each login and each renewal. It does not see the calls themselves: it would let
them run one after the other.

The attacker is the server, or the authorization server that it names. What they say is bounded, and leads neither the
user's browser nor codeplan to addresses of the user's own network. Tokens go to the site that they are for alone.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import secrets
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from pydantic import AnyUrl, BaseModel, ValidationError

from codeplan.errors import UsageError
from codeplan.tools.mcp.addresses import ServerAddress
from codeplan.tools.mcp.http_answers import CURRENT_REPORT
from codeplan.tools.mcp.login_store import LoginFile, StoredLogin
from codeplan.untrusted.local_server import LOOPBACK
from codeplan.untrusted.texts import echo, echo_message, one_line
from codeplan.untrusted.values import in_quotes

LOGIN_SECONDS: Final = 300.0
"""How long the user may take to log in."""

MAX_ANSWER_BYTES: Final = 1 << 18
"""Maximum size of metadata, of a registration and of tokens, in bytes."""

MAX_ADDRESS_CHARS: Final = 8_000
"""Maximum length of the address at which the user logs in, in characters."""

RENEWAL_SECONDS: Final = 60.0
"""How long the renewal of a token may take."""

_REQUEST_SECONDS: Final = 20.0
_MAX_REASON: Final = 300
_EXPIRED: Final = 1.0  # 1970: whatever its time was, the token is not used again


class LoginFailure(Exception):
    """Why the user could not log in, in words that follow "the login failed: "."""


class NoLogin(LoginFailure):
    """The site offers no login: it has no metadata of OAuth, and registers no client."""


def login_of(address: ServerAddress) -> SiteLogin | None:
    """The login of requests to the site; None if the user gives credentials of another kind: they go first."""
    has_own = any(name.lower() == "authorization" for name in address.headers) or "@" in urlsplit(address.url).netloc
    return None if has_own or not address.url else SiteLogin(address)


class SiteLogin(httpx2.Auth):
    """Signs requests to one site with the user's login there. Without a login, requests stay as they are.

    While ``may_ask`` is true, a site that wants a login gets one: the user is shown where, and logs in in a browser.
    ``give_time`` hears how many seconds more the request may take then.
    """

    def __init__(self, address: ServerAddress) -> None:
        self.may_ask = False
        self.give_time: Callable[[float], None] = lambda seconds: None
        self._name, self._site = address.name, httpx2.URL(address.url)
        self._file = LoginFile(address.url)
        self._stored = StoredLogin()
        self._is_loaded = False
        self._renewing, self._asking = asyncio.Lock(), asyncio.Lock()
        metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(f"http://{LOOPBACK}")], client_name="codeplan")
        metadata.token_endpoint_auth_method = "none"
        self._provider = OAuthClientProvider(address.url, metadata, self, self._show, self._await_answer)
        self._callback: _Callback | None = None

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send the request, signed; once more if the site wants a new token, or a login."""
        if not _is_same_site(self._site, request.url):  # a redirection: the token is for this site alone
            yield request
            return
        used = await self._fresh_token()
        if self.may_ask and self._stored.challenge:
            earlier = httpx2.Response(403, headers={"www-authenticate": self._stored.challenge}, request=request)
            used = await self._logged_in(earlier, used) or used
        response = yield _signed(request, used)
        if response.status_code == 401 and used and (new := await self._fresh_token(used)) not in ("", used):
            response = yield _signed(request, new)
            used = new
        if not _wants_login(response):
            return
        if self.may_ask:
            yield _signed(request, await self._logged_in(response, used))  # without a login, the site refuses again
        else:
            self._note_wish(response)

    async def _fresh_token(self, refused: str = "") -> str:
        """A token that has not expired, as far as is known, and was not ``refused``; empty if there is none."""
        try:
            if not self._is_loaded:
                self._load()
            if not self._is_usable(refused) and self._context.can_refresh_token():
                async with self._renewing, self._file.locked(), asyncio.timeout(RENEWAL_SECONDS):
                    self._load()  # another process, or another request, may have renewed it
                    if not self._is_usable(refused):
                        self._context.token_expiry_time = _EXPIRED
                        await self._talk(None)
        except (LoginFailure, UsageError, TimeoutError) as error:
            _tell_report(f"the login could not be renewed: {error or 'that took too long'}")
        return self._token if self._is_usable(refused) else ""

    async def _logged_in(self, refused: httpx2.Response, used: str) -> str:
        """The token of a new login, after the response that refused the token ``used``; empty if the login failed."""
        async with self._asking:  # the calls that come meanwhile get its token
            if self._token != used or not self.may_ask:
                return self._token
            try:
                self.give_time(LOGIN_SECONDS + RENEWAL_SECONDS)
                await self._ask_user(refused)
                self.give_time(RENEWAL_SECONDS)
                return self._token
            except NoLogin:
                pass
            except (LoginFailure, UsageError) as error:
                _tell_report(f"the login failed: {error}")
            self.may_ask = False
            return ""

    async def _ask_user(self, refused: httpx2.Response) -> None:
        """Have the user log in. Raises: LoginFailure. UsageError: the login cannot be kept."""
        port = next((urlsplit(uri).port or 0 for uri in self._redirect_uris()), 0)
        async with _Callback.opened(port) as self._callback:
            self._context.client_metadata.redirect_uris = [AnyUrl(self._callback.url)]
            if self._callback.url not in self._redirect_uris() and not self._stored.is_client_given:
                self._context.client_info = self._stored.client = None  # registered anew, with this port
            await self._talk(refused)

    # ------------------------------------------------------------ the provider

    @property
    def _context(self) -> Any:
        return self._provider.context

    @property
    def _token(self) -> str:
        tokens = self._context.current_tokens
        return tokens.access_token if tokens else ""

    def _is_usable(self, refused: str) -> bool:
        return self._context.is_token_valid() and self._token != refused

    async def _talk(self, refused: httpx2.Response | None) -> None:
        """Have the provider renew the token; after a response that ``refused`` the present one, log in.

        Raises: LoginFailure.
        """
        call = httpx2.Request("POST", self._site)  # stands for the one that was refused
        if refused is not None and (version := refused.request.headers.get(MCP_PROTOCOL_VERSION_HEADER)):
            call.headers[MCP_PROTOCOL_VERSION_HEADER] = version
        try:
            async with aclosing(self._provider.async_auth_flow(call)) as flow, httpx2.AsyncClient() as client:
                wanted = await _next_of(flow, None)
                while wanted is not call:
                    wanted = await _next_of(flow, await self._ask(client, wanted))
                if refused is not None:
                    wanted = await _next_of(flow, refused)
                while wanted is not call:
                    wanted = await _next_of(flow, await self._ask(client, wanted))
        except OAuthRegistrationError as error:
            if self._context.oauth_metadata is None and self._context.protected_resource_metadata is None:
                raise NoLogin from None
            advice = "if it registers no clients by itself, register codeplan there, and log in with --client-id ID"
            raise LoginFailure(f"{_reason(error)}; {advice}") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OAuthFlowError, ValueError, OSError) as error:
            raise LoginFailure(_reason(error)) from None

    async def _ask(self, client: httpx2.AsyncClient, request: httpx2.Request) -> httpx2.Response:
        """The response to one of the provider's own requests, read within its bounds. Raises: LoginFailure."""
        await require_allowed(self._site, str(request.url))
        request.headers["accept-encoding"] = "identity"
        request.extensions["timeout"] = httpx2.Timeout(_REQUEST_SECONDS).as_dict()
        place = in_quotes(request.url.host, 100)
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                response = await client.send(request, stream=True)
                if response.headers.get("content-encoding", "identity") != "identity":
                    await response.aclose()
                    raise LoginFailure(f"{place} sent a compressed answer, which is not read")
                response.stream = _BoundedAnswer(response.stream, place)
                await response.aread()
        except (httpx2.HTTPError, TimeoutError) as error:
            raise LoginFailure(f"{place} does not answer: {_reason(error)}") from None
        return response

    async def _show(self, address: str) -> None:
        """Show the user where to log in, and open the page if there is a browser. Raises: LoginFailure."""
        assert self._callback is not None, "it is open while the user logs in"
        if len(address) > MAX_ADDRESS_CHARS or not (address.isascii() and address.isprintable()) or " " in address:
            raise LoginFailure("the address of its login cannot be shown")
        await require_allowed(self._site, address)
        methods = getattr(self._context.oauth_metadata, "code_challenge_methods_supported", None)
        if methods is not None and "S256" not in methods:
            raise LoginFailure("its login does not support PKCE with S256")
        if self._stored.is_client_given:
            self._complete_client()
        self._callback.state = parse_qs(urlsplit(address).query)["state"][-1]
        site, place = one_line(self._site.host, 100), one_line(urlsplit(address).hostname or "", 100)
        said = f"the MCP server {self._name} ({site}) wants you to log in at {place}. Open this address in a browser:"
        echo_message(said, err=True)
        echo(address, err=True)
        if _has_browser():
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # some end with the browser

    def _complete_client(self) -> None:
        """Bind the client that the user gave to this authorization server, and choose how its secret is sent."""
        client, metadata = self._context.client_info, self._context.oauth_metadata
        supported = getattr(metadata, "token_endpoint_auth_methods_supported", None) or ("client_secret_basic",)
        if client.client_secret is not None:
            methods = ("client_secret_basic", "client_secret_post")
            client.token_endpoint_auth_method = next((m for m in methods if m in supported), methods[0])
        client.issuer = None if metadata is None else str(metadata.issuer)
        self._stored.client = _plain(client)

    async def _await_answer(self) -> AuthorizationCodeResult:
        assert self._callback is not None, "it is open while the user logs in"
        return await self._callback.answer()

    # ------------------------------------------------------------ what is kept

    def _load(self) -> None:
        """Take over what is stored. Raises: UsageError: it is damaged, or others may read it."""
        stored = self._file.read()
        try:
            context = self._context
            context.current_tokens = stored.tokens and OAuthToken.model_validate(stored.tokens)
            context.client_info = stored.client and OAuthClientInformationFull.model_validate(stored.client)
            context.oauth_metadata = stored.authorization and OAuthMetadata.model_validate(stored.authorization)
            resource = ProtectedResourceMetadata.model_validate(stored.resource) if stored.resource else None
            context.protected_resource_metadata = resource
            context.auth_server_url = str(resource.authorization_servers[0]) if resource else None
            context.token_expiry_time = stored.expires_at
        except ValidationError:
            raise UsageError("the stored login is damaged; log out, then log in again") from None
        self._stored, self._is_loaded = stored, True

    def _save(self) -> None:
        self._stored.resource = _plain(self._context.protected_resource_metadata)
        self._stored.authorization = _plain(self._context.oauth_metadata)
        self._file.write(self._stored)

    async def get_tokens(self) -> OAuthToken | None:
        """For the provider, at its first request: they are loaded by then."""
        tokens: OAuthToken | None = self._context.current_tokens
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep what the provider has got. A new login answers what the site wanted."""
        self._stored.tokens, self._stored.challenge = _plain(tokens), ""
        self._stored.expires_at = None if tokens.expires_in is None else time.time() + tokens.expires_in
        self._save()

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """As ``get_tokens``."""
        client: OAuthClientInformationFull | None = self._context.client_info
        return client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep the registration."""
        self._stored.client = _plain(client_info)
        self._save()

    def _redirect_uris(self) -> list[str]:
        """Where the authorization server lets codeplan's logins end."""
        client = self._context.client_info
        return [str(uri) for uri in client.redirect_uris or ()] if client else []

    def _note_wish(self, response: httpx2.Response) -> None:
        """Keep what the site wants of a login beyond the present one, so that the next login asks for it."""
        challenge = response.headers.get("www-authenticate", "")
        if response.status_code == 403 and self._stored.tokens and len(challenge) <= _MAX_REASON:
            with suppress(UsageError):
                stored = self._file.read()  # another process may have renewed the token
                stored.challenge = challenge
                self._file.write(stored)


def _signed(request: httpx2.Request, token: str) -> httpx2.Request:
    if token:
        request.headers["authorization"] = f"Bearer {token}"
    else:
        request.headers.pop("authorization", None)
    return request


def _wants_login(response: httpx2.Response) -> bool:
    is_step_up = extract_field_from_www_auth(response, "error") == "insufficient_scope"
    return response.status_code == 401 or (response.status_code == 403 and is_step_up)


def _tell_report(fault: str) -> None:
    if report := CURRENT_REPORT.get():
        report.login_fault = one_line(fault, 2 * _MAX_REASON)


def _plain(model: BaseModel | None) -> dict[str, Any] | None:
    return None if model is None else model.model_dump(mode="json", exclude_none=True)


def _reason(error: Exception) -> str:
    """The first line of what an error says: the further ones of pydantic's quote tokens."""
    return one_line(str(error).partition("\n")[0], _MAX_REASON) or type(error).__name__


def _has_browser() -> bool:
    """Whether a browser has a window of its own. Others would take over the terminal."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")))


def _is_same_site(site: httpx2.URL, url: httpx2.URL) -> bool:
    """Whether the URL has the site's scheme, host and port, or is its encrypted counterpart."""
    is_upgrade = (site.scheme, site.port, url.scheme, url.port) == ("http", None, "https", None)
    return site.host == url.host and (is_upgrade or (site.scheme, site.port) == (url.scheme, url.port))


_LOOPBACK_ONLY: Final = 2


async def require_allowed(site: httpx2.URL, url: str) -> None:
    """Check an address that a site, or the authorization server that it names, gives for a login.

    A name may lead elsewhere when it is asked for again; then there is no certificate for it.

    Raises: LoginFailure: it is unencrypted, or in a network that is more private than the site's own, whose machines a
    stranger's server would reach through the user.
    """
    parts = httpx2.URL(url)
    if _is_same_site(site, parts):
        return
    place = in_quotes(parts.host, 100)
    privacy, own = await asyncio.gather(_privacy(parts.host), _privacy(site.host))
    if privacy > own:
        raise LoginFailure(f"it leads to {place}, an address of a private network")
    if parts.scheme != "https" and not (parts.scheme == "http" and privacy == own == _LOOPBACK_ONLY):
        raise LoginFailure(f"it leads to {place} without encryption")


async def _privacy(host: str) -> int:
    """How few can reach the host: 0 for a public one, 1 in a private network, 2 for this machine alone.

    A name that is not known here is a proxy's matter.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return 0
    addresses = [ipaddress.ip_address(str(where[0]).partition("%")[0]) for *_, where in found]
    return max((_privacy_of(address) for address in addresses), default=0)


def _privacy_of(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> int:
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_loopback or address.is_link_local or address.is_unspecified:
        return _LOOPBACK_ONLY
    return 0 if address.is_global else 1


class _BoundedAnswer(httpx2.AsyncByteStream):
    """A body of at most MAX_ANSWER_BYTES. Raises: LoginFailure: it is larger."""

    def __init__(self, stream: Any, place: str) -> None:
        self._stream, self._place = stream, place

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            if size > MAX_ANSWER_BYTES:
                raise LoginFailure(f"{self._place} sent an answer of more than {MAX_ANSWER_BYTES >> 10} KiB")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


_IN_LOGIN: ContextVar[bool] = ContextVar("_IN_LOGIN", default=False)


def _is_not_ours(record: logging.LogRecord) -> bool:
    """The provider logs its errors with tracebacks, in which tokens stand. codeplan tells them itself."""
    return not _IN_LOGIN.get()


logging.getLogger("mcp.client.auth.oauth2").addFilter(_is_not_ours)


async def _next_of(
    flow: AsyncGenerator[httpx2.Request, httpx2.Response], response: httpx2.Response | None
) -> httpx2.Request:
    """The provider's next request, after the response to the last one."""
    before = _IN_LOGIN.set(True)
    try:
        return await (flow.asend(response) if response is not None else anext(flow))
    finally:
        _IN_LOGIN.reset(before)


class _Callback:
    """Waits on loopback for the browser, which comes back from the login with its answer.

    Any page, and any program of this machine, can send a request here. One that does not know the login's ``state`` is
    refused, and the login goes on.
    """

    MAX_HEAD_BYTES: Final = 1 << 14
    _SECONDS: Final = 10.0
    _DONE: Final = "codeplan has the answer of the login. You can close this page, and go back to the terminal."
    _WRONG: Final = "This is not the answer to the login for which codeplan waits."

    def __init__(self, port: int, answer: asyncio.Future[AuthorizationCodeResult]) -> None:
        self.state = ""
        """The login's secret; empty before the user is sent to it."""
        self.url = f"http://{LOOPBACK}:{port}/callback"
        self._host, self._answer = f"{LOOPBACK}:{port}", answer

    @classmethod
    @asynccontextmanager
    async def opened(cls, port: int) -> AsyncIterator[_Callback]:
        """Listen on the port, or on a free one. Raises: LoginFailure: that is not possible."""
        try:
            listener = _listening(port)
        except OSError as error:
            raise LoginFailure(f"no port of {LOOPBACK} can be used: {error.strerror}") from None
        callback = cls(listener.getsockname()[1], asyncio.get_running_loop().create_future())
        server = await asyncio.start_server(callback._serve, sock=listener, limit=cls.MAX_HEAD_BYTES)
        try:
            yield callback
        finally:
            server.close()

    async def answer(self) -> AuthorizationCodeResult:
        """What the login answers. Raises: LoginFailure: it refuses, or nobody logs in within LOGIN_SECONDS."""
        try:
            async with asyncio.timeout(LOGIN_SECONDS):
                return await self._answer
        except TimeoutError:
            raise LoginFailure(f"nobody logged in within {LOGIN_SECONDS:g} s") from None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            async with asyncio.timeout(self._SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                is_answer = self._take(head.decode("latin-1").split("\r\n"))
                body = f"{self._DONE if is_answer else self._WRONG}\n".encode()
                lines = (
                    f"HTTP/1.1 {'200 OK' if is_answer else '400 Bad Request'}",
                    "content-type: text/plain; charset=utf-8",
                    f"content-length: {len(body)}",
                    "cache-control: no-store",
                    "referrer-policy: no-referrer",
                    "connection: close",
                )
                writer.write("\r\n".join((*lines, "", "")).encode() + body)
                await writer.drain()
        writer.close()

    def _take(self, head: list[str]) -> bool:
        """Whether the request is the browser's, with the login's answer."""
        method, _, rest = head[0].partition(" ")
        hosts = [line.partition(":")[2].strip() for line in head if line.lower().startswith("host:")]
        target = urlsplit(rest.partition(" ")[0])
        given = {name: values[-1] for name, values in parse_qs(target.query).items()}
        knows = bool(self.state) and secrets.compare_digest(given.get("state", "").encode(), self.state.encode())
        if method != "GET" or target.path != "/callback" or hosts != [self._host] or not knows:
            return False
        if not self._answer.done():
            self._settle(given)
        return True

    def _settle(self, given: dict[str, str]) -> None:
        if "error" in given or "code" not in given:
            said = ": ".join(given[name] for name in ("error", "error_description") if name in given)
            reason = one_line(said, _MAX_REASON) or "it came without a code"
            self._answer.set_exception(LoginFailure(f"it was refused: {reason}"))
        else:
            self._answer.set_result(AuthorizationCodeResult(code=given["code"], state=self.state, iss=given.get("iss")))


def _listening(port: int) -> socket.socket:
    for wanted in (port, 0):
        with suppress(OSError):
            return socket.create_server((LOOPBACK, wanted))
    return socket.create_server((LOOPBACK, 0))
