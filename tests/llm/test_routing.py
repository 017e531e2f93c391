"""Models by purpose."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from support.boxes import Replies
from support.served import Serve

import codeplan
from codeplan.errors import UsageError
from codeplan.llm.openai_client import OpenAIModel
from codeplan.llm.prices import unpriced_models
from codeplan.llm.routing import RoutedModel
from codeplan.protocols import LLM
from codeplan.recording.events import EpisodeStarted
from codeplan.runner.models import connect
from codeplan.types import Purpose


def test_each_purpose_goes_to_its_model_and_all_others_to_the_main_one() -> None:
    main, asker = Replies("plan", "refined"), Replies("answer")
    routed = RoutedModel(main, {"ask": asker})
    assert isinstance(routed, LLM)
    assert [routed.complete([], purpose=p).text for p in ("plan", "ask", "refine")] == ["plan", "answer", "refined"]
    assert (main.purposes, asker.purposes) == (["plan", "refine"], ["ask"])


def test_every_purpose_of_a_call_has_a_model() -> None:
    main = Replies(*get_args(Purpose))
    routed = RoutedModel(main, {})
    for purpose in get_args(Purpose):
        assert routed.complete([], purpose=purpose).text == purpose
    assert main.purposes == [*get_args(Purpose)]


@pytest.mark.parametrize(
    ("setting", "purposes"),
    [
        ("ask_model", {"ask", "bind"}),
        ("refine_model", {"refine", "resume", "refine_text"}),
        ("executor_model", {"act", "formalise"}),
    ],
)
def test_each_setting_names_the_model_for_its_purposes(setting: str, purposes: set[str]) -> None:
    model = connect("strong", base_url="http://localhost/v1", **{setting: "cheap"})
    assert isinstance(model, RoutedModel)
    assert {p for p, route in model.settings["routes"].items() if route["model"] == "cheap"} == purposes


def test_a_purpose_that_does_not_exist_is_refused() -> None:
    unknown: Any = "asks"
    with pytest.raises(UsageError, match="no purpose 'asks'.*did you mean 'ask'"):
        RoutedModel(Replies(), {"asks": Replies()})
    with pytest.raises(UsageError, match="no purpose 'asks'"):
        RoutedModel(Replies(), {}).complete([], purpose=unknown)


def test_other_models_share_the_settings_that_they_take() -> None:
    model = connect("strong", ask_model="cheap", base_url="http://localhost/v1", temperature=0.5)
    assert model.name == "strong (ask: cheap)"
    assert isinstance(model, RoutedModel)
    shared = {"base_url": "http://localhost/v1", "temperature": 0.5}
    assert model.settings == {
        **shared,
        "main_model": "strong",
        "routes": {purpose: {"model": "cheap", **shared} for purpose in ("bind", "ask")},
    }
    assert unpriced_models(model.name, model.settings) == ("strong", "cheap")


def test_a_model_at_another_endpoint_gets_no_key_but_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-main")
    model = connect("gpt-4.1", ask_model="@cf/tiny@http://localhost:8000/v1")
    assert isinstance(model, RoutedModel)
    asker = model._routes["ask"]
    assert isinstance(asker, OpenAIModel)
    assert (asker.name, asker.base_url) == ("@cf/tiny", "http://localhost:8000/v1")
    assert not asker._key
    monkeypatch.setenv("CODEPLAN_ASK_API_KEY", "sk-asker")
    asker = connect("gpt-4.1", ask_model="tiny@http://localhost:8000/v1")._routes["ask"]  # type: ignore[attr-defined]
    assert asker._key.value == "sk-asker"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (3, "ask_model is 3"),
        ("", "no name"),
        ("tiny@http://me:hunter2@host/v1", "has a login"),
        ("tiny@http://", "base URL"),
        ("tiny@http://host/v1?api-key=hunter2", "a login or a query"),
        ("tiny@http://host/v1#hunter2", "a login or a query"),
    ],
)
def test_an_invalid_other_model_is_refused(spec: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        connect("strong", ask_model=spec, base_url="http://localhost/v1")
    assert "hunter2" not in str(caught.value)


def test_an_episode_calls_both_models_and_its_trace_names_both(serve: Serve) -> None:
    planner, asker = serve(mistakes="forgotten_walk"), serve()
    events: list[Any] = []
    result = codeplan.run(
        "household",
        "clean/22",
        model="strong",
        base_url=planner.url,
        ask_model=f"cheap@{asker.url}",
        on_event=events.append,
    )
    assert result.success
    assert (len(planner.log), len(asker.log)) == (result.model_calls - result.asks, result.asks)
    assert result.asks > 0
    assert isinstance(events[0], EpisodeStarted)
    assert events[0].model == "strong (ask: cheap)"
    assert events[0].model_settings["routes"]["ask"]["base_url"] == asker.url
    planned, asked = planner.tokens, asker.tokens
    assert (result.usage.input_tokens, result.usage.output_tokens) == (planned[0] + asked[0], planned[1] + asked[1])
