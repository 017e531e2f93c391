"""What can go wrong with a request, each as what it is: one sentence, whether it may pass by itself, what it spent."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from codeplan.errors import ModelError
from codeplan.llm.replies import Reply, Vectors
from codeplan.types import NOTHING, Usage

if TYPE_CHECKING:
    import openai

_PASSING = frozenset({408, 409, 425, 429})
_LASTING = frozenset({"length", "content_filter", "tool_calls"})
"""Ends of a reply that the same request would have again."""
_TELLING = 8
"""So long is what can hardly stand in an answer by chance."""
_HOW_TO_KEY = "set OPENAI_API_KEY to a key that is valid there"


class Fault(ModelError):
    """There is no whole answer. ``passing``: the same request may be answered later; ``wait``: the endpoint asks for so
    many seconds before that (None: it does not say); ``usage``: what the endpoint says that it spent all the same.
    """

    def __init__(self, said: str, *, passing: bool = False, wait: float | None = None, usage: Usage = NOTHING) -> None:
        super().__init__(said)
        self.passing, self.wait, self.usage = passing, wait, usage


class Teller:
    """Words for the faults of one model at one address. ``secrets`` stand in none of them."""

    def __init__(self, address: str, model: str, secrets: Sequence[str], has_key: bool) -> None:
        self._address, self._model, self._secrets, self._has_key = address, model, secrets, has_key

    def fault(self, said: str, **more: Any) -> Fault:
        """The fault of this sentence, which begins with the endpoint."""
        return Fault(f"the model endpoint {self._address} {said}", **more)

    def gave_up(self, faults: Sequence[Fault]) -> Fault:
        """The last of the attempts' faults, with the number of attempts and what all of them spent."""
        usage = sum((fault.usage or NOTHING for fault in faults), NOTHING)
        attempts = f"; {len(faults)} attempts were made" if len(faults) > 1 else ""
        return Fault(f"{faults[-1]}{attempts}", passing=faults[-1].passing, usage=usage)

    def late(self, seconds: float) -> Fault:
        """No answer in the time that one attempt has."""
        return self.fault(f"gave no answer within {seconds:g} s; raise the timeout, or try again later", passing=True)

    def too_late(self, seconds: float) -> Fault:
        """No answer in the time that the whole call has."""
        return self.fault(
            f"gave no answer within the {seconds:.3g} s that the call had; raise its deadline, or try later"
        )

    def explain(self, error: openai.OpenAIError) -> Fault:
        """The client's exception as a fault of ours, without the original: its text and request may hold the key."""
        import openai

        if isinstance(error, openai.APIStatusError):
            return self._status(error.status_code, error.body, error.response.headers)
        if isinstance(error, openai.APITimeoutError):
            return self.fault("did not let itself be reached in time; check the base URL, or try later", passing=True)
        if isinstance(error, openai.APIConnectionError):
            why = self.clean(_root(error))
            advice = "check the base URL, and that its server is running"
            return self.fault(f"cannot be reached ({why}); {advice}", passing=True)
        return self.fault(f"could not be used: {self.clean(str(error))}")

    def unreadable(self) -> Fault:
        """Something came back that is no reply."""
        return self.fault(
            "answered with something that is not a reply of its API; check that the base URL is the one of the API "
            "(it often ends in /v1)",
            passing=True,
        )

    def no_vectors(self, reply: Vectors) -> Fault:
        """There is not one sound vector for each text."""
        if reply.error is not None:
            said = f"answered with an error instead of embeddings: {self.clean(words(reply.error))}"
            return self.fault(said, passing=True)
        said = f"sent no whole embeddings from the model {self._model!r}; use a model that embeds texts"
        return self.fault(said, passing=True, usage=reply.usage)

    def lack(self, reply: Reply) -> Fault | None:
        """Why the reply is no whole answer; None where it is one."""
        said = self._lack(reply)
        if not said:
            return None
        passing = not reply.refusal and reply.finish_reason not in _LASTING
        return self.fault(said, passing=passing, usage=reply.usage if reply.error is None else NOTHING)

    def _lack(self, reply: Reply) -> str:
        name, ended = self._model, self.clean(reply.finish_reason)
        if reply.error is not None:
            return f"answered with an error instead of a reply: {self.clean(words(reply.error))}"
        if reply.refusal:
            return f"passed on a refusal of the model {name!r}: {self.clean(reply.refusal)}"
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

    def clean(self, text: str) -> str:
        """Someone else's words, fit for one of our lines: on one line, printable, short, and without the key."""
        line = self._masked("".join(c for c in " ".join(text.split()) if c.isprintable()), self._secrets).rstrip(".")
        return line if len(line) <= 240 else line[:240] + "…"

    def answer(self, text: str) -> str:
        """An answer's text without the key, which a proxy may put into it; short secrets are common words there."""
        return self._masked(text, [secret for secret in self._secrets if len(secret) >= _TELLING])

    @staticmethod
    def _masked(text: str, secrets: Sequence[str]) -> str:
        for secret in secrets:
            text = text.replace(secret, "***")
        return text

    def _status(self, status: int, body: object, headers: Mapping[str, str]) -> Fault:
        spent = "insufficient_quota" in (_entry(body, "code"), _entry(body, "type"))
        passing = (status in _PASSING or status >= 500) and not spent
        wait = retry_after(headers) if passing else None
        return self.fault(self._sentence(status, self.clean(words(body)), spent), passing=passing, wait=wait)

    def _sentence(self, status: int, said: str, spent: bool) -> str:
        told = f": {said}" if said else ""
        if status == 401:  # the endpoint's own words would quote the key
            return f"refused the key (401); {_HOW_TO_KEY}" if self._has_key else f"wants a key (401); {_HOW_TO_KEY}"
        if status == 403:
            return f"forbids this key the model {self._model!r} (403); use another key or model"
        if status == 404:
            return f"knows no model {self._model!r} (404){told}; check the model's name and the base URL"
        if spent:
            return f"says that the quota is used up ({status}){told}; check the account's balance and limits"
        if status == 429:
            return f"limits the rate (429){told}; ask for less at a time, such as with --set requests_per_minute=N"
        if status >= 500:
            return f"failed ({status}){told}; try again later"
        return f"refused the request ({status}){told}; change the setting that it names"


def words(body: object) -> str:
    """The message in an endpoint's error, in whichever of the usual places it stands; empty where there is none."""
    if isinstance(body, dict):
        return words(body.get("error") or body.get("message") or body.get("detail") or "")
    return body if isinstance(body, str) and "<html" not in body.lower() else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
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


def _root(error: BaseException) -> str:
    """The words of the first cause, or of the first that has a number: what the system said."""
    said = str(error)
    cause = error.__cause__ or error.__context__
    while cause is not None:
        if isinstance(cause, ConnectionError) and cause.errno:
            return os.strerror(cause.errno)
        said = str(cause) or type(cause).__name__
        cause = cause.__cause__ or cause.__context__
    return said


def _entry(body: object, name: str) -> object:
    if not isinstance(body, dict):
        return None
    inner = body.get("error")
    return inner.get(name) if isinstance(inner, dict) else body.get(name)
