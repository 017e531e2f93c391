"""``codeplan resume``, ``replay`` and ``fork``: continue, verify or branch off a recorded episode."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from codeplan.cli import model_options, options, setting_options
from codeplan.cli.default_folders import new_run_folder
from codeplan.cli.episode import make_event_handler, playing
from codeplan.cli.setting_options import given_limits
from codeplan.cli.tool_options import ToolOptions, WayOn, ask_about_doubt, on_terminal, show_value
from codeplan.cli.waiting_line import without_line
from codeplan.untrusted.texts import echo_message, shell_word, with_count

if TYPE_CHECKING:
    from codeplan.recording.events import Event
    from codeplan.types import Result


def _own_model(given: str | None) -> Any:
    from codeplan.errors import UsageError

    found = model_options.model_or_name(given)
    if isinstance(found, str):
        raise UsageError("a model that has a name is as recorded; --model takes FILE.py:FUNCTION, a function of yours")
    return found


NewOut = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="The new episode's folder. [one in runs/]")]
OwnModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="FILE.py:FUNCTION",
        help="The recorded model, if it is a function of yours.",
        callback=_own_model,
    ),
]
At = Annotated[int, typer.Option(metavar="EVENT", help="The number (seq) of the first event that may differ.")]
PlanFile = Annotated[
    str | None, typer.Option("--plan", metavar="FILE", help="The plan to use there instead of the model's.")
]
InDoubt = Annotated[
    WayOn | None,
    typer.Option(
        help="A call of a tool that may have been done or not: make it again, give the plan an error, or stop."
    ),
]
Idempotent = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Tools that may be called twice: retry, unasked; repeatable."),
]
Answer = Annotated[str | None, typer.Option(metavar="TEXT", help="The answer to use there instead of the model's.")]


@dataclass(frozen=True)
class LiveOptions:
    """How an episode that goes on runs and is shown."""

    model: OwnModel = None
    base_url: options.BaseUrl = None
    allow_weak_sandbox: options.AllowWeak = False
    more: options.Set = None
    as_json: options.Json = False
    quiet: options.Quiet = False

    def arguments(self, context: typer.Context) -> dict[str, Any]:
        """The arguments of the run, with the user's configuration of models and of a budget."""
        given = options.collect_settings(self.more, base_url=self.base_url, allow_weak_sandbox=self.allow_weak_sandbox)
        config = options.load_config()
        own = {"model_overrides": config.settings, "budget": options.make_budget(config, **given_limits(context))}
        return {"on_event": make_event_handler(self.as_json, self.quiet), "model": self.model, **own, **given}

    def end(self, result: Result) -> NoReturn:
        """Print the result as JSON if asked for, and exit with the episode's code."""
        from codeplan.report.json_output import result_as_json

        options.end_episode(result, result_as_json(result) if self.as_json else None)


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    with_budget = setting_options.command_class(budget=True)
    example = "Example: codeplan resume runs/20260101-120000-household"
    app.command("resume", cls=with_budget, epilog=example)(options.with_groups(resume))
    app.command("replay", epilog="Example: codeplan replay runs/20260101-120000-household")(replay)
    example = "Example: codeplan fork runs/one --at 17 --plan better.py"
    app.command("fork", cls=with_budget, epilog=example)(options.with_groups(fork))


def resume(
    context: typer.Context,
    folder: options.Run,
    *,
    sources: ToolOptions,
    in_doubt: InDoubt = None,
    idempotent: Idempotent = None,
    live: LiveOptions,
    env: options.OwnEnv = None,
) -> None:
    """Finish an episode that was killed or interrupted.

    Recorded replies are not requested again. The environment is brought back to its recorded state, and the episode
    continues. Model, budget, method and harmless settings are as recorded. The endpoint's address and key, paths,
    programs and the sandbox's limits are read anew, as for run; OpenAI's own address must be given, too. Your own
    budget must allow the recorded one.

    An episode of codeplan do needs its tools, its verifier and its patterns again. Calls that were answered are not
    made again. If it was ended during a call, --in-doubt decides; without it you are asked on a terminal.

    Exit codes as for run; 1 also if the environment or the method diverges from the recording, and 2 if a call is in
    doubt.
    """
    from codeplan.recording.events import EpisodeStarted
    from codeplan.recording.trace import Trace
    from codeplan.runner.recorded_episodes import resume as resume_episode
    from codeplan.runner.run_folders import find_trace

    given = live.arguments(context)
    show, runs, shown = given.pop("on_event"), False, 0

    def on_event(event: Event) -> None:
        nonlocal runs, shown
        runs = runs or isinstance(event, EpisodeStarted)
        if runs and shown == recorded and not (live.as_json or live.quiet):
            with without_line():
                echo_message(f"the trace held {with_count(recorded, 'event')}; what follows is new", err=True)
        shown += 1
        show(event)

    given |= sources.arguments()
    given |= {"in_doubt": in_doubt or (ask_about_doubt if on_terminal() else "stop"), "idempotent": idempotent or ()}
    again = "; name the tools again, as for this command" if sources.name_tools else ""
    with playing(f"run: codeplan resume {shell_word(folder)}{again}", as_json=live.as_json):
        recorded = len(Trace.read_resumable(find_trace(folder)))
        result = resume_episode(folder, on_event=on_event, **given)
    if not runs:
        confirmed = " but your verifier, which confirms it" if given["verify"] and result.success else ""
        ended = f"the episode has ended before; this is its result, and nothing ran{confirmed}"
        echo_message(ended, "codeplan: ", err=True)
    if not live.as_json:
        show_value(result)
    live.end(result)


def replay(
    folder: options.Run,
    env: options.OwnEnv = None,
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
    options.print_output(
        {"identical": True, "events": count}, as_json, lambda: [f"identical: {with_count(count, 'event')}"]
    )


def fork(
    context: typer.Context,
    folder: options.Run,
    at: At,
    out: NewOut = None,
    *,
    plan: PlanFile = None,
    answer: Answer = None,
    live: LiveOptions,
    env: options.OwnEnv = None,
) -> None:
    """Branch off from an episode at an event, into a new episode.

    Everything before the event stays as recorded. Then the episode is live, with another plan or answer if given.
    Settings as for resume.

    Exit codes as for run.
    """
    from codeplan.cli.plan import read_plan
    from codeplan.runner.recorded_episodes import fork as fork_episode
    from codeplan.runner.run_folders import find_trace

    source = read_plan(plan) if plan else None
    arguments = live.arguments(context)
    origin = find_trace(folder).parent.resolve().name
    new = contextlib.nullcontext(out) if out else new_run_folder("fork", origin, at)
    with new as branch, playing(f"run: codeplan resume {shell_word(branch)}", as_json=live.as_json):
        result = fork_episode(folder, at, branch, plan=source, answer=answer, **arguments)
    live.end(result)
