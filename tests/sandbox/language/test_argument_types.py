"""A constant that can have none of a tool's declared types is refused before the run; what may be converted is not."""

from __future__ import annotations

import ast
from typing import Annotated, Literal

import pytest
from pydantic import BeforeValidator, Field

from codeplan.errors import AgentError
from codeplan.sandbox import Sandbox
from codeplan.sandbox.language.checking import check_source, may_fit
from codeplan.tools import Toolset, python_tools
from codeplan.tools.arguments import build_converter, certain_type, convert_arguments
from codeplan.tools.mcp.signatures import ArgumentCheck
from codeplan.types import Plan

TYPES = [
    *(bool, int, float, str, type(None)),
    *(list[int], list[str], list[bool | None], list[list[float]]),
    *(int | None, float | str, Literal["dhl", "ups"], Literal[1, True, None], list[Literal["a", "b"]]),
]
CONSTANTS = [
    *("None", "True", "False", "0", "1", "2", "-3", "1.0", "2.5", "1e400", "10 ** 3", "b'3'", "3j"),
    *(
        "'3'",
        "' 3 '",
        "'1_000'",
        "'3.0'",
        "'3.5'",
        "'1e3'",
        "'nan'",
        "'-inf'",
        "'0x10'",
        "'ten'",
        "''",
        "'yes'",
        "'OFF'",
    ),
    *(
        "'dhl'",
        "'fedex'",
        "[]",
        "[1]",
        "['a']",
        "['x', 1]",
        "[1, None]",
        "(1, '2')",
        "{1, 2}",
        "{}",
        "{'a': 1}",
        "[[1]]",
    ),
    *("[['x']]", "[*[1], 'x']", "['3', 'x']"),
]


@pytest.mark.parametrize("wanted", TYPES, ids=str)
def test_what_the_check_refuses_the_tool_refuses(wanted):
    """The law of the check: it refuses no call that would be made."""
    converter, text = build_converter(wanted), certain_type(wanted)
    assert converter and text
    refused = [each for each in CONSTANTS if not may_fit(ast.parse(each, mode="eval").body, text)]
    assert refused
    for each in refused:
        with pytest.raises(AgentError):
            convert_arguments("f", {"x": converter}, {"x": eval(each)})


SCHEMAS = [
    ({"type": "integer"}, "int"),
    ({"type": "number"}, "float"),
    ({"type": "boolean"}, "bool"),
    ({"type": "string"}, "str"),
    ({"type": ["string", "null"]}, "str | None"),
    ({"type": "array", "items": {"type": "integer"}}, "list[int]"),
    ({"enum": ["a", None]}, "Literal['a'] | None"),
]


@pytest.mark.parametrize(("schema", "text"), SCHEMAS)
def test_what_the_check_refuses_a_servers_schema_refuses(schema, text):
    check = ArgumentCheck({"type": "object", "properties": {"x": schema}})
    refused = [each for each in CONSTANTS if not may_fit(ast.parse(each, mode="eval").body, text)]
    plain = [value for each in refused if not isinstance(value := eval(each), set)]
    assert plain
    for value in plain:
        with pytest.raises(AgentError):
            check.require_valid("f", {"x": list(value) if isinstance(value, tuple) else value})


class Shipping:
    def ship(self, order: str, carrier: Literal["dhl", "ups"], price: float = 1.0) -> str:
        return order

    def pay(self, amounts: list[float], *notes: str, to: Annotated[int, "An account."] | None = None) -> str:
        return ""

    def tag(self, name: Annotated[str, BeforeValidator(str)], size: Annotated[int, Field(ge=0)] = 1) -> str:
        return name


API = Toolset(python_tools(Shipping())).api


def found(call):
    source = f"def solution(agent, start_from=1):\n    if start_from <= 1:\n        x = {call}\n        assert x\n"
    checked = check_source(source, API)
    return [] if isinstance(checked, Plan) else [(d.rule, d.message) for d in checked.diagnostics]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("agent.ship('a', 'fedex')", "`carrier` of `agent.ship` must be 'dhl' or 'ups', not 'fedex'"),
        ("agent.ship(7, 'dhl')", "`order` of `agent.ship` must be of the type str, not 7"),
        ("agent.ship('a', 'ups', price='ten')", "`price` of `agent.ship` must be of the type float, not 'ten'"),
        ("agent.pay([1, 'x'])", "`amounts` of `agent.pay` must be of the type list[float], not [1, 'x']"),
        ("agent.pay(3)", "`amounts` of `agent.pay` must be of the type list[float], not 3"),
        ("agent.pay([], to='eve')", "`to` of `agent.pay` must be of the type int | None, not 'eve'"),
    ],
)
def test_a_constant_of_another_type_is_refused_with_its_place(call, message):
    assert found(call) == [("agent-arguments", message)]


@pytest.mark.parametrize(
    "call",
    [
        "agent.ship(str(7), 'dhl', price='2.5')",
        "agent.ship(order=f'{7}', carrier='ups', price=2)",
        "agent.pay((1, '2'), 'a note', to=None)",
        "agent.pay([float(x) for x in '12'])",
        "agent.tag(7, 'x')",
    ],
)
def test_what_may_be_converted_is_left_to_the_run(call):
    assert found(call) == []


def test_the_worker_knows_the_types_as_well():
    source = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        assert agent.ship(7, 'dhl')\n"
    assert "must be of the type str, not 7" in str(Sandbox().check(source, API))
