"""The agent of ScienceWorld. Models are shown its docstrings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from codeplan.envs.base import ActionLog
from codeplan.errors import AgentError
from codeplan.protocols import Act
from codeplan.types import Observation, Value
from codeplan.untrusted.comparison import nearest_name
from codeplan.untrusted.values import in_quotes

# ------------------------------------------------------------------ reading the engine's descriptions

_ROOM = re.compile(r"This (?:room|outside location) is called the ([^.\n]{1,80})\. (?:In it,|Here) you see:")
_DOOR = re.compile(r"^\tA door to the ([^(\n]+) \(that is (open|closed)\)", re.MULTILINE)
_CLOSED = re.compile(r"The ([^.\n]{1,80}) door is closed\.")
_ARTICLE = re.compile(r"(?:an?|the) (?:substance called )?", re.IGNORECASE)
_REMARK = re.compile(r"\((?!containing |that )[^()\n]*\) ?")
_CONTENTS = re.compile(r"\(containing |: ")
_NAME_END = re.compile(r"[.,(]| titled ")
_NO_THINGS = ("nothing", "which ", "currently ", "that is ", "On the ", "In the ", "The ")


class RoomView(Value, frozen=True):
    """The content of a room, from a look around.

    ``doors`` maps the room behind each door to whether the door is open or closed. ``things`` maps the name of each
    thing to the names of the things in or on it. ``closed`` lists the containers that are closed.
    """

    name: str
    doors: dict[str, str]
    things: dict[str, list[str]]
    closed: list[str]


def read_room(text: str) -> RoomView | None:
    """The room that a text describes; None if it describes none."""
    found = _ROOM.search(text)
    if found is None:
        return None
    inside, _, beyond = text[found.end() :].partition("You also see:")
    things: dict[str, list[str]] = {}
    for line in _lines(inside):
        name, contents = read_thing(line)
        if name and name not in ("agent", "air"):
            things.setdefault(name, []).extend(contents)
    closed = [name for name in _CLOSED.findall(inside) if name in things]
    return RoomView(found[1], dict(_DOOR.findall(beyond)), things, closed)


def read_list(text: str) -> list[str]:
    """The names in the indented lines of a text, such as an inventory; what is in a thing follows it."""
    return [name for line in _lines(text) for one in [read_thing(line)] for name in (one[0], *one[1]) if name]


def read_thing(line: str) -> tuple[str, list[str]]:
    """The name of the thing that a line describes, and the names of what is in or on it, at any depth."""
    parts = _CONTENTS.split(_REMARK.sub("", line.strip()))
    names = [name for part in parts[1:] for item in part.split(", ") if (name := _thing_name(item))]
    return _thing_name(parts[0]), names


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("\t")]


def _thing_name(item: str) -> str:
    """The name at the start of an item; empty if the item is a remark on the thing before it, or says "nothing"."""
    item = item.strip().lstrip("(")
    if item.startswith(_NO_THINGS):
        return ""
    bare = item[found.end() :] if (found := _ARTICLE.match(item)) else item
    return _NAME_END.split(bare.rstrip(")"), maxsplit=1)[0].strip(" )")


# ------------------------------------------------------------------ the map of the house

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


# ------------------------------------------------------------------ the memory

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


# ------------------------------------------------------------------ names that a plan gives

_WORD = re.compile(r"\w+")
_ARTICLES = {"a", "an", "the"}
_MAX_SHOWN = 30


def resolve_name(wanted: str, known: Sequence[str], where: str) -> str:
    """The one known name that is ``wanted`` or contains all of its words.

    Raises: AgentError: no name does, or several do. The message lists them; ``where`` says where they are.
    """
    if wanted in known:
        return wanted
    words = _words(wanted)
    fitting = [name for name in dict.fromkeys(known) if words and words <= _words(name)]
    same = [name for name in fitting if words == _words(name)]
    if len(fitting) == 1 or len(same) == 1:
        return (same or fitting)[0]
    if fitting:
        raise AgentError(f"{in_quotes(wanted, 80)} can be {_listed(fitting, ' or ')}; give the whole name")
    near = nearest_name(wanted[:80], known)
    seen = _listed(list(dict.fromkeys(known)), ", ")
    meant = f"; did you mean {in_quotes(near, 80)}?" if near else f"; there are: {seen}"
    raise AgentError(f"nothing called {in_quotes(wanted, 80)} was seen {where}{meant}")


def _words(name: str) -> set[str]:
    return set(_WORD.findall(name.lower())) - _ARTICLES


def _listed(names: list[str], between: str) -> str:
    shown = [in_quotes(name, 80) for name in names[:_MAX_SHOWN]]
    return between.join(shown) + (" …" if len(names) > _MAX_SHOWN else "") if shown else "nothing"


# ------------------------------------------------------------------ the agent

ROOMS = (
    *("art studio", "bathroom", "bedroom", "foundry", "greenhouse"),
    *("hallway", "kitchen", "living room", "outside", "workshop"),
)
"""The rooms of every game."""

_MOMENTS = {1: "wait1", 10: "wait"}


class ScienceWorldAgent(Explorer):
    """A scientist in a house with a garden ("outside"). Every method is one action, unless it says otherwise.

    The rooms are art studio, bathroom, bedroom, foundry, greenhouse, hallway, kitchen, living room, outside, workshop.
    Things have the names that observations give them without the article: "metal pot", "substance in metal pot",
    "orange in bowl", "cup containing red paint". Only what is in the same room, and not in a closed container, can be
    used. room is where the agent is; rooms is what was seen, as of the last look there: {"kitchen": {"doors":
    {"hallway": "closed"}, "things": {"table": ["glass cup"], "cupboard": []}, "closed": ["cupboard"]}}. holding lists
    what was taken or seen in the inventory. score is the score out of 100; None if the task does not show it.

    A name may fit several things. The answer then begins with "Ambiguous request", nothing is done, and choices lists
    the meanings: choose(number) does one of them. Any other action first cancels the question, with one more action.
    """

    _aliases = {
        **{"look_around": "look", "look_at": "examine", "look_inside": "look_in", "list_objects": "objects"},
        **{"go": "goto", "go_to": "goto", "walk_to": "goto", "pick_up": "take", "put_down": "drop", "put": "move"},
        **{"use_on": "use", "focus_on": "focus", "turn_on": "activate", "turn_off": "deactivate", "move_to": "move"},
    }

    def look(self) -> str:
        """Look around the room. Returns all that is in it, and its doors.

        Example: agent.look() returns "This room is called the hallway. In it, you see: …"
        """
        return self._act("look around")

    def examine(self, object: str) -> str:
        """Look at a thing: what it is, and what is in or on it.

        Example: agent.examine("table") returns "a table. On the table is: a glass cup (containing nothing)"
        """
        return self._act(f"look at {_name(object)}")

    def look_in(self, container: str) -> str:
        """Look into a container, which must be open.

        Example: agent.look_in("fridge") returns "The fridge isn't open, so you can't see inside."
        """
        return self._act(f"look in {_name(container)}")

    def read(self, object: str) -> str:
        """Read a recipe, a note or a book.

        Example: agent.read("recipe") returns "The recipe reads: …"
        """
        return self._act(f"read {_name(object)}")

    def inventory(self) -> list[str]:
        """The names of all that the agent holds; what is in a thing follows it.

        Example: agent.inventory() returns ["orange"]
        """
        answer = self._act("inventory")
        if answer.startswith("In your inventory"):
            self.holding = read_list(answer)
        return list(self.holding)

    def objects(self) -> list[str]:
        """The engine's own names of all that can be used here. Each fits one thing alone: take them if others do not.

        Example: agent.objects() returns ["agent", "air", …, "workshop"]
        """
        return read_list(self._act("objects"))

    def find(self, name: str) -> str:
        """The whole name of the one thing in this room, or held, that the given words fit. Not an action.

        It looks through what was seen in this room. An error says so if nothing or more than one thing fits.
        Example: agent.find("jar") returns "glass jar"
        """
        return resolve_name(
            _name(name), [*self._map.things_here(), *self.holding], f"in the {self.room or 'house'} or held"
        )

    def goto(self, room: str) -> str:
        """Walk to a room, and look around there. It opens closed doors on the way.

        This takes one action for each room on the way, one for each closed door, and one to look. If no way to the room
        was seen yet, it looks for one: it walks to the nearest rooms that were not seen, and looks around in each.
        Example: agent.goto("kitchen") returns "This room is called the kitchen. In it, you see: …"
        """
        target = _room(room)
        while self.room != target:
            step = self._map.next_room(target)
            if step is None:
                raise AgentError(
                    f"no way to the {target} was found from the {self.room or 'house'}; look around here first"
                )
            answer = self._walk(step)
            if self.room != step:
                return answer
            if step not in self.rooms and step != target:
                self.look()
        return self.look()

    def teleport(self, room: str) -> str:
        """Go to any room at once. Only if the task allows it (the simplification teleportAction).

        Example: agent.teleport("kitchen") returns "No known action matches that input."
        """
        return self._act(f"teleport to {_room(room)}")

    def open(self, object: str) -> str:
        """Open a container, or a door by the room behind it.

        Example: agent.open("door to kitchen") returns "The door is now open."
        """
        return self._act(f"open {_name(object)}")

    def close(self, object: str) -> str:
        """Close a container or a door.

        Example: agent.close("door to kitchen") returns "The door is now closed."
        """
        return self._act(f"close {_name(object)}")

    def take(self, object: str) -> str:
        """Pick up a thing into the inventory. Liquids and gases cannot be picked up, but their containers can.

        Example: agent.take("thermometer") returns "You move the thermometer to the inventory."
        """
        return self._act(f"pick up {_name(object)}")

    def drop(self, object: str) -> str:
        """Put a thing from the inventory down in this room.

        Example: agent.drop("thermometer") returns "You move the thermometer to the kitchen."
        """
        return self._act(f"put down {_name(object)}")

    def move(self, object: str, container: str) -> str:
        """Put a thing into or onto another one in this room. What is held can be moved, too.

        Example: agent.move("glass jar", "stove") returns "You move the glass jar to the stove."
        """
        return self._act(f"move {_name(object)} to {_name(container)}")

    def pour(self, object: str, container: str) -> str:
        """Pour a liquid, or all that is in a container, into another container.

        Example: agent.pour("tin cup", "metal pot") returns "You pour the contents of the tin cup into the metal pot."
        """
        return self._act(f"pour {_name(object)} into {_name(container)}")

    def dunk(self, container: str, source: str) -> str:
        """Dip a container into another one, to take the liquids from there.

        Example: agent.dunk("tin cup", "metal pot") returns "You dunk the tin cup in the metal pot, moving the liquids
        (water) to the tin cup."
        """
        return self._act(f"dunk {_name(container)} into {_name(source)}")

    def mix(self, container: str) -> str:
        """Mix what is in a container. What reacts with one another becomes something new.

        Example: agent.mix("bowl") returns "Mixing the contents of the bowl does not appear to produce anything new."
        """
        return self._act(f"mix {_name(container)}")

    def activate(self, object: str) -> str:
        """Turn a device on. An active sink fills what is in it with water.

        Example: agent.activate("stove") returns "The stove is now activated."
        """
        return self._act(f"activate {_name(object)}")

    def deactivate(self, object: str) -> str:
        """Turn a device off.

        Example: agent.deactivate("stove") returns "The stove is now deactivated."
        """
        return self._act(f"deactivate {_name(object)}")

    def use(self, tool: str, object: str) -> str:
        """Use a tool on a thing: a thermometer measures, a lighter heats, an axe cuts, a shovel digs in the ground.

        The tool must be held.
        Example: agent.use("thermometer", "soap") returns "the thermometer measures a temperature of 10 degrees celsius"
        """
        return self._act(f"use {_name(tool)} on {_name(object)}")

    def connect(self, part: str, other: str) -> str:
        """Connect two parts of a circuit. Wires and plain things have a terminal 1 and 2, the others anode and cathode.

        Example: agent.connect("battery anode", "blue wire terminal 1") returns "anode on battery is now connected to
        terminal 1 on blue wire"
        """
        return self._act(f"connect {_name(part)} to {_name(other)}")

    def disconnect(self, object: str) -> str:
        """Disconnect a thing from all circuits.

        Example: agent.disconnect("battery") returns "battery has been disconnected"
        """
        return self._act(f"disconnect {_name(object)}")

    def eat(self, object: str) -> str:
        """Eat a thing.

        Example: agent.eat("apple") returns "The apple was delicious."
        """
        return self._act(f"eat {_name(object)}")

    def flush(self, object: str) -> str:
        """Flush a toilet.

        Example: agent.flush("toilet") returns "The toilet is now flushing."
        """
        return self._act(f"flush {_name(object)}")

    def focus(self, object: str) -> str:
        """Focus on a thing, which says: this is what the task asks for. A wrong focus ends the task at once, lost.

        Focus only when the task says so, in its order, and only once on each thing.
        Example: agent.focus("thermometer") returns "You focus on the thermometer."
        """
        return self._act(f"focus on {_name(object)}")

    def wait(self, moments: int = 10) -> str:
        """Let time pass, as plants, heat and reactions need it: ten moments, or one. Most other actions take one.

        Example: agent.wait() returns "You decide to wait for 10 iterations."
        """
        if isinstance(moments, bool) or not isinstance(moments, int) or moments not in _MOMENTS:
            raise AgentError(f"wait takes 1 or 10 moments, not {in_quotes(moments, 40)}")
        return self._act(_MOMENTS[moments])

    def choose(self, number: int) -> str:
        """Answer an "Ambiguous request" with the number of one of the choices, from 0 up: it is done.

        Example: agent.choose(0) returns "You move the orange to the inventory."
        """
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(self.choices):
            counted = f"numbers from 0 to {len(self.choices) - 1}" if self.choices else "nothing: there is no question"
            raise AgentError(f"choose takes {counted}, not {in_quotes(number, 40)}")
        self.choices = []
        return self._act(str(number))

    def report(self) -> str:
        """The room, what is held, the last action and its answer, for an assertion's message.

        Example: agent.report() returns "I am in the hallway, holding nothing that I know of. I have not acted yet."
        """
        held = ", ".join(self.holding) or "nothing that I know of"
        score = "" if self.score is None else f" The score is {self.score} of 100."
        return f"I am in the {self.room or 'house'}, holding {held}.{score} {self._log.describe_last(shorten=_shorten)}"


def _shorten(answer: str) -> str:
    """An answer's first line, in quotes."""
    first, _, rest = answer.strip().partition("\n")
    return f"'{first.strip()}{' …' if rest else ''}'"


def _name(given: object) -> str:
    """A name that a plan gives. Raises: AgentError if it is none."""
    if not isinstance(given, str) or not given.strip():
        raise AgentError(f"a name is a text such as 'metal pot', not {in_quotes(given, 80)}")
    return given.strip()


def _room(given: object) -> str:
    """A room's name. Raises: AgentError if there is no such room."""
    name = _name(given).lower().removeprefix("the ")
    return resolve_name(name, ROOMS, "in this house")
