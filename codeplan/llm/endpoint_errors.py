"""Errors of requests: each has one sentence, whether a retry may help, and the attempt's usage."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from codeplan.errors import ModelError
from codeplan.llm import endpoint
from codeplan.llm.openai_protocol import EmbeddingReply, ErrorDetails, ModelReply, is_context_overflow, read_error
from codeplan.types import NO_USAGE, Usage
from codeplan.untrusted.values import in_quotes

_Error = TypeVar("_Error", bound=Exception)
_TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})
_LASTING_FINISH_REASONS = frozenset({"length", "content_filter", "tool_calls"})
"""Finish reasons that a retry of the request would get again."""
_MAX_QUOTE = 240
_MAX_SANITISED = 20_000
_KEY_ADVICE = "set OPENAI_API_KEY to a key that is valid there"


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
    ) -> None:
        super().__init__(message)
        self.is_transient, self.retry_after, self.usage = is_transient, retry_after, usage
        self.prompt_too_long, self.reply_cut = prompt_too_long, reply_cut


class ErrorFactory:
    """Makes the errors of one model at one address. No message contains one of ``secrets``.

    A failed attempt without a reported usage counts as no tokens. It is known to cost nothing only if ``has_price``.
    """

    def __init__(
        self, address: str, model: str, secrets: Sequence[str], *, has_key: bool, has_price: bool = False
    ) -> None:
        self._address, self._model, self._secrets, self._has_key = address, model, secrets, has_key
        self._no_usage = NO_USAGE if has_price else Usage()

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
        import openai

        if refused := _find_cause(error, UnacceptableBodyError):
            return self.error(str(refused))
        if redirected := _find_cause(error, ForeignRedirectError):
            return self._redirected(redirected.address)
        if isinstance(error, openai.APIStatusError):
            return self._status_error(error.status_code, error.body, error.response.headers)
        if isinstance(error, openai.APITimeoutError):
            return self.error("could not be reached in time; check the base URL, or try later", is_transient=True)
        if isinstance(error, openai.APIConnectionError):
            why = self.sanitise(_root_message(error))
            advice = "check the base URL, and that its server is running"
            return self.error(f"cannot be reached ({why}); {advice}", is_transient=True)
        why = self.sanitise(": ".join(filter(None, (type(error).__name__, _root_message(error)))))
        return self.error(f"could not be used ({why}); check the base URL, and what answers there")

    def _redirected(self, address: str) -> EndpointError:
        if not address:
            return self.error("redirects to something that is not an address; check the base URL")
        return self.error(
            f"redirects to {self.sanitise(address)}, and codeplan follows redirections only to the same scheme, host "
            "and port; if that address is the right one, give it as the base URL"
        )

    def unreadable_reply(self) -> EndpointError:
        """The body is not a reply of the API."""
        return self.error(
            "answered with something that is not a reply of its API; check that the base URL is the one of the API "
            "(it often ends in /v1)",
            is_transient=True,
        )

    def missing_vectors(self, reply: EmbeddingReply) -> EndpointError:
        """The reply does not have one valid vector for each text."""
        if reply.error is not None:
            return self._error_in_reply("embeddings", reply.error)
        said = f"sent no whole embeddings from the model {in_quotes(self._model)}; use a model that embeds texts"
        return self.error(said, is_transient=True, usage=reply.usage)

    def incomplete_reply(self, reply: ModelReply) -> EndpointError | None:
        """Why the reply is not a whole answer; None if it is one."""
        if reply.error is not None:
            return self._error_in_reply("a reply", reply.error)
        said = self._describe_incomplete(reply)
        if not said:
            return None
        transient = not reply.refusal and reply.finish_reason not in _LASTING_FINISH_REASONS
        cut = not reply.refusal and reply.finish_reason == "length"
        return self.error(said, is_transient=transient, usage=reply.usage, reply_cut=cut)

    def _error_in_reply(self, wanted: str, error: ErrorDetails) -> EndpointError:
        if is_context_overflow(None, error):
            return self._prompt_too_long("", error)
        quoted = self.sanitise(error.message)
        said = f"answered with an error instead of {wanted}{quoted and f': {quoted}'}"
        return self.error(said, is_transient=True)

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

    def _status_error(self, status: int, body: object, headers: Mapping[str, str]) -> EndpointError:
        error = read_error(body)
        if is_context_overflow(status, error):
            return self._prompt_too_long(f" ({status})", error)
        quota_spent = "insufficient_quota" in (error.code, error.type)
        transient = (status in _TRANSIENT_STATUSES or status >= 500) and not quota_spent
        message = self._status_message(status, self.sanitise(error.message), quota_spent)
        return self.error(
            message, is_transient=transient, retry_after=parse_retry_after(headers) if transient else None
        )

    def _status_message(self, status: int, detail: str, quota_spent: bool) -> str:
        quoted = f": {detail}" if detail else ""
        if status == 401:  # the endpoint's own words would quote the key
            return f"refused the key (401); {_KEY_ADVICE}" if self._has_key else f"wants a key (401); {_KEY_ADVICE}"
        if status == 403:
            return f"forbids this key the model {in_quotes(self._model)} (403); use another key or model"
        if status == 404:
            return f"knows no model {in_quotes(self._model)} (404){quoted}; check the model's name and the base URL"
        if quota_spent:
            return f"says that the quota is used up ({status}){quoted}; check the account's balance and limits"
        if status == 429:
            return f"limits the rate (429){quoted}; ask for less at a time, such as with --set requests_per_minute=N"
        if status >= 500:
            return f"failed ({status}){quoted}; try again later"
        return f"refused the request ({status}){quoted}; change the setting that it names"


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


def _find_cause(error: BaseException, kind: type[_Error]) -> _Error | None:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, kind):
        cause = _cause(cause)
    return cause


def _cause(error: BaseException) -> BaseException | None:
    return error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error.__cause__ or error.__context__
