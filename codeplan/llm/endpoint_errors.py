"""What can go wrong with a request: one sentence, whether a retry may help, and what the attempt spent."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from codeplan.errors import ModelError
from codeplan.llm.replies import EmbeddingReply, ModelReply
from codeplan.types import NO_USAGE, Usage

if TYPE_CHECKING:
    import openai

_TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})
_LASTING_FINISH_REASONS = frozenset({"length", "content_filter", "tool_calls"})
"""Finish reasons that the same request would get again."""
_MIN_MASKED_LENGTH = 8
"""Shorter secrets are not masked in answers: they could match ordinary text."""
_MAX_QUOTE = 240
_KEY_ADVICE = "set OPENAI_API_KEY to a key that is valid there"


class EndpointError(ModelError):
    """The endpoint gave no whole answer.

    If ``is_transient``, the same request may succeed later. ``retry_after`` is the wait in seconds that the endpoint
    asks for, None if it asks for none. ``usage`` is what the endpoint reports as spent on the failed attempt.
    """

    def __init__(
        self, message: str, *, is_transient: bool = False, retry_after: float | None = None, usage: Usage = NO_USAGE
    ) -> None:
        super().__init__(message)
        self.is_transient, self.retry_after, self.usage = is_transient, retry_after, usage


class ErrorFactory:
    """Makes the errors of one model at one address. No message contains one of ``secrets``."""

    def __init__(self, address: str, model: str, secrets: Sequence[str], has_key: bool) -> None:
        self._address, self._model, self._secrets, self._has_key = address, model, secrets, has_key

    def error(self, message: str, **details: Any) -> EndpointError:
        """An error whose sentence starts with the endpoint; ``details`` are EndpointError's keyword arguments."""
        return EndpointError(f"the model endpoint {self._address} {message}", **details)

    def all_attempts_failed(self, errors: Sequence[EndpointError]) -> EndpointError:
        """The last attempt's error, with the number of attempts and the usage of all of them."""
        usage = sum((error.usage or NO_USAGE for error in errors), NO_USAGE)
        attempts = f"; {len(errors)} attempts were made" if len(errors) > 1 else ""
        return EndpointError(f"{errors[-1]}{attempts}", is_transient=errors[-1].is_transient, usage=usage)

    def attempt_timed_out(self, seconds: float) -> EndpointError:
        """One attempt took too long."""
        said = f"gave no answer within {seconds:g} s; raise the timeout, or try again later"
        return self.error(said, is_transient=True)

    def deadline_exceeded(self, seconds: float) -> EndpointError:
        """The whole call took too long."""
        return self.error(
            f"gave no answer within the {seconds:.3g} s that the call had; raise its deadline, or try later"
        )

    def convert_client_error(self, error: openai.OpenAIError) -> EndpointError:
        """The client's exception as one of ours. It is not chained: its text and request may contain the key."""
        import openai

        if isinstance(error, openai.APIStatusError):
            return self._status_error(error.status_code, error.body, error.response.headers)
        if isinstance(error, openai.APITimeoutError):
            return self.error("could not be reached in time; check the base URL, or try later", is_transient=True)
        if isinstance(error, openai.APIConnectionError):
            why = self.sanitise(_root_message(error))
            advice = "check the base URL, and that its server is running"
            return self.error(f"cannot be reached ({why}); {advice}", is_transient=True)
        return self.error(f"could not be used: {self.sanitise(str(error))}")

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
            said = f"answered with an error instead of embeddings: {self.sanitise(error_message(reply.error))}"
            return self.error(said, is_transient=True)
        said = f"sent no whole embeddings from the model {self._model!r}; use a model that embeds texts"
        return self.error(said, is_transient=True, usage=reply.usage)

    def incomplete_reply(self, reply: ModelReply) -> EndpointError | None:
        """Why the reply is not a whole answer; None if it is one."""
        said = self._describe_incomplete(reply)
        if not said:
            return None
        transient = not reply.refusal and reply.finish_reason not in _LASTING_FINISH_REASONS
        return self.error(said, is_transient=transient, usage=reply.usage if reply.error is None else NO_USAGE)

    def _describe_incomplete(self, reply: ModelReply) -> str:
        name, reason = self._model, self.sanitise(reply.finish_reason)
        if reply.error is not None:
            return f"answered with an error instead of a reply: {self.sanitise(error_message(reply.error))}"
        if reply.refusal:
            return f"passed on a refusal of the model {name!r}: {self.sanitise(reply.refusal)}"
        if reason == "length":
            return f"cut off the reply of {name!r} at its limit of tokens; raise max_tokens, or use another model"
        if reason == "content_filter":
            return f"withheld the reply of {name!r} (content filter); change the task or the model"
        if reply.text is None:
            why = f" (it ended with {reason!r})" if reason else ""
            return f"sent no text from the model {name!r}{why}; use a model that answers in text"
        if reason not in ("", "stop"):
            return f"sent no whole reply of {name!r} (it ended with {reason!r}); try later, or use another model"
        return ""

    def sanitise(self, text: str) -> str:
        """Text from elsewhere, made fit for an error message: one printable line, short, and without secrets."""
        line = self._mask("".join(c for c in " ".join(text.split()) if c.isprintable()), self._secrets).rstrip(".")
        return line if len(line) <= _MAX_QUOTE else line[:_MAX_QUOTE] + "…"

    def mask_answer(self, text: str) -> str:
        """An answer's text without the secrets that a proxy may have put into it."""
        return self._mask(text, [secret for secret in self._secrets if len(secret) >= _MIN_MASKED_LENGTH])

    @staticmethod
    def _mask(text: str, secrets: Sequence[str]) -> str:
        for secret in secrets:
            text = text.replace(secret, "***")
        return text

    def _status_error(self, status: int, body: object, headers: Mapping[str, str]) -> EndpointError:
        quota_spent = "insufficient_quota" in (_error_field(body, "code"), _error_field(body, "type"))
        transient = (status in _TRANSIENT_STATUSES or status >= 500) and not quota_spent
        message = self._status_message(status, self.sanitise(error_message(body)), quota_spent)
        return self.error(
            message, is_transient=transient, retry_after=parse_retry_after(headers) if transient else None
        )

    def _status_message(self, status: int, detail: str, quota_spent: bool) -> str:
        quoted = f": {detail}" if detail else ""
        if status == 401:  # the endpoint's own words would quote the key
            return f"refused the key (401); {_KEY_ADVICE}" if self._has_key else f"wants a key (401); {_KEY_ADVICE}"
        if status == 403:
            return f"forbids this key the model {self._model!r} (403); use another key or model"
        if status == 404:
            return f"knows no model {self._model!r} (404){quoted}; check the model's name and the base URL"
        if quota_spent:
            return f"says that the quota is used up ({status}){quoted}; check the account's balance and limits"
        if status == 429:
            return f"limits the rate (429){quoted}; ask for less at a time, such as with --set requests_per_minute=N"
        if status >= 500:
            return f"failed ({status}){quoted}; try again later"
        return f"refused the request ({status}){quoted}; change the setting that it names"


def error_message(body: object) -> str:
    """The message in an error body, from any of the usual places; empty if there is none."""
    if isinstance(body, dict):
        return error_message(body.get("error") or body.get("message") or body.get("detail") or "")
    return body if isinstance(body, str) and "<html" not in body.lower() else ""


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
    cause = error.__cause__ or error.__context__
    while cause is not None:
        if isinstance(cause, ConnectionError) and cause.errno:
            return os.strerror(cause.errno)
        message = str(cause) or type(cause).__name__
        cause = cause.__cause__ or cause.__context__
    return message


def _error_field(body: object, name: str) -> object:
    if not isinstance(body, dict):
        return None
    inner = body.get("error")
    return inner.get(name) if isinstance(inner, dict) else body.get(name)
