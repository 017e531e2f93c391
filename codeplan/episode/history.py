"""What the earlier turns of a session left: their messages, calls and values, and the variables of their plans."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final

from codeplan.errors import AgentError
from codeplan.recording.event_log import events_of
from codeplan.recording.events import (
    AnsweredCall,
    CallDecided,
    CallRepeated,
    CallsByAnswer,
    Event,
    PlanEnded,
    answered_calls,
)
from codeplan.sandbox import decode, encode
from codeplan.sandbox.runtime.names import PREDEFINED_NAMES
from codeplan.types import ASK_USER, Call, Checkpoint, Result, Value
from codeplan.untrusted.values import shown_call, unpacked, value_text

MAX_SHOWN_TURNS: Final = 5
"""How many turns a prompt shows with their calls, at most; from then on plans have ``agent.recall``."""

MAX_SHOWN_VALUE: Final = 400
"""Maximum length of an answer, or of a turn's value, in a prompt, in characters."""

MAX_LATE_TURNS: Final = 3
"""How many of the latest turns say which tools may be wanted again."""

MAX_FOUND: Final = 5
"""How many turns ``agent.recall`` finds at most."""

MAX_VARIABLES: Final = 2_000
"""How many variables a session keeps at most: the latest."""

_MAX_SEARCHED: Final = 4_000  # characters of each value in which words are sought
_WORD: Final = re.compile(r"\w+")


class PastTurn(Value, frozen=True):
    """One turn of a session that is over: the user's message, how it ended, and the calls that it made.

    ``in_doubt`` are calls that were begun and have no answer. ``result`` has the value.
    """

    number: int
    message: str
    result: Result
    calls: tuple[AnsweredCall, ...] = ()
    in_doubt: tuple[Call, ...] = ()

    @property
    def asks(self) -> list[AnsweredCall]:
        """The questions to the user that were answered."""
        return [each for each in self.calls if each.call.name == ASK_USER.name]

    @property
    def is_cut(self) -> bool:
        """Whether a prompt shows a part of it only."""
        values = [self.result.value, *(unpacked(each.answer.value) for each in self.calls)]
        return any(len(value_text(value, MAX_SHOWN_VALUE + 1)) > MAX_SHOWN_VALUE for value in values)


class History(Value, frozen=True):
    """The turns of a session before the present one, oldest first, and the ``variables`` that they left, by name.

    The latest stand last: those of each plan at its end, ``returned_N`` for what turn N returned, and what the user
    gave. The names of the last are ``of_user``.
    """

    turns: tuple[PastTurn, ...] = ()
    variables: Mapping[str, Any] = {}
    of_user: frozenset[str] = frozenset()

    def given(self, variables: Checkpoint | None) -> History:
        """With the variables that the user gave."""
        if variables is None:
            return self
        new = decode(variables)
        return History(self.turns, _merged(self.variables, new), self.of_user | new.keys())

    def after(self, message: str, events: Sequence[Event], result: Result) -> History:
        """With the turn of this message, which consists of these events."""
        calls, unmade = CallsByAnswer(), _unmade(events)
        for event in events:
            calls.take(event)
        made = tuple(each for each in answered_calls(events) if each.event.id not in unmade)
        turn = PastTurn(len(self.turns) + 1, message, result, made, tuple(calls.all_in_doubt))
        left = _merged(self.variables, _last_variables(events))
        if result.value is not None:
            left = _merged(left, {f"returned_{turn.number}": result.value})
        return History((*self.turns, turn), left, self.of_user)

    def complete(self, state: Checkpoint | None, source: str, max_bytes: int) -> Checkpoint | None:
        """The variables of a plan with those of earlier turns, or of the user, that its text names and are missing.

        What does not fit into ``max_bytes`` is named as dropped.
        """
        if not self.variables:
            return state
        known = state.names if state else {}
        named = dict.fromkeys(_WORD.findall(unicodedata.normalize("NFKC", source)))
        names = [name for name in named if name not in PREDEFINED_NAMES]  # max stays Python's own
        more = {name: self.variables[name] for name in names if name in self.variables and name not in known}
        return encode((decode(state) if state else {}) | more, max_bytes) if more else state

    @property
    def is_long(self) -> bool:
        """Whether prompts cannot show all of it, so that plans have ``agent.recall``."""
        return len(self.turns) > MAX_SHOWN_TURNS or any(turn.is_cut for turn in self.turns)

    @property
    def tools_of_late(self) -> list[str]:
        """The tools that the latest turns called, the latest call first."""
        made = [each.call.name for turn in self.turns[-MAX_LATE_TURNS:] for each in turn.calls]
        return list(dict.fromkeys(reversed(made)))

    def recall(self, what: object) -> object:
        """The whole answer of the call with this number, or what the turns that fit these words said and did.

        Raises: AgentError: there is no such call, or ``what`` is neither a number nor a text.
        """
        if type(what) is int:
            return self._answer(what)
        if not isinstance(what, str):
            raise AgentError("recall takes the number of a call, or words", "TypeError")
        words = {word.casefold() for word in _WORD.findall(what)}
        fits = [(len(words & _words_of(turn)), turn) for turn in self.turns[::-1]]
        best = sorted((fit for fit in fits if fit[0]), key=lambda fit: -fit[0])
        return [_told(turn) for _, turn in best[:MAX_FOUND]]

    def _answer(self, number: int) -> object:
        for turn in self.turns:
            for made in turn.calls:
                if made.event.id == number:
                    if made.answer.error:
                        raise AgentError(f"call {number} raised {made.answer.error}: {made.answer.message}")
                    return unpacked(made.answer.value)
        raise AgentError(f"no earlier turn made a call with the number {number}", "KeyError")


NO_HISTORY: Final = History()
"""That of an episode that is no session, and of a session's first turn."""


def _merged(before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Both, the new ones last; beyond MAX_VARIABLES, the oldest are forgotten."""
    both = [*((name, value) for name, value in before.items() if name not in new), *new.items()]
    return dict(both[-MAX_VARIABLES:])


def _last_variables(events: Sequence[Event]) -> Mapping[str, Any]:
    """The variables at the end of the last plan that had any."""
    ended = (event.outcome.checkpoint for event in events_of(events[::-1], PlanEnded))
    return decode(next((saved for saved in ended if saved is not None and saved.names), Checkpoint()))


def _unmade(events: Sequence[Event]) -> set[int]:
    """The calls that were refused, or got an earlier answer."""
    decided = events_of(events, CallRepeated, CallDecided)
    return {event.id for event in decided if isinstance(event, CallRepeated) or not event.allowed}


def _words_of(turn: PastTurn) -> set[str]:
    texts = [turn.message, value_text(turn.result.value, _MAX_SEARCHED)]
    for made in turn.calls:
        texts += [shown_call(made.call), value_text(unpacked(made.answer.value), _MAX_SEARCHED)]
    return {word.casefold() for text in texts for word in _WORD.findall(text)}


def _told(turn: PastTurn) -> dict[str, Any]:
    """A turn as ``agent.recall`` gives it."""
    calls = [
        {"number": made.event.id, "call": shown_call(made.call), "answer": unpacked(made.answer.value)}
        for made in turn.calls
        if not made.answer.error
    ]
    return {"turn": turn.number, "message": turn.message, "returned": turn.result.value, "calls": calls}
