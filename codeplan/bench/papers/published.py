"""The papers' tables as numbers: what ``bench/papers.toml`` holds. They are never mixed with measured ones.

The file's first comment says what each field means. A ``[[table]]`` holds one metric on one suite.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec

from codeplan import plugins
from codeplan.errors import UsageError
from codeplan.types import Value
from codeplan.untrusted.values import in_quotes


class PublishedRow(Value, frozen=True, forbid_unknown_fields=True):
    """One line of a table. ``overall`` (None if not printed) and ``kinds`` are in the table's unit.

    ``overall_computed`` is codeplan's own figure, if none is printed or the printed one contradicts its parts.
    ``origin`` names the authors' source of the row, if they did not run it themselves.
    """

    method: str
    model: str
    label: str = ""
    overall: float | None = None
    kinds: dict[str, float] = {}
    overall_computed: float | None = None
    successes: dict[str, int] = {}
    origin: str = ""
    settings: dict[str, Any] = {}
    note: str = ""

    @property
    def name(self) -> str:
        """The paper's name of the row, or else the method's."""
        return self.label or self.method


class PublishedTable(Value, frozen=True, forbid_unknown_fields=True):
    """One metric on one suite. ``part_of`` is the experiment: the printed table or figure that it comes from."""

    id: str
    part_of: str
    paper: str
    source: Literal["paper", "paper-text", "released-runs"]
    where: str
    title: str
    environment: str
    split: str
    tasks: int
    metric: str
    unit: str
    settings: dict[str, Any] = {}
    notes: tuple[str, ...] = ()
    kinds_are: str = "kinds of task"
    rows: tuple[PublishedRow, ...] = msgspec.field(name="row", default=())

    @property
    def cited(self) -> str:
        """The paper, the place in it and the table's id."""
        return f"{paper_titles()[self.paper].partition(':')[0]}, {self.where} ({self.id})"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    papers: dict[str, str]
    counts: dict[str, dict[str, int]]
    table: tuple[PublishedTable, ...]


def published_tables() -> tuple[PublishedTable, ...]:
    """All tables, in the papers' order."""
    return _content().table


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
def _content() -> _File:
    text = files("codeplan.bench").joinpath("papers.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_File)
