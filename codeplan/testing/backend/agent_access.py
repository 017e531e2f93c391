"""Tests which parts of the agent and the model a plan can reach."""

from __future__ import annotations

from typing import Any

import pytest

from codeplan.errors import AgentBroken, BudgetExceeded
from codeplan.sandbox import Limits
from codeplan.sandbox.host.backend import Capability
from codeplan.testing.backend.base import BackendTests, assert_failed, assert_finished, checkpoint_values
from codeplan.testing.samples.home import SampleHome
from codeplan.testing.samples.plans import wrap_as_plan
from codeplan.untrusted.values import value_text


class BrokenHome(SampleHome):
    """An agent with a bug."""

    def fall(self) -> str:
        """Raise what an agent should not."""
        raise KeyError("CANARY")


class AgentAccessTests(BackendTests):
    """Calls, reads and questions."""

    def test_a_plan_calls_the_agent_reads_it_asks_and_prints(self) -> None:
        home = SampleHome(print)
        outcome = assert_finished(
            self.run("print(agent.goto('desk 1'), agent.holding, agent.receptacles, ask_llm('why?'))", home)
        )

        assert outcome.output == "You are at desk 1. None ['shelf 1', 'desk 1'] re: why?\n"
        assert home.history == ["desk 1"]
        assert (outcome.usage.calls, outcome.usage.asks, outcome.usage.output) == (1, 1, len(outcome.output))
        assert 0 < outcome.usage.wall < 5

    def test_arguments_and_results_keep_their_types_and_values(self) -> None:
        body = "x = agent.echo((1, [2.5, None], {'a': (True,)}), 'b', k=2 ** 80)\ny = agent.odd('numbers')"
        saved = checkpoint_values(assert_finished(self.run(body)).checkpoint)

        assert saved["x"] == [(1, [2.5, None], {"a": (True,)}), ["b"], {"k": 2**80}]
        assert value_text(saved["y"].value, 200) == f"[{2**80}, inf, -0.0, (1, (2,)), {{'a': None, 1: True}}]"

    def test_text_with_half_a_surrogate_pair_passes(self) -> None:
        self.require(Capability.SURROGATES)
        outcome = assert_finished(self.run("x = agent.odd('surrogate')\nprint(agent.echo(x))\ny = ask_llm(x)"))

        assert checkpoint_values(outcome.checkpoint)["x"] == "\ud800"
        assert outcome.output == "\\ud800\n"

    def test_a_plan_that_changes_an_attribute_changes_a_copy(self) -> None:
        home = SampleHome(print)
        assert_finished(self.run("places = agent.receptacles\nplaces.append('forged')", home))

        assert home.receptacles == ["shelf 1", "desk 1"]

    @pytest.mark.parametrize(
        ("kind", "message"),
        [
            ("self", "odd returned a SampleHome, which is not plain data"),
            ("set", "odd returned a set, which is not plain data"),
            ("endless", "odd returned a value nested deeper than 32"),
            ("huge", "odd returned more than 1,000,000 bytes"),
            ("AgentError", "there is no such shelf"),
        ],
    )
    def test_what_an_agent_refuses_or_returns_wrongly_is_an_error_of_the_plan(self, kind: str, message: str) -> None:
        outcome = assert_failed(self.run(f"agent.odd('{kind}')"))
        assert (outcome.error, outcome.message, outcome.line) == ("RuntimeError", message, 2)

        caught = assert_finished(self.run(f"try:\n    agent.odd('{kind}')\nexcept Exception as e:\n    print(e)"))
        assert caught.output == message + "\n"

    @pytest.mark.parametrize(
        ("kind", "error", "message"),
        [
            ("typed KeyError", "KeyError", "shelf"),
            ("typed PermissionError", "PermissionError", "shelf"),
            ("typed FileNotFoundError", "FileNotFoundError", "shelf"),
            ("typed AssertionError", "RuntimeError", "AssertionError: shelf"),
            ("typed KeyboardInterrupt", "RuntimeError", "KeyboardInterrupt: shelf"),
            ("typed print", "RuntimeError", "print: shelf"),
        ],
    )
    def test_an_agents_error_comes_as_the_exception_that_it_names(self, kind: str, error: str, message: str) -> None:
        lines = f"try:\n    agent.odd('{kind}')\nexcept {error} as e:\n    print(type(e).__name__, e.args[0])"

        assert assert_finished(self.run(lines)).output == f"{error} {message}\n"

    def test_any_other_exception_of_the_agent_ends_the_run(self) -> None:
        with pytest.raises(AgentBroken, match=r"^agent\.fall is broken: KeyError: CANARY") as caught:
            self.run("try:\n    agent.fall()\nexcept Exception:\n    pass", BrokenHome(print))

        assert isinstance(caught.value.__cause__, KeyError)

    def test_a_call_with_wrong_arguments_shows_the_signature(self) -> None:
        outcome = assert_failed(self.run("go = agent.goto\ngo()"))

        assert outcome.message == "goto(receptacle: str) was called wrongly: missing a required argument: 'receptacle'"

    def test_an_argument_that_a_method_lacks_is_named(self) -> None:
        outcome = assert_failed(self.run("go = agent.goto\ngo(place='desk 1')"))

        why = "goto has no argument `place`; it has receptacle"
        assert outcome.message == f"goto(receptacle: str) was called wrongly: {why}"

    def test_a_function_that_a_builtin_calls_reaches_agent_and_model(self) -> None:
        body = """
            print(sorted(['b', 'a'], key=lambda p: agent.goto(p)), min('dc', key=ask_llm), max('ef', key=agent.goto))
            print(list(map(agent.goto, ['g'])), list(filter(lambda p: p in agent.receptacles, ['h', 'desk 1'])))
            print(next((p for p in 'ij' if agent.holding is None), 'none'))"""
        home = SampleHome(print)
        lines = assert_finished(self.run(body, home)).output.splitlines()

        assert lines == ["['a', 'b'] c f", "['You are at g.'] ['desk 1']", "i"]
        assert home.history == ["b", "a", "e", "f", "g"]

    def test_a_function_that_a_method_calls_reaches_the_agent(self) -> None:
        self.require(Capability.CALLBACKS)
        outcome = assert_finished(self.run("places = ['b', 'a']\nplaces.sort(key=agent.goto)\nprint(places)"))

        assert outcome.output == "['a', 'b']\n"

    def test_an_unknown_method_is_an_attribute_error_at_run_time_too(self) -> None:
        outcome = assert_failed(self.run("a = agent\na.fly()"))

        assert outcome.error == "AttributeError"
        assert (
            assert_finished(self.run("print(hasattr(agent, 'fly'), hasattr(agent, 'goto'))")).output == "False True\n"
        )

    def test_exceptions_of_codeplan_reach_the_caller(self) -> None:
        def broke(question: str) -> str:
            raise BudgetExceeded("asks", 3, 2)

        body = wrap_as_plan("try:\n    ask_llm('?')\nexcept Exception:\n    pass")
        with pytest.raises(BudgetExceeded):
            self.make(Limits()).run(body, SampleHome(print), broke)
        with pytest.raises(KeyboardInterrupt):
            self.run("agent.odd('interrupt')")

    def test_an_answer_that_is_not_text_is_an_error_of_the_plan(self) -> None:
        number: Any = 5
        outcome = self.make(Limits()).run(wrap_as_plan("ask_llm('?')"), SampleHome(print), lambda question: number)

        assert assert_failed(outcome).message == "ask_llm returned an int, which is not text"
