"""``codeplan bench``: many episodes, one table."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options

if TYPE_CHECKING:
    from codeplan.bench.conduct import Conducted
    from codeplan.bench.plan import Asked
    from codeplan.bench.store import Bench, Cell
    from codeplan.runner.configuration import Found

SuiteName = Annotated[
    str,
    typer.Argument(metavar="SUITE", help="A suite (alfworld-unseen, …), an environment's name, or a grid's TOML file."),
]
Split = Annotated[
    str | None, typer.Option(help="Which tasks of an environment, as `codeplan envs` lists them; its first split.")
]
TaskKind = Annotated[str | None, typer.Option(metavar="K", help="Only tasks of this kind.")]
Number = Annotated[int | None, typer.Option("-n", metavar="N", min=1, help="At most so many tasks of each kind.")]
Repeats = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="How often each task is played, each time with the next seed. [1]"),
]
Jobs = Annotated[int, typer.Option("-j", "--jobs", metavar="N", min=1, help="Episodes at a time.")]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="E", help="Where they run: threads, processes, dask or ray.")
]
Address = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="The cluster's, for dask and ray; else they run on this machine.")
]
Storage = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Where workers leave traces that do not share --out, such as s3://mine/x."),
]
Folder = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="The bench's folder; one that was broken off goes on. [one in runs/]"),
]
Method = Annotated[
    str | None, typer.Option(metavar="NAME", help="The method, as `codeplan methods` lists it. [adaplanner]")
]
Mistakes = Annotated[
    str | None, typer.Option(metavar="HOW", help="How often the scripted stand-in errs: none, some, many.")
]
ResumeBy = Annotated[str | None, typer.Option(metavar="WHO", help="Who finds the step to resume at: syntax or model.")]
CodeCheck = Annotated[
    str | None, typer.Option(metavar="WHEN", help="Ask the model to check plans: on-error or always.")
]
MaxMoney = Annotated[float | None, typer.Option(metavar="USD", help="Budget of the whole bench: US dollars.")]
MaxTokens = Annotated[int | None, typer.Option(metavar="N", help="Budget of the whole bench: tokens, in and out.")]
MaxSeconds = Annotated[float | None, typer.Option(metavar="S", help="Budget of the whole bench: seconds.")]
Retries = Annotated[
    int,
    typer.Option(metavar="N", min=0, help="How often an episode is tried again whose infrastructure failed."),
]


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("bench", epilog="Example: codeplan bench household -n 5 -j 4 --out first")(bench)


def bench(
    context: typer.Context,
    suite: SuiteName,
    split: Split = None,
    kind: TaskKind = None,
    n: Number = None,
    repeats: Repeats = None,
    data: options.Data = None,
    jobs: Jobs = 2,
    engine: EngineName = "threads",
    address: Address = None,
    storage: Storage = None,
    out: Folder = None,
    method: Method = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    ask_model: options.AskModel = None,
    refine_model: options.RefineModel = None,
    executor_model: options.ExecutorModel = None,
    api: options.Api = None,
    prices: options.Prices = None,
    mistakes: Mistakes = None,
    model_seed: options.ModelSeed = None,
    resume_by: ResumeBy = None,
    code_check: CodeCheck = None,
    more: options.Set = None,
    max_money: MaxMoney = None,
    max_tokens: MaxTokens = None,
    max_seconds: MaxSeconds = None,
    retries: Retries = 2,
    record: options.Record = None,
    replay: options.Replay = None,
    as_json: options.Json = False,
) -> None:
    """Run many episodes and print the success rates, with their intervals at 95 %, and means over the episodes.

    The means: actions, asks (in-plan), refined (refinements, out-of-plan), calls (model calls of any purpose), seconds.
    Traces go to --out, one folder an episode. Started again on the same folder, a bench goes on where it stopped.

    Exit codes: 0 all episodes ended; 2 usage; 3 the bench's budget is spent; 4 infrastructure broke episodes off.
    """
    settings = options.settings_of(context)
    which = {"split": split, "kind": kind, "n": n, "repeats": repeats}
    found = options.configured()
    asked = _from_file(suite, settings, which | {"method": method, "model": model}) if suite.endswith(".toml") else None
    asked = asked or _from_flags(suite, method, model, found, settings, which)
    limits = {"money": max_money, "tokens": max_tokens, "seconds": max_seconds}
    with options.tapes(record, replay) as tapes, _folder(out, suite, replay) as folder:
        player = {"storage": storage, "retries": retries, "tapes": tapes}
        done = _conducted(asked, found, folder, limits, (engine, jobs, address), player)
    _show(done.bench, folder, as_json)
    _leave(done)


def _from_flags(
    suite: str, method: str | None, model: str | None, found: Found, common: dict[str, Any], which: dict[str, Any]
) -> Asked:
    from codeplan.bench.plan import Asked

    name, _ = options.chosen(found, model, {})
    given: dict[str, Any] = {name: value for name, value in which.items() if value is not None}
    return Asked(
        suites=(suite,),
        methods=(method or "adaplanner",),
        models=(name,),
        common=common,
        budget=options.budget(found),
        **given,
    )


def _from_file(file: str, common: dict[str, Any], which: dict[str, Any]) -> Asked:
    """What the file asks for; settings that were given by flags are those of all its cells."""
    from msgspec.structs import replace

    from codeplan.bench.plan import read_file
    from codeplan.errors import UsageError

    if double := [name for name, value in which.items() if value is not None]:
        raise UsageError(f"{file} says what is played; write {double[0]} there, and leave the option out")
    asked = read_file(Path(file))
    return replace(asked, common={**asked.common, **common})


@contextlib.contextmanager
def _folder(out: Path | None, suite: str, replay: Path | None) -> Iterator[Path | None]:
    """The bench's folder; None where it is played from a tape: nothing is written then."""
    if replay and out:
        from codeplan.errors import UsageError

        raise UsageError("a bench that is played from a tape writes nothing; leave --out or --replay out")
    if out or replay:
        yield out
        return
    with options.new_folder("bench", Path(suite).stem) as folder:
        yield folder


def _conducted(
    asked: Asked,
    found: Found,
    folder: Path | None,
    limits: dict[str, Any],
    engine: tuple[str, int, str | None],
    player: dict[str, Any],
) -> Conducted:
    from codeplan.bench import conduct, engines
    from codeplan.bench.conduct import Allowance
    from codeplan.bench.plan import planned
    from codeplan.cli.progress import watching
    from codeplan.errors import UsageError

    tapes = player["tapes"]
    if any(tapes.values()) and engine[0] != "threads":
        raise UsageError("a tape is written and played in threads; leave --engine out")
    runs_on, allowance = engines.make(*engine), Allowance(**limits)
    plan = planned(asked, lambda model: options.chosen(found, model, {})[1], silent=bool(tapes["tape"]))
    return conduct(plan, runs_on, folder, allowance=allowance, watch=watching, **player)


def _leave(done: Conducted) -> None:
    """Say why the bench is not whole, where it is not, and end with the exit code of that."""
    from codeplan.errors import InfrastructureError

    ended = sum(not e.broken for e in done.bench.ended)
    so_far = f"{ended} of {done.bench.total} episodes ended; start the bench again with the same --out to go on"
    if done.stopped:
        done.stopped.args = (f"{done.stopped}: {so_far}",)
        raise done.stopped
    if ended < done.bench.total:
        raise InfrastructureError(f"infrastructure broke episodes off: {so_far}")


def _show(bench: Bench, folder: Path | None, as_json: bool) -> None:
    from codeplan.cli.bench_table import print_bench

    if as_json:
        _print_json(bench)
    else:
        print_bench(options.console(), bench, folder)


def _print_json(bench: Bench) -> None:
    from codeplan.bench.suite import summarise
    from codeplan.report.plain import fields

    def cell(one: Cell) -> dict[str, Any]:
        ended = bench.of(one.name)
        over = [e.result for e in ended if not e.broken]
        return {**fields(one), "broken": len(ended) - len(over), "summary": fields(summarise(over))}

    document = {"cells": [cell(one) for one in bench.cells], "ended": fields(bench.ended)}
    options.print_json(document)
