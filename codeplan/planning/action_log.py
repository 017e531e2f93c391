"""The log of one run of a plan: what it did and asked, with the answers, as prompts show it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from codeplan.planning.shown_answers import ShownAnswers, answer_name
from codeplan.protocols import ShowsActions
from codeplan.recording.events import ActionTaken, Event, ModelCalled, PlanStarted, StepEntered, TextPrinted
from codeplan.types import Value
from codeplan.untrusted.excerpts import excerpt, left_out

MAX_PERIOD: Final = 6
"""Maximum length of a series of actions whose repetitions the log shows once, with a count."""

_MIN_ROUNDS: Final = 3  # a series of several actions is shown once from this many rounds on
_MAX_SAID: Final = 400  # characters of an action or a question
_MAX_QUESTION: Final = 10_000  # characters of a question in which answers are sought
_MAX_ANSWER: Final = 600  # characters of an answer, except the newest
_MARK_ROOM: Final = 60  # characters of the line that says how much is left out
_MIN_REPEATED: Final = 200  # characters of an answer that is shown only where it comes last
_MAX_SOUGHT: Final = 200  # answers that are looked for in what was printed
_MARGIN: Final = "\n    "  # of an answer's second and later lines


class Exchange(Value, frozen=True):
    """An action with the environment's answer, or a question (``ask_llm``) with the model's.

    ``number`` counts the run's actions from 1; it is None for a question. ``step`` is the step in which it happened,
    or None.
    """

    number: int | None
    step: int | None
    said: str
    answer: str


class RunEvents(Value, frozen=True):
    """The content of one attempt's events: its exchanges, its output and the step that it started from.

    ``printed`` leaves out the lines that only give a step's title.
    """

    exchanges: tuple[Exchange, ...] = ()
    printed: str = ""
    started_from: int = 1


def read_run(events: Sequence[Event], env: object = None) -> RunEvents:
    """Read what happened in the attempt that begins with the first of these events.

    Actions and answers have the form in which ``env`` shows them; see ``show_action``.
    """
    exchanges: list[Exchange] = []
    printed: list[str] = []
    titles: set[str] = set()
    step, actions = None, 0
    for event in events:
        match event:
            case StepEntered():
                step = event.step
                titles.add(f"[Step {step}] {event.title}")
            case ActionTaken():
                actions += 1
                exchanges.append(Exchange(actions, step, *show_action(env, event.action, event.observation.text)))
            case ModelCalled(purpose="ask"):
                exchanges.append(Exchange(None, step, event.question, event.completion.text.strip()))
            case TextPrinted():
                printed.append(event.text)
    output = "\n".join(line for line in "".join(printed).split("\n") if line.rstrip() not in titles)
    started_from = next((e.start_from for e in events if isinstance(e, PlanStarted)), 1)
    return RunEvents(tuple(exchanges), output, started_from)


def show_action(env: object, action: str, answer: str) -> tuple[str, str]:
    """An action and its answer as prompts show them: in the environment's form (ShowsActions), or as recorded."""
    return env.show_action(action, answer) if isinstance(env, ShowsActions) else (action, answer)


# ------------------------------------------------------------------ as text


class LogText(Value, frozen=True):
    """The log as a prompt shows it. ``shown`` are the answers in it; ``whole`` are those among them that are not
    cut.
    """

    text: str = ""
    shown: ShownAnswers = ShownAnswers()
    whole: ShownAnswers = ShownAnswers()


def format_log(exchanges: Sequence[Exchange], max_characters: int, max_newest: int, printed: str = "") -> LogText:
    """The exchanges, oldest first, with repetitions shown once; empty if there are none.

    The newest answer is shown in up to ``max_newest`` characters. Answers that the plan ``printed`` are shown whole,
    newest first, within a further ``max_newest`` characters. Everything else shares ``max_characters``. If that is not
    enough, the oldest exchanges are left out, and the first line says how much is missing. A long answer that occurs
    several times is shown only at its last place.
    """
    if not exchanges:
        return LogText()
    return _LogWriter(exchanges, max_newest, printed).write(max_characters)


class _LogWriter:
    """Writes the log of a run. ``_place`` is where each answer is shown, ``_limits`` are those of long ones."""

    def __init__(self, exchanges: Sequence[Exchange], max_newest: int, printed: str) -> None:
        self._exchanges, self._series = exchanges, _find_series(exchanges)
        shown = [index for s in self._series for index in range(s.start, s.start + s.period)]
        self._place = {exchanges[i].answer: i for i in shown if exchanges[i].number is not None}
        newest_first = sorted(self._place, key=lambda answer: self._place[answer], reverse=True)[:_MAX_SOUGHT]
        self._limits = dict.fromkeys([exchanges[-1].answer, *newest_first[:1]], max_newest)
        room, wanted = max_newest, self._answers(a for a in newest_first if len(a) <= max_newest).found_in(printed)
        for answer in newest_first[1:]:
            if self._name(answer) in wanted and _MAX_ANSWER < (length := len(_indent(answer))) <= room:
                self._limits[answer] = length
                room -= length
        self._whole = self._answers(a for a in newest_first if self._is_whole(a))

    def write(self, max_characters: int) -> LogText:
        """The log in ``max_characters``, not counting the answers with limits of their own."""
        room = max_characters + sum(min(len(_indent(a)), limit) for a, limit in self._limits.items())
        first, lines = 0, list[str]()
        for index in range(len(self._series) - 1, -1, -1):
            text = self._format_series(index)
            if lines and len(text) + 1 + _MARK_ROOM > room:
                first = self._series[index].end
                lines.append(_describe_left_out(self._exchanges[:first]) + self._repeated_heading(index + 1))
                break
            room -= len(text) + 1
            lines.append(text)
        shown = [answer for answer, place in self._place.items() if place >= first]
        whole = self._answers(answer for answer in shown if self._is_whole(answer))
        return LogText("\n".join(reversed(lines)), self._answers(shown), whole)

    def _is_whole(self, answer: str) -> bool:
        limit = self._limits.get(answer, _MAX_ANSWER)
        return len(answer.strip()) <= limit and len(_indent(answer)) <= limit

    def _answers(self, answers: Iterable[str]) -> ShownAnswers:
        return ShownAnswers((self._number(answer), answer) for answer in answers)

    def _name(self, answer: str) -> str:
        return answer_name(self._number(answer))

    def _number(self, answer: str) -> int:
        """The number of the action under which an answer is shown."""
        return self._exchanges[self._place[answer]].number or 0

    def _format_series(self, index: int) -> str:
        """The exchanges of one round under their steps, and the number of rounds."""
        start, period, rounds = self._series[index]
        times = f" (x {rounds})" if rounds > 1 and period == 1 else ""
        again = rounds - 1 if times else 0
        lines = [self._step_heading(i) + self._format_exchange(i, again) + times for i in range(start, start + period)]
        if rounds > 1 and not times:
            lines.append(f"(these {period} again, x {rounds - 1})")
        return "\n".join(lines)

    def _format_exchange(self, index: int, again: int) -> str:
        exchange = self._exchanges[index]
        if exchange.number is None:
            question = self._whole.name_in(excerpt(exchange.said, _MAX_QUESTION))
            return f"ask_llm: {_indent(question, _MAX_SAID)} -> {_indent(exchange.answer, self._limit(exchange))}"
        label = f"{exchange.number}-{exchange.number + again}." if again else f"{exchange.number}."
        said = f"{label} {_indent(exchange.said, _MAX_SAID)}"
        if self._place[exchange.answer] != index and len(exchange.answer) >= _MIN_REPEATED:
            return f"{said} -> {self._name(exchange.answer)}"
        return f"{said} -> {_indent(exchange.answer, self._limit(exchange))}"

    def _limit(self, exchange: Exchange) -> int:
        return self._limits.get(exchange.answer, _MAX_ANSWER)

    def _step_heading(self, index: int) -> str:
        """A line with the step's number if an exchange is the first of its step."""
        step = self._exchanges[index].step
        before = self._exchanges[index - 1].step if index else None
        return f"[Step {step}]\n" if step is not None and step != before else ""

    def _repeated_heading(self, index: int) -> str:
        """The step of the first series that is shown, if the heading of that step is left out."""
        start = self._series[index].start
        step = self._exchanges[start].step
        return f"\n[Step {step}]" if step is not None and step == self._exchanges[start - 1].step else ""


class _Series(NamedTuple):
    """``period`` exchanges from index ``start`` on, which occur ``rounds`` times in a row."""

    start: int
    period: int
    rounds: int

    @property
    def end(self) -> int:
        return self.start + self.period * self.rounds


def _find_series(exchanges: Sequence[Exchange]) -> list[_Series]:
    """The exchanges as series, in linear time."""
    known: dict[tuple[bool, int | None, str, str], int] = {}
    keys = [known.setdefault((e.number is None, e.step, e.said, e.answer), len(known)) for e in exchanges]
    found: list[_Series] = []
    while (at := found[-1].end if found else 0) < len(keys):
        candidates = [_Series(at, period, _count_rounds(keys, at, period)) for period in range(1, MAX_PERIOD + 1)]
        worthwhile = [s for s in candidates if s.period == 1 or s.rounds >= _MIN_ROUNDS]
        found.append(max(worthwhile, key=lambda s: s.end))  # if several periods reach equally far, the shortest
    return found


def _count_rounds(keys: Sequence[int], start: int, period: int) -> int:
    end = start + period
    while end < len(keys) and keys[end] == keys[end - period]:
        end += 1
    return (end - start) // period


def _indent(text: str, max_characters: int = sys.maxsize) -> str:
    """The text with its second and later lines indented, so that no line of it looks like another entry."""
    return excerpt(_MARGIN.join(text.strip().splitlines()), max_characters, margin=len(_MARGIN) - 1)


def _describe_left_out(exchanges: Sequence[Exchange]) -> str:
    actions = sum(e.number is not None for e in exchanges)
    questions = len(exchanges) - actions
    parts = [left_out(actions, "earlier action")] if actions else []
    return " ".join([*parts, left_out(questions, "earlier question")] if questions else parts)
