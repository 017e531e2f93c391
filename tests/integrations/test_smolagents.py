"""smolagents' CodeAgent runs its snippets in the cage."""

from __future__ import annotations

import pytest

pytest.importorskip("smolagents", reason="the extra smolagents is not installed")
from smolagents import ChatMessage, CodeAgent, Model, tool
from smolagents.local_python_executor import InterpreterError

from codeplan.errors import UsageError
from codeplan.integrations.smolagents import CagedExecutor
from codeplan.sandbox import Limits


class Scripted(Model):
    """Replies with these snippets, and keeps what it was sent."""

    def __init__(self, *snippets):
        super().__init__(model_id="scripted")
        self.snippets, self.seen = list(snippets), []

    def generate(self, messages, **options):
        self.seen.append("\n".join(str(m.content) for m in messages))
        return ChatMessage(role="assistant", content=f"Thought: on.\n<code>\n{self.snippets.pop(0)}\n</code>")


@tool
def stock(item: str, shelf: int = 1) -> int:
    """How many of an item there are.

    Args:
        item: its name
        shelf: where to look
    """
    return len(item) * shelf


@tool
def broken() -> str:
    """Does not work."""
    raise KeyError("drawer")


@tool
def note(text: str, tag: str | None = None) -> str:
    """Write a note.

    Args:
        text: what to write
        tag: a mark
    """
    return f"{text}/{tag}"


def play(*snippets, tools=(stock,), executor=None, **given):
    model = Scripted(*snippets)
    agent = CodeAgent([*tools], model, executor=executor or CagedExecutor(), max_steps=len(snippets), verbosity_level=0)
    return agent.run("count", **given), agent.memory.steps[1:], model


def executor(*tools, **options):
    made = CagedExecutor(**options)
    made.send_tools({each.name: each for each in tools})
    return made


def test_variables_functions_classes_and_imports_are_there_in_the_next_snippet():
    answer, steps, _ = play(
        "import math as m\nfrom dataclasses import dataclass\nclass Box:\n    def __init__(self, n): self.n = n\n"
        "def twice(name):\n    '''Of\nan item.'''\n    return stock(name, shelf=2)\nhalf = lambda x: x / 2\n"
        "box = Box(3)\nbox.n",
        "box.n += twice('nut')\nprint(box.n)",
        "twice = 5\nfinal_answer([half(box.n), twice, m.floor(2.5)])",
        tools=[stock],
    )
    assert answer == [4.5, 5, 2]
    assert [step.observations for step in steps[:2]] == [
        "Execution logs:\nLast output from code snippet:\n3",
        "Execution logs:\n9\nLast output from code snippet:\nNone",
    ]


def test_the_final_answer_ends_the_code_wherever_it_is_given():
    answer, steps, _ = play(
        "def done(x):\n    final_answer(x)\ntry:\n    done({'n': stock('nut')})\nexcept Exception:\n    print('caught')\nprint('after')"
    )
    assert answer == {"n": 3}
    assert "after" not in steps[0].observations and "caught" not in steps[0].observations


def test_an_error_is_an_error_of_the_step_with_what_was_printed_and_its_variables():
    answer, steps, model = play(
        "n = stock('nut')\nprint('counted', n)\n1 / (n - 3)", "final_answer(n)", executor=CagedExecutor()
    )
    assert answer == 3
    assert "ZeroDivisionError: division by zero (at `return 1 / (n - 3)`)" in str(steps[0].error)
    assert steps[0].observations == "Execution logs:\ncounted 3\n"
    assert "ZeroDivisionError" in model.seen[1]


def test_a_tools_own_exception_is_shown_to_its_developer_with_the_place(capsys):
    _, steps, _ = play("broken()", "final_answer(1)", tools=[broken])
    assert "KeyError: 'drawer'" in str(steps[0].error)
    assert 'raise KeyError("drawer")' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import subprocess\nsubprocess.run('ls')", "subprocess"),
        ("open('/etc/passwd').read()", "open"),
        ("stock()", "call `agent.stock` as stock(item: str, shelf: int | None = 1)"),
        ("x = (", "'(' was never closed"),
        ("print.__globals__", "__globals__"),
        ("missing + 1", "`missing` is not defined"),
    ],
)
def test_refused_code_raises_the_interpreters_error(code, said):
    with pytest.raises(InterpreterError, match="nothing of it ran") as caught:
        executor(stock)(code)
    assert said in str(caught.value)


def test_code_ends_at_the_limit_of_time():
    with pytest.raises(InterpreterError, match="longer than"):
        executor(limits=Limits(wall=0.3))("while True: pass")


def test_a_variable_that_cannot_be_kept_is_missed_with_the_reason():
    running = executor()
    running("numbers = (n for n in range(3))")
    with pytest.raises(InterpreterError, match="`numbers` of earlier code was not kept: a generator cannot be saved"):
        running("next(numbers)")


def test_definitions_that_read_what_was_not_kept_are_missed_alone():
    running = executor()
    running("kept = [n for n in [iter([])]]\ndef seen():\n    return kept\ndef twice():\n    return seen() * 2\ndef one(kept):\n    return kept")  # fmt: skip
    with pytest.raises(InterpreterError, match="`twice` of earlier code was not kept: it reads `seen`, which was not"):
        running("twice()")
    assert running("one(1)").output == 1
    assert running("kept = 3\ndef seen():\n    return kept\nseen()").output == 3


def test_definitions_that_read_a_variable_while_they_are_made_are_made_with_it():
    running = executor()
    running(
        "size = 2\ndef grow(x, by=size):\n    return x + by\nclass Box:\n    height = size\nclass Crate(Box):\n    pass"
    )
    running("size = 5")
    assert running("grow(1), Crate.height, Crate().height").output == (6, 5, 5)


def test_arguments_of_the_task_are_variables_and_optional_arguments_may_be_left_out():
    answer, *_ = play(
        "final_answer([note(city), note(city, tag='x'), note(text=city, tag=None)])",
        tools=[note],
        additional_args={"city": "Bern"},
    )
    assert answer == ["Bern/None", "Bern/x", "Bern/None"]


def test_a_managed_agent_is_called_like_a_tool():
    helper = CodeAgent([], Scripted("final_answer('42 nuts')"), name="helper", description="Counts.", max_steps=1, verbosity_level=0)  # fmt: skip
    boss = CodeAgent(
        [], Scripted("final_answer(helper(task='count', additional_args={'a': 1}))"), managed_agents=[helper], executor=CagedExecutor(), max_steps=1, verbosity_level=0
    )  # fmt: skip
    assert "42 nuts" in boss.run("how many?")


def test_authorized_imports_are_loaded_in_the_cage_by_name_alone():
    assert executor(additional_authorized_imports=["colorsys", "math", "queue"])(
        "import colorsys\ncolorsys.rgb_to_hsv(1, 1, 1)"
    ).output == (0.0, 0, 1)
    with pytest.raises(UsageError, match="name them in place of"):
        CagedExecutor(["*"])
    with pytest.raises(UsageError, match="not installed"):
        executor(additional_authorized_imports=["no_such_package"])


def test_a_value_that_is_no_data_is_refused_where_it_enters():
    with pytest.raises(UsageError, match="'socket' cannot become data"):
        executor().send_variables({"socket": object()})


def test_a_definition_that_calls_a_tool_while_it_is_made_does_not_call_it_again():
    asked = []

    def look(item: str) -> str:
        """Look for an item."""
        asked.append(item)
        return item

    running = CagedExecutor()
    running.send_tools({"look": look})
    running("class Found:\n    item = look('key')\n    def again(self):\n        return look('lamp')")
    running("def default(x=look('box')):\n    return x\ndef later():\n    return look('desk')")
    assert running("later()").output == "desk"
    assert asked == ["key", "box", "desk"]
    with pytest.raises(InterpreterError, match="`Found` is not defined"):
        running("Found()")


def test_a_definition_that_fails_when_it_is_made_again_is_forgotten():
    running = executor()
    with pytest.raises(InterpreterError, match="always"):
        running("def one():\n    return 1\nclass Bad:\n    raise ValueError('always')")
    with pytest.raises(InterpreterError, match="this definition of earlier code is forgotten, and nothing else ran"):
        running("one()")
    assert running("one()").output == 1


def test_a_definition_that_fails_when_it_is_called_is_kept():
    running = executor()
    running("def bad(x):\n    return 1 / x")
    with pytest.raises(InterpreterError, match="ZeroDivisionError"):
        running("bad(0)")
    assert running("bad(1)").output == 1
