"""A server's list of tools is bounded as a whole, and what is made of it takes linear work."""

from itertools import count as count_from

import pytest
from mcp_types import ListToolsResult, Tool
from support.mcp_addresses import raw
from support.steps import count_lines

from codeplan.errors import EnvironmentFailure
from codeplan.tools.mcp import McpServers
from codeplan.tools.mcp.connection import MAX_PAGES, MAX_TOOLS, ToolList
from codeplan.tools.mcp.messages import MAX_MESSAGE_BYTES, MAX_MESSAGE_VALUES, FloodError
from codeplan.tools.mcp.signatures import TypeTable

VALUES_OF_A_TOOL = 3  # itself, its name and its schema


PARTS = count_from(1)
NAMES = (f"t{n:06}" for n in count_from())


def page(count, cursor="next", **fields):
    cursor = cursor and f"{cursor} {next(PARTS)}"  # one that comes again ends the list
    schema = fields.pop("schema", {})
    tools = [Tool.model_construct(name=next(NAMES), input_schema=schema, **fields) for _ in range(count)]
    return ListToolsResult.model_construct(tools=tools, next_cursor=cursor)


def test_parts_are_read_while_there_may_be_tools_to_take():
    found = ToolList()
    assert found.add(page(MAX_TOOLS - 1)) is not None
    assert found.add(page(1)) is not None
    assert found.add(page(0)) is not None
    assert (len(found.tools), found.count, found.has_more) == (MAX_TOOLS, MAX_TOOLS, False)
    assert found.add(page(3)) is None
    assert (len(found.tools), found.count, found.has_more) == (MAX_TOOLS, MAX_TOOLS + 3, True)


def test_the_first_tools_of_a_large_part_are_kept():
    found = ToolList()
    parts = page(2), page(3 * MAX_TOOLS, cursor=None)
    assert found.add(parts[0]) is not None
    assert found.add(parts[1]) is None
    assert found.tools == [*parts[0].tools, *parts[1].tools][:MAX_TOOLS]
    assert (len(found.tools), found.count, found.has_more) == (MAX_TOOLS, 3 * MAX_TOOLS + 2, False)


def test_a_tool_that_is_listed_again_is_the_same_one():
    found, part = ToolList(), page(2)
    twice = part.model_copy(update={"tools": [*part.tools, *part.tools]})
    assert found.add(twice) == part.next_cursor
    assert found.add(page(0)) is not None
    assert found.add(part.model_copy(update={"next_cursor": "another"})) is None  # a part without a new tool
    assert found.tools == part.tools


def test_the_parts_are_counted():
    found = ToolList()
    for _ in range(MAX_PAGES - 1):
        assert found.add(page(1)) is not None
    with pytest.raises(FloodError, match="in more than 100 parts"):
        found.add(page(1))
    found = ToolList()
    for _ in range(MAX_PAGES - 1):
        found.add(page(1))
    assert found.add(page(1, cursor=None)) is None


@pytest.mark.parametrize("cursor", ["next", None])
@pytest.mark.parametrize(("over", "is_too_large"), [(0, False), (1, True)])
def test_the_values_of_all_parts_but_the_last_are_bounded_together(over, is_too_large, cursor):
    half = MAX_MESSAGE_VALUES // 2 - VALUES_OF_A_TOOL
    found = ToolList()
    assert found.add(page(1, schema={"enum": [[]] * (half - 1)})) is not None
    second = page(1, cursor, schema={"enum": [[]] * (half - 1 + over)})
    if is_too_large and cursor:
        with pytest.raises(FloodError, match="a list of tools of more than 16 MiB or 500,000 JSON values"):
            found.add(second)
    else:
        assert found.add(second) == second.next_cursor


@pytest.mark.parametrize("where", ["description", "key", "title"])
@pytest.mark.parametrize(("over", "is_too_large"), [(0, False), (1, True)])
def test_the_characters_of_all_parts_are_bounded_together(over, is_too_large, where):
    def part(size):
        return page(1, schema={"k" * size: 1}) if where == "key" else page(1, **{where: "d" * size})

    overhead = sum(map(len, vars(part(0).tools[0]))) + len(next(NAMES))
    found = ToolList()
    found.add(part(MAX_MESSAGE_BYTES // 2 - overhead))
    last = part(MAX_MESSAGE_BYTES // 2 - overhead + over)
    if is_too_large:
        with pytest.raises(FloodError, match="more than 16 MiB"):
            found.add(last)
    else:
        assert found.add(last) is not None


def test_a_deeply_nested_schema_is_weighed_without_recursion():
    schema = {}
    for _ in range(5_000):
        schema = {"not": [schema]}
    assert ToolList().add(page(1, schema=schema)) is not None


# ------------------------------------------------------------------ servers

PAGED = """lambda m: (lambda part: {'nextCursor': str(part + 1), 'tools':
    [{'name': f't{part}_{n}', 'inputSchema': {'type': 'object'}} for n in range(900)]})(
    int(m.get('params', {}).get('cursor', 0)))"""


def opened(*addresses):
    said = []
    with McpServers(addresses, seconds=30, notify=said.append) as servers:
        return [tool.name for tool in servers.tools], said


def test_the_user_hears_how_many_tools_are_left_out():
    names, said = opened(raw(*(f"t{n}" for n in range(MAX_TOOLS + 1))))
    assert len(names) == MAX_TOOLS and said == ["the MCP servers offer 2,001 tools; the first 2,000 are used"]


def test_a_list_without_an_end_is_read_until_there_are_enough_tools():
    names, said = opened(raw(tools=" ".join(PAGED.split())))
    assert len(set(names)) == len(names) == MAX_TOOLS
    assert said[0] == "the MCP servers offer more than 2,700 tools; the first 2,000 are used"


def test_a_list_that_is_too_large_is_a_failure_of_the_server():
    large = "lambda m: {'tools': [{'name': str(m['id']), 'inputSchema': {'type': 'object', 'enum': [0] * 300_000}}], 'nextCursor': str(m['id'])}"
    with pytest.raises(EnvironmentFailure, match="the MCP server raw sent a list of tools of more than 16 MiB"):
        opened(raw(tools=large))


# ------------------------------------------------------------------ names of types


def fill(table, count, text):
    for number in range(count):
        reserved = table.reserve("Row")
        table.define(reserved, "Row", f"class {reserved}:\n    {text(number)}: int")


@pytest.mark.parametrize("text", [lambda number: f"n{number}", lambda _: "same"])
def test_naming_a_type_takes_the_same_work_however_many_there_are(text):
    lines = [count_lines(lambda count=count: fill(TypeTable(), count, text)) for count in (500, 1_000)]
    assert lines[1] < 2.2 * lines[0]


def test_a_name_that_an_equal_type_gave_back_is_used_again():
    table = TypeTable({"Row": "class Row:\n    taken: int"})
    fill(table, 3, lambda _: "same")
    assert table.reserve("Row") == "Row3" and table.text("Row2") == "class Row2:\n    same: int"
    reserved = table.reserve("Row")
    assert table.define(reserved, "Row", f"class {reserved}:\n    taken: int") == "Row"


def test_a_cursor_that_comes_again_ends_the_list():
    found = ToolList()
    again = page(2)
    assert found.add(again) is not None
    assert found.add(again) is None
    assert found.tools == again.tools
