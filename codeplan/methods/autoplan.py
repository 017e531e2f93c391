"""AutoPlan: a plan in words, optimised over batches of experience, then followed (Ouyang & Li, 2023, section 3).

In training, the executor attempts every task of a batch with the current plan. After each episode the model summarises
it, names the plan's flaws and suggests a revision. One more call turns the suggestions of a batch into the next plan.
The first batch has no plan, and so nothing to revise.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from codeplan.episode.episode import Episode
from codeplan.episode.method import EpisodeOpener
from codeplan.errors import UsageError
from codeplan.methods.registry import ExecutorSetting, PromptsSetting, require_positive, resolve_executor
from codeplan.planning.asking import ask_template, load_prompts
from codeplan.planning.turns import collect_turns, format_transcript
from codeplan.plugins import Setting
from codeplan.types import Result, Task, Value
from codeplan.untrusted import files
from codeplan.untrusted.files import list_folder
from codeplan.untrusted.values import in_quotes

MAX_PLAN_FILE_BYTES = 1_000_000


class EpisodeReview(Value, frozen=True):
    """The model's review of one training episode; parts that were not asked for are empty."""

    goal: str
    outcome: str
    summary: str
    flaws: str
    revision: str


class AutoPlan:
    """An executor with a learnt plan as a note; also the Learner of that plan.

    With ``per_kind`` it learns a plan for each kind of task (section 4.1); a folder with a file ``KIND.txt`` for each
    kind gives them back. ``plans`` holds the plans by kind; a plan for all kinds has the key ``""``.

    Batches are drawn at random by ``batch_seed``; None keeps the order of the tasks. The flaws are named from the
    history and the result (equation 7), or from the summary as well, as in the original code (``"summary"``).
    ``reflection="summary"`` asks neither for flaws nor for a revision (section 4.5).
    """

    name = "autoplan"
    needs_space = True

    def __init__(
        self,
        *,
        plan: Annotated[
            str | Path | None, Setting("A file with the plan, or a folder with KIND.txt for each kind.", "trusted")
        ] = None,
        executor: ExecutorSetting = "react",
        batch: Annotated[int, Setting("Learning: tasks per batch.", "safe", most=1000)] = 4,
        epochs: Annotated[int, Setting("Learning: passes over the tasks.", "safe", most=1000)] = 1,
        batch_seed: Annotated[
            int | None, Setting("Learning: draws the batches at random; none keeps the order.", "safe", most=2**63)
        ] = 0,
        per_kind: Annotated[bool, Setting("Learning: a plan for each kind of task.", "safe")] = False,
        flaws_from: Annotated[
            Literal["history", "summary"], Setting("Learning: show the summary, too, to name the flaws.", "safe")
        ] = "history",
        reflection: Annotated[
            Literal["full", "summary"], Setting("Learning: leave out flaws and revision (summary).", "safe")
        ] = "full",
        folder: Annotated[
            str | Path | None, Setting("Learning: a folder for each batch's plan.", "trusted", repeat="never")
        ] = None,
        prompts: PromptsSetting = None,
    ) -> None:
        """Raises UsageError if a value does not fit or the plan cannot be read."""
        require_positive(self.name, batch=batch, epochs=epochs)
        self.executor = resolve_executor(self.name, executor)
        self.batch, self.epochs, self.batch_seed, self.per_kind = batch, epochs, batch_seed, per_kind
        self.flaws_from, self.reflection = flaws_from, reflection
        self._source = Path(plan) if plan else None
        self.plans = _read_plans(self._source) if self._source else {}
        self.folder = Path(folder) if folder else None
        self.prompts = load_prompts(prompts, self.name)

    @property
    def plan(self) -> str:
        """The plan for all kinds, or the plans of the kinds under their names; empty without a plan."""
        if "" in self.plans:
            return self.plans[""]
        return "\n\n".join(f"{kind}:\n{plan}" for kind, plan in self.plans.items())

    def plan_for(self, task: Task) -> str:
        """The plan for this task; empty if none is learnt yet.

        Raises: UsageError: the setting ``plan`` is a folder without a plan for the task's kind.
        """
        found = self.plans.get("", self.plans.get(task.kind))
        if found is None and self._source:
            known, kind = ", ".join(map(in_quotes, self.plans)), in_quotes(task.kind)
            raise UsageError(f"the folder {self._source} has no plan for the kind {kind}, only for {known}; learn one")
        return found or ""

    def solve(self, task: Task, episode: Episode) -> Result:
        """Have the executor follow the plan."""
        plan = self.plan_for(task)
        note = f"Go by this plan, and say in your thoughts at which step of it you are:\n{plan}"
        result = self.executor.solve(task.with_notes(note) if plan else task, episode)
        return episode.result(result.ending, self.name, result.claim)

    # -------------------------------------------------------------- learning

    def fit(self, tasks: Sequence[Task], open_episode: EpisodeOpener) -> AutoPlan:
        """Learn a plan from the tasks, batch by batch, and return this method, which follows it from now on.

        If ``open_episode`` raises, the plans of earlier batches are kept. If a plan file is set, learning starts from
        its plan.

        Raises: UsageError: there are no tasks, one of them is not a train task, or a kind cannot name a file.
        """
        if not tasks:
            raise UsageError("autoplan cannot learn from no tasks; name a split and a number that has some")
        if foreign := next((t for t in tasks if not t.split.startswith("train")), None):
            raise UsageError(f"the task {foreign.id} is of the split {foreign.split}; autoplan learns from train only")
        self._source = None
        for kind in dict.fromkeys(t.kind for t in tasks) if self.per_kind else ("",):
            _check_kind(kind)
            for name, batch in self._batches([t for t in tasks if kind in ("", t.kind)]):
                self.plans[kind] = self._learn_batch(f"{kind}-{name}" if kind else name, batch, open_episode)
                if self.folder:
                    write_plan(batch_plan(self.folder / kind, name), self.plans[kind])
        return self

    def _batches(self, tasks: Sequence[Task]) -> Iterator[tuple[str, Sequence[Task]]]:
        for epoch in range(1, self.epochs + 1):
            order = list(tasks)
            if self.batch_seed is not None:
                random.Random(f"{self.batch_seed} {epoch}").shuffle(order)
            for number, start in enumerate(range(0, len(order), self.batch), 1):
                yield batch_name(epoch, number), order[start : start + self.batch]

    def _learn_batch(self, name: str, batch: Sequence[Task], open_episode: EpisodeOpener) -> str:
        """The plan after a batch. The call that writes it belongs to the batch's last episode."""
        reviews: list[EpisodeReview] = []
        plan = self.plan_for(batch[0])
        for number, task in enumerate(batch, 1):
            with open_episode(task) as episode, episode.span("batch", name):
                reviews.append(self._review(task, episode))
                if number == len(batch):
                    plan = self._revise_plan(plan, reviews, episode)
        return plan

    def _revise_plan(self, plan: str, reviews: list[EpisodeReview], episode: Episode) -> str:
        values: dict[str, Any] = {"plan": plan, "forms": episode.action_space.forms, "tools": episode.has_tools}
        return ask_template(episode, self.prompts, "autoplan/update", "generalise", **values, reviews=reviews).strip()

    def _review(self, task: Task, episode: Episode) -> EpisodeReview:
        result = self.solve(task, episode)
        outcome = "The task was done." if result.success else f"The task was not done: {result.reason}."
        values = {
            "observation": episode.first_observation.text,
            "goal": episode.goal_of(task),
            "transcript": format_transcript(collect_turns(episode)),
            "outcome": outcome,
            "plan": self.plan_for(task),
        }
        summary = ask_template(episode, self.prompts, "autoplan/summary", "reflect", **values).strip()
        if self.reflection == "summary":
            return EpisodeReview(values["goal"], outcome, summary, "", "")
        values["summary"] = summary if self.flaws_from == "summary" else ""
        flaws = ask_template(episode, self.prompts, "autoplan/flaws", "reflect", **values).strip()
        revision = ""
        if values["plan"]:
            values["flaws"] = flaws
            revision = ask_template(episode, self.prompts, "autoplan/revision", "reflect", **values).strip()
        return EpisodeReview(values["goal"], outcome, summary, flaws, revision)


def _read_plans(source: Path) -> dict[str, str]:
    """The plan in a file, or those by kind in a folder."""
    try:
        if not source.is_dir():
            return {"": files.read_user_text(source, MAX_PLAN_FILE_BYTES).strip()}
        names = [entry.name for entry in list_folder(source) if not entry.is_folder and entry.name.endswith(".txt")]
        plans = {n[:-4]: files.read_text(source / n, MAX_PLAN_FILE_BYTES, source).strip() for n in names}
    except OSError as e:
        raise UsageError(f"the plan {source} cannot be read: {e.strerror}") from None
    if not plans:
        raise UsageError(f"the folder {source} has no plans; name a file, or a folder with KIND.txt for each kind")
    return plans


def _check_kind(kind: str) -> None:
    if kind and not all(c.isalnum() or c in "-_ " for c in kind):
        raise UsageError(f"the kind {in_quotes(kind)} cannot name a plan's file; learn it alone, without per_kind")


def batch_name(epoch: int, number: int) -> str:
    """The name of an epoch's batch; both count from 1."""
    return f"{epoch}-{number:02}"


def batch_plan(folder: Path, name: str) -> Path:
    """The file in a learner's folder that holds the plan after the batch with this name."""
    return folder / f"plan-{name}.txt"


def write_plan(file: Path, plan: str) -> None:
    """Write a plan to its file, and create the folder. Raises: UsageError: it cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        files.write_atomically(file, f"{plan}\n")
    except OSError as e:
        raise UsageError(f"the plan cannot be written to {file}: {e.strerror}") from None
