"""The front door: one episode from names to a Result, and one plan file from text to an Execution."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from codeplan import envs
from codeplan.budget import Budget
from codeplan.episode.episode import Episode
from codeplan.episode.method import Learner, Method
from codeplan.errors import UsageError
from codeplan.methods.fixed_plan import FixedPlan
from codeplan.protocols import LLM, Environment
from codeplan.recording.events import Event, EventHandler
from codeplan.recording.tape import Tape, TapeRecorder
from codeplan.recording.trace import Trace
from codeplan.runner import telemetry
from codeplan.runner.setup import EpisodeSetup
from codeplan.sandbox.limits import Limits
from codeplan.types.plan import Rejected
from codeplan.types.result import Result
from codeplan.types.run import Outcome
from codeplan.types.task import Task

TRACE_NAME = "trace.jsonl"
"""The name of an episode's trace in its folder."""


def run(
    env: str | Environment,
    task: Task | str | None = None,
    method: str | Method = "adaplanner",
    model: str | LLM = "scripted",
    *,
    kind: str | None = None,
    seed: int | None = None,
    budget: Budget | None = None,
    out: Path | str | None = None,
    on_event: EventHandler | None = None,
    record: TapeRecorder | None = None,
    tape: Tape | None = None,
    **settings: Any,
) -> Result:
    """Run one episode and return how it ended.

    ``env`` and ``method`` are objects, or names as ``codeplan envs`` and ``codeplan methods`` list them; ``model`` is
    an LLM, ``"scripted"``, or the name of a model at an OpenAI-compatible endpoint. ``task`` is a Task or an id;
    ``kind`` and ``seed`` choose one too; with none of them it is the first task of the test split. ``out`` is a new
    folder for the trace (None: no file). ``listen`` is called with each event as it happens. ``settings`` go to the
    environment, the method or the model: to each that is given by name and has a setting of that name. ``record``
    puts the episode on a tape, too; ``tape`` plays it from one: nothing is live then, and nothing is written.

    Raises UsageError for bad input and InfrastructureError where the model, the environment or the sandbox failed; a
    spent budget is a Result. An episode from a tape that differs from the recorded one raises Diverged.
    """
    with EpisodeSetup(env, method, model, settings, offline=tape is not None) as cast:
        chosen = envs.select(cast.env, id=task, kind=kind, seed=seed) if task is None or isinstance(task, str) else task
        header = cast.header(chosen, budget or Budget())
        hear = _combine_handlers(on_event, record.start_episode()) if record else on_event
        if tape:
            return cast.replay(tape.take_episode(header), hear, header)
        with closing(Trace(Path(out) / TRACE_NAME if out else None, telemetry.with_telemetry(hear))) as trace:
            return cast.run(header, trace)


def learn(
    env: str | Environment,
    tasks: Sequence[Task],
    method: str | Method = "autoplan",
    model: str | LLM = "scripted",
    *,
    out: Path | str,
    budget: Budget | None = None,
    on_event: EventHandler | None = None,
    record: TapeRecorder | None = None,
    tape: Tape | None = None,
    **settings: Any,
) -> Method:
    """Have a method that is a Learner learn from tasks; returns the method that has learnt.

    Each episode's trace is kept in ``out``, in a folder by its number. Where they are there already, as after a
    training that was broken off, they answer for model and environment, and the training goes on where it ended.
    ``budget`` is for each episode; the others are as for ``run``: what comes from a ``tape`` leaves no traces. Raises
    UsageError where the method does not learn, and Diverged where an episode differs from that on the tape.
    """
    with EpisodeSetup(env, method, model, settings, offline=tape is not None) as cast:
        if not isinstance(cast.method, Learner):
            raise UsageError(f"the method {cast.method.name} does not learn; autoplan does")
        numbers = itertools.count(1)

        @contextmanager
        def open_episode(task: Task) -> Iterator[Episode]:
            path = Path(out) / f"{next(numbers):03}" / TRACE_NAME
            header = cast.header(task, budget or Budget())
            hear = _combine_handlers(on_event, record.start_episode()) if record else on_event
            if tape:
                header, trace = cast.prepare_replay(tape.take_episode(header), hear, header)
            else:
                heard = telemetry.with_telemetry(hear)
                trace = Trace.resume(path, heard) if path.exists() else Trace(path, heard)
            with closing(trace), cast.open_episode(header, trace) as opened:
                yield opened.episode
                opened.result = opened.episode.result("it was learnt from", cast.method.name)

        return cast.method.fit(tasks, open_episode)


class Execution(msgspec.Struct, frozen=True):
    """What came of a plan that was run: its own outcome, None where a spent budget cut it off; the episode's result."""

    outcome: Outcome | Rejected | None
    result: Result


def execute(
    source: str,
    env: str | Environment,
    task: Task | str | None = None,
    model: str | LLM = "scripted",
    *,
    limits: Limits | None = None,
    allow_weak_sandbox: bool = False,
    **options: Any,
) -> Execution:
    """Check a plan and run it once, without planning or refining; ``model`` answers its ``ask_llm``.

    ``options`` are the other parameters of ``run``. Raises as ``run`` does; a plan that is refused is an outcome.
    """
    given = FixedPlan(source, limits=limits, allow_weak_sandbox=allow_weak_sandbox)
    result = run(env, task, given, model, **options)
    return Execution(given.outcome, result)


def _combine_handlers(one: EventHandler | None, other: EventHandler) -> EventHandler:
    def hear(event: Event) -> None:
        other(event)
        if one:
            one(event)

    return hear
