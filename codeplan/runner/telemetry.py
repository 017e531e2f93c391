"""OpenTelemetry spans of an episode, its model calls and its actions, by the conventions for generative AI.

An event handler creates them with OpenTelemetry's API package alone; the application's SDK decides where they are
sent. Prompts, answers, actions and observations are left out, unless the variable
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
    CallAnswered,
    CallsByAnswer,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventHandler,
    ModelCalled,
    ModelCallFailed,
    TextsEmbedded,
)
from codeplan.recording.trace import hears_replies
from codeplan.types import Call, Crashed, InfrastructureFailed, Interrupted, Result, Usage
from codeplan.untrusted.values import shown_answer

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanKind, Status, Tracer

CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

_NANO = 1_000_000_000


def with_telemetry(on_event: EventHandler | None = None) -> EventHandler | None:
    """An event handler for one episode that makes its spans and passes each event on to ``on_event``.

    If OpenTelemetry is not loaded, it cannot be set up either, so this returns ``on_event`` itself, at no cost.
    """
    return EpisodeSpans(on_event) if "opentelemetry" in sys.modules else on_event


class EpisodeSpans:
    """The spans of one episode. Call it with the events in order, in the thread that runs the episode.

    The episode's span is the current one while the episode runs, so that spans of other libraries stand below it.
    """

    def __init__(self, on_event: EventHandler | None = None) -> None:
        from opentelemetry import trace

        from codeplan.version import VERSION

        self._tracer: Tracer = trace.get_tracer("codeplan", VERSION)
        self._on_event = on_event
        self._calls = CallsByAnswer()
        self._content = os.environ.get(CONTENT_VARIABLE, "").strip().lower() == "true"
        self._episode: Span | None = None
        self._context: Context | None = None
        self._token: Token[Context] | None = None
        self._main: dict[str, str] = {}
        self._routes: dict[str, dict[str, str]] = {}

    @property
    def hears_replies(self) -> bool:
        return hears_replies(self._on_event)

    def __call__(self, event: Event) -> None:
        call = self._calls.take(event)
        match event:
            case EpisodeStarted():
                self._begin(event)
            case ModelCalled():
                self._end_model_call(event)
            case ModelCallFailed():
                self._end_failed_call(event)
            case TextsEmbedded():
                self._end_embedding(event)
            case CallAnswered() if call is not None:
                self._end_call(call, event)
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
        self._context = trace.set_span_in_context(self._episode)
        self._token = context.attach(self._context)

    def _end_model_call(self, event: ModelCalled) -> None:
        completion = event.completion
        attributes = self._call_attributes(event) | {
            "gen_ai.response.finish_reasons": (completion.finish_reason,),
            "codeplan.retries": completion.retries,
            **_tokens(completion.usage),
        }
        attributes["gen_ai.response.model"] = completion.model or attributes["gen_ai.request.model"]
        if self._content:
            attributes["gen_ai.output.messages"] = _messages([("assistant", completion.text)], completion.finish_reason)
        self._add_client_span(event, attributes)

    def _end_failed_call(self, event: ModelCallFailed) -> None:
        from opentelemetry.trace import Status, StatusCode

        attributes = self._call_attributes(event) | {"error.type": ModelError.__name__, **_tokens(event.usage)}
        # The error may quote a model's refusal, so it is content.
        self._add_client_span(event, attributes, Status(StatusCode.ERROR, event.error if self._content else None))

    def _end_embedding(self, event: TextsEmbedded) -> None:
        attributes = {**self._request_attributes(event.model, "embed", "embeddings"), **_tokens(event.usage)}
        self._add_client_span(event, attributes)

    def _call_attributes(self, event: ModelCalled | ModelCallFailed) -> dict[str, Any]:
        """The attributes of a model call, whatever its outcome."""
        operation = "embeddings" if event.purpose == "embed" else "chat"
        attributes = self._request_attributes("", event.purpose, operation)
        if self._content:
            attributes["gen_ai.input.messages"] = _messages([(m["role"], m["content"]) for m in event.messages])
        return attributes

    def _request_attributes(self, model: str, purpose: str, operation: str) -> dict[str, Any]:
        """The attributes of a call before it is made; without ``model``, the model is that of the purpose."""
        known = self._routes.get(purpose, self._main)
        named = {"gen_ai.request.model": model} if model else {}
        return {**known, **named, "gen_ai.operation.name": operation, "codeplan.purpose": purpose}

    def _add_client_span(
        self,
        event: ModelCalled | ModelCallFailed | TextsEmbedded,
        attributes: dict[str, Any],
        status: Status | None = None,
    ) -> None:
        from opentelemetry.trace import SpanKind

        name = f"{attributes['gen_ai.operation.name']} {attributes['gen_ai.request.model']}"
        self._add_span(name, SpanKind.CLIENT, attributes, event.at, event.seconds, status)

    def _end_call(self, call: Call, event: CallAnswered) -> None:
        from opentelemetry.trace import SpanKind

        name, arguments = ("act", {"action": call.name}) if call.arguments is None else (call.name, call.arguments)
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": str(event.id),
        }
        if event.answer.error:
            attributes["error.type"] = event.answer.error
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = json.dumps(arguments)
            attributes["gen_ai.tool.call.result"] = shown_answer(event.answer)
        self._add_span(f"execute_tool {name}", SpanKind.INTERNAL, attributes, event.at, event.seconds)

    def _add_span(
        self,
        name: str,
        kind: SpanKind,
        attributes: dict[str, Any],
        at: float,
        seconds: float,
        status: Status | None = None,
    ) -> None:
        """A span that ends at this time and took this many seconds."""
        start = _nanoseconds(at - seconds)
        span = self._tracer.start_span(name, self._context, kind, attributes, start_time=start)
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
    """Mark an episode as an error if it was broken off; a task that was not solved is no error."""
    from opentelemetry.trace import Status, StatusCode

    if isinstance(result.ending, InfrastructureFailed | Crashed | Interrupted):
        span.set_attribute("error.type", result.ending.name)
        span.set_status(Status(StatusCode.ERROR, result.ending.name))


def _tokens(usage: Usage) -> dict[str, int]:
    counts = {"input": usage.input_tokens, "output": usage.output_tokens}
    return {f"gen_ai.usage.{name}_tokens": count for name, count in counts.items() if count is not None}


def _messages(texts: list[tuple[str, str]], finish_reason: str | None = None) -> str:
    """Messages in the form of the conventions."""
    ended = {} if finish_reason is None else {"finish_reason": finish_reason}
    return json.dumps([{"role": r, "parts": [{"type": "text", "content": t}], **ended} for r, t in texts])


def _model_attributes(name: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """The model and its provider: ``openai`` at OpenAI's own endpoint, otherwise the endpoint's host, or the model's
    name without an endpoint.
    """
    host = urlsplit(str(settings.get("base_url", ""))).hostname or name
    return {"gen_ai.request.model": name, "gen_ai.provider.name": "openai" if host == "api.openai.com" else host}


def _nanoseconds(seconds: float) -> int:
    return int(seconds * _NANO)
