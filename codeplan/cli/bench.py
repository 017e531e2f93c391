"""``codeplan bench``: many episodes, one table."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from codeplan.cli import commands, options
from codeplan.cli.commands import add_command
from codeplan.cli.options import TapeOptions, TotalBudgetOptions
from codeplan.cli.output import (
    bench_progress,
    interruptible,
    learning_progress,
    make_console,
    print_json,
    print_output,
    reserved_for_json,
    warn_unpriced_models,
)
from codeplan.untrusted.texts import one_line, shell_word, with_count, wrap_line

if TYPE_CHECKING:
    from codeplan.bench.bench_runner import BenchOutcome
    from codeplan.bench.bench_spec import BenchSpec, ResolvedBench
    from codeplan.bench.cost_estimate import BenchEstimate, CellEstimate, CostRange
    from codeplan.bench.grid import BenchCell
    from codeplan.bench.papers import PaperExperiment
    from codeplan.bench.store import BenchRecord
    from codeplan.bench.tool_tasks import TasksOnTools
    from codeplan.runner.settings_files import UserConfig


@dataclass(frozen=True)
class SelectionOptions:
    """Which tasks a bench plays, and how often."""

    split: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The split of an environment, as 'codeplan envs' lists them; default: its first."
        ),
    ] = None
    kind: options.OnlyKind = None
    n: Annotated[int | None, typer.Option("-n", metavar="N", min=1, help="Maximum number of tasks of each kind.")] = (
        None
    )
    repeats: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="How often each task is run, each time with the next seed. [1]"),
    ] = None
    trainings: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Trainings of each batch size, for a paper's experiment that trains first."
        ),
    ] = None
    attack: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For agentdojo: attack each task as well, such as important_instructions."),
    ] = None
    flows: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="For agentdojo: a folder of flows, such as examples/agentdojo; or one file."),
    ] = None
    data: options.Data = None


@dataclass(frozen=True)
class EngineOptions:
    """What runs the episodes, and where."""

    jobs: options.Jobs = None
    engine: Annotated[
        str, typer.Option("--engine", metavar="E", help="What runs the episodes: threads, processes, dask or ray.")
    ] = "threads"
    address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="The cluster's, for dask and ray; default: this machine.")
    ] = None
    storage: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where workers that do not share --out store traces, such as s3://mine/x."),
    ] = None


@dataclass(frozen=True)
class PlayerOptions:
    """The methods and the models that play, each with each."""

    method: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A method, as 'codeplan methods' lists it; repeatable. [adaplanner]"),
    ] = None
    model: Annotated[
        list[str] | None, typer.Option("--model", metavar="NAME", help=f"{options.MODEL_HELP} Repeatable.")
    ] = None
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[METHOD.]NAME=VALUE",
            help="Any other setting of environment, method or model, or of one of several methods; repeatable.",
        ),
    ] = None

    def split_settings(self) -> tuple[list[str], list[str | dict[str, Any]] | None]:
        """The settings for all, and the methods with those for one of them; None if no method is named.

        Raises: UsageError: a setting is for a method that does not play.
        """
        from codeplan.errors import UsageError

        methods = self.method or ["adaplanner"]
        for_all: list[str] = []
        own: dict[str, list[str]] = {}
        for item in self.more or []:
            method, _, rest = item.partition("=")[0].rpartition(".")
            if not method:
                for_all.append(item)
            elif method not in methods:
                raise UsageError(f"--set {one_line(item)} is for a method that this bench does not play; add --method")
            elif rest == "name":
                raise UsageError(f"--set {one_line(item)} is not a setting; --method names a method")
            else:
                own.setdefault(method, []).append(item.removeprefix(f"{method}."))
        entries = [{**options.collect_settings(own[name]), "name": name} if name in own else name for name in methods]
        return for_all, entries if self.method or own else None


@dataclass(frozen=True)
class BenchBudgetOptions(TotalBudgetOptions):
    """What a whole bench may spend."""

    max_money: Annotated[float | None, typer.Option(metavar="USD", help="US dollars for the whole bench.")] = None
    max_tokens: Annotated[int | None, typer.Option(metavar="N", help="Tokens, in and out, for the whole bench.")] = None
    max_seconds: Annotated[float | None, typer.Option(metavar="S", help="Seconds for the whole bench.")] = None


@dataclass(frozen=True)
class DryRunOptions:
    """Whether the bench is only estimated, and from what."""

    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Play nothing: print ranges of the calls, tokens and money that it will take."),
    ] = False
    pilot: Annotated[
        bool, typer.Option("--pilot", help="With --dry-run: first play two tasks of each cell that was never played.")
    ] = False
    estimate_from: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --dry-run: an earlier bench's folder, or one of such folders. [runs]"),
    ] = None

    def require_fitting(self, tapes: TapeOptions) -> None:
        """Raises: UsageError: what belongs to a dry run is given without one, or the reverse."""
        from codeplan.errors import UsageError

        if not self.dry_run and (self.pilot or self.estimate_from):
            raise UsageError("--pilot and --estimate-from belong to --dry-run; give that, too")
        if self.dry_run and (tapes.record or tapes.replay):
            raise UsageError("a dry run uses no tape; omit --record and --replay")


def add_to(app: typer.Typer) -> None:
    """Add this module's command."""
    settings = (*commands.MODEL_SETTINGS, *commands.ROUTE_SETTINGS, *commands.METHOD_SETTINGS)
    add_command(app, "bench", bench, "codeplan bench household -n 5 -j 4 --out first", *settings)


def bench(
    context: typer.Context,
    suite: Annotated[
        str,
        typer.Argument(
            metavar="SUITE",
            autocompletion=options.complete("codeplan.envs"),
            help="A suite (household-134, …), agentdojo, an environment or its FILE.py:NAME, a TOML file, or paper:ID.",
        ),
    ],
    *,
    selection: SelectionOptions,
    engine: EngineOptions,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="The bench's folder; an unfinished bench continues. [one in runs/]"),
    ] = None,
    players: PlayerOptions,
    total: BenchBudgetOptions,
    dry: DryRunOptions,
    retries: Annotated[
        int, typer.Option(metavar="N", min=0, help="How often to retry an episode after its infrastructure failed.")
    ] = 2,
    tapes: TapeOptions,
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

    columns = () if metrics is None else parse_metrics(metrics)
    asked, worker_settings = _ask(context, suite, selection, players)
    dry.require_fitting(tapes)
    with tapes.open() as tape:
        worker_settings |= {"storage": engine.storage, "retries": retries, "tapes": tape}

        def play(plan: ResolvedBench, folder: Path | None) -> BenchOutcome:
            with reserved_for_json(as_json):
                return _run(plan, folder, total, engine, worker_settings)

        plan = asked.resolve(offline=bool(tape["tape"]) or (dry.dry_run and not dry.pilot))
        if dry.dry_run:
            with _folder(out, asked.suite, None) if dry.pilot else contextlib.nullcontext(out) as folder:
                pilot = play if dry.pilot else None
                estimate_bench(plan, folder, dry.estimate_from, pilot, total.max_money, as_json)
            return
        with _folder(out, asked.suite, tapes.replay) as folder:
            outcome = play(plan, folder)
    _show(asked, outcome.bench, folder, columns, as_json)
    _raise_incomplete(outcome)


def _ask(
    context: typer.Context, suite: str, selection: SelectionOptions, players: PlayerOptions
) -> tuple[BenchRequest, dict[str, Any]]:
    """The bench that the command asks for, and what its workers need to know of the user's files and tasks."""
    own = NamedFiles()
    for_all, methods = players.split_settings()
    settings = options.command_settings(context, for_all)
    chosen = {
        name: getattr(selection, name) for name in ("split", "kind", "n", "repeats", "trainings", "attack", "flows")
    }
    chosen |= {"method": methods, "model": players.model and [*map(own.model, players.model)]}
    suite = own.environment(suite)
    asked = ask_bench(suite, settings, {name: value for name, value in chosen.items() if value is not None}, own)
    return asked, {"files": (*own.files,), "model_files": (*own.model_files,), "tool_tasks": asked.tool_tasks}


class NamedFiles:
    """The files of environments and models that the user named, or a grid that the user trusts: workers need them."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.model_files: list[str] = []

    def environment(self, given: str) -> str:
        """The name of the environment of ``FILE.py:NAME``, which this process knows from now on; another text stays."""
        from codeplan.runner.environment_files import absolute_form, use_environment
        from codeplan.tools.python_tools import is_file

        self.files += [absolute_form(given)] if is_file(given) else []
        return use_environment(given, many_times=True)

    def model(self, given: str) -> str:
        """The name of the model of ``FILE.py:NAME``, likewise."""
        from codeplan.runner.environment_files import absolute_form
        from codeplan.runner.models import use_model
        from codeplan.tools.python_tools import is_file

        self.model_files += [absolute_form(given)] if is_file(given) else []
        return use_model(given)


@contextlib.contextmanager
def _folder(out: Path | None, suite: str, replay: Path | None) -> Iterator[Path | None]:
    """The bench's folder; None for a bench that plays from a tape, which writes nothing."""
    if replay and out:
        from codeplan.errors import UsageError

        raise UsageError("a bench that plays from a tape writes no folder; omit --out or --replay")
    with contextlib.nullcontext(None) if replay else options.run_folder(out, "bench", Path(suite).stem) as folder:
        yield folder


def _run(
    plan: ResolvedBench,
    folder: Path | None,
    total: BenchBudgetOptions,
    engine: EngineOptions,
    worker_settings: dict[str, Any],
) -> BenchOutcome:
    from codeplan.bench import engines
    from codeplan.bench.bench_runner import run_bench
    from codeplan.errors import UsageError

    uses_tape = any(worker_settings["tapes"].values())
    if uses_tape and worker_settings["tool_tasks"]:
        raise UsageError("tasks on tools go on no tape; replay the trace of one with: codeplan replay RUN")
    if uses_tape and engine.engine != "threads":
        raise UsageError("tapes need the engine threads; omit --engine")
    jobs, budget = engine.jobs or engines.default_jobs(), total.budget()
    runs_on = engines.make_engine(engine.engine, jobs, engine.address)
    if budget.money is not None or any(cell.budget.money is not None for cell in plan.grid.cells):
        warn_unpriced_models(plan.unpriced_models)
    observers: dict[str, Any] = {"observer": bench_progress, "training_observer": learning_progress}
    with interruptible(f"; to go on, repeat the command with --out {shell_word(folder)}" if folder else ""):
        return run_bench(plan, runs_on, folder, budget=budget, **observers, **worker_settings)


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
    from codeplan.cli.tables import print_bench, print_experiment, print_metrics
    from codeplan.report.json_output import to_plain_data

    chosen = dict(describe_cells(bench, columns).statistics) if columns else {}

    def cell(one: BenchCell) -> dict[str, Any]:
        ended = bench.outcomes_of(one.name)
        over = [e.result for e in ended if not e.broken]
        more = {"metrics": chosen[one.name]} if columns else {}
        return {**to_plain_data(one), "broken": len(ended) - len(over), "summary": summarise_results(over), **more}

    if as_json:
        print_json({"cells": [cell(one) for one in bench.cells], "outcomes": bench.outcomes})
    elif asked.experiment and not columns:
        print_experiment(make_console(), asked.experiment, bench, folder)
    elif columns:
        print_metrics(make_console(), bench, columns, folder)
    else:
        print_bench(make_console(), bench, folder)


class BenchRequest(NamedTuple):
    """A bench as asked for: the name of its ``suite``, and what else is known before anything has started.

    ``resolve(offline=…)`` checks it and returns its grid. ``experiment`` is the paper's, None for any other bench;
    ``tool_tasks`` are those of a bench on tools.
    """

    suite: str
    resolve: Callable[..., ResolvedBench]
    experiment: PaperExperiment | None = None
    tool_tasks: TasksOnTools | None = None


def ask_bench(
    suite: str, settings: dict[str, Any], selection: dict[str, Any], own: NamedFiles | None = None
) -> BenchRequest:
    """The bench that a command asks for.

    ``settings`` are those of options; ``selection`` has those of split, kind, n, repeats, trainings, attack, flows,
    method and model (lists of names; a method with settings is a table) that were given. ``own`` takes the files that a
    grid names.

    Raises: UsageError: they do not fit the suite.
    """
    from codeplan.bench.agentdojo import NAME as AGENTDOJO
    from codeplan.bench.bench_spec import resolve_bench
    from codeplan.bench.paper_bench import PAPER_PREFIX
    from codeplan.errors import UsageError

    config = options.load_config()
    if suite != AGENTDOJO and (option := next((name for name in ("attack", "flows") if name in selection), None)):
        raise UsageError(f"only agentdojo takes --{option}; omit it for {suite}")
    if suite.startswith(PAPER_PREFIX):
        return _from_paper(suite.removeprefix(PAPER_PREFIX), config, settings, selection)
    _refuse_several_names(suite, selection)
    if "trainings" in selection and not suite.endswith(".toml"):
        raise UsageError(f"{suite} is no paper's experiment that trains first; omit --trainings")
    if suite == AGENTDOJO:
        spec = _from_agentdojo(config, settings, selection)
    elif suite.endswith(".toml"):
        spec = _from_file(suite, settings, selection, own or NamedFiles())
    else:
        spec = _from_flags(suite, config, settings, selection)

    def resolve(*, offline: bool = False) -> ResolvedBench:
        return resolve_bench(spec, lambda model: options.select_model(config, model, {})[1], offline=offline)

    return BenchRequest(suite, resolve, tool_tasks=spec.tool_tasks)


def _refuse_several_names(suite: str, selection: dict[str, Any]) -> None:
    """Raise UsageError if an option names several methods or models at once."""
    from codeplan.errors import UsageError

    for option in ("method", "model"):
        named = (name for name in selection.get(option, ()) if isinstance(name, str))
        given = next((name for name in named if "," in name and "://" not in name), None)
        if given is None:
            continue
        names = [name.strip() for name in given.split(",")]
        if suite.endswith(".toml"):
            line = f"{option}s = {json.dumps(names)}"
            raise UsageError(f"--{option} takes one name; for several, omit the option and write into {suite}: {line}")
        repeated = " ".join(f"--{option} {shell_word(name)}" for name in names)
        raise UsageError(f"--{option} takes one name; repeat it for several: {repeated}")


def _from_paper(name: str, config: UserConfig, settings: dict[str, Any], selection: dict[str, Any]) -> BenchRequest:
    """The bench of a paper's experiment: its rows with one model, or with two where the paper has two."""
    from codeplan.bench.paper_bench import ExperimentChoice, resolve_experiment
    from codeplan.bench.papers import find_experiment
    from codeplan.errors import UsageError

    experiment = find_experiment(name)
    for option in ("split", "method"):
        if option in selection:
            raise UsageError(f"paper:{name} sets the {option} itself; omit --{option}")
    models = selection.pop("model", [None])
    if len(models) > 1:
        raise UsageError(f"paper:{name} is played with one model; name one")
    model, _ = options.select_model(config, models[0], {})
    given = dict(settings)
    if any(row.second_model for part in experiment.parts for row in part.rows):
        selection["second_model"] = given.pop("executor_model", None)
    choice = ExperimentChoice(model=model, settings=given, **selection)

    def resolve(*, offline: bool = False) -> ResolvedBench:
        return resolve_experiment(
            experiment, choice, lambda model: options.select_model(config, model, {})[1], offline=offline
        )

    return BenchRequest(f"paper:{name}", resolve, experiment)


def _from_flags(suite: str, config: UserConfig, common: dict[str, Any], selection: dict[str, Any]) -> BenchSpec:
    from codeplan.bench.bench_spec import BenchSpec

    given = dict(selection)
    models = tuple(options.select_model(config, name, {})[0] for name in given.pop("model", [None]))
    methods = tuple(given.pop("method", ["adaplanner"]))
    return BenchSpec(
        suites=(suite,), methods=methods, models=models, common=common, budget=options.make_budget(config), **given
    )


def _from_agentdojo(config: UserConfig, common: dict[str, Any], selection: dict[str, Any]) -> BenchSpec:
    from msgspec.structs import replace

    from codeplan.bench.agentdojo import NAME, AgentDojoTasks
    from codeplan.errors import UsageError

    if "split" in selection:
        raise UsageError(f"{NAME} has no splits; omit --split. Its suites are kinds: --kind banking")
    given = dict(selection)
    flows = given.pop("flows", None)
    if flows is not None and Path(flows.partition(".py:")[0]).exists():
        flows = str(Path(flows).absolute())  # for workers in other folders
    tasks = AgentDojoTasks(attack=given.pop("attack", None), flows=flows)
    return replace(_from_flags(NAME, config, common, given), suites=tasks.suites, tool_tasks=tasks)


def _from_file(file: str, common: dict[str, Any], selection: dict[str, Any], own: NamedFiles) -> BenchSpec:
    """The bench that a file describes. Settings from options apply to all its cells.

    Tasks on tools are played with any method and model; a grid names its own.
    """
    from msgspec.structs import replace

    from codeplan.bench.bench_spec import read_spec
    from codeplan.errors import UsageError
    from codeplan.runner import settings_files

    given = dict(selection)
    real = Path(file).resolve()
    spec = read_spec(Path(file), lambda sha256: settings_files.is_trusted(real, sha256))
    if spec.tool_tasks and "split" not in given:
        given |= {f"{name}s": tuple(given.pop(name)) for name in ("method", "model") if name in given}
    elif given:
        raise UsageError(f"{file} defines the bench; set {next(iter(given))} there instead of giving the option")
    spec = replace(spec, common={**spec.common, **common}, **given)
    return spec if spec.tool_tasks else _with_own_files(spec, real.parent, own)


def _with_own_files(spec: BenchSpec, folder: Path, own: NamedFiles) -> BenchSpec:
    """The spec with the names of the environments and models of ``FILE.py:NAME``, beside the grid's file.

    They run with the user's rights: ``read_spec`` has asked for trust.
    """
    from msgspec.structs import replace

    def model(entry: str | dict[str, Any]) -> str | dict[str, Any]:
        name = entry["name"] if isinstance(entry, dict) else entry
        found = own.model(str(folder / name) if ".py:" in name else name)
        return {**entry, "name": found} if isinstance(entry, dict) else found

    suites = tuple(own.environment(str(folder / suite) if ".py:" in suite else suite) for suite in spec.suites)
    return replace(spec, suites=suites, models=tuple(map(model, spec.models)))


_HEADS = ("cell", "episodes", "calls", "tokens", "US $", "seen")


def estimate_bench(
    plan: ResolvedBench,
    folder: Path | None,
    earlier: Path | None,
    play: Callable[[ResolvedBench, Path | None], BenchOutcome] | None,
    max_money: float | None,
    as_json: bool,
) -> None:
    """Print what the remaining episodes of a bench will cost.

    ``folder`` may hold a part of the bench. ``earlier`` has earlier benches, by default ``runs``. ``play`` runs the
    pilot of what none of them has; without it nothing is played.
    """
    from msgspec.structs import replace

    from codeplan.bench.cost_estimate import estimate_cost, is_bench, pilot_grid, read_earlier_benches
    from codeplan.bench.grid import find_excess
    from codeplan.bench.store import BenchRecord, read_bench
    from codeplan.errors import UsageError

    def estimate() -> BenchEstimate:
        played = read_bench(folder).outcomes if folder and is_bench(folder) else ()
        own = BenchRecord(folder or Path(os.devnull), plan.grid, played)  # in which there are no trainings
        return estimate_cost(own, [b for b in benches if not folder or b.folder.resolve() != folder.resolve()])

    if excess := find_excess(plan.grid):
        raise UsageError(excess)
    benches = read_earlier_benches(earlier or options.RUNS)
    found = estimate()
    if play and found.unseen:
        play(replace(plan, grid=pilot_grid(plan.grid, found.unseen)), folder)
        found = estimate()
    print_output(
        {"estimate": found, "prices": price_table(plan)}, as_json, lambda: _estimate_lines(plan, found, max_money)
    )


def price_table(plan: ResolvedBench) -> str | None:
    """The name of the price table that money is counted by; None if only the stand-in plays, which costs nothing."""
    from codeplan.llm.prices import builtin_prices

    models = {name for cell in plan.grid.cells for name in (cell.model, cell.settings.get("executor_model"))}
    if models <= {"scripted", None}:
        return None
    own = {str(cell.settings["prices"]) for cell in plan.grid.cells if cell.settings.get("prices")}
    table = builtin_prices()
    return ", ".join(sorted(own)) or f"codeplan's table of {table.date}, from {table.source}"


def _estimate_lines(plan: ResolvedBench, found: BenchEstimate, max_money: float | None) -> Iterator[str]:
    """The table, then what there is to say of it, within the terminal's width."""
    from codeplan.cli.tables import format_table, terminal_width

    width = terminal_width()
    yield from format_table(_HEADS, [_estimate_row(one) for one in (*found.cells, found.total)], width=width)
    yield ""
    for note in _notes(plan, found, max_money):
        yield from wrap_line(note, width)


def _notes(plan: ResolvedBench, found: BenchEstimate, max_money: float | None) -> Iterator[str]:
    if any(one.calls for one in found.cells):
        yield "Each range holds with a probability of about 95 %, if the episodes to come are like those seen."
    if prices := price_table(plan):
        yield f"Money is by {one_line(prices)}."
    for name in plan.unpriced_models:
        yield f"No price is known for the model {one_line(name)}; give a table with --prices FILE."
    if found.unseen:
        unseen = f"{len(found.unseen)} of {with_count(len(found.cells), 'cell')}"
        yield f"Never played, so the cost is unknown: {unseen}. Add --pilot to play two tasks of each and estimate it."
    if max_money is not None and found.total.money and found.total.money.high > max_money:
        yield f"The budget of ${max_money:g} may end the bench early."


def _estimate_row(one: CellEstimate) -> tuple[str, ...]:
    ranges = (_format(one.calls, 0), _format(one.tokens, 0), _format(one.money, 2))
    return one_line(one.cell), str(one.episodes), *ranges, str(one.seen)


def _format(of: CostRange | None, digits: int) -> str:
    if of is None:
        return "unknown"
    return f"{of.low:,.{digits}f} to {of.high:,.{digits}f}" if of.high else "0"
