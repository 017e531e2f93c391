"""``codeplan resume``, ``replay`` and ``fork``: continue, verify or branch off a recorded episode."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from codeplan.cli import options
from codeplan.cli.episode import make_event_handler

if TYPE_CHECKING:
    from codeplan.types import Result

NewOut = Annotated[Path, typer.Option("--out", metavar="DIR", help="The new episode's folder.")]
BaseUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="The model's endpoint; default: configured today, or as recorded.")
]
At = Annotated[int, typer.Option(metavar="EVENT", help="The number (seq) of the first event that may differ.")]
PlanFile = Annotated[
    str | None, typer.Option("--plan", metavar="FILE", help="The plan to use there instead of the model's.")
]
Answer = Annotated[str | None, typer.Option(metavar="TEXT", help="The answer to use there instead of the model's.")]


@dataclass(frozen=True)
class LiveOptions:
    """How an episode that goes on runs and is shown."""

    base_url: BaseUrl = None
    allow_weak_sandbox: options.AllowWeak = False
    more: options.Set = None
    as_json: options.Json = False
    quiet: options.Quiet = False

    def arguments(self) -> dict[str, Any]:
        """The arguments of the run, with today's configuration of how to reach the model."""
        from codeplan.runner.configuration import endpoint_settings

        given = options.collect_settings(self.more, base_url=self.base_url, allow_weak_sandbox=self.allow_weak_sandbox)
        overrides = endpoint_settings(options.load_config())
        return {"on_event": make_event_handler(self.as_json, self.quiet), "model_overrides": overrides, **given}

    def end(self, result: Result) -> NoReturn:
        """Print the result as JSON if asked for, and exit with the episode's code."""
        options.end_episode(result, result if self.as_json else None)


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command("resume", epilog="Example: codeplan resume runs/20260101-120000-household")(options.with_groups(resume))
    app.command("replay", epilog="Example: codeplan replay runs/20260101-120000-household")(replay)
    app.command("fork", epilog="Example: codeplan fork runs/one --at 17 --plan better.py --out runs/two")(
        options.with_groups(fork)
    )


def resume(folder: options.Run, live: LiveOptions) -> None:
    """Finish an episode that was killed or interrupted.

    Recorded replies are not requested again. The environment is brought back to its recorded state, and the episode
    continues. Model, budget and method are as recorded; the endpoint's address and key are read anew, as for run.

    Exit codes as for run; 1 also if the environment or the method diverges from the recording.
    """
    from codeplan.runner.recorded_episodes import resume as resume_episode

    live.end(resume_episode(folder, **live.arguments()))


def replay(
    folder: options.Run,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Repeat an episode offline and report whether it is identical.

    The trace answers for the environment and the model. The first difference is shown.

    Exit codes: 0 identical, 1 different, 2 usage.
    """
    from codeplan.runner.recorded_episodes import replay as replay_episode

    count = 0

    def on_event(event: object) -> None:
        nonlocal count
        count += 1

    given = options.collect_settings(more, allow_weak_sandbox=allow_weak_sandbox)
    replay_episode(folder, on_event=on_event, **given)
    options.print_output({"identical": True, "events": count}, as_json, lambda: [f"identical: {count} events"])


def fork(
    folder: options.Run, at: At, out: NewOut, *, plan: PlanFile = None, answer: Answer = None, live: LiveOptions
) -> None:
    """Branch off from an episode at an event, into a new episode.

    Everything before the event stays as recorded. Then the episode is live, with another plan or answer if given.
    Settings as for resume.

    Exit codes as for run.
    """
    from codeplan.cli.plan import read_plan
    from codeplan.runner.recorded_episodes import fork as fork_episode

    source = read_plan(plan) if plan else None
    live.end(fork_episode(folder, at, out, plan=source, answer=answer, **live.arguments()))
