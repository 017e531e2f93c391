"""Tables as text: within the terminal's width, and without a cut figure."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from codeplan.cli.tables import format_table

HEAD = ["kind", "episodes", "success", "95 %", "tokens in", "tokens out"]
ROWS = [["clean", "12", "92%", "65–99", "12,345", "678"], ["pick two", "3", "-", "-", "1", "2"]]


def test_a_table_without_a_limit_has_one_line_for_each_row():
    assert format_table(HEAD, ROWS) == [
        "kind      episodes  success   95 %  tokens in  tokens out",
        "─────────────────────────────────────────────────────────",
        "clean           12      92%  65–99     12,345         678",
        "pick two         3        -      -          1           2",
    ]


def test_a_table_that_nearly_fits_gets_narrower_gaps_then_folded_heads():
    assert format_table(HEAD, ROWS, width=52)[0] == "kind     episodes success  95 % tokens in tokens out"
    assert format_table(HEAD, ROWS, width=50)[:2] == [
        "kind     episodes success  95 % tokens tokens",
        "                                    in    out",
    ]


def test_a_wide_table_goes_on_below_with_its_labels():
    assert format_table(HEAD, ROWS, width=30) == [
        "kind     episodes success",
        "─────────────────────────",
        "clean          12     92%",
        "pick two        3       -",
        "",
        "kind      95 % tokens tokens",
        "                   in    out",
        "────────────────────────────",
        "clean    65–99 12,345    678",
        "pick two     -      1      2",
    ]


def test_texts_are_folded_at_signs_and_are_left_aligned():
    rows = [["household/heat-1", "1/5", "heat/1, heat/2, heat/3, heat/44"], ["b", "-", ""]]
    assert format_table(["skill", "solved", "unsolved tasks"], rows, width=44) == [
        "skill            solved unsolved tasks",
        "────────────────────────────────────────────",
        "household/heat-1    1/5 heat/1, heat/2,",
        "                        heat/3, heat/44",
        "b                     -",
    ]


def test_a_group_has_a_line_above_its_rows_in_each_part():
    rows = [["  clean", "12", "0.5"], ["  all", "12", "0.5"], ["  clean", "3", "1"]]
    assert format_table(["kind", "episodes", "rate"], rows, width=16, groups=["one", "one", "two"]) == [
        "kind    episodes",
        "────────────────",
        "one",
        "  clean       12",
        "  all         12",
        "two",
        "  clean        3",
        "",
        "kind    rate",
        "────────────",
        "one",
        "  clean  0.5",
        "  all    0.5",
        "two",
        "  clean    1",
    ]


def test_a_skills_name_stays_whole_in_a_table_that_goes_on_below():
    name = "household/pick_two-9fc75372"
    lines = format_table(["skill", *HEAD[1:] * 3], [[name, *ROWS[0][1:] * 3]], width=80)
    found = [line for line in lines if line.startswith("household")]
    assert len(found) > 1
    assert all(name in line for line in found)


def test_a_table_without_rows_is_its_head():
    assert format_table(["kind", "n"], []) == ["kind  n", "───────"]


figures = st.from_regex(r"[+-]?[0-9]{1,6}(\.[0-9]{1,4})?%?", fullmatch=True)
names = st.text("abc/.-_ ,漢", min_size=1, max_size=60).filter(str.strip)


@given(
    st.integers(1, 20).flatmap(lambda n: st.lists(st.tuples(names, *[figures] * n).map(list), min_size=1, max_size=4)),
    st.integers(40, 200),
)
def test_every_table_fits_and_keeps_each_figure_whole(rows, width):
    from rich.cells import cell_len

    head = ["the label", *(f"column {n}" for n in range(len(rows[0]) - 1))]
    lines = format_table(head, rows, width=width)
    assert max(map(cell_len, lines)) <= width
    words = re.split(r"[\s/.,_=-]+", " ".join(lines))
    shown = " ".join(lines)
    assert all(shown.count(figure) >= sum(row.count(figure) for row in rows) for row in rows for figure in row[1:])
    assert "column" in words


def test_a_folded_text_keeps_its_indent_in_each_line():
    lines = format_table(("whose", "success, %"), [["  paper, GPT-3.5 (gpt-3.5-turbo)", "81.3"]], width=32)
    assert lines[2:] == ["  paper, GPT-3.5            81.3", "  (gpt-3.5-turbo)"]
