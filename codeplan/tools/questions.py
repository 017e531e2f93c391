"""What plans ask the user, and who answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from codeplan.errors import AgentError, EnvironmentFailure, UsageError, WaitingForAnswer
from codeplan.plain_data import NotPlainData, unpack
from codeplan.tools.approvals import require_callable
from codeplan.tools.failures import failure_sentence, require_failure
from codeplan.tools.results import full_type_name
from codeplan.tools.tool import Tool
from codeplan.types import ASK_USER, Call
from codeplan.untrusted.texts import escape_surrogates, is_utf8, one_line

Asker: TypeAlias = Callable[[str], str | Awaitable[str | None] | None]
"""Answers a question as the user does; None: the user is not there."""

ASKER_FORM: Final = "ask_user(question)"

MAX_QUESTION_CHARS: Final = 4_000
"""Maximum length of a question that the user sees, in characters."""

MAX_ANSWER_CHARS: Final = 100_000
"""Maximum length of the user's answer, in characters."""

MAX_TRIES: Final = 3
"""How often a function of the user is asked one question, until its answer has the form that the plan wants."""

_MAX_NOTE: Final = 500  # characters of a form in words, and of what an answer lacked


def _answer_of(arguments: Mapping[str, Any]) -> Any:
    return arguments["answer"]  # the environment asks before it makes the call


QUESTION: Final = Tool(ASK_USER, _answer_of, readonly=True)
"""The call behind a plan's ``ask_user``. It is no tool of the user: it needs no approval, and flows ignore it."""


class User:
    """Who answers what plans ask: first the ``given`` answer, then ``ask``; without both, nobody does.

    A function is asked at most MAX_TRIES times for one answer, unless it is ``patient``, as a person at a terminal is.

    Raises: UsageError: ``ask`` is no function of one argument, or ``given`` is no text.
    """

    def __init__(self, ask: Asker | None = None, given: str | None = None, *, patient: bool = False) -> None:
        if ask is not None:
            require_callable(ask, "ask_user", ASKER_FORM, (1,))
        if given is not None and not (isinstance(given, str) and is_utf8(given) and len(given) <= MAX_ANSWER_CHARS):
            raise UsageError(f"the answer is a text in UTF-8 of at most {MAX_ANSWER_CHARS:,} characters")
        self._ask, self._given, self._patient = ask, given, patient
        self._refused = 0  # answers to the present question that did not have the form

    def with_answer(self, given: str | None) -> User:
        """The same user, whose next answer is ``given``; None: no change."""
        return self if given is None else User(self._ask, given, patient=self._patient)

    def answer(self, call: Call, finish: Callable[[object], object]) -> str:
        """The user's answer; ``finish`` waits for an asynchronous one.

        Raises: WaitingForAnswer: the user is not there. AgentError: none of the answers had the form.
        EnvironmentFailure: the user's function fails.
        """
        waits = question_of(call)
        if self._given is not None:
            text, self._given = self._given, None
            return text
        self._refused = self._refused + 1 if waits.refused else 0
        if self._ask is None:
            raise waits
        if self._refused >= MAX_TRIES and not self._patient:
            raise AgentError(f"ask_user got no answer of the form {waits.form}: {waits.refused}", "ValueError")
        found = self._call(self._ask, _shown(waits), finish)
        if found is None:
            raise waits
        return escape_surrogates(found[:MAX_ANSWER_CHARS])

    def _call(self, ask: Asker, shown: str, finish: Callable[[object], object]) -> str | None:
        """What the user's function returns. Raises: EnvironmentFailure: it fails, or that is neither text nor None."""
        try:
            found = finish(ask(shown))
        except BaseException as error:
            require_failure(error)
            raise EnvironmentFailure(f"the function ask_user failed: {failure_sentence(error)}") from error
        if found is not None and not isinstance(found, str):
            raise EnvironmentFailure(f"the function ask_user returned a {full_type_name(found)}, not a text")
        return found


def question_of(call: Call) -> WaitingForAnswer:
    """What a call asks, within bounds, as the error of a question that nobody answers.

    Raises: AgentError: a correct worker never asks so.
    """
    try:
        given = {name: unpack(value) for name, value in (call.arguments or {}).items()}
    except NotPlainData:
        given = {}
    question, form, refused = (given.get(name, "") for name in ("question", "form", "refused"))
    if not (isinstance(question, str) and isinstance(form, str) and isinstance(refused, str)):
        raise AgentError("ask_user takes texts", "TypeError")
    return WaitingForAnswer(_cut(question), one_line(form, _MAX_NOTE), one_line(refused, _MAX_NOTE))


def _cut(question: str) -> str:
    text = escape_surrogates(question)
    return text if len(text) <= MAX_QUESTION_CHARS else text[: MAX_QUESTION_CHARS - 1] + "…"


def _shown(asked: WaitingForAnswer) -> str:
    """The question as the user reads it: with the form of the answer, and what the last one lacked."""
    form = f"\n(Answer in this form: {asked.form})" if asked.form else ""
    return asked.question + form + (f"\n({asked.refused})" if asked.refused else "")
