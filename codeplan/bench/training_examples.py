"""Examples for the training of models, from a bench's traces: replies with plans, and pairs of them.

The forms are TRL's conversational ones: a chat as ``messages``, and a preference as ``prompt``, ``chosen`` and
``rejected``, each a list of messages. Roles and texts are those of the trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec.structs import replace

from codeplan.bench.figures import create_export
from codeplan.bench.store import BenchRecord, EpisodeOutcome
from codeplan.errors import UsageError
from codeplan.planning.outcomes import ended_by_user
from codeplan.recording.events import (
    Event,
    ModelCalled,
    PlanDrafted,
    PlanEnded,
    PlanRejected,
    PlanStarted,
    SpanClosed,
    SpanOpened,
)
from codeplan.recording.trace import Trace
from codeplan.runner.episodes import TRACE_NAME
from codeplan.types import Finished, Message, Replan, Stopped, Value
from codeplan.untrusted.values import in_quotes

Example: TypeAlias = dict[str, Any]
Training: TypeAlias = Literal["sft", "preferences"]

PARTS: Final = frozenset({"sub-task", "step"})
"""The kinds of spans in which a method solves a part of the task."""

WRITES_PLANS: Final = frozenset({"plan", "check", "refine"})
"""The purposes of the model calls whose replies hold plans."""


class WrittenPlan(Value, frozen=True):
    """A plan that a model's reply holds, with what came of it.

    ``start_from`` is the step at which it first started, None if it did not run. ``failed``: the check refused it, or
    its run ended without success, through nothing that the user said. ``ran_well``: its run ended by itself, or with
    the episode.
    """

    drafted: PlanDrafted
    asked: ModelCalled
    start_from: int | None = None
    failed: bool = False
    ran_well: bool = False

    @property
    def reply(self) -> Message:
        """The model's reply as recorded."""
        return {"role": "assistant", "content": self.asked.completion.text}

    @property
    def whole_plan(self) -> Message:
        """The reply, or the whole plan as code if the reply held only some steps of it."""
        if self.drafted.steps is None:
            return self.reply
        code = self.drafted.source.strip("\n")
        return {"role": "assistant", "content": f"```python\n{code}\n```"}


def examples_of(bench: BenchRecord, training: Training) -> Iterator[Example]:
    """The examples of the solved episodes, in the order of the grid.

    ``sft``: the reply whose plan solved the task, below the messages that it answers. ``preferences``: for each failed
    plan before it, the messages that the failed reply answers, and both plans. Episodes that an attacker hijacked, and
    plans for parts of a task, which nothing judges, have none.

    Raises: UsageError: there is no such training, or a trace is missing or damaged.
    """
    if training not in get_args(Training):
        raise UsageError(
            f"there are no examples for {in_quotes(training)}; there are: {', '.join(get_args(Training))}, verifiers"
        )
    for outcome in bench.outcomes:
        if outcome.broken or outcome.hijacked or not outcome.result.success:
            continue
        plans = written_plans(Trace.read(bench.folder / outcome.run / TRACE_NAME))
        if not plans or plans[-1] is None or not plans[-1].ran_well:
            continue
        for example in _EXAMPLES[training]([plan for plan in plans if plan], plans[-1]):
            yield example | _place(outcome, plans[-1])


def _place(outcome: EpisodeOutcome, plan: WrittenPlan) -> Example:
    return {"cell": outcome.cell, "task": outcome.task.id, "repeat": outcome.repeat, "plan": plan.drafted.seq}


def _chats(plans: list[WrittenPlan], solved: WrittenPlan) -> Iterator[Example]:
    yield {"messages": [*solved.asked.messages, solved.reply]}


def _preferences(plans: list[WrittenPlan], solved: WrittenPlan) -> Iterator[Example]:
    for plan in plans:
        if plan.failed and plan is not solved:
            yield {
                "prompt": plan.asked.messages,
                "chosen": [solved.whole_plan],
                "rejected": [plan.reply],
                "failed": plan.drafted.seq,
                "start_from": solved.start_from,
                "merged": solved.drafted.steps is not None,
            }


_EXAMPLES: Final = {"sft": _chats, "preferences": _preferences}


def written_plans(events: Iterable[Event]) -> list[WrittenPlan | None]:
    """The plans of an episode in their order; None for one that is for a part of the task, or has no whole reply."""
    plans: list[WrittenPlan | None] = []
    parts: set[int] = set()
    asked: ModelCalled | None = None
    run: list[Event] = []
    for event in events:
        run.append(event)
        match event:
            case SpanOpened(kind=kind) if kind in PARTS:
                parts.add(event.id)
            case SpanClosed():
                parts.discard(event.id)
            case ModelCalled() if event.purpose in WRITES_PLANS:
                asked = event
            case PlanDrafted():
                known = None if parts or asked is None or asked.cut_from else WrittenPlan(event, asked)
                plans.append(known)
                asked = None
            case PlanStarted():
                run.clear()
        if plans and plans[-1]:
            plans[-1] = _after(plans[-1], event, run)
    return plans


def _after(plan: WrittenPlan, event: Event, run: list[Event]) -> WrittenPlan:
    """The plan after the event, the last one of its ``run``."""
    match event:
        case PlanRejected():
            return replace(plan, failed=True)
        case PlanStarted() if plan.start_from is None:
            return replace(plan, start_from=event.start_from)
        case PlanEnded(outcome=outcome):
            ended = isinstance(outcome, Finished) or (isinstance(outcome, Stopped) and outcome.limit == "episode")
            grows = isinstance(outcome, Replan) or ended_by_user(outcome, run)
            return replace(plan, failed=not grows, ran_well=ended)
    return plan


def write_examples(bench: BenchRecord, path: Path, training: Training) -> int:
    """Write the examples to a new file, a line of JSON each; return how many there are.

    Raises: UsageError: there is none, the file is not named .jsonl, exists or cannot be written, or as ``examples_of``.
    """
    if path.suffix.lower() != ".jsonl":
        raise UsageError(f"{path}: examples for training are lines of JSON; end the name with .jsonl")
    lines = [msgspec.json.encode(example) + b"\n" for example in examples_of(bench, training)]
    if not lines:
        needed = {"sft": "solved its task by a plan", "preferences": "solved its task by a plan after one that failed"}
        raise UsageError(f"{bench.folder} has no examples for {training}: no episode {needed[training]}")
    create_export(path, b"".join(lines))
    return len(lines)
