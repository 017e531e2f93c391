"""Errors of requests: each has one sentence, whether a retry may help, and the attempt's usage."""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec

from codeplan.errors import ModelError
from codeplan.llm import endpoint
from codeplan.llm.openai_protocol import (
    API_PATHS,
    CONTEXT_FULL,
    TOKEN_LIMIT_FIELDS,
    EmbeddingReply,
    ErrorDetails,
    ModelReply,
    is_context_overflow,
    is_html,
    needs_more_a_minute,
    read_error,
)
from codeplan.types import NO_USAGE, Usage
from codeplan.untrusted.values import in_quotes

_Error = TypeVar("_Error", bound=Exception)
_TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})
_LASTING_FINISH_REASONS = frozenset({"length", "content_filter", "tool_calls"})
"""Finish reasons that a retry of the request would get again."""
_FINAL_STATUSES = frozenset({501, 505})
_LASTING_PHRASES: Final = (
    "requires more system memory",  # Ollama
    "not supported",
    "does not support",
    "unsupported",
    "unknown model",
    "no such model",
    "invalid model",
    "model not found",
)
"""Parts of messages, in lower case, of failures (5xx) that a retry of the request would get again."""
_UNKNOWN_AUTHORITY: Final = frozenset({2, 18, 19, 20, 21})
"""OpenSSL's codes for certificates of an authority that is not known here."""
_QUOTA_PHRASES: Final = ("credit balance is too low", "insufficient balance", "insufficient credits")
_FULL_TOTALS: Final = 1024
"""Contexts hold a multiple of so many tokens."""
_MAX_QUOTE = 240
_MAX_SANITISED = 20_000
_MAX_UNREAD: Final = 1_000
"""Up to so many characters, a body that is not a reply is quoted: a longer one is another kind of document."""


class ForeignRedirectError(Exception):
    """The endpoint redirects to another origin. ``address`` is the base URL there, without login and query; empty if
    the endpoint names nothing that could be one.
    """

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address


class UnacceptableBodyError(Exception):
    """The endpoint sent a body that codeplan refuses to read. The text completes the sentence "the model endpoint
    …".
    """


class EndpointError(ModelError):
    """The endpoint gave no whole answer.

    If ``is_transient``, the same request may succeed later. ``retry_after`` is the wait in seconds that the endpoint
    asks for, None if it asks for none. ``usage`` is what the endpoint reports as spent on the failed attempt.
    ``prompt_too_long``: the model has no room for the prompt. ``reply_cut``: its reply reached the limit of tokens.
    ``max_retries`` is how often a retry may help at most; None: as often as the settings allow. ``wants_field`` is the
    name that the endpoint has for the limit of tokens, if it refused another one. ``is_page``: it is about an HTML page
    in place of a reply.
    """

    def __init__(
        self,
        message: str,
        *,
        is_transient: bool = False,
        retry_after: float | None = None,
        usage: Usage = NO_USAGE,
        prompt_too_long: bool = False,
        reply_cut: bool = False,
        max_retries: int | None = None,
        wants_field: str = "",
        is_page: bool = False,
    ) -> None:
        super().__init__(message)
        self.is_transient, self.retry_after, self.usage = is_transient, retry_after, usage
        self.prompt_too_long, self.reply_cut = prompt_too_long, reply_cut
        self.max_retries, self.wants_field, self.is_page = max_retries, wants_field, is_page


class ErrorFactory:
    """Makes the errors of one model at one address. No message contains one of ``secrets``.

    A failed attempt without a reported usage counts as no tokens. It is known to cost nothing only if ``has_price``.
    """

    def __init__(
        self,
        address: str,
        model: str,
        secrets: Sequence[str],
        *,
        has_key: bool,
        has_price: bool = False,
        key_variable: str = endpoint.MAIN_KEY_VARIABLE,
    ) -> None:
        self._address, self._model, self._secrets, self._has_key = address, model, secrets, has_key
        self._no_usage = NO_USAGE if has_price else Usage()
        self._key_advice = f"set {key_variable} to a key that is valid there"

    def error(self, message: str, **details: Any) -> EndpointError:
        """An error whose sentence starts with the endpoint; ``details`` are EndpointError's keyword arguments."""
        return EndpointError(f"the model endpoint {self._address} {message}", **{"usage": self._no_usage, **details})

    def all_attempts_failed(self, errors: Sequence[EndpointError]) -> EndpointError:
        """The last attempt's error, with the number of attempts and the usage of all of them."""
        usage = sum((error.usage or NO_USAGE for error in errors), NO_USAGE)
        attempts = f"; {len(errors)} attempts were made" if len(errors) > 1 else ""
        return EndpointError(
            f"{errors[-1]}{attempts}",
            is_transient=errors[-1].is_transient,
            usage=usage,
            prompt_too_long=errors[-1].prompt_too_long,
            reply_cut=errors[-1].reply_cut,
            wants_field=errors[-1].wants_field,
        )

    def attempt_timed_out(self, seconds: float) -> EndpointError:
        """One attempt took too long."""
        said = f"gave no answer within {seconds:g} s; raise the timeout, or try again later"
        return self.error(said, is_transient=True)

    def deadline_exceeded(self, seconds: float) -> EndpointError:
        """The whole call took too long."""
        return self.error(
            f"gave no answer within the {seconds:.3g} s that the call had; raise its deadline, or try later"
        )

    def convert_client_error(self, error: Exception) -> EndpointError:
        """The exception that a request of the client raised, as one of ours. It is not chained: its text and request
        may contain the key.
        """
        if refused := _find_cause(error, UnacceptableBodyError):
            return self.error(str(refused))
        if redirected := _find_cause(error, ForeignRedirectError):
            return self._redirected(redirected.address)
        if answered := _answered_error(error):
            return self.status_error(*answered)
        if _is_a(error, "APITimeoutError", "TimeoutException"):
            return self.error("could not be reached in time; check the base URL, or try later", is_transient=True)
        if _is_a(error, "APIConnectionError", "TransportError"):
            return self._connection_error(error)
        why = self.sanitise(": ".join(filter(None, (type(error).__name__, _root_message(error)))))
        return self.error(f"could not be used ({why}); check the base URL, and what answers there")

    def _connection_error(self, error: Exception) -> EndpointError:
        """Why no connection came about, with what can be done about it."""
        why = self.sanitise(_root_message(error))
        if untrusted := _find_cause(error, ssl.SSLCertVerificationError):
            why = self.sanitise(untrusted.verify_message or why)
            own = "set SSL_CERT_FILE to the file with the certificate of its authority, or "
            advice = f"{own if untrusted.verify_code in _UNKNOWN_AUTHORITY else ''}check the base URL"
            return self.error(f"has a certificate that this machine does not trust ({why}); {advice}")
        if _find_cause(error, ssl.SSLError):
            return self.error(f"does not speak TLS as asked ({why}); check whether the base URL begins with http://")
        if proxy := _proxy_for(self._address):
            return self.error(
                f"cannot be reached through the proxy {self.sanitise(proxy.address)} ({why}); check {proxy.variable}, "
                f"or put {proxy.host} into NO_PROXY"
            )
        resolved = _find_cause(error, socket.gaierror)
        unknown = resolved is not None and resolved.errno == socket.EAI_NONAME
        advice = "check the base URL" if unknown else "check the base URL, and that its server is running"
        return self.error(f"cannot be reached ({why}); {advice}", is_transient=not unknown)

    def _redirected(self, address: str) -> EndpointError:
        if not address:
            return self.error("redirects to something that is not an address; check the base URL")
        return self.error(
            f"redirects to {self.sanitise(address)}, and codeplan follows redirections only to the same scheme, host "
            "and port; if that address is the right one, give it as the base URL"
        )

    def unreadable_reply(self, body: bytes = b"") -> EndpointError:
        """The body is not a reply of the API. If it is whole, the endpoint would send it again."""
        start = body[:_MAX_SANITISED].decode("utf-8", "replace")
        if is_html(start):
            title = self.sanitise(read_error(start).message)
            page = f"an HTML page ({in_quotes(title)})" if title else "an HTML page"
            message = f"answered with {page}, not with a reply of its API; {self._address_advice()}"
            return self.error(message, is_page=True)
        if (said := _told_error(body)).message:
            return self._error_in_reply("a reply", said)
        if start.lstrip().startswith(("data:", "event:", ":")):
            what, tried = "a stream that holds no reply of its API", 1
        elif not start.strip():
            what, tried = "an empty body", None
        else:
            what, tried = f"something that is not a reply of its API{self._quoted(start)}", None
        message = f"answered with {what}; {self._address_advice()}"
        return self.error(message, is_transient=True, max_retries=1 if _is_json(body) else tried)

    def cut_stream(self) -> EndpointError:
        """A stream ended within its reply, without a word about the reason."""
        return self.error("ended its stream before the reply was whole; try again later", is_transient=True)

    def _quoted(self, body: str) -> str:
        """The start of a short body that is text, which may name the cause."""
        is_text = len(body) <= _MAX_UNREAD and "\ufffd" not in body
        return f" ({in_quotes(words, _MAX_QUOTE + 1)})" if is_text and (words := self.sanitise(body)) else ""

    def _address_advice(self) -> str:
        """What to do about a base URL that may be the wrong one."""
        if path := self._path_too_many():
            return f"the base URL has the path {path} too many: give {self._address.removesuffix(path)}"
        return "check that the base URL is the one of the API (it often ends in /v1)"

    def _path_too_many(self) -> str:
        """The end of the base URL that requests add by themselves; empty if it has none."""
        return next((path for path in API_PATHS if self._address.endswith(path)), "")

    def missing_vectors(self, reply: EmbeddingReply) -> EndpointError:
        """The reply does not have one valid vector for each text."""
        if reply.error is not None:
            return self._error_in_reply("embeddings", reply.error)
        said = f"sent no whole embeddings from the model {in_quotes(self._model)}; use a model that embeds texts"
        return self.error(said, is_transient=True, usage=reply.usage)

    def incomplete_reply(self, reply: ModelReply, limit: int | None = None) -> EndpointError | None:
        """Why the reply is not a whole answer; None if it is one. ``limit`` are the tokens that the request allowed."""
        if reply.error is not None:
            return self._error_in_reply("a reply", reply.error)
        if not reply.refusal and _fills_context(reply, limit):
            return self._full_context(reply)
        said = self._describe_incomplete(reply)
        if not said:
            return None
        transient = not reply.refusal and reply.finish_reason not in _LASTING_FINISH_REASONS
        cut = not reply.refusal and reply.finish_reason == "length"
        again = 1 if reply.reasoning and reply.text is None else None
        return self.error(said, is_transient=transient, usage=reply.usage, reply_cut=cut, max_retries=again)

    def _full_context(self, reply: ModelReply) -> EndpointError:
        sent, written = reply.usage.input_tokens, reply.usage.output_tokens
        known = sent is not None and written is not None
        of_each = f", with {sent:,} tokens of the prompt and {written:,} of the reply" if known else ""
        said = (
            f"had no room for the whole reply of {in_quotes(self._model)}: its context is full{of_each}; use "
            "a model with a larger context, or have its server give it "
            "more (num_ctx in Ollama, --max-model-len in vLLM, -c in llama.cpp)"
        )
        return self.error(said, usage=reply.usage, prompt_too_long=True)

    def _error_in_reply(self, wanted: str, error: ErrorDetails) -> EndpointError:
        if is_context_overflow(None, error):
            return self._prompt_too_long("", error)
        quoted = self.sanitise(error.message)
        said = f"answered with an error instead of {wanted}{quoted and f': {quoted}'}"
        if error.status is None and any(phrase in error.message.lower() for phrase in _NO_ROUTE):
            return self.error(f"{said}; {self._address_advice()}")
        passes = self._may_pass(500 if error.status is None else error.status, error)
        return self.error(said, is_transient=passes and not _is_lasting(error))

    def _prompt_too_long(self, status: str, error: ErrorDetails) -> EndpointError:
        quoted = self.sanitise(error.message)
        said = (
            f"says that the prompt is too long for the model {in_quotes(self._model)}{status}{quoted and f': {quoted}'}"
        )
        return self.error(f"{said}; use a model with a larger context", prompt_too_long=True)

    def _describe_incomplete(self, reply: ModelReply) -> str:
        name, reason = self._model, self.sanitise(reply.finish_reason)
        if reply.refusal:
            return f"passed on a refusal of the model {in_quotes(name)}: {self.sanitise(reply.refusal)}"
        if reply.text is None and reply.reasoning:
            more = "raise max_tokens, or lower reasoning_effort"
            if reason == "length":
                return f"sent no text from the model {in_quotes(name)}: its reasoning took all tokens; {more}"
            return (
                f"sent only reasoning and no text from the model {in_quotes(name)}; {more}, or check how its server "
                "tells reasoning from text"
            )
        if reason == "length":
            return (
                f"cut off the reply of {in_quotes(name)} at its limit of tokens; raise max_tokens, or use another model"
            )
        if reason == "content_filter":
            return f"withheld the reply of {in_quotes(name)} (content filter); change the task or the model"
        if reply.text is None:
            why = f" (it ended with {in_quotes(reason)})" if reason else ""
            return f"sent no text from the model {in_quotes(name)}{why}; use a model that answers in text"
        if reason not in ("", "stop"):
            why = f"it ended with {in_quotes(reason)}"
            return f"sent no whole reply of {in_quotes(name)} ({why}); try later, or use another model"
        return ""

    def sanitise(self, text: str) -> str:
        """Text from elsewhere, made fit for an error message: one printable line, short, and without secrets."""
        line = "".join(c for c in " ".join(text[:_MAX_SANITISED].split()) if c.isprintable())
        masked = endpoint.mask(line, self._secrets).rstrip(".")
        return masked if len(masked) <= _MAX_QUOTE else masked[:_MAX_QUOTE] + "…"

    def mask_answer(self, text: str) -> str:
        """An answer's text without the secrets that a proxy may have put into it."""
        return endpoint.mask(text, self._secrets)

    def _may_pass(self, status: int, error: ErrorDetails) -> bool:
        """Whether the same request may succeed later."""
        if _is_quota(status, error) or status in _FINAL_STATUSES or needs_more_a_minute(error):
            return False
        return status in _TRANSIENT_STATUSES or (status >= 500 and not _is_lasting(error))

    def status_error(self, status: int, body: object, headers: Mapping[str, str]) -> EndpointError:
        """The error for an answer with this HTTP status; ``body`` is JSON data, or text that is not JSON."""
        error = read_error(body)
        if is_context_overflow(status, error):
            return self._prompt_too_long(f" ({status})", error)
        transient = self._may_pass(status, error)
        return self.error(
            self._status_message(status, error),
            is_transient=transient,
            retry_after=parse_retry_after(headers) if transient else None,
            wants_field=_wanted_field(error) if status in (400, 422) else "",
        )

    def _status_message(self, status: int, error: ErrorDetails) -> str:
        detail = self.sanitise(error.message)
        quoted = f": {detail}" if detail and not error.is_page else ""
        if status == 401 or (status == 400 and "api key not valid" in error.message.lower()):
            does = "refused the key" if self._has_key else "wants a key"  # its own words would quote the key
            return f"{does} ({status}); {self._key_advice}"
        if status == 403 and not error.is_page:
            return f"forbids this key the model {in_quotes(self._model)} (403); use another key or model"
        if status in (404, 405) and self._is_wrong_address(error):
            return f"has no such path ({status}){quoted or _page(detail, error)}; {self._address_advice()}"
        if status == 404:
            return f"knows no model {in_quotes(self._model)} (404){quoted}; check the model's name and the base URL"
        if status == 407:
            return "is behind a proxy that wants a login (407); give it in HTTPS_PROXY, as in http://NAME:PASSWORD@HOST"
        if _is_quota(status, error):
            return f"says that the quota is used up ({status}){quoted}; check the account's balance and limits"
        if status == 429 and not needs_more_a_minute(error):
            return f"limits the rate (429){quoted}; ask for less at a time, such as with --set requests_per_minute=N"
        if status >= 500:
            advice = "try again later" if self._may_pass(status, error) else "change what it names"
            return f"failed ({status}){quoted}; {advice}"
        if error.is_page:
            return (
                f"refused the request ({status}){_page(detail, error)}; check the base URL, and the proxies before it"
            )
        if _is_filtered(error):
            return f"refused the prompt by its content filter ({status}){quoted}; change the task or the model"
        if needs_more_a_minute(error):
            return f"allows fewer tokens a minute than this request has ({status}){quoted}; use another model"
        if _refuses_system(error):
            return f"refused the request ({status}){quoted}; set system_role=user, for models without a system role"
        return f"refused the request ({status}){quoted}; change what it names"

    def _is_wrong_address(self, error: ErrorDetails) -> bool:
        """Whether a 404 or 405 is about the address, not about the model."""
        if error.is_page or self._path_too_many():
            return True
        said = f"{error.message} {error.code} {error.type}".lower()
        if "model" in said or "deployment" in said:
            return False
        return not error.message or any(phrase in said for phrase in _NO_SUCH_PATH)


_NO_ROUTE: Final = ("unexpected endpoint", "cannot post", "could not route", "no such route", "invalid url")
"""Parts of messages, in lower case, about an address that does not exist, from servers that answer with 200."""

_NO_SUCH_PATH: Final = (
    "not found",
    "not_found",
    "page",
    "route",
    "path",
    "url",
    "endpoint",
    "cannot post",
    "method not allowed",
    "resource",
)
"""Parts of messages, in lower case, about an address that does not exist."""


def _page(title: str, error: ErrorDetails) -> str:
    if not error.is_page:
        return ""
    return f" with an HTML page ({in_quotes(title)})" if title else " with an HTML page"


def _is_quota(status: int, error: ErrorDetails) -> bool:
    """Whether the account has nothing left to pay with."""
    said = error.message.lower()
    spent = "insufficient_quota" in (error.code, error.type) or any(phrase in said for phrase in _QUOTA_PHRASES)
    return spent or status == 402


def _is_filtered(error: ErrorDetails) -> bool:
    """Whether a filter of the endpoint refuses the prompt."""
    said = f"{error.code} {error.type} {error.message}".lower()
    return any(phrase in said for phrase in _FILTER_PHRASES)


_FILTER_PHRASES: Final = (
    "content_filter",
    "content management policy",  # Azure
    "content_policy_violation",
    "data_inspection_failed",  # DashScope
    "content exists risk",  # DeepSeek
)
"""Parts of codes and messages, in lower case, of filters."""


def _is_lasting(error: ErrorDetails) -> bool:
    said = error.message.lower()
    return any(phrase in said for phrase in _LASTING_PHRASES)


def _wanted_field(error: ErrorDetails) -> str:
    """The limit of tokens that the endpoint asks for in place of the one that it was given; empty if it asks for
    none.
    """
    given, other = TOKEN_LIMIT_FIELDS
    said = error.message.lower()
    at = {name: said.find(name) for name in (f"'{given}'", f"`{given}`", f'"{given}"', given)}
    first, second = max(at.values()), said.find(other)
    refuses = any(word in said for word in ("unsupported", "not supported", "instead", "not permitted", "unrecognized"))
    if not refuses or max(first, second) < 0:
        return ""
    if first >= 0 and second >= 0:
        return other if "instead" not in said or second > min(n for n in at.values() if n >= 0) else given
    return given if second >= 0 else other


def _refuses_system(error: ErrorDetails) -> bool:
    """Whether the endpoint refuses the role of the system's message."""
    said = error.message.lower()
    if said.startswith("conversation roles must alternate"):  # as Mistral's and Gemma's templates say it
        return True
    return "system" in said and any(word in said for word in ("role", "system message", "systemmessage", "developer"))


def _fills_context(reply: ModelReply, limit: int | None) -> bool:
    """Whether a reply ended because prompt and reply fill the model's context, not because of a limit of its own.

    Both together are a multiple of 1,024, as contexts are. Or the prompt is the larger part by far, and the reply had
    fewer tokens than the ``limit`` of the request; without a limit, at most one.
    """
    if reply.finish_reason == CONTEXT_FULL:
        return True
    sent, written = reply.usage.input_tokens, reply.usage.output_tokens
    if reply.finish_reason != "length" or sent is None or written is None or (limit is not None and written >= limit):
        return False
    total = sent + written
    if total >= 2 * _FULL_TOTALS and (total + 1) % _FULL_TOTALS <= 1:
        return True
    return written * 8 <= sent and (written <= 1 if limit is None else True)


def _told_error(body: bytes) -> ErrorDetails:
    """What a JSON body without a reply says in place of one, wherever it says it; nothing in a large body."""
    try:
        found = msgspec.json.decode(body) if len(body) <= MAX_ERROR_BYTES else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ErrorDetails()
    is_well = isinstance(found, dict) and "error" not in found and found.get("code") in (0, 200, "0", "200")
    return read_error(found) if isinstance(found, dict) and not is_well else ErrorDetails()


def _is_json(body: bytes) -> bool:
    """Whether a body is a whole JSON document of a size that is worth a look."""
    try:
        return 0 < len(body) <= _MAX_JSON_BYTES and bool(msgspec.json.decode(body, type=msgspec.Raw))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


MAX_ERROR_BYTES: Final = 64 << 10
_MAX_JSON_BYTES: Final = 1 << 20


class _Proxy(msgspec.Struct, frozen=True):
    """The proxy for a host: its address without a login, and the variable that names it."""

    address: str
    variable: str
    host: str


def _proxy_for(url: str) -> _Proxy | None:
    """The proxy that the environment names for this address; None if requests go there directly."""
    parts = urlsplit(url)
    host, proxies = parts.hostname or "", getproxies()
    scheme = next((name for name in (parts.scheme, "all") if proxies.get(name)), "")
    if not scheme or not host or proxy_bypass(host):
        return None
    variable = next((v for v in (f"{scheme.upper()}_PROXY", f"{scheme}_proxy") if os.environ.get(v)), "the proxy")
    return _Proxy(endpoint.without_credentials(proxies[scheme]), variable, host)


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """The wait in seconds that the headers ask for, in any usual form; None if they ask for none or are malformed."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            seconds = float(milliseconds) / 1000
        elif (given := headers.get("retry-after", "")).strip()[:1].isalpha():
            seconds = parsedate_to_datetime(given).timestamp() - time.time()
        else:
            seconds = float(given)
    except (ValueError, OverflowError):
        return None
    return max(0.0, seconds) if seconds < float("inf") else None


def _root_message(error: BaseException) -> str:
    """The message of the first cause, or the system's message for the first cause with an error number."""
    message = str(error)
    cause = _cause(error)
    while cause is not None:
        if isinstance(cause, ConnectionError) and cause.errno:
            return os.strerror(cause.errno)
        message = str(cause) or type(cause).__name__
        cause = _cause(cause)
    return message


def _is_a(error: BaseException, *names: str) -> bool:
    """Whether an exception has a class of one of these names: each API's client has its own, named alike."""
    return any(kind.__name__ in names for kind in type(error).__mro__)


def _answered_error(error: Any) -> tuple[int, object, Mapping[str, str]] | None:
    """The status, the body and the headers of an answer that a client raised as an exception; None without one."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    if _is_a(error, "APIStatusError"):
        return error.status_code, error.body, headers
    code = getattr(error, "code", None)
    if _is_a(error, "APIError") and isinstance(code, int):  # Google's
        return code, getattr(error, "details", None), headers
    return None


def _find_cause(error: BaseException, kind: type[_Error]) -> _Error | None:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, kind):
        cause = _cause(cause)
    return cause


def _cause(error: BaseException) -> BaseException | None:
    return error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error.__cause__ or error.__context__
