"""Whatever codeplan prints goes through the functions that clean it."""

from __future__ import annotations

import ast
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from codeplan.untrusted.console import CleanConsole
from codeplan.untrusted.texts import echo, one_line

ROOT = Path(__file__).parents[2]

EXEMPT = {
    "codeplan/untrusted/texts.py": "it is the gate",
    "codeplan/untrusted/console.py": "it is the gate for styled text",
    "sandbox/runtime/namespace.py": "it prints into the output of a plan, which the host shows as text",
    "codeplan/audit/target.py": "it writes JSON for its parent process, not for a terminal",
}

HOSTILE = {
    "window title": "\x1b]0;owned\x07",
    "hyperlink": "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "colour": "\x1b[31mred\x1b[0m",
    "cleared screen": "\x1b[2J\x1b[H",
    "device control": "\x1bP$q q\x1b\\",
    "overwritten line": "solved\rfailed",
    "backspaces": "failed\b\b\b\b\b\bsolved",
    "bidi override": "a\u202eb\u202c",
    "zero width": "a\u200bb\u200cc\u200dd\ufeff",
    "variation selectors": "a\ufe0f\U000e0100\u180b",
    "line separators": "a\u2028b\u2029c\x85d",
    "lone surrogates": "a\ud800b\udcff",
    "soft hyphen and joiners": "a\u00adb\u2060c\u034f",
}


def is_harmless(text: str) -> bool:
    text.encode()  # lone surrogates would raise
    blank = set("\u034f\u115f\u1160\u180b\u2800\u3164\ufe0f\uffa0\U000e0100")
    return all(c == "\n" or (c.isprintable() and c not in blank) for c in text)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_printed_text_is_clean(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    echo(f"before {text} after")
    echo(text, err=True, end="")
    out, err = capsys.readouterr()
    assert is_harmless(out) and is_harmless(err)
    assert out.startswith("before ") and out.endswith(" after\n")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_console_prints_clean_text_in_its_own_style(text: str) -> None:
    file = io.StringIO()
    console = CleanConsole(file=file, force_terminal=True, color_system="standard", width=60)
    table = Table(title=text)
    table.add_column(text)
    table.add_row(f"cell {text}")
    for shown in (text, Text(text, "red"), table):
        console.print(shown)
    for code in ("\x1b[31m", "\x1b[3m", "\x1b[1m", "\x1b[0m"):  # red, italic, bold, normal: the program's own
        file = io.StringIO(file.getvalue().replace(code, ""))
    assert is_harmless(file.getvalue())


def test_a_console_styles_what_it_prints() -> None:
    file = io.StringIO()
    CleanConsole(file=file, force_terminal=True, color_system="standard").print(Text("no\x1b[2J", "red"))
    assert file.getvalue() == "\x1b[31mno[2J\x1b[0m\n"


def test_brackets_in_a_text_are_no_markup() -> None:
    file = io.StringIO()
    CleanConsole(file=file).print("[red]a[/red] :smile:")
    assert file.getvalue() == "[red]a[/red] :smile:\n"


def test_one_line_cannot_forge_another_line() -> None:
    assert "\n" not in one_line("a\ncodeplan: all tests passed\r\nb\x85c\u2028d\x0be")


def printing(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The calls that print past the gate."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called in (
            "print",
            "rich.print",
            "pprint",
            "pprint.pprint",
            "warnings.warn",
            "Console",
            "rich.console.Console",
        ):
            yield node.lineno, called
        if called.endswith((".secho", "typer.echo", "click.echo", "print_exc", "print_exception", "print_stack")):
            yield node.lineno, called
        if "sys.std" in called and called.endswith((".write", ".writelines", ".print")):
            yield node.lineno, called


def test_nothing_prints_past_the_gate() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}: {call}"
        for folder in ("codeplan", "envs", "prompts", "sandbox")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if str(path.relative_to(ROOT)) not in EXEMPT
        for line, call in printing(ast.parse(path.read_text()))
    }
    assert not found, "print with codeplan.untrusted.texts.echo or a CleanConsole"


@pytest.mark.parametrize(
    "code",
    [
        *("print(1)", "typer.echo('a')", "sys.stdout.write('a')", "sys.stderr.buffer.write(b'a')", "Console()"),
        *("traceback.print_exc()", "click.secho('a')", "warnings.warn('a')"),
    ],
)
def test_the_search_finds_what_prints(code: str) -> None:
    assert list(printing(ast.parse(code)))
