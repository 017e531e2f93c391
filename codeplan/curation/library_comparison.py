"""Measures a library's benefit: success with and without it on the same unseen tasks."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from codeplan.curation.curation_runner import CurationRunner
from codeplan.curation.paired_results import PairedResult, summarise_pairs
from codeplan.skills.library import SkillLibrary
from codeplan.skills.stores import ReadOnlyStore
from codeplan.types import Task


class LibraryComparison(PairedResult, frozen=True, kw_only=True):
    """The pairs with and without the library, for one kind of task or ``"all"``."""

    kind: str


def compare_library(runner: CurationRunner, library: SkillLibrary, tasks: Sequence[Task]) -> list[LibraryComparison]:
    """Return a row for each kind, in order of first appearance, and one for all. Records no evidence."""
    runner.begin("with the library and without", 2 * len(tasks))
    plain = runner.map_parallel(lambda t: runner.run_planner(t, "without"), tasks)
    helped = runner.map_parallel(lambda t: runner.run_planner(t, "with-library", library=ReadOnlyStore(library)), tasks)
    outcomes = [
        (task.kind, (w.result.success, p.result.success))
        for task, w, p in zip(tasks, helped, plain, strict=True)
        if w is not None and p is not None
    ]
    kinds = {kind: [pair for k, pair in outcomes if k == kind] for kind in dict.fromkeys(kind for kind, _ in outcomes)}
    rows = {**kinds, "all": [pair for _, pair in outcomes]}
    return [
        LibraryComparison(**msgspec.structs.asdict(summarise_pairs(pairs)), kind=kind) for kind, pairs in rows.items()
    ]
