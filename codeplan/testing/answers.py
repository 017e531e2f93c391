"""What answers a plan in tests: models with known answers, and a tape in place of the tools of a recorded episode."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from codeplan.episode.episode import storable_value
from codeplan.errors import EnvironmentFailure, ModelError, UsageError
from codeplan.plain_data import NotPlainData, unpack
from codeplan.protocols import LLM
from codeplan.recording.events import (
    NO_SITE,
    AnsweredCall,
    CallAnswered,
    CallsByAnswer,
    CallSite,
    CarriedAnswer,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventHandler,
    ModelCalled,
    PlanStarted,
    StepEntered,
)
from codeplan.recording.tape import read_tape
from codeplan.tools.call_texts import shown_call
from codeplan.tools.environment import recorded_environment
from codeplan.types import Answer, Call, Claimed, Completion, Message, Observation, Purpose, Result, Task
from codeplan.untrusted.patterns import MAX_SECONDS, find_first_match
from codeplan.untrusted.texts import parser_reason, with_count
from codeplan.untrusted.values import in_quotes, value_text

AnswerFunction = Callable[[str], str | None]
"""Maps a question to its answer; None if it has none."""


class ScriptedLLM:
    """A model with given answers. ``questions`` holds the questions so far.

    A question without an answer raises ModelError, so that no test continues with an answer that its author did not
    intend.
    """

    name = "scripted-answers"

    def __init__(self, answer_of: AnswerFunction, no_answer: str) -> None:
        """``no_answer`` says why there may be no answer, for the error message."""
        self.questions: list[str] = []
        self._answer_of, self._no_answer = answer_of, no_answer

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Answer the question in the last message. Raises ModelError if there is no answer."""
        question = messages[-1]["content"]
        self.questions.append(question)
        text = self._answer_of(question)
        if text is None:
            raise ModelError(f"the plan asked {in_quotes(question, 200)}, which has no answer: {self._no_answer}")
        return Completion(text, model=self.name)


class FallbackModel:
    """Several models as one: the first that has an answer gives it."""

    def __init__(self, *models: LLM) -> None:
        self.name = ", or ".join(model.name for model in models)
        self._models = models

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """Return the first answer. Raises what the last model raises."""
        *others, last = self._models
        for model in others:
            try:
                return model.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)
            except ModelError:
                continue
        return last.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)


def scripted_llm(answers: str | Sequence[str] | Mapping[str, str] | Callable[[str], str]) -> ScriptedLLM:
    """Return a model that answers with one text, texts in order, by regular expression, or by a function."""
    if isinstance(answers, str):
        return ScriptedLLM(lambda question: answers, "there is no answer")
    if isinstance(answers, Mapping):
        return ScriptedLLM(_match_patterns(answers.items()), "no pattern fits")
    if callable(answers):
        return ScriptedLLM(answers, "the function returned None")
    left = iter(list(answers))
    return ScriptedLLM(lambda question: next(left, None), f"no answer is left of {with_count(len(answers), 'answer')}")


def taped_llm(path: Path) -> ScriptedLLM:
    """Return a model with a tape's answers. A repeated question gets them in the order of recording.

    Raises: UsageError: the tape cannot be read.
    """
    recorded: dict[str, list[str]] = {}
    for events in read_tape(path, path.parent).values():
        for event in events:
            if isinstance(event, ModelCalled) and event.purpose == "ask":
                recorded.setdefault(event.question, []).append(event.completion.text)

    def answer_of(question: str) -> str | None:
        answers = recorded.get(question, [])
        return answers.pop(0) if len(answers) > 1 else answers[0] if answers else None

    return ScriptedLLM(answer_of, f"the tape {path.name} has no such question")


def _match_patterns(answers: Iterable[tuple[str, str]]) -> AnswerFunction:
    given = tuple(answers)
    patterns = [pattern for pattern, _ in given]

    def answer_of(question: str) -> str | None:
        try:
            index = find_first_match(patterns, question)
        except TimeoutError as e:
            raise ModelError(
                f"the patterns up to {in_quotes(str(e))} took more than {MAX_SECONDS:g} s; write simpler expressions"
            ) from None
        return None if index is None else given[index][1]

    return answer_of


_MAX_SHOWN = 300
"""Maximum length of a returned value in a message, in characters."""


class UnrecordedCall(EnvironmentFailure):
    """A plan makes a call to which the recording has no answer."""


class RecordedCalls:
    """Answers the calls of a plan from a tape with one episode, as often as it is reset.

    The first call of a tool with some arguments gets the first answer to this call, and so on. If the episode had
    several plans, only the calls count that the last plan would make from its first step on. A plan succeeds if it
    returns the same value as the recorded plan, provided that the recorded value was accepted, or that there was no
    verifier.

    Raises: UsageError: the tape cannot be read, is damaged, or holds anything but one finished episode with tools.
    """

    name = "tools"
    splits = ("test",)
    has_verifier = True
    has_flows = is_blind = False
    instructions, returns, variables = "", None, None
    # the recorded answers stand for all calls
    once_tools: frozenset[str] = frozenset()
    carried: tuple[CarriedAnswer, ...] = ()

    def __init__(self, tape: Path) -> None:
        events = _one_episode(tape)
        header, result = _first_and_last(events, tape)
        try:
            tools = recorded_environment(header.task.goal, header.tools, header.tools_doc, asks_user=header.asks_user)
            self._calls = [(_key(made.call), _checked(made.answer)) for made in _last_plans_calls(events)]
        except (UsageError, NotPlainData, ValueError) as e:
            raise UsageError(f"the tape {tape} cannot stand for tools: {parser_reason(e)}") from None
        self.agent, self.described_tools, self.tools_doc = tools.agent, tools.described_tools, tools.tools_doc
        self.asks_user = tools.asks_user
        self._task, self._result = header.task, result
        self._left: dict[bytes, deque[Answer]] = {}

    def tasks(self, split: str) -> Sequence[Task]:
        """The one task."""
        return (self._task,) if split == "test" else ()

    def reset(self, task: Task) -> Observation:
        """Begin the episode; all recorded answers are available again."""
        self._left = defaultdict(deque)
        for key, answer in self._calls:
            self._left[key].append(answer)
        return Observation("No tool was called yet.")

    def call(self, id: int, call: Call, record: EventHandler, site: CallSite = NO_SITE) -> Answer:
        """The next recorded answer to a call. Raises: UnrecordedCall: there is none, or none is left."""
        key = _key(call)
        if answers := self._left.get(key):
            return answers.popleft()
        often = "as often" if key in self._left else "at all"
        raise UnrecordedCall(f"the plan called {shown_call(call)}, which the recorded plan did not call {often}")

    def judge(self, value: object) -> Observation:
        """Whether this equals the recorded plan's value. Values that were too large to record count as equal."""
        if not is_accepted(self._result):
            return Observation("the recorded plan's result was not accepted")
        returned = storable_value(value)
        if _canonical(returned) == _canonical(self._result.value):
            return Observation("The plan returned the recorded value.", reward=1.0, done=True, success=True)
        now, then = value_text(returned, _MAX_SHOWN), value_text(self._result.value, _MAX_SHOWN)
        return Observation(f"it returned {now}; the recorded plan returned {then}")

    def close(self) -> None:
        """Nothing to free."""


def is_accepted(result: Result) -> bool:
    """Whether the last plan's value was verified, or the plan ran to its end and there was no verifier."""
    return result.success or isinstance(result.ending, Claimed)


def _one_episode(tape: Path) -> list[Event]:
    episodes = [*read_tape(tape, tape.parent).values()]
    if len(episodes) != 1:
        raise UsageError(f"the tape {tape} holds {len(episodes)} episodes; one with recorded calls holds 1")
    return episodes[0]


def _first_and_last(events: list[Event], tape: Path) -> tuple[EpisodeStarted, Result]:
    """The episode's header and its result."""
    first, last = events[0], events[-1]
    if not (isinstance(first, EpisodeStarted) and first.tools and isinstance(last, EpisodeEnded)):
        raise UsageError(f"the tape {tape} holds no finished episode with tools; make it with codeplan new-test")
    return first, last.result


class _StepCall(NamedTuple):
    """A call, and the step in which it was made: 0 before the first step."""

    step: int
    made: AnsweredCall


def _last_plans_calls(events: list[Event]) -> Iterator[AnsweredCall]:
    """The calls of the last plan, with those of earlier plans in the steps before the one at which it started."""
    calls: list[_StepCall] = []
    begun = CallsByAnswer()
    step = 0
    for event in events:
        call = begun.take(event)
        if isinstance(event, PlanStarted):
            calls, step = [each for each in calls if 0 < each.step < event.start_from], 0
        elif isinstance(event, StepEntered):
            step = event.step
        elif isinstance(event, CallAnswered) and call is not None:
            calls.append(_StepCall(step, AnsweredCall(call, event)))
    return (each.made for each in calls)


def _key(call: Call) -> bytes:
    """The same bytes for calls with equal arguments."""
    return msgspec.json.encode(call, order="deterministic")


def _checked(answer: Answer) -> Answer:
    """An answer from a tape. Raises: ValueError, NotPlainData: it is not that of a tool."""
    if answer.observation is not None:
        raise ValueError("an answer is that of a world of text")
    unpack(answer.value)
    return answer


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)
