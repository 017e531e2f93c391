"""Discovery: rounds in which skills are acquired from episodes and filtered, each round with what is proven by then."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codeplan.curation.acquisition import acquire_skill
from codeplan.curation.curation_runner import CurationRunner, EpisodeRecord, take_of_each_kind
from codeplan.curation.filtering import FilterOutcome, FilterRule, filter_candidates, list_candidates
from codeplan.sandbox.host.sandbox import Sandbox
from codeplan.skills.library import SkillLibrary
from codeplan.skills.stores import ReadOnlyStore
from codeplan.types.task import Task
from codeplan.types.value import Value


class DiscoveryRound(Value, frozen=True):
    """One round: ``episodes`` played and ``solved``, the skills that came of them, what became of these."""

    number: int
    episodes: int
    solved: int
    acquired: tuple[str, ...]
    filtered: tuple[FilterOutcome, ...]


def discover_skills(
    runner: CurationRunner,
    library: SkillLibrary,
    tasks: Sequence[Task],
    *,
    per_kind: int = 6,
    rounds: int = 1,
    max_candidates: int = 3,
    rule: FilterRule | None = None,
    on_progress: Callable[[str], None] = lambda what: None,
) -> list[DiscoveryRound]:
    """Play ``per_kind`` tasks of each kind a round, acquire from the successes, and filter the candidates there are.

    At most ``most`` candidates of a kind are tried in a round. They are tried on the tasks that no round plays.
    """
    sandbox = Sandbox()
    found: list[DiscoveryRound] = []
    played = take_of_each_kind(tasks, per_kind * rounds)
    unplayed = take_of_each_kind(tasks, len(tasks), skip=per_kind * rounds)
    for number in range(1, rounds + 1):
        now = take_of_each_kind(played, per_kind, skip=per_kind * (number - 1))
        ran = [r for r in runner.map_parallel(lambda t: _run_task(runner, library, t), now) if r is not None]
        on_progress(f"round {number}: {sum(r.result.success for r in ran)} of {len(ran)} episodes solved")
        skills = [
            s for s in runner.map_parallel(lambda r: acquire_skill(runner, library, r, sandbox), ran) if s is not None
        ]
        names = tuple(sorted({s.name for s in skills}))
        on_progress(f"round {number}: {len(names)} skills acquired")
        rows = filter_candidates(
            runner,
            library,
            unplayed,
            list_candidates(library, runner.env, max_candidates),
            rule,
            _report_row(on_progress),
        )
        found.append(DiscoveryRound(number, len(ran), sum(r.result.success for r in ran), names, tuple(rows)))
    return found


def _run_task(lab: CurationRunner, library: SkillLibrary, task: Task) -> EpisodeRecord | None:
    return lab.run_planner(task, "discover", library=ReadOnlyStore(library))


def _report_row(done: Callable[[str], None]) -> Callable[[FilterOutcome], None]:
    def tell(row: FilterOutcome) -> None:
        done(f"{row.skill}: {row.solved} of {row.pairs} with it, {row.baseline_solved} without: {row.status}")

    return tell
