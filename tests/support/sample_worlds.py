"""Small worlds in which sample plans act, and the home of the backend contract.

A world is itself the agent, without an environment: the same calls give the same answers in every process."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from codeplan.errors import AgentError
from codeplan.types import Observation

RecordedCall = tuple[str, tuple[Any, ...], dict[str, Any]]


class SampleWorld:
    """Records every question and every call of a public method."""

    def __init__(self) -> None:
        self._calls: list[RecordedCall] = []
        self._asked: list[str] = []

    def __init_subclass__(cls) -> None:
        for name, member in list(vars(cls).items()):
            if inspect.isfunction(member) and not name.startswith("_"):
                setattr(cls, name, _record_calls(name, member))

    def _answer(self, question: str) -> str:
        self._asked.append(question)
        return self._say(question)

    def _say(self, question: str) -> str:
        """Return the stand-in model's answer."""
        return f"answer to {question!r}"


def call_history(world: SampleWorld) -> tuple[list[RecordedCall], list[str]]:
    """Return the calls and the questions so far."""
    return world._calls, world._asked


def answer_function(world: SampleWorld) -> Callable[[str], str]:
    """Return the world's stand-in for a model: rules, so the same question gets the same answer."""
    return world._answer


def _record_calls(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def noting(self: SampleWorld, *args: Any, **kwargs: Any) -> Any:
        self._calls.append((name, args, kwargs))
        return method(self, *args, **kwargs)

    return noting


class SampleHome:
    """Records its calls, holds a secret, and has methods that return and raise what agents should not."""

    holding: str | None

    def __init__(self, act: Callable[[str], object]) -> None:
        self.act = act
        self.holding = None
        self.receptacles = ["shelf 1", "desk 1"]
        self.history: list[str] = []
        self._secret = "CANARY"

    def goto(self, receptacle: str) -> Observation:
        """Go to a receptacle."""
        self.history.append(receptacle)
        return Observation(f"You are at {receptacle}.")

    def echo(self, value: object, *more: object, **named: object) -> object:
        """Return the argument, or all arguments."""
        return [value, list(more), named] if more or named else value

    def odd(self, kind: str) -> object:
        """Return a value or raise an error that agents should not."""
        value = _ODD_VALUES.get(kind) if isinstance(kind, str) else None
        if value is None:
            raise AgentError("there is no such kind")
        return value(self)

    def report(self) -> str:
        """Return where the agent is."""
        return "at home"


def _raise(error: BaseException) -> object:
    raise error


def _loop(home: SampleHome) -> object:
    endless: list[object] = []
    endless.append(endless)
    return endless


def _refuse(error: str) -> Callable[[SampleHome], object]:
    return lambda home: _raise(AgentError("shelf", error))


_NAMED = ("KeyError", "PermissionError", "FileNotFoundError", "AssertionError", "KeyboardInterrupt", "print")
_ODD_VALUES: dict[str, Callable[[SampleHome], object]] = {
    "self": lambda home: home,
    "set": lambda home: {1},
    "endless": _loop,
    "huge": lambda home: "x" * 2_000_000,
    "numbers": lambda home: [2**80, float("inf"), -0.0, (1, (2,)), {"a": None, 1: True}],
    "surrogate": lambda home: "\ud800",
    "AgentError": lambda home: _raise(AgentError("there is no such shelf")),
    **{f"typed {name}": _refuse(name) for name in _NAMED},
    "interrupt": lambda home: _raise(KeyboardInterrupt()),
}


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


class SampleShop(SampleWorld):
    """A web shop in WebShop's words: search, then click on products, options and buttons."""

    _GOODS = {
        "B01AAA": (
            "Blue cotton t-shirt, men, classic fit",
            19.99,
            {"color": ["blue", "navy"], "size": ["s", "m", "l"]},
        ),
        "B02BBB": ("Red wool sweater for women", 49.5, {"color": ["red"], "size": ["m", "xl"]}),
        "B03CCC": ("Blue t-shirt for kids, pack of 2", 12.0, {"size": ["4t", "5t"]}),
        "B04DDD": ("Stainless steel water bottle 32 oz, leak proof", 24.95, {"color": ["black", "blue"]}),
        "B05EEE": ("Water bottle for cycling 20 oz", 8.75, {}),
        "B06FFF": ("Gluten free granola bars, 12 count", 15.25, {"flavor": ["honey", "berry"]}),
    }

    page: str

    def __init__(self) -> None:
        super().__init__()
        self.page = "search"
        self._item = ""
        self._chosen: dict[str, str] = {}

    def search(self, query: str) -> str:
        """Search the shop. Results are lines of an id, a name and a price."""
        words = set(re.findall(r"\w+", query.lower()))
        hits = [(len(words & set(re.findall(r"\w+", g[0].lower()))), key) for key, g in self._GOODS.items()]
        best = [key for n, key in sorted(hits, key=lambda h: (-h[0], h[1])) if n][:4]
        self.page = "results"
        lines = [f"[{key}] {self._GOODS[key][0]} ${self._GOODS[key][1]:.2f}" for key in best]
        return f"Page 1 (Total results: {len(best)})\n" + "\n".join(lines)

    def click(self, target: str) -> str:
        """Click on a product's id, on an option's value, on "description", "back to search" or "buy now"."""
        key = target.upper()
        if key in self._GOODS:
            self._item, self._chosen, self.page = key, {}, "item"
            return self._shown()
        if target == "back to search":
            self.page = "search"
            return "Search page"
        if not self._item or self.page != "item":
            return f"There is nothing called {target!r} to click on."
        if target == "buy now":
            self.page = "done"
            return f"Thank you! You bought {self._item} {self._chosen}"
        kind = next((k for k, values in self._GOODS[self._item][2].items() if target in values), None)
        if kind is None:
            return "It is well made." if target == "description" else f"There is nothing called {target!r} to click on."
        self._chosen[kind] = target
        return f"You have clicked {target}."

    def report(self) -> str:
        """Which page it is, and what is chosen."""
        return f"On page {self.page}; item {self._item or None}, options {self._chosen}."

    def _shown(self) -> str:
        name, price, options = self._GOODS[self._item]
        lines = [f"{kind}: {' | '.join(values)}" for kind, values in options.items()]
        return "\n".join([name, f"Price: ${price:.2f}", *lines, "[description] [buy now]"])


class SamplePage(SampleWorld):
    """A web page in MiniWoB's manner: elements in a list, clicked and filled by reference."""

    def __init__(self) -> None:
        super().__init__()
        self._elements: list[dict[str, Any]] = [
            {"ref": 1, "tag": "label", "text": "First name", "value": ""},
            {"ref": 2, "tag": "input_text", "text": "", "value": "", "name": "first"},
            {"ref": 3, "tag": "label", "text": "E-mail", "value": ""},
            {"ref": 4, "tag": "input_text", "text": "", "value": "", "name": "email"},
            {"ref": 5, "tag": "input_checkbox", "text": "cats", "value": False},
            {"ref": 6, "tag": "input_checkbox", "text": "dogs", "value": False},
            {"ref": 7, "tag": "input_checkbox", "text": "birds", "value": True},
            {"ref": 8, "tag": "span", "text": "12", "value": "", "x": 40, "y": 10},
            {"ref": 9, "tag": "span", "text": "7", "value": "", "x": 5, "y": 30},
            {"ref": 10, "tag": "span", "text": "31", "value": "", "x": 22, "y": 20},
            {"ref": 11, "tag": "button", "text": "Cancel", "value": ""},
            {"ref": 12, "tag": "button", "text": "Submit", "value": ""},
        ]
        self.utterance = 'Select cats and dogs, type "ada@example.org" into the e-mail field and press Submit.'

    def elements(self) -> list[dict[str, Any]]:
        """Everything on the page, in reading order."""
        return [dict(e) for e in self._elements]

    def click(self, ref: int) -> bool:
        """Click on an element; False where there is none."""
        found = next((e for e in self._elements if e["ref"] == ref), None)
        if found is not None and found["tag"] == "input_checkbox":
            found["value"] = not found["value"]
        return found is not None

    def type(self, ref: int, text: str) -> bool:
        """Type into a field; False where that cannot be."""
        found = next((e for e in self._elements if e["ref"] == ref and e["tag"] == "input_text"), None)
        if found is not None:
            found["value"] += text
        return found is not None

    def html(self) -> str:
        """The page's source."""
        rows = [f'<{e["tag"]} ref="{e["ref"]}" value="{e["value"]}">{e["text"]}</{e["tag"]}>' for e in self._elements]
        return "<body>\n" + "\n".join(rows) + "\n</body>"

    def report(self) -> str:
        """What is filled in."""
        return ", ".join(f"{e['ref']}={e['value']}" for e in self._elements if e["value"]) or "nothing is filled in"


class SampleEncyclopedia(SampleWorld):
    """An encyclopedia in HotpotQA's manner: search an entity, look up a word in the page, finish with an answer."""

    _PAGES = {
        "Ada Lovelace": "Ada Lovelace was an English mathematician. She was born on 10 December 1815 in London. "
        "She worked with Charles Babbage on the Analytical Engine. She died in 1852.",
        "Charles Babbage": "Charles Babbage was an English polymath. He was born on 26 December 1791 in London. "
        "He designed the Analytical Engine. He died in 1871.",
        "Analytical Engine": "The Analytical Engine was a proposed mechanical computer. It was designed by Charles "
        "Babbage. It was first described in 1837.",
        "Grace Hopper": "Grace Hopper was an American computer scientist. She was born on 9 December 1906 in New York "
        "City. She worked on COBOL.",
    }

    def __init__(self) -> None:
        super().__init__()
        self._page: list[str] = []
        self._at: dict[str, int] = {}
        self.answer: str | None = None

    def search(self, entity: str) -> str:
        """The first sentences of a page, or similar titles."""
        if entity not in self._PAGES:
            near = [t for t in self._PAGES if set(t.lower().split()) & set(entity.lower().split())]
            return f"Could not find {entity}. Similar: {near}."
        self._page, self._at = re.findall(r"[^.]+\.", self._PAGES[entity]), {}
        return "".join(self._page[:2]).strip()

    def lookup(self, keyword: str) -> str:
        """The next sentence of the page with this word."""
        hits = [s.strip() for s in self._page if keyword.lower() in s.lower()]
        at = self._at[keyword] = self._at.get(keyword, 0) + 1
        return f"(Result {at} / {len(hits)}) {hits[at - 1]}" if at <= len(hits) else "No more results."

    def finish(self, answer: str) -> str:
        """Give the answer."""
        self.answer = answer
        return "Episode finished."

    def report(self) -> str:
        """Where the reader is."""
        return f"{len(self._page)} sentences open; answer {self.answer}"

    def _say(self, question: str) -> str:
        if years := re.findall(r"\b1[789]\d\d\b", question):
            return str(years[0])
        return "yes" if "mathematician" in question else "unknown"
