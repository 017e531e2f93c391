"""The papers' experiments as cells: what the files in ``bench/presets/`` hold.

An experiment is a printed table or figure; its id is the ``part_of`` of its tables in ``bench/papers.toml``, which say
what is measured (environment, split, number of tasks, metric) and what the paper reports. A preset adds how to play it:

    [[experiment]]
    id = "adapt-table3"
    caveats = ["…"]                    # sentences that stand beside the figures
      [[experiment.part]]              # cells on one suite
      tables = ["adapt-table3-success"]    # the published tables that these cells measure, all with the same rows
      suite = "textcraft"              # as bench names it; split, kind and n as there
      settings = { actions = 1000 }    # of all cells of the part, as for --set
      model_settings = { temperature = 0.0 }   # those that the chosen model takes
      budget = { model_calls = 1000 }  # of each episode
      missing = ["…"]                  # what of the paper's set-up codeplan has no setting for yet
        [[experiment.part.row]]        # one cell
        rows = [1]                     # the published rows that it repeats, from 1; two if only their models differ
        method = "react"
        settings = { calls = 39 }
        learn = { batches = [2], trainings = 5, iterations = 3 }    # trained first, as bench/trainings.py says

To complete a preset, move what ``missing`` names into ``settings``, then run ``python scripts/papers_page.py``.
``not_run.toml`` lists what is not played at all.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec

from codeplan import plugins
from codeplan.bench.papers.published import PublishedTable, published_table, published_tables
from codeplan.bench.trainings import TrainingGrid
from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.types import Value
from codeplan.untrusted.values import in_quotes

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


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    experiment: tuple[PaperExperiment, ...]


@cache
def paper_experiments() -> tuple[PaperExperiment, ...]:
    """All experiments, in the papers' order."""
    played = {e.id: e for name in _FILES for e in msgspec.toml.decode(_read(name), type=_File).experiment}
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
