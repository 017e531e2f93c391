"""``codeplan run``: one episode, shown as it happens."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options
from codeplan.errors import CodeplanError

if TYPE_CHECKING:
    from codeplan.recording.events import EpisodeStarted, Event

Method = Annotated[str, typer.Option(metavar="NAME", help="How to solve it; 'codeplan methods' lists them.")]
Tries = Annotated[int | None, typer.Option(metavar="N", help="Runs of a plan at most. [6]")]
ResumeBy = Annotated[
    str | None, typer.Option(metavar="HOW", help="Who finds the step to resume at: syntax or model. [syntax]")
]
CodeCheck = Annotated[
    str | None, typer.Option(metavar="WHEN", help="When a plan goes back for repair: on-error or always. [on-error]")
]


class RunInterruptedError(CodeplanError):
    """The person at the keyboard ended the run."""

    exit_code = 130


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command("run", epilog="Example: codeplan run household --kind clean --seed 3")(run)


def run(
    context: typer.Context,
    env: options.Env,
    task: options.TaskId = None,
    kind: options.Kind = None,
    seed: options.Seed = None,
    data: options.Data = None,
    method: Method = "adaplanner",
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    ask_model: options.AskModel = None,
    refine_model: options.RefineModel = None,
    executor_model: options.ExecutorModel = None,
    api: options.Api = None,
    prices: options.Prices = None,
    mistakes: options.Mistakes = None,
    model_seed: options.ModelSeed = None,
    temperature: options.Temperature = None,
    tries: Tries = None,
    resume_by: ResumeBy = None,
    code_check: CodeCheck = None,
    max_actions: options.MaxActions = None,
    max_model_calls: options.MaxModelCalls = None,
    max_tokens: options.MaxTokens = None,
    max_money: options.MaxMoney = None,
    max_seconds: options.MaxSeconds = None,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    out: options.Out = None,
    record: options.Record = None,
    replay: options.Replay = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run one episode: plan, execute, refine, resume.

    Exit code 0 success, 1 not solved, 2 usage, 3 budget spent, 4 infrastructure, 130 interrupted.
    """
    given = options.command_settings(context)
    found = options.load_config()
    model, given = options.select_model(found, model, given)
    spend = options.command_budget(context, found)
    name = (env, task) if task else (env, kind, seed)
    which = {"env": env, "task": task, "kind": kind, "seed": seed}
    new = contextlib.nullcontext(out) if out else options.new_run_folder(*name)
    with new as folder, options.open_tapes(record, replay) as tapes:
        _play(folder, as_json, quiet, **tapes, **which, method=method, model=model, budget=spend, **given)


def _play(folder: Path, as_json: bool, quiet: bool, **arguments: Any) -> None:
    from codeplan.report.json_output import to_plain_data
    from codeplan.runner.live import TRACE_NAME
    from codeplan.runner.live import run as run_episode

    try:
        result = run_episode(out=folder, on_event=make_event_handler(as_json, quiet), **arguments)
    except KeyboardInterrupt:
        raise RunInterruptedError(f"interrupted; what happened so far is in {folder / TRACE_NAME}") from None
    if as_json:
        options.print_json(to_plain_data(result))
    raise typer.Exit(options.exit_code(result))


def make_event_handler(as_json: bool, quiet: bool) -> Callable[[Event], None]:
    """What shows the episode: nothing beside JSON, the summary alone where it is to be quiet, else everything.

    A budget that cannot hold is told on stderr in any case.
    """
    from codeplan.recording.events import EpisodeStarted

    show = None if as_json else _display(quiet)

    def on_event(event: Event) -> None:
        if isinstance(event, EpisodeStarted):
            _warn_unpriced_models(event)
        if show:
            show(event)

    return on_event


def _display(quiet: bool) -> Callable[[Event], None]:
    from codeplan.report.live import LiveDisplay, SummaryDisplay

    return SummaryDisplay(options.make_console()) if quiet else LiveDisplay(options.make_console())


def _warn_unpriced_models(event: EpisodeStarted) -> None:
    """A budget of money holds only where prices are known."""
    from codeplan.llm.prices import unpriced_models

    if event.budget.money is None:
        return
    for name in unpriced_models(event.model, event.model_settings):
        typer.echo(
            f"codeplan: no price is known for the model {name}: its calls do not count in the budget of money; "
            "give a table with --prices FILE",
            err=True,
        )
