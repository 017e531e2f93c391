"""Objects of a plan's own classes in checkpoints: what a resumed plan gets back, and what is named as not saved."""

from __future__ import annotations

from typing import Any

import pytest

from codeplan.sandbox import Sandbox, decode
from codeplan.types import Checkpoint, Failed, Finished, Plan
from codeplan.untrusted.values import value_text

CLASSES = """\
from dataclasses import dataclass, field
from enum import Enum, Flag, auto
from typing import NamedTuple
class Color(Enum):
    RED = 'r'
    BLUE = 'b'
class Right(Flag):
    READ = auto()
    WRITE = auto()
    LARGE = 1 << 60
Odd = Enum('Odd', ['\\udc80', 'b'])
class Point(NamedTuple):
    x: int
    y: int = 0
@dataclass(frozen=True)
class Key:
    number: int
@dataclass
class Item:
    name: str
    tags: list = field(default_factory=list)
    parent: 'Item' = None
@dataclass(slots=True)
class Slotted:
    a: int
class Titled:
    def __init__(self, words):
        self.words = words
    def __hash__(self):
        return hash(tuple(self.words))
    def __eq__(self, other):
        return self.words == other.words
class Store:
    def __init__(self):
        self.items = {}
    def add(self, item):
        self.items[item.name] = item
class Bag(dict):
    pass
"""


class Clerk:
    def __init__(self) -> None:
        self.given: list[object] = []

    def give(self, value: object) -> str:
        """Take a value."""
        self.given.append(value)
        return "taken"


def plan_text(first: str, then: str, classes: str = CLASSES) -> str:
    """A plan whose first step runs ``first`` and fails, and whose second step runs ``then``."""
    steps = [(1, f"{first}\nassert False, 'first'"), (2, then)]
    body = "\n".join(f"if start_from <= {k}:\n" + "\n".join(f"    {line}" for line in t.split("\n")) for k, t in steps)
    inside = "\n".join(f"    {line}" for line in body.split("\n"))
    return f"{classes}def solution(agent, start_from=1):\n{inside}\n"


def check(text: str) -> Plan:
    plan = Sandbox().check(text, Clerk)
    assert isinstance(plan, Plan), plan
    return plan


def saved(text: str) -> Checkpoint:
    """The checkpoint after the first step's failure."""
    outcome = Sandbox().run(check(text), Clerk(), str)
    assert isinstance(outcome, Failed)
    assert outcome.message == "first"
    return outcome.checkpoint


def resumed(first: str, then: str) -> Any:
    """How the second step ended, with the variables of the first."""
    checkpoint = saved(plan_text(first, then))
    return Sandbox().run(check(plan_text(first, then)), Clerk(), str, start_from=2, checkpoint=checkpoint)


KEPT = {
    "a dataclass": ("x = Item('a', [1])", "[x.name, x.tags, x == Item('a', [1])]", ["a", [1], True]),
    "a dataclass with slots": ("x = Slotted(3)", "[x.a, x == Slotted(3)]", [3, True]),
    "a plain object, and a method of it": (
        "x = Store()\nx.add(Item('a'))",
        "(x.add(Item('b')), sorted(x.items))[1]",
        ["a", "b"],
    ),
    "a cycle, and parts shared between variables": (
        "tags = ['t']\nx = Item('a', tags)\nx.parent = x\ny = [x]",
        "[x.parent is x, x.tags is tags, y[0] is x]",
        [True, True, True],
    ),
    "members of an Enum, which stay the same objects": ("x = [Color.RED]", "[x[0] is Color.RED]", [True]),
    "a combination of flags": ("x = Right.READ | Right.WRITE", "[x == Right.READ | Right.WRITE]", [True]),
    "a named tuple": ("x = Point(1, 2)", "[x.x, x.y, x == (1, 2), type(x) is Point]", [1, 2, True, True]),
    "keys whose hash is made of fields": (
        "x = {Key(1): 'one', (Point(1), Color.BLUE): 'two'}\ny = {Key(2)}",
        "[x[Key(1)], x[(Point(1), Color.BLUE)], Key(2) in y]",
        ["one", "two", True],
    ),
    "keys in a frozen set": ("x = frozenset({Key(1)})", "Key(1) in x", True),
    "keys whose hash is made of a list": (
        "x = {Titled(['a']): 1, Titled(['b']): 2}",
        "[x[Titled(['a'])], x[Titled(['b'])]]",
        [1, 2],
    ),
    "a member and the text that shows it as keys": ("x = {Color.RED: 1, 'Color.RED': 2}", "x[Color.RED]", 1),
    "flags beyond what JSON keeps exactly": ("x = Right.LARGE | Right.READ", "x == Right.LARGE | Right.READ", True),
    "a member whose name no text in UTF-8 holds": ("x = Odd['\\udc80']", "x is Odd['\\udc80']", True),
}


@pytest.mark.parametrize(("first", "value", "expected"), KEPT.values(), ids=KEPT)
def test_objects_of_the_plans_own_classes_survive_a_resumption(first, value, expected):
    outcome = resumed(first, f"result = {value}\nreturn result")
    assert isinstance(outcome, Finished), outcome
    assert outcome.value == expected


LOST = {
    "a generator": ("x = (i for i in [1])", "a generator cannot be saved"),
    "a closure": ("def make(n):\n    return lambda: n\nx = make(1)", "a function cannot be saved"),
    "a class": ("x = Item", "a class cannot be saved"),
    "an open context": ("from contextlib import nullcontext\nx = nullcontext(1)", "a nullcontext cannot be saved"),
    "an object over a dict": ("x = Bag(a=1)", "an object of Bag, a class over dict"),
    "an object whose class a function holds": (
        "def make():\n    class Inner:\n        pass\n    return Inner()\nx = make()",
        "an object of Inner, a class that no name of the plan holds",
    ),
    "a key whose hash raises": (
        "class Bad:\n    broken = False\n    def __hash__(self):\n        return 1 // (not Bad.broken)\n"
        "x = {Bad(): i for i in range(40)}\nBad.broken = True",
        "its hash or comparison raised ZeroDivisionError",
    ),
}


@pytest.mark.parametrize(("first", "reason"), LOST.values(), ids=LOST)
def test_what_cannot_be_saved_is_named_with_the_reason(first, reason):
    assert saved(plan_text(first, "assert True")).dropped["x"] == reason


def test_an_object_whose_class_the_resumed_plan_lacks_is_not_there_and_its_name_says_why():
    checkpoint = saved(plan_text("x = Store()\nn = 5", "assert True"))
    without = check(
        plan_text("x = None\nn = 5", "assert n == 5\nprint(x)", CLASSES.replace("class Store", "class Shop"))
    )
    outcome = Sandbox().run(without, Clerk(), str, start_from=2, checkpoint=checkpoint)
    assert isinstance(outcome, Failed)
    assert outcome.message == (
        "x was not saved (an object of Store, a class that is not defined before the steps); compute it again in this step"
    )


CHANGED = {
    "a class over Python's data": ("Store()", "class Store(dict):\n    pass\n"),
    "an abstract class": ("Store()", "class Store(ABC):\n    @abstractmethod\n    def f(self): ...\n"),
    "other slots": ("Store()", "class Store:\n    __slots__ = ('other',)\n"),
    "a dataclass with another field": ("Item('a')", "@dataclass\nclass Item:\n    title: str\n"),
    "a property in place of a field": (
        "Item('a')",
        "class Item:\n    @property\n    def name(self):\n        return 'b'\n",
    ),
    "flags that are not combined": ("Right.READ | Right.WRITE", "class Right(Enum):\n    READ = 1\n    BOTH = 3\n"),
    "an Enum without the member": ("Color.RED", "class Color(Enum):\n    BLUE = 2\n"),
    "a class in place of an Enum": ("Color.RED", "class Color:\n    pass\n"),
    "other fields": ("Point(1)", "class Point(NamedTuple):\n    other: int\n"),
}


@pytest.mark.parametrize(("value", "changed"), CHANGED.values(), ids=CHANGED)
def test_an_object_that_its_changed_class_cannot_hold_is_not_there_and_its_name_says_why(value, changed):
    checkpoint = saved(plan_text(f"x = {value}\nn = 5", "assert True"))
    imports = (
        "from abc import ABC, abstractmethod\nfrom dataclasses import dataclass\nfrom enum import Enum\n"
        "from typing import NamedTuple\n"
    )
    plan = check(plan_text("x = None\nn = 5", "assert n == 5\nprint(x)", imports + changed))
    outcome = Sandbox().run(plan, Clerk(), str, start_from=2, checkpoint=checkpoint)
    assert isinstance(outcome, Failed)
    name = value.partition("(")[0].partition(".")[0]
    assert outcome.message == (
        f"x was not saved (an object of {name}, a class that has changed since); compute it again in this step"
    )


KEYS_LOST = {
    "not hashed any more": "@dataclass\nclass Key:\n    number: int\n",
    "equal to each other": "@dataclass(frozen=True)\nclass Key:\n    number: int\n    def __eq__(self, other):\n"
    "        return True\n    def __hash__(self):\n        return 1\n",
    "hashed by code that ends the plan": "@dataclass\nclass Key:\n    number: int\n    def __hash__(self):\n"
    "        raise SystemExit(3)\n",
}


@pytest.mark.parametrize("changed", KEYS_LOST.values(), ids=KEYS_LOST)
def test_keys_that_their_changed_class_cannot_hold_cost_their_variable_alone(changed):
    checkpoint = saved(plan_text("x = {Key(1): 1, Key(2): 2}\nn = 5", "assert True"))
    plan = check(
        plan_text("x = None\nn = 5", "assert n == 5\nprint(x)", f"from dataclasses import dataclass\n{changed}")
    )
    outcome = Sandbox().run(plan, Clerk(), str, start_from=2, checkpoint=checkpoint)
    assert isinstance(outcome, Failed)
    assert outcome.message == (
        "x was not saved (keys of Key, whose hash or comparison has changed since); compute it again in this step"
    )


def test_a_combination_of_flags_has_the_same_flags_though_their_numbers_have_changed():
    checkpoint = saved(plan_text("x = Right.READ | Right.WRITE", "assert True"))
    changed = CLASSES.replace("READ = auto()", "READ = 8").replace("WRITE = auto()", "WRITE = 4")
    plan = check(plan_text("x = 0", "return x == Right.READ | Right.WRITE", changed))
    outcome = Sandbox().run(plan, Clerk(), str, start_from=2, checkpoint=checkpoint)
    assert isinstance(outcome, Finished), outcome
    assert outcome.value is True


def test_a_combination_of_flags_by_its_number_is_still_read():
    checkpoint = Checkpoint({"x": 0}, [["member:Right", 1], 3])
    plan = check(plan_text("x = 0", "return x == Right.READ | Right.WRITE"))
    outcome = Sandbox().run(plan, Clerk(), str, start_from=2, checkpoint=checkpoint)
    assert isinstance(outcome, Finished), outcome
    assert outcome.value is True


ENDINGS = ["assert False, 'hash'", "raise SystemExit(3)", "raise KeyboardInterrupt()", "'x' * (1 << 40)"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_key_whose_hash_ends_the_plan_costs_its_variable_alone(ending):
    kind = f"class Bad:\n    broken = False\n    def __hash__(self):\n        if Bad.broken:\n            {ending}\n        return id(self)\n"
    checkpoint = saved(plan_text("x = {Bad(): i for i in range(40)}\nn = 5\nBad.broken = True", "assert True", kind))
    assert checkpoint.dropped["x"] == "its hash or comparison ends the plan"
    assert decode(checkpoint) == {"n": 5}


def test_a_reader_of_texts_is_not_saved_since_its_class_holds_what_it_has_read():
    kind = "from html.parser import HTMLParser\nclass Reader(HTMLParser):\n    pass\n"
    checkpoint = saved(plan_text("x = Reader()\nx.feed('<a ')", "assert True", kind))
    assert checkpoint.dropped["x"] == "an object of Reader, a class over HTMLParser"


def test_code_outside_the_steps_sets_its_names_anew_as_without_objects():
    checkpoint = saved(plan_text("x = Item('a')\nlimit = 9", "assert True"))
    plan = check(plan_text("x = Item('a')", "return [limit, x.name]", CLASSES + "limit = 3\n"))
    outcome = Sandbox().run(plan, Clerk(), str, start_from=2, checkpoint=checkpoint)
    assert isinstance(outcome, Finished)
    assert outcome.value == [3, "a"]


def test_a_reader_without_the_classes_sees_objects_by_their_fields():
    variables = decode(
        saved(plan_text("x = [Item('a'), Color.RED, Point(1), list(Odd)[0], Right.READ | Right.WRITE]", "assert True"))
    )
    assert value_text(variables["x"], 200) == (
        "[Item(name='a', tags=[], parent=None), Color.RED, Point(x=1, y=0), Odd['\\udc80'], Right.READ | Right.WRITE]"
    )


def test_an_agent_and_a_caller_get_dates_exact_numbers_and_paths_as_texts():
    clerk = Clerk()
    values = (
        "[datetime.date(2024, 5, 1), datetime.datetime(2024, 5, 1, 12, 30), {'p': Path('a') / 'b'}, Decimal('1.50')]"
    )
    text = f"def solution(agent, start_from=1):\n    agent.give({values})\n    return datetime.date(2024, 5, 1)\n"
    head = "import datetime\nfrom decimal import Decimal\nfrom pathlib import Path\n"
    outcome = Sandbox().run(check(head + text), clerk, str)
    assert clerk.given == [["2024-05-01", "2024-05-01T12:30:00", {"p": "a/b"}, "1.50"]]
    assert isinstance(outcome, Finished), outcome
    assert outcome.value == "2024-05-01"


def test_an_agent_and_a_caller_get_plain_data():
    clerk = Clerk()
    text = f"{CLASSES}def solution(agent, start_from=1):\n    agent.give([Item('a'), Color.RED, Point(1)])\n    return Item('b')\n"
    outcome = Sandbox().run(check(text), clerk, str)
    assert isinstance(outcome, Finished), outcome
    assert clerk.given == [[{"name": "a", "tags": [], "parent": None}, "r", (1, 0)]]
    assert outcome.value == {"name": "b", "tags": [], "parent": None}


NOT_RETURNED = {
    "a dict whose keys would be dicts": ("{Key(1): 'one'}", "a Key cannot be saved"),
    "a dict whose keys would be lists": ("{Listed.A: 1}", "a Listed cannot be saved"),
    "a dict whose keys would be equal": ("{Listed.B: 1, Color.BLUE: 2}", "a Listed cannot be saved"),
    "keys whose hash raises": ("spoiled()", "a Bad cannot be saved"),
    "a dataclass over a dict": ("Record(1)", "a Record cannot be saved"),
    "a dataclass that contains itself": ("own_parent()", "an Item cannot be saved"),
}
MORE_CLASSES = f"""\
{CLASSES}
class Listed(Enum):
    A = [1]
    B = 'b'
class Bad:
    broken = False
    def __hash__(self):
        assert not Bad.broken
        return id(self)
@dataclass
class Record(dict):
    number: int
def spoiled():
    made = {{Bad(): i for i in range(40)}}
    Bad.broken = True
    return made
def own_parent():
    made = Item('a')
    made.parent = [made, made]
    return made
"""


@pytest.mark.parametrize(("value", "reason"), NOT_RETURNED.values(), ids=NOT_RETURNED)
def test_a_returned_value_that_is_not_data_is_named_and_the_run_ends_as_any_other(value, reason):
    text = f"{MORE_CLASSES}def solution(agent, start_from=1):\n    return {value}\n"
    outcome = Sandbox().run(check(text), Clerk(), str)
    assert isinstance(outcome, Finished), outcome
    assert outcome.value is None
    assert outcome.omitted["return"] == reason


HOOKS = {
    "a hash": "class K:\n    def __hash__(self):\n        agent.give('late')\n        return 1\nx = {K(): i for i in range(40)}",
    "an error's text": "class E(Exception):\n    def __str__(self):\n        agent.give('late')\n        return 'e'\nraise E()",
    "a finally of a generator that is still open": (
        "def g():\n    try:\n        yield 1\n    finally:\n        agent.give('late')\nc = [g()]\nc.append(c)\nnext(c[0])\n"
        "big = [[i] for i in range(3000)]"
    ),
}


@pytest.mark.parametrize("body", HOOKS.values(), ids=HOOKS)
def test_no_hook_of_the_plan_makes_a_call_after_the_run(body):
    clerk = Clerk()
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    Sandbox().run(check(f"def solution(agent, start_from=1):\n{lines}\n"), clerk, str)
    made_while_running = 40 if "K()" in body else 0
    assert len(clerk.given) == made_while_running


def test_no_hook_of_the_plan_makes_a_call_while_variables_are_restored():
    clerk = Clerk()
    source = (
        "class K:\n    def __hash__(self):\n        try:\n            agent.give('early')\n        except RuntimeError:\n"
        "            pass\n        return 1\ndef solution(agent, start_from=1):\n    if start_from <= 1:\n        x = {K(): 1}\n"
        "        assert False, 'on purpose'\n    if start_from <= 2:\n        assert len(x) == 1\n"
    )
    first = Sandbox().run(check(source), clerk, str)
    assert isinstance(first, Failed)
    assert clerk.given == ["early"]
    second = Sandbox().run(check(source), clerk, str, start_from=2, checkpoint=first.checkpoint)
    assert isinstance(second, Finished), second
    assert clerk.given == ["early"]
