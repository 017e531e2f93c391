"""Extracting the plan from a model's reply."""

from __future__ import annotations

import pytest

from codeplan.sandbox import extract
from codeplan.sandbox.language.extraction import extract_code, in_fence, prose_of

PLAN = (
    "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] go')\n        assert True\n"
)
BODY = PLAN.split("\n", 1)[1]

REPLIES: dict[str, str] = {
    "the bare plan": PLAN,
    "a fence": f"```python\n{PLAN}```",
    "a fence of tildes": f"~~~py\n{PLAN}~~~\n",
    "prose around a fence": (
        f"Sure! Here is my plan.\n\n```python\n{PLAN}```\n\nIt first goes there. I hope `this` helps!"
    ),
    "prose without a fence": f"Here is the plan:\n\n{PLAN}\nThis plan walks to the desk.",
    "an unclosed fence": f"Plan:\n```python\n{PLAN}",
    "an indented fence": "1. The plan:\n   ```python\n"
    + "".join(f"   {line}\n" for line in PLAN.splitlines())
    + "   ```\n",
    "an indented plan": "".join(f"    {line}\n" for line in PLAN.splitlines()),
    "a doubled header": "def solution(agent, start_from=1):\n" + PLAN,
    "the body alone": BODY,
    "the body alone, dedented": "".join(f"{line[4:]}\n" for line in BODY.splitlines()),
    "the body with prose behind": f"{BODY}\nThat is all.",
    "windows line ends": PLAN.replace("\n", "\r\n"),
    "tabs": PLAN.replace("    ", "\t"),
    "odd spaces": PLAN.replace("    ", "\u00a0" * 4),
    "invisible characters": "\ufeff" + PLAN.replace("def", "\u200bdef"),
    "thoughts": (
        f"<think>\nMaybe\n```python\ndef solution(agent, start_from=1):\n    pass\n```\n</think>\n```python\n{PLAN}```"
    ),
    "a draft and a final plan": (
        f"Draft:\n```python\ndef solution(agent, start_from=1):\n    pass\n```\nBetter:\n```python\n{PLAN}```"
    ),
    "an example of its use behind": (
        f"```python\n{PLAN}```\nUse it so:\n```python\nagent = Agent()\nsolution(agent)\n```"
    ),
    "a shell command in front": f"```bash\npip install things\n```\n```python\n{PLAN}```",
    "output behind": (
        f"```python\n{PLAN}```\n```text\nYou arrive at desk 1.\n"
        f"You see a mug 1, and many other very long things that go on.\n```"
    ),
    "four backticks": f"````python\n{PLAN}````",
}


@pytest.mark.parametrize("name", REPLIES)
def test_the_plan_is_extracted_from(name: str) -> None:
    assert extract(REPLIES[name]) == PLAN


def test_a_doubled_header_that_is_indented_is_dropped() -> None:
    inner = "".join(f"    {line}\n" for line in PLAN.splitlines())
    body = "".join(f"    {line}\n" for line in BODY.splitlines())
    assert extract("def solution(agent, start_from=1):\n" + inner) == "def solution(agent, start_from=1):\n" + body


def test_code_before_solution_is_kept() -> None:
    code = "# A plan\nfrom ast import literal_eval\nLIMIT = 3\n\n\ndef helper(x):\n    return x\n\n\n" + PLAN
    assert extract("Certainly:\n\n" + code + "\nDone.") == code
    assert extract(f"```python\n{code}```") == code


def test_functions_after_solution_are_kept() -> None:
    code = PLAN + "\n\ndef helper(x):\n    return x\n"
    assert extract(code + "\nThe helper returns x.") == code


STEPS = "if start_from <= 2:\n    assert agent.look()\n"
LATER = "if start_from <= 3:\n    assert agent.take('mug 1')\n"
HELPER = "def far(place):\n    return agent.goto(place)\n"

STEP_REPLIES: dict[str, tuple[str, str]] = {
    "bare": (STEPS, STEPS),
    "in a fence": (f"```python\n{STEPS}```", STEPS),
    "indented as in the function": ("```python\n" + PLAN.split("\n", 1)[1] + "```", BODY.replace("\n    ", "\n")[4:]),
    "in two fences": (f"First\n```python\n{STEPS}```\nthen\n```\n{LATER}```\n", f"{STEPS}\n{LATER}"),
    "at two margins": (
        f"```python\n{STEPS}```\n```python\n" + "".join(f"    {line}\n" for line in LATER.splitlines()) + "```",
        f"{STEPS}\n{LATER}",
    ),
    "a helper in its own fence": (f"```python\n{HELPER}```\n```python\n{STEPS}```", f"{HELPER}\n{STEPS}"),
    "a constant in its own fence": (
        f"```\nplaces = [\n    1,\n]\n```\n```\n{STEPS}```",
        f"places = [\n    1,\n]\n\n{STEPS}",
    ),
    "with code that is quoted": (f"Not\n```python\nfound = agent.take(1)\n```\nbut\n```python\n{STEPS}```", STEPS),
    "a helper without a fence": (f"So it goes:\n\n{HELPER}\n{STEPS}\nThat is all.", f"{HELPER}\n{STEPS}"),
    "a helper alone": (f"Only this changes:\n\n{HELPER}\nThe rest stays.", HELPER),
}


@pytest.mark.parametrize("name", STEP_REPLIES)
def test_steps_are_extracted_without_a_header(name: str) -> None:
    reply, code = STEP_REPLIES[name]
    assert extract_code(reply) == code


def test_a_whole_plan_counts_more_than_steps_beside_it() -> None:
    for reply in (f"```\n{STEPS}```\nAll of it:\n```\n{PLAN}```", f"```\n{PLAN}```\nNew in it:\n```\n{STEPS}```"):
        assert extract_code(reply) == PLAN


def test_without_steps_the_last_block_like_a_body_counts_and_else_the_longest() -> None:
    body, long = "print('[Step 1] go')", "one = 1\ntwo = 2\nthree = 3"
    fenced = [in_fence(code) for code in (body.replace("go", "wait"), body, long, "one = 1")]
    assert extract_code("\n".join(fenced)) == body + "\n"
    assert extract_code("\n".join(fenced[2:])) == long + "\n"


@pytest.mark.parametrize("margin", ["", "    "])
@pytest.mark.parametrize("last", ["return {'a': x}", "return", "return(x)"])
def test_a_return_behind_the_steps_is_no_prose(margin: str, last: str) -> None:
    lines = ("if start_from <= 2:", "    x = 1", "    assert x", last)
    code = "\n".join(lines) + "\n"
    assert extract_code("\n".join(margin + line for line in lines)) == code
    assert extract_code("\n".join(lines) + "\nReturning x is enough.") == code


def test_code_in_a_fence_of_its_own_stays_whole() -> None:
    code = "x = 1\nfor y in x:\n    print('```')\nelse:\n    print('````')\n"
    assert extract_code(in_fence(code)) == code


def test_an_empty_reply_has_no_plan() -> None:
    assert extract("") == ""
    assert extract("  \n\n") == ""


def test_a_reply_without_code_is_returned_for_the_check_to_reject() -> None:
    assert extract("I cannot do that.") == "I cannot do that.\n"


def test_extracting_twice_changes_nothing() -> None:
    for reply in REPLIES.values():
        assert extract(extract(reply)) == extract(reply)


HEADER = "def solution(agent, start_from=1):\n"


@pytest.mark.parametrize("between", ["", "\n", "\n   \n\n"])
def test_a_header_that_is_written_twice_is_one_header_also_with_blank_lines_between(between: str) -> None:
    assert extract(HEADER + between + PLAN).replace("\n\n", "\n").replace("\n\n", "\n") == PLAN


def test_two_plans_with_code_between_their_headers_stay_two() -> None:
    assert extract_code(PLAN + PLAN).count(HEADER) == 2


@pytest.mark.parametrize("thoughts", [1, 2, 3])
def test_the_plan_stands_after_the_last_thought(thoughts: int) -> None:
    draft = f"```python\n{HEADER}    pass\n```\nor rather\n"
    assert extract(f"<think>{draft}</think>\n{draft}" * (thoughts - 1) + f"<think>{draft}</think>\n{PLAN}") == PLAN


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("Where to?", "Where to?"),
        ("<think>I do not know.\nagent.f()</think>\n\nI cannot do that.\nSorry.\n", "I cannot do that.\nSorry."),
        ("去哪里？", "去哪里？"),
        ("", ""),
        ("Nothing", ""),
        ('<tool_call>\n{"name": "count", "arguments": {"fruit": "pears"}}\n</tool_call>', ""),
        ('{"name": "count", "parameters": {"fruit": "pears"}}', ""),
        ("Here it is:\n```python\nx\n```", ""),
        ("Here it is:\n\ndef solution(agent, start_from=1):\n    return 1", ""),
        ("I changed step 2:\n\n    if start_from <= 2:\n        agent.f()", ""),
    ],
)
def test_a_reply_is_prose_only_without_any_code(reply: str, words: str) -> None:
    assert prose_of(reply) == words


@pytest.mark.parametrize("margin", [">>> ", "1 | ", "12: ", "+"])
def test_code_behind_a_margin_is_no_question(margin: str) -> None:
    assert prose_of(f"Here it is:\n{margin}def solution(agent):\n{margin}    return agent.look()\n") == ""
