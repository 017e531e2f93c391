"""The turns of an executor, which acts by one action or one call at a time."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, NamedTuple, NoReturn

from msgspec.structs import replace

from codeplan.episode.episode import Episode
from codeplan.errors import AgentError, SizeExceeded
from codeplan.plain_data import NotPlainData, pack, unpack
from codeplan.planning.asking import api_text, ask_template
from codeplan.planning.outcomes import thought_after
from codeplan.planning.plan_run import ending_of_value
from codeplan.prompts.templates import Prompts
from codeplan.recording.events import CallAnswered, CallsByAnswer, Event, ModelCalled, PlanEnded, ValueJudged
from codeplan.sandbox.protocol.limits import shorten
from codeplan.tools.results import MAX_RESULT_BYTES
from codeplan.types import (
    ActionSpace,
    Answer,
    Call,
    Claimed,
    Ending,
    EnvironmentEnded,
    Finished,
    GaveUp,
    NotSolved,
    Task,
    Value,
)
from codeplan.untrusted.json_values import json_value
from codeplan.untrusted.texts import escape_surrogates, one_line, with_count
from codeplan.untrusted.values import in_quotes

MAX_ANSWER_CHARS: Final = 20_000
"""Maximum length of a tool's answer in a prompt, in characters, about 5,000 tokens."""

MAX_REPLY_CHARS: Final = 20_000
"""Maximum length of a model's own earlier reply in a prompt, in characters."""

CALL_FORM: Final = 'NAME {"argument": value}'
"""The form of a call, for messages."""

_MAX_NAME = 60
_START = re.compile(r"^[ \t>`]*+(?:action[ \t]*+:[ \t]*+)?+([A-Za-z_]\w*+)[ \t]*+(?=\{)", re.IGNORECASE | re.MULTILINE)


class JsonCall(NamedTuple):
    """One call of a reply. ``text`` is the reply up to the call's end; ``more`` is true if further calls follow."""

    name: str
    arguments: dict[str, Any]
    text: str
    more: bool = False


class NoCall(Exception):
    """A reply holds no call that can be made; the message tells the model why, in one sentence."""


def read_reply(reply: str, names: Collection[str]) -> JsonCall:
    """The first call in a reply: a line that begins with a name and a JSON object, which may span lines.

    ``names`` are those that may be called. Raises: NoCall.
    """
    starts = list(_START.finditer(reply))
    found = next((s for s in starts if s[1] in names), None)
    if found is None:
        if starts:
            raise NoCall(f"There is no tool {in_quotes(starts[0][1], _MAX_NAME)}.")
        raise NoCall(f"Your reply holds no call. End it with one call on a line of its own: {CALL_FORM}")
    name, at = found[1], found.end()
    try:
        arguments, end = _DECODER.raw_decode(reply, at)
    except json.JSONDecodeError as e:
        where = f"line {reply.count(chr(10), at, e.pos) + 1} of it" if "\n" in reply[at : e.pos] else "it"
        near = in_quotes(reply[e.pos : e.pos + 20])
        raise NoCall(f"The arguments of {name} are no JSON object: {e.msg} in {where}, before {near}.") from None
    except _RefusedJson as e:
        raise NoCall(f"The arguments of {name} are no JSON object: {e}.") from None
    except (ValueError, RecursionError):
        raise NoCall(f"The arguments of {name} hold a number that is too long, or are nested too deeply.") from None
    more = any(s[1] in names and s.start() >= end for s in starts)
    return JsonCall(name, arguments, reply[:end].strip(), more)


def show_call(call: Call) -> str:
    """A call of a tool as a model would write it."""
    return _cut(f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}", MAX_REPLY_CHARS)


def show_answer(answer: Answer) -> str:
    """A tool's answer, as the model reads it: a text as it is, other data as JSON, an error by its name."""
    if answer.error:
        return _cut(f"{answer.error}: {answer.message}", MAX_ANSWER_CHARS)
    return show_value(unpack(answer.value))


def show_value(value: object) -> str:
    """A value as a model reads it, at most ``MAX_ANSWER_CHARS`` of it."""
    text = value if isinstance(value, str) else json.dumps(_json_data(value), ensure_ascii=False)
    return _cut(text, MAX_ANSWER_CHARS)


def _json_data(value: object) -> Any:
    """The data in the form that JSON has. A result fits the bound in any notation."""
    return json_value(value, 16 * MAX_RESULT_BYTES)


def _cut(text: str, most: int) -> str:
    text = escape_surrogates(text)
    if len(text) <= most:
        return text
    return f"{text[:most]}\n… (the first {most:,} of {len(text):,} characters)"


class _RefusedJson(ValueError):
    """Names the value that Python's reader accepts but JSON does not have."""


def _refuse_constant(name: str) -> NoReturn:
    raise _RefusedJson(f"JSON has no {name}")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise _RefusedJson("a number is too large")
    return value


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RefusedJson(f"the key {in_quotes(key, _MAX_NAME)} stands there twice")
        found[key] = value
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_without_twins, parse_float=_finite, parse_constant=_refuse_constant)


THOUGHT_REPLY = "OK."
"""The answer to a thought."""

THINK_TEMPLATE = "react/think"
"""The template that asks for a thought alone."""

_PREFIX = re.compile(r"(?:>++|action\s*+\d*+\s*+:)\s*+", re.IGNORECASE)
_THOUGHT = re.compile(r"(?:think|thought)\s*+\d*+\s*+:", re.IGNORECASE)
_DONE = re.compile(r"\btask completed\b", re.IGNORECASE)
_FAILED = re.compile(r"\btask failed\b", re.IGNORECASE)


class Turn(Value, frozen=True):
    """One line of the model, and the answer to it."""

    line: str
    answer: str

    def __str__(self) -> str:
        return f"> {self.line}\n{self.answer}"


def first_line(reply: str) -> str:
    """The first line of a reply that is not empty, without a prompt sign; empty if there is none."""
    line = next((each.strip() for each in reply.splitlines() if each.strip()), "")
    start = 0
    while prefix := _PREFIX.match(line, start):
        start = prefix.end()
    return line[start:]


def is_thought(line: str) -> bool:
    """Whether the line is a thought and not an action."""
    return _THOUGHT.match(line) is not None


def written_as_thought(line: str) -> str:
    """The line with the mark of a thought. A model that is asked for a thought alone may leave the mark out."""
    return line if is_thought(line) else f"think: {line}"


def parse_claim(line: str) -> bool | None:
    """True if the line says ``task completed``, False if it says ``task failed``, otherwise None."""
    if _DONE.search(line):
        return True
    return False if _FAILED.search(line) else None


def normalise_action(line: str, space: ActionSpace) -> str:
    """The action with the environment's ``rewrites`` applied."""
    for pattern, replacement in space.rewrites:
        line = re.sub(pattern, replacement, line)
    return line


def collect_turns(episode: Episode, first_event: int = 0) -> list[Turn]:
    """An executor's thoughts and actions after an event, in order, together with failures of plans."""
    calls = CallsByAnswer()
    turns = (_turn(calls.take(event), event) for event in episode.trace.events[first_event:])
    return [turn for turn in turns if turn]


def call_turn(call: Call, answer: Answer) -> Turn:
    """A call with its answer, as models read them."""
    if call.arguments is None:
        return Turn(call.name, "" if answer.observation is None else answer.observation.text)
    return Turn(show_call(call), show_answer(answer))


def format_transcript(turns: Sequence[Turn]) -> str:
    """The turns as a transcript."""
    return "\n".join(map(str, turns))


def _turn(call: Call | None, event: Event) -> Turn | None:
    match event:
        case CallAnswered() if call is not None:
            return call_turn(call, event.answer)
        case ValueJudged(verdict=verdict) if verdict is not None:
            return Turn("finish", verdict.text)
        case ModelCalled(purpose="act") if event.prompt.startswith("react/tools"):
            return None
        case ModelCalled(purpose="act") if is_thought(line := first_line(event.completion.text)):
            return Turn(line, THOUGHT_REPLY)
        case ModelCalled(purpose="act", prompt=prompt) if prompt.startswith(f"{THINK_TEMPLATE} "):
            return Turn(written_as_thought(first_line(event.completion.text)), THOUGHT_REPLY)
        case _:
            return _plan_turn(event)


def _plan_turn(event: Event) -> Turn | None:
    match event:
        case PlanEnded(outcome=outcome):
            return Turn(*thought) if (thought := thought_after(outcome)) else None
        case _:
            return None


_MAX_REASON: Final = 500  # characters of a reason to give up, in the ending


class ToolTurns:
    """The turns for one task. ``claim`` is the model's opinion: whether it finished, or gave up; None if neither."""

    def __init__(self, prompts: Prompts, task: Task, episode: Episode, calls: int, max_idle_turns: int) -> None:
        self._prompts, self._episode = prompts, episode
        self._calls, self._max_idle_turns = calls, max_idle_turns
        self._is_subtask = episode.is_subtask(task)
        self._turns: list[Turn] = []
        self._idle = 0
        self.claim: bool | None = None
        api = episode.api
        methods = tuple(method for method in api.methods if method.name != api.report)  # which is for assertions
        tools = tuple(method.name for method in methods)
        self._finish, self._give_up = _free_name("finish", tools), _free_name("give_up", tools)
        self._special: dict[str, Callable[[JsonCall], str | Ending]] = {
            self._finish: self._take_value,
            self._give_up: self._take_reason,
        }
        if api.describe:
            self._special[api.describe] = self._describe
        self._names = frozenset((*tools, *self._special))
        self._values: dict[str, Any] = {
            "api": api_text(
                episode, prompts, task, "react/_returns", replace(api, methods=methods), finish=self._finish
            ),
            "finish": self._finish,
            "give_up": self._give_up,
            "goal": episode.goal_of(task),
            "notes": task.notes,
        }

    def take_turns(self) -> Ending:
        """Take turns until the task ends; returns how it ended."""
        for number in range(self._calls):
            if self._episode.is_over:
                return EnvironmentEnded()
            left = self._calls - number
            if ending := self._take_turn(left):
                return ending
            if self._idle >= self._max_idle_turns:
                return NotSolved(f"{with_count(self._max_idle_turns, 'turn')} in a row made no call")
        return (
            EnvironmentEnded() if self._episode.is_over else NotSolved(f"no end in {with_count(self._calls, 'turn')}")
        )

    def _take_turn(self, left: int) -> Ending | None:
        reply = ask_template(
            self._episode, self._prompts, "react/tools", "act", **self._values, turns=self._turns, left=left
        )
        self._idle += 1
        try:
            call = read_reply(reply, self._names)
        except NoCall as problem:
            self._turns.append(Turn(shorten(reply.strip(), MAX_REPLY_CHARS), str(problem)))
            return None
        answer = self._special[call.name](call) if call.name in self._special else self._act(call)
        if not isinstance(answer, str):
            return answer
        if call.more:
            answer += "\n(Only the first call of your reply was made.)"
        self._turns.append(Turn(shorten(call.text, MAX_REPLY_CHARS), answer))
        return None

    def _act(self, call: JsonCall) -> str:
        """Make the call; returns the answer as the model reads it."""
        try:
            asked = Call(call.name, {name: pack(value) for name, value in call.arguments.items()})
        except NotPlainData as reason:
            return f"ValueError: {one_line(call.name, _MAX_NAME)} was given {reason}"
        self._idle = 0
        try:
            return show_answer(self._episode.call(asked))
        except SizeExceeded as error:
            return f"The call was made, but its answer cannot be shown: {error}"

    def _describe(self, call: JsonCall) -> str:
        """A tool's description in full. It costs a turn, and no action."""
        if problem := _misfit(call, ("name",)):
            return problem
        try:
            return show_value(getattr(self._episode.agent(), call.name)(call.arguments.get("name")))
        except AgentError as error:
            return str(error)

    def _take_value(self, call: JsonCall) -> str | Ending:
        """Have the environment judge the result. The answer says what is missing, if the verifier says so."""
        if problem := _misfit(call, ("value",)):
            return problem
        outcome = Finished(value=call.arguments.get("value"))
        self._idle = 0
        if self._is_subtask:
            self._episode.note_outcome(outcome)
            self.claim = True
            return Claimed("it says that the sub-task is done")
        if ending_of_value(self._episode, outcome):
            self.claim = True
            return Claimed("it says that the goal is reached; nobody verified the result")
        if self._episode.success or self._episode.is_over:
            self.claim = self._episode.success
            return EnvironmentEnded()
        return self._episode.observation.text

    def _take_reason(self, call: JsonCall) -> str | Ending:
        if problem := _misfit(call, ("reason",)):
            return problem
        self.claim = False
        reason = call.arguments.get("reason")
        said = one_line(reason, _MAX_REASON) if isinstance(reason, str) else ""
        return GaveUp(f"it gave up: {said}" if said else "it gave up")


def _misfit(call: JsonCall, known: Sequence[str]) -> str:
    """What is wrong with the arguments of ``finish``, ``give_up`` or another call that is no tool; empty if nothing is
    wrong.
    """
    if call.arguments.keys() <= set(known):
        return ""
    return f"{call.name} takes {', '.join(known)} and no other argument."


def _free_name(name: str, taken: Sequence[str]) -> str:
    """The name, with ``_task`` appended until no tool has it."""
    while name in taken:
        name += "_task"
    return name
