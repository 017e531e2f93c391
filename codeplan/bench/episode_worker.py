"""Runs one episode of a bench; resumes it after a crash, and retries it after an infrastructure failure."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from codeplan.bench import trace_storage
from codeplan.bench.grid import BenchCell
from codeplan.bench.store import EpisodeOutcome, episode_folder
from codeplan.bench.tool_tasks import ToolTaskSet
from codeplan.errors import Diverged, UsageError
from codeplan.recording.cancellation import Cancellation
from codeplan.recording.events import EpisodeEnded, EpisodeStarted, Event, EventHandler
from codeplan.recording.trace import Trace
from codeplan.runner import environment_files, model_files, models, new_episodes, recorded_episodes
from codeplan.runner.recorded_settings import recorded_model_name
from codeplan.runner.setup import ending_from_exception
from codeplan.types import InfrastructureFailed, Result, Task, Value
from codeplan.untrusted import files

DEFAULT_RETRIES = 2
DEFAULT_PAUSE_SECONDS = 1.0
"""The wait before the first retry; each further wait is twice as long."""


class EpisodeJob(Value, frozen=True):
    """One episode to run: a task by a cell; ``repeat`` counts from 0."""

    cell: BenchCell
    task: Task
    repeat: int = 0


class EpisodeWorker(msgspec.Struct, frozen=True, kw_only=True):
    """Runs jobs in any thread, process or machine.

    ``folder`` is the bench's absolute path; None writes no traces. ``settings`` holds each cell's settings by name,
    secrets included. ``storage`` is an address for the traces if the folder is out of reach. ``tapes`` holds the
    arguments ``record`` and ``tape`` of ``codeplan.run``; these cannot go to another process. ``files`` are the user's
    own environments, and ``model_files`` the user's own models: ``FILE.py:NAME`` with absolute paths. ``tool_tasks``
    are the tasks of a bench on tools. ``environments`` are objects that replace the environments with their names, and
    ``cancellation`` ends the episodes of all threads; neither can go to another process.
    """

    folder: str | None = None
    settings: dict[str, dict[str, Any]] = {}
    storage: str | None = None
    retries: int = DEFAULT_RETRIES
    pause: float = DEFAULT_PAUSE_SECONDS
    tapes: dict[str, Any] = {}
    files: tuple[str, ...] = ()
    model_files: tuple[str, ...] = ()
    tool_tasks: ToolTaskSet | None = None
    environments: dict[str, Any] = {}
    cancellation: Cancellation | None = None

    def __call__(self, job: EpisodeJob) -> EpisodeOutcome:
        """Run the job. Raises: UsageError if a setting is wrong, because no retry would help."""
        with self.cancellation.in_force() if self.cancellation else contextlib.nullcontext():
            return self._run(job)

    def _run(self, job: EpisodeJob) -> EpisodeOutcome:
        for file in self.files:
            environment_files.use_environment(file, many_times=True)
        for file in self.model_files:
            model_files.use_model(file)
        run = episode_folder(job.cell.name, job.task.id, job.repeat)
        if self.folder is None:
            return self._run_with_retries(job, "", None)
        if self.storage is None:
            return self._run_with_retries(job, run, Path(self.folder, run))
        with tempfile.TemporaryDirectory() as place:
            outcome = self._run_with_retries(job, run, Path(place))
            trace_storage.upload_folder(Path(place), self.storage, run)
        return outcome

    def handle_lost(self, job: EpisodeJob, reason: str) -> EpisodeOutcome:
        """Return the outcome of a job whose workers kept dying."""
        run = episode_folder(job.cell.name, job.task.id, job.repeat) if self.folder else ""
        result = Result(job.task, InfrastructureFailed("WorkerLost", reason), job.cell.method, job.cell.model)
        return _outcome(job, run, result, broken=True)

    def _run_with_retries(self, job: EpisodeJob, run: str, folder: Path | None) -> EpisodeOutcome:
        """Run the job, again after a pause if infrastructure fails."""
        failures = 0
        while True:
            result, broken = attempt_episode(
                job.task, lambda on_event: self._run_once(job, folder, on_event), job.cell.method, job.cell.model
            )
            failures += broken
            if not broken or failures > self.retries:
                return _outcome(job, run, result, broken=broken, failures=failures)
            if not self.tapes.get("tape"):
                time.sleep(self.pause * 2 ** (failures - 1))

    def _run_once(self, job: EpisodeJob, folder: Path | None, on_event: EventHandler) -> Result:
        """Run the job; resume its trace if that is possible."""
        settings = _with_repeat_seed(job, self.settings.get(job.cell.name, job.cell.settings))
        if folder and self.folder and self.storage is None:
            _refuse_links(folder, Path(self.folder))
        given = {**settings, **self.tapes, "budget": job.cell.budget, "out": folder, "on_event": on_event}
        if self.tool_tasks:
            if folder and os.path.lexists(folder / new_episodes.TRACE_NAME):
                _set_aside(folder)  # the episode's world, which its calls changed, no longer exists
            return self.tool_tasks.run(job.task.id, method=job.cell.method, model=job.cell.model, **given)
        if folder and os.path.lexists(folder / new_episodes.TRACE_NAME):
            if _is_recording_of(folder, job, settings):
                with contextlib.suppress(Diverged):
                    return self._resume(job, folder, on_event, settings)
            else:
                _set_aside(folder)
        env = self.environments.get(job.cell.env, job.cell.env)
        return new_episodes.run(env, job.task, job.cell.method, job.cell.model, **given)

    def _resume(self, job: EpisodeJob, folder: Path, on_event: EventHandler, settings: dict[str, Any]) -> Result:
        """Resume a trace, or set it aside if it diverges. A tape gets all of it, as a further attempt."""
        try:
            env = self.environments.get(job.cell.env)
            return recorded_episodes.resume(folder, env=env, on_event=on_event, budget=job.cell.budget, **settings)
        except Diverged:
            _set_aside(folder)
            raise
        finally:
            if (recorder := self.tapes.get("record")) and os.path.lexists(folder / new_episodes.TRACE_NAME):
                put = recorder.start_episode()
                for event in Trace.read(folder / new_episodes.TRACE_NAME):
                    put(event)


def attempt_episode(task: Task, play: Callable[[EventHandler], Result], method: str, model: str) -> tuple[Result, bool]:
    """Run an episode. Returns its result, and whether a failure that is not the agent's fault broke it off.

    Raises UsageError and Diverged: these end no episode.
    """
    ends: list[Result] = []

    def on_event(event: Event) -> None:
        if isinstance(event, EpisodeEnded):
            ends.append(event.result)

    try:
        return play(on_event), False
    except (UsageError, Diverged):
        raise
    except Exception as e:  # a bug in a method or an environment ends its episode, not the bench
        ending = ending_from_exception(e)
    return ends[-1] if ends else Result(task, ending, method, model), True


def _outcome(job: EpisodeJob, run: str, result: Result, *, broken: bool = False, failures: int = 0) -> EpisodeOutcome:
    """The job's outcome, with the trace's path relative to the bench's folder."""
    trace = f"{run}/{new_episodes.TRACE_NAME}" if run and result.trace else None
    result = msgspec.structs.replace(result, trace=trace)
    return EpisodeOutcome(job.cell.name, job.task, job.repeat, run, result, broken, failures)


def _with_repeat_seed(job: EpisodeJob, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with the repeat's seed: the given one for the first, the next one for each further one."""
    if not job.repeat or "model_seed" not in models.setting_names(job.cell.model):
        return settings
    return {**settings, "model_seed": (settings.get("model_seed") or 0) + job.repeat}


def _refuse_links(folder: Path, bench: Path) -> None:
    """Raise UsageError if the episode's folder, or one between it and the bench's, is a link."""
    try:
        files.refuse_links(folder, bench)
    except OSError as e:
        raise UsageError(f"the trace cannot be written to {folder}: {e.strerror}") from None


def _is_recording_of(folder: Path, job: EpisodeJob, settings: Mapping[str, Any]) -> bool:
    """Whether the folder has a readable trace of this job that adds no setting of its own."""
    try:
        events = Trace.read(folder / new_episodes.TRACE_NAME)
    except UsageError:
        return False
    if not events or not isinstance(header := events[0], EpisodeStarted):
        return False
    cell = job.cell
    recorded = (header.task, header.env, header.method, recorded_model_name(header), header.budget)
    wanted = (job.task, cell.env, cell.method, cell.model, cell.budget)
    return recorded == wanted and header.settings.keys() <= settings.keys()


def _set_aside(folder: Path) -> None:
    """Rename the trace, so that it is kept and the episode starts over."""
    number = 1
    while os.path.lexists(folder / f"died-{number}.jsonl"):
        number += 1
    (folder / new_episodes.TRACE_NAME).rename(folder / f"died-{number}.jsonl")
