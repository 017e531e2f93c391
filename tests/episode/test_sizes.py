"""What an agent makes too large costs it the attempt: a typed ending that counts, never a failure of infrastructure."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.boxes import Boxes, BoxesInWords, Replies
from support.reply_server import Endpoint, endpoint

import codeplan
from codeplan.bench.bench_runner import attempt_episode
from codeplan.episode.episode import Episode
from codeplan.episode.replayable import MAX_OBSERVATION_CHARS, MAX_PROMPT_CHARS, MAX_REPLY_CHARS
from codeplan.errors import ModelError, SizeExceeded, TraceExhausted, UsageError
from codeplan.llm.connections import MAX_BODY_BYTES, MAX_EMBEDDINGS_BYTES, MAX_ERROR_BYTES, MAX_STREAM_BYTES
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.methods.react import ReAct
from codeplan.methods.reflexion import Reflexion
from codeplan.methods.try_again import TryAgain
from codeplan.planning.feedback import MAX_CONVERSATION_CHARS, MAX_OLDER_CHARS, MAX_PART_CHARS, MAX_WHOLE_CHARS
from codeplan.recording.event_log import MAX_EVENT_BYTES, MAX_SAVED_VALUES, MAX_TRACE_BYTES, MAX_TRACE_VALUES, TraceSize
from codeplan.recording.events import EpisodeEnded, ModelCalled, StepEntered, TextPrinted, WarningIssued
from codeplan.recording.trace import Trace
from codeplan.types import (
    Checkpoint,
    Completion,
    Message,
    NoProgress,
    NotSolved,
    Observation,
    Refused,
    Result,
    Success,
    Task,
    TooLarge,
    TrialEnded,
)

__all__ = ["endpoint"]

TASK = Task("ball/2", "boxes", "find", "find the ball", 2)
HELLO: list[Message] = [{"role": "user", "content": "hello"}]

SOLVE = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        "[Step 1] open all boxes"
        for box in [1, 2, 3]:
            seen = agent.open(box)
            if "ball" in seen:
                break
        assert "ball" in seen, "no ball"
```"""
ASK_TOO_MUCH = SOLVE.replace("for box", 'ask_llm("Which box?" * 1000)\n        for box')
FAIL_WITH = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        "[Step 1] fail"
        {}
        assert False, {}
```"""


class Context(Replies):
    """A model with room for few characters, of the kind that says so."""

    def __init__(self, room: int, *replies: str) -> None:
        super().__init__(*replies)
        self.room = room

    def complete(self, messages: Any, **how: Any) -> Completion:
        if sum(len(m["content"]) for m in messages) > self.room:
            error = ModelError("the prompt is too long for the model")
            error.prompt_too_long = True
            raise error
        return super().complete(messages, **how)


class Endless(Replies):
    """A model whose answers to plans' questions reach the limit of tokens."""

    def complete(self, messages: Any, *, purpose: Any, **how: Any) -> Completion:
        if purpose == "ask":
            error = ModelError("the endpoint cut off the reply at its limit of tokens")
            error.reply_cut = True
            raise error
        return super().complete(messages, purpose=purpose, **how)


class Loud(BoxesInWords):
    """Boxes whose observations have a given length, with or without the ball."""

    def __init__(self, length: int, first: str = "Boxes.", after: int = 0) -> None:
        super().__init__()
        self.length, self.first, self.after = length, first, after

    def reset(self, task: Task) -> Observation:
        super().reset(task)
        return Observation(self.first)

    def step(self, action: str) -> Observation:
        seen = super().step(action)
        if len(self.actions) <= self.after:
            return seen
        return msgspec.structs.replace(seen, text=seen.text + "y" * (self.length - len(seen.text)))


def run(tmp_path: Path, env: Any, method: Any, model: Any) -> Result:
    """The episode's result. Its trace is readable, ends with that result, and repeats exactly."""
    result = codeplan.run(env, TASK, method, model, out=tmp_path / "run")
    events = Trace.read(tmp_path / "run" / "trace.jsonl")
    end = events[-1]
    assert isinstance(end, EpisodeEnded)
    assert not end.broken_off
    assert end.result == result
    assert codeplan.replay(tmp_path / "run", env=env, method=method) == result
    assert max(map(len, (tmp_path / "run" / "trace.jsonl").read_bytes().splitlines())) <= MAX_EVENT_BYTES
    return result


def too_large(what: str) -> Callable[[Result], bool]:
    return lambda result: isinstance(result.ending, TooLarge) and result.ending.what == what


def solved(result: Result) -> bool:
    return result.success


def not_solved(result: Result) -> bool:
    return isinstance(result.ending, NotSolved)


def refused(result: Result) -> bool:
    return isinstance(result.ending, Refused)


def stood_still(result: Result) -> bool:
    return isinstance(result.ending, NoProgress) and "reply-size" in result.reason


LONG = "x" * (MAX_REPLY_CHARS + 1)
MEGABYTES = 40_000_000
SOLVED: dict[str, Callable[[], Any]] = {
    "a draft that is too long is repaired": lambda: Replies(LONG, SOLVE),
    "a question that calls for an endless answer costs the try": lambda: Endless(ASK_TOO_MUCH, SOLVE),
    "a plan, and then spaces without an end": lambda: Replies(SOLVE + " " * MEGABYTES, SOLVE),
    "an open fence without an end": lambda: Replies("```python\n" + "#" * MEGABYTES, SOLVE),
    "half surrogate pairs": lambda: Replies("\ud800" * 1000, SOLVE),
    "half surrogate pairs without an end": lambda: Replies("\ud800" * MEGABYTES, SOLVE),
    "control characters, the widest in JSON": lambda: Replies("\x01" * MAX_REPLY_CHARS, SOLVE),
    "a repair that is too long": lambda: Replies("no plan", LONG, SOLVE),
    "a refinement that is too long": lambda: Replies(FAIL_WITH.format("pass", "'no'"), LONG, SOLVE),
    "an answer to a plan that is too long": lambda: Replies(ASK_TOO_MUCH, LONG, SOLVE),
    "a question for which the model has no room": lambda: Context(9_900, ASK_TOO_MUCH, SOLVE),
}
"""Replies after which AdaPlanner solves the task all the same."""

EPISODES: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any], Callable[[Result], bool]]] = {
    **{name: (Boxes, AdaPlanner, model, solved) for name, model in SOLVED.items()},
    "a question that calls for an endless answer, each time": (
        Boxes,
        lambda: AdaPlanner(tries=2),
        lambda: Endless(ASK_TOO_MUCH, ASK_TOO_MUCH),
        not_solved,
    ),
    "nothing but replies that are too long": (Boxes, AdaPlanner, lambda: Replies(*[LONG] * 9), stood_still),
    "nothing but replies that are too long, to the last try": (
        Boxes,
        lambda: AdaPlanner(no_progress=0),
        lambda: Replies(*[LONG] * 30),
        refused,
    ),
    "a refinement for which the model has no room": (
        Boxes,
        AdaPlanner,
        lambda: Context(9_000, FAIL_WITH.format("pass", "'no' * 3000"), SOLVE),
        too_large("context"),
    ),
    "a turn that is too long": (BoxesInWords, ReAct, lambda: Replies("open 1", LONG), too_large("reply")),
    "a history for which the model has no room": (
        lambda: Loud(60_000),
        ReAct,
        lambda: Context(100_000, *["open 1"] * 6),
        too_large("context"),
    ),
    "a history that is too long for any model": (
        lambda: Loud(400_000),
        lambda: ReAct(max_idle_turns=6),
        lambda: Replies(*["open 1"] * 6),
        too_large("prompt"),
    ),
    "an observation without an end": (
        lambda: Loud(100_000_000),
        ReAct,
        lambda: Replies("open 1", "open 2"),
        too_large("observation"),
    ),
    "an observation without an end that brings success": (
        lambda: Loud(100_000_000, after=1),
        ReAct,
        lambda: Replies("open 1", "open 2"),
        solved,
    ),
    "a first observation without an end": (
        lambda: Loud(10, first="x" * 100_000_000),
        AdaPlanner,
        lambda: Replies(SOLVE),
        too_large("observation"),
    ),
    "a first observation of half surrogate pairs": (
        lambda: Loud(20, first="\ud800 \udfff"),
        AdaPlanner,
        lambda: Replies(SOLVE),
        solved,
    ),
    "an observation within a plan": (
        lambda: Loud(MAX_OBSERVATION_CHARS + 1),
        lambda: AdaPlanner(tries=1),
        lambda: Replies(SOLVE),
        lambda result: not result.success and not isinstance(result.ending, TooLarge),
    ),
    "the last trial of several": (
        lambda: Loud(100_000_000),
        lambda: TryAgain(trials=2),
        lambda: Replies(*["open 1"] * 2),
        lambda result: isinstance(result.ending, TrialEnded) and isinstance(result.ending.ending, TooLarge),
    ),
    "a first trial that is too large": (
        lambda: Loud(100_000_000, after=1),
        lambda: TryAgain(trials=2),
        lambda: Replies("open 1", "open 3", "open 2"),
        solved,
    ),
    "reflections on a trial that is too large": (
        BoxesInWords,
        lambda: Reflexion(trials=2),
        lambda: Replies("open 1", LONG, "I learnt.", "open 2"),
        solved,
    ),
    "a reflection that is too large": (
        BoxesInWords,
        lambda: Reflexion(trials=2),
        lambda: Replies("task failed", LONG, "open 2"),
        too_large("reply"),
    ),
}


@pytest.mark.parametrize("name", EPISODES)
def test_an_episode_with_something_too_large_ends_as_it_should(name: str, tmp_path: Path) -> None:
    env, method, model, expected = EPISODES[name]
    result = run(tmp_path, env(), method(), model())
    assert expected(result), result.ending


def test_replies_up_to_the_maximum_are_whole_and_longer_ones_are_cut_in_the_trace() -> None:
    episode = Episode(Boxes(), TASK, Replies("a" * MAX_REPLY_CHARS, "b" * (MAX_REPLY_CHARS + 1)))
    assert len(episode.ask(HELLO, purpose="plan").text) == MAX_REPLY_CHARS
    with pytest.raises(SizeExceeded, match="256,001 characters, more than 256,000"):
        episode.ask(HELLO, purpose="plan")
    called = episode.trace.events[-1]
    assert isinstance(called, ModelCalled)
    assert (len(called.completion.text), called.cut_from) == (MAX_REPLY_CHARS, MAX_REPLY_CHARS + 1)


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_a_prompt_may_have_exactly_the_maximum_length(more: int, fits: bool) -> None:
    episode = Episode(Boxes(), TASK, Replies("hi"))
    prompt: list[Message] = [
        {"role": "user", "content": "x" * (MAX_PROMPT_CHARS - 5 + more)},
        {"role": "user", "content": "x" * 5},
    ]
    if fits:
        assert episode.ask(prompt, purpose="ask").text == "hi"
    else:
        with pytest.raises(SizeExceeded, match="1,000,001 characters"):
            episode.ask(prompt, purpose="ask")
        assert episode.meter.model_calls == 0


@pytest.mark.parametrize("purpose", ["plan", "act", "decompose", "bind"])
def test_a_prompt_that_is_too_long_before_the_agent_made_anything_is_the_users(purpose: Any) -> None:
    episode = Episode(Boxes(), TASK, Context(10, "hi"))
    huge: list[Message] = [{"role": "user", "content": "x" * (MAX_PROMPT_CHARS + 1)}]
    with pytest.raises(UsageError, match="shorten the task"):
        episode.ask(huge, purpose=purpose)
    with pytest.raises(ModelError, match="too long for the model"):
        episode.ask([{"role": "user", "content": "x" * 100}], purpose=purpose)
    episode.act("open 1")
    with pytest.raises(SizeExceeded):
        episode.ask(huge, purpose=purpose)
    with pytest.raises(SizeExceeded):
        episode.ask([{"role": "user", "content": "x" * 100}], purpose=purpose)


def test_an_event_up_to_the_maximum_is_written_and_a_larger_one_is_not(tmp_path: Path) -> None:
    with closing(Trace(tmp_path / "trace.jsonl")) as trace:
        size = len(msgspec.json.encode(trace.append(TextPrinted(text=""))))
        with pytest.raises(SizeExceeded, match="an event of the trace"):
            trace.append(TextPrinted(text="\x01" * (MAX_EVENT_BYTES // 6)))
        trace.append(TextPrinted(text="x" * (MAX_EVENT_BYTES - size - 10)))
    assert len(Trace.read(tmp_path / "trace.jsonl")) == 2


def test_a_full_trace_takes_only_what_ends_it() -> None:
    size, warned, packed = TraceSize(), WarningIssued(message=""), b" " * MAX_EVENT_BYTES
    for _ in range(480 // 8 - 1):
        size.add(warned, packed)
    size.require_room(warned, packed)
    size.add(warned, b" ")
    with pytest.raises(TraceExhausted, match="the trace is full: it has reached 503,316,480 bytes"):
        size.add(warned, packed)
    size.require_room(warned, packed[1:])  # what was refused does not count
    size.add(EpisodeEnded(result=Result(TASK, Success())), packed)
    with pytest.raises(TraceExhausted):
        size.add(warned, b" ")


def test_an_agents_error_reaches_the_plan_and_the_episode_goes_on(tmp_path: Path) -> None:
    catching = SOLVE.replace(
        "            seen = agent.open(box)\n",
        (
            "            try:\n"
            "                seen = agent.open(box)\n"
            "            except RuntimeError as e:\n"
            "                seen = str(e)\n"
            '                assert "500,001 characters" in seen, seen\n'
        ),
    )
    result = run(tmp_path, Loud(MAX_OBSERVATION_CHARS + 1), AdaPlanner(tries=1), Replies(catching))
    assert result.success
    assert result.actions == 2


def test_parts_of_a_refinement_are_bounded(tmp_path: Path) -> None:
    model = Replies("#" * 200_000, FAIL_WITH.format("x = [['y' * 900] * 12] * 12", "'z' * 100_000"), SOLVE)
    assert run(tmp_path, Boxes(), AdaPlanner(), model).success
    assert max(sum(len(m["content"]) for m in messages) for _, messages in model.asked) < 160_000


@pytest.mark.parametrize("method", [lambda: AdaPlanner(tries=1), ReAct])
def test_an_episode_that_ends_so_stays_in_the_statistics(method: Callable[[], Any]) -> None:
    play = lambda on_event: codeplan.run(BoxesInWords(), TASK, method(), Replies(*[LONG] * 9), on_event=on_event)  # noqa: E731
    result, broken = attempt_episode(TASK, play, "method", "model")
    assert not result.success
    assert not broken


def test_an_endpoint_without_room_for_the_first_prompt_is_a_failure_of_infrastructure(endpoint: Endpoint) -> None:
    endpoint.answer({"error": {"message": "too long", "code": "context_length_exceeded"}}, 400)
    with pytest.raises(ModelError, match="use a model with a larger context"):
        codeplan.run(Boxes(), TASK, AdaPlanner(), endpoint.model())


@pytest.mark.parametrize(
    "saved",
    [
        Checkpoint(nodes=[["list"]] * (MAX_SAVED_VALUES // 100)),
        Checkpoint(nodes=[["list", *[0] * (MAX_SAVED_VALUES // 50)]]),
        Checkpoint(names={f"v{number}": 0 for number in range(MAX_SAVED_VALUES // 50)}, nodes=[None]),
        Checkpoint(dropped={f"v{number}": "" for number in range(MAX_SAVED_VALUES // 50)}),
    ],
    ids=["values", "parts", "names", "dropped names"],
)
def test_checkpoints_of_many_small_values_end_an_episode(saved: Checkpoint) -> None:
    size, event = TraceSize(), StepEntered(step=1, title="", checkpoint=saved)
    for _ in range(49):
        size.add(event, b"")
    size.count(event, b"")
    with pytest.raises(TraceExhausted, match="the trace is full: its checkpoints have reached 4,000,000 values"):
        size.add(event, b"")


def test_checkpoints_may_hold_the_maximum_number_of_values_and_no_more() -> None:
    size, saved = TraceSize(), Checkpoint(nodes=[None] * (MAX_SAVED_VALUES // 50))
    for _ in range(50):
        size.add(StepEntered(step=1, title="", checkpoint=saved), b"")
    size.add(WarningIssued(message=""), b"")
    with pytest.raises(TraceExhausted, match="its checkpoints have reached"):
        size.add(StepEntered(step=1, title="", checkpoint=Checkpoint(nodes=[None])), b"")


def test_the_documentation_names_the_sizes() -> None:
    text = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
    table = dict(re.findall(r"^\| ((?:an?|the) .*?) \| (.*?) \|", text.partition("## Sizes")[2], re.MULTILINE))
    assert table == {
        "a body of an endpoint, after decompression": (
            f"{MAX_BODY_BYTES >> 20} MiB; embeddings {MAX_EMBEDDINGS_BYTES >> 20} MiB; "
            f"a stream {MAX_STREAM_BYTES >> 20} MiB, of which {MAX_BODY_BYTES >> 20} MiB are kept"
        ),
        "a body of an error": f"{MAX_ERROR_BYTES >> 10} KiB",
        "a prompt": f"{MAX_PROMPT_CHARS:,} characters",
        "a reply": f"{MAX_REPLY_CHARS:,} characters",
        "an observation": f"{MAX_OBSERVATION_CHARS:,} characters",
        "an event of a trace": f"{MAX_EVENT_BYTES >> 20} MiB",
        "a trace": f"{MAX_TRACE_BYTES - 4 * MAX_EVENT_BYTES >> 20} MiB",
        "the events of a trace": f"{MAX_TRACE_VALUES - 2_000_000:,} values, nested ones included",
        "the checkpoints of an episode": f"{MAX_SAVED_VALUES:,} values",
    }
    assert f"{MAX_PART_CHARS['feedback']:,} characters, the plan {MAX_PART_CHARS['source']:,}, and the log" in text
    parts = {MAX_PART_CHARS[part] for part in ("printed", "now", "variables")}
    assert {MAX_OLDER_CHARS, MAX_WHOLE_CHARS, *parts} == {6_000}
    assert "the variables 6,000 each" in " ".join(text.split())
    assert f"longer than {MAX_CONVERSATION_CHARS:,} characters" in text


class PrintsTooMuch:
    """A method that records an event which is too large."""

    name = "prints-too-much"

    def solve(self, task: Task, episode: Episode) -> Result:
        episode.act("open 1")
        episode.record(TextPrinted(text="x" * MAX_EVENT_BYTES))
        raise AssertionError("the event is refused")


def test_an_event_that_was_refused_is_refused_again_in_a_replay(tmp_path: Path) -> None:
    result = run(tmp_path, Boxes(), PrintsTooMuch(), Replies())
    assert isinstance(result.ending, TooLarge)
    assert result.ending.what == "event"
