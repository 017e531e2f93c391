"""Skill filtering: a candidate is promoted only when success rises with it, on tasks other than those it came from.

Each task is played with the skill in the prompt and without, with the same seed. The paper filters by success on the
task alone (Sun et al., NeurIPS 2023, section 3.3); here a paired test decides, at a stated level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from codeplan.curation.checks import run_skill_alone
from codeplan.curation.curation_runner import CurationRunner, EpisodeRecord
from codeplan.curation.pairs import PairedResult, PairOutcome, count_discordant, summarise_pairs
from codeplan.errors import UsageError
from codeplan.skills import evidence
from codeplan.skills.e_process import SkillVerdict, can_reach, e_value, sequential_verdict
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceRecord, Skill
from codeplan.skills.stores import FixedStore
from codeplan.statistics import mcnemar_exact
from codeplan.types.task import Task
from codeplan.types.value import Value

FilterTest = Literal["sequential", "fixed"]


class FilterRule(Value, frozen=True):
    """How candidates are judged: by at most ``pairs`` pairs each, at ``level``.

    The level is that of a whole filtering: each of m candidates is judged at ``level / m``, so that the chance that any
    useless one is promoted is at most ``level`` (Bonferroni). ``test`` is ``"sequential"``, an anytime-valid test that
    ends as soon as it knows, or ``"fixed"``, McNemar's exact test after all pairs.

    Before that a candidate has to stand alone: on ``alone`` tasks its own plan, bound to the task by one question, must
    solve each. What helps a planner only because it is mended each time stays a candidate. Raises UsageError
    for a value that does not fit.
    """

    alone: int = 5
    pairs: int = 20
    level: float = 0.05
    test: FilterTest = "sequential"

    def __post_init__(self) -> None:
        if self.alone < 0 or self.pairs < 1 or not 0 < self.level < 1 or self.test not in ("sequential", "fixed"):
            raise UsageError(
                "pairs count from 1, a level lies between 0 and 1, a test is sequential or fixed; "
                f"not {self.pairs}, {self.level} and {self.test} (and {self.alone} tasks alone)"
            )


class FilterOutcome(PairedResult, frozen=True, kw_only=True):
    """What came of one skill: of ``alone`` tasks, its own plan solved ``alone_solved``; then the pairs.

    ``e`` is the e-value, which may be looked at any time; ``level`` is what it, or ``p``, is held against; ``status``
    is the skill's from now on.
    """

    skill: str
    env: str
    alone: int
    alone_solved: int
    e_value: float
    level: float
    verdict: SkillVerdict
    status: str


class _Baseline:
    """What the model solves without a skill, each task once for all candidates."""

    def __init__(self, lab: CurationRunner) -> None:
        self._lab, self._known = lab, dict[str, EpisodeRecord | None]()

    def run(self, tasks: Iterable[Task]) -> dict[str, EpisodeRecord | None]:
        new = [t for t in tasks if t.id not in self._known]
        self._known |= zip(
            (t.id for t in new), self._lab.map_parallel(lambda t: self._lab.run_planner(t, "without"), new), strict=True
        )
        return self._known


def filter_candidates(
    runner: CurationRunner,
    library: SkillLibrary,
    tasks: Sequence[Task],
    candidates: Sequence[Skill],
    rule: FilterRule | None = None,
    on_result: Callable[[FilterOutcome], None] = lambda filtered: None,
) -> list[FilterOutcome]:
    """Try the candidates on tasks of their kinds, and promote or retire those of which that can be said.

    The others stay candidates; a pinned skill's status stays whatever is found. Every trial is recorded as evidence.
    The sequential test goes on from the pairs that were played before; no task is played twice for the same version.
    """
    rule = rule or FilterRule()
    baseline = _Baseline(runner)
    rows: list[FilterOutcome] = []
    for skill in candidates:
        row = _filter_skill(runner, library, skill, tasks, baseline, rule, len(candidates))
        on_result(row)
        rows.append(row)
    return rows


def _filter_skill(
    lab: CurationRunner,
    library: SkillLibrary,
    skill: Skill,
    all_tasks: Sequence[Task],
    baseline: _Baseline,
    rule: FilterRule,
    family: int,
) -> FilterOutcome:
    level = rule.level / family
    earlier = [t for t in library.read_evidence(skill) if t.model == lab.model and t.phase == "filter"]
    tasks = _unused_tasks(skill, all_tasks, earlier)[: rule.pairs]
    pairs = evidence.paired_outcomes(earlier, skill.version) if rule.test == "sequential" else []
    size = lab.workers if rule.test == "sequential" else max(1, len(tasks))
    alone = run_skill_alone(lab, library, skill, tasks[: rule.alone])
    if not all(alone):
        return _outcome(skill, alone, pairs, level, "open")
    found = _judge(pairs, level, rule.test, last=not tasks)
    for start in range(0, len(tasks), size):
        if found != "open" or not _can_decide(pairs, len(tasks) - start, level, rule.test):
            break
        pairs += _run_pairs(lab, library, skill, tasks[start : start + size], baseline)
        found = _judge(pairs, level, rule.test, last=start + size >= len(tasks))
    status = {"helps": "active", "harms": "retired", "open": skill.status}[found]
    if not skill.pinned and status != skill.status:
        skill = library.change(skill, status=status)
    return _outcome(skill, alone, pairs, level, found)


def _unused_tasks(skill: Skill, tasks: Iterable[Task], earlier: Iterable[EvidenceRecord]) -> list[Task]:
    """Tasks of the skill's kind that it does not come from, and was not tried on."""
    known = {o.task for o in skill.origins} | {t.task for t in earlier if t.version == skill.version}
    return [t for t in tasks if skill.kind in ("", t.kind) and t.id not in known]


def _can_decide(pairs: Sequence[PairOutcome], left: int, level: float, test: FilterTest) -> bool:
    """Whether playing on can still tell anything: that it helps, or that it harms."""
    wins, losses = count_discordant(pairs)
    return test == "fixed" or can_reach(wins, losses, left, level) or can_reach(losses, wins, left, level)


def _run_pairs(
    lab: CurationRunner, library: SkillLibrary, skill: Skill, tasks: Sequence[Task], baseline: _Baseline
) -> list[PairOutcome]:
    """Play tasks with the skill and without, and record it; success with and without."""
    without = baseline.run(tasks)
    shown = lab.map_parallel(lambda t: lab.run_planner(t, f"with-{skill.name}", library=FixedStore(skill)), tasks)
    pairs: list[PairOutcome] = []
    for task, run in zip(tasks, shown, strict=True):
        plain = without[task.id]
        if run is None or plain is None:
            continue
        for each, with_it in ((run, True), (plain, False)):
            success = each.result.success
            trial = EvidenceRecord(task.id, task.seed, lab.model, with_it, success, skill.version, "filter", each.run)
            library.record(skill, trial)
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
    skill: Skill, alone: Sequence[bool], pairs: Sequence[PairOutcome], level: float, found: SkillVerdict
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
    )


def list_candidates(library: SkillLibrary, env: str, max_per_kind: int | None = None) -> list[Skill]:
    """The environment's candidates, of each kind those first that came from most episodes, ``most`` of a kind."""
    skills = [library.get(e.env, e.name) for e in library.entries(env, status="candidate")]
    skills.sort(key=lambda s: (s.kind, -len(s.origins), s.name))
    kinds: dict[str, int] = {}
    chosen: list[Skill] = []
    for skill in skills:
        kinds[skill.kind] = kinds.get(skill.kind, 0) + 1
        if max_per_kind is None or kinds[skill.kind] <= max_per_kind:
            chosen.append(skill)
    return chosen
