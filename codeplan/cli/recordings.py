"""``codeplan resume``, ``replay`` and ``fork``: what can be done with the trace of an episode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeplan.cli import options
from codeplan.cli.episode import listener

if TYPE_CHECKING:
    from codeplan.types import Result

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The episode's folder, as --out named it.")]
NewOut = Annotated[Path, typer.Option("--out", metavar="DIR", help="The new episode's folder.")]
At = Annotated[int, typer.Option(metavar="EVENT", help="The number (seq) of the first event that is to be different.")]
PlanFile = Annotated[
    str | None, typer.Option("--plan", metavar="FILE", help="The plan that the model is to have written there.")
]
Answer = Annotated[str | None, typer.Option(metavar="TEXT", help="What the model is to have answered there.")]


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command("resume", epilog="Example: codeplan resume runs/20260101-120000-household")(resume)
    app.command("replay", epilog="Example: codeplan replay runs/20260101-120000-household")(replay)
    app.command("fork", epilog="Example: codeplan fork runs/one --at 17 --plan better.py --out runs/two")(fork)


def resume(
    folder: Run,
    base_url: options.BaseUrl = None,
    more: options.Set = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Finish an episode that died or was interrupted.

    The model is asked nothing again that it answered; the world is brought to where it was, and the episode goes on.

    Exit codes as for run; 1 too where the world or the method does something else than was recorded.
    """
    from codeplan.recordings import resume as resume_episode

    given = options.settings(more, base_url=base_url)
    _end(resume_episode(folder, listen=listener(as_json, quiet), **given), as_json)


def replay(folder: Run, as_json: options.Json = False) -> None:
    """Do an episode again, offline, and say whether it is identical.

    The trace answers for the world and the model; neither is touched. The first difference is shown.

    Exit code 0 identical, 1 different, 2 usage.
    """
    from codeplan.recordings import replay as replay_episode

    count = 0

    def hear(event: object) -> None:
        nonlocal count
        count += 1

    replay_episode(folder, listen=hear)
    if as_json:
        options.print_json({"identical": True, "events": count})
    else:
        typer.echo(f"identical: {count} events")


def fork(
    folder: Run,
    at: At,
    out: NewOut,
    plan: PlanFile = None,
    answer: Answer = None,
    base_url: options.BaseUrl = None,
    more: options.Set = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Branch off from an episode at an event, into a new one.

    Everything before the event stays as it was; from there on all is live, with another plan or answer if you like.

    Exit codes as for run.
    """
    from codeplan.cli.plan import read_plan
    from codeplan.recordings import fork as fork_episode

    given = options.settings(more, base_url=base_url)
    source = read_plan(plan) if plan else None
    result = fork_episode(folder, at, out, plan=source, answer=answer, listen=listener(as_json, quiet), **given)
    _end(result, as_json)


def _end(result: Result, as_json: bool) -> None:
    if as_json:
        from codeplan.report.plain import fields

        options.print_json(fields(result))
    raise typer.Exit(options.exit_code(result))
