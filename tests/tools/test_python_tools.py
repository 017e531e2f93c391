"""Python functions and objects as tools: what models read of them, and which calls they take."""

import dataclasses
import datetime
import enum
import fractions
import functools
import math
import re
import subprocess
import sys
import types
import typing
import zoneinfo
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest
import typing_extensions
from pydantic import AfterValidator, BaseModel, Field, FilePath, ImportString, PlainValidator

from codeplan.agent_interface import describe_api
from codeplan.errors import AgentError, UsageError
from codeplan.tools import Toolset, python_tools


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Filter(TypedDict):
    colour: Colour
    low: NotRequired[int]


@dataclasses.dataclass
class Node:
    """A node of a tree.

    More about it.
    """

    name: str
    children: "list[Node]" = dataclasses.field(default_factory=list)


class Branch(TypedDict):
    size: int
    parts: "NotRequired[list[Branch]]"


@dataclasses.dataclass
class Shelf:
    filter: Filter
    inner: "list[Shelf]" = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Order:
    filters: list[Filter]
    level: Level = Level.LOW


class Point(NamedTuple):
    x: int
    y: int


class Person(BaseModel):
    name: str
    age: int = Field(default=0, ge=0)


class Empty:
    pass


class Store:
    def __init__(self):
        self.rows = {}

    def put(self, key: str, value: int) -> None:
        """Keep a value."""
        self.rows[key] = value

    def get(self, key: str) -> int:
        """The value."""
        return self.rows[key]

    @property
    def size(self):
        raise AssertionError("a property is not read")

    @staticmethod
    def double(n: int) -> int:
        return 2 * n

    @classmethod
    def kind(cls) -> str:
        return cls.__name__

    def _hidden(self): ...


def tool(function):
    return python_tools(function)[0]


def shown(*things):
    return describe_api(Toolset(python_tools(*things)).api)


@pytest.fixture
def run_python():
    """Runs code in a new interpreter, whose caches of types are empty; returns what it prints."""

    def run(code):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    return run


def signature(function):
    return tool(function).method.signature


def call(function, **arguments):
    return tool(function).call(arguments)


# ------------------------------------------------------------------ what models read


def plain(a, b=3, *, c="x") -> str: ...
def marked(a: int, b: int = 0, /, c: float = 1.5, *rest: str, d: bool = False, **more: list[int]) -> None: ...
def chosen(mode: Literal["a", "b"], level: Level = Level.HIGH) -> Colour | None: ...
def dated(day: datetime.date, path: Path = Path("x")) -> Iterator[datetime.datetime]: ...
async def later(x: "dict[str, Any]") -> list[Point]: ...
def bare(x: list, y: typing.List, z: Hashable = 1, **more): ...  # noqa: UP006
def unknown(x: "Missing", y: "int" = 3): ...  # noqa: F821


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (plain, "(a, b=3, *, c='x') -> str"),
        (marked, "(a: int, b: int = 0, /, c: float = 1.5, *rest: str, d: bool = False, **more: list[int]) -> None"),
        (chosen, "(mode: Literal['a', 'b'], level: Level = 2) -> Colour | None"),
        (dated, "(day: date, path: Path = ...) -> list[datetime]"),
        (later, "(x: dict[str, object]) -> list[Point]"),
        (bare, "(x: list, y: list, z: Hashable = 1, **more)"),
        (unknown, "(x: Missing, y: int = 3)"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_signature_reads_like_a_stub(function, text):
    assert signature(function) == text


UserId = typing.NewType("UserId", int)
Numbers = typing_extensions.TypeAliasType("Numbers", list[int])


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"


def renamed(user: UserId, numbers: Numbers) -> typing.Generator[int, str, None]: ...
def several(mixed: Mixed, colour: Colour) -> typing.AsyncGenerator[str, None]: ...


def test_new_names_of_types_generators_and_enums_are_read_through():
    assert signature(renamed) == "(user: int, numbers: list[int]) -> list[int]"
    assert signature(several) == "(mixed: Mixed, colour: Colour) -> list[str]"
    mixed, colour = tool(several).types
    assert mixed.text == "Mixed = Literal[1, 'two']  # ONE, TWO"
    assert "#" not in colour.text


def test_classes_are_explained_once_and_before_the_agent():
    def order(what: Order) -> Node: ...
    def again(what: Order, at: datetime.date) -> Person: ...

    assert shown(order, again).partition("class Agent:")[0] == (
        "class Order(TypedDict):  # a dict\n"
        "    filters: list[Filter]\n"
        "    level: Level  # may be left out in an argument\n\n"
        "class Filter(TypedDict):  # a dict\n"
        "    colour: Colour\n"
        "    low: int  # may be missing\n\n"
        "Colour = Literal['red', 'blue']\n\n"
        "Level = Literal[1, 2]  # LOW, HIGH\n\n"
        "class Node(TypedDict):  # a dict\n"
        "    # A node of a tree.\n"
        "    name: str\n"
        "    children: list[Node]  # may be left out in an argument\n\n"
        "date = str  # ISO 8601, as in '2024-05-01'\n\n"
        "class Person(TypedDict):  # a dict\n"
        "    name: str\n"
        "    age: int  # may be left out in an argument\n\n"
    )


def test_two_classes_of_one_name_are_told_apart():
    def join(a: Node, b: object) -> None: ...

    join.__annotations__["b"] = dataclasses.make_dataclass("Node", [("size", int)])
    text = shown(join)
    assert "join(self, a: Node, b: Node2)" in text
    assert "class Node2(TypedDict):  # a dict\n    size: int" in text


def test_what_annotations_say_in_words_stands_in_the_docstring():
    def find(query: Annotated[str, Field(description="Words to look for.")], n: Annotated[int, "At most."] = 3):
        """Find things."""

    assert tool(find).method.doc == "Find things.\nquery: Words to look for.\nn: At most."


class Size(BaseModel):
    bytes_: int = Field(description="KILOBYTES, " * 40)
    made: Annotated[str, "DD/MM/YYYY"] = ""


@dataclasses.dataclass
class Made:
    by: str = "nobody"
    on: Annotated[str, "DD/MM/YYYY\nas in Europe"] = ""


class Weight(TypedDict):
    grams: Annotated[NotRequired[float], Field(description="GRAMS")]


def test_what_fields_say_in_words_stands_behind_them():
    def measure() -> tuple[Size, Made, Weight]: ...

    size, made, weight = (t.text.splitlines()[1:] for t in tool(measure).types)
    assert size[0].startswith("    bytes_: int  # KILOBYTES, KILOBYTES")
    assert len(size[0]) < 250
    assert size[1] == "    made: str  # DD/MM/YYYY; may be left out in an argument"
    assert made == [
        "    by: str  # may be left out in an argument",
        "    on: str  # DD/MM/YYYY as in Europe; may be left out in an argument",
    ]
    assert weight == ["    grams: float  # GRAMS; may be missing"]


def test_the_public_methods_of_an_object_are_tools_and_its_properties_are_not():
    store = Store()
    assert [t.name for t in python_tools(store)] == ["put", "get", "double", "kind"]
    put, get, double, kind = python_tools(store)
    put.call({"key": "a", "value": "7"})
    assert (get.call({"key": "a"}), double.call({"n": 4}), kind.call({})) == (7, 8, "Store")


class Odd(Store):
    """Its methods are of all kinds; reading a value that is no method fails."""

    small = functools.partialmethod(Store.put, "small")

    @functools.cached_property
    def connection(self):
        raise RuntimeError("nobody may read this")

    @property
    def get(self):
        raise RuntimeError("nor this")

    @functools.lru_cache  # noqa: B019
    def cached(self, n: int) -> int:
        return n

    @functools.singledispatchmethod
    def show(self, value: object):
        return "something"

    @show.register
    def _(self, value: int):
        return "a number"

    class Inner: ...


def test_all_kinds_of_methods_are_tools_and_nothing_else_is_read():
    tools = {t.name: t for t in python_tools(Odd())}
    assert list(tools) == ["put", "double", "kind", "small", "cached", "show"]
    assert tools["small"].method.signature == "(value: int) -> None"
    assert tools["show"].method.signature == "(value: object)"
    assert (tools["cached"].call({"n": 2}), tools["show"].call({"value": 2})) == (2, "a number")


class Doubles:
    def __call__(self, n: int) -> int:
        """Twice the number."""
        return 2 * n


class Logged:
    """A decorator that is a class."""

    def __init__(self, function):
        functools.update_wrapper(self, function)

    def __call__(self, *args, **kwargs):
        return self.__wrapped__(*args, **kwargs)

    def history(self): ...


def test_an_object_that_stands_for_a_function_is_one_tool():
    doubles, decorated = tool(Doubles()), tool(Logged(plain))
    assert (doubles.name, doubles.method.signature, doubles.method.doc) == (
        "Doubles",
        "(n: int) -> int",
        "Twice the number.",
    )
    assert doubles.call({"n": 4}) == 8
    assert (decorated.name, decorated.method.signature) == ("plain", signature(plain))
    module = types.ModuleType(plain.__module__)
    module.plain, module.Logged = Logged(plain), Logged
    assert [t.name for t in python_tools(module)] == ["plain"]


def test_a_modules_own_public_functions_are_tools():
    module = types.ModuleType("mine")
    exec("from math import sqrt\ndef one(): ...\ndef two(): ...\ndef _three(): ...\nfour = 4", vars(module))
    assert [t.name for t in python_tools(module)] == ["one", "two"]
    module.__all__ = ["two", "sqrt", "four"]
    assert [t.name for t in python_tools(module)] == ["two", "sqrt"]


def test_decorators_partial_functions_and_builtins_are_read_through():
    @functools.wraps(plain)
    def wrapped(*args, **kwargs):
        return plain(*args, **kwargs)

    assert signature(wrapped) == signature(plain)
    assert tool(functools.partial(marked, 1)).name == "marked"
    assert call(math.sqrt, x=9) == 3.0


def transfer(amount: float, account: str = "", /, to: str = "", *, note: str = "", **more: str) -> tuple[object, ...]:
    return amount, account, to, note, more


def test_the_arguments_of_partial_functions_are_neither_shown_nor_settable():
    bound = functools.partial(functools.partial(transfer, 5.0, to="mine"), key="secret")
    assert signature(bound) == "(account: str = '', /, *, note: str = '', **more: str) -> tuple[object, ...]"
    assert call(bound, account="a", note="n", more={"x": "y"}) == (5.0, "a", "mine", "n", {"key": "secret", "x": "y"})
    for name in ("to", "key"):
        with pytest.raises(AgentError, match=f"takes no further argument {name}"):
            call(bound, more={name: "theirs"})

    @functools.wraps(bound)
    def logged(*args, **kwargs):
        return bound(*args, **kwargs)

    assert signature(logged) == signature(bound)


def test_a_parameter_that_no_data_can_stand_for_keeps_its_default():
    def find(
        query: str,
        session: Store = Store(),  # noqa: B008
        *,
        key: Callable[[str], str] | None = None,
        when: object = None,
    ) -> str:
        return f"{query} {type(session).__name__}"

    assert signature(find) == "(query: str, *, when: object = None) -> str"
    assert call(find, query="x") == "x Store"


def test_a_parameter_whose_default_is_none_takes_none():
    def find(a: int = None, b: Annotated[int, Field(gt=0, description="above zero")] = None, *, c: object = None):  # noqa: RUF013
        return a, b, c

    assert signature(find) == "(a: int | None = None, b: int | None = None, *, c: object = None)"
    assert "above zero" in tool(find).method.doc
    assert call(find, a=None, b=None, c=None) == call(find) == (None, None, None)
    assert call(find, a=1, b=2) == (1, 2, None)
    for wrong in ({"a": "x"}, {"b": 0}):
        with pytest.raises(AgentError):
            call(find, **wrong)


def test_arguments_after_a_parameter_that_keeps_its_default_reach_their_own_parameters():
    def by_name(a: int, key: Callable[[str], str] | None = None, b: int = 0):
        return a, key, b

    def by_position(a: int = 7, key: Callable[[str], str] | None = None, b: int = 0, /):
        return a, key, b

    def counted(first: int = 1, second: int = 2, third: int = 3):
        return first, second, third

    def with_rest(key: Callable[[str], str] | None = None, *rest: int):
        return key, rest

    assert call(by_name, a=1, b=2) == (1, None, 2)
    assert call(counted, second=5) == (1, 5, 3)
    assert call(by_position, a=1, b=2) == (1, None, 2)
    assert call(by_position) == (7, None, 0)
    assert call(with_rest, rest=[1, 2]) == (None, (1, 2))


def test_further_arguments_by_name_fill_no_parameter():
    def find(query: str, key: Callable[[str], str] | None = None, *, limit: int = 5, **more: object):
        return query, key, limit, more

    assert call(find, query="x", more={"most": 3}) == ("x", None, 5, {"most": 3})
    for name in ("query", "key", "limit"):
        with pytest.raises(AgentError, match=f"find was called wrongly: it takes no further argument {name}$") as error:
            call(find, query="x", more={name: "3"})
        assert error.value.error == "TypeError"


# ------------------------------------------------------------------ refusals


class Failing:
    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler):
        raise RuntimeError("not today")


def takes_store(store: Store): ...
def _private(): ...
def takes_agent(_agent_): ...
def takes_self(self, x): ...
def takes_function(each: Callable[[int], int]): ...
def takes_class(cls: type[Store]): ...
def takes_undefined(x: list["Missing"]): ...  # noqa: F821
def takes_iterator(numbers: Iterator[int]): ...
def takes_no_type(x: {"type": 3}): ...
def takes_failing(x: Failing): ...


class Importing(BaseModel):
    inner: "list[Importing]" = []
    kind: ImportString[Any] | None = None


def takes_import(x: ImportString): ...
def takes_imports(x: dict[str, list[tuple[int, ImportString[Callable[..., Any]]]]]): ...
def takes_importing(x: Importing): ...
def not_normal(): ...


not_normal.__name__ = "ﬁle"


class Broken:
    def __getattribute__(self, name):
        if name == "get":
            raise RuntimeError("not now")
        return super().__getattribute__(name)

    def get(self): ...


@pytest.mark.parametrize(
    ("thing", "why"),
    [
        (takes_store, r"plain data cannot stand for the type of its parameter store, .*\.Store; give it a default"),
        (_private, "private"),
        (takes_agent, "has a parameter _agent_, which stands for the agent"),
        (takes_self, "has a parameter self, which stands for the agent"),
        (Store.get, "Store.get is a method without its object"),
        (takes_function, r"the type of its parameter each, .*Callable\[\[int\], int\]"),
        (takes_class, "cannot stand for the type of its parameter cls"),
        (takes_undefined, r"the type of its parameter x, list\[.*Missing.*\] \(a type in it is not defined\); give"),
        (takes_iterator, r"the type of its parameter numbers, .*Iterator\[int\]; give it a default"),
        (takes_no_type, r"the type of its parameter x, \{'type': 3\} \("),
        (takes_failing, r"the type of its parameter x, .*Failing \(not today\); give it a default"),
        (takes_import, r"parameter x, .*ImportString.* \(a text would import a module\); give it a default or wrap"),
        (takes_imports, r"parameter x, .* \(a text would import a module\); give it a default"),
        (takes_importing, r"parameter x, .*Importing \(a text would import a module\); give it a default"),
        (not_normal, "no Python name"),
        (Broken(), "get of the object of the type Broken cannot be read: RuntimeError: not now"),
        (lambda: 1, "no Python name"),
        (max, "the signature of max cannot be read"),
        (Store, "Store is a class; give an object of it, such as Store()"),
        (None, "a value of the type NoneType offers no tools"),
        ({"a": 1}, "a value of the type dict offers no tools"),
        (Empty(), "an object of the type Empty has no public methods"),
        (types.ModuleType("bare"), "the module bare has no public functions"),
        (object(), "a value of the type object offers no tools"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_in_a_sentence(thing, why):
    with pytest.raises(UsageError, match=why) as caught:
        python_tools(thing)
    assert "\n" not in str(caught.value)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(UsageError, match="two tools have the name 'plain'"):
        Toolset(python_tools(plain, plain))
    with pytest.raises(UsageError, match="there are no tools"):
        Toolset(())


UNIONS = """
from dataclasses import dataclass
from typing import Annotated, Dict, List, Literal, Optional, Union
import typing_extensions

@dataclass
class A: x: int
@dataclass
class B: y: List[Union[{0}, {1}]]

def f(a: Dict[str, Union[{0}, {1}]], b: Optional[Union[{0}, {1}]], c: List[Literal[{2}, {3}]],
      d: Annotated[Union[{0}, {1}], "a note"], e: List[Union[A, B]] if {4} else List[Union[B, A]],
      g: List[{0} | {1}], h: Optional[Literal[{2}, {3}]] = None, i: Union[None, {0}, {1}] = None) -> List[B]: ...
"""


@pytest.mark.parametrize("first", [0, 1])
def test_a_signature_is_the_same_in_whatever_order_modules_were_imported(first, run_python):
    """Python takes equal types of ``typing`` from a cache, with their members in the order of the first of them."""
    code = (
        "import sys; from codeplan.tools import python_tools; import msgspec\n"
        f"texts = {[UNIONS.format('str', 'bool', 1, 2, True), UNIONS.format('bool', 'str', 2, 1, False)]}\n"
        f"order = [{first}, {1 - first}]\n"
        "made = {}\n"
        "for n in order:\n"
        "    exec(texts[n], made.setdefault(n, {'__name__': '__main__'}))\n"
        "tool, = python_tools(made[0]['f'])\n"
        "print(tool.method.signature, [p.type for p in tool.method.parameters], [t.text for t in tool.types])"
    )
    assert run_python(code) == (
        "(a: dict[str, bool | str], b: bool | str | None, c: list[Literal[1, 2]], d: bool | str, e: list[A | B], "
        "g: list[bool | str], h: Literal[1, 2] | None = None, i: bool | str | None = None) -> list[B] "
        "['', 'bool | str | None', 'list[Literal[1, 2]]', 'bool | str', '', 'list[bool | str]', "
        "'Literal[1, 2] | None', 'bool | str | None'] "
        "['class A(TypedDict):  # a dict\\n    x: int', 'class B(TypedDict):  # a dict\\n    y: list[bool | str]']"
    )


def test_what_is_written_without_typing_keeps_its_order():
    def f(a: str | int | None, b: list[str | int], c: Literal["low", "high"]): ...

    assert signature(f) == "(a: str | int | None, b: list[str | int], c: Literal['low', 'high'])"


# ------------------------------------------------------------------ arguments


def test_arguments_become_what_the_annotations_say():
    def take(order: Order, person: Person, point: Point, day: datetime.date, colour: Colour, *rest: int, **more: float):
        return order, person, point, day, colour, rest, more

    order, person, point, day, colour, rest, more = call(
        take,
        order={"filters": [{"colour": "red", "low": 2}], "level": 2},
        person={"name": "Ann"},
        point=[1, 2],
        day="2024-05-01",
        colour="blue",
        rest=["1", 2],
        more={"a": 1},
    )
    assert order == Order([{"colour": Colour.RED, "low": 2}], Level.HIGH)
    assert (person, point, day) == (Person(name="Ann"), Point(1, 2), datetime.date(2024, 5, 1))
    assert (colour, rest, more) == (Colour.BLUE, (1, 2), {"a": 1.0})


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        (
            {"order": {"filters": [{"colour": "green"}]}},
            "ValueError",
            r"order\.filters\[0\]\.colour: .*'red' or 'blue'",
        ),
        ({"order": {"filters": [{"low": 2}]}}, "ValueError", r"order\.filters\[0\]\.colour: Field required$"),
        ({"order": {"filters": [{"colour": "red", "low": "x"}]}}, "ValueError", r"\.low: .*integer.*given: 'x'"),
        ({"order": {"filters": [], "lvl": 2}}, "ValueError", r"order\.lvl: .*\(given: 2\)"),
        ({"order": {"filters": [{"colour": "red", "hue": 3}]}}, "ValueError", r"\.hue: .*\(given: 3\)"),
        ({"order": {"filters": 3}}, "TypeError", r"order\.filters: .*list \(given: 3\)"),
        ({"order": {"filters": []}, "count": -1}, "ValueError", "count: .*greater than or equal to 0"),
        ({"order": {"filters": []}, "count": "x" * 10_000}, "ValueError", "count: .*given: 'xxx.*…"),
        ({"order": {"filters": []}, "count": ["\x1b[2J\n"]}, "TypeError", "count"),
    ],
)
def test_a_wrong_argument_is_named_by_its_path_in_one_sentence(arguments, error, sentence):
    def take(order: Order, count: Annotated[int, Field(ge=0)] = 0): ...

    with pytest.raises(AgentError, match=sentence) as caught:
        call(take, **arguments)
    assert caught.value.error == error
    assert str(caught.value).isprintable() and len(str(caught.value)) <= 300


def test_dicts_that_contain_themselves_are_checked_at_every_depth():
    def grow(branch: Branch, shelf: Shelf | None = None):
        return branch, shelf

    assert call(grow, branch={"size": 1, "parts": [{"size": 2}]})[0] == {"size": 1, "parts": [{"size": 2}]}
    with pytest.raises(AgentError, match=r"branch\.parts\[0\]\.parts\[0\]\.leaves: .*\(given: 3\)"):
        call(grow, branch={"size": 1, "parts": [{"size": 2, "parts": [{"size": 2, "leaves": 3}]}]})
    red: Filter = {"colour": Colour.RED}
    inner = {"filter": {"colour": "red"}, "inner": [{"filter": {"colour": "red"}}]}
    assert call(grow, branch={"size": 1}, shelf=inner)[1] == Shelf(red, [Shelf(red)])
    with pytest.raises(AgentError, match=r"shelf\.inner\[0\]\.filter\.colour: Field required"):
        call(grow, branch={"size": 1}, shelf={"filter": {"colour": "red"}, "inner": [{"filter": {}}]})


def test_a_model_takes_the_names_that_are_shown_and_its_aliases():
    class Bill(BaseModel):
        total: int = Field(alias="totalAmount")

    def pay(bill):
        return bill.total

    pay.__annotations__["bill"] = Bill
    assert "    total: int\n" in shown(pay)
    assert (call(pay, bill={"total": 3}), call(pay, bill={"totalAmount": 4})) == (3, 4)


class Options(TypedDict, total=False):
    name: "typing.Required[str]"
    size: int


def test_a_key_required_by_an_annotation_in_a_text_is_required():
    def take(options: Options): ...

    assert "    name: str\n    size: int  # may be missing\n" in shown(take)
    with pytest.raises(AgentError, match="options.name: Field required"):
        call(take, options={"size": 3})


@pytest.mark.parametrize("unpack", [typing.Unpack, typing_extensions.Unpack])
def test_keywords_can_be_named_by_a_typed_dict(unpack):
    def take(**options):
        return options

    take.__annotations__["options"] = unpack[Options]
    assert signature(take) == "(**options: Unpack[Options])"
    assert call(take, options={"name": "x", "size": "3"}) == {"name": "x", "size": 3}
    for given in ({"options": {"size": 3}}, {}):
        with pytest.raises(AgentError, match="options.name: Field required"):
            call(take, **given)


def test_a_local_function_is_no_method_without_its_object():
    def act(self: int) -> None: ...

    with pytest.raises(UsageError, match="has a parameter self, which stands for the agent"):
        python_tools(act)


# ------------------------------------------------------------------ values that a type's own code refuses


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (
            re.Pattern,
            "a{99999999999}",
            "x: OverflowError: the repetition number is too large (given: 'a{99999999999}')",
        ),
        (re.Pattern, "(" * 5_000, "x: RecursionError: maximum recursion depth exceeded"),
        (FilePath, "a" * 5_000, "x: OSError: [Errno "),
        (zoneinfo.ZoneInfo, "\ud800", "x: it does not fit (given: '\\ud800')"),
        (
            Annotated[fractions.Fraction, PlainValidator(fractions.Fraction)],
            "1/0",
            "x: ZeroDivisionError: Fraction(1, 0)",
        ),
        (Annotated[str, AfterValidator({"a": 1}.__getitem__)], "b", "x: KeyError: b (given: 'b')"),
    ],
)
def test_a_value_that_a_type_refuses_in_its_own_way_never_reaches_the_function(kind, value, message):
    def take(x): ...

    take.__annotations__["x"] = kind
    with pytest.raises(AgentError) as caught:
        python_tools(take)[0].call({"x": value})
    assert caught.value.error == "ValueError" and len(str(caught.value)) <= 300
    assert str(caught.value).startswith(f"take was called wrongly: {message}")


@dataclasses.dataclass
class Halves:
    whole: int

    def __post_init__(self):
        self.half = 1 / self.whole


def look_up(value):
    return {}[value]


@pytest.mark.parametrize(
    ("kind", "value", "error"),
    [(Annotated[str, AfterValidator(look_up)], "b", KeyError), (Halves, {"whole": 0}, ZeroDivisionError)],
)
def test_a_fault_in_the_users_own_validator_is_the_tools_failure(kind, value, error):
    def take(x): ...

    take.__annotations__["x"] = kind
    with pytest.raises(error):
        python_tools(take)[0].call({"x": value})


def test_a_validator_that_raises_a_value_error_refuses_the_value():
    def refuse(value):
        raise ValueError("not today")

    def take(x: Annotated[str, AfterValidator(refuse)]): ...

    with pytest.raises(AgentError, match=r"x: not today \(given: 'b'\)"):
        python_tools(take)[0].call({"x": "b"})


def test_a_parameter_of_a_type_that_imports_keeps_its_default():
    def take(x: int, kind: ImportString | None = None): ...

    (tool,) = python_tools(take)
    assert tool.method.signature == "(x: int)"
