"""The agent that plans for the household act through. Its docstrings are the API that a model is shown."""

from __future__ import annotations

import re

from codeplan.protocols import Act
from codeplan.types.task import Observation

_ARRIVAL = re.compile(r"You arrive at ([^.]*)\. ")
_ROOM = re.compile(r"Looking quickly around you, you see (.*)\.")
_ITEM = re.compile(r"\ba ([a-z]+ \d+)")
_VIEW = re.compile(r"On the |The [a-z]+ \d+ is (open|closed)\.")


class HouseholdAgent:
    """A robot in a household. Objects and receptacles are called by class and number, such as "apple 2" or "fridge 1".

    location is the receptacle that it stands at (None at the start, in the middle of the room), holding the one object
    that it carries (None for an empty hand), receptacles lists every receptacle in the room. Whatever cannot be done
    is answered by a text that begins with "Nothing happens."
    """

    location: str | None
    holding: str | None
    receptacles: list[str]

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        self.location = None
        self.holding = None
        self.receptacles = _receptacles_in(observation.text if observation else "")
        self._act = act
        self._moves = False
        self._last: tuple[str, str] | None = None

    def goto(self, receptacle: str) -> str:
        """Walk to a receptacle and return what is on it, or that it is closed; one within reach is looked at instead.

        Example: "On the countertop 1, you see a apple 1, and a knife 2." or "The fridge 1 is closed."
        """
        if receptacle == self.location:
            return self._do(f"examine {receptacle}")
        answer = self._do(f"go to {receptacle}")
        arrival = _ARRIVAL.match(answer)
        if arrival is None:
            return self._turned_to(receptacle, answer)
        self.location = receptacle
        self._moves = arrival[1] == receptacle
        return self._answered(answer[arrival.end() :])

    def take(self, object: str, receptacle: str) -> str:
        """Pick an object up from the receptacle that the robot stands at, which must be open; needs an empty hand.

        Example: "You pick up the apple 1 from the countertop 1."
        """
        answer = self._do(f"take {object} from {receptacle}")
        if answer.startswith("You pick up "):
            self.holding = object
        return answer

    def put(self, object: str, receptacle: str) -> str:
        """Put the object in the robot's hand in or on the receptacle that it stands at, which must be open.

        Example: "You put the apple 1 in/on the diningtable 1."
        """
        answer = self._do(f"move {object} to {receptacle}" if self._moves else f"put {object} in/on {receptacle}")
        if not answer.startswith(("You put ", "You move ")):
            return answer
        self.holding = None
        return self._answered(f"You put the {object} in/on the {receptacle}.")

    def open_receptacle(self, receptacle: str) -> str:
        """Open the closed receptacle that the robot stands at and return what is in it.

        Example: "You open the drawer 2. The drawer 2 is open. In it, you see a spoon 1."
        """
        return self._do(f"open {receptacle}")

    def close_receptacle(self, receptacle: str) -> str:
        """Close the open receptacle that the robot stands at.

        Example: "You close the drawer 2."
        """
        return self._do(f"close {receptacle}")

    def clean(self, object: str, receptacle: str) -> str:
        """Clean the object in the robot's hand with the sinkbasin that it stands at.

        Example: "You clean the apple 1 using the sinkbasin 1."
        """
        return self._do(f"clean {object} with {receptacle}")

    def heat(self, object: str, receptacle: str) -> str:
        """Heat the object in the robot's hand with the microwave that it stands at; the object stays in the hand.

        Example: "You heat the apple 1 using the microwave 1."
        """
        return self._do(f"heat {object} with {receptacle}")

    def cool(self, object: str, receptacle: str) -> str:
        """Cool the object in the robot's hand with the fridge that it stands at; the object stays in the hand.

        Example: "You cool the apple 1 using the fridge 1."
        """
        return self._do(f"cool {object} with {receptacle}")

    def turn_on(self, object: str) -> str:
        """Turn on a lamp that is on the receptacle that the robot stands at, whatever it holds.

        Example: "You turn on the desklamp 1."
        """
        return self._do(f"use {object}")

    def report(self) -> str:
        """Return where the robot is, what it holds, its last action and the answer, for the message of an assertion.

        Example: "I am at bed 1, holding cd 2. Last action: 'open bed 1'; it answered: 'Nothing happens.'"
        """
        where = f"at {self.location}" if self.location else "in the middle of the room"
        state = f"I am {where}, holding {self.holding or 'nothing'}."
        if self._last is None:
            return f"{state} I have not acted yet."
        action, answer = self._last
        return f"{state} Last action: '{action}'; it answered: '{answer}'"

    def _turned_to(self, receptacle: str, answer: str) -> str:
        """What is seen of a receptacle that cannot be walked to, since it is within reach from where the robot stands.

        The world answers such a walk as it answers nonsense, so this looks at it, which is an action more. ``answer``
        is returned where the room has no such receptacle.
        """
        walk = self._last
        if receptacle not in self.receptacles:
            return answer
        view = self._do(f"examine {receptacle}")
        if not _VIEW.match(view):
            self._last = walk
            return answer
        self.location = receptacle
        return view

    def _do(self, action: str) -> str:
        self._last = action, self._act(action).text
        return self._last[1]

    def _answered(self, answer: str) -> str:
        """Let an answer in common words stand for the last action's own."""
        if self._last is not None:
            self._last = self._last[0], answer
        return answer


def _receptacles_in(introduction: str) -> list[str]:
    room = _ROOM.search(introduction)
    return _ITEM.findall(room[1]) if room else []
