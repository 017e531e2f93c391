"""What answers a plan in tests: models with known, scripted or recorded answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from codeplan.errors import ModelError
from codeplan.protocols import LLM
from codeplan.recording.events import ModelCalled
from codeplan.recording.tape import read_tape
from codeplan.types import Completion, Message, Purpose
from codeplan.untrusted.patterns import MAX_SECONDS, find_first_match
from codeplan.untrusted.texts import with_count
from codeplan.untrusted.values import in_quotes

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
