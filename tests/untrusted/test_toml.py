"""TOML from anyone is parsed in linear time, or refused with a reason."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable

import pytest

from codeplan.untrusted.toml import MAX_KEY_PARTS, parse_toml

GROWING: dict[str, Callable[[int], str]] = {
    "dotted keys": lambda n: "a." * n + "a = 1",
    "spaced keys": lambda n: "a \t. " * n + "a = 1",
    "quoted keys": lambda n: "'a'.\"b\"." * n + "a = 1",
    "dotted tables": lambda n: f"[{'a.' * n}a]",
    "dotted tables of tables": lambda n: f"[[{'a.' * n}a]]",
    "dotted inline keys": lambda n: "x = {" + "a." * n + "a = 1}",
    "one word": lambda n: "a" * n,
    "words": lambda n: "a-b " * n,
    "dots": lambda n: "." * n,
    "quotes": lambda n: "\"'" * n,
    "strings": lambda n: f"a = '''{'a.b ' * n}'''",
    "arrays": lambda n: f"a = [{'1, ' * n}]",
    "tables": lambda n: "\n".join(f"[a.b{i}]" for i in range(n)),
}


def steps(text: str) -> int:
    """The calls and lines of Python code that parsing takes."""
    count = 0

    def trace(*_: object) -> Callable[..., object]:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        parse_toml(text)
    except tomllib.TOMLDecodeError:
        pass
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING.keys())
def test_twice_the_text_takes_at_most_about_twice_the_steps(make: Callable[[int], str]) -> None:
    assert steps(make(2000)) <= 2.5 * steps(make(1000)) + 1000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1\n" + "b." * MAX_KEY_PARTS + "c = 1", "a key of more than 32 parts (at line 2)"),
        ("\n\n" + "b." * MAX_KEY_PARTS + "c = 1\n\n", "(at line 3)"),
        ("b." * MAX_KEY_PARTS + "c = 1", "(at line 1)"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("a = " + "{a = " * 100_000, "nested too deeply"),
        ("a = " + "1" * 5000, "too many digits"),
        ("x = 1\na = 0x" + "f" * 4000, "the whole number of a has more than 64 bits"),
        ("[x]\ny = [{b = [1, 0x8000000000000000]}]", "the whole number of b has more than 64 bits"),
        ("a = -9223372036854775809", "the whole number of a has more than 64 bits"),
        ("[[" + "b." * MAX_KEY_PARTS + "c]]", "(at line 1)"),
        ("x = {y = 1, " + "b." * MAX_KEY_PARTS + "c = 1}", "(at line 1)"),
        ("x = 1\n\t" + "'b' . " * MAX_KEY_PARTS + "c = 1", "(at line 2)"),
        ("a = [", "Invalid value (at end of document)"),
    ],
)
def test_a_refusal_gives_its_reason(text: str, said: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        parse_toml(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "a.b.c = 1",
        "[a.b]\nc = '...........................................'",
        "b." * 31 + "c = 1",
        "x = 1.5",
        "# " + "a." * 40 + "b\nc = 1",
        "c = '" + "a." * 40 + "'",
        'c = "see ' + "a." * 40 + 'b" # ' + "a." * 40,
        "a = [9223372036854775807, -9223372036854775808, 0x7fffffffffffffff]",
    ],
)
def test_ordinary_text_is_parsed_as_by_python(text: str) -> None:
    assert parse_toml(text) == tomllib.loads(text)
