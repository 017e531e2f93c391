"""The YAML of strangers: texts alone, and nothing that a short text could blow up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.skills.skill_folder import YamlError, parse_yaml, yaml_text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_survives_and_ends_no_front_matter(text):
    written = yaml_text(text)
    assert parse_yaml(f"a: {written}\n") == {"a": text}
    assert written.isprintable() and "---" not in written


def test_scalars_stay_the_texts_that_they_are_written_as():
    found = parse_yaml("a: no\nb: 1.0\nc: [2026-01-01, ~, 0x10]\nd: {e: 'x'}\nf: |\n  two\n  lines\ng:\n")
    assert found == {
        "a": "no",
        "b": "1.0",
        "c": ["2026-01-01", "~", "0x10"],
        "d": {"e": "x"},
        "f": "two\nlines\n",
        "g": "",
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: &x 1\n", "anchors and aliases are not allowed .at line 1"),
        ("b: 1\na: *x\n", "anchors and aliases are not allowed .at line 2"),
        ("a: !!python/object/apply:os.system [true]\n", "tags are not allowed"),
        ("a: !own x\n", "tags are not allowed"),
        ("a: 1\na: 2\n", "a key is there twice .at line 2"),
        ("? [1]\n: 2\n", "a key is not a text"),
        ("a: " + "[" * 500, "nested too deeply"),
        ("- a\n", "it holds no mapping"),
        ("", "it is empty"),
        ("a: 1\n--- \nb: 2\n", "a second document"),
        ("a: [1\n", "at line"),
        ('a: "\\UFFFFFFFF"\n', "."),
        ('a: "\\uD800"\n', "."),
        ("%YAML 1." + "9" * 9_000 + "\n---\na: 1\n", "."),
        ("a: \ud800\n", "."),
        ("a: \x00\n", "."),
    ],
)
def test_what_is_not_read_is_refused_with_a_reason(text, why):
    with pytest.raises(YamlError, match=why):
        parse_yaml(text)
