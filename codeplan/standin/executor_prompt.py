"""What the scripted stand-in reads off the prompts of executors: where a task stands, turn by turn."""

from __future__ import annotations

import re
from typing import NamedTuple

COMPLETED_LINE = "think: All of it is done. Task completed!"

_TURN = re.compile(r"^> (.*)\n((?:(?!> ).*\n?)*)", re.MULTILINE)


class ExecutorPrompt(NamedTuple):
    """A goal, the first observation, the notes as one text, the turns told in them and those of the transcript."""

    goal: str
    observation: str
    notes: str
    earlier_turns: list[tuple[str, str]]
    turns: list[tuple[str, str]]


def parse_prompt(prompt: str) -> ExecutorPrompt:
    """The scene of a prompt that shows one. Parts that it does not have are empty."""
    notes = optional_section(prompt, "notes")
    return ExecutorPrompt(
        optional_section(prompt, "goal"),
        optional_section(prompt, "observation"),
        notes,
        _parse_turns(notes),
        _parse_turns(optional_section(prompt, "transcript")),
    )


def give_up_line(why: str) -> str:
    """The line that gives up."""
    return f"think: I cannot do this: {why}. Task failed!"


def optional_section(prompt: str, name: str) -> str:
    """What stands between a prompt's tags of this name; empty where there are none."""
    found = re.search(rf"<{name}>\n?(.*?)\n?</{name}>", prompt, re.DOTALL)
    return found[1] if found else ""


def _parse_turns(text: str) -> list[tuple[str, str]]:
    return [(said.strip(), answer.strip()) for said, answer in _TURN.findall(text)]
