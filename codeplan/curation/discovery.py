"""Discovery: rounds of acquiring skills from episodes and filtering them, each with the skills proven so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codeplan.curation.acquisition import acquire_skill
from codeplan.curation.curation_runner import CurationRunner
from codeplan.curation.filtering import FilterOutcome, FilterRule, filter_candidates, list_candidates
from codeplan.envs.selection import take_of_each_kind
from codeplan.sandbox import Sandbox
from codeplan.skills.library import SkillLibrary
from codeplan.skills.stores import ReadOnlyStore
from codeplan.types import Task, Value
from codeplan.untrusted.noun_phrases import with_count


class DiscoveryRound(Value, frozen=True):
    """One round: episodes run and solved, the skills acquired from them, and what filtering decided."""

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
    """Run ``per_kind`` tasks of each kind a round, acquire skills from the successes, and filter the candidates.

    A round tries at most ``max_candidates`` of each kind, on tasks that no round runs for acquisition.
    """

    def report(row: FilterOutcome) -> None:
        on_progress(f"{row.skill}: {row.solved} of {row.pairs} with it, {row.baseline_solved} without: {row.status}")

    sandbox = Sandbox()
    found: list[DiscoveryRound] = []
    chosen = take_of_each_kind(tasks, per_kind * rounds)
    unused = take_of_each_kind(tasks, len(tasks), skip=per_kind * rounds)
    for number in range(1, rounds + 1):
        now = take_of_each_kind(chosen, per_kind, skip=per_kind * (number - 1))
        runner.begin(f"round {number}: tasks", len(now))
        every = runner.map_parallel(lambda t: runner.run_planner(t, "discover", library=ReadOnlyStore(library)), now)
        ran = [r for r in every if r is not None]
        on_progress(f"round {number}: {sum(r.result.success for r in ran)} of {with_count(len(ran), 'episode')} solved")
        runner.begin(f"round {number}: first proofs")
        acquired = runner.map_parallel(lambda r: acquire_skill(runner, library, r, sandbox), ran)
        names = tuple(sorted({s.name for s in acquired if s is not None}))
        on_progress(f"round {number}: {with_count(len(names), 'skill')} acquired")
        candidates = list_candidates(library, runner.env, max_candidates)
        rows = filter_candidates(runner, library, unused, candidates, rule, report)
        found.append(DiscoveryRound(number, len(ran), sum(r.result.success for r in ran), names, tuple(rows)))
    return found
