"""Lines wrapped to the width of a terminal."""

from __future__ import annotations

import io
import os
import pty

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from codeplan.untrusted.console import print_wrapped
from codeplan.untrusted.texts import UNKNOWN_WIDTH, clean, echo_message, row_spans, terminal_columns, wrap_line

LINES = st.text(st.characters(codec="utf-8"), max_size=300).map(lambda text: clean(text).replace("\n", " "))


def test_a_line_that_fits_stays_as_it_is() -> None:
    assert wrap_line("  a  b", 6) == ["  a  b"]
    assert wrap_line("word " * 50, None) == ["word " * 50]


def test_further_rows_stand_at_their_indent() -> None:
    assert wrap_line("codeplan: one two three", 18, 10) == ["codeplan: one two", "          three"]
    assert wrap_line("a long label: " * 2 + "text", 20, 28) == ["a long label: a long", "    label: text"]


def test_a_line_of_code_goes_on_at_its_own_indent() -> None:
    assert wrap_line("        agent.put(found, place)", 24) == ["        agent.put(found,", "        place)"]


def test_a_long_word_stays_whole_unless_it_may_be_folded() -> None:
    assert wrap_line("see /a/very/long/path/indeed now", 12) == ["see", "/a/very/long/path/indeed", "now"]
    assert row_spans("  abcdefgh", 6, fold=True) == [(0, 6), (6, 10)]


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("there is no data here; run: pip install alfworld && alfworld-download; it stores", "pip install alfworld && alfworld-download"),
        ("ignored in codeplan.toml; to trust it, run: codeplan trust", "codeplan trust"),
        ("install one, with: apt-get install -y chromium (or any Chrome)", "apt-get install -y chromium"),
        ("no such option: --modle; see 'codeplan skills discover --help' for all of them", "'codeplan skills discover --help'"),
        ("it needs its package: pip install 'codeplan[spacy]'; or leave nouns out of it", "pip install 'codeplan[spacy]'"),
        ("nothing is lost; codeplan resume finishes it", "codeplan resume"),
    ],
)  # fmt: skip
def test_a_command_to_copy_is_never_broken(line: str, command: str) -> None:
    for width in range(8, len(line)):
        assert any(command in row for row in wrap_line(line, width, 4))


def test_a_message_that_begins_like_a_command_is_wrapped() -> None:
    assert wrap_line("codeplan: a sentence of some words", 20, 10) == ["codeplan: a sentence", "          of some", "          words"]  # fmt: skip


@given(LINES, st.integers(8, 60), st.integers(0, 60), st.booleans())
def test_nothing_but_spaces_is_lost_and_folded_rows_fit(line: str, width: int, indent: int, fold: bool) -> None:
    spans = row_spans(line, width, indent, fold=fold)
    assert "".join(line[a:b] for a, b in spans).replace(" ", "") == line.replace(" ", "")
    rows = wrap_line(line, width, indent)
    assert "".join(rows).replace(" ", "") == line.replace(" ", "")
    if fold:
        first, *others = (cell_len(line[a:b].rstrip()) for a, b in spans)
        own = len(line) - len(line.lstrip(" "))
        assert max(others, default=0) <= width
        assert first <= max(width, own + 2)


def test_the_width_is_the_terminals_or_80_if_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    ends = pty.openpty()
    with os.fdopen(ends[0], "rb", 0), os.fdopen(ends[1], "w") as terminal:
        assert terminal_columns(terminal) == UNKNOWN_WIDTH == 80
        monkeypatch.setenv("COLUMNS", "60")
        assert terminal_columns(terminal) == 60
    assert terminal_columns(io.StringIO()) is None


def test_a_message_off_a_terminal_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    echo_message("word " * 50, "codeplan: ", err=True)
    assert capsys.readouterr().err == f"codeplan: {'word ' * 50}".rstrip() + "\n"


def test_a_console_wraps_styled_text_on_a_terminal_only() -> None:
    for is_terminal, rows in ((True, ["  mark one two", "       three"]), (False, ["  mark one two three"])):
        file = io.StringIO()
        console = Console(file=file, force_terminal=is_terminal, width=15, color_system=None)
        print_wrapped(console, Text("  mark one two three"), 7)
        assert file.getvalue().splitlines() == rows
