"""Models for a plan's ``ask_llm`` in tests: what they answer is known beforehand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from codeplan.errors import ModelError
from codeplan.protocols import LLM
from codeplan.recording.events import ModelCalled
from codeplan.recording.tape import read_tape
from codeplan.types.model import Completion, Message, Purpose

AnswerFunction = Callable[[str], str | None]
"""From a question to its answer; None where it has none."""


class ScriptedLLM:
    """A model that answers as it was told; ``questions`` are those it was asked so far.

    A question that it was told no answer to is a ModelError, so that no test goes on with an answer that nobody meant.
    """

    name = "scripted-answers"

    def __init__(self, say: AnswerFunction, told: str) -> None:
        """``told`` says in a few words why there may be no answer, for the error."""
        self.questions: list[str] = []
        self._say, self._told = say, told

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """The answer to the question that the last message asks. Raises ModelError where there is none."""
        question = messages[-1]["content"]
        self.questions.append(question)
        text = self._say(question)
        if text is None:
            raise ModelError(f"the plan asked {question[:200]!r}, and nobody answers: {self._told}")
        return Completion(text, model=self.name)


class FallbackModel:
    """Several models as one: the first that has an answer gives it."""

    def __init__(self, *models: LLM) -> None:
        self.name = ", or ".join(model.name for model in models)
        self._models = models

    def complete(
        self, messages: Sequence[Message], *, purpose: Purpose, stop: Sequence[str] = (), max_tokens: int | None = None
    ) -> Completion:
        """The first answer there is. Raises what the last of the models raises."""
        *others, last = self._models
        for model in others:
            try:
                return model.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)
            except ModelError:
                continue
        return last.complete(messages, purpose=purpose, stop=stop, max_tokens=max_tokens)


def scripted_llm(answers: str | Sequence[str] | Mapping[str, str] | Callable[[str], str]) -> ScriptedLLM:
    """A model that gives one answer to all questions, or answers in order, by regular expression or by a function."""
    if isinstance(answers, str):
        return ScriptedLLM(lambda question: answers, "there is no answer")
    if isinstance(answers, Mapping):
        return ScriptedLLM(_match_patterns(answers.items()), "no pattern fits")
    if callable(answers):
        return ScriptedLLM(answers, "the function returned None")
    left = iter(list(answers))
    return ScriptedLLM(lambda question: next(left, None), f"all {len(answers)} answers are given")


def taped_llm(path: Path) -> ScriptedLLM:
    """A model that answers each question as it was answered on a tape; one asked often, in the order of recording.

    Raises UsageError where the tape cannot be read.
    """
    recorded: dict[str, list[str]] = {}
    for events in read_tape(path).values():
        for event in events:
            if isinstance(event, ModelCalled) and event.purpose == "ask":
                recorded.setdefault(event.messages[-1]["content"], []).append(event.completion.text)

    def say(question: str) -> str | None:
        answers = recorded.get(question, [])
        return answers.pop(0) if len(answers) > 1 else answers[0] if answers else None

    return ScriptedLLM(say, f"the tape {path.name} has no such question")


def _match_patterns(answers: Iterable[tuple[str, str]]) -> AnswerFunction:
    patterns = [(re.compile(pattern), answer) for pattern, answer in answers]
    return lambda question: next((answer for pattern, answer in patterns if pattern.search(question)), None)
