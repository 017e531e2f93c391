"""The agent of the household. Models are shown its docstrings."""

from __future__ import annotations

import inspect
import re

from codeplan.agent_interface import reduced_api
from codeplan.envs.base import ActionLog
from codeplan.errors import AgentError
from codeplan.protocols import Act
from codeplan.types import Observation
from codeplan.untrusted.values import in_quotes

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


_ARRIVAL = re.compile(r"You arrive at ([^.]*)\. ")
_ROOM = "Looking quickly around you, you see "
_VIEW = re.compile(r"On the |The [a-z]+ \d+ is (open|closed)\.")


class HouseholdAgent:
    """A robot in a household. The names of objects and receptacles are a class and a number: "apple 2", "fridge 1".

    The goal names classes: any object and any receptacle of the class will do, and two objects go to the same
    receptacle. To "examine" or "look at" an object under a lamp, hold it and turn the lamp on where the lamp stands.
    location is the receptacle that the robot stands at (None at the start, in the middle of the room). holding is the
    one object that it carries (None if its hand is empty). receptacles lists every receptacle in the room; each holds
    any number of objects, but not of every class. The answer to an action that cannot be done begins with "Nothing
    happens."
    """

    location: str | None
    holding: str | None
    receptacles: list[str]

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        self.location = None
        self.holding = None
        self.receptacles = _receptacles_in(observation.text if observation else "")
        self._log, self._memory = ActionLog(act), ReceptacleMemory()
        self._moves = False

    @property
    def seen(self) -> dict[str, list[str]]:
        """the objects in each receptacle that was seen open, as of the last look: {"drawer 2": ["fork 1"], ...}"""
        return self._memory.seen

    @property
    def closed(self) -> list[str]:
        """the receptacles that were seen closed, and not opened since"""
        return self._memory.closed

    def goto(self, receptacle: str) -> str:
        """Walk to a receptacle (or look at it, if within reach) and return what is on it, or that it is closed.

        Example: agent.goto("countertop 2") returns "On the countertop 2, you see a knife 1, a lettuce 2, and a vase 1."
        Example: agent.goto("fridge 1") returns "The fridge 1 is closed."
        """
        if receptacle == self.location:
            return self._act(f"examine {receptacle}")
        answer = self._act(f"go to {receptacle}")
        arrival = _ARRIVAL.match(answer)
        if arrival is None:
            return self._look_at_neighbour(receptacle, answer)
        self.location = receptacle
        self._moves = arrival[1] == receptacle
        return self._correct_answer(answer[arrival.end() :])

    def look_in(self, receptacle: str) -> list[str]:
        """Walk to a receptacle, open it if it is closed, and return the names of the objects in or on it.

        It stays open. This takes one action, and one more if it is closed. It raises an error if the room has no such
        receptacle.
        Example: agent.look_in("drawer 2") returns ["fork 1", "spoon 1"]
        """
        if receptacle not in self.receptacles:
            raise AgentError(f"there is no {in_quotes(receptacle, 80)} in this room; agent.receptacles lists all")
        answer = self.goto(receptacle)
        if self.location == receptacle and receptacle in self.closed:
            answer = self.open_receptacle(receptacle)
        if self.location != receptacle or receptacle in self.closed or receptacle not in self.seen:
            raise AgentError(f"the robot cannot look in {receptacle}: {in_quotes(answer, 200)}")
        return list(self.seen[receptacle])

    def take(self, object: str, receptacle: str) -> str:
        """Pick up an object from the receptacle that the robot stands at. It must be open, and the hand empty.

        Example: agent.take("apple 2", "diningtable 1") returns "You pick up the apple 2 from the diningtable 1."
        """
        answer = self._act(f"take {object} from {receptacle}")
        if answer.startswith("You pick up "):
            self.holding = object
        return answer

    def put(self, object: str, receptacle: str) -> str:
        """Put the object in the robot's hand in or on the receptacle that the robot stands at. It must be open.

        Example: agent.put("apple 2", "sidetable 1") returns "You put the apple 2 in/on the sidetable 1."
        """
        answer = self._act(f"move {object} to {receptacle}" if self._moves else f"put {object} in/on {receptacle}")
        if not answer.startswith(("You put ", "You move ")):
            return answer
        self.holding = None
        return self._correct_answer(f"You put the {object} in/on the {receptacle}.")

    def open_receptacle(self, receptacle: str) -> str:
        """Open the closed receptacle that the robot stands at, and return what is in it.

        Example: agent.open_receptacle("drawer 2") returns "You open the drawer 2. The drawer 2 is open. In it, you see
        a fork 1, and a spoon 1."
        """
        return self._act(f"open {receptacle}")

    def close_receptacle(self, receptacle: str) -> str:
        """Close the open receptacle that the robot stands at.

        Example: agent.close_receptacle("drawer 2") returns "You close the drawer 2."
        """
        return self._act(f"close {receptacle}")

    def clean(self, object: str, receptacle: str) -> str:
        """Clean the object in the robot's hand with the sinkbasin that it stands at.

        Example: agent.clean("apple 2", "sinkbasin 1") returns "You clean the apple 2 using the sinkbasin 1."
        """
        return self._act(f"clean {object} with {receptacle}")

    def heat(self, object: str, receptacle: str) -> str:
        """Heat the object in the robot's hand with the microwave that it stands at; the object stays in the hand.

        The microwave may be closed. A heated object is no longer cool.
        Example: agent.heat("apple 2", "microwave 1") returns "You heat the apple 2 using the microwave 1."
        """
        return self._act(f"heat {object} with {receptacle}")

    def cool(self, object: str, receptacle: str) -> str:
        """Cool the object in the robot's hand with the fridge that it stands at; the object stays in the hand.

        The fridge may be closed. A cooled object is no longer hot.
        Example: agent.cool("apple 2", "fridge 1") returns "You cool the apple 2 using the fridge 1."
        """
        return self._act(f"cool {object} with {receptacle}")

    def turn_on(self, object: str) -> str:
        """Turn on a lamp that is on the receptacle that the robot stands at. The robot may hold an object.

        It is enough for a goal to examine the object in the hand.
        Example: agent.turn_on("desklamp 1") returns "You turn on the desklamp 1."
        """
        return self._act(f"use {object}")

    def report(self) -> str:
        """Return where the robot is, what it holds, its last action and the answer, for an assertion's message.

        Example: agent.report() returns "I am at sidetable 1, holding apple 2. Last action: 'open sidetable 1'; it
        answered: 'Nothing happens.'"
        """
        return f"{self._describe_state()} {self._log.describe_last()}"

    def _describe_state(self) -> str:
        where = f"at {self.location}" if self.location else "in the middle of the room"
        return f"I am {where}, holding {self.holding or 'nothing'}."

    def _act(self, action: str) -> str:
        answer = self._log.act(action)
        self._memory.note(answer)
        return answer

    def _look_at_neighbour(self, receptacle: str, answer: str) -> str:
        """Look at a receptacle that is within reach already, which takes one more action.

        The environment answers a walk there as it answers nonsense. Return ``answer`` if the room has no such
        receptacle.
        """
        walk = self._log.last
        if receptacle not in self.receptacles:
            return answer
        view = self._act(f"examine {receptacle}")
        if not _VIEW.match(view):
            self._log.last = walk
            return answer
        self.location = receptacle
        return view

    def _correct_answer(self, answer: str) -> str:
        """Replace the last answer in the log by one that has the same words in every dialect."""
        if self._log.last is not None:
            self._log.last = self._log.last[0], answer
        return answer


class _ReportingAgent(HouseholdAgent):
    def report(self) -> str:
        """Return where the robot is, what it holds, and its last three actions with their answers.

        Example: agent.report() returns "I am at sidetable 1, holding apple 2. My last actions:
        > take apple 2 from diningtable 1
        You pick up the apple 2 from the diningtable 1.
        > go to sidetable 1
        On the sidetable 1, you see a egg 2.
        > open sidetable 1
        Nothing happens."
        """
        return f"{self._describe_state()} My last actions:\n{self._log.describe_recent()}"


class PaperHouseholdAgent(_ReportingAgent):
    """The agent with the methods that AdaPlanner's prompt shows (Sun et al. 2023, Appendix D.1), and no others.

    ``report`` tells the last three actions, as in the paper.
    """

    _api = reduced_api(
        _ReportingAgent,
        (
            *("goto", "take", "put", "open_receptacle", "clean", "heat", "cool", "turn_on", "report"),
            *("location", "holding", "receptacles"),
        ),
        inspect.getdoc(HouseholdAgent) or "",
    )


def _receptacles_in(introduction: str) -> list[str]:
    room = introduction.partition(_ROOM)[2].partition("\n")[0]
    return read_items(room.rpartition(".")[0])
