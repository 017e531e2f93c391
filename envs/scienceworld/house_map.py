"""An agent's map of the house as plain data, and ways through it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from codeplan.envs.scienceworld.room_text import read_list, read_room

_ARRIVAL = re.compile(r"You (?:move|teleport) to the ([^.\n]+)\.")
_THROUGH = re.compile(r"You move through the [^\n]{1,200} to the ([^.\n]+)\.")
_INSIDE = re.compile(r"Inside the ([^:\n]+) is:")
_DOOR_ACTION = re.compile(r"(open|close) door to (.+)")
_OPENED = re.compile(r"The ([^\n]+) is now open\.")
_DOOR_STATES = {
    "The door is now open.": "open",
    "The door is already open.": "open",
    "The door is now closed.": "closed",
}


class HouseMap:
    """The rooms that were seen. ``room`` is the current one, None until one was seen.

    ``rooms`` has, by a room's name, its ``doors`` (by the room behind them: open or closed), its ``things`` (each with
    what is in or on it) and its ``closed`` containers, all as of the last look.
    """

    def __init__(self) -> None:
        self.room: str | None = None
        self.rooms: dict[str, dict[str, Any]] = {}

    def note(self, action: str, answer: str) -> None:
        """Learn from an action and its answer."""
        if view := read_room(answer):
            self.room = view.name
            self.rooms[view.name] = {"doors": view.doors, "things": view.things, "closed": view.closed}
        elif arrival := _ARRIVAL.match(answer) or _THROUGH.match(answer):
            self.room = arrival[1]
        elif inside := _INSIDE.match(answer):
            self._here("things")[inside[1]] = read_list(answer)
        elif (door := _DOOR_ACTION.fullmatch(action)) and (state := _DOOR_STATES.get(answer)):
            self._here("doors")[door[2]] = state
        elif opened := _OPENED.match(answer):
            here = self.rooms.get(self.room or "", {})
            here["closed"] = [name for name in here.get("closed", []) if name != opened[1]]

    def things_here(self) -> list[str]:
        """The names of all that was seen in the current room, without repetitions."""
        things = self.things_of_room().items()
        return list(dict.fromkeys(name for thing, contents in things for name in (thing, *contents)))

    def things_of_room(self) -> dict[str, list[str]]:
        """The things of the current room, each with what is in or on it; empty if the room was not seen."""
        return self._here("things")

    def next_room(self, target: str) -> str | None:
        """The next room on the shortest known way to ``target``, or, if none is known, to the nearest room that was
        not seen yet; None if there is no such room."""
        return self._first_step(lambda room: room == target) or self._first_step(lambda room: room not in self.rooms)

    def is_open(self, room: str) -> bool:
        """Whether the door from here to a room was open when it was last seen."""
        return bool(self._here("doors").get(room) == "open")

    def _first_step(self, fits: Callable[[str], bool]) -> str | None:
        """The first room of the shortest way to a room that fits."""
        ways = [(room, room) for room in self._doors(self.room or "")]
        seen = {self.room, *(room for room, _ in ways)}
        for room, first in ways:
            if fits(room):
                return first
            further = [(behind, first) for behind in self._doors(room) if behind not in seen]
            ways.extend(further)
            seen.update(behind for behind, _ in further)
        return None

    def _doors(self, room: str) -> list[str]:
        return list(self.rooms.get(room, {}).get("doors", {}))

    def _here(self, part: str) -> dict[str, Any]:
        """A part of the map's data on the current room; empty if the room was not seen."""
        found: dict[str, Any] = self.rooms.get(self.room or "", {}).get(part, {})
        return found
