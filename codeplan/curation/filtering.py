"""Skill filtering: a candidate is promoted only when success rises with it, on tasks other than those it came from.

Each task is played with the skill in the prompt and without, with the same seed. The paper filters by success on the
task alone (Sun et al., NeurIPS 2023, section 3.3); here a paired test decides, at a stated level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from codeplan.curation.checking import run_alone
from codeplan.curation.episodes import Lab, Ran
from codeplan.curation.pairs import Pair, Paired, discordant, paired
from codeplan.errors import UsageError
from codeplan.skills import evidence
from codeplan.skills.library import Library
from codeplan.skills.only import OnlyThese
from codeplan.skills.sequential import Verdict, e_value, reachable, verdict
from codeplan.skills.values import Skill, Trial
from codeplan.statistics import mcnemar_exact
from codeplan.types import Task, Value

Test = Literal["sequential", "fixed"]


class Rule(Value, frozen=True):
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
    test: Test = "sequential"

    def __post_init__(self) -> None:
        if self.alone < 0 or self.pairs < 1 or not 0 < self.level < 1 or self.test not in ("sequential", "fixed"):
            raise UsageError(
                "pairs count from 1, a level lies between 0 and 1, a test is sequential or fixed; "
                f"not {self.pairs}, {self.level} and {self.test} (and {self.alone} tasks alone)"
            )


class Filtered(Paired, frozen=True, kw_only=True):
    """What came of one skill: of ``alone`` tasks, its own plan solved ``alone_solved``; then the pairs.

    ``e`` is the e-value, which may be looked at any time; ``level`` is what it, or ``p``, is held against; ``status``
    is the skill's from now on.
    """

    skill: str
    env: str
    alone: int
    alone_solved: int
    e: float
    level: float
    verdict: Verdict
    status: str


class _Baseline:
    """What the model solves without a skill, each task once for all candidates."""

    def __init__(self, lab: Lab) -> None:
        self._lab, self._known = lab, dict[str, Ran | None]()

    def of(self, tasks: Iterable[Task]) -> dict[str, Ran | None]:
        new = [t for t in tasks if t.id not in self._known]
        self._known |= zip(
            (t.id for t in new), self._lab.each(lambda t: self._lab.plan(t, "without"), new), strict=True
        )
        return self._known


def filter_candidates(
    lab: Lab,
    library: Library,
    tasks: Sequence[Task],
    candidates: Sequence[Skill],
    rule: Rule | None = None,
    done: Callable[[Filtered], None] = lambda filtered: None,
) -> list[Filtered]:
    """Try the candidates on tasks of their kinds, and promote or retire those of which that can be said.

    The others stay candidates; a pinned skill's status stays whatever is found. Every trial is recorded as evidence.
    The sequential test goes on from the pairs that were played before; no task is played twice for the same version.
    """
    rule = rule or Rule()
    baseline = _Baseline(lab)
    rows: list[Filtered] = []
    for skill in candidates:
        row = _filtered(lab, library, skill, tasks, baseline, rule, len(candidates))
        done(row)
        rows.append(row)
    return rows


def _filtered(
    lab: Lab, library: Library, skill: Skill, all_tasks: Sequence[Task], baseline: _Baseline, rule: Rule, family: int
) -> Filtered:
    level = rule.level / family
    earlier = [t for t in library.trials(skill) if t.model == lab.model and t.phase == "filter"]
    tasks = _tasks_for(skill, all_tasks, earlier)[: rule.pairs]
    pairs = evidence.pairs(earlier, skill.version) if rule.test == "sequential" else []
    size = lab.workers if rule.test == "sequential" else max(1, len(tasks))
    alone = run_alone(lab, library, skill, tasks[: rule.alone])
    if not all(alone):
        return _row(skill, alone, pairs, level, "open")
    found = _judged(pairs, level, rule.test, last=not tasks)
    for start in range(0, len(tasks), size):
        if found != "open" or not _worth_while(pairs, len(tasks) - start, level, rule.test):
            break
        pairs += _pairs(lab, library, skill, tasks[start : start + size], baseline)
        found = _judged(pairs, level, rule.test, last=start + size >= len(tasks))
    status = {"helps": "active", "harms": "retired", "open": skill.status}[found]
    if not skill.pinned and status != skill.status:
        skill = library.change(skill, status=status)
    return _row(skill, alone, pairs, level, found)


def _tasks_for(skill: Skill, tasks: Iterable[Task], earlier: Iterable[Trial]) -> list[Task]:
    """Tasks of the skill's kind that it does not come from, and was not tried on."""
    known = {o.task for o in skill.origins} | {t.task for t in earlier if t.version == skill.version}
    return [t for t in tasks if skill.kind in ("", t.kind) and t.id not in known]


def _worth_while(pairs: Sequence[Pair], left: int, level: float, test: Test) -> bool:
    """Whether playing on can still tell anything: that it helps, or that it harms."""
    wins, losses = discordant(pairs)
    return test == "fixed" or reachable(wins, losses, left, level) or reachable(losses, wins, left, level)


def _pairs(lab: Lab, library: Library, skill: Skill, tasks: Sequence[Task], baseline: _Baseline) -> list[Pair]:
    """Play tasks with the skill and without, and record it; success with and without."""
    without = baseline.of(tasks)
    shown = lab.each(lambda t: lab.plan(t, f"with-{skill.name}", library=OnlyThese(skill)), tasks)
    pairs: list[Pair] = []
    for task, run in zip(tasks, shown, strict=True):
        plain = without[task.id]
        if run is None or plain is None:
            continue
        for each, with_it in ((run, True), (plain, False)):
            success = each.result.success
            trial = Trial(task.id, task.seed, lab.model, with_it, success, skill.version, "filter", each.run)
            library.record(skill, trial)
        pairs.append((run.result.success, plain.result.success))
    return pairs


def _judged(pairs: Sequence[Pair], level: float, test: Test, *, last: bool) -> Verdict:
    wins, losses = discordant(pairs)
    if test == "sequential":
        return verdict(wins, losses, level)
    if not last or mcnemar_exact(losses, wins) > level:
        return "open"
    return "helps" if wins > losses else "harms"


def _row(skill: Skill, alone: Sequence[bool], pairs: Sequence[Pair], level: float, found: Verdict) -> Filtered:
    return Filtered(
        **msgspec.structs.asdict(paired(pairs)),
        skill=skill.name,
        env=skill.env,
        alone=len(alone),
        alone_solved=sum(alone),
        e=e_value(*discordant(pairs)),
        level=level,
        verdict=found,
        status=skill.status,
    )


def candidates_of(library: Library, env: str, most: int | None = None) -> list[Skill]:
    """The environment's candidates, of each kind those first that came from most episodes, ``most`` of a kind."""
    skills = [library.get(e.env, e.name) for e in library.entries(env, status="candidate")]
    skills.sort(key=lambda s: (s.kind, -len(s.origins), s.name))
    kinds: dict[str, int] = {}
    chosen: list[Skill] = []
    for skill in skills:
        kinds[skill.kind] = kinds.get(skill.kind, 0) + 1
        if most is None or kinds[skill.kind] <= most:
            chosen.append(skill)
    return chosen
