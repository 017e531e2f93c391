"""``codeplan bench``: many episodes, one table."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options, setting_options
from codeplan.cli.default_folders import new_run_folder
from codeplan.cli.standard_output import reserved_for_json
from codeplan.untrusted.texts import one_line, shell_word, with_count

if TYPE_CHECKING:
    from codeplan.bench.bench_runner import BenchOutcome
    from codeplan.bench.bench_spec import ResolvedBench
    from codeplan.bench.grid import BenchCell
    from codeplan.bench.store import BenchRecord
    from codeplan.cli.bench_requests import BenchRequest

SuiteName = Annotated[
    str,
    typer.Argument(
        metavar="SUITE",
        autocompletion=options.complete("codeplan.envs"),
        help="A suite (alfworld-unseen, …), an environment or its FILE.py:NAME, a grid's TOML file, or paper:ID.",
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The split of an environment, as 'codeplan envs' lists them; default: its first."
    ),
]
Number = Annotated[int | None, typer.Option("-n", metavar="N", min=1, help="Maximum number of tasks of each kind.")]
Repeats = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="How often each task is run, each time with the next seed. [1]")
]
Trainings = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Trainings of each batch size, for a paper's experiment that trains first."),
]
Jobs = Annotated[int, typer.Option("-j", "--jobs", metavar="N", min=1, help="Episodes at a time.")]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="E", help="What runs the episodes: threads, processes, dask or ray.")
]
Address = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="The cluster's, for dask and ray; default: this machine.")
]
Storage = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Where workers that do not share --out store traces, such as s3://mine/x."),
]
Folder = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="The bench's folder; an unfinished bench continues. [one in runs/]"),
]
Method = Annotated[
    str | None, typer.Option(metavar="NAME", help="The method, as 'codeplan methods' lists it. [adaplanner]")
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="'scripted' (a stand-in, no key needed), an endpoint's model, or FILE.py:FUNCTION. [scripted]",
    ),
]
MaxMoney = Annotated[float | None, typer.Option(metavar="USD", help="US dollars for the whole bench.")]
MaxTokens = Annotated[int | None, typer.Option(metavar="N", help="Tokens, in and out, for the whole bench.")]
MaxSeconds = Annotated[float | None, typer.Option(metavar="S", help="Seconds for the whole bench.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Play nothing: print ranges of the calls, tokens and money that it will take.")
]
Pilot = Annotated[
    bool, typer.Option("--pilot", help="With --dry-run: first play two tasks of each cell that was never played.")
]
EstimateFrom = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="With --dry-run: an earlier bench's folder, or one of such folders. [runs]"),
]
Retries = Annotated[
    int, typer.Option(metavar="N", min=0, help="How often to retry an episode after its infrastructure failed.")
]


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    with_settings = setting_options.command_class(
        *setting_options.MODEL_SETTINGS, *setting_options.ROUTE_SETTINGS, *setting_options.METHOD_SETTINGS
    )
    example = "Example: codeplan bench household -n 5 -j 4 --out first"
    app.command("bench", cls=with_settings, epilog=example)(bench)


def bench(
    context: typer.Context,
    suite: SuiteName,
    split: Split = None,
    kind: options.OnlyKind = None,
    n: Number = None,
    repeats: Repeats = None,
    trainings: Trainings = None,
    data: options.Data = None,
    jobs: Jobs = 2,
    engine: EngineName = "threads",
    address: Address = None,
    storage: Storage = None,
    out: Folder = None,
    method: Method = None,
    model: ModelName = None,
    more: options.Set = None,
    max_money: MaxMoney = None,
    max_tokens: MaxTokens = None,
    max_seconds: MaxSeconds = None,
    dry_run: DryRun = False,
    pilot: Pilot = False,
    estimate_from: EstimateFrom = None,
    retries: Retries = 2,
    record: options.Record = None,
    replay: options.Replay = None,
    metrics: options.Metrics = None,
    as_json: options.Json = False,
) -> None:
    """Run many episodes and print success rates with 95 % intervals, and means over the episodes.

    The means are: actions, in-plan refinements (questions of plans), out-of-plan refinements, calls (all model calls),
    tokens in and out, US dollars, seconds. Each episode's trace is a folder in --out. Started again with the same
    folder, a bench continues.

    --dry-run estimates from recorded episodes of the same cells. A pilot's episodes are part of the bench in --out.

    Exit codes: 0 all episodes ended; 2 usage; 3 the bench's budget is spent; 4 infrastructure broke episodes off.
    """
    from codeplan.bench.metrics import parse_metrics
    from codeplan.cli.bench_estimate import estimate_bench
    from codeplan.cli.bench_requests import ask_bench
    from codeplan.errors import UsageError
    from codeplan.runner.environment_files import absolute_form, is_environment_file, use_environment
    from codeplan.runner.model_files import is_model_file, use_model

    columns = () if metrics is None else parse_metrics(metrics)
    settings = options.command_settings(context)
    files = (absolute_form(suite),) if is_environment_file(suite) else ()
    suite = use_environment(suite, many_times=True)
    model_files = (absolute_form(model),) if model and is_model_file(model) else ()
    model = use_model(model) if model else model
    selection = {"split": split, "kind": kind, "n": n, "repeats": repeats, "method": method, "model": model}
    selection |= {"trainings": trainings}
    asked = ask_bench(suite, settings, {name: value for name, value in selection.items() if value is not None})
    limits = {"money": max_money, "tokens": max_tokens, "seconds": max_seconds}
    if not dry_run and (pilot or estimate_from):
        raise UsageError("--pilot and --estimate-from belong to --dry-run; give that, too")
    if dry_run and (record or replay):
        raise UsageError("a dry run uses no tape; omit --record and --replay")
    with options.open_tapes(record, replay) as tapes:
        worker_settings = {"storage": storage, "retries": retries, "tapes": tapes, "files": files}
        worker_settings |= {"model_files": model_files}

        def play(plan: ResolvedBench, folder: Path | None) -> BenchOutcome:
            with reserved_for_json(as_json):
                return _run(asked, plan, folder, limits, (engine, jobs, address), worker_settings)

        plan = asked.resolve(offline=bool(tapes["tape"]) or (dry_run and not pilot))
        if dry_run:
            with _folder(out, suite, None) if pilot else contextlib.nullcontext(out) as folder:
                estimate_bench(plan, folder, estimate_from, play if pilot else None, max_money, as_json)
            return
        with _folder(out, suite, replay) as folder:
            outcome = play(plan, folder)
    _show(asked, outcome.bench, folder, columns, as_json)
    _raise_incomplete(outcome)


@contextlib.contextmanager
def _folder(out: Path | None, suite: str, replay: Path | None) -> Iterator[Path | None]:
    """The bench's folder; None for a bench that plays from a tape, which writes nothing."""
    if replay and out:
        from codeplan.errors import UsageError

        raise UsageError("a bench that plays from a tape writes no folder; omit --out or --replay")
    if out or replay:
        yield out
        return
    with new_run_folder("bench", Path(suite).stem) as folder:
        yield folder


def _run(
    asked: BenchRequest,
    plan: ResolvedBench,
    folder: Path | None,
    limits: dict[str, Any],
    engine: tuple[str, int, str | None],
    worker_settings: dict[str, Any],
) -> BenchOutcome:
    from codeplan.bench import engines
    from codeplan.bench.bench_runner import run_bench
    from codeplan.budget import TotalBudget
    from codeplan.cli.episode import RunInterruptedError
    from codeplan.cli.progress import bench_progress, learning_progress
    from codeplan.errors import UsageError

    tapes = worker_settings["tapes"]
    if any(tapes.values()) and asked.tool_tasks:
        raise UsageError("tasks on tools go on no tape; replay the trace of one with: codeplan replay RUN")
    if any(tapes.values()) and engine[0] != "threads":
        raise UsageError("tapes need the engine threads; omit --engine")
    runs_on, budget = engines.make_engine(*engine), TotalBudget(**limits)
    if limits["money"] is not None or any(cell.budget.money is not None for cell in plan.grid.cells):
        options.warn_unpriced_models(plan.unpriced_models)
    worker_settings = {"tool_tasks": asked.tool_tasks, **worker_settings}
    observers: dict[str, Any] = {"observer": bench_progress, "training_observer": learning_progress}
    try:
        return run_bench(plan, runs_on, folder, budget=budget, **observers, **worker_settings)
    except KeyboardInterrupt:
        way_on = f"; to go on, repeat the command with --out {shell_word(folder)}" if folder else ""
        raise RunInterruptedError(f"interrupted{way_on}") from None


def _raise_incomplete(outcome: BenchOutcome) -> None:
    """Raise the error that kept the bench from completing, if there is one."""
    from codeplan.errors import InfrastructureError

    ended = sum(not e.broken for e in outcome.bench.outcomes)
    total = outcome.bench.total_episodes
    so_far = f"{ended} of {with_count(total, 'episode')} ended; repeat the command with the same --out to continue"
    if outcome.stopped_by:
        outcome.stopped_by.add_note(so_far)
        raise outcome.stopped_by
    if ended < total:
        reasons = Counter(one_line(e.result.reason, 400) for e in outcome.bench.outcomes if e.broken)
        why = "".join(f", most often for this reason: {reason}" for reason, _ in reasons.most_common(1))
        raise InfrastructureError(f"episodes were broken off{why}; {so_far}")


def _show(
    asked: BenchRequest, bench: BenchRecord, folder: Path | None, columns: tuple[str, ...], as_json: bool
) -> None:
    from codeplan.bench.cell_comparison import describe_cells
    from codeplan.bench.metrics import summarise_results
    from codeplan.cli.bench_table import print_bench, print_metrics
    from codeplan.cli.paper_tables import print_experiment
    from codeplan.report.json_output import to_plain_data

    chosen = dict(describe_cells(bench, columns).statistics) if columns else {}

    def cell(one: BenchCell) -> dict[str, Any]:
        ended = bench.outcomes_of(one.name)
        over = [e.result for e in ended if not e.broken]
        more = {"metrics": chosen[one.name]} if columns else {}
        return {**to_plain_data(one), "broken": len(ended) - len(over), "summary": summarise_results(over), **more}

    if as_json:
        options.print_json({"cells": [cell(one) for one in bench.cells], "outcomes": bench.outcomes})
    elif asked.experiment and not columns:
        print_experiment(options.make_console(), asked.experiment, bench, folder)
    elif columns:
        print_metrics(options.make_console(), bench, columns, folder)
    else:
        print_bench(options.make_console(), bench, folder)
