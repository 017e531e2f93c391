"""What the HTTP status of a site's answer says about a request: refused, in doubt, or without its session."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import msgspec

from codeplan.untrusted.texts import one_line
from codeplan.untrusted.values import in_quotes

MAX_WORDS: Final = 300
"""Maximum length of a site's own words about an error, in characters."""

MIN_MASKED_CHARS: Final = 8
"""Shorter keys are not masked: they could be ordinary text."""

_NOT_BEGUN: Final = (501, 505, 511)
"""The errors from 500 on that say that nothing was begun: not implemented, a wrong version of HTTP, and a network that
wants a login first."""

_ADVICE: Final = {
    401: 'it wants a key: give one as "headers" in the configuration, as in '
    '{"url": "…", "headers": {"Authorization": "Bearer ${env:NAME}"}}',
    403: 'the key that "headers" in the configuration give it does not permit this',
}
_ADVICE_TO_OPEN: Final = _ADVICE | {
    404: "is its URL right?",
    405: 'is its URL right? If it speaks the old transport, write "type": "sse" beside its url in the configuration',
    406: "is its URL that of an MCP server?",
    415: "is its URL that of an MCP server?",
}


@dataclass
class HttpReport:
    """What became of a request over HTTP. The transport fills it in while the request's task waits."""

    status: int = 0
    """0 if there was no response."""
    words: str = ""
    """The site's own words about an error, on one line; a kind of content that is no message."""
    is_page: bool = False
    """Whether an error came as a web page, which is seldom the MCP server's own."""
    is_answer: bool = False
    """Whether the body of an error is an answer to this request, by its id: the MCP server has read it."""
    is_sent: bool = True
    """False if there was no connection by which to send it."""
    has_lost_session: bool = False
    """Whether the site refused the request because it does not know the session."""
    offers_login: bool = False
    """Whether the site refused the request because it wants a login, or one that permits more, and names where."""
    login_command: str = ""
    """The command that logs in; empty if the user gave other credentials, which go first."""
    login_fault: str = ""
    """Why a login failed, or could not be renewed; empty if it did not."""

    @property
    def is_not_done(self) -> bool:
        """Whether it is certain that the request had no effect, and sending it again may help."""
        return self.has_lost_session or not self.is_sent

    @property
    def is_in_doubt(self) -> bool:
        """Whether the request may have been done, although the response is no answer.

        502, 503 and 504 may come from a gateway in front of a server that goes on. 500 may come after the effect,
        unless it carries the server's own answer. 408 is some gateways' 504. Other errors below 500 refuse a request
        before it is done. A response of success without an answer (202, a web page) says nothing about the call.
        """
        if self.status >= 500:
            return self.status not in _NOT_BEGUN and not (self.status == 500 and self.is_answer)
        return self.status == 408 or (200 <= self.status < 300 and (self.status != 200 or bool(self.words)))

    @property
    def is_error(self) -> bool:
        """Whether the response is an error of HTTP, not an answer of the server's own. A refused key always is one."""
        return self.status >= 400 and (not self.is_answer or self.status in (401, 403))

    def sentence(self, *, opening: bool = False) -> str:
        """The status with the site's words, and what the user can do."""
        known = {int(status): f" ({status.phrase})" for status in HTTPStatus}
        said = f"HTTP status {self.status}{known.get(self.status, '')}{': ' if self.words else ''}{self.words}"
        advice = (_ADVICE_TO_OPEN if opening else _ADVICE).get(self.status)
        if self.offers_login and self.login_command and not self.login_fault:
            advice = f"log in: {self.login_command}"
        if self.login_fault and self.status in (401, 403):
            advice = f"{self.login_fault}; to log in: {self.login_command}"
        if self.is_page and self.status == 403:
            advice = "the page is that of a proxy or firewall before the server, or its URL is wrong"
        return f"{said}; {advice}" if advice else said


CURRENT_REPORT: ContextVar[HttpReport | None] = ContextVar("CURRENT_REPORT", default=None)
"""The report of what the current task requests. The official client sends a request in a copy of its task's context."""


class _Error(msgspec.Struct):
    """An error as JSON-RPC, OAuth and the usual frameworks write it."""

    id: Any = None
    error: Any = None
    error_description: Any = None
    message: Any = None
    detail: Any = None


def note_response(report: HttpReport, response: Any, request_id: object) -> None:
    """Fill in the report. The body of an error has been read."""
    report.status, report.words, report.is_answer = response.status_code, "", False
    report.offers_login = _offers_login(response)
    kind = one_line(response.headers.get("content-type", ""), 60)
    if response.status_code < 400:
        if not kind.lower().startswith(("application/json", "text/event-stream")):
            report.words = f"an answer of the type {kind}" if kind else "an answer without a type"
        return
    said = _decode(response.content)
    report.is_answer = isinstance(said.error, dict) and said.id is not None and said.id == request_id
    report.is_page = kind.lower().startswith("text/html")
    report.words = _page_words(response.content) if report.is_page else _words(said, kind, response)
    if "mcp-session-id" in response.request.headers and not report.is_answer:
        lower = report.words.lower()
        names_session = "session" in lower or "not initialized" in lower
        report.has_lost_session = response.status_code == 404 or (response.status_code == 400 and names_session)


def _decode(body: bytes) -> _Error:
    try:
        return msgspec.json.decode(body, type=_Error)
    except (ValueError, RecursionError):
        return _Error()


def _page_words(page: bytes) -> str:
    """What a web page says: its title."""
    start = page.lower().find(b"<title>")
    end = page.find(b"<", start + 7)
    title = one_line(page[start + 7 : end].decode("utf-8", "replace"), 100) if 0 <= start < end else ""
    return f"a web page{title and f' ({in_quotes(title, 100)})'}"


def _words(said: _Error, kind: str, response: Any) -> str:
    """What the site says, with its headers on logins and on when it may be asked again."""
    error = said.error.get("message") if isinstance(said.error, dict) else said.error
    detail = said.detail
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):  # as FastAPI lists faults
        detail = detail[0].get("msg")
    parts = [part for part in (error, said.error_description, said.message, detail) if isinstance(part, str) and part]
    if not parts and kind.lower().startswith("text/plain"):
        parts = [response.content[: 4 * MAX_WORDS].decode("utf-8", "replace")]
    words = one_line(": ".join(parts), MAX_WORDS)
    wait = response.headers.get("retry-after", "")
    again = f"it may be asked again in {wait} s" if wait.isdecimal() and len(wait) < 7 else ""
    login = "it offers a login by OAuth" if _offers_login(response) else ""
    return _without_key("; ".join(part for part in (words, login, again) if part), response.request)


def _offers_login(response: Any) -> bool:
    challenge = response.headers.get("www-authenticate", "")
    is_step_up = response.status_code == 403 and "insufficient_scope" in challenge
    return is_step_up or (response.status_code == 401 and "resource_metadata" in challenge)


def _without_key(words: str, request: Any) -> str:
    """The words without the key or token that the request had, if the site repeats it."""
    key = request.headers.get("authorization", "").rpartition(" ")[2]
    return words.replace(key, "***") if len(key) >= MIN_MASKED_CHARS else words
