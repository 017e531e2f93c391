"""OpenTelemetry spans of an episode, by the conventions for generative AI: episode, model calls, actions.

A listener on the trace makes them, through OpenTelemetry's API package alone: what becomes of them is the business of
the SDK that the application sets up. Prompts, answers, actions and observations are left out, unless the variable
``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` is ``true``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from codeplan.errors import ModelError
from codeplan.recording.events import (
    ActionTaken,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventHandler,
    ModelCalled,
    ModelCallFailed,
    TextsEmbedded,
)
from codeplan.types.ending import Crashed, InfrastructureFailed, Interrupted
from codeplan.types.model import Usage
from codeplan.types.result import Result

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanKind, Status, Tracer

CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

_NANO = 1_000_000_000


def with_telemetry(on_event: EventHandler | None = None) -> EventHandler | None:
    """A listener for one episode that makes its spans and passes each event on to ``listen``.

    Where nothing has loaded OpenTelemetry, nobody has set it up either: then it is ``listen`` itself, at no cost.
    """
    return EpisodeSpans(on_event) if "opentelemetry" in sys.modules else on_event


class EpisodeSpans:
    """The spans of one episode. To be called with its events, in order, in the thread that runs it.

    The episode's span is the current one while it runs, so that what other libraries trace stands beneath it.
    """

    def __init__(self, on_event: EventHandler | None = None) -> None:
        from opentelemetry import trace

        from codeplan.version import VERSION

        self._tracer: Tracer = trace.get_tracer("codeplan", VERSION)
        self._on_event = on_event
        self._content = os.environ.get(CONTENT_VARIABLE, "").strip().lower() == "true"
        self._episode: Span | None = None
        self._within: Context | None = None
        self._token: Token[Context] | None = None
        self._main: dict[str, str] = {}
        self._routes: dict[str, dict[str, str]] = {}

    def __call__(self, event: Event) -> None:
        match event:
            case EpisodeStarted():
                self._begin(event)
            case ModelCalled():
                self._asked(event)
            case ModelCallFailed():
                self._ask_failed(event)
            case TextsEmbedded():
                self._embedded(event)
            case ActionTaken():
                self._acted(event)
            case EpisodeEnded():
                self._end(event)
        if self._on_event:
            self._on_event(event)

    def _begin(self, event: EpisodeStarted) -> None:
        from opentelemetry import context, trace

        routes = event.model_settings.get("routes", {})
        self._main = _model_attributes(event.model_settings.get("main_model", event.model), event.model_settings)
        self._routes = {purpose: _model_attributes(route["model"], route) for purpose, route in routes.items()}
        attributes = {
            **self._main,
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": event.method,
            "gen_ai.request.model": event.model,
            "gen_ai.conversation.id": f"{event.task.env}/{event.task.id}",
            "codeplan.environment": event.task.env,
            "codeplan.task": event.task.id,
        }
        name = f"invoke_agent {event.method}"
        self._episode = self._tracer.start_span(name, attributes=attributes, start_time=_nanoseconds(event.at))
        self._within = trace.set_span_in_context(self._episode)
        self._token = context.attach(self._within)

    def _asked(self, event: ModelCalled) -> None:
        completion = event.completion
        attributes = self._call(event) | {
            "gen_ai.response.finish_reasons": (completion.finish_reason,),
            "codeplan.retries": completion.retries,
            **_tokens(completion.usage),
        }
        attributes["gen_ai.response.model"] = completion.model or attributes["gen_ai.request.model"]
        if self._content:
            attributes["gen_ai.output.messages"] = _messages([("assistant", completion.text)], completion.finish_reason)
        self._sent(event, attributes)

    def _ask_failed(self, event: ModelCallFailed) -> None:
        from opentelemetry.trace import Status, StatusCode

        attributes = self._call(event) | {"error.type": ModelError.__name__, **_tokens(event.usage)}
        # The reason may quote a model's refusal, and so is content.
        self._sent(event, attributes, Status(StatusCode.ERROR, event.error if self._content else None))

    def _embedded(self, event: TextsEmbedded) -> None:
        attributes = {**self._routed(event.model, "embed", "embeddings"), **_tokens(event.usage)}
        self._sent(event, attributes)

    def _call(self, event: ModelCalled | ModelCallFailed) -> dict[str, Any]:
        """What there is to say of a model call, however it ended."""
        operation = "embeddings" if event.purpose == "embed" else "chat"
        attributes = self._routed("", event.purpose, operation)
        if self._content:
            attributes["gen_ai.input.messages"] = _messages([(m["role"], m["content"]) for m in event.messages])
        return attributes

    def _routed(self, model: str, purpose: str, operation: str) -> dict[str, Any]:
        """What there is to say of a call before it is made; the model is that of the purpose where none is named."""
        known = self._routes.get(purpose, self._main)
        named = {"gen_ai.request.model": model} if model else {}
        return {**known, **named, "gen_ai.operation.name": operation, "codeplan.purpose": purpose}

    def _sent(
        self,
        event: ModelCalled | ModelCallFailed | TextsEmbedded,
        attributes: dict[str, Any],
        status: Status | None = None,
    ) -> None:
        from opentelemetry.trace import SpanKind

        name = f"{attributes['gen_ai.operation.name']} {attributes['gen_ai.request.model']}"
        self._span(name, SpanKind.CLIENT, attributes, event.at, event.seconds, status)

    def _acted(self, event: ActionTaken) -> None:
        from opentelemetry.trace import SpanKind

        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "act",
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": str(event.seq),
        }
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = json.dumps({"action": event.action})
            attributes["gen_ai.tool.call.result"] = event.observation.text
        self._span("execute_tool act", SpanKind.INTERNAL, attributes, event.at, event.seconds)

    def _span(
        self,
        name: str,
        kind: SpanKind,
        attributes: dict[str, Any],
        at: float,
        seconds: float,
        status: Status | None = None,
    ) -> None:
        """A span of something that is over: it ended at this moment and took so many seconds."""
        start = _nanoseconds(at - seconds)
        span = self._tracer.start_span(name, self._within, kind, attributes, start_time=start)
        if status:
            span.set_status(status)
        span.end(_nanoseconds(at))

    def _end(self, event: EpisodeEnded) -> None:
        from opentelemetry import context

        if self._episode is None:
            return
        self._episode.set_attributes(_result_attributes(event.result))
        _set_status(self._episode, event.result)
        if self._token is not None:
            context.detach(self._token)
        self._episode.end(_nanoseconds(event.at))
        self._episode = self._token = None


def _result_attributes(result: Result) -> dict[str, Any]:
    return {
        "codeplan.success": result.success,
        "codeplan.actions": result.actions,
        "codeplan.refinements": result.refinements,
        "codeplan.model_calls": result.model_calls,
        **_tokens(result.usage),
    }


def _set_status(span: Span, result: Result) -> None:
    """An episode that is lost is no error; one that could not be played is."""
    from opentelemetry.trace import Status, StatusCode

    if isinstance(result.ending, InfrastructureFailed | Crashed | Interrupted):
        span.set_attribute("error.type", result.ending.name)
        span.set_status(Status(StatusCode.ERROR, result.ending.name))


def _tokens(usage: Usage) -> dict[str, int]:
    counts = {"input": usage.input_tokens, "output": usage.output_tokens}
    return {f"gen_ai.usage.{name}_tokens": count for name, count in counts.items() if count is not None}


def _messages(texts: list[tuple[str, str]], finish_reason: str | None = None) -> str:
    """Messages in the form that the conventions give them."""
    ended = {} if finish_reason is None else {"finish_reason": finish_reason}
    return json.dumps([{"role": r, "parts": [{"type": "text", "content": t}], **ended} for r, t in texts])


def _model_attributes(name: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """Which model is asked, and whose: OpenAI where its own endpoint is asked; else the endpoint's host, or the model's
    name where there is none.
    """
    host = urlsplit(str(settings.get("base_url", ""))).hostname or name
    return {"gen_ai.request.model": name, "gen_ai.provider.name": "openai" if host == "api.openai.com" else host}


def _nanoseconds(seconds: float) -> int:
    return int(seconds * _NANO)
