"""Calls that are not made twice: what a plan that goes on, or starts over, gets in place of a call that was answered.

The n-th call with equal arguments gets the n-th answer. A plan that goes on at a step counts from what the plan that
entered the step had used by then; a plan that starts over counts from its own start. The next turn of a session wants
its calls anew, but for those of which nobody knows whether they were done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from codeplan.recording.events import (
    CallAnswered,
    CallRepeated,
    CallsByAnswer,
    CarriedAnswer,
    EpisodeStarted,
    Event,
    PlanStarted,
    SpanOpened,
    StepEntered,
    TurnStarted,
    call_key,
)
from codeplan.tools.failures import unknown_answer
from codeplan.types import Answer, Call

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
