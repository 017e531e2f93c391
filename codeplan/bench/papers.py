"""What papers report, how codeplan plays it, and which of their figures may stand beside a bench's.

The papers' tables are in ``bench/papers.toml``. The file's first comment says what each field means; a ``[[table]]``
holds one metric on one suite.

The papers' experiments as cells: what the files in ``bench/presets/`` hold.

An experiment is a printed table or figure; its id is the ``part_of`` of its tables in ``bench/papers.toml``, which say
what is measured (environment, split, number of tasks, metric) and what the paper reports. A preset adds how to play it:

    [suites.textcraft]                 # a suite, as bench names it: what holds for each part on it
    settings = { actions = 1000 }      # of all cells, as for --set
    model_settings = { temperature = 0.0 }   # those that the chosen model takes
    budget = { model_calls = 1000 }    # of each episode
    [[experiment]]
    id = "adapt-table3"
    caveats = ["…"]                    # sentences that stand beside the figures
      [[experiment.part]]              # cells on one suite
      tables = ["adapt-table3-success"]    # the published tables that these cells measure, all with the same rows
      suite = "textcraft"
      missing = ["…"]                  # what of the paper's set-up codeplan has no setting for yet
        [[experiment.part.row]]        # one cell
        rows = [1]                     # the published rows that it repeats, from 1; two if only their models differ
        method = "react"
        settings = { calls = 39 }
        learn = { batches = [2], trainings = 5, iterations = 3 }    # trained first, as bench/grid.py says

To complete a preset, move what ``missing`` names into ``settings``, then run ``python scripts/papers_page.py``.
``not_run.toml`` lists what is not played at all.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec

from codeplan import plugins
from codeplan.bench.grid import BenchCell, TrainingGrid
from codeplan.bench.store import BenchRecord
from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.types import Task, Value
from codeplan.untrusted.texts import with_count
from codeplan.untrusted.values import in_quotes


class PublishedRow(Value, frozen=True, forbid_unknown_fields=True):
    """One line of a table. ``overall`` (None if not printed) and ``kinds`` are in the table's unit.

    ``overall_computed`` is codeplan's own figure, if none is printed or the printed one contradicts its parts.
    """

    method: str
    model: str
    label: str = ""
    overall: float | None = None
    kinds: dict[str, float] = {}
    overall_computed: float | None = None
    settings: dict[str, Any] = {}
    note: str = ""

    @property
    def name(self) -> str:
        """The paper's name of the row, or else the method's."""
        return self.label or self.method


class PublishedTable(Value, frozen=True, forbid_unknown_fields=True):
    """One metric on one suite. ``part_of`` is the experiment: the printed table or figure that it comes from."""

    id: str
    where: str
    title: str
    environment: str
    split: str
    tasks: int
    part_of: str = ""
    metric: str = "success"
    unit: str = "percent"
    settings: dict[str, Any] = {}
    notes: tuple[str, ...] = ()
    rows: tuple[PublishedRow, ...] = msgspec.field(name="row", default=())
    by_kind: dict[str, tuple[float | Literal["n/a"], ...]] = {}

    def __post_init__(self) -> None:
        for row, kinds in zip(self.rows, zip(*self.by_kind.values(), strict=True), strict=bool(self.by_kind)):
            own = {kind: value for kind, value in zip(self.by_kind, kinds, strict=True) if value != "n/a"}
            msgspec.structs.force_setattr(row, "kinds", row.kinds | own)
        msgspec.structs.force_setattr(self, "part_of", self.part_of or self.id)

    @property
    def paper(self) -> str:
        """The paper's key."""
        return self.id.partition("-")[0]

    @property
    def cited(self) -> str:
        """The paper, the place in it and the table's id."""
        return f"{paper_titles()[self.paper].partition(':')[0]}, {self.where} ({self.id})"


class _PublishedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    papers: dict[str, str]
    counts: dict[str, dict[str, int]]
    suites: dict[str, dict[str, Any]]
    table: tuple[dict[str, Any], ...]

    def tables(self) -> Iterator[PublishedTable]:
        """The tables, each with what holds for its suite, and its rows with the table's model."""
        for table in self.table:
            own = {name: value for name, value in table.items() if name not in ("suite", "model")}
            model = {"model": table["model"]} if "model" in table else {}
            own["row"] = [model | row for row in table["row"]]
            yield msgspec.convert(self.suites[table["suite"]] | own, PublishedTable)


@cache
def published_tables() -> tuple[PublishedTable, ...]:
    """All tables, in the papers' order."""
    return tuple(_content().tables())


def paper_titles() -> dict[str, str]:
    """Authors, year and title of each paper, by the key that tables use."""
    return _content().papers


def task_counts(suite: str) -> dict[str, int]:
    """How many tasks of each kind a suite of the papers has: ``alfworld``, ``textcraft`` or ``miniwob``."""
    return _content().counts[suite]


def published_table(name: str) -> PublishedTable:
    """The table with this id.

    Raises: UsageError: there is none.
    """
    found = {table.id: table for table in published_tables()}
    if name not in found:
        raise UsageError(f"there is no published table {in_quotes(name)}; {plugins.suggest_names(name, found)}")
    return found[name]


@cache
def _content() -> _PublishedFile:
    text = files("codeplan.bench").joinpath("papers.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_PublishedFile)


_FILES = ("adaplanner.toml", "adapt.toml", "autoplan.toml")


class ExperimentRow(Value, frozen=True, forbid_unknown_fields=True):
    """A cell: a method with its settings. ``rows`` are the published rows that it repeats, counted from 1.

    ``cannot`` says why the cell is not played; empty if it is. ``second_model`` says what the second model
    (``--executor-model``) does in it: nothing, only an executor's turns, or everything. With ``learn``, the row is a
    cell for each plan that the method learns.
    """

    rows: tuple[int, ...]
    method: str
    label: str = ""
    settings: dict[str, Any] = {}
    second_model: Literal["", "executor", "all"] = ""
    cannot: str = ""
    caveats: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    learn: TrainingGrid | None = None

    @property
    def name(self) -> str:
        """The cell's label: unique in its part."""
        return self.label or self.method

    @property
    def trainings(self) -> int:
        """How many trainings come first."""
        return len(self.learn.batches) * self.learn.trainings if self.learn else 0

    @property
    def cells(self) -> int:
        """How many cells the row is: one, or one for each plan that is learnt."""
        return self.trainings * self.learn.iterations if self.learn else 1


class ExperimentPart(Value, frozen=True, forbid_unknown_fields=True):
    """Cells on one suite, in the paper's order. ``data`` says what data the suite needs; empty if none."""

    tables: tuple[str, ...]
    suite: str
    split: str | None = None
    kind: str | None = None
    n: int | None = None
    settings: dict[str, Any] = {}
    model_settings: dict[str, Any] = {}
    budget: Budget = Budget()
    data: str = ""
    caveats: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    rows: tuple[ExperimentRow, ...] = msgspec.field(name="row", default=())

    @property
    def published(self) -> tuple[PublishedTable, ...]:
        """The published tables that the cells measure."""
        return tuple(map(published_table, self.tables))


class PaperExperiment(Value, frozen=True, forbid_unknown_fields=True):
    """A printed table or figure. ``cannot`` says why none of it is played; empty if some is."""

    id: str
    caveats: tuple[str, ...] = ()
    cannot: str = ""
    parts: tuple[ExperimentPart, ...] = msgspec.field(name="part", default=())

    @property
    def published(self) -> tuple[PublishedTable, ...]:
        """All published tables of the experiment, also those that no cell measures."""
        return tuple(table for table in published_tables() if table.part_of == self.id)

    @property
    def title(self) -> str:
        """The title of its first table on each environment."""
        first = {table.environment: table.title for table in reversed(self.published)}
        return "; ".join(reversed(first.values()))


class NotRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The methods, experiments and metrics, by name, that are not played or not measured, with the reasons."""

    methods: dict[str, str]
    experiments: dict[str, str]
    metrics: dict[str, str]


class _PresetFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    suites: dict[str, dict[str, Any]]
    experiment: tuple[dict[str, Any], ...]

    def experiments(self) -> Iterator[PaperExperiment]:
        """The experiments, each part with what holds for its suite."""
        for found in self.experiment:
            parts = [self.suites[part["suite"]] | part for part in found["part"]]
            yield msgspec.convert(found | {"part": parts}, PaperExperiment)


@cache
def paper_experiments() -> tuple[PaperExperiment, ...]:
    """All experiments, in the papers' order."""
    presets = [msgspec.toml.decode(_read(name), type=_PresetFile) for name in _FILES]
    played = {e.id: e for preset in presets for e in preset.experiments()}
    skipped = {name: PaperExperiment(name, cannot=reason) for name, reason in not_run().experiments.items()}
    every = dict.fromkeys(table.part_of for table in published_tables())
    return tuple((played | skipped)[name] for name in every)


def find_experiment(name: str) -> PaperExperiment:
    """The experiment with this id.

    Raises: UsageError: there is none.
    """
    found = {e.id: e for e in paper_experiments()}
    if name not in found:
        raise UsageError(
            f"there is no paper's experiment {in_quotes(name)}; {plugins.suggest_names(name, tuple(found))}"
        )
    return found[name]


@cache
def not_run() -> NotRun:
    """What is not played or not measured, in one list."""
    return msgspec.toml.decode(_read("not_run.toml"), type=NotRun)


def _read(name: str) -> str:
    return files("codeplan.bench").joinpath("presets", name).read_text(encoding="utf-8")


WEBSHOP_GOALS = "c16c28ea7e2131fc"
"""The beginning of the SHA-256 of every fourth of the first hundred test goals, without their price caps, as lines."""

_PRICE_CAP = ", and price lower than "


class PaperTasks(Value, frozen=True):
    """The tasks of a published table, in codeplan's terms: a split, and how many tasks of each kind.

    ``ignored`` are additional kinds that a bench may have. With ``repeats_pages`` a kind is a page, which counts once
    however many episodes it has.
    """

    split: str
    counts: dict[str, int]
    ignored: tuple[str, ...] = ()
    repeats_pages: bool = False

    def mismatch(self, table: PublishedTable, tasks: Sequence[Task]) -> str:
        """Why these tasks are not those of the table; empty if they are."""
        here = {task.split for task in tasks}
        if here != {self.split}:
            return f"the paper's tasks are of the split {self.split}, this bench's of {', '.join(sorted(here))}"
        found = Counter(task.kind for task in tasks if task.kind not in self.ignored)
        if self.repeats_pages:
            if len(found) != table.tasks:
                return f"the paper has {table.tasks} pages, this bench {len(found)}"
            uneven = len({*found.values()}) > 1
            return "the pages of this bench have different numbers of episodes" if uneven else ""
        if found.total() != table.tasks:
            return f"the paper has {with_count(table.tasks, 'task')}, this bench {found.total()}"
        return "" if found == self.counts else "the kinds of task have other numbers of tasks in the paper"


def _paper_tasks(table: PublishedTable) -> PaperTasks | None:
    """The tasks of a table; None if no split of codeplan has them."""
    alfworld, textcraft = task_counts("alfworld"), task_counts("textcraft")
    shallow = {kind: n for kind, n in textcraft.items() if kind != "depth4"}
    known = {
        ("alfworld", "valid_unseen"): PaperTasks("valid_unseen", alfworld),
        ("alfworld", "valid_unseen, kind heat"): PaperTasks("valid_unseen", {"heat": alfworld["heat"]}),
        ("alfworld", "valid_seen, 10 games per kind"): PaperTasks("valid_seen", dict.fromkeys(alfworld, 10)),
        ("miniwob", "the 53 tasks of RCI"): PaperTasks("test", {}, repeats_pages=True),
        ("miniwob", "the 53 tasks of RCI; 9 with feedback, 44 without"): PaperTasks("test", {}, repeats_pages=True),
        ("miniwob", "the 9 tasks with feedback"): PaperTasks("feedback", {}, repeats_pages=True),
        ("webshop", "100 of the 500 test goals"): PaperTasks("test", {"buy": 100}),
        ("webshop", "test, goals 0 to 99"): PaperTasks("test", {"buy": 100}),
        ("webshop", "dev, 40 goals of the authors"): PaperTasks("dev", {"buy": 40}),
        ("textcraft", "test"): PaperTasks("test", textcraft),
        ("textcraft", "test, without the 11 tasks of depth 4"): PaperTasks("test", shallow, ignored=("depth4",)),
    }
    return known.get((table.environment, table.split))


def mismatch(table: PublishedTable, cell: BenchCell, tasks: Sequence[Task]) -> str:
    """Why a table's figures do not belong beside a cell's, as a clause; empty if they do."""
    if table.environment != cell.env:
        return f"the paper's environment is {table.environment}, this cell's {cell.env}"
    if reason := not_run().metrics.get(table.metric):
        return reason
    if cell.env == "webshop" and (reason := _other_shop(cell, tasks)):
        return reason
    wanted = _paper_tasks(table)
    if wanted is None:
        return f"its tasks ({table.split}) are no list of tasks that codeplan has"
    return wanted.mismatch(table, tasks)


def _other_shop(cell: BenchCell, tasks: Sequence[Task]) -> str:
    """Why a cell's shop is not the paper's, with 1.18 million products; empty if it is.

    The goals show it: with another set of products, these numbers belong to other goals.
    """
    if not cell.settings.get("data"):
        return "the paper's products are WebShop's own, this bench's are codeplan's invented shop"
    goals = {task.seed: task.goal.partition(_PRICE_CAP)[0] for task in tasks if task.split == "test"}
    sample = [goals.get(number, "") for number in range(0, 100, 4)]
    if all(task.split == "test" for task in tasks) and not _digest(sample).startswith(WEBSHOP_GOALS):
        return "the paper's goals are those of all 1.18 million products, this bench has others"
    return ""


def _digest(goals: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(goals).encode()).hexdigest()


class PublishedResult(Value, frozen=True):
    """A row of a published table of success rates, in per cent by kind of task; ``"all"`` is the whole suite."""

    suite: str
    method: str
    model: str
    source: str
    rates: dict[str, float]


class PublishedResults(Value, frozen=True):
    """The published results to show beside a bench, and sentences that say why others are not shown."""

    rows: tuple[PublishedResult, ...] = ()
    reasons: tuple[str, ...] = ()


class _AgentDojoRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    method: str
    model: str
    all: float


class _AgentDojoFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    suite: str
    source: str
    notes: tuple[str, ...]
    row: tuple[_AgentDojoRow, ...]


def _agentdojo_results(suites: Iterable[str]) -> PublishedResults:
    """What others report on AgentDojo's user tasks without an attack; nothing beside other suites."""
    text = files("codeplan.bench").joinpath("agentdojo.toml").read_text(encoding="utf-8")
    found = msgspec.toml.decode(text, type=_AgentDojoFile)
    if not any(suite.startswith(found.suite) for suite in suites):
        return PublishedResults()
    rows = (PublishedResult(found.suite, row.method, row.model, found.source, {"all": row.all}) for row in found.row)
    return PublishedResults(tuple(rows), found.notes)


def published_results(bench: BenchRecord) -> PublishedResults:
    """The published success rates of a bench's methods on its tasks, and why others of its environments are not shown.

    A table is shown beside a suite if it matches each of the suite's cells.
    """
    rows: list[PublishedResult] = []
    reasons: dict[tuple[str, str], list[str]] = {}
    for suite, tasks in bench.grid.tasks.items():
        cells = [cell for cell in bench.cells if cell.suite == suite]
        methods = {cell.method for cell in cells}
        for table in (
            t for t in published_tables() if t.metric == "success" and t.environment in {c.env for c in cells}
        ):
            found = [row for row in table.rows if row.method in methods]
            if fault := next(filter(None, (mismatch(table, cell, tasks) for cell in cells)), ""):
                reasons.setdefault((suite, fault), []).extend([table.id] if found else [])
            else:
                rows += [_result(suite, table, row) for row in found]
    sentences = [
        f"Published figures on {suite} are not shown ({', '.join(tables)}): {fault}."
        for (suite, fault), tables in reasons.items()
        if tables
    ]
    others = _agentdojo_results(bench.grid.tasks)
    return PublishedResults((*rows, *others.rows), (*sentences, *others.reasons))


def _result(suite: str, table: PublishedTable, row: PublishedRow) -> PublishedResult:
    alike = [r for r in table.rows if (r.name, r.model) == (row.name, row.model)]
    settings = ", ".join(f"{name}={value}" for name, value in row.settings.items())
    name = row.name if len(alike) == 1 else f"{row.name} ({settings})"
    overall = row.overall if row.overall is not None else row.overall_computed
    rates = {} if overall is None else {"all": overall}
    return PublishedResult(suite, name, row.model, table.cited, rates | row.kinds)
