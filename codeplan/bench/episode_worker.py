"""One episode of a bench: played, gone on with where it died, tried again where infrastructure failed."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from codeplan.bench import trace_storage
from codeplan.bench.store import BenchCell, EpisodeOutcome, episode_folder
from codeplan.errors import Diverged, UsageError
from codeplan.recording.events import EpisodeEnded, EpisodeStarted, Event, EventHandler
from codeplan.recording.trace import Trace
from codeplan.runner import live, models, recorded
from codeplan.runner.setup import ending_from_exception
from codeplan.types.ending import InfrastructureFailed
from codeplan.types.result import Result
from codeplan.types.task import Task
from codeplan.types.value import Value

DEFAULT_RETRIES = 2
DEFAULT_PAUSE_SECONDS = 1.0
"""How often an episode is tried again whose infrastructure failed; seconds before the first time, then twice that."""


class EpisodeJob(Value, frozen=True):
    """One episode that is to be played: a task by a cell; ``repeat`` counts from 0."""

    cell: BenchCell
    task: Task
    repeat: int = 0


class EpisodeWorker(msgspec.Struct, frozen=True, kw_only=True):
    """Plays jobs, in whatever thread, process or machine it is called.

    ``folder`` is the bench's, as an absolute path; None keeps no traces. ``settings`` are each cell's, by its name,
    secrets included. ``storage`` is an address to bring the traces to where the folder is out of reach. ``tapes`` are
    the arguments ``record`` and ``tape`` of ``codeplan.run``, and go through no process's wall.
    """

    folder: str | None = None
    settings: dict[str, dict[str, Any]] = {}
    storage: str | None = None
    retries: int = DEFAULT_RETRIES
    pause: float = DEFAULT_PAUSE_SECONDS
    tapes: dict[str, Any] = {}

    def __call__(self, job: EpisodeJob) -> EpisodeOutcome:
        """Play the job to its end. Raises UsageError where the settings are wrong, which no trying again would mend."""
        run = episode_folder(job.cell.name, job.task.id, job.repeat)
        if self.folder is None:
            return self._run_with_retries(job, "", None)
        if self.storage is None:
            return self._run_with_retries(job, run, Path(self.folder, run))
        with tempfile.TemporaryDirectory() as place:
            ended = self._run_with_retries(job, run, Path(place))
            trace_storage.upload_folder(Path(place), self.storage, run)
        return ended

    def handle_lost(self, job: EpisodeJob, reason: str) -> EpisodeOutcome:
        """The end of a job whose worker died again and again."""
        run = episode_folder(job.cell.name, job.task.id, job.repeat) if self.folder else ""
        result = Result(job.task, InfrastructureFailed("WorkerLost", reason), job.cell.method, job.cell.model)
        return _outcome(job, run, result, broken=True)

    def _run_with_retries(self, job: EpisodeJob, run: str, folder: Path | None) -> EpisodeOutcome:
        """How the job ended; where infrastructure fails, it is tried again after a while."""
        failures = 0
        while True:
            result, broken = attempt_episode(
                job.task, lambda hear: self._run_once(job, folder, hear), job.cell.method, job.cell.model
            )
            failures += broken
            if not broken or failures > self.retries:
                return _outcome(job, run, result, broken=broken, failures=failures)
            if not self.tapes.get("tape"):
                time.sleep(self.pause * 2 ** (failures - 1))

    def _run_once(self, job: EpisodeJob, folder: Path | None, on_event: EventHandler) -> Result:
        """Play the job, from where its trace ends if there is one that can be gone on with."""
        settings = _with_repeat_seed(job, self.settings.get(job.cell.name, job.cell.settings))
        if folder and (folder / live.TRACE_NAME).exists():
            if _has_begun(folder):
                with contextlib.suppress(Diverged):
                    return self._resume(folder, on_event, settings)
            else:
                _set_aside(folder)
        given = {**settings, **self.tapes, "budget": job.cell.budget, "out": folder, "on_event": on_event}
        return live.run(job.cell.env, job.task, job.cell.method, job.cell.model, **given)

    def _resume(self, folder: Path, on_event: EventHandler, settings: dict[str, Any]) -> Result:
        """Go on with a trace; it is set aside where that differs. A tape gets all of it, as one more attempt."""
        try:
            return recorded.resume(folder, on_event=on_event, **settings)
        except Diverged:
            _set_aside(folder)
            raise
        finally:
            if (recorder := self.tapes.get("record")) and (folder / live.TRACE_NAME).exists():
                put = recorder.start_episode()
                for event in Trace.read(folder / live.TRACE_NAME):
                    put(event)


def attempt_episode(task: Task, play: Callable[[EventHandler], Result], method: str, model: str) -> tuple[Result, bool]:
    """Run an episode. Returns its result, and whether a failure that is not the agent's fault broke it off.

    Raises UsageError and Diverged: these end no episode.
    """
    ends: list[Result] = []

    def hear(event: Event) -> None:
        if isinstance(event, EpisodeEnded):
            ends.append(event.result)

    try:
        return play(hear), False
    except (UsageError, Diverged):
        raise
    except Exception as e:  # a fault in a method or an environment ends its episode, not the bench
        ending = ending_from_exception(e)
    return ends[-1] if ends else Result(task, ending, method, model), True


def _outcome(job: EpisodeJob, run: str, result: Result, *, broken: bool = False, failures: int = 0) -> EpisodeOutcome:
    """The end of a job; its trace is told relative to the bench's folder."""
    trace = f"{run}/{live.TRACE_NAME}" if run and result.trace else None
    told = msgspec.structs.replace(result, trace=trace)
    return EpisodeOutcome(job.cell.name, job.task, job.repeat, run, told, broken, failures)


def _with_repeat_seed(job: EpisodeJob, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with the repeat's seed: the first has the seed as given, each further one the next."""
    if not job.repeat or "model_seed" not in models.setting_names(job.cell.model):
        return settings
    return {**settings, "model_seed": (settings.get("model_seed") or 0) + job.repeat}


def _has_begun(folder: Path) -> bool:
    """Whether the trace can be gone on with: it can be read, and has a beginning."""
    try:
        events = Trace.read(folder / live.TRACE_NAME)
    except UsageError:
        return False
    return bool(events) and isinstance(events[0], EpisodeStarted)


def _set_aside(folder: Path) -> None:
    """Give the trace another name: it is kept, and the episode starts anew."""
    number = 1
    while (folder / f"died-{number}.jsonl").exists():
        number += 1
    (folder / live.TRACE_NAME).rename(folder / f"died-{number}.jsonl")
