"""The analysis that merges the plans of one episode."""

import pytest

from codeplan.errors import UsageError
from codeplan.sandbox import Sandbox
from codeplan.types import Finished, Rejected

SANDBOX = Sandbox()


class Diary:
    """Records what it is given."""

    def __init__(self):
        self.said = []

    def say(self, text: str) -> str:
        """Record a text."""
        self.said.append(text)
        return text


def plan(*steps, helpers=""):
    """Return a plan with these steps, each one line of code."""
    blocks = [
        f"    if start_from <= {n}:\n        print('[Step {n}] why')\n        {code}\n        assert 1, f'Error in [Step {n}]'\n"
        for n, code in enumerate(steps, 1)
    ]
    return "def solution(agent, start_from=1):\n" + helpers + "".join(blocks)


def helper(text):
    return f"    def tell(x):\n        agent.say('{text} ' + x)\n"


def merged(source, steps, *before):
    arguments = {"steps": steps, "before": [{"source": s, "steps": n} for s, n in before]}
    return SANDBOX.analyse("merge", source, arguments)


def said(source):
    diary = Diary()
    outcome = SANDBOX.run(source, diary, str)
    assert isinstance(outcome, Finished), outcome
    return diary.said, outcome.output


def test_steps_of_several_plans_become_one_renumbered_plan():
    first, second = plan("agent.say('a')", "agent.say('b')"), plan("agent.say('c')", "agent.say('d')")
    whole = merged(second, [2], (first, [1, 2]))
    assert said(whole) == (["a", "b", "d"], "[Step 1] why\n[Step 2] why\n[Step 3] why\n")
    assert "Error in [Step 3]" in whole


def test_shared_code_outside_the_steps_appears_once():
    first, second = plan("tell('a')", helpers=helper("I")), plan("tell('b')", helpers=helper("I"))
    whole = merged(second, [1], (first, [1]))
    assert whole.count("def tell") == 1
    assert said(whole)[0] == ["I a", "I b"]


def test_helpers_with_one_name_but_different_code_are_both_kept():
    first, second = plan("tell('a')", helpers=helper("old")), plan("tell('b')", helpers=helper("new"))
    whole = merged(second, [1], (first, [1]))
    assert said(whole)[0] == ["old a", "new b"]


def outside(code, *steps):
    return plan(*steps, helpers="".join(f"    {line}\n" for line in code.split("\n")))


@pytest.mark.parametrize(
    ("one", "other", "said_by"),
    [
        ("a = 'a'\nx = a + '1'", "a = 'a'\nx = a + '2'", ["a1", "a2"]),
        ("xs = []\nxs.append('a')\nx = str(len(xs))", "xs = []\nxs.append('a')\nx = str(len(xs))", ["1", "1"]),
        ("a = 'a'\nx = a + '1'", "a = 'b'\nx = a + '1'", ["a1", "b1"]),
        ("y = 'a'\nf = lambda y: y\nx = f('1')", "y = 'b'\nx = y", ["1", "b"]),
        ("y = 'a'\ndef f(y):\n    return y\nx = f('1')", "y = 'b'\nx = y", ["1", "b"]),
        ("y = 'a'\ntry:\n    {}['k']\nexcept KeyError as y:\n    x = str(y)", "y = 'b'\nx = y", ["'k'", "b"]),
        ("y = 'a'\nmatch '1':\n    case y:\n        x = y", "y = 'b'\nx = y", ["1", "b"]),
    ],
)
def test_code_outside_the_steps_keeps_its_meaning(one, other, said_by):
    whole = merged(outside(other, "pass", "agent.say(x)"), [2], (outside(one, "agent.say(x)"), [1]))
    assert said(whole)[0] == said_by


def test_later_steps_read_variables_of_earlier_plans_steps():
    first, second = plan("x = 'a'"), plan("pass", "agent.say(x)")
    assert said(merged(second, [2], (first, [1])))[0] == ["a"]


def test_missing_steps_are_ignored():
    assert said(merged(plan("agent.say('a')"), [1, 2, 99]))[0] == ["a"]


def test_invalid_python_is_rejected_and_wrong_arguments_are_reported():
    assert isinstance(merged("def (", [1]), Rejected)
    assert isinstance(merged(plan("pass"), [1], ("def (", [1])), Rejected)
    for arguments in ({}, {"steps": [1]}, {"steps": ["1"], "before": []}, {"steps": [], "before": ["x"]}):
        with pytest.raises(UsageError):
            SANDBOX.analyse("merge", plan("pass"), arguments)


def growing(*codes):
    """Return a plan with these steps; the lines of a step are separated by line ends."""
    blocks = [
        f"    if start_from <= {n}:\n" + "".join(f"        {line}\n" for line in code.split("\n"))
        for n, code in enumerate(codes, 1)
    ]
    return "def solution(agent, start_from=1):\n" + "".join(blocks)


TESTED = "agent.say('{}')\nassert agent"


def test_a_replan_goes_where_a_step_follows_and_its_step_joins_the_next_unless_it_tests_something():
    source = growing(
        "print('[Step 1] I look')\nagent.say('a')\nreplan('seen')",
        "print('[Step 2] I look on')\nagent.say('b'); replan('more')",
        "print('[Step 3] I act')\n" + TESTED.format("c") + "\nreplan('acted')",
        TESTED.format("d") + "\nreplan('the end')",
    )
    whole = merged(source, [1, 2, 3, 4])
    assert whole.count("if start_from") == 2
    assert [line.strip() for line in whole.splitlines() if "replan" in line] == ["replan('the end')"]
    assert [line.strip() for line in whole.splitlines() if "print" in line] == [
        "print('[Step 1] I look')",
        "print('[Step 1] I look on')",
        "print('[Step 1] I act')",
    ]
    assert said(whole.replace("replan('the end')", "pass"))[0] == ["a", "b", "c", "d"]


def test_a_replan_that_depends_on_something_stays_and_counts_as_a_test():
    source = growing("if not agent.say('a'):\n    replan('no')\nreplan('seen')", TESTED.format("b"))
    whole = merged(source, [1, 2])
    assert (whole.count("replan"), whole.count("if start_from")) == (1, 2)
    assert said(whole)[0] == ["a", "b"]


def test_a_step_that_only_asks_to_replan_disappears():
    whole = merged(growing("replan('how?')", TESTED.format("b")), [1, 2])
    assert (whole.count("replan"), whole.count("if start_from")) == (0, 1)
    assert said(whole)[0] == ["b"]
