"""``codeplan bench``: many episodes, one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options

if TYPE_CHECKING:
    from codeplan.bench import Row
    from codeplan.types import Result, Task

STAND_IN = "The model is the scripted stand-in: these success rates say nothing about language models."


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("bench", epilog="Example: codeplan bench household -n 5")(bench)


def bench(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="alfworld-unseen, alfworld-seen, or an environment's name.")
    ],
    split: Annotated[
        str | None, typer.Option(help="Which tasks of an environment, as `codeplan envs` lists them; its first split.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="Only tasks of this kind.")] = None,
    n: Annotated[int | None, typer.Option("-n", min=1, help="At most so many tasks of each kind.")] = None,
    data: options.Data = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Episodes at a time.")] = 2,
    method: Annotated[str, typer.Option(help="The method, as `codeplan methods` lists it.")] = "adaplanner",
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    ask_model: options.AskModel = None,
    refine_model: options.RefineModel = None,
    executor_model: options.ExecutorModel = None,
    api: options.Api = None,
    prices: options.Prices = None,
    mistakes: Annotated[
        str | None, typer.Option(help="How often the scripted stand-in errs: none, some, many.")
    ] = None,
    model_seed: Annotated[int | None, typer.Option(help="The model's seed.")] = None,
    resume_by: Annotated[str | None, typer.Option(help="Who finds the step to resume at: syntax or model.")] = None,
    code_check: Annotated[str | None, typer.Option(help="Ask the model to check plans: on-error or always.")] = None,
    more: options.Set = None,
    record: options.Record = None,
    replay: options.Replay = None,
    json: Annotated[bool, typer.Option("--json", help="Print the results as one JSON document.")] = False,
) -> None:
    """Run many episodes and print, by kind of task, the success rate and means over the episodes.

    The means: actions, asks (in-plan), refined (refinements, out-of-plan), calls (model calls of any purpose), seconds.
    """
    from codeplan.bench import Suite

    settings = options.settings(
        more,
        data=data,
        base_url=base_url,
        ask_model=ask_model,
        refine_model=refine_model,
        executor_model=executor_model,
        api=api,
        prices=prices,
        mistakes=mistakes,
        model_seed=model_seed,
        resume_by=resume_by,
        code_check=code_check,
    )
    found = options.configured()
    model, settings = options.chosen(found, model, settings)
    env, tasks = _tasks(suite, split, kind, n, settings)
    settings["budget"] = options.budget(found)
    with options.tapes(record, replay) as tapes:
        given = settings | tapes
        results = _with_progress(Suite(env=env, tasks=tasks, method=method, model=model, workers=jobs, settings=given))
    _print_json(results) if json else _print_table(results, suite, method, model)


def _tasks(
    suite: str, split: str | None, kind: str | None, n: int | None, settings: dict[str, Any]
) -> tuple[str, list[Task]]:
    """A suite's environment, and those of its tasks that were asked for. Raises UsageError where there are none."""
    from contextlib import closing

    from codeplan import envs, plugins
    from codeplan.bench.suites import resolve
    from codeplan.errors import UsageError

    env, own = resolve(suite)
    if own and split:
        raise UsageError(f"the suite {suite} is the split {own} of {env}; leave --split out, or name the environment")
    takes = plugins.accepted(plugins.load("codeplan.envs", env))
    with closing(envs.make(env, **{name: value for name, value in settings.items() if name in takes})) as world:
        return env, _chosen(world, own or split or envs.splits(world)[0], kind, n)


def _chosen(env: Any, split: str, kind: str | None, n: int | None) -> list[Task]:
    """The tasks that were asked for. Raises UsageError where there are none."""
    from codeplan import envs
    from codeplan.errors import UsageError

    if split not in envs.splits(env):
        raise UsageError(f"{env.name} has no split {split} here; there are: {', '.join(envs.splits(env))}")
    chosen: list[Task] = []
    counts: dict[str, int] = {}
    for task in env.tasks(split):
        counts[task.kind] = counts.get(task.kind, 0) + 1
        if kind in (None, task.kind) and (n is None or counts[task.kind] <= n):
            chosen.append(task)
    if not chosen:
        of_kind = f" of kind {kind}" if kind else ""
        has = ", ".join(counts) or "no tasks at all"
        raise UsageError(f"{env.name} has no task{of_kind} in its split {split}; that split has: {has}")
    return chosen


def _with_progress(suite: Any) -> list[Result]:
    """The results, with a bar on a terminal's stderr and nothing elsewhere."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    shown = Progress(console=console, transient=True, disable=not console.is_terminal)
    with shown as progress:
        bar = progress.add_task("episodes", total=len(suite.tasks))
        results: list[Result] = suite.run(lambda result: progress.advance(bar))
    return results


def _print_json(results: list[Result]) -> None:
    import json

    from codeplan.bench import summarise
    from codeplan.report.plain import fields

    document = {"summary": fields(summarise(results)), "results": fields(results)}
    typer.echo(json.dumps(document, indent=2))


def _print_table(results: list[Result], suite: str, method: str, model: str) -> None:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from codeplan.bench import summarise

    console = Console()
    rows = summarise(results)
    table = Table(title=escape(f"{suite}: {method} with {model}"), box=box.SIMPLE, title_justify="left")
    table.add_column("kind")
    for column in ("episodes", "success", "actions", "asks", "refined", "calls", "seconds"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        if row is rows[-1]:
            table.add_section()
        table.add_row(*_cells(row))
    console.print(table)
    for reason, count in sorted(rows[-1].reasons.items(), key=lambda item: -item[1]):
        console.print(f"{count:5}  {reason}", markup=False, highlight=False)
    if model == "scripted":
        console.print(f"\n{STAND_IN}")


def _cells(row: Row) -> list[str]:
    """A row's cells: the success rate, and means over its episodes."""
    means = (row.actions, row.asks, row.refinements, row.model_calls)
    return [
        row.kind,
        str(row.episodes),
        f"{row.successes / row.episodes:.0%}",
        *(f"{total / row.episodes:.1f}" for total in means),
        f"{row.seconds / row.episodes:.2f}",
    ]
