"""Discovery: rounds in which skills are acquired from episodes and filtered, each round with what is proven by then."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codeplan.curation.acquiring import acquire
from codeplan.curation.episodes import Lab, Ran, of_each_kind
from codeplan.curation.filtering import Filtered, Rule, candidates_of, filter_candidates
from codeplan.sandbox.host.sandbox import Sandbox
from codeplan.skills.library import Library
from codeplan.skills.only import Unrecorded
from codeplan.types import Task, Value


class Discovery(Value, frozen=True):
    """One round: ``episodes`` played and ``solved``, the skills that came of them, what became of these."""

    number: int
    episodes: int
    solved: int
    acquired: tuple[str, ...]
    filtered: tuple[Filtered, ...]


def discover(
    lab: Lab,
    library: Library,
    tasks: Sequence[Task],
    *,
    per_kind: int = 6,
    rounds: int = 1,
    most: int = 3,
    rule: Rule | None = None,
    done: Callable[[str], None] = lambda what: None,
) -> list[Discovery]:
    """Play ``per_kind`` tasks of each kind a round, acquire from the successes, and filter the candidates there are.

    At most ``most`` candidates of a kind are tried in a round. They are tried on the tasks that no round plays.
    """
    sandbox = Sandbox()
    found: list[Discovery] = []
    played = of_each_kind(tasks, per_kind * rounds)
    unplayed = of_each_kind(tasks, len(tasks), skip=per_kind * rounds)
    for number in range(1, rounds + 1):
        now = of_each_kind(played, per_kind, skip=per_kind * (number - 1))
        ran = [r for r in lab.each(lambda t: _played(lab, library, t), now) if r is not None]
        done(f"round {number}: {sum(r.result.success for r in ran)} of {len(ran)} episodes solved")
        skills = [s for s in lab.each(lambda r: acquire(lab, library, r, sandbox), ran) if s is not None]
        names = tuple(sorted({s.name for s in skills}))
        done(f"round {number}: {len(names)} skills acquired")
        rows = filter_candidates(lab, library, unplayed, candidates_of(library, lab.env, most), rule, _teller(done))
        found.append(Discovery(number, len(ran), sum(r.result.success for r in ran), names, tuple(rows)))
    return found


def _played(lab: Lab, library: Library, task: Task) -> Ran | None:
    return lab.plan(task, "discover", library=Unrecorded(library))


def _teller(done: Callable[[str], None]) -> Callable[[Filtered], None]:
    def tell(row: Filtered) -> None:
        done(f"{row.skill}: {row.solved} of {row.pairs} with it, {row.plain_solved} without: {row.status}")

    return tell
