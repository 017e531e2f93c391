"""Each limit of text for a terminal, on both of its sides, and each class of what is left out."""

from __future__ import annotations

import pytest

from codeplan.untrusted.texts import MAX_REASON_CHARS, clean, clip_lines, echo, one_line, parser_reason, source_excerpt


@pytest.mark.parametrize(
    "codes",
    [
        range(0x00, 0x0A),  # C0 up to the tab, which becomes blanks
        range(0x0B, 0x0D),
        range(0x0E, 0x20),
        range(0x7F, 0xA0),  # DEL and C1, with the one-byte CSI and OSC
        (0xAD, 0x61C, 0x180E, 0xFEFF),
        range(0x200B, 0x2010),  # invisible, and the marks of directions
        range(0x2028, 0x202F),  # line separators, embeddings and overrides
        range(0x2060, 0x2070),  # isolates
        range(0xFFF9, 0xFFFC),
        range(0xD800, 0xD810),
        range(0xE000, 0xE010),  # private use
        range(0xE0000, 0xE0080),  # tags
        (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0xFE00, 0xFE0F, 0xE0100, 0xE01EF),
        range(0x180B, 0x1810),
        (0x10FFFF, 0xFFFE, 0x378),  # not assigned
    ],
    ids=lambda codes: f"{codes[0]:x}",
)
def test_nothing_of_such_characters_is_shown(codes: range) -> None:
    for code in codes:
        assert clean(f"a{chr(code)}b") == ("a    b" if code == 9 else "ab"), hex(code)


def test_visible_neighbours_of_the_invisible_stay() -> None:
    beside = "\u115e\u1161\u17b3\u17b6\u27ff\u2801\u3163\u3165\ufdff\ufe10\uff9f\u2027\u2010\u00a1\u00ac\u00ae ~"
    assert clean(beside) == beside


def test_each_other_space_is_one_blank() -> None:
    assert clean("a" + "".join(map(chr, (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000))) + "b") == (
        "a" + " " * 16 + "b"
    )


def test_each_line_end_is_one_line_end_and_no_other_character_is() -> None:
    assert clean("a\r\n\r\nb\r\rc\n\nd\x0b\x0c\x1c\x85\u2028\u2029e") == "a\n\nb\n\nc\n\nde"


def test_what_is_printed_goes_to_its_stream_with_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    echo("out")
    echo("err\x1b[2J", err=True)
    echo()
    echo("no end", end="")
    echo("none either", err=True, end="")
    assert capsys.readouterr() == ("out\n\nno end", "err[2J\nnone either")


@pytest.mark.parametrize(("length", "shown"), [(9, 9), (10, 10), (11, 10), (90, 10)])
def test_one_line_is_cut_where_it_is_longer_than_its_width(length: int, shown: int) -> None:
    line = one_line("x" * length, 10)
    assert len(line) == shown
    assert line.endswith("…") == (length > 10)


def test_of_a_long_text_eight_widths_are_looked_at() -> None:
    assert one_line(" " * 79 + "xy", 10) == "x"
    assert one_line(" " * 80 + "xy", 10) == ""


def test_a_line_has_two_hundred_characters_and_a_reason_three_hundred() -> None:
    assert (one_line("x" * 200), one_line("x" * 201)) == ("x" * 200, "x" * 199 + "…")
    assert MAX_REASON_CHARS == 300
    assert parser_reason(ValueError("x" * 300)) == "x" * 300
    assert parser_reason(ValueError("x" * 301)) == "x" * 299 + "…"
    assert parser_reason(ValueError("a\nb\x1b[2J")) == "a b[2J"


@pytest.mark.parametrize(
    ("text", "limits", "lines"),
    [
        ("x\n" * 40, (), ["x"] * 40),
        ("x\n" * 41, (), [*["x"] * 40, "… (82 characters in all; the trace has them)"]),
        ("x" * 4000, (), ["x" * 4000]),
        ("x" * 4001, (), ["x" * 4000, "… (4,001 characters in all; the trace has them)"]),
        ("a\nb\nc", (3,), ["a", "b", "c"]),
        ("a\nb\nc", (2,), ["a", "b", "… (5 characters in all; the trace has them)"]),
        ("a\nbc", (9, 3), ["a", "b", "… (4 characters in all; the trace has them)"]),
        ("a\nbc", (9, 4), ["a", "bc"]),
        ("a\x1b\nb", (9, 4), ["a", "b"]),
        ("\n\na\n\n\n", (9,), ["", "", "a"]),
    ],
)
def test_a_text_is_clipped_at_its_lines_and_characters(text: str, limits: tuple[int, ...], lines: list[str]) -> None:
    assert clip_lines(text, *limits) == lines


LONG = "".join(chr(0x100 + n) for n in range(300))


@pytest.mark.parametrize(
    ("column", "shown", "caret"),
    [
        (0, LONG[:120] + "…", None),
        (1, LONG[:120] + "…", 0),
        (81, LONG[:120] + "…", 80),
        (82, "…" + LONG[1:121] + "…", 81),
        (260, "…" + LONG[179:299] + "…", 81),
        (261, "…" + LONG[180:], 81),
        (300, "…" + LONG[219:], 81),
    ],
)
def test_of_a_long_line_eighty_characters_before_a_column_and_forty_from_it_on_are_shown(
    column: int, shown: str, caret: int | None
) -> None:
    found = source_excerpt(f"first\n{LONG}", 2, column)
    assert found == [shown] + ([] if caret is None else [" " * caret + "^"])


def test_a_line_of_a_hundred_and_twenty_characters_is_shown_whole() -> None:
    assert source_excerpt(LONG[:120], 1, 5)[0] == LONG[:120]
    assert source_excerpt(LONG[:120] + "   ", 1, 5)[0] == LONG[:120]
    assert source_excerpt(LONG[:121], 1, 5)[0] == LONG[:120] + "…"


def test_the_first_and_the_last_line_have_an_excerpt_and_the_next_has_none() -> None:
    found = [source_excerpt("a\nb", line, 1) for line in (-1, 0, 1, 2, 3)]
    assert found == [[], [], ["a", "^"], ["b", "^"], []]
