"""Plans out of replies whose text alone does not tell where the code ends: a worker finds the reading that is Python."""

from __future__ import annotations

import html
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplan.sandbox import Sandbox
from codeplan.sandbox.language.extraction import MAX_READINGS, SOLUTION_HEADER, add_header, extract_code, readings

sandbox = Sandbox()


def plan(text: str, quotes: str = '"""', prefix: str = "", before: str = "") -> str:
    """A plan with a text in triple quotes, as it stands there."""
    return (
        f"{before}{SOLUTION_HEADER}\n    if start_from <= 1:\n        letter = {prefix}{quotes}{text}{quotes}\n"
        "        n = agent.count('pears')\n        assert n == 12 and letter, f'Error in [Step 1]: {n}'\n    return n\n"
    )


LETTER = plan("Dear all,\nthere are pears.\n\nYours,\nAnn\n")
SQL = plan("\nSELECT fruit, count(*)\nFROM stock\nWHERE fruit = 'pears';\n")
MARKDOWN = plan("# Pears\n\n```\n12\n```\n\nDone.\n")
PYTHON = plan("Run this:\n```python\nprint('pears')\n```\n")
TILDES = plan("~~~\n12\n~~~\n")
TWO_FENCES = plan("```\n1\n```\nand\n```\n2\n```\n")
SINGLE = plan("Dear all,\nit's time.\n", "'''")
RAW = plan("^\\s+\n```\n\\d+$\n", prefix="r")
FORMATTED = plan("Dear {agent.name},\nmany pears.\n```\n", prefix="f")
YAML = plan("\nname: pears\non:\n  push:\n    - main\nreturn: 12\n")
HTML = plan("\n<html>\n<body>\nif start_from here\n</body>\n</html>\n")
DOCUMENTED = '"""Count pears.\n\nThe plan:\nlook, count.\n"""\n' + LETTER
SHIFTED = "".join(f"   {line}\n" if line.startswith((" ", "def")) else f"{line}\n" for line in LETTER.splitlines())
IN_JSON = plan(json.dumps({"code": SQL}), "'''", prefix="r")
CURLED = "# it’s “so”\nmarks = “it’s” + ‘a’ + 'a “b”'\n"
STRAIGHT = "# it’s “so”\nmarks = \"it’s\" + 'a' + 'a “b”'\n"
MARGINS = {"prompts": ">>> ", "line numbers": "{:>3} | ", "numbers with colons": "{}: ", "added lines": "+"}


def in_margin(code: str, margin: str) -> str:
    return "".join(f"{margin.format(number)}{line}\n" for number, line in enumerate(code.splitlines(), 1))


WHOLE: dict[str, tuple[str, str]] = {
    "a letter": (LETTER, LETTER),
    "a letter behind prose": (f"Here is the plan.\n\n{LETTER}", LETTER),
    "a letter between prose": (
        f"Here is the plan:\n\n{LETTER}\nIt writes a letter. I hope that's right!\n\nBye.",
        LETTER,
    ),
    "a letter in a fence": (f"```python\n{LETTER}```\nThis counts.", LETTER),
    "SQL": (SQL, SQL),
    "SQL behind prose": (f"Sure:\n{SQL}\nDone.", SQL),
    "a fence in a text, all of it bare": (MARKDOWN, MARKDOWN),
    "a fence in a text, behind prose": (f"Here it is.\n\n{MARKDOWN}\nThat is all.", MARKDOWN),
    "a fence in a text, in a fence": (f"So:\n```python\n{MARKDOWN}```\nBye.", MARKDOWN),
    "a fence of Python in a text": (f"```python\n{PYTHON}```", PYTHON),
    "a fence of Python in a text, bare": (PYTHON, PYTHON),
    "two fences in a text": (f"```python\n{TWO_FENCES}```\n", TWO_FENCES),
    "two fences in a text, and output behind": (
        f"```python\n{TWO_FENCES}```\nIt prints:\n```text\n12\n```\n",
        TWO_FENCES,
    ),
    "tildes in a text, in tildes": (f"~~~python\n{TILDES}~~~\n", TILDES),
    "an odd number of fences in a text": (f"```python\n{RAW}```\n", RAW),
    "a fence that is not closed": (f"```python\n{MARKDOWN}", MARKDOWN),
    "single quotes with an apostrophe": (f"Well, it's this:\n{SINGLE}\nThat's it.", SINGLE),
    "a text with fields": (f"```python\n{FORMATTED}```", FORMATTED),
    "YAML with words of Python": (f"Good.\n\n{YAML}\nDone.", YAML),
    "HTML with a step's words": (HTML, HTML),
    "a docstring in front": (DOCUMENTED, DOCUMENTED),
    "a docstring in front, in a fence": (f"```\n{DOCUMENTED}```", DOCUMENTED),
    "code that is indented in a list, with a text that is not": (f"1. This:\n   ```python\n{SHIFTED}   ```\n", LETTER),
    "prose that begins like code": (f"{LETTER}\nimport note: the pears are counted twice.\n", LETTER),
    "prose that looks like an assignment": (f"{LETTER}\nresult = what the agent counted, as asked\n", LETTER),
    "a thought behind": (f"```python\n{MARKDOWN}```\n<think>Is that right? Yes.</think>\nDone.", MARKDOWN),
    "a thought on the line of the fence": (f"```python\n{LETTER}```<think>Right?</think>\n", LETTER),
    "a thought with a plan in front": (f"<thought>\n```\n{SQL}```\n</thought>\n```\n{LETTER}```", LETTER),
    "a thought with a plan, in Mistral's marks": (f"[THINK]\n{SQL}[/THINK]\n{LETTER}", LETTER),
    "a thought with a plan, in gpt-oss' channels": (
        f"<|channel|>analysis<|message|>Maybe\n{SQL}<|end|><|start|>assistant<|channel|>final<|message|>{LETTER}",
        LETTER,
    ),
    "a tag of thoughts in a text": (plan("Say '</think>'\nnow."), plan("Say '</think>'\nnow.")),
    "smolagents' end of code": (f"Thought: hm\nCode:\n```py\n{MARKDOWN}```<end_code>", MARKDOWN),
    "a fence that a tag closes": (f"```python\n{LETTER}</code>", LETTER),
    "one word behind": (f"{LETTER}\nDone\n", LETTER),
    "words that are a tuple": (f"{LETTER}\nEnjoy, everybody\n", LETTER),
    "words that are an annotation": (f"{LETTER}\nNote: counted\n", LETTER),
    "a closing fence without an opening one": (f"{LETTER}```\nThis counts the pears, and then writes.\n", LETTER),
    "a thought with a fence": (f"Thought:\n```\nnot code at all\n```\n\nCode:\n```\n{MARKDOWN}```\n", MARKDOWN),
    "a fence that closes on the last line": (f"```python\n{LETTER.rstrip()}```\n\nThis counts.", LETTER),
    "a field of JSON": (json.dumps({"thought": "I count.", "code": MARKDOWN}), MARKDOWN),
    "a field of JSON in a fence": (f"```json\n{json.dumps({'thought': 'I count.', 'code': SQL})}\n```", SQL),
    "a call of a tool": (
        f"<tool_call>\n{json.dumps({'name': 'python', 'arguments': {'code': SQL}})}\n</tool_call>",
        SQL,
    ),
    "a list of calls with arguments in a text": (
        f"I count.\n{json.dumps([{'id': 'c', 'function': {'arguments': json.dumps({'code': MARKDOWN})}}])}",
        MARKDOWN,
    ),
    "JSON that a tag closes": (f"{json.dumps({'thought': 'I count.', 'code': LETTER})}</code>", LETTER),
    "a plan with JSON of a plan in a text": (IN_JSON, IN_JSON),
    "escaped as JSON": (f"```python\n{json.dumps(LETTER)[1:-1]}\n```", LETTER),
    "escaped as HTML": (f"```python\n{html.escape(LETTER)}```", LETTER),
    "quotation marks of a text editor": (f"```python\n{CURLED}{LETTER}```", STRAIGHT + LETTER),
    "a quotation": ("".join(f"> {line}\n" for line in f"Here:\n```python\n{LETTER}```".splitlines()), LETTER),
    **{f"{name}, alone": (in_margin(LETTER, margin), LETTER) for name, margin in MARGINS.items()},
    **{f"{name}, in a fence": (f"So:\n```\n{in_margin(SQL, margin)}```\n", SQL) for name, margin in MARGINS.items()},
    "tags in place of a fence": (f"Thoughts: hm.\n<code>\n{LETTER}</code>\n", LETTER),
    "a question about it behind": (f"```python\n{MARKDOWN}```\nIs that what you want?", MARKDOWN),
}


@pytest.mark.parametrize("name", WHOLE)
def test_the_plan_is_found_whole(name: str) -> None:
    reply, code = WHOLE[name]
    assert sandbox.read_reply(reply) == code


STEP = 'if start_from <= 2:\n    letter = """Dear all,\npears.\n```\n"""\n    assert agent.send(letter)\n'


@pytest.mark.parametrize("reply", [STEP, f"Only this changes:\n```python\n{STEP}```\n", f"Only this:\n\n{STEP}\nBye."])
def test_a_changed_step_is_found_whole(reply: str) -> None:
    assert sandbox.read_reply(reply) == STEP


BROKEN = LETTER.replace("n = agent", "n == = agent")


@pytest.mark.parametrize("reply", [BROKEN, f"```python\n{BROKEN}```", f"So:\n{BROKEN}\nDone.", "I cannot do that.", ""])
def test_a_reply_without_any_readable_plan_is_read_as_before(reply: str) -> None:
    assert sandbox.read_reply(reply) == extract_code(reply)


def test_nothing_that_acts_is_left_out_to_make_a_reply_readable() -> None:
    steps = "if start_from <= 1:\n    assert agent.look()\nif start_from <= 2:\n    assert agent.take(\n"
    for reply in (steps, f"```python\n{steps}```", f"So:\n{steps}\nDone."):
        assert "start_from <= 2" in sandbox.read_reply(reply)


def test_a_text_of_several_lines_stays_as_it_is_under_a_new_header() -> None:
    body = 'if start_from <= 1:\n    letter = """Dear all,\n# pears\n"""  # it\'s """ here\n    assert letter\n'
    assert add_header(body).split("\n")[2:4] == ['        letter = """Dear all,', "# pears"]
    assert add_header(body).split("\n")[4:6] == ['"""  # it\'s """ here', "        assert letter"]


@pytest.mark.parametrize("name", WHOLE)
def test_most_replies_need_no_worker_and_none_many_readings(name: str) -> None:
    assert len(readings(f"Sure.\n\n```python\n{WHOLE[name][0]}\n```\nDone.")) <= MAX_READINGS
    assert len(readings(f"Sure.\n\n```python\n{plan('pears')}```\nDone.")) == 1


PIECES = st.sampled_from(
    [
        "```\n",
        "```python\n",
        '"""',
        "'''",
        "\n",
        "def solution(agent):\n",
        "if start_from <= 1:\n",
        "    x = 1\n",
        "Words.\n",
        "\\",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_every_reply_has_readings_and_the_likeliest_is_one_of_them(reply: str) -> None:
    found = readings(reply)
    assert extract_code(reply) in found
    assert sandbox.read_reply(reply) in found
