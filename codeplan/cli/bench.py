"""``codeplan bench``: many episodes, one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from codeplan.bench import Row
    from codeplan.types import Result, Task

STAND_IN = "The model is the scripted stand-in: these success rates say nothing about language models."


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("bench", epilog="Example: codeplan bench household -n 5")(bench)


def bench(
    env: Annotated[str, typer.Argument(help="The environment, as `codeplan envs` lists it.")],
    split: Annotated[str, typer.Option(help="Which tasks: train, dev or test.")] = "test",
    kind: Annotated[str | None, typer.Option(help="Only tasks of this kind.")] = None,
    n: Annotated[int | None, typer.Option("-n", min=1, help="At most so many tasks of each kind.")] = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Episodes at a time.")] = 2,
    method: Annotated[str, typer.Option(help="The method, as `codeplan methods` lists it.")] = "adaplanner",
    model: Annotated[str, typer.Option(help="A model's name, or scripted.")] = "scripted",
    base_url: Annotated[str | None, typer.Option(help="The endpoint, where it is not OpenAI's.")] = None,
    mistakes: Annotated[
        str | None, typer.Option(help="How often the scripted stand-in errs: none, some, many.")
    ] = None,
    model_seed: Annotated[int | None, typer.Option(help="The model's seed.")] = None,
    resume_by: Annotated[str | None, typer.Option(help="Who finds the step to resume at: syntax or model.")] = None,
    code_check: Annotated[str | None, typer.Option(help="Ask the model to check plans: on-error or always.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the results as one JSON document.")] = False,
) -> None:
    """Run many episodes and print, by kind of task, the success rate and means over the episodes.

    The means: actions, asks (in-plan), refined (refinements, out-of-plan), calls (model calls of any purpose), seconds.
    """
    from codeplan import envs
    from codeplan.bench import Suite

    tasks = _chosen(envs.make(env), split, kind, n)
    optional = {
        "base_url": base_url,
        "mistakes": mistakes,
        "model_seed": model_seed,
        "resume_by": resume_by,
        "code_check": code_check,
    }
    settings = {name: value for name, value in optional.items() if value is not None}
    suite = Suite(env=env, tasks=tasks, method=method, model=model, workers=jobs, settings=settings)
    results = _with_progress(suite)
    _print_json(results) if json else _print_table(results, env, method, model)


def _chosen(env: Any, split: str, kind: str | None, n: int | None) -> list[Task]:
    """The tasks that were asked for. Raises UsageError where there are none."""
    from codeplan.errors import UsageError

    chosen: list[Task] = []
    counts: dict[str, int] = {}
    for task in env.tasks(split):
        counts[task.kind] = counts.get(task.kind, 0) + 1
        if kind in (None, task.kind) and (n is None or counts[task.kind] <= n):
            chosen.append(task)
    if not chosen:
        has = ", ".join(counts) or "no tasks at all"
        raise UsageError(f"{env.name} has no task of kind {kind} in its split {split}; that split has: {has}")
    return chosen


def _with_progress(suite: Any) -> list[Result]:
    """The results, with a bar on a terminal's stderr and nothing elsewhere."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("episodes", total=len(suite.tasks))
        results: list[Result] = suite.run(lambda result: progress.advance(bar))
    return results


def _print_json(results: list[Result]) -> None:
    import json

    from codeplan.bench import summarise
    from codeplan.report.plain import fields

    document = {"summary": fields(summarise(results)), "results": fields(results)}
    typer.echo(json.dumps(document, indent=2))


def _print_table(results: list[Result], env: str, method: str, model: str) -> None:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from codeplan.bench import summarise

    console = Console()
    rows = summarise(results)
    table = Table(title=escape(f"{env}: {method} with {model}"), box=box.SIMPLE, title_justify="left")
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
