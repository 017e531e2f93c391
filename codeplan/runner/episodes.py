"""Runs one episode from names to a Result, and one given plan from its source to an Execution."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from codeplan import envs
from codeplan.agent_interface import agent_api
from codeplan.budget import Budget, Spending
from codeplan.durable_files import require_path
from codeplan.episode.episode import Episode, agent_class
from codeplan.episode.method import Learner, Method
from codeplan.errors import BudgetExceeded, UsageError
from codeplan.llm.callable_model import ModelFunction
from codeplan.methods.fixed_plan import FixedPlan
from codeplan.protocols import LLM, BaseEnvironment, Environment
from codeplan.recording.events import EventHandler
from codeplan.recording.tape import Tape, TapeRecorder
from codeplan.recording.trace import TRACE_NAME as TRACE_NAME
from codeplan.recording.trace import KeepAndTell, Trace
from codeplan.runner import telemetry
from codeplan.runner.setup import ActiveEpisode, EpisodeSetup, require_handler, require_out
from codeplan.types import Result, Task
from codeplan.untrusted import files
from codeplan.untrusted.files import find_files
from codeplan.untrusted.texts import shell_word
from codeplan.untrusted.values import in_quotes


def run(
    env: str | BaseEnvironment,
    task: Task | str | None = None,
    method: str | Method = "adaplanner",
    model: str | LLM | ModelFunction = "scripted",
    *,
    kind: str | None = None,
    seed: int | None = None,
    split: str | None = None,
    budget: Budget | None = None,
    out: Path | str | None = None,
    on_event: EventHandler | None = None,
    record: TapeRecorder | None = None,
    tape: Tape | None = None,
    **settings: Any,
) -> Result:
    """Run one episode and return how it ended.

    ``env`` and ``method`` are objects, or names that ``codeplan envs`` and ``codeplan methods`` list. ``model`` is an
    LLM, a function that takes the messages and returns a text (also an asynchronous one), ``"scripted"``, or the name
    of a model at an OpenAI-compatible endpoint. ``task`` is a Task or an id; ``kind`` and ``seed`` also select one; the
    default is the first task. ``split`` restricts the choice; None is the environment's first split, and any split for
    an id or a seed. ``out`` is a new folder for the trace (None: no file). ``on_event`` is called with each event as it
    happens. ``settings`` go to the environment, the method and the model: to each that is given by name and takes a
    setting of that name. ``record`` also puts the episode on a tape. ``tape`` replays it from one: nothing is live, and
    nothing is written.

    Raises:
        UsageError: the input is wrong.
        InfrastructureError: the model, the environment or the sandbox failed. A spent budget is a Result instead.
        Diverged: the episode differs from its recording on the tape.
    """
    if out is not None:
        require_out(out)
    require_handler(on_event)
    with EpisodeSetup(env, method, model, settings, offline=tape is not None) as setup:
        if isinstance(setup.method, FixedPlan):
            setup.method.require_start(agent_api(agent_class(setup.env)))
        chosen = (
            envs.select(setup.env, id=task, kind=kind, seed=seed, split=split)
            if task is None or isinstance(task, str)
            else task
        )
        handler = KeepAndTell(record.start_episode(), on_event) if record else on_event
        if not isinstance(task, Task) and not tape and not type(setup.env).__module__.startswith("codeplan."):
            setup.require_known_world([chosen])  # for its own tasks, a bench has asked before
        if tape:
            header = setup.header(chosen, budget or Budget())
            return setup.replay(tape.take_episode(header), handler, header)
        return run_live(setup, chosen, budget, out, handler)


def run_live(
    setup: EpisodeSetup, task: Task, budget: Budget | None, out: Path | str | None, on_event: EventHandler | None
) -> Result:
    """Run one episode of a setup. The parameters, and what is raised, are as for ``run``."""
    header = setup.header(task, budget or Budget())
    with closing(Trace(Path(out) / TRACE_NAME if out else None, telemetry.with_telemetry(on_event))) as trace:
        return setup.run(header, trace)


def learn(
    env: str | Environment,
    tasks: Sequence[Task],
    method: str | Method = "autoplan",
    model: str | LLM | ModelFunction = "scripted",
    *,
    out: Path | str,
    budget: Budget | None = None,
    spending: Spending | None = None,
    on_event: EventHandler | None = None,
    record: TapeRecorder | None = None,
    tape: Tape | None = None,
    **settings: Any,
) -> Method:
    """Have a Learner learn from tasks; returns the method that uses what was learnt.

    Each episode's trace goes to a numbered folder in ``out``. Existing traces, from an interrupted training, answer
    for model and environment, and the training continues where they end. ``budget`` applies to each episode.
    ``spending`` counts all of them: once its budget is spent, no episode starts, ``spending.stopped_by`` names that
    budget, and the method has what it had learnt until then. The other parameters are those of ``run``; a replay from
    a ``tape`` writes no traces.

    Raises:
        UsageError: the method does not learn, or other input is wrong.
        Diverged: an episode differs from its recording.
    """
    require_out(out)
    require_handler(on_event)
    with EpisodeSetup(env, method, model, settings, offline=tape is not None) as setup:
        if not isinstance(setup.method, Learner):
            raise UsageError(f"the method {setup.method.name} does not learn; autoplan does")
        numbers, spending = itertools.count(1), spending or Spending()

        @contextmanager
        def open_episode(task: Task) -> Iterator[Episode]:
            if spending.refuses() and spending.stopped_by:
                raise spending.stopped_by
            path = Path(out) / f"{next(numbers):03}" / TRACE_NAME
            refuse_links(path.parent, Path(out))
            header = setup.header(task, budget or Budget())
            handler = KeepAndTell(record.start_episode(), on_event) if record else on_event
            if tape:
                header, trace = setup.prepare_replay(tape.take_episode(header), handler, header)
            else:
                begin = Trace.resume if path.exists() else Trace
                trace = begin(path, telemetry.with_telemetry(handler))
            active: ActiveEpisode | None = None
            try:
                with closing(trace), setup.open_episode(header, trace) as active:
                    yield active.episode
                    active.result = active.episode.result("it was learnt from", setup.method.name)
            finally:
                if active:
                    spending.add(active.episode.result("", setup.method.name))

        try:
            return setup.method.fit(tasks, open_episode)
        except BudgetExceeded:
            if spending.stopped_by is None:
                raise
            return setup.method


def refuse_links(folder: Path, out: Path) -> None:
    """Raises: UsageError: an episode's folder, or one between it and ``out``, is a link."""
    try:
        files.refuse_links(folder, out)
    except OSError as e:
        raise UsageError(f"the trace cannot be written to {folder}: {e.strerror}") from None


_DEPTH = 3
"""The depth of a bench's episodes below its folder."""


def find_trace(run: Path | str) -> Path:
    """Return the path of an episode's trace. ``run`` is the episode's folder, or the trace in it.

    It does not check whether the trace can be read.

    Raises: UsageError: there is no such folder, or no trace in it; the message names an episode further down.
    """
    folder = Path(require_path(run, "an episode's folder"))
    if folder.name == TRACE_NAME and not os.path.isdir(folder):
        folder = folder.parent
    trace = folder / TRACE_NAME
    if os.path.lexists(trace):
        return trace
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {in_quotes(str(folder), 400)}; name an episode's, as given to --out")
    if not os.access(folder, os.R_OK | os.X_OK):
        return trace
    inner = next(find_files(folder, TRACE_NAME, _DEPTH), None)
    example = f", such as {in_quotes(str(inner.parent), 400)}" if inner else ", as given to --out"
    raise UsageError(f"there is no {TRACE_NAME} in {in_quotes(str(folder), 400)}; name one episode's folder{example}")


def describe_episode_folder(folder: Path) -> str:
    """Say that a folder, in which a bench is wanted, holds an episode, and how to see it; empty if it holds none."""
    if not os.path.lexists(folder / TRACE_NAME):
        return ""
    return f"it holds one episode; see it with: codeplan show {shell_word(folder)}"
