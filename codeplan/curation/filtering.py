"""Skill filtering, by paired episodes; and what rests on it: discovery, regression tests, the benefit of a library.

Filtering promotes a candidate only if success rises with it, on tasks other than those it came from. Each task runs
with and without the skill in the prompt, with the same seed. The paper filters by success on the task alone (Sun et
al., NeurIPS 2023, section 3.3); here a paired test decides, at a stated level.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

import msgspec

from codeplan.curation.acquisition import acquire_skill
from codeplan.curation.curation_runner import CurationRunner, EpisodeRecord
from codeplan.envs.registry import take_of_each_kind
from codeplan.errors import UsageError
from codeplan.sandbox import Sandbox
from codeplan.skills.library import FixedStore, ReadOnlyStore, SkillLibrary
from codeplan.skills.skill import (
    EvidenceRecord,
    Skill,
    SkillVerdict,
    can_reach,
    e_value,
    paired_outcomes,
    sequential_verdict,
)
from codeplan.statistics import RateDifference, mcnemar_exact, paired_difference
from codeplan.types import Task, Value
from codeplan.untrusted.texts import with_count


class SkillCheck(Value, frozen=True):
    """How many of the tasks a skill solved again; ``unsolved`` holds the ids of the others."""

    skill: str
    env: str
    tasks: int
    solved: int
    unsolved: tuple[str, ...]


def check_skills(
    runner: CurationRunner, library: SkillLibrary, skills: Sequence[Skill], max_tasks: int = 5
) -> list[SkillCheck]:
    """Run each skill's own plan on up to ``max_tasks`` tasks that it came from or has solved, and record the evidence.

    One model call binds the parameters; nothing is planned. Planners no longer see a skill that mostly fails.
    """
    by_id = {t.id: t for split in runner.splits() for t in runner.tasks(split)}
    return [_check_skill(runner, library, s, _known_tasks(library, s, by_id, max_tasks)) for s in skills]


def _known_tasks(library: SkillLibrary, skill: Skill, by_id: dict[str, Task], max_tasks: int) -> list[Task]:
    solved = [t.task for t in library.read_evidence(skill) if t.shown and t.success and t.version == skill.version]
    named = dict.fromkeys([*(o.task for o in skill.origins), *solved])
    return [by_id[name] for name in named if name in by_id][:max_tasks]


def run_skill_alone(runner: CurationRunner, library: SkillLibrary, skill: Skill, tasks: Sequence[Task]) -> list[bool]:
    """Run a skill's own plan on tasks, with its parameters bound by one model call, and record the evidence.

    Returns the success of each episode; episodes that infrastructure broke off are left out.
    """
    given = {"library": FixedStore(skill), "reuse": True, "tries": 1, "replans": 0}
    episodes = runner.map_parallel(lambda t: runner.run_planner(t, f"alone-{skill.name}", **given), tasks)
    for r in episodes:
        if r is not None:
            runner.record_evidence(library, skill, r, "check")
    return [r.result.success for r in episodes if r is not None]


def _check_skill(runner: CurationRunner, library: SkillLibrary, skill: Skill, tasks: Sequence[Task]) -> SkillCheck:
    if not tasks:
        raise UsageError(f"no task of {skill.env}/{skill.name} exists here; use the data and settings it was made with")
    runner.begin(f"skill {skill.name}", len(tasks))
    outcomes = [(task, run_skill_alone(runner, library, skill, [task])) for task in tasks]
    unsolved = tuple(task.id for task, solved in outcomes if solved == [False])
    count = sum(len(solved) for _, solved in outcomes)
    return SkillCheck(skill.name, skill.env, count, count - len(unsolved), unsolved)


PairOutcome: TypeAlias = tuple[bool, bool]
"""Success with the skill or library, and without it."""


class PairedResult(Value, frozen=True, kw_only=True):
    """Of ``pairs``, ``solved`` were solved with it and ``baseline_solved`` without; ``wins`` only with it, ``losses``
    only without.

    ``p_value`` is McNemar's exact p (two-sided), valid for a fixed number of pairs; ``difference`` is that of the
    success rates, with its interval.
    """

    pairs: int
    solved: int
    baseline_solved: int
    wins: int
    losses: int
    p_value: float
    difference: RateDifference


def count_discordant(pairs: Sequence[PairOutcome]) -> tuple[int, int]:
    """Return the wins and the losses."""
    return sum(w and not p for w, p in pairs), sum(p and not w for w, p in pairs)


def summarise_pairs(pairs: Sequence[PairOutcome]) -> PairedResult:
    """Return what the pairs show."""
    wins, losses = count_discordant(pairs)
    return PairedResult(
        pairs=len(pairs),
        solved=sum(w for w, _ in pairs),
        baseline_solved=sum(p for _, p in pairs),
        wins=wins,
        losses=losses,
        p_value=mcnemar_exact(losses, wins),
        difference=paired_difference(losses, wins, len(pairs)),
    )


FilterTest = Literal["sequential", "fixed"]


MIN_LEVEL = 1e-9
"""The smallest level. No number of pairs reaches one that is much smaller."""


class FilterRule(Value, frozen=True):
    """How candidates are judged: by at most ``pairs`` pairs each, at ``level``.

    The level is for a whole filtering: each of m candidates is judged at ``level / m``, so that the chance of promoting
    any useless one is at most ``level`` (Bonferroni). ``test`` is ``"sequential"``, an anytime-valid test that stops
    once it decides, or ``"fixed"``, McNemar's exact test after all pairs.

    Before that, the candidate's own plan, bound by one model call, must solve each of ``alone`` tasks: a plan that
    helps only because the planner repairs it stays a candidate. Raises: UsageError for an invalid value.
    """

    alone: int = 5
    pairs: int = 20
    level: float = 0.05
    test: FilterTest = "sequential"

    def __post_init__(self) -> None:
        is_level = MIN_LEVEL <= self.level < 1
        if self.alone < 0 or self.pairs < 1 or not is_level or self.test not in ("sequential", "fixed"):
            raise UsageError(
                f"pairs must be 1 or more, alone 0 or more, level from {MIN_LEVEL:g} to below 1, and test sequential "
                f"or fixed; got {self.pairs}, {self.alone}, {self.level} and {self.test}"
            )


class FilterOutcome(PairedResult, frozen=True, kw_only=True):
    """The decision of filtering on one skill: its plan solved ``alone_solved`` of ``alone`` tasks; then the pairs.

    ``e_value`` is valid at any time; ``level`` is the level that it, or ``p_value``, is compared with; ``status`` is
    the skill's new status. ``missing_pairs`` is above 0 if there were too few pairs for a promotion, even if the skill
    had won each of them: it is the number of missing pairs. No episode was run in that case.
    """

    skill: str
    env: str
    alone: int
    alone_solved: int
    e_value: float
    level: float
    verdict: SkillVerdict
    status: str
    missing_pairs: int = 0


_Baseline = dict[str, EpisodeRecord | None]
"""Episodes without a skill, by task: each task runs once for all candidates."""


def filter_candidates(
    runner: CurationRunner,
    library: SkillLibrary,
    tasks: Sequence[Task],
    candidates: Sequence[Skill],
    rule: FilterRule | None = None,
    on_result: Callable[[FilterOutcome], None] = lambda filtered: None,
) -> list[FilterOutcome]:
    """Try the candidates on tasks of their kinds, and promote or retire those that the test decides on.

    The others stay candidates, and a pinned skill keeps its status. Every episode is recorded as evidence. The
    sequential test continues from earlier pairs; no task runs twice for one version.
    """
    rule = rule or FilterRule()
    baseline: _Baseline = {}
    rows: list[FilterOutcome] = []
    for skill in candidates:
        row = _filter_skill(runner, library, skill, tasks, baseline, rule, len(candidates))
        on_result(row)
        rows.append(row)
    return rows


def _filter_skill(
    runner: CurationRunner,
    library: SkillLibrary,
    skill: Skill,
    all_tasks: Sequence[Task],
    baseline: _Baseline,
    rule: FilterRule,
    family: int,
) -> FilterOutcome:
    level = rule.level / family
    tasks = _unused_tasks(skill, all_tasks, _earlier_records(runner, library, skill))[: rule.pairs]
    pairs = earlier_pairs(runner, library, skill, rule.test)
    size = runner.workers if rule.test == "sequential" else max(1, len(tasks))
    if missing := missing_pairs(pairs, len(tasks), level, rule.test):
        return _outcome(skill, (), pairs, level, "open", missing)
    runner.begin(f"skill {skill.name}", len(tasks[: rule.alone]) + 2 * len(tasks))
    alone = run_skill_alone(runner, library, skill, tasks[: rule.alone])
    if not all(alone):
        return _outcome(skill, alone, pairs, level, "open")
    found = _judge(pairs, level, rule.test, last=not tasks)
    for start in range(0, len(tasks), size):
        if runner.spending.refuses() or found != "open" or not _can_decide(pairs, len(tasks) - start, level, rule.test):
            break
        pairs += _run_pairs(runner, library, skill, tasks[start : start + size], baseline)
        whole = start + size >= len(tasks) and runner.spending.stopped_by is None
        found = _judge(pairs, level, rule.test, last=whole)
    status = {"helps": "active", "harms": "retired", "open": skill.status}[found]
    if not skill.pinned and status != skill.status:
        skill = library.change(skill, status=status)
    return _outcome(skill, alone, pairs, level, found)


def _earlier_records(runner: CurationRunner, library: SkillLibrary, skill: Skill) -> list[EvidenceRecord]:
    return [t for t in library.read_evidence(skill) if t.model == runner.model and t.phase == "filter"]


def earlier_pairs(
    runner: CurationRunner, library: SkillLibrary, skill: Skill, test: FilterTest = "sequential"
) -> list[PairOutcome]:
    """The pairs that the library has of a skill and the runner's model; only the sequential test counts them."""
    records = _earlier_records(runner, library, skill) if test == "sequential" else []
    return paired_outcomes(records, skill.version)


def _unused_tasks(skill: Skill, tasks: Iterable[Task], earlier: Iterable[EvidenceRecord]) -> list[Task]:
    """Tasks of the skill's kind that it does not come from and was not tried on."""
    known = {o.task for o in skill.origins} | {t.task for t in earlier if t.version == skill.version}
    return [t for t in tasks if skill.kind in ("", t.kind) and t.id not in known]


def missing_pairs(pairs: Sequence[PairOutcome], left: int, level: float, test: FilterTest) -> int:
    """How many more than ``left`` pairs a promotion needs after ``pairs``, if the skill wins each of them."""
    wins, losses = count_discordant(pairs)

    def is_enough(more: int) -> bool:
        return can_reach(wins, losses, more, level) if test == "sequential" else mcnemar_exact(0, more) <= level

    most = 1
    while not is_enough(most):
        most *= 2
    return max(0, bisect_left(range(most), True, key=is_enough) - left)


def _can_decide(pairs: Sequence[PairOutcome], left: int, level: float, test: FilterTest) -> bool:
    """Whether more pairs can still decide that the skill helps or harms."""
    wins, losses = count_discordant(pairs)
    return test == "fixed" or can_reach(wins, losses, left, level) or can_reach(losses, wins, left, level)


def _run_pairs(
    runner: CurationRunner, library: SkillLibrary, skill: Skill, tasks: Sequence[Task], baseline: _Baseline
) -> list[PairOutcome]:
    """Run tasks with and without the skill, record the evidence, and return success with and without."""
    new = [t for t in tasks if t.id not in baseline]
    without = runner.map_parallel(lambda t: runner.run_planner(t, "without"), new)
    baseline.update(zip((t.id for t in new), without, strict=True))
    shown = runner.map_parallel(lambda t: runner.run_planner(t, f"with-{skill.name}", library=FixedStore(skill)), tasks)
    pairs: list[PairOutcome] = []
    for task, run in zip(tasks, shown, strict=True):
        plain = baseline[task.id]
        if run is None or plain is None:
            continue
        for each, with_it in ((run, True), (plain, False)):
            runner.record_evidence(library, skill, each, "filter", shown=with_it)
        pairs.append((run.result.success, plain.result.success))
    return pairs


def _judge(pairs: Sequence[PairOutcome], level: float, test: FilterTest, *, last: bool) -> SkillVerdict:
    wins, losses = count_discordant(pairs)
    if test == "sequential":
        return sequential_verdict(wins, losses, level)
    if not last or mcnemar_exact(losses, wins) > level:
        return "open"
    return "helps" if wins > losses else "harms"


def _outcome(
    skill: Skill,
    alone: Sequence[bool],
    pairs: Sequence[PairOutcome],
    level: float,
    found: SkillVerdict,
    missing: int = 0,
) -> FilterOutcome:
    return FilterOutcome(
        **msgspec.structs.asdict(summarise_pairs(pairs)),
        skill=skill.name,
        env=skill.env,
        alone=len(alone),
        alone_solved=sum(alone),
        e_value=e_value(*count_discordant(pairs)),
        level=level,
        verdict=found,
        status=skill.status,
        missing_pairs=missing,
    )


def list_candidates(library: SkillLibrary, env: str, max_per_kind: int | None = None) -> list[Skill]:
    """Return the environment's candidates, those of most origins first in each kind, ``max_per_kind`` of a kind."""
    skills = [library.get(e.env, e.name) for e in library.entries(env, status="candidate")]
    skills.sort(key=lambda s: (s.kind, -len(s.origins), s.name))
    kinds: dict[str, int] = {}
    chosen: list[Skill] = []
    for skill in skills:
        kinds[skill.kind] = kinds.get(skill.kind, 0) + 1
        if max_per_kind is None or kinds[skill.kind] <= max_per_kind:
            chosen.append(skill)
    return chosen


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
