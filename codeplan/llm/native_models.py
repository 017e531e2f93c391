"""Models at Anthropic's and Google's own APIs, through the clients that these companies keep (extras)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any, Final, Protocol, get_type_hints

import msgspec

from codeplan.budget import sampling_temperature
from codeplan.errors import ModelError, UsageError
from codeplan.llm import endpoint, openai_protocol, prices
from codeplan.llm.connections import RateLimits, bounded_http_client, shared_limiter
from codeplan.llm.endpoint_errors import EndpointError, ErrorFactory
from codeplan.llm.openai_client import EndpointSettings, RetryPolicy, check_limits, retry_attempts
from codeplan.llm.openai_protocol import ModelReply, decode_json, mended
from codeplan.plugins import Setting, remove_secrets
from codeplan.types import NO_USAGE, Completion, Message, Purpose, Usage
from codeplan.untrusted.values import in_quotes

DEFAULT_MAX_TOKENS: Final = 8192
"""The limit of tokens for an API that wants one in each request, if no setting names another."""

_MAX_COUNT: Final = 10**12


class NativeApi(Protocol):
    """One company's API: where it is, what a request to it holds, and how its client sends it."""

    @property
    def package(self) -> str:
        """The name under which Python imports the client. The extra has the API's own name."""
        ...

    @property
    def url(self) -> str:
        """The API's own address."""
        ...

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that may hold the key, the first one first."""
        ...

    def build_request(self, name: str, told: ChatParts, options: RequestOptions) -> dict[str, Any]:
        """The request, as the client takes it."""
        ...

    async def send(self, request: dict[str, Any], access: Access) -> bytes:
        """The body of the answer. Raises what the client raises."""
        ...

    def parse(self, body: bytes) -> ModelReply | None:
        """The reply in a body; None if it is not one."""
        ...


class ChatParts(msgspec.Struct, frozen=True):
    """A chat with its system text apart, as both APIs want it."""

    system: str
    messages: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, messages: Sequence[Message]) -> ChatParts:
        """The conversation of these messages. A system text alone is the user's."""
        texts = [(str(m["role"]), openai_protocol.replace_surrogates(m["content"])) for m in messages]
        system = "\n\n".join(text for role, text in texts if role == "system")
        rest = tuple((role, text) for role, text in texts if role != "system")
        return cls(system, rest) if rest else cls("", (("user", system),))


class RequestOptions(msgspec.Struct, frozen=True):
    """The settings of one request; None and empty ones are left out."""

    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    stop: tuple[str, ...]
    extra_body: Mapping[str, Any]


class Access(msgspec.Struct, frozen=True):
    """How one request reaches an API: its address, the key, the HTTP client and the seconds that it has."""

    url: str
    key: endpoint.Secret
    http: Any
    seconds: float


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", ())}


class AnthropicApi:
    """The Messages API."""

    package, url, variables = "anthropic", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",)

    def build_request(self, name: str, told: ChatParts, options: RequestOptions) -> dict[str, Any]:
        return {
            "model": name,
            "messages": [{"role": role, "content": text} for role, text in told.messages],
            "max_tokens": options.max_tokens or DEFAULT_MAX_TOKENS,
            **_given(
                system=told.system,
                temperature=options.temperature,
                top_p=options.top_p,
                stop_sequences=[text for text in options.stop if text.strip()] or None,
            ),
            **options.extra_body,
        }

    async def send(self, request: dict[str, Any], access: Access) -> bytes:
        library: Any = import_module("anthropic")
        lines = (os.environ.get("ANTHROPIC_CUSTOM_HEADERS") or "").split("\n")
        headers = {line.partition(":")[0].strip(): library.Omit() for line in lines if ":" in line}
        client = library.AsyncAnthropic(
            api_key=access.key.value,
            base_url=endpoint.without_credentials(access.url),
            max_retries=0,
            http_client=access.http,
            default_headers=headers,  # the variable may hold keys for another address
        )
        kind = import_module("httpx2").Response
        answer = await client.post("/v1/messages", cast_to=kind, body=request, options={"timeout": access.seconds})
        content: bytes = answer.content
        return content

    def parse(self, body: bytes) -> ModelReply | None:
        read = decode_json(mended(body), _Message)
        if read is None or not (bytes(read.content) or read.error):
            return None
        found = openai_protocol.read_content(read.content)
        refused = read.stop_reason == "refusal"
        return ModelReply(
            text=found.text,
            refusal=found.refusal or (found.text or "it gave no reason" if refused else ""),
            finish_reason=openai_protocol.normalise_finish_reason(read.stop_reason),
            usage=read.usage.total() if read.usage else Usage(None, None),
            model=read.model or "",
            error=openai_protocol.read_error(read.error) if read.error else None,
            reasoning=openai_protocol.bound_reasoning([found.reasoning]),
        )


class _MessageUsage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None

    def total(self) -> Usage:
        """The usage; Anthropic counts tokens to and from the cache apart from the rest of the input."""
        cached, stored = _count(self.cache_read_input_tokens) or 0, _count(self.cache_creation_input_tokens) or 0
        rest, written = _count(self.input_tokens), _count(self.output_tokens)
        return Usage(None if rest is None else rest + cached + stored, written, cached if rest is not None else 0)


class _Message(msgspec.Struct):
    content: msgspec.Raw = msgspec.Raw()
    stop_reason: str | None = None
    model: str | None = None
    usage: _MessageUsage | None = None
    error: dict[str, Any] | None = None


class GoogleApi:
    """The Gemini API."""

    package, url = "google.genai", "https://generativelanguage.googleapis.com"
    variables = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

    def build_request(self, name: str, told: ChatParts, options: RequestOptions) -> dict[str, Any]:
        roles = {"assistant": "model"}
        return {
            "model": name,
            "contents": [{"role": roles.get(role, role), "parts": [{"text": text}]} for role, text in told.messages],
            "config": _given(
                system_instruction=told.system,
                temperature=options.temperature,
                top_p=options.top_p,
                max_output_tokens=options.max_tokens,
                stop_sequences=list(options.stop) or None,
            ),
            "extra_body": dict(options.extra_body),
        }

    async def send(self, request: dict[str, Any], access: Access) -> bytes:
        types: Any = import_module("google.genai.types")
        connection = types.HttpOptions(
            base_url=endpoint.without_credentials(access.url),
            api_version="v1beta",
            httpx_async_client=access.http,
            timeout=int(access.seconds * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
            extra_body=request["extra_body"] or None,
        )
        library: Any = import_module("google.genai")
        client = library.Client(api_key=access.key.value, vertexai=False, http_options=connection)
        config = types.GenerateContentConfig(**request["config"], should_return_http_response=True)
        answer = await client.aio.models.generate_content(
            model=request["model"], contents=request["contents"], config=config
        )
        body: str | bytes = answer.sdk_http_response.body
        return body.encode() if isinstance(body, str) else body

    def parse(self, body: bytes) -> ModelReply | None:
        read = decode_json(mended(body), _Generated)
        if read is None or (read.candidates is None and not read.promptFeedback and not read.error):
            return None
        first = read.candidates[0] if read.candidates else _Candidate()
        found = openai_protocol.read_content(first.content.parts if first.content else msgspec.Raw())
        blocked = (read.promptFeedback or {}).get("blockReason")
        reason = "content_filter" if blocked else openai_protocol.normalise_finish_reason(first.finishReason)
        return ModelReply(
            text=found.text,
            finish_reason=reason,
            usage=read.usageMetadata.total() if read.usageMetadata else Usage(None, None),
            model=read.modelVersion or "",
            error=openai_protocol.read_error(read.error) if read.error else None,
            reasoning=openai_protocol.bound_reasoning([found.reasoning]),
        )


class _GoogleUsage(msgspec.Struct):
    promptTokenCount: int | None = None  # Google's names
    candidatesTokenCount: int | None = None
    thoughtsTokenCount: int | None = None
    cachedContentTokenCount: int | None = None

    def total(self) -> Usage:
        """The usage; Google counts thoughts apart from the rest of the output."""
        sent, thought = _count(self.promptTokenCount), _count(self.thoughtsTokenCount) or 0
        said = _count(self.candidatesTokenCount)
        written = thought if said is None and thought else said
        cached = _count(self.cachedContentTokenCount) or 0
        whole = None if written is None else written + (thought if said is not None else 0)
        return Usage(sent, whole, cached if sent is not None and cached <= sent else 0, thought if whole else 0)


class _Content(msgspec.Struct):
    parts: msgspec.Raw = msgspec.Raw()


class _Candidate(msgspec.Struct):
    content: _Content | None = None
    finishReason: str | None = None


class _Generated(msgspec.Struct):
    candidates: list[_Candidate] | None = None
    promptFeedback: dict[str, Any] | None = None
    usageMetadata: _GoogleUsage | None = None
    modelVersion: str | None = None
    error: dict[str, Any] | None = None


def _count(value: int | None) -> int | None:
    return value if value is not None and 0 <= value <= _MAX_COUNT else None


NATIVE_APIS: Final[Mapping[str, NativeApi]] = {"anthropic": AnthropicApi(), "google": GoogleApi()}
"""The APIs by the word before the colon in a model's name, which is also the name of the extra."""


def is_native(name: str) -> bool:
    """Whether a model's name is ``anthropic:NAME`` or ``google:NAME``."""
    return name.partition(":")[0] in NATIVE_APIS and ":" in name


_SHARED: Final = (
    *("base_url", "api_key", "temperature", "top_p", "max_tokens", "stop", "send_stop", "extra_body"),
    *("timeout", "deadline", "max_retries", "requests_per_minute", "tokens_per_minute", "prices"),
)
_KEY_VARIABLE = Annotated[
    str | None, Setting("The environment variable with the key. [the API's own]", "trusted", repeat="live")
]


def _settings_type() -> type[msgspec.Struct]:
    """The settings of EndpointSettings that these APIs have as well."""
    hints, fields = get_type_hints(EndpointSettings, include_extras=True), msgspec.structs.fields(EndpointSettings)
    shared = [(f.name, hints[f.name], f.default) for f in fields if f.name in _SHARED]
    return msgspec.defstruct(
        "NativeSettings", [*shared, ("key_variable", _KEY_VARIABLE, None)], frozen=True, kw_only=True
    )


class NativeModel:
    """The model ``anthropic:NAME`` or ``google:NAME``. It sends nothing before it is asked, and is safe to use from
    several threads.

    Attempts, time limits, rate limits, prices and errors are those of OpenAIModel. What an API has and codeplan has no
    setting for, such as its thinking or its cache, goes into ``extra_body``.

    Raises: UsageError: the API's extra is not installed, the key is missing, or a setting has no such value.
    """

    settings_type = _settings_type()

    def __init__(self, name: str, **given: Any) -> None:
        key = endpoint.Secret(given.pop("api_key", None) or "")  # so that no traceback of ours shows it
        own: Any = self.settings_type(**given)
        prefix, _, bare = name.partition(":")
        self._api = _require_api(prefix, name)
        self.name, self._bare = name, openai_protocol.validate_model_name(bare)
        self._url = endpoint.resolve_base_url(own.base_url or self._api.url)
        self._key = _resolve_key(self._api, key, own.key_variable)
        stop = tuple(own.stop)
        self._options = RequestOptions(own.temperature, own.top_p, own.max_tokens, stop, dict(own.extra_body or {}))
        self._send_stop = own.send_stop
        openai_protocol.RequestSettings(  # refuses what no API can take
            name=bare,
            api="chat",
            temperature=own.temperature,
            top_p=own.top_p,
            seed=None,
            max_tokens=own.max_tokens,
            stop=stop,
            reasoning_effort=None,
            max_tokens_field="max_tokens",
            extra_body=dict(own.extra_body or {}),
        )
        check_limits(own)
        self._policy = RetryPolicy(own.timeout, own.deadline, own.max_retries)
        self._limits = RateLimits(own.requests_per_minute, own.tokens_per_minute)
        self._prices = prices.read_prices(own.prices) if own.prices else None
        secrets = endpoint.secrets(self._url, self._key)
        variable = own.key_variable or self._api.variables[0]
        has_price = self._find_price("") is not None
        self._errors = ErrorFactory(
            self.base_url, self._bare, secrets, has_key=bool(self._key), has_price=has_price, key_variable=variable
        )

    def __repr__(self) -> str:
        return f"NativeModel({self.name!r})" if hasattr(self, "name") else "NativeModel()"

    @property
    def base_url(self) -> str:
        """The API's address without credentials."""
        return endpoint.without_credentials(self._url)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the model's requests, for traces; never the key."""
        price, options = self._find_price(""), self._options
        sampling = _given(temperature=options.temperature, top_p=options.top_p, max_tokens=options.max_tokens)
        switches = {"send_stop": True} if self._send_stop else {}
        known = {} if price is None else {"price": msgspec.to_builtins(price)}
        stop = _given(stop=list(options.stop) or None)
        extra = remove_secrets(dict(options.extra_body))
        return {"base_url": self.base_url, **sampling, **stop, **switches, **extra, **known}

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Ask the API for one answer. ``max_tokens`` overrides the model's own setting, ``stop`` extends it.

        Raises: ModelError: there is no whole answer; ``usage`` is what the attempts spent.
        """
        own = self._options
        sent = (*own.stop, *(stop if self._send_stop else ()))
        limit = own.max_tokens if max_tokens is None else max_tokens
        heat = sampling_temperature(own.temperature)
        options = msgspec.structs.replace(own, temperature=heat, max_tokens=limit, stop=sent)
        request = self._api.build_request(self._bare, ChatParts.of(messages), options)
        tokens = openai_protocol.estimate_tokens((m["content"] for m in messages), max_tokens)
        cuts = (*own.stop, *stop)

        async def attempt() -> ModelReply | EndpointError:
            return await self._try_once(request, tokens, cuts, limit)

        reply, errors = retry_attempts(attempt, self._errors, self._policy)
        return Completion(
            text=reply.text or "",
            usage=sum((error.usage or NO_USAGE for error in errors), reply.usage),
            finish_reason=reply.finish_reason or "stop",
            model=self._errors.sanitise(reply.model) or self._bare,
            retries=len(errors),
            reasoning=reply.reasoning,
        )

    async def _try_once(
        self, request: dict[str, Any], tokens: int, cuts: Sequence[str], limit: int | None
    ) -> ModelReply | EndpointError:
        admitted = await shared_limiter(self._url, self._key, self._limits).admit(tokens)
        seconds = self._policy.timeout
        try:
            async with asyncio.timeout(seconds), bounded_http_client() as http:
                body = await self._api.send(request, Access(self._url, self._key, http, seconds))
        except TimeoutError:
            return self._errors.attempt_timed_out(seconds)
        except ModelError:  # no HTTP client can be made
            raise
        except Exception as error:  # what an API sends can raise exceptions of any library below its client
            return self._errors.convert_client_error(error)
        outcome = self._read(body, cuts, limit)
        admitted.tokens = (outcome.usage or NO_USAGE).total_tokens or tokens
        return outcome

    def _read(self, body: bytes, cuts: Sequence[str], limit: int | None) -> ModelReply | EndpointError:
        reply = self._api.parse(body)
        if reply is None:
            return self._errors.unreadable_reply(body)
        cost = prices.cost(self._find_price(reply.model), reply.usage)
        usage = reply.usage if cost is None else msgspec.structs.replace(reply.usage, money=cost)
        mask = self._errors.mask_answer
        shown = {"text": reply.text and mask(reply.text), "reasoning": mask(reply.reasoning), "usage": usage}
        reply = openai_protocol.cut_reply(msgspec.structs.replace(reply, **shown), cuts)
        return self._errors.incomplete_reply(reply, limit) or reply

    def _find_price(self, reported: str) -> prices.Price | None:
        names = filter(None, (reported, self._bare, self.name))
        return None if self._prices is None else self._prices.find_price(*names)


def _require_api(prefix: str, name: str) -> NativeApi:
    """The API of this name. Raises UsageError if its client is not installed."""
    api = NATIVE_APIS[prefix]
    try:
        installed = find_spec(api.package) is not None
    except ModuleNotFoundError:
        installed = False
    if not installed:
        raise UsageError(
            f"the model {in_quotes(name)} needs the extra {prefix}; install it: pip install 'codeplan[{prefix}]'"
        )
    return api


def _resolve_key(api: NativeApi, given: endpoint.Secret, variable: str | None) -> endpoint.Secret:
    """The key. Raises UsageError if there is none, or no header can hold it."""
    names = (variable,) if variable else api.variables
    name = next((name for name in names if os.environ.get(name)), names[0])
    key = given or endpoint.Secret(os.environ.get(name) or "")
    if not key:
        raise UsageError(f"no key for the model: set {name}")
    return endpoint.resolve_key(key, variable=name)
