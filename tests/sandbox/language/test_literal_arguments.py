"""A constant argument must be one of the values that its parameter's Literal names; all else is left to the run."""

from __future__ import annotations

import typing
from typing import Annotated, Literal

import pytest
from pydantic import AfterValidator, BeforeValidator

from codeplan.agent_interface import agent_api
from codeplan.sandbox import Sandbox
from codeplan.sandbox.language.checking import check_source
from codeplan.tools import Toolset, python_tools
from codeplan.types import AgentApi, AgentMethod, AgentParameter, Diagnostic, Plan

LONG = "a value of many words " * 20


class Painter:
    def paint(self, colour: Literal["red", "blue"], coats: Literal[1, 2, -1] = 1, *, note: str = "a, b") -> str:
        return colour

    def dry(self, how: typing.Literal["air"] | None, *rest: Literal["x"], by: Literal["fan"] | None = None) -> str:
        return ""

    def mix(self, what: Literal["red"] | int, other: Annotated[Literal["red"], "a colour"], base: LONG) -> str:  # type: ignore[name-defined]
        return ""


def found(call: str, api: AgentApi | None = None) -> list[Diagnostic]:
    source = f"def solution(agent, start_from=1):\n    if start_from <= 1:\n        x = {call}\n        assert x\n"
    checked = check_source(source, api or agent_api(Painter))
    return [] if isinstance(checked, Plan) else list(checked.diagnostics)


@pytest.mark.parametrize(
    ("call", "message", "column"),
    [
        ("agent.paint('green')", "`colour` of `agent.paint` must be 'red' or 'blue', not 'green'", 25),
        ("agent.paint(colour='green')", "`colour` of `agent.paint` must be 'red' or 'blue', not 'green'", 32),
        ("agent.paint('red', 3)", "`coats` of `agent.paint` must be 1, 2 or -1, not 3", 32),
        ("agent.paint('red', -2)", "`coats` of `agent.paint` must be 1, 2 or -1, not -2", 32),
        ("agent.paint(None)", "`colour` of `agent.paint` must be 'red' or 'blue', not None", 25),
        ("agent.dry('sun')", "`how` of `agent.dry` must be 'air' or None, not 'sun'", 23),
        ("agent.dry('air', by='hand')", "`by` of `agent.dry` must be 'fan' or None, not 'hand'", 33),
    ],
)
def test_a_constant_that_the_literal_does_not_name_is_refused(call: str, message: str, column: int) -> None:
    (diagnostic,) = found(call)
    assert (diagnostic.rule, diagnostic.message) == ("agent-arguments", message)
    assert (diagnostic.line, diagnostic.column) == (3, column)


@pytest.mark.parametrize(
    "call",
    [
        "agent.paint('red')",
        "agent.paint(colour='blue', coats=-1)",
        "agent.paint('red', True)",
        "agent.paint('red', 2.0)",
        "agent.paint('gre' + 'en')",
        "agent.paint(f'green')",
        "agent.paint(*['green'])",
        "agent.paint(**{'colour': 'green'})",
        "agent.paint('red', note='green')",
        "agent.dry(None, 'y', by=None)",
        "agent.mix('green', 'red', 'wood')",
    ],
)
def test_what_may_fit_is_left_to_the_run(call: str) -> None:
    assert found(call) == []


def test_every_wrong_argument_is_named_and_a_long_one_shortened() -> None:
    first, second = found(f"agent.paint({'g' * 500!r}, 7)")
    assert first.message.endswith("not '" + "g" * 78 + "…")
    assert second.message.endswith("not 7")


Lowered = Annotated[Literal["red"], BeforeValidator(str.lower)]
Checked = Annotated[Literal["red"], AfterValidator(str.upper)]
Texts = Literal["red", "a value of many words " * 20]  # type: ignore[valid-type]


def test_a_tool_accepts_what_its_validator_converts_and_what_stands_shortened_in_its_signature() -> None:
    def lowered(colour): ...

    def checked(colour): ...

    def texts(colour): ...

    for function, annotation in ((lowered, Lowered), (checked, Checked), (texts, Texts)):
        function.__annotations__["colour"] = annotation
    toolset = Toolset(python_tools(lowered, checked, texts))
    api = AgentApi(tuple(tool.method for tool in toolset.tools))
    assert found("agent.lowered('RED')", api) == found("agent.texts('another')", api) == []
    assert found("agent.checked('RED')", api)[0].message == "`colour` of `agent.checked` must be 'red', not 'RED'"


@pytest.mark.parametrize(
    "signature", ["(a: Literal['x' = 1)", "(a: Literal[x, y])", "(a: Literal[]) -> (", "(b: Literal['x'])"]
)
def test_a_signature_that_cannot_be_read_refuses_nothing(signature: str) -> None:
    api = AgentApi((AgentMethod("go", signature, "", (AgentParameter("a"),)),))
    assert found("agent.go('z')", api) == []


def test_annotations_that_are_texts_are_shown_with_their_own_quotes_alone() -> None:
    paint = agent_api(Painter).methods[0]
    shown = "(colour: Literal['red', 'blue'], coats: Literal[1, 2, -1] = 1, *, note: str = 'a, b') -> str"
    assert paint.signature == shown


def test_the_default_is_a_value_that_the_parameter_may_have() -> None:
    api = AgentApi((AgentMethod("go", "(a: Literal['x'] = None)", "", (AgentParameter("a", required=False),)),))
    assert found("agent.go('x')", api) == found("agent.go(None)", api) == []
    assert found("agent.go('z')", api)[0].message == "`a` of `agent.go` must be 'x' or None, not 'z'"


def test_the_sandbox_refuses_it_too() -> None:
    source = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        assert agent.paint('green')\n"
    assert "must be 'red' or 'blue'" in str(Sandbox().check(source, agent_api(Painter)))
