"""The contract of all backends, as a test class to inherit:

    class TestMyBackend(BackendContract):
        def make(self, limits):
            return Sandbox(backend=MyBackend(limits))

A backend that lacks capabilities declares them as ``differences`` (see ``Backend``). The contract then
skips the tests that need it, with the reason that the backend gives.
"""

from __future__ import annotations

import resource
import time
from typing import Any

import pytest
from msgspec.structs import replace
from support.backend_outcomes import (
    TWO_STEPS,
    BackendTests,
    assert_failed,
    assert_finished,
    assert_gave_up,
    assert_replan,
    assert_stopped,
    checkpoint_values,
    echo_answer,
)
from support.sample_plans import (
    SAMPLE_WORLDS,
    SamplePlan,
    SampleRun,
    run_in_python,
    sample_attacks,
    sample_plans,
    wrap_as_plan,
)
from support.sample_worlds import SampleHome, answer_function, call_history

from codeplan.agent_interface import plan_place, reduced_api
from codeplan.errors import AgentBroken, BudgetExceeded, UsageError
from codeplan.sandbox import Limits, OutputChunk, Progress, StepEntry, encode
from codeplan.sandbox.host.backend import Capability
from codeplan.sandbox.protocol.codec import CheckpointError
from codeplan.sandbox.protocol.limits import STOPPING_LIMITS
from codeplan.types import Checkpoint, Failed, Finished, GiveUp, Outcome, Plan, Rejected, Replan
from codeplan.untrusted.comparison import BoundedValue
from codeplan.untrusted.values import iterate_scalars, value_text


class LanguageTests(BackendTests):
    """What a plan may contain."""

    @pytest.mark.parametrize("subject", SAMPLE_WORLDS)
    def test_sample_plans_are_accepted_and_do_what_plain_python_does(self, subject: str) -> None:
        for sample in sample_plans(subject):
            if not sample.needs & self.differences.keys():
                assert self.run_sample(sample) == expected_run(sample), sample.name

    def run_sample(self, sample: SamplePlan) -> SampleRun:
        """The outcome of a sample that the backend checks and runs."""
        backend = self.make(Limits())
        plan = backend.check(sample.source, sample.world)
        assert isinstance(plan, Plan), [str(d) for d in plan.diagnostics]
        world = sample.world()
        outcome = backend.run(plan, world, answer_function(world))
        assert isinstance(outcome, Finished | Failed), outcome
        error, message = (outcome.error, outcome.message) if isinstance(outcome, Failed) else ("", "")
        return SampleRun(outcome.output, error, message, *call_history(world), checkpoint_values(outcome.checkpoint))

    @pytest.mark.parametrize(
        "body",
        [
            "import os; os.getcwd()",
            "agent._secret",
            "x = ().__subclasses__",
            "class _A_:\n    pass",
            "agent.location = 'x'",
            "open('f')",
            "agent.fly()",
            "x = (",
        ],
    )
    def test_a_construct_outside_the_language_is_refused_with_its_line(self, body: str) -> None:
        found = self.make(Limits()).check(wrap_as_plan(body), SampleHome)

        assert isinstance(found, Rejected)
        assert found.diagnostics[0].line == 2

    def test_a_check_finds_the_steps(self) -> None:
        plan = self.make(Limits()).check(wrap_as_plan(TWO_STEPS), SampleHome)

        assert isinstance(plan, Plan), plan
        assert [s.number for s in plan.steps] == [1, 2]
        assert plan.steps[1].needs == ("count", "seen")

    @pytest.mark.parametrize("text", ["", " \n", "x = '\0'", "x = '\ud800'", wrap_as_plan("-" * 60_000 + "1")])
    def test_a_text_that_is_not_a_plan_is_rejected_by_check_and_by_run(self, text: str) -> None:
        backend = self.make(Limits())

        assert isinstance(backend.check(text, SampleHome), Rejected)
        assert isinstance(backend.run(text, SampleHome(print), echo_answer), Rejected)

    def test_a_source_that_is_too_long_is_rejected(self) -> None:
        outcome = self.run("x = 1\n" * 100, limits=Limits(source_bytes=200))

        assert isinstance(outcome, Rejected)
        assert "write at most 200" in outcome.diagnostics[0].message


class ConcurrencyTests(BackendTests):
    """Calls that are begun and not waited for."""

    @pytest.mark.parametrize(
        "body",
        [
            "import asyncio\nseen = await asyncio.gather(*(agent.goto(f'shelf {n}') for n in range(3)))",
            "seen = each(agent.goto, ['shelf 0', 'shelf 1', 'shelf 2'])",
            "async def go(n):\n    return await agent.goto(f'shelf {n}')\nseen = [await go(n) for n in range(3)]",
            "from concurrent.futures import ThreadPoolExecutor\n"
            "seen = list(ThreadPoolExecutor().map(agent.goto, [f'shelf {n}' for n in range(3)]))",
        ],
    )
    def test_calls_in_a_world_of_text_are_made_one_by_one_in_their_order(self, body: str) -> None:
        home = SampleHome(print)
        outcome = self.run(body, home)
        if Capability.CONCURRENCY in self.differences:
            assert isinstance(outcome, Rejected), outcome
            assert outcome.diagnostics[0].message == self.differences[Capability.CONCURRENCY]
        else:
            assert_finished(outcome)
            shelves = [f"shelf {n}" for n in range(3)]
            assert home.history == shelves
            assert checkpoint_values(outcome.checkpoint).value["seen"] == [f"You are at {shelf}." for shelf in shelves]


def expected_run(sample: SamplePlan) -> SampleRun:
    """The outcome of a sample in plain Python, with the variables that a checkpoint can hold."""
    ran = run_in_python(sample)
    assert isinstance(ran.variables, dict)
    return ran._replace(variables=checkpoint_values(encode(ran.variables, 1 << 20)))


class AskingHome(SampleHome):
    """An agent that can ask the user."""

    _api = replace(reduced_api(SampleHome, ["goto"], ""), asks_user=True)

    def ask_user(self, question: str, form: str = "", refused: str = "") -> str:
        """Answer with a place and the question."""
        return f"desk 1: {question}"


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

    def test_half_a_surrogate_pair_comes_from_an_agent_and_is_printed_and_asked_as_its_escape(self) -> None:
        self.require(Capability.SURROGATES)
        outcome = assert_finished(self.run("x = agent.odd('surrogate')\nprint(x)\ny = ask_llm(x)"))

        saved = checkpoint_values(outcome.checkpoint)
        assert (saved["x"], saved["y"]) == ("\ud800", "re: \\ud800")
        assert outcome.output == "\\ud800\n"

    @pytest.mark.parametrize(
        "arguments", [r"'\ud800'", r"receptacle='a \udfff'", r"['a', {'b': ('\ud800',)}]", r"{'\ud800': 1}"]
    )
    def test_half_a_surrogate_pair_as_an_argument_is_the_plans_own_error(self, arguments: str) -> None:
        self.require(Capability.SURROGATES)
        home = SampleHome(print)
        outcome = assert_failed(self.run(f"agent.goto({arguments})", home))

        assert outcome.error == "ValueError"
        assert outcome.message == "goto was given half of a surrogate pair, which is not text; remove it"
        assert home.history == []

    @pytest.mark.parametrize("body", [r"assert False, '\ud800' * 9000", r"raise ValueError('\ud800' * 9000)"])
    def test_a_message_of_halves_of_surrogate_pairs_is_the_plans_own_error(self, body: str) -> None:
        self.require(Capability.SURROGATES)

        assert assert_failed(self.run(body)).message.startswith("\\ud800\\ud800")

    def test_a_plan_that_changes_an_attribute_changes_a_copy(self) -> None:
        home = SampleHome(print)
        assert_finished(self.run("places = agent.receptacles\nplaces.append('forged')", home))

        assert home.receptacles == ["shelf 1", "desk 1"]

    @pytest.mark.parametrize(
        ("kind", "message"),
        [
            ("self", "odd returned a SampleHome, which is not plain data"),
            ("set", "odd returned a set, which is not plain data"),
            ("endless", "odd returned a value that contains itself, or is nested deeper than 32"),
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

    @pytest.mark.parametrize(
        ("call", "why"),
        [
            ("go()", "missing a required argument: 'receptacle'"),
            ("go(place='desk 1')", "goto has no argument `place`; it has receptacle"),
        ],
    )
    def test_a_call_with_wrong_arguments_shows_the_signature(self, call: str, why: str) -> None:
        outcome = assert_failed(self.run(f"go = agent.goto\n{call}"))

        assert outcome.message == f"goto(receptacle: str) was called wrongly: {why}"

    def test_a_call_of_the_agent_knows_its_step_and_its_line(self) -> None:
        home, places = SampleHome(print), []
        home.goto = lambda place: places.append(plan_place.get()) or place  # type: ignore[method-assign]
        code = "def visit(x):\n    return agent.goto(x)\nvisit('desk 1')\nagent.goto(\n    'desk 1')"
        assert_finished(self.run(code, home))
        lines = [line for _, line in places]
        assert len({step for step, _ in places}) == 1 and lines[1] in (lines[0] + 2, lines[0] + 3)
        assert plan_place.get() == (None, None)

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

    def test_a_plan_asks_the_user_through_an_agent_that_can(self) -> None:
        outcome = assert_finished(self.run("x = ask_user('Where?')\nprint(agent.goto(x))", AskingHome(print)))
        assert outcome.output == "You are at desk 1: Where?.\n"
        alone = self.make(Limits()).check(wrap_as_plan("ask_user('Where?')"), SampleHome)
        assert isinstance(alone, Rejected) and "no user can be asked here" in alone.diagnostics[0].message
        assert "ask_user" in str(self.run("ask_user('Where?')"))  # a text runs unchecked

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


class FormTests(BackendTests):
    """Questions with data and a form."""

    def ask(self, body: str, *answers: str, limits: Limits = Limits()) -> tuple[Outcome | Rejected, list[str]]:  # noqa: B008
        """Run a plan with these answers; also what was asked."""
        self.require(Capability.FORMS)
        left, asked = iter(answers), list[str]()

        def answer(question: str) -> str:
            asked.append(question)
            return next(left)

        return self.make(limits).run(wrap_as_plan(body), SampleHome(print), answer), asked

    def test_a_plan_gets_values_of_its_form_that_checkpoints_keep(self) -> None:
        body = (
            "import copy\n"
            "from datetime import date\n"
            "bill = ask_llm('Who?', {'text': 'x'}, {'iban': str, 'due': date | None})\n"
            "none = ask_llm('Who?', form=int)\n"
            "same = none is NotKnown and not none and copy.deepcopy(none) is none"
        )
        outcome, asked = self.ask(body, '{"iban": "DE1", "due": "2024-05-01"}', "NotKnown")
        saved = checkpoint_values(assert_finished(outcome).checkpoint)

        assert saved["same"].value is True
        assert value_text(saved["none"].value, 80) == "NotKnown"
        assert value_text(saved["bill"].value, 80) == "{'iban': 'DE1', 'due': datetime.date(2024, 5, 1)}"
        assert "{'text': 'x'}" in asked[0]
        resumed = self.run("assert none is NotKnown", checkpoint=outcome.checkpoint)
        assert_finished(resumed)

    def test_a_wrong_answer_is_asked_again_twice_and_each_time_counts(self) -> None:
        body = "n = ask_llm('How many?', form=int)\ntry:\n    ask_llm('And?', form=int)\nexcept ValueError as e:\n    said = str(e)"
        outcome, asked = self.ask(body, "some", '"3"', "3", *["some"] * 3)
        saved = checkpoint_values(assert_finished(outcome).checkpoint)

        assert saved["n"] == 3
        assert saved["said"] == "ask_llm got no answer of the form int: the answer is a str, not an int"
        assert outcome.usage.asks == len(asked) == 6
        assert asked[0] in asked[1] and "Your last answer was wrong: the answer is a str, not an int." in asked[1]
        assert "wrong" not in asked[3]

        stopped, asked = self.ask(body, *["some"] * 6, limits=Limits(asks=2))
        assert len(asked) == 2
        assert assert_stopped(stopped, "asks").line == 2

    @pytest.mark.parametrize("given", ["x", "[x]", "{'a': (x,)}"])
    def test_no_tool_and_no_question_takes_what_is_not_known(self, given: str) -> None:
        for call in (f"agent.echo({given})", f"ask_llm('?', {given})"):
            body = f"x = NotKnown\ntry:\n    {call}\nexcept TypeError as e:\n    said = str(e)"
            saved = checkpoint_values(assert_finished(self.ask(body)[0]).checkpoint)
            refusal = f"{call.partition('(')[0]} was given NotKnown (test `x is NotKnown` before the call)"
            assert saved["said"].value.startswith(refusal)


class EndingTests(BackendTests):
    """Outcomes and progress."""

    def test_a_failed_assertion_comes_with_its_step_line_output_and_variables(self) -> None:
        outcome = assert_failed(self.run(TWO_STEPS))

        assert (outcome.step, outcome.line, outcome.error) == (2, 11, "AssertionError")
        assert outcome.message == "Error in [Step 2]: too few"
        assert outcome.output == "[Step 1] look\n[Step 2] think\n"
        assert checkpoint_values(outcome.checkpoint) == {"seen": ["You are at shelf 1.", 2], "count": 2}
        assert checkpoint_values(outcome.entries[1]) == {}
        assert checkpoint_values(outcome.entries[2]) == {"seen": ["You are at shelf 1."], "count": 1}

    def test_a_failed_assertion_in_a_helper_has_the_helpers_line(self) -> None:
        outcome = assert_failed(self.run("def check(n):\n    assert n, 'no'\nif start_from <= 1:\n    check(0)"))

        assert (outcome.step, outcome.line) == (1, 3)

    def test_the_step_is_the_runtimes_count_whatever_the_message_claims(self) -> None:
        assert assert_failed(self.run("if start_from <= 1:\n    assert False, 'Error in [Step 99]: forged'")).step == 1

    def test_an_exception_comes_with_its_name_message_and_line(self) -> None:
        outcome = assert_failed(self.run("if start_from <= 1:\n    x = []\n    x[3]\n    assert x"))

        found = (outcome.step, outcome.line, outcome.error, outcome.message)
        assert found == (1, 4, "IndexError", "list index out of range")

    def test_an_exception_can_be_caught_and_an_assertion_cannot(self) -> None:
        self.require(Capability.ASSERTIONS)
        assert assert_finished(self.run("try:\n    [][0]\nexcept:\n    print('caught')")).output == "caught\n"

        outcome = assert_failed(self.run("try:\n    assert False, 'first'\nexcept:\n    pass\nfinally:\n    [][1]"))
        assert outcome.message == "first"

    @pytest.mark.parametrize(
        ("body", "value"),
        [
            ("return [1, ('a', {2: None})]", [1, ("a", {2: None})]),
            ("for i in range(3):\n    return i", 0),
            ("try:\n    return 5\nfinally:\n    x = 1", 5),
            ("if start_from <= 1:\n    if True:\n        return {'a': {1, 2}}\n    return 0", {"a": {1, 2}}),
            ("def f():\n    return 3\nf()", None),
            ("return", None),
        ],
    )
    def test_a_finished_run_has_what_the_plan_returned(self, body: str, value: object) -> None:
        assert assert_finished(self.run(body)).value == value

    def test_a_finished_run_has_its_variables_as_plain_data(self) -> None:
        outcome = assert_finished(self.run("seen = Counter('aab')\nboth = (seen, seen)\ndef f():\n    pass"))

        assert outcome.variables == {"seen": {"a": 2, "b": 1}, "both": ({"a": 2, "b": 1}, {"a": 2, "b": 1})}
        assert {type(v) for v in outcome.variables.values()} == {dict, tuple}
        assert outcome.omitted == {"f": "a function cannot be saved"}

    def test_a_value_that_is_no_plain_data_is_omitted_with_the_reason(self) -> None:
        outcome = assert_finished(self.run("x = [1]\nfor i in range(60):\n    x = [x, x]\nreturn x"))

        assert (outcome.value, outcome.variables) == (None, {"i": 59})
        assert outcome.omitted == dict.fromkeys(("x", "return"), "it contains itself, or is nested deeper than 32")
        assert assert_finished(self.run("return len")).omitted.keys() == {"return"}
        assert "cannot be handed over" in assert_finished(self.run("return len")).value_fault
        assert assert_finished(self.run("return 1")).value_fault == ""

    def test_a_message_of_ten_megabytes_is_cut(self) -> None:
        assert len(assert_failed(self.run("raise ValueError('x' * 10_000_000)")).message) < 9_000

    def test_on_event_receives_steps_and_output_in_order_before_the_next_call(self) -> None:
        events: list[Progress | str] = []

        class RecordedHome(SampleHome):
            def goto(self, receptacle: str) -> Any:
                events.append(receptacle)
                return super().goto(receptacle)

        backend = self.make(Limits())
        plan = backend.check(wrap_as_plan(TWO_STEPS), RecordedHome)
        assert isinstance(plan, Plan)
        assert_failed(backend.run(plan, RecordedHome(print), echo_answer, on_event=events.append))

        kinds = [type(event).__name__ for event in events]
        assert kinds == ["StepEntry", "OutputChunk", "str", "StepEntry", "OutputChunk"]
        assert isinstance(events[3], StepEntry)
        assert events[3].step == 2
        assert checkpoint_values(events[3].checkpoint)["count"] == 1
        assert events[1] == OutputChunk("[Step 1] look\n")

    def test_what_on_event_raises_reaches_the_caller(self) -> None:
        def full(progress: Progress) -> None:
            raise OSError("disk full")

        with pytest.raises(OSError, match="disk full"):
            self.make(Limits()).run(wrap_as_plan("print(1)"), SampleHome(print), echo_answer, on_event=full)

    def test_random_numbers_are_the_same_in_every_run_with_the_same_seed(self) -> None:
        body = "import random\nprint(random.random(), random.randint(1, 9))"
        first = assert_finished(self.run(body)).output

        assert assert_finished(self.run(body)).output == first
        assert assert_finished(self.run(body, seed=1)).output != first

    def test_the_order_of_sets_is_the_same_in_every_run(self) -> None:
        body = "print({'mug', 'plate', 'knife', 'spoon', 'fork'})"

        assert len({assert_finished(self.run(body)).output for _ in range(3)}) == 1


CAUGHT = """
    if start_from <= 1:
        try:
            {call}
        except Exception:
            print('caught')
        finally:
            print('last words')
            agent.goto('desk 1')
        assert agent.goto('shelf 1')
"""

EVERY_PLACE = {
    "a helper function": "def stop():\n    replan('why')\nif start_from <= 1:\n    stop()\n    assert stop",
    "a loop without end": "while True:\n    try:\n        replan('why')\n    except Exception:\n        pass",
    "a generator": "if start_from <= 1:\n    a = list(replan('why') for n in range(9))\n    assert a",
    "a question": "if start_from <= 1:\n    a = ask_llm(replan('why'))\n    assert a",
    "a call of the agent": "if start_from <= 1:\n    a = agent.goto(replan('why'))\n    assert a",
    "a message": "if start_from <= 1:\n    assert agent.holding, replan('why')",
    "a named argument": "if start_from <= 1:\n    if not agent.holding:\n        replan(reason='why')\n    assert 0",
    "code outside the steps": "replan('why')\nif start_from <= 1:\n    assert agent.goto('desk 1')",
    "a replan": "if start_from <= 1:\n    replan(replan('why'))",
}


class RequestedEndingTests(BackendTests):
    """``replan`` and ``give_up`` end the run at once, wherever the plan calls them."""

    def _run_checked(self, body: str, home: SampleHome | None = None) -> object:
        backend = self.make(Limits())
        plan = backend.check(wrap_as_plan(body), SampleHome)
        assert isinstance(plan, Plan), plan
        return backend.run(plan, home or SampleHome(print), echo_answer)

    def test_a_replan_that_ends_its_step_comes_with_the_steps_variables(self) -> None:
        body = "if start_from <= 1:\n    seen = agent.goto('shelf 1')\n    print(seen)\n    replan(f'{seen} What now?')"
        outcome = assert_replan(self._run_checked(body))

        assert (outcome.step, outcome.line, outcome.step_done) == (1, 5, True)
        assert outcome.reason == "You are at shelf 1. What now?"
        assert outcome.output == "You are at shelf 1.\n"
        assert checkpoint_values(outcome.checkpoint) == {"seen": "You are at shelf 1."}
        assert checkpoint_values(outcome.entries[1]) == {}
        assert outcome.usage.calls == 1

    @pytest.mark.parametrize(
        ("body", "done"),
        [
            ("x = 1\n    replan('why')", True),
            ("x = 1\n    replan(\n        'why'\n    )", True),
            ("x = 1\n    replan('why')\n    'a comment'\n    pass", True),
            ("x = 1\n    return replan('why')", True),
            ("replan('why')\n    assert agent.goto('desk 1')", False),
            ("if agent.holding is None:\n        replan('why')", False),
            ("for n in range(3):\n        replan('why')", False),
            ("x = replan('why')", False),
            ("try:\n        replan('why')\n    finally:\n        pass", False),
        ],
    )
    def test_a_step_is_done_only_if_the_replan_is_its_last_statement(self, body: str, done: bool) -> None:
        assert assert_replan(self._run_checked(f"if start_from <= 1:\n    {body}")).step_done is done

    def test_a_replan_within_the_last_statement_does_not_end_the_step(self) -> None:
        body = "def name():\n    return replan('inner')\nif start_from <= 1:\n    x = 1\n    replan(name())"
        outcome = assert_replan(self._run_checked(body))

        assert (outcome.reason, outcome.line, outcome.step_done) == ("inner", 3, False)

    def test_a_plan_that_gives_up_says_where_and_why(self) -> None:
        outcome = assert_gave_up(self._run_checked("if start_from <= 1:\n    x = 1\n    give_up('there is no mug')"))

        assert (outcome.step, outcome.line, outcome.reason) == (1, 4, "there is no mug")
        assert checkpoint_values(outcome.checkpoint) == {"x": 1}

    @pytest.mark.parametrize("body", EVERY_PLACE.values(), ids=EVERY_PLACE)
    def test_every_place_may_ask_for_the_end(self, body: str) -> None:
        home = SampleHome(print)

        assert assert_replan(self._run_checked(body, home)).reason == "why"
        assert home.history == []

    @pytest.mark.parametrize("call", ["replan('why')", "give_up('why')"])
    def test_no_handler_catches_it_and_nothing_is_done_after_it(self, call: str) -> None:
        home = SampleHome(print)
        outcome = self._run_checked(CAUGHT.format(call=call), home)

        assert not isinstance(outcome, Rejected)
        assert (assert_replan(outcome) if "replan" in call else assert_gave_up(outcome)).reason == "why"
        assert home.history == []

    def test_the_first_request_counts(self) -> None:
        body = "try:\n    give_up('first')\nfinally:\n    replan('second')"

        assert assert_gave_up(self.run(body)).reason == "first"

    def test_a_reason_of_ten_megabytes_is_cut(self) -> None:
        assert len(assert_replan(self.run("replan('x' * 10_000_000)")).reason) < 9_000

    @pytest.mark.parametrize("reason", ["", "'a', 'b'", "7", "None", "['a']", "why='a'"])
    def test_a_reason_that_is_no_single_text_is_an_error_of_the_plan(self, reason: str) -> None:
        for name in ("replan", "give_up"):
            failed = assert_failed(self.run(f"{name}({reason})"))
            assert failed.error == "TypeError"
            assert name in failed.message

    def test_half_a_surrogate_pair_in_a_reason_does_no_harm(self) -> None:
        reason = assert_replan(self.run("replan('\\ud800!')")).reason

        assert reason.encode().endswith(b"!")

    def test_the_names_cannot_be_assigned(self) -> None:
        for line in ("replan = 1\nreplan('why')", "for give_up in []:\n    give_up('why')"):
            found = self.make(Limits()).check(wrap_as_plan(line), SampleHome)
            assert isinstance(found, Rejected)
            assert "belongs to the runtime" in found.diagnostics[0].message

    def test_a_plan_goes_on_with_the_checkpoint_of_its_replan(self) -> None:
        first = "if start_from <= 1:\n    seen = [agent.goto('shelf 1')]\n    replan('seen')"
        saved = assert_replan(self._run_checked(first)).checkpoint
        more = f"{first}\nif start_from <= 2:\n    seen.append(2)\n    print(seen)\n    assert seen"
        home = SampleHome(print)
        outcome = assert_finished(self.run(more, home, 2, saved))

        assert outcome.output == "['You are at shelf 1.', 2]\n"
        assert home.history == []


_IN_A_STEP = """
    if start_from <= 1:
        kept = [1]
        while True:
            {}
        assert kept
"""

_SPENDING: dict[str, tuple[str, Limits]] = {
    "wall": ("pass", Limits(wall=0.3, cpu=10, turns=10**9)),
    "cpu": ("pass", Limits(cpu=0.2, wall=5, turns=10**9)),
    "turns": ("pass", Limits(turns=1_000)),
    "memory": ("kept.append(str(len(kept)) * 20_000)", Limits(memory=64 << 20)),
    "output": ("print('hello')", Limits(output=1_000, wall=1)),
    "calls": ("agent.goto('x')", Limits(calls=20)),
    "reads": ("agent.holding", Limits(reads=20)),
    "call_bytes": ("agent.goto('x' * 5_000)", Limits(call_bytes=2_000)),
    "asks": ("ask_llm('x')", Limits(asks=3)),
    "ask_bytes": ("ask_llm('é' * 600)", Limits(ask_bytes=1_000)),
}
"""For each limit, code that exceeds it when repeated, and the limits to run it with."""

_CATCHING = """
    while True:
        try:
            while True:
                {}
        except Exception:
            continue
        finally:
            x = 1
"""


class LimitTests(BackendTests):
    """Runs that exceed a limit."""

    def test_code_that_exceeds_it_is_known_for_every_limit_that_stops_a_plan(self) -> None:
        assert _SPENDING.keys() == STOPPING_LIMITS
        assert {*Limits.__struct_fields__} - STOPPING_LIMITS == {"checkpoint_bytes", "recursion", "source_bytes"}

    def test_too_deep_a_recursion_is_an_error_that_the_plan_can_catch(self) -> None:
        deep = "def f(n):\n    return f(n + 1)\n"
        assert assert_failed(self.run(deep + "f(0)")).error == "RecursionError"
        caught = deep + "try:\n    f(0)\nexcept RecursionError:\n    print(agent.goto('shelf 1'), agent.goto('desk 1'))"
        outcome = assert_finished(self.run(caught))
        assert outcome.output == "You are at shelf 1. You are at desk 1.\n"

    @pytest.mark.parametrize("limit", _SPENDING)
    def test_each_limit_stops_the_plan_and_says_how_much_and_where(self, limit: str) -> None:
        self.require(*([Capability.TURNS] if limit == "turns" else []))
        code, limits = _SPENDING[limit]
        outcome = assert_stopped(self.run(_IN_A_STEP.format(code), limits=limits), limit)

        assert outcome.step == 1
        assert outcome.allowed == getattr(limits, limit)
        assert outcome.value >= outcome.allowed
        assert str(int(outcome.allowed))[0] in outcome.message

    @pytest.mark.parametrize("limit", [name for name in _SPENDING if name != "memory"])
    def test_at_a_limit_the_line_is_known_and_the_variables_are_saved(self, limit: str) -> None:
        self.require(Capability.SAVED_AT_LIMIT)
        code, limits = _SPENDING[limit]
        outcome = assert_stopped(self.run(_IN_A_STEP.format(code), limits=limits), limit)

        assert outcome.line in (4, 5)
        assert checkpoint_values(outcome.checkpoint)["kept"] == [1]

    @pytest.mark.parametrize("limit", ["wall", "cpu", "turns", "output", "calls", "asks"])
    def test_no_limit_can_be_caught(self, limit: str) -> None:
        self.require(*([Capability.TURNS] if limit == "turns" else []))
        code, limits = _SPENDING[limit]

        assert_stopped(self.run(_CATCHING.format(code), limits=limits), limit)

    @pytest.mark.parametrize("body", ["sum(range(10 ** 11))", "while True:\n    pass", "[i for i in range(10 ** 9)]"])
    def test_a_stop_by_the_wall_limit_comes_within_150_ms_of_it(self, body: str) -> None:
        limits = Limits(wall=0.3, cpu=9, turns=10**9, memory=2 << 30)
        late = [assert_stopped(self.run(body, limits=limits), "wall").value - limits.wall for _ in range(3)]

        assert 0 < min(late) < 0.15

    def test_time_spent_in_the_agent_and_the_model_does_not_count(self) -> None:
        class Slow(SampleHome):
            def goto(self, receptacle: str) -> Any:
                time.sleep(0.3)
                return super().goto(receptacle)

        def slow_answer(question: str) -> str:
            time.sleep(0.3)
            return "yes"

        body = wrap_as_plan("agent.goto('a')\nask_llm('b')\nagent.goto('c')")
        outcome = assert_finished(self.make(Limits(wall=0.4)).run(body, Slow(print), slow_answer))
        assert outcome.usage.wall < 0.4

    def test_output_is_kept_up_to_the_limit(self) -> None:
        outcome = self.run("print('x' * 1_000_000)", limits=Limits(output=100))

        assert assert_stopped(outcome, "output").output == "x" * 100


class CheckpointTests(BackendTests):
    """Saving and resuming."""

    def test_a_run_resumes_at_a_step_with_the_variables_of_the_checkpoint(self) -> None:
        outcome = assert_failed(self.run(TWO_STEPS))
        again = assert_failed(self.run(TWO_STEPS, start_from=2, checkpoint=outcome.entries[2]))

        assert again.output == "[Step 2] think\n"
        assert checkpoint_values(again.checkpoint) == {"seen": ["You are at shelf 1.", 2], "count": 2}
        assert list(again.entries) == [2]

    def test_resuming_from_the_failure_repeats_a_mutation_and_from_the_entry_does_not(self) -> None:
        body = """
        if start_from <= 1:
            l = [1]
            assert l
        if start_from <= 2:
            l.append(2)
            assert len(l) > 9
        """
        outcome = assert_failed(self.run(body))

        assert self.variables_after_resuming(body, outcome.checkpoint) == {"l": [1, 2, 2]}
        assert self.variables_after_resuming(body, outcome.entries[2]) == {"l": [1, 2]}

    def variables_after_resuming(self, body: str, checkpoint: Checkpoint) -> BoundedValue:
        """The variables after resuming at step 2 from a checkpoint."""
        return checkpoint_values(assert_failed(self.run(body, start_from=2, checkpoint=checkpoint)).checkpoint)

    def test_an_interrupted_loop_starts_over_and_its_variable_keeps_its_last_value_until_then(self) -> None:
        body = """
        if start_from <= 1:
            for place in ['a', 'b', 'c']:
                agent.goto(place)
                assert place != 'b' or start_from > 1, 'stuck'
        if start_from <= 2:
            print(place)
            assert place
        """
        outcome = assert_failed(self.run(body))
        assert checkpoint_values(outcome.checkpoint) == {"place": "b"}

        home = SampleHome(print)
        assert assert_finished(self.run(body, home, start_from=2, checkpoint=outcome.checkpoint)).output == "b\n"
        assert_failed(self.run(body, home, checkpoint=outcome.checkpoint))
        assert home.history == ["a", "b"]

    def test_code_outside_the_steps_runs_at_every_start(self) -> None:
        body = """
        def helper(x):
            return x * 2
        limit = 10
        if start_from <= 1:
            limit = 99
            assert False
        if start_from <= 2:
            print(helper(limit))
            assert limit
        """
        outcome = assert_failed(self.run(body))

        assert assert_finished(self.run(body, start_from=2, checkpoint=outcome.checkpoint)).output == "20\n"

    def test_a_variable_that_cannot_be_saved_is_named_and_reading_it_says_so(self) -> None:
        body = """
        if start_from <= 1:
            it = iter([1, 2])
            kept = 1
            assert False
        if start_from <= 2:
            print(kept)
            print(next(it))
            assert kept
        """
        outcome = assert_failed(self.run(body))
        assert "iterator cannot be saved" in outcome.checkpoint.dropped["it"]

        again = assert_failed(self.run(body, start_from=2, checkpoint=outcome.checkpoint))
        assert again.output == "1\n"
        assert again.message.startswith("it was not saved (a list_iterator cannot be saved)")
        assert "it" in again.checkpoint.dropped

    def test_a_kept_variable_is_there_or_its_absence_is_explained(self) -> None:
        backend = self.make(Limits())
        body = wrap_as_plan("if start_from <= 1:\n    sent.append(2)\n    assert sent")
        plan = backend.check(body, SampleHome, kept=["sent"])
        assert isinstance(plan, Plan)
        begun = assert_finished(backend.run(plan, SampleHome(print), echo_answer, 1, encode({"sent": [1]}, 1_000)))
        assert checkpoint_values(begun.checkpoint) == {"sent": [1, 2]}

        lost = assert_failed(backend.run(plan, SampleHome(print), echo_answer))
        assert (lost.error, lost.message) == (
            "NameError",
            "sent is missing: it was a variable of the run before, and this run started without it; set it in this step",
        )

    def test_aliases_are_kept(self) -> None:
        body = """
        if start_from <= 1:
            a = [1]
            b = {'a': a}
            assert False
        if start_from <= 2:
            a.append(2)
            print(b, b['a'] is a)
            assert a
        """
        outcome = assert_failed(self.run(body))

        again = self.run(body, start_from=2, checkpoint=outcome.checkpoint)
        assert assert_finished(again).output == "{'a': [1, 2]} True\n"

    def test_cycles_are_kept(self) -> None:
        self.require(Capability.CYCLES)
        body = """
        if start_from <= 1:
            a = [1]
            a.append(a)
            assert False
        if start_from <= 2:
            print(len(a), a[1] is a)
            assert a
        """
        outcome = assert_failed(self.run(body))

        assert assert_finished(self.run(body, start_from=2, checkpoint=outcome.checkpoint)).output == "2 True\n"

    def test_names_of_the_runtime_and_private_names_are_neither_saved_nor_restored(self) -> None:
        outcome = assert_failed(self.run("for _ in range(2):\n    shown = 2\nassert False"))
        assert set(outcome.checkpoint.names) == {"shown"}

        body = """
        if start_from <= 1:
            ok = 1
            assert ok
        if start_from <= 2:
            print(ok, start_from, agent.holding)
            assert ok
        """
        runtime = ("agent", "print", "ask_llm", "start_from", "_getattr_", "__builtins__")
        forged = encode({"ok": 6, **dict.fromkeys(runtime, 9)}, 999)
        assert assert_finished(self.run(body, start_from=2, checkpoint=forged)).output == "6 2 None\n"

    def test_a_checkpoint_that_is_too_large_drops_what_does_not_fit_and_the_run_goes_on(self) -> None:
        body = "small = [1]\nbig = ['x' * 1000 + str(i) for i in range(2000)]\nassert False"
        outcome = assert_failed(self.run(body))

        assert checkpoint_values(outcome.checkpoint) == {"small": [1]}
        assert "big" in outcome.checkpoint.dropped

    def test_a_damaged_checkpoint_is_an_error_of_one_sentence(self) -> None:
        for damaged in (
            Checkpoint({"x": 9}, [1]),
            Checkpoint({"x": 0}, [["tuple", 0]]),
            Checkpoint({"x": 0}, [object()]),
        ):
            with pytest.raises(CheckpointError, match="the checkpoint is damaged"):
                self.run("pass", checkpoint=damaged)

    def test_a_start_that_is_not_a_number_is_a_usage_error(self) -> None:
        wrong: Any = "2"
        with pytest.raises(UsageError, match="start_from must be a whole number"):
            self.make(Limits()).run(wrap_as_plan("pass"), SampleHome(print), echo_answer, wrong)


_SECONDS = 8.0
_GROWTH = 400 << 20
_ATTEMPTS = {a.name: a for a in sample_attacks()}


class HostilePlanTests(BackendTests):
    """Plans that try to get out."""

    @pytest.mark.parametrize("name", _ATTEMPTS)
    def test_a_hostile_plan_gets_nothing_and_the_next_one_is_served(
        self, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "CANARY-KEY")
        attempt, home, asked = _ATTEMPTS[name], SampleHome(print), list[str]()
        began, size = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        backend = self.make(Limits(wall=1.0, cpu=1.0))

        def ask(question: str) -> str:
            asked.append(question)
            return "yes"

        outcome = backend.run(attempt.source, home, ask)

        assert time.monotonic() - began < _SECONDS
        assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - size) * 1024 < _GROWTH
        assert_nothing_got_through(outcome, home, asked)
        assert assert_finished(self.run("print(agent.goto('desk 1'))")).output == "You are at desk 1.\n"


def assert_nothing_got_through(outcome: Outcome | Rejected, home: SampleHome, asked: list[str]) -> None:
    """Assert that a hostile plan got no secret, changed nothing, and spent no more than its limits."""
    assert (home.holding, home.receptacles) == (None, ["shelf 1", "desk 1"])
    assert len(home.history) <= Limits().calls
    assert len(asked) <= Limits().asks
    if isinstance(outcome, Rejected):
        return
    text = outcome.output
    if not isinstance(outcome, Finished):
        text += outcome.reason if isinstance(outcome, Replan | GiveUp) else outcome.message
    assert len(text) < 100_000
    assert "CANARY" not in text + "".join(asked)
    saved = checkpoint_values(outcome.checkpoint).value if outcome.checkpoint else None
    for value in iterate_scalars(saved):
        assert not (isinstance(value, str) and "CANARY" in value), "a variable holds the host's secret"
        assert not (isinstance(value, bytes) and b"CANARY" in value), "a variable holds the host's secret"
    assert outcome.step in (None, 1)


class BackendContract(
    LanguageTests,
    AgentAccessTests,
    ConcurrencyTests,
    FormTests,
    EndingTests,
    RequestedEndingTests,
    LimitTests,
    CheckpointTests,
    HostilePlanTests,
):
    """Inherit this and define ``make``; pytest collects the tests."""
