"""What the scripted stand-in reads off the prompts of executors: where a task stands, turn by turn."""

from __future__ import annotations

import re
from typing import NamedTuple

COMPLETED = "think: All of it is done. Task completed!"

_TURN = re.compile(r"^> (.*)\n((?:(?!> ).*\n?)*)", re.MULTILINE)


class Scene(NamedTuple):
    """A goal, the first observation, the notes as one text, the turns told in them and those of the transcript."""

    goal: str
    observation: str
    notes: str
    before: list[tuple[str, str]]
    transcript: list[tuple[str, str]]


def scene(prompt: str) -> Scene:
    """The scene of a prompt that shows one. Parts that it does not have are empty."""
    notes = part(prompt, "notes")
    return Scene(
        part(prompt, "goal"),
        part(prompt, "observation"),
        notes,
        _turns(notes),
        _turns(part(prompt, "transcript")),
    )


def failed(why: str) -> str:
    """The line that gives up."""
    return f"think: I cannot do this: {why}. Task failed!"


def part(prompt: str, name: str) -> str:
    """What stands between a prompt's tags of this name; empty where there are none."""
    found = re.search(rf"<{name}>\n?(.*?)\n?</{name}>", prompt, re.DOTALL)
    return found[1] if found else ""


def _turns(text: str) -> list[tuple[str, str]]:
    return [(said.strip(), answer.strip()) for said, answer in _TURN.findall(text)]
