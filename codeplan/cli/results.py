"""``codeplan papers``, ``compare``, ``export``, ``report``, ``view``, ``learn``: what benches and trainings found."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codeplan.cli import options
from codeplan.cli.commands import add_command
from codeplan.cli.options import TapeOptions, TotalBudgetOptions, end_spending
from codeplan.cli.output import interruptible, learning_progress, make_console, print_json, print_output
from codeplan.cli.skills import open_library
from codeplan.untrusted.texts import echo, echo_message, one_line, shell_word, with_count

if TYPE_CHECKING:
    from codeplan.bench.cell_comparison import BenchOverview
    from codeplan.skills.library import SkillLibrary
    from codeplan.types import Task


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    add_command(app, "papers", papers, "codeplan papers adapt-table2")
    add_command(app, "compare", compare, "codeplan compare runs/one runs/two --format latex")
    add_command(app, "export", export, "codeplan export runs/bench -o episodes.csv")
    add_command(app, "report", report, "codeplan report runs/bench -o page.html")
    add_command(app, "view", view, "codeplan view runs/bench")
    add_command(app, "learn", learn, "codeplan learn household -n 6 --out learnt")


def papers(
    name: Annotated[str | None, typer.Argument(metavar="[ID]", help="An experiment, as the list names it.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--bench", metavar="DIR", help="Show the figures of this bench of the experiment, too."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the papers' experiments, or show one: its cells with their settings, the published figures, caveats.

    Play one with 'codeplan bench paper:ID --model NAME'.
    """
    from codeplan.bench.papers import find_experiment, paper_experiments
    from codeplan.bench.store import read_bench
    from codeplan.cli.tables import describe_experiment, list_experiments, print_experiment
    from codeplan.errors import UsageError

    if name is None:
        if folder:
            raise UsageError("name the experiment that the bench played: codeplan papers ID --bench DIR")
        every = paper_experiments()
        print_output(every, as_json, lambda: list_experiments(every))
        return
    experiment = find_experiment(name)
    if folder is None:
        document = {"experiment": experiment, "published": experiment.published}
        print_output(document, as_json, lambda: describe_experiment(experiment))
        return
    print_experiment(make_console(), experiment, read_bench(folder), folder)


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="A bench's folder, or FOLDER:CELL.")],
    second: Annotated[str | None, typer.Argument(metavar="[B]", help="Another; without it, the cells of A.")] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORM",
            help="markdown, csv, latex or json. [plain columns on a terminal, else markdown]",
        ),
    ] = None,
    metrics: options.Metrics = None,
    as_json: options.Json = False,
) -> None:
    """Compare two benches, or the cells of one: success rates, means, intervals, tests.

    Episodes are paired by task and repeat. The tables show each cell's figures by kind of task. For each pair of cells
    they show the difference in success rate (Tango's interval at 95 %, McNemar's exact test), the difference in means
    (bootstrap over the tasks), and how many more pairs a conclusion would need. Published results on the suite have a
    table of their own.

    Exit codes: 0; 2 usage, also if no two cells have a finished episode of the same task in common.
    """
    from codeplan.bench.cell_comparison import build_overview
    from codeplan.bench.metrics import parse_metrics
    from codeplan.bench.tables import TABLE_FORMATS
    from codeplan.errors import UsageError

    if form not in (None, "json", *TABLE_FORMATS):
        raise UsageError(f"there is no format {form!r}; there are: {', '.join([*TABLE_FORMATS, 'json'])}")
    comparison = build_overview(first, second, () if metrics is None else parse_metrics(metrics))
    _print_overview(comparison, "json" if as_json else form)
    if comparison.not_compared and not comparison.comparisons:
        raise UsageError(f"no cells can be compared: {comparison.not_compared[0]}")


def _print_overview(comparison: BenchOverview, form: str | None) -> None:
    """Print in a form of ``compare``; None is columns on a terminal, otherwise Markdown."""
    from codeplan.bench.agentdojo import rates_tables
    from codeplan.bench.tables import build_tables, format_tables
    from codeplan.bench.trainings import build_training_tables
    from codeplan.cli.tables import bench_table_text, terminal_width

    if form == "json":
        statistics, comparisons = dict(comparison.statistics), comparison.comparisons
        left_out = {"cells": comparison.cells_left_out, "kinds": comparison.kinds_left_out}
        document = {"statistics": statistics, "comparisons": comparisons, "published": comparison.published}
        print_json({**document, "left_out": left_out, "not_compared": comparison.not_compared})
        return
    benches = {str(side.bench.folder): side.bench for side in comparison.cells}
    more = [table for bench in benches.values() for table in (*build_training_tables(bench), *rates_tables(bench))]
    tables, width = [*build_tables(comparison), *more], terminal_width()
    if form is None and width is not None:
        echo("\n\n".join(bench_table_text(table, width) for table in tables))
    else:
        echo(format_tables(tables, form or "markdown"), end="")
    if form == "csv":  # which has no notes
        for why in comparison.not_compared:
            echo_message(f"not compared: {why}", "codeplan: ", err=True)


def export(
    bench: Annotated[Path, typer.Argument(metavar="BENCH", help="The folder of a bench.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The new file (.csv, .jsonl, or .parquet: extra frames) or folder."
        ),
    ],
    rows: Annotated[
        str | None,
        typer.Option("--rows", metavar="KIND", help="A row for each of: episodes, calls, model_calls, plans."),
    ] = None,
    training: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="TRAINING", help="For a training, in place of rows: sft, preferences, verifiers."
        ),
    ] = None,
) -> None:
    """Write a bench's figures as one table: a row for each episode, call, model call or plan.

    The columns are always the same; numbers are numbers, and what an episode lacks is empty. With --for, write the
    conversations in which plans solved their tasks, pairs of a failed plan and the one that solved the task, or a
    package for the library verifiers whose reward is the environment's word.
    """
    from codeplan.bench.figures import write_rows
    from codeplan.bench.store import read_bench
    from codeplan.bench.training_examples import write_examples
    from codeplan.bench.verifiers_package import write_package
    from codeplan.errors import UsageError

    if training and rows:
        raise UsageError("--for writes examples, --rows a table; give one of them")
    if training == "verifiers":
        echo(f"{out}: {with_count(write_package(read_bench(bench), out), 'task')}")
        return
    if training:
        echo(f"{out}: {with_count(write_examples(read_bench(bench), out, training), 'example')}")  # type: ignore[arg-type]
        return
    count = write_rows(read_bench(bench), out, rows or "episodes")  # type: ignore[arg-type]
    echo(f"{out}: {with_count(count, 'row')}")


Runs = Annotated[
    list[Path], typer.Argument(metavar="RUNS…", help="Folders: of a bench, of one run, or of several benches and runs.")
]
Skills = Annotated[Path | None, typer.Option("--library", metavar="DIR", help="A library of skills to show as well.")]


def report(
    runs: Runs,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page to write.")] = Path("report.html"),
    library: Skills = None,
) -> None:
    """Write one HTML file that shows benches and episodes, without a server or a network.

    Many pictures and the middle of very long episodes are left out, and the page says so; codeplan view shows them.
    """
    from codeplan.report.pages.archive import write_archive
    from codeplan.report.pages.report_source import ReportSource

    written = write_archive(ReportSource(*runs), out, _library(library))
    echo(f"{out}: {with_count(written.episodes, 'episode')}, {written.size / 1e6:.1f} MB")
    for path in written.unread:
        echo_message(f"left out: the beginning of {one_line(str(path), 400)} cannot be read", "codeplan: ", err=True)
    if written.columns_left_out:
        columns = with_count(written.columns_left_out, "column")
        way_out = "name fewer folders, or compare the cells by name: codeplan compare FOLDER:CELL"
        echo_message(f"left out to limit the size: {columns}, with their episodes; {way_out}")
    if written.episodes_left_out:
        echo_message(f"not listed, but in the figures: {with_count(written.episodes_left_out, 'further episode')}")
    left = [f"{with_count(written.left_out, 'page')} of events"] if written.left_out else []
    left += [with_count(written.pictures_left_out, "picture")] if written.pictures_left_out else []
    if left:
        see = f"to see them, run: codeplan view {' '.join(map(shell_word, runs))}"
        echo_message(f"left out to limit the size: {', '.join(left)}; {see}")


def view(runs: Runs, port: options.Port = 0, library: Skills = None) -> None:
    """Show benches and episodes in the browser, on this machine only. The page follows a running bench.

    The first line on standard output is the address. Ctrl-C stops the server. Needs the extra web.
    """
    from codeplan.report.pages.report_source import ReportSource
    from codeplan.report.pages.server import EpisodeCatalog, serve

    with contextlib.suppress(KeyboardInterrupt):
        serve(EpisodeCatalog(ReportSource(*runs), _library(library)), port, on_ready=echo)


def _library(folder: Path | None) -> SkillLibrary | None:
    return None if folder is None else open_library(folder)


MODEL_CALLS = 1000
"""Model calls of an episode at most, unless configured: one cut short would teach nothing."""


@dataclass(frozen=True)
class LearningTasks:
    """Which tasks a method learns from."""

    n: Annotated[
        int, typer.Option("-n", min=1, metavar="N", help="How many tasks to learn from; of each kind with --per-kind.")
    ] = 24
    kind: options.OnlyKind = None
    per_kind: Annotated[bool, typer.Option("--per-kind", help="Learn a plan for each kind of task.")] = False
    split: Annotated[str, typer.Option(metavar="SPLIT", help="The split to learn from.")] = "train"
    draw: Annotated[
        int | None, typer.Option(metavar="SEED", help="Draw the tasks at random by this seed. [the first tasks]")
    ] = None
    data: options.Data = None

    def select(self, env: str, settings: dict[str, Any]) -> list[Task]:
        """The tasks of the split: those of a kind, or N of each kind; the first ones, or drawn by a seed.

        Raises: UsageError: there are none.
        """
        from contextlib import closing

        from codeplan import envs, plugins
        from codeplan.envs.registry import draw_order, list_tasks, take_of_each_kind

        accepted = plugins.setting_names(plugins.load_factory("codeplan.envs", env))
        own = {name: value for name, value in settings.items() if name in accepted}
        with closing(envs.make(env, **own)) as environment:
            tasks = draw_order(list_tasks(environment, self.split, self.kind), self.draw)
            return take_of_each_kind(tasks, self.n) if self.per_kind else tasks[: self.n]


@dataclass(frozen=True)
class LearnerOptions:
    """The method that learns, and its models."""

    method: Annotated[str, typer.Option(metavar="NAME", help="A method that learns.")] = "autoplan"
    model: options.OwnModel = None
    base_url: options.BaseUrl = None
    executor_model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Another model for choosing single actions.")
    ] = None
    cache: options.Cache = None
    more: options.Set = None


def learn(
    env: options.Env,
    *,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder for the learnt plan, intermediate plans and traces.")
    ],
    which: LearningTasks,
    learner: LearnerOptions,
    total: TotalBudgetOptions,
    tapes: TapeOptions,
) -> None:
    """Let a method learn from tasks: autoplan improves a plan in words from batch to batch.

    Start an interrupted training again to continue it. Use the result with
    'codeplan run ENV --method autoplan --set plan=FOLDER/plan.txt', or after --per-kind with
    '--set plan=FOLDER/plans'.

    Exit codes: 0 all tasks were learnt from; 2 usage; 3 a total budget is spent: what was learnt until then is kept.
    """
    from codeplan.methods.autoplan import write_plan
    from codeplan.runner.episodes import learn as learn_from
    from codeplan.untrusted.files import refuse_links

    refuse_links(out / "episodes", out)
    method, keeps_results = learner.method, _accepts_folder(learner.method)
    of_model = {"executor_model": learner.executor_model, "reply_cache": learner.cache}
    given = options.collect_settings(learner.more, data=which.data, base_url=learner.base_url, **of_model)
    config = options.load_config()
    model, given = options.select_model(config, learner.model, given)
    tasks = which.select(env, given)
    given |= {"folder": out} if keeps_results else {}
    given |= {"per_kind": True} if which.per_kind else {}
    given["budget"] = options.make_budget(config, **({"model_calls": MODEL_CALLS} | config.budget))
    spending, again = total.start(), "repeat the command with the same --out"
    episodes = len(tasks) * _epochs(given)
    with interruptible(f"; to go on, {again}"), tapes.open() as tape, learning_progress(episodes) as bar:
        learnt: Any = learn_from(
            env, tasks, method, model, out=out / "episodes", spending=spending, on_event=bar, **tape, **given
        )
    plans = getattr(learnt, "plans", {"": learnt.plan})
    for name, plan in plans.items():
        write_plan(out / "plans" / f"{name}.txt" if name else out / "plan.txt", plan)
    used = out / ("plan.txt" if "" in plans else "plans")
    kept = f"the plan is in {used}" if "" in plans else f"a plan for each kind is in {used}"
    kept = kept if plans else "no plan is learnt yet"
    if plans:
        again_with = f"codeplan run {shell_word(env)} --method {shell_word(method)} --set {shell_word(f'plan={used}')}"
        use = f"; use it: {again_with}" if keeps_results else ""
        part = "a part of " if spending.stopped_by else ""
        echo_message(f"{learnt.plan}\n\nlearnt from {part}{with_count(len(tasks), 'task')}; {kept}{use}")
    end_spending(spending, False, f"{kept}; {again} and a larger budget to continue")


def _epochs(given: dict[str, Any]) -> int:
    epochs = given.get("epochs", 1)
    return epochs if isinstance(epochs, int) else 1


def _accepts_folder(method: str) -> bool:
    """Whether a method keeps intermediate results in a folder."""
    from codeplan import plugins

    return "folder" in plugins.setting_names(plugins.load_factory("codeplan.methods", method))
