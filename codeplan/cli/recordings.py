"""``codeplan resume``, ``replay`` and ``fork``: what can be done with the trace of an episode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options
from codeplan.cli.episode import make_event_handler

if TYPE_CHECKING:
    from codeplan.types.result import Result

NewOut = Annotated[Path, typer.Option("--out", metavar="DIR", help="The new episode's folder.")]
BaseUrl = Annotated[
    str | None,
    typer.Option(metavar="URL", help="The model's endpoint; default as variables or the file say, or as recorded."),
]
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
    folder: options.Run,
    base_url: BaseUrl = None,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Finish an episode that died or was interrupted.

    The model is asked nothing again that it answered; the world is brought to where it was, and the episode goes on.
    Model, budget and method are as recorded; how the endpoint is reached is read anew, as for run.

    Exit codes as for run; 1 too where the world or the method does something else than was recorded.
    """
    from codeplan.runner.recorded import resume as resume_episode

    given = options.collect_settings(more, base_url=base_url, allow_weak_sandbox=allow_weak_sandbox)
    _end(
        resume_episode(folder, on_event=make_event_handler(as_json, quiet), model_overrides=_beside(), **given), as_json
    )


def replay(
    folder: options.Run,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Do an episode again, offline, and say whether it is identical.

    The trace answers for the world and the model; neither is touched. The first difference is shown.

    Exit code 0 identical, 1 different, 2 usage.
    """
    from codeplan.runner.recorded import replay as replay_episode

    count = 0

    def on_event(event: object) -> None:
        nonlocal count
        count += 1

    given = options.collect_settings(more, allow_weak_sandbox=allow_weak_sandbox)
    replay_episode(folder, on_event=on_event, **given)
    if as_json:
        options.print_json({"identical": True, "events": count})
    else:
        typer.echo(f"identical: {count} events")


def fork(
    folder: options.Run,
    at: At,
    out: NewOut,
    plan: PlanFile = None,
    answer: Answer = None,
    base_url: BaseUrl = None,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Branch off from an episode at an event, into a new one.

    Everything before the event stays as it was; from there on all is live, with another plan or answer if you like.
    Settings as for resume.

    Exit codes as for run.
    """
    from codeplan.cli.plan import read_plan
    from codeplan.runner.recorded import fork as fork_episode

    given = options.collect_settings(more, base_url=base_url, allow_weak_sandbox=allow_weak_sandbox)
    source = read_plan(plan) if plan else None
    on_event = make_event_handler(as_json, quiet)
    result = fork_episode(
        folder, at, out, plan=source, answer=answer, on_event=on_event, model_overrides=_beside(), **given
    )
    _end(result, as_json)


def _beside() -> dict[str, Any]:
    """What the environment and the current folder's file say today of how the model is reached."""
    from codeplan.runner.configuration import endpoint_settings

    return endpoint_settings(options.load_config())


def _end(result: Result, as_json: bool) -> None:
    if as_json:
        from codeplan.report.json_output import to_plain_data

        options.print_json(to_plain_data(result))
    raise typer.Exit(options.exit_code(result))
