"""The classes and functions behind the fixtures for tests of plans in Python."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from codeplan import envs
from codeplan.errors import UsageError
from codeplan.protocols import LLM, Environment
from codeplan.recording.tape import Tape, TapeRecorder
from codeplan.runner import models
from codeplan.sandbox import Limits
from codeplan.testing.cases import expectations
from codeplan.testing.cases.answer_models import ScriptedLLM
from codeplan.testing.cases.case_run import PlanRun, run_once, run_with_agent
from codeplan.testing.cases.failure_report import format_report
from codeplan.types import Outcome, Rejected, Task
from codeplan.untrusted.files import read_user_text

MAX_PLAN_FILE_BYTES = 1_000_000
"""A larger plan is not read."""

ScriptedLLMFactory = Callable[[Any], ScriptedLLM]
FakeAgentFactory = Callable[..., Any]


class PlanRunner:
    """Runs plans in the sandbox. ``plan`` is a plan's text or its file."""

    def __call__(
        self,
        plan: str | Path,
        env: str | Environment,
        task: Task | str | None = None,
        *,
        kind: str | None = None,
        seed: int | None = None,
        model: str | LLM = "scripted",
        pause_at: int | None = None,
        limits: Limits | None = None,
        **settings: Any,
    ) -> PlanRun:
        """Run a plan once on a task, named as in ``codeplan.run``; ``model`` answers its ``ask_llm``.

        With ``pause_at``, the run is interrupted where that step begins, and resumed there. ``settings`` are those of
        an environment given by name. Raises as ``codeplan.run`` does.
        """
        with ExitStack() as stack:
            environment = env
            if isinstance(environment, str):
                environment = stack.enter_context(closing(envs.make(environment, **settings)))
            chosen = task if isinstance(task, Task) else envs.select(environment, id=task, kind=kind, seed=seed)
            answering = models.connect(model) if isinstance(model, str) else model
            return run_once(_text(plan), environment, chosen, answering, limits=limits, pause_at=pause_at)

    def with_agent(
        self, plan: str | Path, agent: Any, model: LLM | None = None, *, limits: Limits | None = None
    ) -> Outcome | Rejected:
        """Run a plan with an agent alone, such as a fake one, without an environment."""
        no_model = ScriptedLLM(lambda question: None, "no model was given")
        return run_with_agent(_text(plan), agent, model or no_model, limits=limits)


def assert_steps(run: PlanRun, *steps: int) -> None:
    """Raise AssertionError with a report if the run did not enter these steps in this order."""
    if run.steps != steps:
        entered, wanted = (", ".join(map(str, s)) or "none" for s in (run.steps, steps))
        raise AssertionError(format_report("plan", [(f"it entered the steps {entered}; expected {wanted}", run)]))


def assert_resumes(plan: str | Path, env: str | Environment, task: Task | str, *, at: int, **options: Any) -> None:
    """Raise AssertionError if a run interrupted at the entry of step ``at`` does not continue unchanged.

    ``options`` are those of ``plan_runner``.
    """
    runner = PlanRunner()
    whole = runner(plan, env, task, **options)
    if missing := list(expectations.find_steps_not_entered(whole, (at,))):
        raise AssertionError(format_report("plan", [(missing[0], whole)]))
    resumed = runner(plan, env, task, pause_at=at, **options)
    found = [(message, resumed) for message in expectations.find_resume_differences(whole, resumed, at)]
    if found:
        raise AssertionError(format_report("plan", found))


class EpisodeTape:
    """Tapes in a folder: ``episode_tape("name")`` returns an argument for ``codeplan.run`` that replays or records."""

    def __init__(self, folder: Path, record: bool) -> None:
        """``record``: whether to record missing tapes."""
        self._folder, self._record = folder, record
        self._recorders: list[TapeRecorder] = []

    def __call__(self, name: str) -> dict[str, TapeRecorder | Tape]:
        """Return the tape ``tapes/name.jsonl``. Raises UsageError if it is missing and may not be recorded."""
        path = self._folder / "tapes" / f"{name}.jsonl"
        if path.is_file():
            return {"tape": Tape(path)}
        if not self._record:
            raise UsageError(f"there is no tape {path}; run the test once with --live-llm to record it")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._recorders.append(TapeRecorder(path))
        return {"record": self._recorders[-1]}

    def close(self) -> None:
        """Finish the recordings."""
        for recorder in self._recorders:
            recorder.close()


def _text(plan: str | Path) -> str:
    return read_user_text(plan, MAX_PLAN_FILE_BYTES) if isinstance(plan, Path) else plan
