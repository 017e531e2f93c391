"""Selects the published figures that may be shown beside a bench: those of the same data, split, number of tasks and
metric. For all others a sentence says why they are not shown.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from codeplan.bench.grid import BenchCell
from codeplan.bench.papers.presets import not_run
from codeplan.bench.papers.published import PublishedRow, PublishedTable, published_tables, task_counts
from codeplan.bench.store import BenchRecord
from codeplan.types import Task, Value
from codeplan.untrusted.noun_phrases import with_count

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
    return PublishedResults(tuple(rows), tuple(sentences))


def _result(suite: str, table: PublishedTable, row: PublishedRow) -> PublishedResult:
    alike = [r for r in table.rows if (r.name, r.model) == (row.name, row.model)]
    settings = ", ".join(f"{name}={value}" for name, value in row.settings.items())
    name = row.name if len(alike) == 1 else f"{row.name} ({settings})"
    overall = row.overall if row.overall is not None else row.overall_computed
    rates = {} if overall is None else {"all": overall}
    return PublishedResult(suite, name, row.model, table.cited, rates | row.kinds)
