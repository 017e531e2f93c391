"""Reports to the plan writer what happened to the latest plan, as text within bounds.

What tools answer may come from an attacker who writes to the planner. Quoted, it stands between tags whose name he
cannot know. Blind, the planner gets shapes in place of it.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from msgspec.structs import replace

from codeplan.episode.episode import Episode, actions_since_reset
from codeplan.protocols import LimitsActions
from codeplan.recording.event_log import events_of
from codeplan.recording.events import (
    CallAnswered,
    CallBegun,
    Event,
    ModelCalled,
    PlanDrafted,
    PlanFixed,
    PlanStarted,
    StepEntered,
    TextPrinted,
    answered_calls,
)
from codeplan.sandbox import decode
from codeplan.types import Answer, Call, Checkpoint, Failed, Finished, Fix, Outcome, Plan, Replan, Stopped, Value
from codeplan.untrusted.comparison import same_values
from codeplan.untrusted.texts import excerpt, left_out, one_line, with_count
from codeplan.untrusted.values import (
    clip_name,
    shown_answer,
    shown_call,
    unpacked,
    value_text,
    variable_texts,
    whole_value_text,
)

MIN_NAMED: Final = 30
"""Minimum length of an answer with a name, in characters; prompts repeat shorter answers in full."""


class ShownAnswers:
    """Answers of actions by the actions' numbers, and the ``names`` that replace their text in prompts: ``<answer 3>``.

    An agent may give a plan the answer without its first line or sentence, such as "You arrive at loc 3."; the rest of
    the answer then has the answer's name as well, unless another answer has the same rest.
    """

    def __init__(self, answers: Iterable[tuple[int, str]] = ()) -> None:
        known = [(answer_name(number), _parts(text)) for number, text in answers]
        count = Counter(part for _, parts in known for part in parts)
        self.names: Mapping[str, str] = {part: name for name, parts in known for part in parts if count[part] == 1}

    def found_in(self, text: str) -> set[str]:
        """The names of the answers that stand in the text."""
        names = {known: name for known, name in self.names.items() if len(known) <= len(text)}
        return {name for known, name in names.items() if any(form in text for form in _forms(known))}

    def name_in(self, text: str, min_characters: int = 0) -> str:
        """The text with each answer in it, plain or in Python's notation, replaced by the answer's name.

        Answers of less than ``min_characters`` stay.
        """
        names = (known for known in self.names if min_characters <= len(known) <= len(text))
        for known in sorted(names, key=len, reverse=True):
            for form in _forms(known):
                text = text.replace(form, self.names[known])
        return text


def answer_name(number: int) -> str:
    """The name of the answer to the action with this number."""
    return f"<answer {number}>"


def _parts(answer: str) -> list[str]:
    first_sentence, _, rest = answer.partition(". ")
    parts = [answer, answer.strip(), answer.partition("\n")[2], "" if "\n" in first_sentence else rest]
    return [part for part in dict.fromkeys(parts) if len(part) >= MIN_NAMED]


def _forms(text: str) -> tuple[str, str]:
    return value_text(text, 12 * len(text)), text


MAX_PERIOD: Final = 6
"""Maximum length of a series of actions whose repetitions the log shows once, with a count."""

_MIN_ROUNDS: Final = 3  # a series of several actions is shown once from this many rounds on
_MAX_SAID: Final = 400  # characters of an action or a question
_MAX_QUESTION: Final = 10_000  # characters of a question in which answers are sought
_MAX_ANSWER: Final = 600  # characters of an answer, except the newest
_MARK_ROOM: Final = 60  # characters of the line that says how much is left out
_MIN_REPEATED: Final = 200  # characters of an answer that is shown only where it comes last
_MAX_SOUGHT_ANSWERS: Final = 200  # answers that are looked for in what was printed
_MARGIN: Final = "\n    "  # of an answer's second and later lines

AS_ABOVE: Final = "<as above>"
"""In place of an answer or a printed text that an earlier report of the conversation shows: the answer to the same
action.
"""


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


def read_run(events: Sequence[Event], *, blind: Collection[str] | None = None) -> RunEvents:
    """Read what happened in the attempt that begins with the first of these events; ``blind`` reads shapes alone, with
    the keys that are among these words.
    """
    exchanges: list[Exchange] = []
    printed: list[str] = []
    titles: set[str] = set()
    begun: dict[int, Call] = {}
    step, actions, started_from = None, 0, None
    for event in events:
        match event:
            case PlanStarted() if started_from is None:
                started_from = event.start_from
            case StepEntered():
                step = event.step
                titles.add(f"[Step {step}] {event.title}")
            case CallBegun():
                begun[event.id] = event.call
            case CallAnswered() if (call := begun.pop(event.id, None)) is not None:
                actions += 1
                if blind is None:
                    texts = (shown_call(call), shown_answer(event.answer))
                else:
                    texts = (call_shape(call, blind), answer_shape(event.answer, blind))
                exchanges.append(Exchange(actions, step, *texts))
            case ModelCalled(purpose="ask"):
                texts = (event.question, event.completion.text.strip())
                exchanges.append(Exchange(None, step, *(texts if blind is None else map(shape_text, texts))))
            case TextPrinted():
                printed.append(event.text)
    output = "\n".join(line for line in "".join(printed).split("\n") if line.rstrip() not in titles)
    output = shape_text(output) if blind is not None and output.strip() else output
    return RunEvents(tuple(exchanges), output, 1 if started_from is None else started_from)


# ------------------------------------------------------------------ as text


class LogText(Value, frozen=True):
    """The log as a prompt shows it. ``shown`` are the answers in it; ``whole`` are those among them that are not
    cut. ``told`` are the lengths in which it shows long ones, by what was said and the answer.
    """

    text: str = ""
    shown: ShownAnswers = ShownAnswers()
    whole: ShownAnswers = ShownAnswers()
    told: Mapping[tuple[str, str], int] = {}


def format_log(
    exchanges: Sequence[Exchange],
    max_characters: int,
    max_newest: int,
    printed: str = "",
    above: Mapping[tuple[str, str], int] = MappingProxyType({}),
) -> LogText:
    """The exchanges, oldest first, with repetitions shown once; empty if there are none.

    The newest answer is shown in up to ``max_newest`` characters. Answers that the plan ``printed`` are shown whole,
    newest first, within a further ``max_newest`` characters. Everything else shares ``max_characters``. If that is not
    enough, the oldest exchanges are left out, and the first line says how much is missing. A long answer that occurs
    several times is shown only at its last place, and not at all if the conversation shows it ``above`` (see
    ``LogText.told``).
    """
    if not exchanges:
        return LogText()
    return _LogWriter(exchanges, max_newest, printed, above).write(max_characters)


class _LogWriter:
    """Writes the log of a run. ``_place`` is where each answer is shown, ``_limits`` are those of long ones."""

    def __init__(
        self, exchanges: Sequence[Exchange], max_newest: int, printed: str, above: Mapping[tuple[str, str], int]
    ) -> None:
        self._exchanges, self._series, self._above = exchanges, _find_series(exchanges), above
        shown = [index for s in self._series for index in range(s.start, s.start + s.period)]
        self._place = {exchanges[i].answer: i for i in shown if exchanges[i].number is not None}
        newest_first = sorted(self._place, key=lambda answer: self._place[answer], reverse=True)[:_MAX_SOUGHT_ANSWERS]
        self._limits = dict.fromkeys([exchanges[-1].answer, *newest_first[:1]], max_newest)
        room, wanted = max_newest, self._answers(a for a in newest_first if len(a) <= max_newest).found_in(printed)
        for answer in newest_first[1:]:
            if self._name(answer) in wanted and _MAX_ANSWER < (length := len(_indent(answer))) <= room:
                self._limits[answer] = length
                room -= length
        self._whole = self._answers(a for a in newest_first if self._is_whole(a))

    def write(self, max_characters: int) -> LogText:
        """The log in ``max_characters``, not counting the answers with limits of their own."""
        room = max_characters + sum(map(self._own_room, self._limits))
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
        return LogText("\n".join(reversed(lines)), self._answers(shown), whole, self._told(shown))

    def _own_room(self, answer: str) -> int:
        """The length of an answer with a limit of its own; 0 if it is shown above."""
        place = self._place.get(answer)
        is_above = place is not None and self._is_above(self._exchanges[place])
        return 0 if is_above else min(len(_indent(answer)), self._limits[answer])

    def _told(self, shown: Iterable[str]) -> dict[tuple[str, str], int]:
        """The lengths in which the log shows long answers."""
        placed = [self._exchanges[self._place[answer]] for answer in shown if len(answer) >= _MIN_REPEATED]
        return {(e.said, e.answer): self._shown_length(e) for e in placed if not self._is_above(e)}

    def _shown_length(self, exchange: Exchange) -> int:
        return min(len(_indent(exchange.answer)), self._limit(exchange))

    def _is_above(self, exchange: Exchange) -> bool:
        """Whether the conversation shows as much of the answer to the same action."""
        length = self._above.get((exchange.said, exchange.answer))
        return length is not None and length >= self._shown_length(exchange)

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
            return f"ask_llm: {_cut(question, _MAX_SAID)} -> {_cut(exchange.answer, self._limit(exchange))}"
        label = f"{exchange.number}-{exchange.number + again}." if again else f"{exchange.number}."
        said = f"{label} {_cut(exchange.said, _MAX_SAID)}"
        if self._place[exchange.answer] != index and len(exchange.answer) >= _MIN_REPEATED:
            return f"{said} -> {self._name(exchange.answer)}"
        if self._is_above(exchange):
            return f"{said} -> {AS_ABOVE}"
        return f"{said} -> {_cut(exchange.answer, self._limit(exchange))}"

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


def _indent(text: str) -> str:
    """The text with its second and later lines indented, so that no line of it looks like another entry."""
    return _MARGIN.join(text.strip().splitlines())


def _cut(text: str, max_characters: int) -> str:
    """The indented text in at most ``max_characters``."""
    return excerpt(_indent(text), max_characters, margin=len(_MARGIN) - 1)


def _describe_left_out(exchanges: Sequence[Exchange]) -> str:
    actions = sum(e.number is not None for e in exchanges)
    questions = len(exchanges) - actions
    parts = [left_out(actions, "earlier action")] if actions else []
    return " ".join([*parts, left_out(questions, "earlier question")] if questions else parts)


_MAX_PLAN_CHARS: Final = 128_000

MAX_PART_CHARS: Final = {
    "errors": 16_000,
    "source": _MAX_PLAN_CHARS,
    "previous": _MAX_PLAN_CHARS,
    "revised": _MAX_PLAN_CHARS,
    "feedback": 6_000,
    "log": 24_000,
    "printed": 6_000,
    "now": 6_000,
    "variables": 6_000,
}
"""Maximum lengths, in characters, of the parts of a prompt that describe plans. A checked plan is never cut: by
default it has at most 65,536 bytes.
"""

MAX_DONE_CHARS: Final = 6_000
"""Maximum length of the list of calls that were made, in characters."""

_MAX_DONE_CALL: Final = 2_000  # characters of one of these calls

MAX_OLDER_CHARS: Final = 6_000
"""Maximum length of the log without the answers that are shown whole, in characters."""

MAX_WHOLE_CHARS: Final = 6_000
"""Maximum length of the log's newest answer, and of all older answers that the plan printed together, in characters."""

MAX_CONVERSATION_CHARS: Final = 80_000
"""Maximum length of a conversation about a plan after its first two messages, in characters: about 20,000 tokens. The
newest turn stays whole, however long it is."""

MAX_ATTEMPTS: Final = 12
"""Maximum number of earlier attempts in a prompt; the newest are kept."""

MAX_FIXES_SHOWN: Final = 10
"""Maximum number of the check's fixes in a prompt."""


class LimitsLeft(Value, frozen=True):
    """What is left of each limit; None means no limit.

    ``asks`` counts the questions of one run, ``tries`` the runs of a plan, including the next one.
    """

    actions: int | None = None
    asks: int | None = None
    tries: int | None = None
    replans: int | None = None
    seconds: int | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each limit, such as ``actions: 50``; none for what has no limit."""
        given = {
            "actions": self.actions,
            "questions (ask_llm) in a run": self.asks,
            "runs of a plan": self.tries,
            "replans": self.replans,
            "seconds": self.seconds,
        }
        return tuple(f"{name}: {left}" for name, left in given.items() if left is not None)


def limits_left(episode: Episode, *, asks: int | None, tries: int | None, replans: int | None) -> LimitsLeft:
    """The limits of a plan's next run, computed before its prompt is sent.

    ``asks`` is the sandbox's limit for one run; ``tries`` and ``replans`` are what the method has left, None without
    such a limit. The environment's limit and the budget lower them. A replay gives equal values, because it takes times
    from the recorded events.
    """
    actions, calls, refinements = episode.meter.left()
    calls = calls and calls - 1  # the prompt itself is a call
    return LimitsLeft(
        actions=_least(_environment_actions(episode), actions),
        asks=None if asks is None else _least(asks, calls),
        tries=None if tries is None else _least(tries, None if refinements is None else refinements + 1),
        replans=None if replans is None else _least(replans, calls, refinements),
        seconds=_seconds(episode),
    )


def _environment_actions(episode: Episode) -> int | None:
    if not isinstance(episode.env, LimitsActions) or episode.env.max_actions is None:
        return None
    return max(0, episode.env.max_actions - len(actions_since_reset(episode)))


def _seconds(episode: Episode) -> int | None:
    if episode.meter.budget.seconds is None:
        return None
    events = episode.turn_events
    return max(0, math.floor(episode.meter.budget.seconds - (events[-1].at - events[0].at)))


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


NextStart = Literal["resume", "first step", "reset"]
"""Where the next plan starts: at the resume point, or at its first step, with or without a reset of the environment
before.
"""

_MAX_VALUE: Final = 2_000  # characters of one variable
_MAX_STRING: Final = 200  # characters of a text, alone or within a list
_MAX_LOST, _MAX_REASON = 12, 100  # variables that could not be saved, and the characters of the reason
_MAX_CODE: Final = 120  # characters of the line that failed
_MAX_SUMMARY: Final = 200  # characters of the line about an earlier attempt
_PRINTED: Final = "<as printed>"
_MIN_PRINTED: Final = 60  # characters from which on a value's text is not repeated if the plan printed it
_MIN_IN_FEEDBACK: Final = 200  # characters of an answer that has a name in the error's message
_MAX_SOUGHT: Final = 60_000  # characters of what was printed in which answers are sought
_NAME: Final = re.compile(r"\w+")


class RunReport(Value, frozen=True):
    """The report on the latest plan.

    ``source`` is its text after the check's fixes. ``plan`` and ``outcome`` are None if the check refused it.
    ``problem`` is the first sentence on what went wrong. ``events`` are the events of the run, ``observation`` is the
    newest observation. ``variables`` are the variables that the next plan can start with. ``left`` holds the limits of
    the next run. ``next_start`` says where the next plan starts. ``last_run`` is the report on the latest run, if the
    check refused this plan and a plan ran before. ``is_blind``: the variables are told by their shapes.
    """

    source: str
    problem: str
    plan: Plan | None = None
    outcome: Outcome | None = None
    events: RunEvents = RunEvents()
    observation: str = ""
    variables: Checkpoint = Checkpoint()
    left: LimitsLeft = LimitsLeft()
    next_start: NextStart = "resume"
    last_run: RunReport | None = None
    is_blind: bool = False

    @property
    def summary(self) -> str:
        """The attempt in a line."""
        if self.outcome is None:
            return one_line(f"refused before it ran: {self.problem}", _MAX_SUMMARY)
        actions = sum(e.number is not None for e in self.events.exchanges)
        done = f"from [Step {self.events.started_from}] on, {with_count(actions, 'action')}: "
        return one_line(f"{done}{self.problem}", _MAX_SUMMARY)


class ShownParts(Value, frozen=True):
    """What reports of a conversation show, which later reports need not repeat.

    ``runs`` are the runs they report on. ``variables`` are the values of variables, or their shapes if the reports are
    blind; ``gone`` are names that later reports said are gone. ``answers`` are as ``LogText.told``; ``printed`` are
    long printed texts, and ``done`` lines of calls that were made.
    """

    runs: tuple[RunReport, ...] = ()
    variables: Mapping[str, object] = {}
    gone: frozenset[str] = frozenset()
    answers: Mapping[tuple[str, str], int] = {}
    printed: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()

    def followed_by(self, later: ShownParts) -> ShownParts:
        """What is shown together with a later report, whose variables count."""
        kept = {name: value for name, value in self.variables.items() if name not in later.gone}
        return ShownParts(
            self.runs + later.runs,
            {**kept, **later.variables},
            answers={**self.answers, **later.answers},
            printed=self.printed | later.printed,
            done=self.done | later.done,
        )


def prompt_values(report: RunReport, attempts: tuple[str, ...]) -> dict[str, object]:
    """The values of ``adaplanner/turn``, within MAX_PART_CHARS. ``attempts`` has a line for each earlier one.

    Log, output and variables of a plan that was refused are those of the run before it.
    """
    return turn_values(report, attempts, ShownParts())[0]


def turn_values(
    report: RunReport, attempts: tuple[str, ...], above: ShownParts
) -> tuple[dict[str, object], ShownParts]:
    """As ``prompt_values``, without what is shown ``above`` in the conversation; and the parts that these show."""
    outcome, refused = report.outcome, report
    report = report.last_run or report
    repeats = any(run is report for run in above.runs)
    output = excerpt(report.events.printed.strip("\n"), _MAX_SOUGHT, start=0.5)
    log = format_log(report.events.exchanges, MAX_OLDER_CHARS, MAX_WHOLE_CHARS, output, above.answers)
    printed = excerpt(log.whole.name_in(output), MAX_PART_CHARS["printed"], start=0.5)
    variables, shown, gone = _describe_variables(report, log.shown.names, printed, above.variables)
    values = {
        "feedback": excerpt(log.whole.name_in(refused.problem, _MIN_IN_FEEDBACK), MAX_PART_CHARS["feedback"]),
        "failed_line": _failed_line(refused),
        "log": "" if repeats else log.text,
        "printed": "" if repeats else AS_ABOVE if printed in above.printed else printed,
        "now": _observation_now(report),
        "variables": variables,
        "fixes": _fix_lines(refused.plan.fixes if refused.plan else ()),
        "left": refused.left.lines,
        "attempts": attempts,
        "refused": outcome is None,
        "finished": isinstance(outcome, Finished),
        "replanned": isinstance(outcome, Replan),
        "unfinished": isinstance(outcome, Replan) and not outcome.step_done,
        "step": _next_step(outcome),
        "next_start": refused.next_start,
    }
    long = frozenset({printed} if len(printed) >= _MIN_REPEATED else ())
    parts = ShownParts(variables=shown, gone=gone)
    if not repeats:
        parts = replace(parts, runs=(report,), answers=log.told, printed=long)
    return values, parts


def done_lines(
    events: Sequence[Event], *, blind: Collection[str] | None = None, above: Collection[str] = ()
) -> tuple[str, ...]:
    """The calls that were made in an episode and answered with a value, and those in doubt: equal ones once, with a
    count, in the order in which each was made last. The newest are kept within MAX_DONE_CHARS, and the first line says
    how many are left out. Lines that stand ``above`` in the conversation are left out, and do not count.
    """
    counts: dict[tuple[str, bool], int] = {}
    for made in answered_calls(events):
        if not made.answer.error or made.answer.in_doubt:
            said = shown_call(made.call) if blind is None else call_shape(made.call, blind)
            key = (one_line(said, _MAX_DONE_CALL), made.answer.in_doubt)
            counts[key] = counts.pop(key, 0) + 1
    told: dict[str, int] = {}
    for (call, in_doubt), count in counts.items():
        times = f" (x {count})" if count > 1 else ""
        told[call + times + (": in doubt, nobody knows whether it was done" if in_doubt else "")] = count
    new = {line: count for line, count in told.items() if line not in above}
    lines: list[str] = []
    room = MAX_DONE_CHARS
    for line in reversed(new):
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    missing = sum(list(new.values())[: len(new) - len(lines)])
    head = [left_out(missing, "earlier call")] if missing else []
    return (*head, *reversed(lines))


def repair_values(last_run: RunReport | None) -> dict[str, object]:
    """The values that describe the run before a plan that is to be repaired; without one, they are empty."""
    if last_run is None:
        return {"ran": False, "log": "", "printed": "", "variables": "", "next_start": "first step"}
    values = prompt_values(last_run, ())
    shown = {name: values[name] for name in ("log", "printed", "variables", "next_start")}
    return {"ran": True, **shown}


def rewrite_values(report: RunReport) -> dict[str, object]:
    """The values that ``adaplanner/rewrite`` adds to those of a first plan, within MAX_PART_CHARS."""
    return {
        "feedback": excerpt(report.problem, MAX_PART_CHARS["feedback"]),
        "left": report.left.lines,
        "refused": report.outcome is None,
        "next_start": report.next_start,
    }


def _next_step(outcome: Outcome | None) -> int | None:
    """The step at which the run ended, or the one after a step that is done; None outside all steps."""
    if isinstance(outcome, Replan) and outcome.step_done and outcome.step is not None:
        return outcome.step + 1
    return outcome.step if outcome else None


def _failed_line(report: RunReport) -> str:
    """The line of code that failed, without its indentation; empty if there is none."""
    number = report.outcome.line if isinstance(report.outcome, Failed | Stopped) else None
    lines = re.split(r"\r\n|\r|\n", report.source)
    return one_line(lines[number - 1], _MAX_CODE) if number is not None and 0 < number <= len(lines) else ""


def _observation_now(report: RunReport) -> str:
    """The newest observation; empty if the log ends with it, or if there was no run."""
    answers = [e.answer for e in report.events.exchanges if e.number is not None][-1:]
    shown = report.outcome is None or report.observation in answers
    return "" if shown else excerpt(report.observation, MAX_PART_CHARS["now"], start=0.7)


def _fix_lines(fixes: tuple[Fix, ...]) -> tuple[str, ...]:
    more = len(fixes) - MAX_FIXES_SHOWN
    return (*map(str, fixes[:MAX_FIXES_SHOWN]), *([f"and {more:,} more"] if more > 0 else []))


# ------------------------------------------------------------------ variables


class _VariableLines(NamedTuple):
    """The text on variables, those that it shows, and the names that it says are gone."""

    text: str = ""
    shown: Mapping[str, object] = {}
    gone: frozenset[str] = frozenset()


def _describe_variables(
    report: RunReport, answers: Mapping[str, str], printed: str, above: Mapping[str, object]
) -> _VariableLines:
    """The plan's saved variables as lines ``name = value``, then the variables that could not be saved, within
    MAX_PART_CHARS.

    ``answers`` are the names of the answers in the log, and ``printed`` is what the prompt shows of the output:
    neither is repeated. Helper functions are left out, and so are names that older plans set and this plan does not
    contain. A variable that is ``above`` with the same value stands there.
    """
    if report.plan is None:
        return _VariableLines()
    known = {*_NAME.findall(unicodedata.normalize("NFKC", report.plan.source))}
    values = {name: value for name, value in decode(report.variables).items() if name in known}
    if report.is_blind:
        values = {name: shape_text(value, known) for name, value in values.items()}
    new = {name: value for name, value in values.items() if name not in above or not _is_same(value, above[name])}
    dropped = {n: why for n, why in report.variables.dropped.items() if n not in report.plan.provides}
    gone = above.keys() - values.keys()
    last = _lines_on_others(len(values) - len(new), len(new), sorted(gone - dropped.keys())) + _lost_lines(dropped)
    if report.is_blind:
        shapes = [f"{clip_name(name)}: {shape}" for name, shape in new.items()]
        return _VariableLines("\n".join([*shapes, *last]), new, frozenset(gone))
    room = MAX_PART_CHARS["variables"] - sum(len(line) + 1 for line in last) - _MAX_REASON
    lines, shown = _new_variable_lines(new, room, answers, printed)
    return _VariableLines("\n".join([*lines, *last]), {name: new[name] for name in shown}, frozenset(gone))


def _new_variable_lines(
    values: Mapping[str, object], room: int, answers: Mapping[str, str], printed: str
) -> tuple[list[str], Collection[str]]:
    """The lines of these variables, and the names of those whose values they show."""
    if not values:
        return [], ()
    shown = variable_texts(values, room, max_each=_MAX_VALUE, max_string=_MAX_STRING, counts=True, names=answers)
    texts = {
        name: _PRINTED if len(text) >= _MIN_PRINTED and text in printed else text for name, text in shown.texts.items()
    }
    lines = [f"{clip_name(name)} = {text}" for name, text in texts.items()]
    if shown.unshown:
        more = f" and {shown.unnamed:,} more" if shown.unnamed else ""
        lines.append(f"# saved, but not shown: {', '.join(shown.unshown)}{more}")
    return lines, texts.keys()


def _is_same(value: object, before: object) -> bool:
    """Whether a variable has the value that it had before, as far as a prompt can tell; large ones within bounds."""
    texts = [whole_value_text(each, _MAX_VALUE) for each in (value, before)]
    if None not in texts:
        return texts[0] == texts[1]
    return same_values(value, before) and value_text(value, _MAX_VALUE) == value_text(before, _MAX_VALUE)


def _lines_on_others(same: int, new: int, gone: Sequence[str]) -> list[str]:
    """The lines on variables that are as shown above, and on those that are gone."""
    named = ", ".join(map(clip_name, gone[:_MAX_LOST]))
    more = f" and {len(gone) - _MAX_LOST:,} more" if len(gone) > _MAX_LOST else ""
    lines = [f"# {'the others are' if new else 'all'} as above"] if same else []
    return [*lines, f"# gone: {named}{more}"] if gone else lines


def _lost_lines(dropped: Mapping[str, str]) -> list[str]:
    named = islice(dropped.items(), _MAX_LOST)
    lines = [f"{clip_name(name)} was not saved ({one_line(why, _MAX_REASON)})" for name, why in named]
    more = len(dropped) - len(lines)
    return [*lines, f"# not saved: {with_count(more, 'more variable')}"] if more else lines


_MARK_DIGITS: Final = 9
_MAX_NAMES: Final = 12  # keys and items whose shapes are shown
_MAX_DEPTH: Final = 3
_WORD: Final = re.compile(r"\w+")


def tag_mark(first: Event, texts: Iterable[object]) -> str:
    """The end of the tags' names around these texts.

    Nobody who wrote a part of the texts can know it: it depends on all of them, and on the time at which the episode
    began. A replay finds the same one.
    """
    digest = hashlib.sha256(f"{first.at:.9f}".encode())
    for text in texts:
        digest.update(b"\0" + str(text).encode(errors="replace"))
    return f"-{int(digest.hexdigest(), 16) % 10**_MARK_DIGITS:0{_MARK_DIGITS}}"  # digits always take as many tokens


def shape_text(value: object, words: Collection[str] = (), depth: int = _MAX_DEPTH) -> str:
    """What a value is, without what it says: ``str of 412 characters``, ``list of 3 of dict(id: int)``.

    ``words`` are those of the plan and of the tools' descriptions; another key is not shown, as it may be data.
    """
    match value:
        case str():
            return f"str of {with_count(len(value), 'character')}"
        case list() | tuple():
            each = f" of {shape_text(value[0], words, depth - 1)}" if value and depth else ""
            return f"{type(value).__name__} of {len(value):,}{each}"
        case dict():
            return f"dict({_fields(value, words, depth)})" if depth else f"dict of {len(value):,}"
        case bytes() | set() | frozenset():
            return f"{type(value).__name__} of {len(value):,}"
    return type(value).__name__


def words_if_blind(episode: Episode) -> frozenset[str] | None:
    """The words of an episode's plans and tools, if prompts for revised plans have shapes in place of data."""
    return words_of(episode) if episode.is_blind else None


def words_of(episode: Episode) -> frozenset[str]:
    """The words of an episode's plans and tools, in which no data stands."""
    plans = (event.source for event in events_of(episode.trace.events, PlanDrafted, PlanFixed))
    types = (each.text for each in episode.api.types)
    texts = (*plans, *(f"{m.name} {m.signature} {m.doc}" for m in episode.api.methods), *types)
    return frozenset(word for text in texts for word in _WORD.findall(text))


def _fields(value: Mapping[Any, Any], words: Collection[str], depth: int) -> str:
    """The shapes of a dict's values under its keys."""
    names = [key if isinstance(key, str) and key in words else "?" for key in value]
    shown = [f"{name}: {shape_text(each, words, depth - 1)}" for name, each in zip(names, value.values(), strict=True)]
    more = [f"and {len(shown) - _MAX_NAMES:,} more"] if len(shown) > _MAX_NAMES else []
    return ", ".join(shown[:_MAX_NAMES] + more)


def call_shape(call: Call, words: Collection[str]) -> str:
    """A call with the shapes of its arguments."""
    given = {name: shape_text(unpacked(value), words) for name, value in (call.arguments or {}).items()}
    return f"{call.name}({', '.join(f'{name}: {shape}' for name, shape in given.items())})"


def answer_shape(answer: Answer, words: Collection[str]) -> str:
    """The shape of an answer, or the type of its error."""
    return f"raised {answer.error}" if answer.error else shape_text(unpacked(answer.value), words)


def blind_outcome(outcome: Outcome, told: str) -> str:
    """What went wrong in a run, as ``told``, without the words that the plan made from data."""
    match outcome:
        case Failed():
            where = f"[Step {outcome.step}]" if outcome.step else "code outside the steps"
            return f"{where}, line {outcome.line} raised {outcome.error}"
        case Replan():
            return f"[Step {outcome.step}] asked to replan" if outcome.step else "the plan asked to replan"
    return told
