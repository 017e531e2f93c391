"""Reads an executor's prompt for the stand-in: the task and the turns so far."""

from __future__ import annotations

import re
from typing import NamedTuple

from codeplan.standin.prompt_sections import find_section

COMPLETED_LINE = "think: All of it is done. Task completed!"

_TURN = re.compile(r"^> (.*)\n((?:(?!> ).*\n?)*)", re.MULTILINE)


class ExecutorPrompt(NamedTuple):
    """The sections of an executor's prompt, empty where absent. ``notes`` may quote ``earlier_turns``."""

    goal: str
    observation: str
    notes: str
    earlier_turns: list[tuple[str, str]]
    turns: list[tuple[str, str]]


def parse_prompt(prompt: str) -> ExecutorPrompt:
    """Read the sections of an executor's prompt."""
    goal, observation, notes, transcript = (
        find_section(prompt, name) or "" for name in ("goal", "observation", "notes", "transcript")
    )
    return ExecutorPrompt(goal, observation, notes, _parse_turns(notes), _parse_turns(transcript))


def give_up_line(why: str) -> str:
    """The line with which the stand-in gives up."""
    return f"think: I cannot do this: {why}. Task failed!"


def _parse_turns(text: str) -> list[tuple[str, str]]:
    return [(line.strip(), answer.strip()) for line, answer in _TURN.findall(text)]
