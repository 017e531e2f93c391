"""The model of an episode: what reaches it, what its failures cost, and what a recording says in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from support.boxes import Boxes, Replies

from codeplan.episode.episode import Episode
from codeplan.episode.replayable import MAX_PROMPT_CHARS
from codeplan.errors import Diverged, ModelError, SizeExceeded, UsageError
from codeplan.recording.events import Event, ModelCalled, ModelCallFailed, TextsEmbedded, WarningIssued
from codeplan.recording.trace import Trace
from codeplan.types import Completion, Embeddings, Message, Task, Usage

TASK = Task("ball/2", "boxes", "find", "find the ball", 2)
HELLO: list[Message] = [{"role": "user", "content": "hello"}]
HUGE: list[Message] = [{"role": "user", "content": "x" * (MAX_PROMPT_CHARS + 1)}]
SPENT = Usage(7, 2, money=0.5)


class Embedding(Replies):
    """A model that embeds."""

    def __init__(self, *replies: str) -> None:
        super().__init__(*replies)
        self.embedded: list[Sequence[str]] = []

    def embed(self, texts: Sequence[str], *, model: str) -> Embeddings:
        self.embedded.append(texts)
        return Embeddings(tuple((1.0, 0.0) for _ in texts), SPENT)


class Costly(Replies):
    """A model that fails after it has spent something."""

    def complete(self, messages: Any, **how: Any) -> Completion:
        raise spent_error()

    def embed(self, texts: Sequence[str], *, model: str) -> Embeddings:
        raise spent_error()


def spent_error() -> ModelError:
    error = ModelError("the endpoint broke off")
    error.usage = SPENT
    return error


def episode(model: Any, recording: Sequence[Event] = ()) -> Episode:
    env: Any = Boxes()
    return Episode(env, TASK, model, trace=Trace(recording=recording))


# ------------------------------------------------------------------ what reaches the model


def test_the_settings_of_a_call_reach_the_model() -> None:
    asked = []

    class Curious(Replies):
        def complete(self, messages: Any, **how: Any) -> Completion:
            asked.append(how)
            return Completion("hi")

    episode(Curious()).ask(HELLO, purpose="act", stop=("\n", "end"), max_tokens=9)
    assert asked == [{"purpose": "act", "stop": ("\n", "end"), "max_tokens": 9}]


def test_a_model_that_counts_calls_is_a_new_one_in_each_episode_and_counts_recorded_calls() -> None:
    class Counting(Replies):
        made: list[Counting] = []  # shared by all
        counted: list[dict[str, Any]] = []

        def for_episode(self) -> Counting:
            self.made.append(Counting("first", "second"))
            return self.made[-1]

        def count_call(self, messages: Any, **how: Any) -> None:
            self.counted.append(how)
            self.replies.pop(0)

    model = Counting()
    before, other = episode(model), episode(model)
    assert [e.ask(HELLO, purpose="act").text for e in (before, before, other)] == ["first", "second", "first"]
    resumed = episode(model, before.trace.events[:2])
    texts = [resumed.ask(HELLO, purpose="act", stop=("end",), max_tokens=9).text for _ in range(2)]
    assert texts == ["first", "second"]
    assert Counting.counted == [{"purpose": "act", "stop": ("end",), "max_tokens": 9}]
    assert [len(made.asked) for made in Counting.made] == [2, 1, 1]
    assert model.asked == []


# ------------------------------------------------------------------ what a prompt may hold


@pytest.mark.parametrize(("before", "error"), [("bind", UsageError), ("plan", SizeExceeded)])
def test_a_prompt_after_a_reply_may_hold_that_reply_unless_it_bound_parameters(before: Any, error: type) -> None:
    made = episode(Replies("hi"))
    made.ask(HELLO, purpose=before)
    with pytest.raises(error, match="1,000,001 characters"):
        made.ask(HUGE, purpose="plan")


# ------------------------------------------------------------------ failures


def test_a_failure_costs_what_the_endpoint_says_and_the_same_in_a_replay() -> None:
    made = episode(Costly())
    with pytest.raises(ModelError, match="broke off"):
        made.ask(HELLO, purpose="plan")
    with pytest.raises(ModelError, match="broke off"):
        made.embed(["a"], "small")
    failed = [e for e in made.trace.events if isinstance(e, ModelCallFailed)]
    assert [(e.purpose, e.usage, e.error) for e in failed] == [
        ("plan", SPENT, "the endpoint broke off"),
        ("embed", SPENT, "the endpoint broke off"),
    ]
    again = episode(Replies(), made.trace.events)
    again.replay_embeddings()  # the failure that comes next is none of an embedding
    with pytest.raises(ModelError, match="broke off") as caught:
        again.ask(HELLO, purpose="plan")
    assert caught.value.usage == SPENT
    with pytest.raises(ModelError, match="broke off"):
        again.replay_embeddings()
    assert again.meter.usage == made.meter.usage
    assert (again.meter.usage.input_tokens, again.meter.model_calls) == (14, 2)


def test_an_exception_of_a_users_model_is_a_failure_and_one_of_codeplans_own_is_a_bug() -> None:
    class Broken(Replies):
        def complete(self, messages: Any, **how: Any) -> Completion:
            raise KeyError("no key")

    with pytest.raises(ModelError, match="the model replies failed: KeyError") as caught:
        episode(Broken()).ask(HELLO, purpose="plan")
    assert caught.value.is_users_bug
    Broken.__module__ = "codeplan.llm.broken"
    with pytest.raises(KeyError):
        episode(Broken()).ask(HELLO, purpose="plan")
    Broken.__module__ = "codeplanner"
    with pytest.raises(ModelError):
        episode(Broken()).ask(HELLO, purpose="plan")


def test_an_error_that_codeplan_knows_passes_through_a_users_model() -> None:
    class Refusing(Replies):
        def complete(self, messages: Any, **how: Any) -> Completion:
            raise UsageError("no such model")

    with pytest.raises(UsageError, match="^no such model$"):
        episode(Refusing()).ask(HELLO, purpose="plan")


def test_a_models_warning_is_on_the_trace_after_its_call() -> None:
    class Warning_(Replies):
        def complete(self, messages: Any, **how: Any) -> Completion:
            return Completion("hi", warning="the reply has odd characters" if len(messages) == 1 else "")

    made = episode(Warning_())
    made.ask(HELLO, purpose="plan")
    made.ask(HELLO * 2, purpose="plan")
    assert [type(e) for e in made.trace.events[1:]] == [ModelCalled, WarningIssued, ModelCalled]
    warned = made.trace.events[2]
    assert isinstance(warned, WarningIssued)
    assert warned.message == "the reply has odd characters"


# ------------------------------------------------------------------ embeddings


def test_texts_that_are_divided_otherwise_have_another_digest() -> None:
    made = episode(Embedding())
    for texts in (["ab", "c"], ["a", "bc"], ["abc"], ["ab", "c"]):
        made.embed(texts, "small")
    digests = [e.digest for e in made.trace.events if isinstance(e, TextsEmbedded)]
    assert len(set(digests)) == 3
    assert digests[0] == digests[3]


def test_embeddings_cost_the_same_in_a_replay_and_ask_nobody() -> None:
    made = episode(Embedding())
    for texts in (["a"], ["b", "c"]):
        made.embed(texts, "small")
    model = Embedding()
    again = episode(model, made.trace.events)
    again.replay_embeddings()
    assert again.meter.usage == made.meter.usage
    assert (again.meter.usage.input_tokens, again.meter.model_calls, model.embedded) == (14, 2, [])


def test_nothing_is_embedded_where_the_recording_has_another_event() -> None:
    made = episode(Replies("hi"))
    made.ask(HELLO, purpose="plan")
    model = Embedding()
    with pytest.raises(Diverged, match="event 1 is not what was recorded"):
        episode(model, made.trace.events).embed(["a"], "small")
    assert model.embedded == []
