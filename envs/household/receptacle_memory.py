"""An agent's memory of the receptacles of a room, as plain data."""

from __future__ import annotations

import re

_ITEM = re.compile(r"\ba ([a-z]+ \d+)")
_BEFORE_VIEW = re.compile(r"You (?:arrive at [^.\n]*|open the [a-z]+ \d+)\. ")
_CONTENTS = re.compile(r"(?:On the|The) ([a-z]+ \d+)(?: is open\. In it)?, you see ([^.\n]*)\.")
_CLOSED = re.compile(r"The ([a-z]+ \d+) is closed\.|You close the ([a-z]+ \d+)\.")
_TAKEN = re.compile(r"You pick up the ([a-z]+ \d+) from the ([a-z]+ \d+)\.")
_PUT = re.compile(r"You (?:put|move) the ([a-z]+ \d+) (?:in/on|to) the ([a-z]+ \d+)\.")


class ReceptacleMemory:
    """The receptacles that were seen.

    ``seen`` maps a receptacle's name to the objects in or on it when it was last seen, updated by the objects that the
    agent has taken or put since; ``closed`` has the receptacles that are closed. Everything comes from the
    environment's answers, so a resumed episode has the same memory.
    """

    def __init__(self) -> None:
        self.seen: dict[str, list[str]] = {}
        self.closed: list[str] = []

    def note(self, answer: str) -> None:
        """Learn from an answer of the environment."""
        before = _BEFORE_VIEW.match(answer)
        view = answer[before.end() :] if before else answer
        if contents := _CONTENTS.match(view):
            self.seen[contents[1]] = read_items(contents[2])
            self.closed = [name for name in self.closed if name != contents[1]]
        elif found := _CLOSED.match(view):
            name = found[1] or found[2]
            self.closed = [*(other for other in self.closed if other != name), name]
        elif taken := _TAKEN.match(answer):
            self.seen[taken[2]] = [name for name in self.seen.get(taken[2], []) if name != taken[1]]
        elif (put := _PUT.match(answer)) and put[2] in self.seen:
            self.seen[put[2]].append(put[1])


def read_items(listed: str) -> list[str]:
    """The names in a list of things, such as ``a pen 1, and a mug 2``; none in ``nothing``."""
    return _ITEM.findall(listed)
