"""What can go wrong with a request, each as what it is: one sentence, whether it may pass by itself, what it spent."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from codeplan.errors import ModelError
from codeplan.llm.replies import EmbeddingReply, ModelReply
from codeplan.types.model import NO_USAGE, Usage

if TYPE_CHECKING:
    import openai

_TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})
_LASTING_FINISH_REASONS = frozenset({"length", "content_filter", "tool_calls"})
"""Ends of a reply that the same request would have again."""
_MIN_MASKED_LENGTH = 8
"""So long is what can hardly stand in an answer by chance."""
_KEY_ADVICE = "set OPENAI_API_KEY to a key that is valid there"


class EndpointError(ModelError):
    """There is no whole answer. ``passing``: the same request may be answered later; ``wait``: the endpoint asks for so
    many seconds before that (None: it does not say); ``usage``: what the endpoint says that it spent all the same.
    """

    def __init__(
        self, message: str, *, is_transient: bool = False, retry_after: float | None = None, usage: Usage = NO_USAGE
    ) -> None:
        super().__init__(message)
        self.is_transient, self.retry_after, self.usage = is_transient, retry_after, usage


class ErrorFactory:
    """Words for the faults of one model at one address. ``secrets`` stand in none of them."""

    def __init__(self, address: str, model: str, secrets: Sequence[str], has_key: bool) -> None:
        self._address, self._model, self._secrets, self._has_key = address, model, secrets, has_key

    def error(self, message: str, **details: Any) -> EndpointError:
        """The fault of this sentence, which begins with the endpoint."""
        return EndpointError(f"the model endpoint {self._address} {message}", **details)

    def all_attempts_failed(self, errors: Sequence[EndpointError]) -> EndpointError:
        """The last of the attempts' faults, with the number of attempts and what all of them spent."""
        usage = sum((fault.usage or NO_USAGE for fault in errors), NO_USAGE)
        attempts = f"; {len(errors)} attempts were made" if len(errors) > 1 else ""
        return EndpointError(f"{errors[-1]}{attempts}", is_transient=errors[-1].is_transient, usage=usage)

    def attempt_timed_out(self, seconds: float) -> EndpointError:
        """No answer in the time that one attempt has."""
        return self.error(f"gave no answer within {seconds:g} s; raise the timeout, or try again later", passing=True)

    def deadline_exceeded(self, seconds: float) -> EndpointError:
        """No answer in the time that the whole call has."""
        return self.error(
            f"gave no answer within the {seconds:.3g} s that the call had; raise its deadline, or try later"
        )

    def convert_client_error(self, error: openai.OpenAIError) -> EndpointError:
        """The client's exception as a fault of ours, without the original: its text and request may hold the key."""
        import openai

        if isinstance(error, openai.APIStatusError):
            return self._status_error(error.status_code, error.body, error.response.headers)
        if isinstance(error, openai.APITimeoutError):
            return self.error("did not let itself be reached in time; check the base URL, or try later", passing=True)
        if isinstance(error, openai.APIConnectionError):
            why = self.sanitise(_root_message(error))
            advice = "check the base URL, and that its server is running"
            return self.error(f"cannot be reached ({why}); {advice}", passing=True)
        return self.error(f"could not be used: {self.sanitise(str(error))}")

    def unreadable_reply(self) -> EndpointError:
        """Something came back that is no reply."""
        return self.error(
            "answered with something that is not a reply of its API; check that the base URL is the one of the API "
            "(it often ends in /v1)",
            passing=True,
        )

    def missing_vectors(self, reply: EmbeddingReply) -> EndpointError:
        """There is not one sound vector for each text."""
        if reply.error is not None:
            said = f"answered with an error instead of embeddings: {self.sanitise(error_message(reply.error))}"
            return self.error(said, passing=True)
        said = f"sent no whole embeddings from the model {self._model!r}; use a model that embeds texts"
        return self.error(said, passing=True, usage=reply.usage)

    def incomplete_reply(self, reply: ModelReply) -> EndpointError | None:
        """Why the reply is no whole answer; None where it is one."""
        said = self._describe_incomplete(reply)
        if not said:
            return None
        passing = not reply.refusal and reply.finish_reason not in _LASTING_FINISH_REASONS
        return self.error(said, passing=passing, usage=reply.usage if reply.error is None else NO_USAGE)

    def _describe_incomplete(self, reply: ModelReply) -> str:
        name, ended = self._model, self.sanitise(reply.finish_reason)
        if reply.error is not None:
            return f"answered with an error instead of a reply: {self.sanitise(error_message(reply.error))}"
        if reply.refusal:
            return f"passed on a refusal of the model {name!r}: {self.sanitise(reply.refusal)}"
        if ended == "length":
            return f"cut off the reply of {name!r} at its limit of tokens; raise max_tokens, or use another model"
        if ended == "content_filter":
            return f"withheld the reply of {name!r} (content filter); change the task or the model"
        if reply.text is None:
            why = f" (it ended with {ended!r})" if ended else ""
            return f"sent no text from the model {name!r}{why}; use a model that answers in text"
        if ended not in ("", "stop"):
            return f"sent no whole reply of {name!r} (it ended with {ended!r}); try later, or use another model"
        return ""

    def sanitise(self, text: str) -> str:
        """Someone else's words, fit for one of our lines: on one line, printable, short, and without the key."""
        line = self._mask("".join(c for c in " ".join(text.split()) if c.isprintable()), self._secrets).rstrip(".")
        return line if len(line) <= 240 else line[:240] + "…"

    def mask_answer(self, text: str) -> str:
        """An answer's text without the key, which a proxy may put into it; short secrets are common words there."""
        return self._mask(text, [secret for secret in self._secrets if len(secret) >= _MIN_MASKED_LENGTH])

    @staticmethod
    def _mask(text: str, secrets: Sequence[str]) -> str:
        for secret in secrets:
            text = text.replace(secret, "***")
        return text

    def _status_error(self, status: int, body: object, headers: Mapping[str, str]) -> EndpointError:
        spent = "insufficient_quota" in (_error_field(body, "code"), _error_field(body, "type"))
        passing = (status in _TRANSIENT_STATUSES or status >= 500) and not spent
        wait = parse_retry_after(headers) if passing else None
        return self.error(
            self._status_message(status, self.sanitise(error_message(body)), spent), passing=passing, wait=wait
        )

    def _status_message(self, status: int, detail: str, quota_spent: bool) -> str:
        told = f": {detail}" if detail else ""
        if status == 401:  # the endpoint's own words would quote the key
            return f"refused the key (401); {_KEY_ADVICE}" if self._has_key else f"wants a key (401); {_KEY_ADVICE}"
        if status == 403:
            return f"forbids this key the model {self._model!r} (403); use another key or model"
        if status == 404:
            return f"knows no model {self._model!r} (404){told}; check the model's name and the base URL"
        if quota_spent:
            return f"says that the quota is used up ({status}){told}; check the account's balance and limits"
        if status == 429:
            return f"limits the rate (429){told}; ask for less at a time, such as with --set requests_per_minute=N"
        if status >= 500:
            return f"failed ({status}){told}; try again later"
        return f"refused the request ({status}){told}; change the setting that it names"


def error_message(body: object) -> str:
    """The message in an endpoint's error, in whichever of the usual places it stands; empty where there is none."""
    if isinstance(body, dict):
        return error_message(body.get("error") or body.get("message") or body.get("detail") or "")
    return body if isinstance(body, str) and "<html" not in body.lower() else ""


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that the endpoint asks to wait, however it writes them; None where it does not, or not soundly."""
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
    """The words of the first cause, or of the first that has a number: what the system said."""
    said = str(error)
    cause = error.__cause__ or error.__context__
    while cause is not None:
        if isinstance(cause, ConnectionError) and cause.errno:
            return os.strerror(cause.errno)
        said = str(cause) or type(cause).__name__
        cause = cause.__cause__ or cause.__context__
    return said


def _error_field(body: object, name: str) -> object:
    if not isinstance(body, dict):
        return None
    inner = body.get("error")
    return inner.get(name) if isinstance(inner, dict) else body.get(name)
