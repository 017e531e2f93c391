"""Test cases: a manifest's plan on one task at a time, unchanged, resumed, and under each fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from codeplan import envs
from codeplan.errors import UsageError
from codeplan.protocols import LLM, BaseEnvironment
from codeplan.runner.models import connect
from codeplan.runner.recorded_calls import read_recorded_calls
from codeplan.sandbox import Limits, decode
from codeplan.skills import skill_folder
from codeplan.skills.parameter_binding import SkillParameterValue, bind_parameters
from codeplan.testing import manifest
from codeplan.testing.answers import FallbackModel, scripted_llm, taped_llm
from codeplan.testing.faults import FAULTS, InjectedFault, inject_fault, locate_fault
from codeplan.testing.manifest import (
    MAX_TESTS,
    AnswerSources,
    Expectations,
    ExpectedFailure,
    PlanManifest,
    TaskSelection,
    line_of,
    seeds_of,
)
from codeplan.testing.plan_runs import CoverageCallback, PlanRun, run_once
from codeplan.types import Checkpoint, Failed, Outcome, Plan, Rejected, Stopped, Task
from codeplan.untrusted.json_values import matches_json
from codeplan.untrusted.patterns import MAX_SECONDS, search_pattern
from codeplan.untrusted.texts import clean, one_line, source_excerpt, with_count
from codeplan.untrusted.values import clip_name, in_quotes, shown_answer, shown_call, value_text, variable_texts


class WordReplacements(NamedTuple):
    """Words of a plan's text with their replacements, and the values of a skill's parameters."""

    names: Mapping[str, str]
    values: Mapping[str, SkillParameterValue]


def replace_words(source: str, words: WordReplacements, goal: str) -> str:
    """Return the plan with its words replaced and its parameters set, for a task with this goal."""
    text = replace_names(source, words.names)
    return bind_parameters(text, goal, words.values) if words.values else text


def replace_names(source: str, names: Mapping[str, str]) -> str:
    """Return the text with all whole words in ``names`` replaced at once."""
    if not names:
        return source
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{words})(?!\w)", lambda found: names[found[0]], source)


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
        self.text = manifest.read_text(path)
        self.manifest: PlanManifest = manifest.read_manifest(path, self.text)
        self.settings = manifest.environment_settings(self.manifest, path, self.text, settings or {})
        self.source = manifest.plan_source(self.manifest, path)
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
                    raise manifest.manifest_error(self.path, self.text, ("tasks", i), problem)
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
    def env(self) -> BaseEnvironment:
        """The manifest's environment, built on first use; ``close`` closes it."""
        if self.suite.manifest.calls is not None:
            return read_recorded_calls(self.suite.path.parent / self.suite.manifest.calls)
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
            return _make_verdict([(m, whole) for m in find_complaints(whole, case.expect)], [whole])
        if any(True for _ in find_complaints(whole, Expectations())):
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
        found = [(message, whole) for message in find_steps_not_entered(whole, steps)]
        runs: list[PlanRun] = []
        for step in dict.fromkeys(step for step in steps if step in whole.steps):
            runs.append(self.run_once(case, whole.plan, pause_at=step))
            found += [(m, runs[-1]) for m in find_resume_differences(whole, runs[-1], step)]
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


_MAX_VALUE = 250
"""Maximum length of a variable's value, and of the expected one, in a complaint, in characters."""


def find_complaints(run: PlanRun, expect: Expectations) -> Iterator[str]:
    """Yield every difference between a run and the expectations."""
    if isinstance(run.outcome, Rejected):
        yield f"the plan was refused before any of it ran: {run.outcome.diagnostics[0].message}"
        return
    if expect.refuses:
        yield from _missing_failure(run, expect.refuses)
    elif run.success != (wanted := expect.success is not False):
        yield f"{run.ending}; expected {'success' if wanted else 'no success'}"
    yield from _exceeded_counts(run, expect)
    if expect.steps is not None and run.steps != expect.steps:
        yield f"it entered the steps {_join_steps(run.steps)}; expected {_join_steps(expect.steps)}"
    if expect.output is not None and (problem := _mismatch(expect.output, _output(run))):
        yield f"its output {problem}"
    for name, value in (expect.checkpoint or {}).items():
        yield from _variable_complaints(run, name, value)


def find_steps_not_entered(whole: PlanRun, steps: tuple[int, ...]) -> Iterator[str]:
    """Yield a sentence if a whole run did not enter some of the steps at which it is to be resumed."""
    missing = tuple(dict.fromkeys(step for step in steps if step not in whole.steps))
    if missing:
        what = f"step {missing[0]} is" if len(missing) == 1 else f"the steps {_join_steps(missing)} are"
        yield f"{what} never entered, so the plan cannot be resumed there"


def find_resume_differences(whole: PlanRun, resumed: PlanRun, step: int) -> Iterator[str]:
    """Yield every difference between a whole run and one that was interrupted and resumed at a step."""
    before, after = whole.actions, resumed.actions
    if after != before:
        place = next(
            (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
        )
        yield f"resumed at step {step}, {_difference(before, after, place)}"
    elif resumed.success != whole.success:
        yield f"resumed at step {step}, {resumed.ending}; uninterrupted, {whole.ending}"


def _missing_failure(run: PlanRun, refuses: ExpectedFailure) -> Iterator[str]:
    refusal = run.failed_assertion
    if refusal is None or refusal.step != refuses.step or run.success:
        yield f"{run.ending}; expected an assertion to fail in step {refuses.step}"
    elif problem := _mismatch(refuses.message, refusal.message):
        yield f"the message of the assertion in step {refuses.step} {problem}"


def _mismatch(pattern: str, text: str) -> str:
    """Say that the text does not match; empty if it does."""
    found = search_pattern(pattern, text)
    if found is None:
        return f"could not be compared with {in_quotes(pattern)} in {MAX_SECONDS:g} s; write a simpler expression"
    return "" if found else f"does not match {in_quotes(pattern)}"


def _exceeded_counts(run: PlanRun, expect: Expectations) -> Iterator[str]:
    for name in ("actions", "asks"):
        most, count = getattr(expect, name), getattr(run.result, name)
        if most is not None and count > most:
            yield f"it took {count} {name}; at most {most} are allowed"


def _join_steps(steps: tuple[int, ...]) -> str:
    return ", ".join(map(str, steps)) or "none"


def _output(run: PlanRun) -> str:
    return "" if run.outcome is None or isinstance(run.outcome, Rejected) else run.outcome.output


def _variable_complaints(run: PlanRun, name: str, value: object) -> Iterator[str]:
    outcome = run.outcome
    saved = None if outcome is None or isinstance(outcome, Rejected) else outcome.checkpoint
    wanted = value_text(value, _MAX_VALUE)
    if saved is None:
        yield f"there is no checkpoint in which {name} could be {wanted}"
        return
    variables = decode(saved)
    if name not in variables:
        why = f"was not saved ({saved.dropped[name]})" if name in saved.dropped else "is not set"
        yield f"the variable {name} {why}; expected {wanted}"
    elif not matches_json(variables[name], value):
        yield f"the variable {name} is {value_text(variables[name], _MAX_VALUE)}; expected {wanted}"


def _difference(before: tuple[str, ...], after: tuple[str, ...], place: int) -> str:
    now = in_quotes(after[place]) if place < len(after) else "nothing more"
    then = in_quotes(before[place]) if place < len(before) else "nothing more"
    again = place < len(after) and after[place] in before[:place]
    return f"the plan did {now}{' again' if again else ''}; expected {then}"


MAX_ACTIONS = 5
"""Maximum number of last actions that are shown."""

MAX_VARIABLES = 12
_MAX_WIDTH = 140
_CONTEXT_LINES = 2


def format_report(label: str, complaints: Iterable[tuple[str, PlanRun | None]]) -> str:
    """Format all complaints about a plan. A run that several complaints share is shown once."""
    lines: list[str] = []
    shown: list[PlanRun] = []
    for message, run in complaints:
        lines.append(f"{label}: {one_line(message, 600)}")
        if run is not None and not any(run is other for other in shown):
            shown.append(run)
            lines += [f"  {line}" for line in _of_run(label, run)]
    return "\n".join(lines)


def _of_run(label: str, run: PlanRun) -> Iterator[str]:
    yield f"task: {run.task.id}{': ' + one_line(run.task.goal, _MAX_WIDTH) if run.task.goal else ''}"
    match run.outcome:
        case Rejected():
            yield from _of_refusal(label, run.outcome)
            return
        case None:
            pass
        case outcome:
            yield from _of_place(label, run, outcome)
            yield from _of_variables(outcome.checkpoint)
    yield from _of_actions(run)


def _of_refusal(label: str, rejected: Rejected) -> Iterator[str]:
    for d in rejected.diagnostics:
        yield f"{label}{d.place}: {one_line(d.message, 600)} [{d.rule}]"
        yield from (f"    {line}" for line in source_excerpt(rejected.source, d.line, d.column))


def _of_place(label: str, run: PlanRun, outcome: Outcome) -> Iterator[str]:
    """Yield the step and line where the plan ended, with the lines around it."""
    step = run.plan.step(outcome.step) if run.plan else None
    line = outcome.line
    where = f"{label}:{line}" if line else label
    yield where + (f", step {step.number}: {one_line(step.title, _MAX_WIDTH)}" if step else "")
    if line:
        yield from _excerpt(run.source, line)
    if fault := outcome.fault:
        yield f"{'stopped' if isinstance(outcome, Stopped) else fault.name}: {one_line(fault.message, 600)}"


def _excerpt(source: str, line: int) -> Iterator[str]:
    lines = source.split("\n")
    first = max(1, line - _CONTEXT_LINES)
    for number, text in enumerate(lines[first - 1 : line + _CONTEXT_LINES], first):
        if number == line or text.strip():
            yield f"{'>' if number == line else ' '} {number:4} | {clean(text)[:_MAX_WIDTH]}".rstrip()


def _of_variables(checkpoint: Checkpoint | None) -> Iterator[str]:
    if checkpoint is None:
        return
    variables = decode(checkpoint)
    shown = variable_texts(
        dict(islice(variables.items(), MAX_VARIABLES)), MAX_VARIABLES * _MAX_WIDTH, max_each=_MAX_WIDTH
    )
    for name, text in shown.texts.items():
        yield f"{clip_name(name)} = {text}"
    if len(variables) > MAX_VARIABLES:
        yield f"… and {with_count(len(variables) - MAX_VARIABLES, 'more variable')}"


def _of_actions(run: PlanRun) -> Iterator[str]:
    acted = run.action_events
    shown = f", the last {MAX_ACTIONS}:" if len(acted) > MAX_ACTIONS else ":" if acted else ""
    yield f"actions: {len(acted)}{shown}"
    for acted_call in acted[-MAX_ACTIONS:]:
        step = run.step_of(acted_call.event)
        did, said = one_line(shown_call(acted_call.call), 80), one_line(shown_answer(acted_call.answer), 80)
        yield f"  [{'-' if step is None else step}] {did} -> {said}"
