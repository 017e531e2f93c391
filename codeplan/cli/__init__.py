"""The command line. Commands import what they need when they run, so that ``codeplan --help`` answers at once."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from codeplan.cli import (
    bench,
    compare,
    episode,
    learn,
    listings,
    plan,
    recordings,
    report,
    sandbox,
    serve,
    skills,
    testing,
)
from codeplan.version import VERSION

INTERRUPTED = 130

app = typer.Typer(
    name="codeplan",
    help="Plans that a language model writes as Python: checked, caged, run, refined from feedback, resumed.",
    epilog="Example: codeplan run household",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help in plain text: half the time, and half the lines
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"codeplan {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options before the command."""


for commands in (
    episode,
    learn,
    plan,
    recordings,
    testing,
    bench,
    compare,
    report,
    sandbox,
    serve,
    skills,
    listings,
):
    commands.add_to(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 success; 1 not solved, or refused; 2 usage; 3 budget; 4 infrastructure; 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character is no reason to stop
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        code = app(args=given or ["--help"], standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as exit:  # the reader of our output left
        code = exit.code
    except BaseException as error:
        code = report_error(error)
        _give_up_output()
        return code
    if code == INTERRUPTED:  # typer turns the interrupt of any command into this code, and says nothing
        return _say("interrupted", INTERRUPTED)
    return code if isinstance(code, int) else 0


def report_error(error: BaseException) -> int:
    """Tell the error in one line on stderr, and return the exit code that it stands for."""
    from codeplan.errors import CodeplanError

    if os.environ.get("CODEPLAN_DEBUG"):
        import traceback

        traceback.print_exception(error)
    if isinstance(error, BrokenPipeError):
        return 0  # the reader left: nobody wants the rest
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return _say("interrupted", INTERRUPTED)
    if isinstance(error, CodeplanError):
        return _say(str(error), error.exit_code)
    if (usage := _usage(error)) is not None:
        return _say(usage, 2)
    if isinstance(error, OSError):
        return _say(f"the system refused something: {error}", 4)
    return _say(
        f"something went wrong inside codeplan ({type(error).__name__}: {error}); "
        "run it again with CODEPLAN_DEBUG=1 to see where, and please report it",
        4,
    )


def _give_up_output() -> None:
    """Drop what standard output still holds where it takes no more, or Python would complain of it when it exits."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: BaseException) -> str | None:
    """What is wrong with the command line, where the error is the parser's; None where it is not."""
    tell = getattr(error, "format_message", None)
    if tell is None:
        return None
    path = getattr(getattr(error, "ctx", None), "command_path", None) or "codeplan"
    return f"{tell().rstrip('.')}; see '{path} --help'"


def _say(sentence: str, code: int) -> int:
    from codeplan.report.text import one_line

    print(f"codeplan: {one_line(sentence, 1000)}", file=sys.stderr)
    return code
