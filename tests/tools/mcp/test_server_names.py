"""Python names of names that servers chose."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.tools.mcp.addresses import MAX_NAME_CHARS, class_name, python_name, unique_name


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("find-files.now", "find_files_now"),
        ("__init__", "init"),
        ("a  --  b", "a_b"),
        ("2nd", "tool_2nd"),
        ("class", "class_"),
        ("日本", "tool"),
        ("", "tool"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 60),
        ("-" * 239 + "x", "x"),
        ("-" * 240 + "x", "tool"),
    ],
)
def test_the_nearest_python_name(name, found):
    assert python_name(name, "tool") == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("search_result", "SearchResult"),
        ("2nd thing", "Type2ndThing"),
        ("日本", "Type"),
        ("none", "TypeNone"),
        ("x" * 61, "X" + "x" * 59),
        (" " * 239 + "x", "X"),
        (" " * 240 + "x", "Type"),
    ],
)
def test_the_nearest_name_of_a_class(name, found):
    assert class_name(name) == found


@given(st.text(max_size=300))
def test_every_name_becomes_one_that_python_takes(name):
    assert MAX_NAME_CHARS == 60
    for found in (python_name(name, "tool"), class_name(name)):
        assert found.isidentifier() and found.isascii() and not keyword.iskeyword(found)
        assert len(found) <= MAX_NAME_CHARS + len("tool_")


def test_a_name_that_is_taken_gets_the_next_number():
    assert [unique_name("a", taken) for taken in ([], ["b"], ["a"], ["a", "a_2"], ["a_2"])] == [
        *("a", "a", "a_2", "a_3", "a")
    ]
