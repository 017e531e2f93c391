"""No text that a plan can make of an object shows an address, and none of the plan's own texts is changed for it."""

from __future__ import annotations

import pytest
from support.caged import SampleHome, failed, finished, run

OBJECTS = [
    "print",
    "agent.goto",
    "own",
    "(lambda: 1)",
    "(i for i in 'a')",
    "iter([1])",
    "iter({1: 2}.items())",
    "iter({1})",
    "iter('é')",
    "iter(range(3))",
    "zip('a')",
    "filter(None, [1])",
    "reversed([1])",
    "map(str, [1])",
    "enumerate([])",
    "'a'.upper",
    "'a'.ljust",
    "{}.get",
    "dict.fromkeys",
    "re.compile('a').match",
    "re.finditer('a', 'a')",
    "deque([1]).popleft",
    "iter(deque([1]))",
]
TEXTS = [
    "str(x)",
    "repr(x)",
    "ascii(x)",
    "format(x)",
    "f'{x}'",
    "f'{x!r}'",
    "'%s' % x",
    "'{}'.format(x)",
    "str({'key': (x,)})",
    "list(map(str, [x]))[0]",
    "str(ValueError(x))",
    "str(deque([x]))",
    "str(slice(x))",
    "defaultdict(str)[x] or str(defaultdict(len, {1: x}))",
    "str({1: x}.values())",
]


@pytest.fixture(scope="module")
def printed() -> dict[tuple[str, str], str]:
    """All texts of all objects, which are the same in two runs."""
    lines = ["def own():", "    pass"]
    for index, made in enumerate(OBJECTS):
        lines.append(f"def make_{index}():\n    x = {made}")
        lines += [f"    print({text})" for text in TEXTS]
        lines.append(f"make_{index}()")
    outputs = [finished(run("\n".join(lines), output=10**6)).output for _ in range(2)]
    assert outputs[0] == outputs[1]
    pairs = [(made, text) for made in OBJECTS for text in TEXTS]
    return dict(zip(pairs, outputs[0].splitlines(), strict=True))


@pytest.mark.parametrize("made", OBJECTS)
def test_no_text_of_an_object_shows_its_address(made, printed):
    shown = [printed[made, text] for text in TEXTS]
    assert all("<" in line for line in shown)
    assert [line for line in shown if "0x" in line] == []


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("print", "<built-in function print>"),
        ("agent.goto", "<function goto>"),
        ("own", "<function solution.<locals>.own>"),
        ("'a'.upper", "<built-in method upper of str object>"),
        ("iter([1])", "<list_iterator object>"),
        ("(i for i in 'a')", "<generator object solution.<locals>.make_4.<locals>.<genexpr>>"),
    ],
)
def test_a_text_is_pythons_own_without_the_address(made, text, printed):
    assert printed[made, "str(x)"] == text


@pytest.mark.parametrize(
    "body",
    [
        "raise ValueError(print)",
        "raise ValueError([agent.goto, {1: (i for i in 'a')}])",
        "{}[own]",
        "{own}.remove(len)",
        "json.dumps({1: own})",
        "assert False, [own, print, zip()]",
        "assert False, f'Error in [Step 1]: {own}'",
    ],
)
def test_no_message_of_a_failure_shows_an_address(body):
    message = failed(run(f"def own():\n    pass\n{body}")).message
    assert message
    assert "0x" not in message


def test_texts_that_merely_look_like_an_address_stay_as_they_are():
    texts = ["at 0x7f12>", "<foo at 0x7f12ab>", "<function f at 0x12>", "0xff"]
    output = finished(run(f"x = {texts!r}\nprint(x, hex(255), '%x' % 255, f'{{255:#x}}', *x)")).output
    assert output == f"{texts} 0xff ff 0xff {' '.join(texts)}\n"


def test_no_question_and_no_argument_carries_an_address():
    home = SampleHome(lambda action: None)
    finished(run("agent.goto(str(agent.goto))\nprint(ask_llm(f'{[print]}'))", home))
    assert "0x" not in str(home.history)
