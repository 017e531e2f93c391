"""Test cases: what a manifest comes to, one task at a time, each as it is, resumed, and under each fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from codeplan import envs
from codeplan.protocols import LLM, Environment
from codeplan.runner.models import connect
from codeplan.sandbox.limits import Limits
from codeplan.skills import folder
from codeplan.testing.cases import expectations, reading
from codeplan.testing.cases.answers import FirstToAnswer, scripted_llm, taped_llm
from codeplan.testing.cases.faults import FAULTS, Fault, misbehaving, struck
from codeplan.testing.cases.manifest import Answers, Expect, Manifest, Tasks, seeds_of
from codeplan.testing.cases.naming import Words, reworded
from codeplan.testing.cases.running import Cover, Meanwhile, PlanRun, run_once
from codeplan.testing.cases.toml_lines import line_of
from codeplan.types import Finished, Plan, Task

RESUME = "resume"
"""What stands in the name of a case that breaks its plan off and resumes it."""


class Case(NamedTuple):
    """One test. ``check`` is empty for a plan that is run as it is, ``"resume"``, or the name of a fault.

    The task is the one with this ``id``, or else of this ``kind`` and ``seed``. ``line`` is the manifest's.
    """

    title: str
    check: str
    id: str | None
    kind: str | None
    seed: int | None
    words: Words
    expect: Expect
    marks: tuple[str, ...]
    line: int

    @property
    def name(self) -> str:
        """Unique in its manifest, and the same in every process."""
        return f"{self.title}[{self.check}]" if self.check else self.title


class Complaint(NamedTuple):
    """A way in which a plan is not as expected, and the run that shows it; None where another case shows it."""

    message: str
    run: PlanRun | None


class Verdict(NamedTuple):
    """What came of a case. It passed where there are no complaints; ``runs`` are none where it could not be tried."""

    complaints: tuple[Complaint, ...]
    runs: tuple[PlanRun, ...]


class Suite:
    """A manifest with its plan and its cases. Raises ManifestError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = reading.read_text(path)
        self.manifest: Manifest = reading.read_manifest(path, self.text)
        self.source = reading.plan_source(self.manifest, path)
        file = self.manifest.plan or (f"{self.manifest.skill}/{folder.PLAN}" if self.manifest.skill else None)
        self.label = str(path.parent / file) if file else f"{self.manifest.env}/{self.manifest.sample}.j2"

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """All cases, in the manifest's order."""
        seen: dict[str, int] = {}
        return tuple(case for i, tasks in enumerate(self.manifest.tasks) for case in self._cases_of(tasks, i, seen))

    @property
    def is_live(self) -> bool:
        """Whether a real model answers."""
        return self.manifest.answers.model not in (None, "scripted")

    def _cases_of(self, tasks: Tasks, index: int, seen: dict[str, int]) -> Iterator[Case]:
        """The cases of some tasks. ``seen`` counts each name, so that a task that comes again has a name of its own."""
        expect = tasks.expect.over(self.manifest.expect)
        words = Words(tasks.names, tasks.values)
        marks, line = (*self.manifest.marks, *tasks.marks), line_of(self.text, ("tasks", index))
        for name, id, seed in _named(tasks):
            seen[name] = count = seen.get(name, 0) + 1
            title = name if count == 1 else f"{name}#{count}"
            for check in self._checks(tasks, expect):
                yield Case(title, check, id, tasks.kind, seed, words, expect, marks, line)

    def _checks(self, tasks: Tasks, expect: Expect) -> Iterator[str]:
        yield ""
        if expect.resumes:
            yield RESUME
        faults = self.manifest.faults if tasks.faults is None else tasks.faults
        if faults != "none" and expect.success is not False and not expect.refuses:
            yield from FAULTS if faults == "all" else faults


class Stage:
    """Where the cases of a suite are run: its world, built once, and its answers, anew for each run."""

    def __init__(self, suite: Suite, cover: Cover | None = None) -> None:
        self.suite, self.cover = suite, cover
        self._whole: dict[str, PlanRun] = {}

    @cached_property
    def env(self) -> Environment:
        """The world of the suite's manifest, built when it is first asked for; ``close`` frees it."""
        return envs.make(self.suite.manifest.env, **self.suite.manifest.settings)

    def close(self) -> None:
        """Free the world. Safe to call twice."""
        if "env" in self.__dict__:
            self.env.close()
            del self.env

    def run(self, case: Case) -> Verdict:
        """Run a case. Raises as ``codeplan.run`` does."""
        whole = self.whole(case)
        if not case.check:
            return _verdict([(m, whole) for m in expectations.complaints(whole, case.expect)], [whole])
        if any(True for _ in expectations.complaints(whole, Expect())):
            message = f"{whole.ending} even when nothing is done to it: see the test {case.title}"
            return Verdict((Complaint(message, None),), (whole,))
        if case.check == RESUME:
            return self._resumed(case, whole)
        return self._struck(case, whole)

    def whole(self, case: Case) -> PlanRun:
        """The case's plan run as it is, in the world as it is. Done once."""
        if case.title not in self._whole:
            self._whole[case.title] = self.once(case)
        return self._whole[case.title]

    def once(
        self,
        case: Case,
        source: str | Plan | None = None,
        *,
        pause_at: int | None = None,
        fault: tuple[Fault, int] | None = None,
        limits: Limits | None = None,
    ) -> PlanRun:
        """The case's plan, or another one, run once."""
        env, model = self.env, answers(self.suite.manifest.answers, self.suite.path.parent)
        meanwhile: Meanwhile | None = None
        if fault:
            env, model = misbehaving(*fault, env, model)
            if fault[0].meanwhile:
                pause_at, meanwhile = fault[1], partial(fault[0].meanwhile, self.whole(case))
        task = self.task(case)
        plan = reworded(self.suite.source, case.words, task.goal) if source is None else source
        return run_once(plan, env, task, model, limits=limits, pause_at=pause_at, meanwhile=meanwhile, cover=self.cover)

    def task(self, case: Case) -> Task:
        """The case's task. Raises UsageError where the environment has none of that name."""
        return envs.select(self.env, id=case.id, kind=case.kind, seed=case.seed)

    def _resumed(self, case: Case, whole: PlanRun) -> Verdict:
        wanted = case.expect.resumes
        steps = tuple(dict.fromkeys(whole.steps)) if wanted == "all" or wanted is None else wanted
        found, runs = [], []
        for step in steps:
            if step not in whole.steps:
                found.append((f"step {step} is never entered, so nothing can be resumed there", whole))
                continue
            runs.append(self.once(case, whole.plan, pause_at=step))
            found += [(m, runs[-1]) for m in expectations.not_resumed(whole, runs[-1], step)]
        return _verdict(found, runs or [whole])

    def _struck(self, case: Case, whole: PlanRun) -> Verdict:
        fault = FAULTS[case.check]
        found, runs = [], []
        for at in self.places(case, whole):
            runs.append(self.once(case, whole.plan, fault=(fault, at)))
            problem = _unnoticed(whole, runs[-1], fault, at, self.suite.manifest.caught == "same-step")
            if problem:
                found.append((problem, runs[-1]))
        return _verdict(found, runs)

    def places(self, case: Case, whole: PlanRun) -> list[int]:
        """Where the case's fault can strike."""
        return list(FAULTS[case.check].at(whole, self.env))


def answers(given: Answers, near: Path) -> LLM:
    """The model that answers a plan's questions. Raises UsageError for a tape or a model that cannot be had."""
    models: list[LLM] = []
    if given.tape is not None:
        models.append(taped_llm(near / given.tape))
    if given.patterns is not None:
        models.append(scripted_llm({p.pattern: p.answer for p in given.patterns}))
    if given.fixed is not None:
        models.append(scripted_llm(given.fixed))
    if given.model is not None or not models:
        models.append(connect(given.model or "scripted"))
    return models[0] if len(models) == 1 else FirstToAnswer(*models)


def _unnoticed(whole: PlanRun, run: PlanRun, fault: Fault, at: int, same_step: bool) -> str | None:
    """Why a fault was not noticed as it should be; None where the plan succeeded all the same, or stopped itself."""
    step, place = struck(fault, at, whole)
    tale = f"{fault.says}, {place}"
    if run.success:
        return None
    if isinstance(run.outcome, Finished):
        return f"{tale}, and no assertion noticed: the plan ran to its end without success"
    if run.refusal is None:
        return f"{tale}, and no assertion noticed: {run.ending}"
    if same_step and step is not None and run.refusal.step != step:
        return f"{tale}, and only an assertion in step {run.refusal.step} noticed: step {step} let it pass"
    return None


def _verdict(found: Iterable[tuple[str, PlanRun]], runs: Iterable[PlanRun]) -> Verdict:
    return Verdict(tuple(Complaint(message, run) for message, run in found), tuple(runs))


def _named(tasks: Tasks) -> Iterator[tuple[str, str | None, int | None]]:
    """Each task's name, with its id or its seed."""
    if tasks.kind is not None:
        yield from ((f"{tasks.kind}/{seed}", None, seed) for seed in seeds_of(tasks))
    for id in (tasks.id,) if tasks.id is not None else tasks.ids or ():
        yield id, id, None
