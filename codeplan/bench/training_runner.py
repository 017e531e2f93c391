"""Runs the remaining trainings of a bench, before its cells follow the plans.

    OUT/trainings/<training>/plan-1-01.txt                   the plan after the first iteration
    OUT/trainings/<training>/episodes/001/trace.jsonl        the first training episode

A training is finished up to an iteration if that iteration's plan is there. An unfinished training continues from its
traces, without repeating recorded calls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

from codeplan.bench.bench_spec import ResolvedBench
from codeplan.bench.engines.threads import run_in_threads
from codeplan.bench.file_names import safe_file_name
from codeplan.bench.grid import BenchGrid
from codeplan.bench.trainings import LearntPlan, Training, TrainingJob
from codeplan.budget import Spending
from codeplan.errors import Diverged, InfrastructureError, UsageError
from codeplan.methods.autoplan import batch_name, batch_plan
from codeplan.recording.cancellation import Cancellation
from codeplan.recording.events import EpisodeEnded, Event, EventHandler
from codeplan.recording.trace import Trace
from codeplan.runner import new_episodes
from codeplan.types import Result
from codeplan.untrusted.files import is_regular_file, refuse_links
from codeplan.untrusted.folders import list_folder
from codeplan.untrusted.noun_phrases import with_count
from codeplan.untrusted.terminal import shell_word

TRAININGS_FOLDER = "trainings"

TrainingObserver = Callable[[int], AbstractContextManager[EventHandler | None]]
"""Takes the number of training episodes; a context manager whose value, unless None, is called with each event."""


def wanted_plans(grid: BenchGrid) -> list[LearntPlan]:
    """The last plan of each training that a cell of the grid follows."""
    return last_plans(cell.learnt for cell in grid.cells if cell.learnt)


def last_plans(plans: Iterable[LearntPlan]) -> list[LearntPlan]:
    """The last plan of each training."""
    wanted: dict[str, LearntPlan] = {}
    for plan in plans:
        before = wanted.setdefault(plan.training.name, plan)
        wanted[plan.training.name] = max(before, plan, key=lambda one: one.iteration)
    return [*wanted.values()]


def training_results(folder: Path, training: Training) -> list[Result]:
    """The results of a training's episodes that ended, in the bench's folder. Damaged traces are left out."""
    place = _training_folder(folder, training) / "episodes"
    try:
        names = sorted(entry.name for entry in list_folder(place, folder) if entry.is_folder)
    except OSError:
        return []
    found = []
    for name in names:
        if is_regular_file(trace := place / name / new_episodes.TRACE_NAME, folder):
            with suppress(UsageError):
                last = Trace.read(trace)[-1:]
                found += [end.result for end in last if isinstance(end, EpisodeEnded) and not end.broken_off]
    return found


def run_trainings(
    plan: ResolvedBench, folder: Path, spending: Spending, workers: int, observer: TrainingObserver | None
) -> dict[str, dict[str, Any]]:
    """Run the remaining trainings that the grid's cells need, ``workers`` at a time.

    Returns each cell's settings, with the plan that it follows; those of a cell are left out if a spent budget kept
    its plan from being learnt. ``spending`` counts all training episodes, those of earlier starts included.

    Raises:
        InfrastructureError: it broke trainings off; the others are finished.
        Diverged: a training differs from its recording.
        UsageError: a folder or a file of the trainings is a link, or cannot be written.
    """
    jobs = {job.training.name: job for job in plan.trainings}
    wanted = wanted_plans(plan.grid)
    left = [one for one in wanted if not is_learnt(folder, one)]
    for one in (one for one in wanted if one not in left):
        for result in training_results(folder, one.training):
            spending.add(result)
    episodes = sum(one.training.batch * one.iteration for one in left)
    with observer(episodes) if observer and left else nullcontext() as on_event:
        worker = _TrainingWorker(folder, jobs, spending, on_event)
        running = run_in_threads(workers, left, worker, worker.cancellation.cancel)
        failures = [failure for failure in running if failure]
    if failures:
        broken = f"{len(failures)} of {with_count(len(wanted), 'training')} broken off"
        failures[0].add_note(f"{broken}; to continue, repeat the command with --out {shell_word(folder)}")
        raise failures[0]
    return {
        cell.name: {**plan.settings[cell.name], "plan": str(_plan_file(folder, cell.learnt).resolve())}
        for cell in plan.grid.cells
        if cell.learnt and is_learnt(folder, cell.learnt)
    }


class _TrainingWorker:
    """Trains up to a plan, in any thread. Returns what broke the training off, None if nothing did."""

    def __init__(
        self, folder: Path, jobs: Mapping[str, TrainingJob], spending: Spending, on_event: EventHandler | None
    ) -> None:
        self.cancellation = Cancellation()
        self._folder, self._jobs, self._spending = folder, jobs, spending
        self._on_event, self._lock = on_event, threading.Lock()

    def __call__(self, wanted: LearntPlan) -> InfrastructureError | None:
        job = self._jobs[wanted.training.name]
        place = _training_folder(self._folder, wanted.training)
        tasks = job.tasks[: wanted.training.batch * wanted.iteration]
        settings = {**job.settings, "folder": place, "budget": job.budget, "spending": self._spending}
        try:
            refuse_links(place / "episodes", self._folder)
            with self.cancellation.in_force():
                new_episodes.learn(
                    job.env, tasks, job.method, job.model, out=place / "episodes", on_event=self._handle, **settings
                )
        except Diverged as e:
            e.add_note(f"the training is in {place}; give the same settings again, or remove that folder to train anew")
            raise
        except OSError as e:
            raise UsageError(f"the training cannot be written to {place}: {e.strerror}") from None
        except InfrastructureError as failure:
            return failure
        return None

    def _handle(self, event: Event) -> None:
        if self._on_event:
            with self._lock:
                self._on_event(event)


def _training_folder(folder: Path, training: Training) -> Path:
    return folder / TRAININGS_FOLDER / safe_file_name(training.name)


def _plan_file(folder: Path, plan: LearntPlan) -> Path:
    return batch_plan(_training_folder(folder, plan.training), batch_name(1, plan.iteration))


def is_learnt(folder: Path, plan: LearntPlan) -> bool:
    """Whether the bench's folder has the plan."""
    return is_regular_file(_plan_file(folder, plan), folder)
