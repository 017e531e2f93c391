"""What a library is worth: success with it and without it, on the same tasks, which it has not seen."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from codeplan.curation.episodes import Lab
from codeplan.curation.pairs import Paired, paired
from codeplan.skills.library import Library
from codeplan.skills.only import Unrecorded
from codeplan.types import Task


class Compared(Paired, frozen=True, kw_only=True):
    """One kind of task, or ``"all"``: the pairs with the library and without."""

    kind: str


def compare(lab: Lab, library: Library, tasks: Sequence[Task]) -> list[Compared]:
    """A row for each kind, in order of first appearance, and one for all. None of it becomes a skill's evidence."""
    plain = lab.each(lambda t: lab.plan(t, "without"), tasks)
    helped = lab.each(lambda t: lab.plan(t, "with-library", library=Unrecorded(library)), tasks)
    outcomes = [
        (task.kind, (w.result.success, p.result.success))
        for task, w, p in zip(tasks, helped, plain, strict=True)
        if w is not None and p is not None
    ]
    kinds = {kind: [pair for k, pair in outcomes if k == kind] for kind in dict.fromkeys(kind for kind, _ in outcomes)}
    rows = {**kinds, "all": [pair for _, pair in outcomes]}
    return [Compared(**msgspec.structs.asdict(paired(pairs)), kind=kind) for kind, pairs in rows.items()]
