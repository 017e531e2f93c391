"""Spans of an episode, as an SDK gets them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from support.boxes import Boxes, Replies

from codeplan.budget import Budget
from codeplan.errors import InfrastructureError
from codeplan.llm.routing import RoutedModel
from codeplan.recording.events import EpisodeEnded, EpisodeStarted, TextsEmbedded
from codeplan.runner.episodes import run
from codeplan.runner.telemetry import CONTENT_VARIABLE, EpisodeSpans
from codeplan.types import Result, Success, Task, Usage

OPEN = "def solution(agent, start_from=1):\n    print(agent.open({}))\n"
_exporter = InMemorySpanExporter()


@pytest.fixture(scope="module", autouse=True)
def provider() -> None:
    """The process's provider can be set only once."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(_exporter))
    trace.set_tracer_provider(provider)


@pytest.fixture
def spans() -> InMemorySpanExporter:
    _exporter.clear()
    return _exporter


def by_operation(spans: InMemorySpanExporter) -> dict[str, list[ReadableSpan]]:
    found: dict[str, list[ReadableSpan]] = {}
    for span in spans.get_finished_spans():
        assert span.attributes is not None
        found.setdefault(str(span.attributes["gen_ai.operation.name"]), []).append(span)
    return found


def test_an_episode_is_an_agent_with_its_model_calls_and_actions_beneath_it(spans):
    result = run(Boxes(), "ball/2", model=Replies(OPEN.format(1), OPEN.format(2)))
    found = by_operation(spans)
    (agent,) = found["invoke_agent"]
    assert agent.name == "invoke_agent adaplanner"
    assert agent.parent is None
    assert agent.attributes is not None
    assert agent.attributes["codeplan.success"] is True
    assert agent.attributes["gen_ai.usage.input_tokens"] == result.usage.input_tokens
    assert (len(found["chat"]), len(found["execute_tool"])) == (result.model_calls, result.actions) == (2, 2)
    for span in found["chat"] + found["execute_tool"]:
        assert span.parent is not None
        assert span.parent.span_id == agent.context.span_id
        assert agent.start_time <= span.start_time <= span.end_time <= agent.end_time


def test_a_model_call_has_the_attributes_of_the_conventions(spans):
    run(Boxes(), "ball/2", model=Replies(OPEN.format(2)))
    (chat,) = by_operation(spans)["chat"]
    assert (chat.name, chat.kind) == ("chat replies", SpanKind.CLIENT)
    assert dict(chat.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "replies",
        "gen_ai.request.model": "replies",
        "gen_ai.response.model": "replies",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 0,
        "gen_ai.usage.output_tokens": 0,
        "codeplan.purpose": "plan",
        "codeplan.retries": 0,
    }


def test_a_model_call_that_failed_has_a_span_of_its_own(spans):
    with pytest.raises(InfrastructureError):
        run(Boxes(), "ball/2", model=Replies(OPEN.format(1)))
    found = by_operation(spans)
    answered, failed = found["chat"]
    assert answered.status.status_code == StatusCode.UNSET
    assert (failed.name, failed.kind, failed.status.status_code) == ("chat replies", SpanKind.CLIENT, StatusCode.ERROR)
    assert failed.parent is not None
    assert failed.parent.span_id == found["invoke_agent"][0].context.span_id
    assert dict(failed.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "replies",
        "gen_ai.request.model": "replies",
        "gen_ai.usage.input_tokens": 0,
        "gen_ai.usage.output_tokens": 0,
        "codeplan.purpose": "refine",
        "error.type": "ModelError",
    }


def test_why_a_call_failed_is_content_too(spans, monkeypatch):
    for wanted in ("", "true"):
        monkeypatch.setenv(CONTENT_VARIABLE, wanted)
        spans.clear()
        with pytest.raises(InfrastructureError):
            run(Boxes(), "ball/2", model=Replies())
        (failed,) = by_operation(spans)["chat"]
        assert failed.status.description == ("no reply is left for plan" if wanted else None)
        assert ("gen_ai.input.messages" in (failed.attributes or {})) == bool(wanted)


def test_a_call_names_the_model_that_its_purpose_goes_to(spans):
    asker = Replies("2")
    asker.name = "asker"
    plan = OPEN.format("int(ask_llm('Which?'))")
    run(Boxes(), "ball/2", model=RoutedModel(Replies(plan), {"ask": asker}))
    assert [s.name for s in by_operation(spans)["chat"]] == ["chat replies", "chat asker"]


def test_content_is_left_out_unless_it_is_asked_for(spans, monkeypatch):
    for wanted in ("", "false", "true"):
        monkeypatch.setenv(CONTENT_VARIABLE, wanted)
        spans.clear()
        run(Boxes(), "ball/2", model=Replies(OPEN.format(2)))
        written = "".join(span.to_json() for span in spans.get_finished_spans())
        assert ("Here is the ball" in written) == ("solution" in written) == ("open 2" in written) == (wanted == "true")


def test_content_has_the_form_of_the_conventions(spans, monkeypatch):
    monkeypatch.setenv(CONTENT_VARIABLE, "true")
    run(Boxes(), "ball/2", model=Replies(OPEN.format(2)))
    (chat,) = by_operation(spans)["chat"]
    assert chat.attributes is not None
    assert [m["role"] for m in json.loads(str(chat.attributes["gen_ai.input.messages"]))] == ["system", "user"]
    (answer,) = json.loads(str(chat.attributes["gen_ai.output.messages"]))
    assert (answer["role"], answer["finish_reason"]) == ("assistant", "stop")
    assert answer["parts"] == [{"type": "text", "content": OPEN.format(2)}]


def test_an_episode_that_could_not_be_played_is_an_error_and_a_lost_one_is_not(spans):
    with pytest.raises(InfrastructureError):
        run(Boxes(), "ball/2", model=Replies())
    run(Boxes(), "ball/2", model=Replies(OPEN.format(1)), budget=Budget(actions=0))
    broken, lost = by_operation(spans)["invoke_agent"]
    assert (broken.status.status_code, (broken.attributes or {})["error.type"]) == (StatusCode.ERROR, "infrastructure")
    assert lost.status.status_code == StatusCode.UNSET


def test_episodes_in_one_thread_and_what_else_is_traced_do_not_mix(spans):
    with trace.get_tracer("test").start_as_current_span("outer", attributes={"gen_ai.operation.name": "outer"}):
        for box in (1, 2):
            run(Boxes(), f"ball/{box}", model=Replies(OPEN.format(box)))
    found = by_operation(spans)
    (outer,) = found["outer"]
    assert [a.parent and a.parent.span_id for a in found["invoke_agent"]] == [outer.context.span_id] * 2
    assert not trace.get_current_span().get_span_context().is_valid


def test_nothing_is_loaded_and_nothing_listens_where_nobody_traces():
    code = (
        "import sys, codeplan.runner.telemetry as t, codeplan.cli\n"
        "print(t.with_telemetry(), t.with_telemetry(print) is print, 'opentelemetry' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "None True False\n"


def test_a_call_for_embeddings_is_a_span_of_its_own_sort(spans):
    on_event = EpisodeSpans()
    on_event(
        EpisodeStarted(env="boxes", task=Task("ball/2"), method="react", model="strong", codeplan_version="0", at=10.0)
    )
    on_event(TextsEmbedded(model="small", texts=3, digest="", seconds=0.5, usage=Usage(12, None), at=12.0))
    on_event(EpisodeEnded(result=Result(Task("ball/2"), Success())))
    (span,) = by_operation(spans)["embeddings"]
    assert (span.name, span.kind) == ("embeddings small", SpanKind.CLIENT)
    assert span.attributes is not None
    assert span.attributes["gen_ai.usage.input_tokens"] == 12
    assert (span.start_time, span.end_time) == (11_500_000_000, 12_000_000_000)
