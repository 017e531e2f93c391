"""What a verifier may say, and what of it counts."""

from dataclasses import dataclass

import pytest

import codeplan
from codeplan.errors import UsageError, VerifierBroken
from codeplan.tools.environment import MAX_VERDICT_CHARS, Verifier
from codeplan.types import EnvironmentEnded


def judged(verify, value=3, tools="the tools"):
    return Verifier(verify).judge(value, tools, lambda found: found)


@pytest.mark.parametrize("verdict", [True, False, "", "it lacks a row"])
def test_a_bool_or_a_text_is_a_verdict(verdict):
    assert judged(lambda value, tools: verdict) is verdict or judged(lambda value, tools: verdict) == verdict


def test_a_long_text_is_cut_and_half_surrogate_pairs_are_escaped():
    assert MAX_VERDICT_CHARS == 2_000
    assert judged(lambda value: "x" * 2_000) == "x" * 2_000
    assert judged(lambda value: "x" * 9_000) == "x" * 2_000
    assert judged(lambda value: "\ud800") == "\\ud800"


class Bool:
    """Named as one, like NumPy's."""


Bool.__qualname__ = Bool.__name__ = "bool"
ODD_VERDICTS = [(1, "int"), (None, "NoneType"), ([True], "list"), (b"x", "bytes"), (Bool(), rf"{__name__}\.bool")]


@pytest.mark.parametrize(("verdict", "kind"), ODD_VERDICTS)
def test_anything_else_is_none(verdict, kind):
    with pytest.raises(VerifierBroken, match=f"returned a value of the type {kind}; return True, False or a text"):
        judged(lambda value: verdict)


def test_what_a_verifier_raises_is_its_failure_and_shown(capfd):
    def verify(value):
        raise LookupError("no row")

    with pytest.raises(VerifierBroken, match="^the verifier failed: LookupError: no row$"):
        judged(verify)
    assert "in verify" in capfd.readouterr().err


@pytest.mark.parametrize("error", [KeyboardInterrupt(), UsageError("wrong")])
def test_an_interrupt_and_errors_of_codeplan_pass_through(error, capfd):
    def verify(value):
        raise error

    with pytest.raises(type(error)) as caught:
        judged(verify)
    assert caught.value is error and capfd.readouterr().err == ""


def test_a_final_verdict_ends_the_episode_without_another_call_of_the_model():
    prompts = []

    def model(messages):
        prompts.append(messages)
        return "```python\ndef solution(agent, start_from=1):\n    return 3\n```"

    result = codeplan.do("add", tools=[len], verify=Verifier(lambda value: "it is 4", final=True), model=model)
    assert (result.ending, result.value, len(prompts)) == (EnvironmentEnded(), 3, 1)


@dataclass
class Order:
    number: int
    parts: tuple[str, ...]


def orders() -> list[Order]:
    """All orders."""
    return [Order(1, ("lid", "box"))]


async def orders_later() -> list[Order]:
    """All orders, a moment later."""
    return orders()


async def orders_in_turn():
    """All orders, one after the other."""
    for order in orders():
        yield order


async def verify_later(value, tools):
    return value == tools.orders() == await tools.orders_later() == await tools.orders_in_turn()


@pytest.mark.parametrize(
    "verify",
    [lambda value, tools: value == tools.orders() == tools.orders_later() == tools.orders_in_turn(), verify_later],
)
def test_tools_answer_a_verifier_with_the_plain_data_that_a_plan_gets(verify):
    plan = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        return agent.orders()\n"
    result = codeplan.execute(plan, tools=[orders, orders_later, orders_in_turn], verify=verify).result
    assert result.success, result.reason
    assert result.value == [{"number": 1, "parts": ["lid", "box"]}]


def test_what_is_no_plain_data_fails_the_verifier_by_the_tools_name():
    def handle():
        """A handle."""
        return object()

    plan = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        return 1\n"
    with pytest.raises(VerifierBroken, match="handle returned"):
        codeplan.execute(plan, tools=handle, verify=lambda value, tools: tools.handle() is None)
