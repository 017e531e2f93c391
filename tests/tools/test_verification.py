"""What a verifier may say, and what of it counts."""

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


def test_a_verifier_gets_the_value_and_the_tools_if_it_takes_both():
    assert judged(lambda value, tools: f"{value} {tools}") == "3 the tools"
    assert judged(lambda value: f"{value}") == "3"


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
