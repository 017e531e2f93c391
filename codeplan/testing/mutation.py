"""Mutation testing: changes a plan in many small ways. Each change should make a test fail.

A mutant is killed in two ways: a case passes with the plan and fails with the mutant, or the plan notices a fault in a
step and the mutant does not. An assertion is therefore strong if it notices some fault that nothing else in its step
notices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

import msgspec

from codeplan.errors import ModelError, UsageError
from codeplan.runner.recorded_calls import UnrecordedCall
from codeplan.sandbox import Limits, Sandbox
from codeplan.testing.cases import RESUME, CaseRunner, PlanCase, find_complaints, replace_words
from codeplan.testing.faults import FAULTS, InjectedFault, locate_fault
from codeplan.testing.manifest import MutationTarget
from codeplan.testing.plan_runs import PlanRun, check_plan
from codeplan.types import Plan, Rejected
from codeplan.untrusted.texts import one_line, with_count
from codeplan.untrusted.values import in_quotes

MUTANT_LIMITS = Limits(wall=2.0, cpu=2.0, turns=200_000, calls=200)
"""Limits for a mutant: some never end."""


class _MutantRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mutant as the analysis returns it."""

    name: str
    kind: str
    step: int | None
    line: int
    start: int
    end: int
    text: str


class Mutant(msgspec.Struct, frozen=True):
    """A changed plan. ``name`` says where and how; ``kind`` is ``"assertion"`` or what else changed."""

    name: str
    kind: str
    step: int | None
    line: int
    source: str


class MutantResult(NamedTuple):
    """A mutant and the name of the case that killed it, empty if it survived."""

    mutant: Mutant
    killer: str


class MutationScore(NamedTuple):
    """The results for a plan's mutants, and the manifest's target."""

    label: str
    results: tuple[MutantResult, ...]
    target: MutationTarget

    @property
    def killed(self) -> int:
        """How many mutants were killed."""
        return sum(bool(t.killer) for t in self.results)

    @property
    def explained(self) -> tuple[Mutant, ...]:
        """The survivors that the manifest explains."""
        return tuple(mutant for mutant in self.survivors if mutant.name in self.target.survivors)

    @property
    def unexplained(self) -> tuple[Mutant, ...]:
        """The survivors that it does not explain."""
        return tuple(mutant for mutant in self.survivors if mutant.name not in self.target.survivors)

    @property
    def survivors(self) -> tuple[Mutant, ...]:
        """The mutants that no case killed."""
        return tuple(r.mutant for r in self.results if not r.killer)

    @property
    def share(self) -> float:
        """The killed share of the mutants that are not explained, from 0 to 1."""
        counted = len(self.results) - len(self.explained)
        return self.killed / counted if counted else 1.0

    @property
    def complaints(self) -> tuple[str, ...]:
        """All ways in which the tests are weaker than the manifest asks for."""
        return tuple(_complaints(self))


def make_mutants(source: str) -> tuple[Mutant, ...]:
    """Return all mutants of a plan. Raises UsageError if it is not Python."""
    found = Sandbox().analyse("mutants", source)
    if isinstance(found, Rejected):
        raise UsageError(f"the plan cannot be mutated: {found.diagnostics[0]}")
    data = source.encode()
    return tuple(_apply_edit(data, edit) for edit in msgspec.convert(found, list[_MutantRecord]))


def run_mutants(runner: CaseRunner, on_count: Callable[[int, int], None] = lambda done, total: None) -> MutationScore:
    """Run every mutant of the suite's plan. ``on_count`` gets how many of how many were run.

    Raises: UsageError: the tests fail without any change.
    """
    trial, suite = _MutantTrial(runner), runner.suite
    mutants = [mutant for mutant in make_mutants(suite.source) if trial.is_valid_plan(mutant)]
    results: list[MutantResult] = []
    for mutant in mutants:
        on_count(len(results), len(mutants))
        results.append(MutantResult(mutant, trial.find_killer(mutant)))
    return MutationScore(suite.label, tuple(results), suite.manifest.mutation or MutationTarget())


class _MutantTrial:
    """The cases of a suite, run against mutants."""

    def __init__(self, runner: CaseRunner) -> None:
        self._runner = runner
        self._plain = [c for c in runner.suite.cases if not c.check]
        self._faulty = [c for c in runner.suite.cases if c.check in FAULTS]
        for case in (c for c in runner.suite.cases if c.check != RESUME):
            if found := runner.run(case).complaints:
                raise UsageError(f"{case.name} fails with the unchanged plan: {found[0].message}")

    @cached_property
    def _fault_runs(self) -> list[tuple[PlanCase, int, int | None, _RunEnding]]:
        """Every fault at every place: case, place, step of the fault, and how the plan ends."""
        found: list[tuple[PlanCase, int, int | None, _RunEnding]] = []
        for case in self._faulty:
            whole, fault = self._runner.run_whole(case), FAULTS[case.check]
            for at in self._runner.fault_places(case, whole):
                run = self._runner.run_once(case, whole.plan, fault=(fault, at))
                found.append((case, at, locate_fault(fault, at, whole)[0], _run_ending(run)))
        return found

    def is_valid_plan(self, mutant: Mutant) -> bool:
        """Return whether a mutant passes the check."""
        return isinstance(self._check(mutant, self._plain[0]), Plan)

    def find_killer(self, mutant: Mutant) -> str:
        """Return the name of the first case that notices, or ""."""
        for case in self._plain:
            run = self._run(mutant, case)
            if run is None or any(True for _ in find_complaints(run, case.expect)):
                return case.name
        nearest_first = sorted(self._fault_runs, key=lambda fault_run: fault_run[2] != mutant.step)
        for case, at, _, ending in nearest_first:
            run = self._run(mutant, case, (FAULTS[case.check], at))
            if run is None or _run_ending(run) != ending:
                return case.name
        return ""

    def _run(self, mutant: Mutant, case: PlanCase, fault: tuple[InjectedFault, int] | None = None) -> PlanRun | None:
        """Return the mutant's run, or None if it asks a question, or makes a call, that has no answer."""
        try:
            return self._runner.run_once(case, self._check(mutant, case), fault=fault, limits=MUTANT_LIMITS)
        except (ModelError, UnrecordedCall):
            return None

    def _check(self, mutant: Mutant, case: PlanCase) -> Plan | str:
        source = replace_words(mutant.source, case.words, self._runner.task(case).goal)
        checked = check_plan(source, self._runner.env)
        return checked if isinstance(checked, Plan) else source


_RunEnding = tuple[bool, int | None]
"""Whether a run succeeded, and the step whose assertion ended it."""


def _run_ending(run: PlanRun) -> _RunEnding:
    return run.success, run.failed_assertion.step if run.failed_assertion else None


def _apply_edit(source: bytes, edit: _MutantRecord) -> Mutant:
    if not 0 <= edit.start <= edit.end <= len(source):
        raise UsageError(f"the mutant {in_quotes(edit.name)} lies outside the plan")
    text = source[: edit.start] + edit.text.encode() + source[edit.end :]
    return Mutant(edit.name, edit.kind, edit.step, edit.line, text.decode("utf-8", "replace"))


def format_summary(score: MutationScore) -> str:
    """Return the score of a plan and of each of its steps in lines."""
    total = len(score.results)
    lines = [f"{score.label}: {score.killed} of {with_count(total, 'mutant')} killed ({_percent(score.killed, total)})"]
    lines[0] += f", {len(score.explained)} explained" if score.explained else ""
    for step in sorted({t.mutant.step for t in score.results}, key=lambda s: -1 if s is None else s):
        mine = [t for t in score.results if t.mutant.step == step]
        guards = [t for t in mine if t.mutant.kind == "assertion"]
        lines.append(f"  {'outside' if step is None else f'step {step}':8} {_of_step(guards, mine)}")
    return "\n".join(lines)


def survivor_lines(score: MutationScore) -> list[str]:
    """Return the place and the description of each survivor that the manifest does not explain."""
    return [f"survived: {score.label}:{mutant.line}: {one_line(mutant.name)}" for mutant in score.unexplained]


def _of_step(guards: list[MutantResult], mine: list[MutantResult]) -> str:
    rest = [t for t in mine if t.mutant.kind != "assertion"]
    strength = f"assertion strength {_share(guards)}" if guards else ""
    return f"{strength:32} plan {_share(rest) if rest else '-'}"


def _share(tried: list[MutantResult]) -> str:
    killed = sum(bool(t.killer) for t in tried)
    return f"{killed}/{len(tried)} ({_percent(killed, len(tried))})"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _complaints(score: MutationScore) -> Iterator[str]:
    if score.share < score.target.at_least:
        counted, least = len(score.results) - len(score.explained), f"{100 * score.target.at_least:g} %"
        yield (
            f"{score.label}: the tests kill {score.killed} of {with_count(counted, 'mutant')} "
            f"({_percent(score.killed, counted)}); {least} are required (at_least in [mutation])"
        )
    survived = {mutant.name for mutant in score.survivors}
    for name in score.target.survivors:
        if name not in survived:
            what = "is killed" if any(t.mutant.name == name for t in score.results) else "is not there"
            yield f"{score.label}: the mutant {in_quotes(name)} is explained, but {what}; remove it from 'survivors'"
