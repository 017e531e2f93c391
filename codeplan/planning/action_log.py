"""The log of one run of a plan: what it did and asked, with the answers, as prompts show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from codeplan.recording.events import ActionTaken, Event, ModelCalled, PlanStarted, StepEntered, TextPrinted
from codeplan.types import Value
from codeplan.untrusted.excerpts import excerpt

MAX_PERIOD: Final = 6
"""The longest series of actions whose repetitions are shown as such."""

_MIN_ROUNDS: Final = 3  # a series of several actions is shown once from this many rounds on
_MAX_SAID: Final = 400  # characters of an action or a question
_MAX_ANSWER: Final = 600  # characters of an answer, except the newest
_MARK_ROOM: Final = 60  # characters of the line that says how much is left out


class Exchange(Value, frozen=True):
    """An action with the environment's answer, or a question (``ask_llm``) with the model's.

    ``number`` counts the run's actions from 1; it is None for a question. ``step`` is that in which it came, or None.
    """

    number: int | None
    step: int | None
    said: str
    answer: str


class RunEvents(Value, frozen=True):
    """What the events of one attempt tell: its exchanges, its output and the step that it started from.

    ``printed`` leaves out the lines that only give a step's title.
    """

    exchanges: tuple[Exchange, ...] = ()
    printed: str = ""
    started_from: int = 1


def read_run(events: Sequence[Event]) -> RunEvents:
    """What happened in an attempt, which begins with the first of these events."""
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
                exchanges.append(Exchange(actions, step, event.action, event.observation.text))
            case ModelCalled(purpose="ask"):
                exchanges.append(Exchange(None, step, event.messages[-1]["content"], event.completion.text.strip()))
            case TextPrinted():
                printed.append(event.text)
    output = "\n".join(line for line in "".join(printed).split("\n") if line.rstrip() not in titles)
    started_from = next((e.start_from for e in events if isinstance(e, PlanStarted)), 1)
    return RunEvents(tuple(exchanges), output, started_from)


# ------------------------------------------------------------------ as text


def format_log(exchanges: Sequence[Exchange], max_characters: int, max_newest: int) -> str:
    """The exchanges, oldest first, with repetitions shown once; empty if there are none.

    The newest answer is shown in up to ``max_newest`` characters, and everything else in ``max_characters`` together.
    What does not fit is left out from the oldest on, and the first line says how much that is.
    """
    series = _find_series(exchanges)
    shown: list[str] = []
    room = max_characters + max_newest
    for index in range(len(series) - 1, -1, -1):
        newest = index == len(series) - 1
        text = _format_series(exchanges, series[index], max_newest if newest else _MAX_ANSWER)
        text = _step_heading(exchanges, series, index) + text
        if not newest and len(text) + 1 + _MARK_ROOM > room:
            shown.append(
                f"{_left_out(exchanges[: series[index].end])}{_repeated_heading(exchanges, series[index + 1])}"
            )
            break
        room -= len(text) + 1
        shown.append(text)
        if newest:
            room = min(room, max_characters)
    return "\n".join(reversed(shown))


class _Series(NamedTuple):
    """``period`` exchanges from index ``start`` on, that come ``rounds`` times in a row."""

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
        found.append(max(worthwhile, key=lambda s: s.end))  # the shortest period, if several reach as far
    return found


def _count_rounds(keys: Sequence[int], start: int, period: int) -> int:
    end = start + period
    while end < len(keys) and keys[end] == keys[end - period]:
        end += 1
    return (end - start) // period


def _format_series(exchanges: Sequence[Exchange], series: _Series, max_last: int) -> str:
    """The exchanges of one round, and how often they come."""
    start, period, rounds = series
    again = (rounds - 1) * period
    times = f" (x {rounds})" if rounds > 1 and period == 1 else ""
    lines = [
        _format_exchange(
            e, max_last if e is exchanges[start + period - 1] else _MAX_ANSWER, times, again if times else 0
        )
        for e in exchanges[start : start + period]
    ]
    if rounds > 1 and not times:
        lines.append(f"(these {period} again, x {rounds - 1})")
    return "\n".join(lines)


def _format_exchange(exchange: Exchange, max_answer: int, times: str, again: int) -> str:
    label = "ask_llm:"
    if exchange.number is not None:
        label = f"{exchange.number}-{exchange.number + again}." if again else f"{exchange.number}."
    return f"{label} {_indent(exchange.said, _MAX_SAID)} -> {_indent(exchange.answer, max_answer)}{times}"


def _indent(text: str, max_characters: int) -> str:
    """The text with its second and later lines indented, so that no line of it looks like another entry."""
    return excerpt("\n    ".join(text.strip().splitlines()), max_characters)


def _step_heading(exchanges: Sequence[Exchange], series: Sequence[_Series], index: int) -> str:
    """A line with the step's number where an exchange is the first of its step."""
    step = exchanges[series[index].start].step
    before = exchanges[series[index].start - 1].step if index else None
    return f"[Step {step}]\n" if step is not None and step != before else ""


def _repeated_heading(exchanges: Sequence[Exchange], series: _Series) -> str:
    """The step of the first entry that is shown, if its heading is among what is left out."""
    step = exchanges[series.start].step
    return f"\n[Step {step}]" if step is not None and step == exchanges[series.start - 1].step else ""


def _left_out(exchanges: Sequence[Exchange]) -> str:
    actions = sum(e.number is not None for e in exchanges)
    questions = len(exchanges) - actions
    parts = [f"{actions:,} earlier actions"] if actions else []
    parts += [f"{questions:,} earlier questions"] if questions else []
    return f"[… {' and '.join(parts)} left out …]"
