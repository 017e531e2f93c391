"""``codeplan report`` and `codeplan view`: benches and episodes as pages."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeplan.cli import options
from codeplan.cli.skill_library import open_library
from codeplan.untrusted.texts import echo, echo_message, one_line, shell_word, with_count

if TYPE_CHECKING:
    from codeplan.skills.library import SkillLibrary

Runs = Annotated[
    list[Path], typer.Argument(metavar="RUNS…", help="Folders: of a bench, of one run, or of several benches and runs.")
]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page to write.")]
Skills = Annotated[Path | None, typer.Option("--library", metavar="DIR", help="A library of skills to show as well.")]


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command("report", epilog="Example: codeplan report runs/bench -o page.html")(report)
    app.command("view", epilog="Example: codeplan view runs/bench")(view)


def report(runs: Runs, out: Out = Path("report.html"), library: Skills = None) -> None:
    """Write one HTML file that shows benches and episodes, without a server or a network.

    Many pictures and the middle of very long episodes are left out, and the page says so; codeplan view shows them.
    """
    from codeplan.report.pages.archive import write_archive
    from codeplan.report.pages.report_source import ReportSource

    written = write_archive(ReportSource(*runs), out, _library(library))
    echo(f"{out}: {with_count(written.episodes, 'episode')}, {written.size / 1e6:.1f} MB")
    for path in written.unread:
        echo_message(f"left out: the beginning of {one_line(str(path), 400)} cannot be read", "codeplan: ", err=True)
    if written.columns_left_out:
        columns = with_count(written.columns_left_out, "column")
        way_out = "name fewer folders, or compare the cells by name: codeplan compare FOLDER:CELL"
        echo_message(f"left out to limit the size: {columns}, with their episodes; {way_out}")
    if written.episodes_left_out:
        echo_message(f"not listed, but in the figures: {with_count(written.episodes_left_out, 'further episode')}")
    left = [f"{with_count(written.left_out, 'page')} of events"] if written.left_out else []
    left += [with_count(written.pictures_left_out, "picture")] if written.pictures_left_out else []
    if left:
        see = f"to see them, run: codeplan view {' '.join(map(shell_word, runs))}"
        echo_message(f"left out to limit the size: {', '.join(left)}; {see}")


def view(runs: Runs, port: options.Port = 0, library: Skills = None) -> None:
    """Show benches and episodes in the browser, on this machine only. The page follows a running bench.

    The first line on standard output is the address. Ctrl-C stops the server. Needs the extra web.
    """
    from codeplan.report.pages.report_source import ReportSource
    from codeplan.report.pages.server import EpisodeCatalog, serve

    with contextlib.suppress(KeyboardInterrupt):
        serve(EpisodeCatalog(ReportSource(*runs), _library(library)), port, on_ready=echo)


def _library(folder: Path | None) -> SkillLibrary | None:
    return None if folder is None else open_library(folder)
