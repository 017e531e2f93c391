"""``codeplan chat``: goals that follow one another, typed at a terminal or read from standard input."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeplan.cli import options
from codeplan.cli.commands import DO_SETTINGS, add_command
from codeplan.cli.episodes import DoubtOptions
from codeplan.cli.options import OutputOptions, ToolOptions
from codeplan.cli.output import print_json, show_value, without_line
from codeplan.untrusted.texts import echo, echo_message, on_terminal, shell_word

if TYPE_CHECKING:
    from codeplan.recording.events import Event, EventHandler
    from codeplan.runner.session import Session
    from codeplan.types import Result

PROMPT = "> "


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    add_command(app, "chat", chat, "codeplan chat --tools tools.py --model gpt-5", *DO_SETTINGS, budget=True)


def chat(
    context: typer.Context,
    folder: Annotated[
        Path | None, typer.Argument(metavar="RUN", help="The folder of a session to go on with. [a new one in runs/]")
    ] = None,
    *,
    sources: ToolOptions,
    doubts: DoubtOptions,
    model: options.LiveModel = None,
    instructions: options.Instructions = None,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    output: OutputOptions,
) -> None:
    """Reach goals that follow one another with your own tools: each line is a message.

    The next plan has the variables and values of the plans before it. Ctrl-C ends a turn, Ctrl-D the session; a session
    that was killed goes on in its turn. Without a terminal, each line of standard input is a message.

    Exit codes: 0 at the end of the input, 2 usage, 3 budget spent, 4 infrastructure, 5 waiting for an approval or an
    answer at the end, 130 interrupted.
    """
    from codeplan.errors import UsageError
    from codeplan.runner.session import Session
    from codeplan.runner.tools import read_instructions

    given = options.command_run(context)
    sources.require_tools()
    if sources.verify or sources.returns:
        raise UsageError("chat takes neither --verify nor --returns: each message is a goal of its own")
    given |= {"instructions": read_instructions(instructions)} if instructions else {}
    arguments = {name: value for name, value in sources.arguments().items() if name not in ("verify", "returns")}
    arguments |= doubts.arguments()
    with (
        options.run_folder(folder, "chat") as place,
        Session(folder=place, on_event=_Turns(output.event_handler()), **arguments, **given) as session,
    ):
        last = _talk(session, output)
    if last is not None and last.ending.name in ("waiting", "needs_input"):
        echo_message(f"{last.reason}; go on with: codeplan chat {shell_word(place)}", "codeplan: ", err=True)
        raise typer.Exit(5)


def _talk(session: Session, output: OutputOptions) -> Result | None:
    """Take messages until the input ends; returns the last result. At a terminal, an error ends the turn alone."""
    from codeplan.errors import CodeplanError

    last = _take_up(session)
    for message in _messages():
        try:
            asks = last is not None and last.ending.name == "needs_input"
            last = session.answer(message) if asks else session.do(message)
        except KeyboardInterrupt:
            if not on_terminal():
                raise
            last = None
            echo_message("the turn was interrupted; what it did is done", "codeplan: ", err=True)
        except CodeplanError as error:
            if not on_terminal():
                raise
            last = None
            echo_message(str(error), "codeplan: ", err=True)
        else:
            _show(last, output)
    return last


def _take_up(session: Session) -> Result | None:
    """Go on in the last turn of a session that was there before, if it has not ended."""
    turns = session.turns
    if not turns:
        return None
    echo_message(f"going on after {len(turns)} turn{'s' if len(turns) > 1 else ''}", "codeplan: ", err=True)
    result = turns[len(turns) - 1].result
    return session.resume() if result is None else result


def _messages() -> Iterator[str]:
    """The lines that are typed, without blank ones; at a terminal with editing and a history."""
    if not on_terminal():
        yield from (line.strip() for line in sys.stdin if line.strip())
        return
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # gives input() its editing
    while True:
        try:
            with without_line():
                line = input(PROMPT).strip()
        except EOFError:
            echo("", err=True)
            return
        except KeyboardInterrupt:  # it clears the line
            echo("", err=True)
            continue
        if line:
            yield line


class _Turns:
    """Shows what happens in a turn; of its end, ``_show`` shows what counts in a conversation."""

    def __init__(self, show: EventHandler) -> None:
        self._show = show

    @property
    def hears_replies(self) -> bool:
        """Whether replies are shown while they are written."""
        from codeplan.recording.trace import hears_replies

        return hears_replies(self._show)

    def __call__(self, event: Event) -> None:
        from codeplan.recording.events import EpisodeEnded

        if not isinstance(event, EpisodeEnded):
            self._show(event)


def _show(result: Result, output: OutputOptions) -> None:
    from codeplan.report.json_output import result_as_json
    from codeplan.runner.tools import with_plain_value
    from codeplan.types import Claimed

    plain = with_plain_value(result)
    if output.as_json:
        print_json(result_as_json(plain))
        return
    if isinstance(plain.value, str):
        echo(plain.value)
    else:
        show_value(plain)
    if not isinstance(result.ending, Claimed):
        echo_message(result.reason, "codeplan: ", err=True)
