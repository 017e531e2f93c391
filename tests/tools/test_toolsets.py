"""Tool sets: which tools of a thing are offered, under which names, and what holds for all of them."""

import dataclasses
from typing import TypedDict

import pytest

import codeplan
from codeplan import Toolset
from codeplan.agent_interface import describe_api
from codeplan.errors import UsageError
from codeplan.tools import python_tools
from codeplan.tools.python_tools import _load
from codeplan.tools.toolset import at_once_of, things_of


class Drive:
    """A folder of files."""

    def __init__(self, **files):
        self.files = files

    def ls(self) -> list[str]:
        """The names of the files."""
        return sorted(self.files)

    def read(self, name: str) -> dict[str, str]:
        """The text of a file."""
        return {"text": self.files[name]} if name in self.files else {"error": f"there is no {name}"}

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        self.files[name] = text


def run(body, tools, **options):
    plan = f"def solution(agent, start_from=1):\n    if start_from <= 1:\n        x = {body}\n    return x"
    return codeplan.do("Look.", tools=tools, model=lambda messages: plan, **options)


def test_two_objects_of_one_class_stand_side_by_side():
    home, work = Drive(a="1"), Drive(b="2")
    tools = [Toolset(home, prefix="home_"), Toolset(work, prefix="work_")]
    result = run("agent.home_ls() + agent.work_ls() + [agent.work_read('b')['text']]", tools)
    assert result.value == ["a", "b", "2"]


def test_names_are_filtered_and_changed():
    tools = Toolset(Drive(), only=["ls", "r*"], without=["read"], rename={"ls": "names"}, prefix="my_")
    assert tools.names == ("my_names",)
    assert Toolset([Toolset(Drive(), prefix="a_"), len_of], without="a_write").names == ("a_ls", "a_read", "len_of")


def len_of(text: str) -> int:
    return len(text)


def test_errors_of_a_call_have_the_new_name():
    result = run("agent.b_read(**{'name': 3})", Toolset(Drive(), prefix="b_"))
    assert "b_read was called wrongly" in result.failure.message


def test_an_answer_that_is_an_error_is_one_for_the_whole_set():
    tools = Toolset(Drive(a="1"), error_if=lambda answer: isinstance(answer, dict) and answer.get("error"))
    result = run("agent.read('b')", tools)
    assert (result.failure.error, result.failure.message) == ("RuntimeError", "there is no b")
    assert run("agent.read('a')", tools).value == {"text": "1"}


def test_marks_hold_for_all_or_for_those_that_are_named():
    tools = Toolset(Drive(), readonly=["ls", "read"], once=True, timeout=3)
    assert [(t.name, t.readonly, t.once, t.timeout) for t in tools.tools] == [
        ("ls", True, True, 3),
        ("read", True, True, 3),
        ("write", False, True, 3),
    ]


def test_what_a_tool_says_itself_wins():
    @codeplan.tool(timeout=1)
    def quick(): ...

    inner = Toolset(quick, timeout=2, error_if="error")
    assert [(t.timeout, t.error_if) for t in Toolset(inner, timeout=3, error_if="no").tools] == [(1, "error")]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"only": ["rad"]}, "no tool has a name that fits only 'rad'; did you mean read?"),
        ({"without": ["x*"]}, r"no tool has a name that fits without 'x\*'; there are: ls, read, write"),
        ({"rename": {"list": "ls"}}, "no tool has a name that fits rename 'list'"),
        ({"rename": {"r*": "x"}}, r"rename takes names and no patterns, such as 'r\*'"),
        ({"rename": {"ls": "read"}}, "two tools have the name 'read'; rename one, or give .* a prefix"),
        ({"rename": {"ls": "a b"}}, "ls cannot be renamed to 'a b': it is no Python name"),
        ({"rename": {"ls": 3}}, "rename gives ls a name that is no text: 3"),
        ({"rename": ["ls"]}, "rename is a dict of names"),
        ({"prefix": "_"}, "ls cannot be renamed to '_ls': .* are private"),
        ({"prefix": 3}, "prefix is a text, not 3"),
        ({"readonly": ["raed"]}, "no tool has a name that fits readonly 'raed'; did you mean read?"),
        ({"once": 3}, "once takes a pattern or several, not 3"),
        ({"timeout": 0}, "timeout is a number of seconds"),
        ({"error_if": 3}, "error_if is the name of a key, or a function"),
        ({"without": "*"}, "there are no tools"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(options, why):
    with pytest.raises(UsageError, match=why) as caught:
        Toolset(Drive(), **options)
    assert "\n" not in str(caught.value)


def test_a_set_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Toolset(Drive()).tools = ()


def test_a_file_has_sets_by_name(tmp_path, capsys):
    file = tmp_path / "drives.py"
    file.write_text(
        "import codeplan\nclass Drive:\n    def ls(self) -> list: return [1]\n"
        "mine = codeplan.Toolset(Drive(), prefix='my_', at_once=3)\n"
    )
    named = f"{file}:mine"
    assert run("agent.my_ls()", [named]).value == [1]
    assert (at_once_of(things_of(named)), capsys.readouterr().err) == (3, "")
    assert _load(file).mine.names == ("my_ls",)


# ------------------------------------------------------------------ names of the agent itself


class Office:
    def report(self, month: str) -> str:
        """The report of a month."""
        return f"report of {month}"

    def describe(self, what: str) -> str:
        """Describe a product."""
        return f"{what} is fine"

    def remember(self, fact: str) -> str:
        """Remember a fact."""
        return fact


def test_tools_may_have_the_names_of_the_agents_own_methods():
    result = run("[agent.report('May'), agent.describe('tea'), agent.remember('x'), agent.report_()]", Office())
    *answers, own = result.value
    assert answers == ["report of May", "tea is fine", "x"]
    assert own == "The last call, remember(fact='x'), returned 'x'"
    assert "def report_(self)" in describe_api(Toolset(Office()).api)


def test_what_went_wrong_is_told_without_calling_a_tool_named_report():
    asked = []

    def model(messages):
        asked.append(messages[-1]["content"])
        return (
            "def solution(agent, start_from=1):\n    if start_from <= 1:\n        x = agent.report('May')\n    return x"
        )

    codeplan.do("Look.", tools=Office(), model=model, verify=lambda value: "there is more to do")
    assert "there is more to do" in asked[1] and "TypeError" not in asked[1]


# ------------------------------------------------------------------ types of one name


def test_types_of_one_name_in_two_sets_get_different_names():
    def tools():
        class Item(TypedDict):
            Item: int

        class Box(TypedDict):
            item: Item

        def get(box: Box) -> Item: ...

        return get

    def others():
        class Item(TypedDict):
            name: str

        class Box(TypedDict):
            item: Item

        def put(box: Box, Item: str = "Item") -> list[Item]: ...
        def take(item: Item) -> None: ...

        put.__annotations__["return"], put.__annotations__["Item"] = list[Item], str
        return [put, take]

    made = Toolset([Toolset(tools()), Toolset(others())])
    assert [tool.method.signature for tool in made.tools] == [
        "(box: Box) -> Item",
        "(box: Box2, Item: str = 'Item') -> list[Item2]",
        "(item: Item2) -> None",
    ]
    assert [t.text for t in made.api.types] == [
        "class Box(TypedDict):  # a dict\n    item: Item",
        "class Item(TypedDict):  # a dict\n    Item: int",
        "class Box2(TypedDict):  # a dict\n    item: Item2",
        "class Item2(TypedDict):  # a dict\n    name: str",
    ]


def test_a_tool_is_told_with_the_types_of_its_own_signature_alone():
    class Item(TypedDict):
        n: int

    class Order(TypedDict):
        items: list[Item]
        next: "Order"

    def get() -> Item: ...
    def order() -> Order: ...
    def count() -> int: ...

    get.__annotations__["return"], order.__annotations__["return"] = Item, Order
    assert [[t.name for t in tool.types] for tool in python_tools(get, order, count)] == [
        ["Item"],
        ["Item", "Order"],
        [],
    ]
