"""Runs the remaining episodes of a bench within its budget."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from codeplan import plugins
from codeplan.bench.bench_spec import BenchSpec, ResolvedBench, resolve_bench
from codeplan.bench.engines import Engine, default_jobs, make_engine
from codeplan.bench.grid import BenchCell, BenchGrid
from codeplan.bench.store import (
    GRID_FILE,
    RESULTS_FILE,
    RUNS_FOLDER,
    BenchRecord,
    BenchStore,
    EpisodeOutcome,
    episode_folder,
    order_outcomes,
    read_bench,
)
from codeplan.bench.tool_tasks import TasksOnTools
from codeplan.bench.trainings import TrainingObserver, run_trainings
from codeplan.budget import Budget, Spending, TotalBudget
from codeplan.cancellation import Cancellation, current_cancellation
from codeplan.errors import BudgetExceeded, Diverged, InfrastructureError, UsageError
from codeplan.llm.callable_model import ModelFunction
from codeplan.protocols import LLM, Environment, has_members, require_members
from codeplan.recording.events import EpisodeEnded, EpisodeStarted, Event, EventHandler
from codeplan.recording.trace import EventsOnly, Trace
from codeplan.runner import environment_files, episodes, models, recorded_episodes
from codeplan.runner.async_episodes import in_thread
from codeplan.runner.environment_files import name_of_factory
from codeplan.runner.recorded_episodes import recorded_model_name
from codeplan.runner.setup import ending_from_exception
from codeplan.types import InfrastructureFailed, Result, Task, Value
from codeplan.types.value import html_text
from codeplan.untrusted import files
from codeplan.untrusted.texts import with_article
from codeplan.untrusted.values import in_quotes, value_text

_MAX_DEPTH = 4
"""Depth of the folders in an episode's folder that are uploaded."""

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
    tool_tasks: TasksOnTools | None = None
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
            models.use_model(file)
        run = episode_folder(job.cell.name, job.task.id, job.repeat)
        if self.folder is None:
            return self._run_with_retries(job, "", None)
        if self.storage is None:
            return self._run_with_retries(job, run, Path(self.folder, run))
        with tempfile.TemporaryDirectory() as place:
            outcome = self._run_with_retries(job, run, Path(place))
            _upload(Path(place), self.storage, run)
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
            hijacks: list[bool] = []
            play = partial(self._run_once, job, folder, hijacks.append)
            result, broken = attempt_episode(job.task, play, job.cell.method, job.cell.model)
            failures += broken
            if not broken or failures > self.retries:
                hijacked = hijacks[0] if hijacks else None
                return _outcome(job, run, result, broken=broken, failures=failures, hijacked=hijacked)
            if not self.tapes.get("tape"):
                time.sleep(self.pause * 2 ** (failures - 1))

    def _run_once(
        self, job: EpisodeJob, folder: Path | None, on_hijack: Callable[[bool], object], on_event: EventHandler
    ) -> Result:
        """Run the job; resume its trace if that is possible."""
        settings = _with_repeat_seed(job, self.settings.get(job.cell.name, job.cell.settings))
        if folder and self.folder and self.storage is None:
            episodes.refuse_links(folder, Path(self.folder))
        given = {**settings, **self.tapes, "budget": job.cell.budget, "out": folder, "on_event": on_event}
        if self.tool_tasks:
            if folder and os.path.lexists(folder / episodes.TRACE_NAME):
                _set_aside(folder)  # the episode's world, which its calls changed, no longer exists
            return self.tool_tasks.run(job.task.id, on_hijack, method=job.cell.method, model=job.cell.model, **given)
        if folder and os.path.lexists(folder / episodes.TRACE_NAME):
            if _is_recording_of(folder, job, settings):
                with contextlib.suppress(Diverged):
                    return self._resume(job, folder, on_event, settings)
            else:
                _set_aside(folder)
        env = self.environments.get(job.cell.env, job.cell.env)
        return episodes.run(env, job.task, job.cell.method, job.cell.model, **given)

    def _resume(self, job: EpisodeJob, folder: Path, on_event: EventHandler, settings: dict[str, Any]) -> Result:
        """Resume a trace, or set it aside if it diverges. A tape gets all of it, as a further attempt."""
        try:
            env = self.environments.get(job.cell.env)
            return recorded_episodes.resume(folder, env=env, on_event=on_event, budget=job.cell.budget, **settings)
        except Diverged:
            _set_aside(folder)
            raise
        finally:
            if (recorder := self.tapes.get("record")) and os.path.lexists(folder / episodes.TRACE_NAME):
                put = recorder.start_episode()
                for event in Trace.read(folder / episodes.TRACE_NAME):
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
        return play(EventsOnly(on_event)), False
    except (UsageError, Diverged):
        raise
    except Exception as e:  # a bug in a method or an environment ends its episode, not the bench
        ending = ending_from_exception(e)
    return ends[-1] if ends else Result(task, ending, method, model), True


def _outcome(
    job: EpisodeJob, run: str, result: Result, *, broken: bool = False, failures: int = 0, hijacked: bool | None = None
) -> EpisodeOutcome:
    """The job's outcome, with the trace's path relative to the bench's folder."""
    trace = f"{run}/{episodes.TRACE_NAME}" if run and result.trace else None
    result = msgspec.structs.replace(result, trace=trace)
    return EpisodeOutcome(job.cell.name, job.task, job.repeat, run, result, broken, failures, hijacked)


def _with_repeat_seed(job: EpisodeJob, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with the repeat's seed: the given one for the first, the next one for each further one."""
    if not job.repeat or "model_seed" not in models.setting_names(job.cell.model):
        return settings
    return {**settings, "model_seed": (settings.get("model_seed") or 0) + job.repeat}


def _is_recording_of(folder: Path, job: EpisodeJob, settings: Mapping[str, Any]) -> bool:
    """Whether the folder has a readable trace of this job that adds no setting of its own."""
    try:
        events = Trace.read(folder / episodes.TRACE_NAME)
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
    (folder / episodes.TRACE_NAME).rename(folder / f"died-{number}.jsonl")


def _upload(folder: Path, address: str, run: str) -> None:
    """Copy an episode's folder to ``address/run``. Raises: InfrastructureError if the storage fails."""
    with _storage("written to", address) as (storage, root):
        for file in files.find_files(folder, None, _MAX_DEPTH):
            there = f"{root}/{run}/{file.relative_to(folder).as_posix()}"
            storage.makedirs(there.rpartition("/")[0], exist_ok=True)
            storage.put_file(str(file), there)


def _download(address: str, run: str, folder: Path) -> None:
    """Copy ``address/run`` to an episode's folder. Raises: InfrastructureError if the storage fails."""
    folder.mkdir(parents=True, exist_ok=True)
    with _storage("read from", address) as (storage, root):
        storage.get(f"{root}/{run}/", f"{folder}/", recursive=True)


@contextlib.contextmanager
def _storage(what: str, address: str) -> Iterator[tuple[Any, str]]:
    """The file system of an address that fsspec supports, and the path in it: for machines without a shared folder.

    Raises: UsageError for an unknown address, InfrastructureError if the storage fails inside the context.
    """
    try:
        fsspec: Any = import_module("fsspec")
    except ImportError:
        raise UsageError("--storage needs fsspec: pip install fsspec (and s3fs for s3://, gcsfs for gs://)") from None
    try:
        storage, root = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as e:
        raise UsageError(f"the storage {address} cannot be used: {e}") from None
    try:
        yield storage, root.rstrip("/")
    except Exception as e:  # each storage has its own exceptions
        raise InfrastructureError(f"traces cannot be {what} the storage {address}: {value_text(e, 500)}") from e


class BenchOutcome(msgspec.Struct, frozen=True):
    """The bench, and the budget that stopped it before its last episode (None if none did)."""

    bench: BenchRecord
    stopped_by: BudgetExceeded | None

    def __repr__(self) -> str:
        return f"BenchOutcome(bench={self.bench!r}, stopped_by={self.stopped_by!r})"

    def _repr_html_(self) -> str:
        """The bench as a table, for a notebook, with the budget that stopped it."""
        stopped = f"<p>{html_text(f'stopped: {self.stopped_by}')}</p>" if self.stopped_by else ""
        return self.bench._repr_html_() + stopped


def remaining_jobs(grid: BenchGrid, outcomes: Iterable[EpisodeOutcome]) -> list[EpisodeJob]:
    """Return the episodes that have no outcome yet or that infrastructure broke off.

    They are ordered by task, then by cell, so that a bench that stops early can be compared in pairs.
    """
    done = {e.key for e in outcomes if not e.broken}
    every = (
        EpisodeJob(cell, task, repeat)
        for repeat in range(grid.repeats)
        for suite, tasks in grid.tasks.items()
        for task in tasks
        for cell in grid.cells
        if cell.suite == suite
    )
    return [job for job in every if (job.cell.name, job.task.id, job.repeat) not in done]


BenchObserver = Callable[[BenchRecord], AbstractContextManager[Callable[[EpisodeOutcome], None] | None]]
"""Takes the bench as it starts; a context manager whose value, unless it is None, is called with each outcome."""


def run_bench(
    plan: ResolvedBench,
    engine: Engine,
    folder: Path | None = None,
    *,
    budget: TotalBudget | None = None,
    observer: BenchObserver | None = None,
    training_observer: TrainingObserver | None = None,
    **worker_settings: Any,
) -> BenchOutcome:
    """Run the remaining episodes of a bench and store each outcome in ``folder``; None stores nothing.

    ``worker_settings`` are the other fields of EpisodeWorker. An interrupted bench continues when this is called again
    with the same folder. Trainings run before all episodes; ``budget`` limits both together, and ``training_observer``
    receives the trainings' episodes. After a UsageError before an episode has ended, a new folder is as it was.

    Raises: UsageError: a setting is wrong, the folder holds another bench, or a bench with trainings has no folder.
    """
    _require_files(plan, folder, worker_settings)
    is_new = folder is not None and not (folder.is_dir() and files.list_folder(folder))
    with ExitStack() as stack:
        store = stack.enter_context(BenchStore(folder, plan.grid)) if folder else None
        bench = read_bench(folder) if folder else BenchRecord(Path(), plan.grid)
        spending, settings = Spending(budget, [outcome.result for outcome in bench.outcomes]), plan.settings
        if folder and plan.trainings:
            settings = run_trainings(plan, folder, spending, engine.workers, training_observer)
        on_outcome = stack.enter_context(observer(bench)) if observer else None
        where = str(folder.resolve()) if folder else None
        outcomes = list(bench.outcomes)

        def keep(outcome: EpisodeOutcome) -> None:
            if store:
                store.append(outcome)
            outcomes.append(outcome)
            if on_outcome:
                on_outcome(outcome)

        worker = EpisodeWorker(folder=where, settings=settings, **worker_settings)
        try:
            stopped = _run_jobs(remaining_jobs(plan.grid, outcomes), worker, engine, spending, keep)
        except UsageError:
            if folder and is_new and not outcomes:
                _empty(folder)
            raise
    return BenchOutcome(BenchRecord(bench.folder, plan.grid, order_outcomes(plan.grid, outcomes)), stopped)


def _empty(folder: Path) -> None:
    """Remove what a bench has written into its new folder."""
    for name in (GRID_FILE, RESULTS_FILE):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / RUNS_FOLDER, ignore_errors=True)
    with contextlib.suppress(OSError):
        folder.rmdir()


def _require_files(plan: ResolvedBench, folder: Path | None, worker_settings: Mapping[str, Any]) -> None:
    """Raise UsageError if the bench has trainings, and its episodes would not find their plans."""
    if plan.trainings and any(worker_settings.get("tapes", {}).values()):
        raise UsageError("trainings go on no tape; omit --record and --replay")
    if plan.trainings and (folder is None or worker_settings.get("storage")):
        raise UsageError(
            "trainings keep their plans in the bench's folder, which all workers must share; give --out, omit --storage"
        )


def _run_jobs(
    jobs: Sequence[EpisodeJob],
    worker: EpisodeWorker,
    engine: Engine,
    spending: Spending,
    keep: Callable[[EpisodeOutcome], None],
) -> BudgetExceeded | None:
    """Run the jobs and call ``keep`` with each outcome, in this thread. Returns the budget that stopped them early."""

    def affordable() -> Iterator[EpisodeJob]:
        for job in jobs:
            if spending.exceeded_budget:
                return
            yield job

    count = 0
    with closing(engine.run(affordable(), worker)) as outcomes:
        for outcome in outcomes:
            if worker.storage and worker.folder and outcome.result.trace:
                _download(worker.storage, outcome.run, Path(worker.folder, outcome.run))
            spending.add(outcome.result)
            keep(outcome)
            count += 1
    return spending.exceeded_budget if count < len(jobs) else None


def run(
    env: str | Environment | Callable[[], Environment],
    method: str | Sequence[str] = "adaplanner",
    model: str | LLM | ModelFunction | Sequence[str | LLM | ModelFunction] = "scripted",
    *,
    split: str | None = None,
    kind: str | None = None,
    n: int | None = None,
    repeats: int = 1,
    jobs: int | None = None,
    budget: Budget | None = None,
    bench_budget: TotalBudget | None = None,
    out: Path | str | None = None,
    on_outcome: Callable[[EpisodeOutcome], None] | None = None,
    **settings: Any,
) -> BenchOutcome:
    """Play an environment's tasks with each method and each model, in threads of this process.

    ``env`` is the name of a suite or an environment, an environment's class or another function that makes one, or an
    object. An object plays one episode after the other; the others play ``jobs`` at a time (by default one for
    each processor, 2 to 8). ``model`` is a name, a function of messages, a codeplan.LLM, or a list of these with
    different names. ``split``, ``kind`` and ``n`` select tasks: at most ``n`` of each kind. ``budget`` is for each
    episode, ``bench_budget`` for all. ``out`` is the bench's folder, in which an unfinished bench continues; None
    writes nothing. ``on_outcome`` is called with each episode that ends. ``settings`` are those of ``codeplan.run``,
    for all cells.

    Raises: UsageError: the input is wrong, such as several jobs for one object.
    """
    _require_whole(n=n, repeats=repeats, jobs=jobs)
    name, environments = _name_environment(env)
    if environments and jobs not in (None, 1):
        raise UsageError(f"one environment object plays one episode at a time, not {jobs}; give its class, or jobs=1")
    spec = BenchSpec(
        suites=(name,),
        methods=_method_names(method),
        models=_model_names(model),
        common=settings,
        repeats=repeats,
        split=split,
        kind=kind,
        n=n,
        budget=budget or Budget(),
    )
    return run_bench(
        resolve_bench(spec, environments=environments),
        make_engine("threads", jobs or (1 if environments else default_jobs())),
        Path(out) if out else None,
        budget=bench_budget,
        observer=lambda bench: contextlib.nullcontext(on_outcome),
        environments=environments,
        cancellation=current_cancellation(),
    )


async def abench(env: str | Environment | Callable[[], Environment], *arguments: Any, **options: Any) -> BenchOutcome:
    """``codeplan.bench.run`` for a running event loop, such as a notebook's.

    ``on_outcome`` is called in another thread. If the awaiting task is cancelled, the running episodes are interrupted
    as by Ctrl-C; with ``out``, the bench continues when it is started again.
    """
    return await in_thread(lambda: run(env, *arguments, **options))


def _require_whole(**numbers: object) -> None:
    """Raise UsageError unless each number is None or a whole number from 1 up."""
    for name, number in numbers.items():
        if number is not None and (type(number) is not int or number < 1):
            raise UsageError(f"{name} is {in_quotes(number)}; give a whole number from 1 up")


def _model_names(given: object) -> tuple[str, ...]:
    """The names of the models, which this process then knows.

    Raises: UsageError: one is no model, or two share a name.
    """
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else (given,)
    names = tuple(each if isinstance(each, str) else models.register(models.as_model(each)) for each in several)
    if twice := next((name for name, count in Counter(names).items() if count > 1), None):
        raise UsageError(f"two models of this bench are called {in_quotes(twice)}; give one another name")
    return names


def _method_names(given: object) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"a bench takes the name of a method, or several names, not {with_article(type(given).__name__)}; "
            "codeplan.run takes a method of yours"
        )
    return tuple(names)


def _name_environment(env: Any) -> tuple[str, dict[str, Environment]]:
    """The name of an environment, which this process then knows, and the object behind it if it is one."""
    if isinstance(env, str):
        return env, {}
    what = f"the environment {type(env).__name__}"
    if isinstance(env, type) or not has_members(env, Environment, what):
        if not callable(env):
            raise UsageError(
                f"give a codeplan.Environment, its class or a name, not {with_article(type(env).__name__)}"
            )
        name = name_of_factory(env, "the environment")
        try:
            plugins.register("codeplan.envs", name, env)
        except UsageError as e:
            raise UsageError(f"{e}, or give an object in place of what makes it") from None
        return name, {}
    require_members(env, Environment, what)
    if env.name not in plugins.names("codeplan.envs"):
        plugins.register("codeplan.envs", env.name, lambda: env)
    return env.name, {env.name: env}
