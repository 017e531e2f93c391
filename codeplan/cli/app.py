"""The command line. Commands import what they need when they run, so that ``codeplan --help`` is fast."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import typer

from codeplan.cli import bench, chat, curation, episodes, machine, plans, results, skill_runs, skills
from codeplan.cli.commands import GroupedCommands
from codeplan.untrusted.texts import echo, echo_message, one_line
from codeplan.version import VERSION

INTERRUPTED = 130

app = typer.Typer(
    name="codeplan",
    cls=GroupedCommands,
    help="Check, run, refine and resume Python plans written by a language model, in a locked sandbox.",
    epilog="Example: codeplan run household",
    pretty_exceptions_enable=False,
    suggest_commands=False,  # SuggestingGroup does
    rich_markup_mode=None,  # plain text: half the start-up time and half the lines
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        echo(f"codeplan {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options before the command."""


for _commands in (episodes, chat, plans, bench, results, machine):
    _commands.add_to(app)
_skills = skills.add_to(app)
curation.add_to(_skills)
skill_runs.add_to(_skills)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 success; 1 not solved, or refused; 2 usage; 3 budget; 4 infrastructure; 130 interrupted.
    """
    if arguments is None:
        os.environ["PYTHONSAFEPATH"] = "1"  # Python programs that we start do not import from the current folder
    code = _run(arguments)
    if arguments is None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # one more Ctrl-C would only show where Python's end was
    return code


def _run(arguments: Sequence[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # replace characters that the terminal cannot encode
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _root_command()(args=given or ["--help"], standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as exit:
        code = 0 if isinstance(exit.__context__, BrokenPipeError) else exit.code  # the reader closed our output
    except BaseException as error:
        code = report_error(error, given)
        _discard_output()
        return code
    if code == INTERRUPTED:  # typer returns this code for every interrupt and prints nothing
        return _print_error("interrupted", INTERRUPTED)
    return code if isinstance(code, int) else 0


@cache
def _root_command() -> Any:
    """All commands with their options. typer makes them anew from each signature, which takes some 30 ms."""
    return typer.main.get_command(app)


def report_error(error: BaseException, arguments: Sequence[str] = ()) -> int:
    """Print the error as one message on stderr and return its exit code. ``arguments`` are the command line's."""
    from codeplan.errors import CodeplanError, InfrastructureError
    from codeplan.untrusted.files import UnsafeFile

    if os.environ.get("CODEPLAN_DEBUG"):
        import traceback

        echo("".join(traceback.format_exception(error)), err=True, end="")
    is_users_bug = isinstance(error, InfrastructureError) and error.is_users_bug
    if is_users_bug and error.__cause__ is not None:
        from codeplan.untrusted.tracebacks import traceback_text

        echo(traceback_text(error.__cause__), err=True)
    if isinstance(error, BrokenPipeError):
        return 0  # the reader closed the output
    if isinstance(error, CodeplanError) and isinstance(error.__cause__, BrokenPipeError) and not is_users_bug:
        return error.exit_code  # the same, while an episode ran
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return _print_error("interrupted", INTERRUPTED)
    if isinstance(error, CodeplanError):
        return _print_error("; ".join([str(error), *getattr(error, "__notes__", ())]), error.exit_code)
    if (usage := _usage(error, arguments)) is not None:
        return _print_error(usage, 2)
    if isinstance(error, UnsafeFile):
        return _print_error(f"{error.filename}: {error.strerror}", 2)
    if isinstance(error, OSError):
        return _print_error(f"the operating system reports: {error}", 4)
    return _print_error(
        f"internal error in codeplan ({type(error).__name__}: {error}); "
        "run the command again with CODEPLAN_DEBUG=1 for a traceback, and please report it",
        4,
    )


def _discard_output() -> None:
    """Discard buffered output that cannot be written, or Python would report it at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: BaseException, arguments: Sequence[str]) -> str | None:
    """The usage error of the command line's parser in one line; None for any other error."""
    tell = getattr(error, "format_message", None)
    if tell is None:
        return None
    text = tell().rstrip(".").replace(": Value error, ", ": ", 1)  # pydantic's words, which say nothing more
    return f"{text}; see '{_command_path(arguments)} --help'"


def _command_path(arguments: Sequence[str]) -> str:
    """The command that the arguments begin with, as in "codeplan skills add"."""
    names = ["codeplan"]
    commands: dict[str, Any] = vars(_root_command())["commands"]
    for name in arguments:
        if name not in commands:
            break
        names.append(name)
        commands = getattr(commands[name], "commands", {})
    return " ".join(names)


def _print_error(sentence: str, code: int) -> int:
    echo_message(one_line(sentence, 1000), "codeplan: ", err=True)
    return code
