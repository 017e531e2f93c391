"""The memory of an agent of ScienceWorld: its actions and their answers."""

from __future__ import annotations

import re
from typing import Any

from codeplan.envs.base import ActionLog
from codeplan.envs.scienceworld.house_map import HouseMap
from codeplan.protocols import Act
from codeplan.types import Observation

_LIMIT = re.compile(r"^You can take (\d{1,18}) actions\.$", re.MULTILINE)
_SCORE = re.compile(r"\nScore: (-?\d{1,9}) of 100\.\Z")
_CHOICE = re.compile(r"^\d+:\t(.*)$", re.MULTILINE)
_TAKEN = re.compile(r"You move the (.+) to the inventory\.")
_MOVED = re.compile(r"You move the (.+) to the ")
_AMBIGUOUS = "Ambiguous request"


class Explorer:
    """Acts, and remembers what was seen: the map, the held things, an open question, the score.

    Everything comes from the observations, so a resumed episode has the same memory.
    """

    goal: str
    holding: list[str]
    choices: list[str]
    actions_left: int | None
    score: int | None

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        text = observation.text if observation else ""
        limit = _LIMIT.search(text)
        self.goal = observation.goal if observation else ""
        self.holding, self.choices = [], []
        self.actions_left = int(limit[1]) if limit else None
        self.score = None
        self._log, self._map = ActionLog(act), HouseMap()
        self._map.note("look around", self._without_score(text))

    @property
    def room(self) -> str | None:
        """where the agent is"""
        return self._map.room

    @property
    def rooms(self) -> dict[str, dict[str, Any]]:
        """what was seen, by room"""
        return self._map.rooms

    @property
    def things(self) -> dict[str, list[str]]:
        """the things of this room, each with what is in or on it"""
        return self._map.things_of_room()

    def _walk(self, room: str) -> str:
        """Go through the door to a room, and open it if it is closed. Returns the last answer."""
        if not self._map.is_open(room):
            self._act(f"open door to {room}")
        return self._act(f"go to {room}")

    def _act(self, action: str) -> str:
        """Do one action, after the cancellation of an open question."""
        if self.choices:
            self.choices = []
            self._do("cancel")
        return self._do(action)

    def _do(self, action: str) -> str:
        answer = self._without_score(self._log.act(action))
        self._log.last = action, answer
        if self.actions_left:
            self.actions_left -= 1
        self.choices = _CHOICE.findall(answer) if answer.startswith(_AMBIGUOUS) else []
        self._map.note(action, answer)
        if taken := _TAKEN.match(answer):
            self.holding.append(taken[1])
        elif (moved := _MOVED.match(answer)) and moved[1] in self.holding:
            self.holding.remove(moved[1])
        return answer

    def _without_score(self, text: str) -> str:
        """The text without the score at its end, which is kept."""
        if found := _SCORE.search(text):
            self.score = int(found[1])
            return text[: found.start()]
        return text
