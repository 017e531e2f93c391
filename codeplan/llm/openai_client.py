"""A model behind Chat Completions: OpenAI's own, or any server that speaks the same (vLLM, Ollama, llama.cpp …).

Everything that is not a whole answer is a ModelError of one sentence; the key is in none of them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import msgspec

from codeplan.errors import ModelError, UsageError
from codeplan.llm import endpoint
from codeplan.types import Completion, Message, Purpose, Usage

if TYPE_CHECKING:
    import openai

_CONNECT_SECONDS = 10.0
_PLACEHOLDER_KEY = "no-key"  # local servers want no key, but the client wants to send one
_HOW_TO_KEY = "set OPENAI_API_KEY to a key that is valid there"


class OpenAIModel:
    """A model of this name at an endpoint. Safe to use from several threads; nothing is sent before ``complete``.

    ``base_url`` defaults to ``OPENAI_BASE_URL`` (or ``OPENAI_API_BASE``), then to OpenAI's own; ``api_key`` to
    ``OPENAI_API_KEY``, and may be missing where a base URL is given. ``temperature``, ``model_seed`` and ``max_tokens``
    are left out of the request when None, so that the endpoint's own defaults hold (some models refuse them).
    ``timeout``
    is in seconds, for each attempt; up to ``max_retries`` attempts follow one that failed for a passing reason (no
    connection, time-out, 408, 409, 429, 5xx). ``max_tokens_field`` is the name under which the endpoint wants the
    limit; ``extra_body`` is added to the request as it is.

    Raises UsageError for a key that is missing or malformed, and for a base URL that is none.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        temperature: float | None = None,
        model_seed: int | None = None,
        max_tokens: int | None = None,
        timeout: float = 600.0,
        max_retries: int = 2,
        max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens",
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        if not name.strip():
            raise UsageError("the model has no name; give one (such as --model gpt-4.1-mini), or use --model scripted")
        if max_tokens_field not in ("max_tokens", "max_completion_tokens"):
            raise UsageError(f"max_tokens_field is {max_tokens_field!r}; use 'max_tokens' or 'max_completion_tokens'")
        if not timeout > 0 or max_retries < 0:
            raise UsageError("the timeout must be more than 0 seconds, and max_retries not negative")
        self.name = name
        self._url = endpoint.base_url(base_url)
        self._key = endpoint.key(api_key, needed=self._url == endpoint.OPENAI_URL)
        self._timeout, self._max_retries = timeout, max_retries
        self._max_tokens, self._max_tokens_field = max_tokens, max_tokens_field
        sampling = {"temperature": temperature, "seed": model_seed}
        self._sampling = {key: value for key, value in sampling.items() if value is not None}
        self._extra_body = dict(extra_body or {})

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, base_url={self.base_url!r})"

    @property
    def base_url(self) -> str:
        """The endpoint's address as it may be shown: without credentials, query and fragment."""
        return endpoint.shown(self._url)

    @property
    def settings(self) -> dict[str, Any]:
        """What a reader of a trace wants to know about how the model was asked. Never the key."""
        limit: dict[str, Any] = {} if self._max_tokens is None else {self._max_tokens_field: self._max_tokens}
        return {"base_url": self.base_url, **self._sampling, **limit, **self._extra_body}

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Ask the endpoint for one answer. ``max_tokens`` goes before the model's own setting.

        Raises ModelError where there is no whole answer: the endpoint cannot be used, the reply is refused or cut off.
        """
        import openai

        try:
            raw = self._client.chat.completions.with_raw_response.create(**self._request(messages, stop, max_tokens))
        except openai.OpenAIError as error:
            self._explain(error)
        return self._completion(raw.http_response.content, raw.retries_taken)

    def ping(self) -> None:
        """Ask the endpoint for its list of models, to see that it answers and takes the key. Raises ModelError."""
        import openai

        try:
            self._client.models.with_raw_response.list()
        except openai.NotFoundError:
            return  # it answers, and keeps no such list
        except openai.OpenAIError as error:
            self._explain(error)

    @functools.cached_property
    def _client(self) -> openai.OpenAI:
        import openai

        timeout = openai.Timeout(self._timeout, connect=min(_CONNECT_SECONDS, self._timeout))
        try:
            return openai.OpenAI(
                api_key=self._key or _PLACEHOLDER_KEY,
                base_url=self._url,
                timeout=timeout,
                max_retries=self._max_retries,
            )
        except (openai.OpenAIError, ImportError, ValueError) as error:  # a proxy in the environment that cannot be used
            raise ModelError(f"the client for {self.base_url} cannot be made: {self._clean(str(error))}") from None

    def _request(self, messages: Sequence[Message], stop: Sequence[str], max_tokens: int | None) -> dict[str, Any]:
        limit = self._max_tokens if max_tokens is None else max_tokens
        return {
            "model": self.name,
            "messages": [{"role": m["role"], "content": _encodable(m["content"])} for m in messages],
            **self._sampling,
            **({} if limit is None else {self._max_tokens_field: limit}),
            **({"stop": [_encodable(s) for s in stop]} if stop else {}),
            **({"extra_body": self._extra_body} if self._extra_body else {}),
        }

    # -------------------------------------------------------------- reading the reply

    def _completion(self, body: bytes, retries: int) -> Completion:
        reply = self._decode(body)
        if reply.error is not None:
            raise self._error(f"answered with an error instead of a reply: {self._clean(_words(reply.error))}")
        if not reply.choices:
            raise self._error(f"sent a reply without any choice for the model {self.name!r}; try again")
        choice = reply.choices[0]
        return Completion(
            text=self._whole_text(choice),
            usage=_usage(reply.usage),
            finish_reason=choice.finish_reason or "stop",
            model=reply.model or self.name,
            fingerprint=reply.system_fingerprint or "",
            retries=retries,
        )

    def _decode(self, body: bytes) -> _Reply:
        try:
            return msgspec.json.decode(body, type=_Reply)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise self._error(
                "answered with something that is not a chat completion; check that the base URL is the one for "
                "Chat Completions (it often ends in /v1)"
            ) from None

    def _whole_text(self, choice: _Choice) -> str:
        message = choice.message
        if message.refusal:
            raise self._error(f"passed on a refusal of the model {self.name!r}: {self._clean(message.refusal)}")
        if choice.finish_reason == "length":
            raise self._error(
                f"cut off the reply of {self.name!r} at its limit of tokens; raise max_tokens, or use another model"
            )
        if choice.finish_reason == "content_filter":
            raise self._error(f"withheld the reply of {self.name!r} (content filter); change the task or the model")
        if message.content is None:
            why = f" (it ended with {self._clean(choice.finish_reason)!r})" if choice.finish_reason else ""
            raise self._error(f"sent no text from the model {self.name!r}{why}; use a model that answers in text")
        return message.content

    # -------------------------------------------------------------- telling what went wrong

    def _explain(self, error: openai.OpenAIError) -> NoReturn:
        """Turn the client's exception into ours, without the original: its text and its request may hold the key."""
        import openai

        attempts = "1 attempt" if self._max_retries == 0 else f"{self._max_retries + 1} attempts"
        if isinstance(error, openai.APIStatusError):
            said = self._status(error.status_code, self._clean(_words(error.body)))
        elif isinstance(error, openai.APITimeoutError):
            said = f"gave no answer within {self._timeout:g} s ({attempts}); raise the timeout, or try again later"
        elif isinstance(error, openai.APIConnectionError):
            why = self._clean(str(error.__cause__ or error))
            said = f"cannot be reached ({why}; {attempts}); check the base URL, and that its server is running"
        else:
            said = f"could not be used: {self._clean(str(error))}"
        raise self._error(said) from None

    def _status(self, status: int, words: str) -> str:
        told = f": {words}" if words else ""
        if status == 401:  # the endpoint's own words would quote the key
            return f"refused the key (401); {_HOW_TO_KEY}" if self._key else f"wants a key (401); {_HOW_TO_KEY}"
        if status == 403:
            return f"forbids this key the model {self.name!r} (403); use another key or model"
        if status == 404:
            return f"knows no model {self.name!r} (404){told}; check the model's name and the base URL"
        if status == 429:
            return f"limits the rate, or the quota is used up (429){told}; wait, or check the account's limits"
        if status >= 500:
            return f"failed ({status}){told}; try again later"
        return f"refused the request ({status}){told}; change the setting that it names"

    def _error(self, said: str) -> ModelError:
        return ModelError(f"the model endpoint {self.base_url} {said}")

    def _clean(self, text: str) -> str:
        """Someone else's words, fit for one of our lines: on one line, printable, short, and without the key."""
        line = " ".join(text.split())
        for secret in endpoint.secrets(self._url, self._key):
            line = line.replace(secret, "***")
        line = "".join(c for c in line if c.isprintable()).rstrip(".")
        return line if len(line) <= 240 else line[:240] + "…"


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Details(msgspec.Struct):
    cached_tokens: int | None = None


class _Tokens(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Reply(msgspec.Struct):
    """The part of a chat completion that is read; anything else in it is ignored."""

    choices: list[_Choice] | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    usage: _Tokens | None = None
    error: Any = None


def _usage(tokens: _Tokens | None) -> Usage:
    if tokens is None:
        return Usage(None, None)
    details = tokens.prompt_tokens_details
    return Usage(tokens.prompt_tokens, tokens.completion_tokens, (details and details.cached_tokens) or 0)


def _words(body: object) -> str:
    """The message in an endpoint's error, in whichever of the usual places it stands; empty where there is none."""
    if isinstance(body, dict):
        return _words(body.get("error") or body.get("message") or body.get("detail") or "")
    return body if isinstance(body, str) and "<html" not in body.lower() else ""


def _encodable(text: str) -> str:
    """The text without lone surrogates, which a plan can print and JSON cannot carry."""
    return text.encode("utf-8", "replace").decode()
