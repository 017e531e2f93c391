"""Test cases: a manifest's plan on one task at a time, unchanged, resumed, and under each fault."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from codeplan import envs
from codeplan.errors import UsageError
from codeplan.protocols import LLM, Environment
from codeplan.runner.models import connect
from codeplan.sandbox import Limits
from codeplan.skills import skill_folder
from codeplan.testing.cases import expectations, manifest_files
from codeplan.testing.cases.answer_models import FallbackModel, scripted_llm, taped_llm
from codeplan.testing.cases.case_run import CoverageCallback, PlanRun, run_once
from codeplan.testing.cases.faults import FAULTS, InjectedFault, inject_fault, locate_fault
from codeplan.testing.cases.manifest import (
    MAX_TESTS,
    AnswerSources,
    Expectations,
    PlanManifest,
    TaskSelection,
    seeds_of,
)
from codeplan.testing.cases.recorded_calls import RecordedCalls
from codeplan.testing.cases.rewording import WordReplacements, replace_words
from codeplan.testing.cases.toml_lines import line_of
from codeplan.types import Failed, Plan, Task

RESUME = "resume"
"""The check of a case that interrupts and resumes its plan."""


class PlanCase(NamedTuple):
    """One test. ``check`` is empty for an unchanged run, ``"resume"``, or a fault's name.

    The task has this ``id``, or else this ``kind`` and ``seed``. ``line`` is the manifest's.
    """

    title: str
    check: str
    id: str | None
    kind: str | None
    seed: int | None
    words: WordReplacements
    expect: Expectations
    marks: tuple[str, ...]
    line: int

    @property
    def name(self) -> str:
        """A name that is unique in its manifest and the same in every process."""
        return f"{self.title}[{self.check}]" if self.check else self.title


class CaseComplaint(NamedTuple):
    """A difference from the expectations, and the run that shows it; None if another case shows it."""

    message: str
    run: PlanRun | None


class CaseVerdict(NamedTuple):
    """A case's result. It passed if ``complaints`` is empty; ``runs`` is empty if it did not apply."""

    complaints: tuple[CaseComplaint, ...]
    runs: tuple[PlanRun, ...]


class PlanSuite:
    """A manifest with its plan and its cases, in the manifest's order. ``settings`` are the user's own for environments
    of any manifest.

    Raises: ManifestError: the manifest is unusable, has too many tests, or sets what only the user can set.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any] | None = None) -> None:
        self.path = path
        self.text = manifest_files.read_text(path)
        self.manifest: PlanManifest = manifest_files.read_manifest(path, self.text)
        self.settings = manifest_files.environment_settings(self.manifest, path, self.text, settings or {})
        self.source = manifest_files.plan_source(self.manifest, path)
        file = self.manifest.plan or (f"{self.manifest.skill}/{skill_folder.PLAN}" if self.manifest.skill else None)
        self.label = str(path.parent / file) if file else f"{self.manifest.env}/{self.manifest.sample}.j2"
        self.cases = tuple(self._find_cases())

    @property
    def is_live(self) -> bool:
        """Whether a real model answers."""
        return self.manifest.answers.model not in (None, "scripted")

    def _find_cases(self) -> Iterator[PlanCase]:
        """Yield all cases. Raises: ManifestError: they are too many."""
        left, seen = MAX_TESTS, dict[str, int]()
        for i, tasks in enumerate(self.manifest.tasks):
            for case in self._cases_of(tasks, i, seen):
                if not left:
                    problem = f"a manifest has at most {MAX_TESTS:,} tests, one for each task and check; write several"
                    raise manifest_files.manifest_error(self.path, self.text, ("tasks", i), problem)
                left -= 1
                yield case

    def _cases_of(self, tasks: TaskSelection, index: int, seen: dict[str, int]) -> Iterator[PlanCase]:
        """Yield the cases of some tasks. ``seen`` counts names, so that a repeated task gets a name of its own."""
        expect = tasks.expect.with_defaults(self.manifest.expect)
        words = WordReplacements(tasks.names, tasks.values)
        marks, line = (*self.manifest.marks, *tasks.marks), line_of(self.text, ("tasks", index))
        for name, id, seed in _task_names(tasks):
            seen[name] = count = seen.get(name, 0) + 1
            title = name if count == 1 else f"{name}#{count}"
            for check in self._checks(tasks, expect):
                yield PlanCase(title, check, id, tasks.kind, seed, words, expect, marks, line)

    def _checks(self, tasks: TaskSelection, expect: Expectations) -> Iterator[str]:
        yield ""
        if expect.resumes:
            yield RESUME
        faults = self.manifest.faults if tasks.faults is None else tasks.faults
        if faults != "none" and expect.success is not False and not expect.refuses:
            yield from FAULTS if faults == "all" else faults


class CaseRunner:
    """Runs the cases of a suite. It builds the environment once, and the source of answers again for each run.

    Only if ``live_llm`` is true may a real model that the manifest names be asked.
    """

    def __init__(
        self, suite: PlanSuite, on_coverage: CoverageCallback | None = None, *, live_llm: bool = False
    ) -> None:
        self.suite, self.on_coverage, self.live_llm = suite, on_coverage, live_llm
        self._whole_runs: dict[str, PlanRun] = {}

    @cached_property
    def env(self) -> Environment:
        """The manifest's environment, built on first use; ``close`` closes it."""
        if self.suite.manifest.calls is not None:
            return RecordedCalls(self.suite.path.parent / self.suite.manifest.calls)
        return envs.make(self.suite.manifest.env, **self.suite.settings)

    def close(self) -> None:
        """Close the environment. Safe to call twice."""
        if "env" in self.__dict__:
            self.env.close()
            del self.env

    def run(self, case: PlanCase) -> CaseVerdict:
        """Run a case. Raises as ``codeplan.run`` does."""
        whole = self.run_whole(case)
        if not case.check:
            return _make_verdict([(m, whole) for m in expectations.find_complaints(whole, case.expect)], [whole])
        if any(True for _ in expectations.find_complaints(whole, Expectations())):
            message = f"{whole.ending} even without changes: see the test {case.title}"
            return CaseVerdict((CaseComplaint(message, None),), (whole,))
        if case.check == RESUME:
            return self._run_resumed(case, whole)
        return self._run_with_fault(case, whole)

    def run_whole(self, case: PlanCase) -> PlanRun:
        """Return the unchanged run of the case's plan, which happens once."""
        if case.title not in self._whole_runs:
            self._whole_runs[case.title] = self.run_once(case)
        return self._whole_runs[case.title]

    def run_once(
        self,
        case: PlanCase,
        source: str | Plan | None = None,
        *,
        pause_at: int | None = None,
        fault: tuple[InjectedFault, int] | None = None,
        limits: Limits | None = None,
    ) -> PlanRun:
        """Run the case's plan, or another one, once."""
        if self.suite.is_live and not self.live_llm:
            raise UsageError(f"{self.suite.path} asks a real model, which costs money; allow it with --live-llm")
        env, model = self.env, connect_answers(self.suite.manifest.answers, self.suite.path.parent)
        on_pause: Callable[[Any], None] | None = None
        if fault:
            env, model = inject_fault(*fault, env, model)
            if fault[0].between_steps:
                pause_at, on_pause = fault[1], partial(fault[0].between_steps, self.run_whole(case))
        task = self.task(case)
        plan = replace_words(self.suite.source, case.words, task.goal) if source is None else source
        return run_once(
            plan, env, task, model, limits=limits, pause_at=pause_at, on_pause=on_pause, on_coverage=self.on_coverage
        )

    def task(self, case: PlanCase) -> Task:
        """Return the case's task. Raises UsageError if the environment lacks it."""
        return envs.select(self.env, id=case.id, kind=case.kind, seed=case.seed)

    def _run_resumed(self, case: PlanCase, whole: PlanRun) -> CaseVerdict:
        wanted = case.expect.resumes
        steps = whole.steps if wanted == "all" or wanted is None else wanted
        found = [(message, whole) for message in expectations.find_steps_not_entered(whole, steps)]
        runs: list[PlanRun] = []
        for step in dict.fromkeys(step for step in steps if step in whole.steps):
            runs.append(self.run_once(case, whole.plan, pause_at=step))
            found += [(m, runs[-1]) for m in expectations.find_resume_differences(whole, runs[-1], step)]
        return _make_verdict(found, runs or [whole])

    def _run_with_fault(self, case: PlanCase, whole: PlanRun) -> CaseVerdict:
        fault = FAULTS[case.check]
        found, runs = [], []
        for at in self.fault_places(case, whole):
            runs.append(self.run_once(case, whole.plan, fault=(fault, at)))
            problem = _fault_complaint(whole, runs[-1], fault, at, self.suite.manifest.caught == "same-step")
            if problem:
                found.append((problem, runs[-1]))
        return _make_verdict(found, runs)

    def fault_places(self, case: PlanCase, whole: PlanRun) -> list[int]:
        """Return where the case's fault can be injected."""
        return list(FAULTS[case.check].places(whole, self.env))


def connect_answers(given: AnswerSources, near: Path) -> LLM:
    """Return the model that answers a plan's questions. Raises UsageError for an unusable tape or model."""
    models: list[LLM] = []
    if given.tape is not None:
        models.append(taped_llm(near / given.tape))
    if given.patterns is not None:
        models.append(scripted_llm({p.pattern: p.answer for p in given.patterns}))
    if given.fixed is not None:
        models.append(scripted_llm(given.fixed))
    if given.model is not None or not models:
        models.append(connect(given.model or "scripted"))
    return models[0] if len(models) == 1 else FallbackModel(*models)


def _fault_complaint(whole: PlanRun, run: PlanRun, fault: InjectedFault, at: int, same_step: bool) -> str | None:
    """Return why a fault went unnoticed, or None if the plan succeeded anyway or its assertion failed.

    The error that the fault itself raises in the plan is noticed where it ends the plan.
    """
    step, place = locate_fault(fault, at, whole)
    if run.success or (isinstance(run.outcome, Failed) and fault.raises and run.outcome.message == fault.raises):
        return None
    happened = f"{fault.description}, {place}"
    if run.failed_assertion is None:
        return f"{happened}, and no assertion noticed: {run.ending}"
    if same_step and step is not None and run.failed_assertion.step != step:
        return f"{happened}, and only an assertion in step {run.failed_assertion.step} noticed: step {step} let it pass"
    return None


def _make_verdict(found: Iterable[tuple[str, PlanRun]], runs: Iterable[PlanRun]) -> CaseVerdict:
    return CaseVerdict(tuple(CaseComplaint(message, run) for message, run in found), tuple(runs))


def _task_names(tasks: TaskSelection) -> Iterator[tuple[str, str | None, int | None]]:
    """Yield each task's name with its id or its seed."""
    if tasks.kind is not None:
        yield from ((f"{tasks.kind}/{seed}", None, seed) for seed in seeds_of(tasks))
    for id in (tasks.id,) if tasks.id is not None else tasks.ids or ():
        yield id, id, None
