"""What the host believes of a repaired source: that it differs from the given one as a repair does, and in no other way."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.sandbox.language.fstring_repair import is_repair_of, repair_fstrings

REPAIRS = {
    "an inner string": ('f"{d["key"]}"', "f\"{d['key']}\""),
    "the other quote": ("f'{d['key']}'", "f'{d[\"key\"]}'"),
    "a line end": (r"""f"{'\n'.join(x)}" """, 'f"{chr(10).join(x)}" '),
    "a tab and a backslash": (r"""f"{'\t'}{"\\"}" """, 'f"{chr(9)}{chr(92)}" '),
    "three quotes": (r'''f"{"""\n""".join(x)}"''', 'f"{chr(10).join(x)}"'),
    "one of two": (r"""print('\n', f"{'\n'}")""", """print('\\n', f"{chr(10)}")"""),
}

LIES = {
    "a quote is missing": ("x = 'y'", "x = y"),
    "both quotes are more": ("x = y", "x = 'y'"),
    "a quote is elsewhere": ("x = 'a' + b", "x = 'a + b'"),
    "a call became text": ("x = chr(10)", "x = '\\n'"),
    "an escape became another": ("x = '\\n'", "x = chr(9)"),
    "an escape within a text": ("x = 'a\\n'", "x = 'achr(10)"),
    "another word": ("f'{a}'", "f'{b}'"),
    "a word more": ("f'{a}'", "f'{a}' + b"),
    "a word less": ("f'{a}' + b", "f'{a}'"),
    "nothing": ("f'{a}'", ""),
    "something for nothing": ("", "f'{a}'"),
    "a line end became a blank": ("a = ''\nb = ''", "a = '' b = ''"),
}


@pytest.mark.parametrize(("source", "repaired"), REPAIRS.values(), ids=REPAIRS)
def test_a_repair_is_believed(source: str, repaired: str) -> None:
    assert is_repair_of(repaired, source)
    if sys.version_info < (3, 12):
        assert repair_fstrings(source) == repaired


@pytest.mark.parametrize(("source", "lie"), LIES.values(), ids=LIES)
def test_any_other_difference_is_not(source: str, lie: str) -> None:
    assert not is_repair_of(lie, source)


pieces = st.sampled_from(["f", "'", '"', '"""', "{", "}", "\\n", "\\\\", "\\", "x", " ", ":", "\n", "chr(10)", "#"])
sources = st.lists(pieces, max_size=40).map("".join)


@given(sources)
def test_every_repair_is_believed(source: str) -> None:
    assert is_repair_of(repair_fstrings(f'f"{{{source}}}"'), f'f"{{{source}}}"')
    assert is_repair_of(source, source)


@given(sources.filter(bool), st.data())
def test_a_source_without_one_of_its_characters_is_not_believed(source: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(source) - 1))
    assert not is_repair_of(source[:at] + source[at + 1 :], source)
    assert not is_repair_of(source, source[:at] + source[at + 1 :])
