"""Small worlds of things: rooms to walk through and a bench to craft at."""

from __future__ import annotations

import re

from codeplan.testing.samples.world import SampleWorld


class SampleWalker(SampleWorld):
    """An agent that can do little."""

    location: str

    def __init__(self) -> None:
        super().__init__()
        self.location = "middle"
        self.receptacles = ["shelf 1", "shelf 2", "desk 1"]
        self.holding = ""

    def goto(self, receptacle: str) -> str:
        """Walk to a receptacle."""
        self.location = receptacle
        return f"You arrive at {receptacle}. On the {receptacle}, you see a mug 1, and a soapbar 2."

    def take(self, item: str, receptacle: str) -> str:
        """Take an item."""
        self.holding = item
        return f"You pick up the {item} from the {receptacle}."

    def report(self) -> str:
        """Where the agent is and what it holds."""
        return f"at {self.location}, holding {self.holding or 'nothing'}"


class SampleKitchen(SampleWorld):
    """A robot in a kitchen, in ALFWorld's words. What cannot be done is answered "Nothing happens."."""

    location: str | None
    holding: str | None

    def __init__(self) -> None:
        super().__init__()
        self.location = None
        self.holding = None
        self._inside = {
            "countertop 1": ["knife 1", "apple 2"],
            "countertop 2": [],
            "cabinet 1": ["plate 1"],
            "cabinet 2": [],
            "drawer 1": ["spoon 1", "spoon 2", "fork 1"],
            "fridge 1": ["apple 1", "lettuce 1", "egg 1"],
            "microwave 1": ["mug 1"],
            "sinkbasin 1": ["soapbar 1"],
            "diningtable 1": ["vase 2", "mug 2"],
            "sidetable 1": ["desklamp 1", "book 1"],
            "garbagecan 1": [],
        }
        self._closed = {"cabinet 1", "cabinet 2", "drawer 1", "fridge 1", "microwave 1"}
        self.receptacles = list(self._inside)

    def goto(self, receptacle: str) -> str:
        """Walk to a receptacle, and see what is there."""
        if receptacle not in self._inside:
            return "Nothing happens."
        self.location = receptacle
        return f"The {receptacle} is closed." if receptacle in self._closed else self._view(f"On the {receptacle}")

    def open_receptacle(self, receptacle: str) -> str:
        """Open the receptacle that the robot stands at."""
        if receptacle != self.location or receptacle not in self._closed:
            return "Nothing happens."
        self._closed.discard(receptacle)
        return f"You open the {receptacle}. The {receptacle} is open. " + self._view("In it")

    def close_receptacle(self, receptacle: str) -> str:
        """Close the receptacle that the robot stands at."""
        if receptacle != self.location:
            return "Nothing happens."
        self._closed.add(receptacle)
        return f"You close the {receptacle}."

    def take(self, thing: str, receptacle: str) -> str:
        """Pick a thing up."""
        if self.holding or receptacle != self.location or thing not in self._here():
            return "Nothing happens."
        self._inside[receptacle].remove(thing)
        self.holding = thing
        return f"You pick up the {thing} from the {receptacle}."

    def put(self, thing: str, receptacle: str) -> str:
        """Put down the thing in hand."""
        if self.holding != thing or receptacle != self.location or receptacle in self._closed:
            return "Nothing happens."
        self._inside[receptacle].append(thing)
        self.holding = None
        return f"You put the {thing} in/on the {receptacle}."

    def clean(self, thing: str, receptacle: str) -> str:
        """Wash the thing in hand."""
        return self._treat("clean", thing, receptacle, "sinkbasin")

    def heat(self, thing: str, receptacle: str) -> str:
        """Heat the thing in hand."""
        return self._treat("heat", thing, receptacle, "microwave")

    def cool(self, thing: str, receptacle: str) -> str:
        """Cool the thing in hand."""
        return self._treat("cool", thing, receptacle, "fridge")

    def turn_on(self, lamp: str) -> str:
        """Switch a lamp on."""
        return f"You turn on the {lamp}." if lamp in self._here() else "Nothing happens."

    def report(self) -> str:
        """Where the robot is and what it holds."""
        return f"I am at {self.location or 'no place'} and hold {self.holding or 'nothing'}."

    def _here(self) -> list[str]:
        return [] if self.location is None or self.location in self._closed else self._inside[self.location]

    def _view(self, where: str) -> str:
        seen = [f"a {thing}" for thing in self._here()]
        listed = [", ".join(seen[:-1]), seen[-1]] if seen[1:] else seen or ["nothing"]
        return f"{where}, you see {', and '.join(listed)}."

    def _treat(self, verb: str, thing: str, receptacle: str, appliance: str) -> str:
        able = self.holding == thing and receptacle == self.location and receptacle.startswith(appliance)
        return f"You {verb} the {thing} using the {receptacle}." if able else "Nothing happens."

    def _say(self, question: str) -> str:
        if "in which order" in question.lower():
            return repr(sorted(self._inside, key=lambda r: (len(r), r))[:6])
        found = re.search(r"\b(apple|mug|spoon|plate|egg|lettuce|knife) \d", question)
        return repr(found[0]) if found else "I do not know."


class SampleBench(SampleWorld):
    """A crafter in TextCraft's words: commands such as "get 2 oak log" and "craft 4 oak planks using 1 oak log"."""

    _MADE = {
        "oak planks": (4, {"oak log": 1}),
        "stick": (4, {"oak planks": 2}),
        "crafting table": (1, {"oak planks": 4}),
        "wooden pickaxe": (1, {"oak planks": 3, "stick": 2}),
        "chest": (1, {"oak planks": 8}),
        "torch": (4, {"stick": 1, "coal": 1}),
        "paper": (3, {"sugar cane": 3}),
        "book": (1, {"paper": 3, "leather": 1}),
        "bookshelf": (1, {"book": 3, "oak planks": 6}),
    }
    _FOUND = frozenset({"oak log", "coal", "sugar cane", "leather", "string", "cobblestone", "iron ingot"})

    def __init__(self) -> None:
        super().__init__()
        self._has: dict[str, int] = {}
        self.commands = [
            f"craft {n} {item} using " + ", ".join(f"{k} {i}" for i, k in parts.items())
            for item, (n, parts) in self._MADE.items()
        ]

    def get(self, item: str, count: int = 1) -> str:
        """Fetch a raw material."""
        if item not in self._FOUND:
            return f"Could not find {item}"
        self._has[item] = self._has.get(item, 0) + count
        return f"Got {count} {item}"

    def craft(self, item: str, using: dict[str, int]) -> str:
        """Craft an item from counted ingredients, as a command says."""
        made, parts = self._MADE.get(item, (0, {}))
        if not made or using != parts:
            return f"Could not find a valid recipe for {item}"
        if short := next((i for i, k in parts.items() if self._has.get(i, 0) < k), None):
            return f"Could not find enough items to craft {item}: {short}"
        for i, k in parts.items():
            self._has[i] -= k
        self._has[item] = self._has.get(item, 0) + made
        return f"Crafted {made} {item}"

    def inventory(self) -> dict[str, int]:
        """What there is, by name."""
        return {item: n for item, n in self._has.items() if n}

    def report(self) -> str:
        """The inventory as a sentence."""
        held = ", ".join(f"[{item}] ({n})" for item, n in self.inventory().items())
        return f"Inventory: {held or 'You are not carrying anything.'}"
