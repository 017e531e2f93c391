"""The turns of an executor: each line of the model with its answer.

A line that begins with ``think:`` is a thought; the answer is ``OK.``, without the environment. Any other line is an
action (ReAct, Yao et al., ICLR 2023, in the form of ADaPT's executors: Prasad et al., 2024, appendix A).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from codeplan.episode.episode import Episode
from codeplan.planning.json_calls import show_answer, show_call
from codeplan.recording.events import (
    ActionTaken,
    Event,
    ModelCalled,
    PlanFailed,
    PlanGaveUp,
    PlanReplanned,
    PlanStopped,
    ValueJudged,
)
from codeplan.types import ActionSpace, Value

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
    events = episode.trace.events[first_event:]
    return [turn for event in events if (turn := _tool_turn(event) if episode.has_tools else _turn(event))]


def action_turn(episode: Episode, event: ActionTaken) -> Turn:
    """An action with its answer, as models read them."""
    if episode.has_tools:
        return Turn(show_call(event.action), show_answer(event.observation.text))
    return Turn(event.action, event.observation.text)


def format_transcript(turns: Sequence[Turn]) -> str:
    """The turns as a transcript."""
    return "\n".join(map(str, turns))


def _turn(event: Event) -> Turn | None:
    match event:
        case ActionTaken():
            return Turn(event.action, event.observation.text)
        case ModelCalled(purpose="act") if is_thought(line := first_line(event.completion.text)):
            return Turn(line, THOUGHT_REPLY)
        case ModelCalled(purpose="act", prompt=prompt) if prompt.startswith(f"{THINK_TEMPLATE} "):
            return Turn(written_as_thought(first_line(event.completion.text)), THOUGHT_REPLY)
        case _:
            return _plan_turn(event)


def _tool_turn(event: Event) -> Turn | None:
    match event:
        case ActionTaken():
            return Turn(show_call(event.action), show_answer(event.observation.text))
        case ValueJudged(verdict=verdict) if verdict is not None:
            return Turn("finish", verdict.text)
        case _:
            return _plan_turn(event)


def _plan_turn(event: Event) -> Turn | None:
    match event:
        case PlanFailed():
            return Turn("think: my plan failed.", f"{event.error}: {event.message}")
        case PlanStopped():
            return Turn("think: my plan was stopped.", event.message)
        case PlanReplanned():
            return Turn("think: my plan needs to be written on.", event.reason)
        case PlanGaveUp():
            return Turn("think: my plan gave up.", event.reason)
        case _:
            return None
