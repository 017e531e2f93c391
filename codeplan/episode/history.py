"""What came before: the turns of a session with their values, and the calls that are not made twice."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from codeplan.errors import AgentError
from codeplan.recording.event_log import events_of
from codeplan.recording.events import (
    AnsweredCall,
    CallAnswered,
    CallDecided,
    CallRepeated,
    CallsByAnswer,
    CarriedAnswer,
    EpisodeStarted,
    Event,
    PlanEnded,
    PlanStarted,
    SpanOpened,
    StepEntered,
    TurnStarted,
    answered_calls,
    call_key,
)
from codeplan.sandbox import decode, encode
from codeplan.sandbox.runtime.names import PREDEFINED_NAMES
from codeplan.tools.failures import unknown_answer
from codeplan.types import ASK_USER, Answer, Call, Checkpoint, Result, Value
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


_Key: TypeAlias = Hashable
_Place: TypeAlias = tuple[int | None, str, int]

_AGAIN: Final = ("trial", "plan")  # kinds of spans that try the same once more
_PARTS: Final = "sub-task"  # the kind of span whose parts replace an attempt that failed


class KnownAnswer(NamedTuple):
    """The answer that a call had, and the number of that call in its episode."""

    id: int
    answer: Answer


class OnceCalls:
    """The answers of calls that are made once, and how many of each the plan at work has used.

    ``tools`` are the names of tools that are called once. ``carried`` are answers from another episode; they hold for
    any tool. ``watched`` are the names of all these tools: only their calls are looked up and noted. An answer with an
    error is none, unless the call is in doubt: a call that failed may be made again.
    """

    def __init__(self, tools: Collection[str], carried: Sequence[CarriedAnswer] = ()) -> None:
        self._tools = frozenset(tools)
        self._answers: dict[_Key, list[KnownAnswer]] = {}
        self._used: dict[_Key, int] = {}
        self._places: dict[_Place, dict[_Key, int]] = {}  # the answers used, where the plan first came to a place
        self._starts = False  # a plan has started, and entered no step yet
        self._carried_steps = [(each.step, call_key(each.call)) for each in carried if each.step is not None]
        for each in carried:
            self._answers.setdefault(call_key(each.call), []).append(KnownAnswer(each.id, each.answer))
        self.watched = self._tools | {each.call.name for each in carried}
        self._calls = CallsByAnswer()

    def watch(self, tools: Collection[str]) -> None:
        """Call these tools once, too."""
        self._tools |= frozenset(tools)
        self.watched |= frozenset(tools)

    def find(self, call: Call) -> KnownAnswer | None:
        """The answer that this call gets without being made; None if it is to be made."""
        key = call_key(call)
        answers, used = self._answers.get(key, ()), self._used.get(key, 0)
        return answers[used] if used < len(answers) else None

    def note(self, id: int, call: Call, answer: Answer, *, repeated: bool) -> None:
        """Take note of a call's answer; ``repeated``: the call was not made."""
        key = call_key(call)
        used = self._used.get(key, 0)
        if not repeated:
            if call.name not in self._tools or (answer.error and not answer.in_doubt):
                return
            self._answers.setdefault(key, []).insert(used, KnownAnswer(id, answer))  # before those that are carried
        self._used[key] = used + 1

    def follow(self, event: Event) -> None:
        """Notice where the plan at work begins again."""
        left_open = self._calls.all_in_doubt if isinstance(event, TurnStarted) else []
        self._calls.take(event)
        match event:
            case TurnStarted():
                self._begin_turn(left_open)
            case PlanStarted():  # first comes what stands outside the steps
                self._begin((event.span, "start", 0))
                self._starts = True
            case StepEntered():
                place = (event.span, "step", event.step)
                if self._starts:
                    self._places.setdefault(place, self._used | self._used_before(event.step))
                    self._begin(place)
                    self._starts = False
                self._places[place] = dict(self._used)  # what came before in this plan, not in one of other steps
            case SpanOpened(kind=kind) if kind in _AGAIN:
                self._begin((event.span, kind, 0))
            case SpanOpened(kind=kind) if kind == _PARTS:  # the first part begins where the attempt at the whole began
                self._used = self._places.pop((event.span, _PARTS, 0), self._used)
                self._remember((event.id, _PARTS, 0))

    def _begin_turn(self, left_open: Sequence[Call]) -> None:
        """Count all answers as used, but for those of calls that were left open."""
        self._places.clear()
        self._carried_steps.clear()
        self._used = {key: len(answers) for key, answers in self._answers.items()}
        for call in left_open:
            if call.name in self._tools:
                key, unknown = call_key(call), unknown_answer(call.name)
                self._answers.setdefault(key, []).append(KnownAnswer(0, unknown))

    def _used_before(self, step: int) -> dict[_Key, int]:
        """How many of the carried answers were given in earlier steps."""
        return dict(Counter(key for number, key in self._carried_steps if number < step))

    def _begin(self, place: _Place) -> None:
        """Go on from where the plan first came to this place, if it was there before."""
        self._remember(place)
        self._used = dict(self._places[place])

    def _remember(self, place: _Place) -> None:
        self._places.setdefault(place, dict(self._used))


def answers_to_carry(events: Sequence[Event]) -> tuple[CarriedAnswer, ...]:
    """The answers that an episode hands on to another, which goes on with its plan; in order, with their steps.

    The calls that it left open are among them: whether they were done is unknown.
    """
    header = events[0]
    assert isinstance(header, EpisodeStarted), "an episode begins with its header"
    carried, calls, repeated, step = list(header.carried), CallsByAnswer(), dict[int, int](), None
    for event in events:
        call = calls.take(event)
        match event:
            case PlanStarted():  # what its steps have used before counts no more
                step = None
                carried = [replace(c, step=None) if (c.step or 0) >= event.start_from else c for c in carried]
            case StepEntered():
                step = event.step
            case CallRepeated():
                repeated[event.id] = event.of
            case CallAnswered() if call is not None and event.id in repeated:
                _move(carried, repeated[event.id], call, step)
            case CallAnswered() if call is not None and call.name in header.once:
                if event.answer.in_doubt or not event.answer.error:
                    carried.append(CarriedAnswer(event.id, call, event.answer, step))
    for call in calls.all_in_doubt:
        if call.name in header.once:
            carried.append(CarriedAnswer(len(carried), call, unknown_answer(call.name), step))
    return tuple(carried)


def _move(carried: list[CarriedAnswer], of: int, call: Call, step: int | None) -> None:
    """Note the step that has used an answer again."""
    for i, each in enumerate(carried):
        if each.step is None and each.id == of and call_key(each.call) == call_key(call):
            carried[i] = replace(each, step=step)
            return
