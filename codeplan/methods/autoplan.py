"""AutoPlan: a plan in words, optimised over batches of experience, then followed (Ouyang & Li, 2023, section 3).

In training, the executor attempts every task of a batch with the current plan. After each episode the model summarises
it, names the plan's flaws and suggests a revision. One more call turns the suggestions of a batch into the next plan.
The first batch has no plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from codeplan.episode.episode import Episode
from codeplan.episode.method import EpisodeOpener
from codeplan.errors import UsageError
from codeplan.methods.registry import ExecutorSetting, PromptsSetting, require_positive, resolve_executor
from codeplan.planning.asking import ask_template, load_prompts
from codeplan.planning.executor_turns import collect_turns, format_transcript
from codeplan.plugins import Setting
from codeplan.types import Result, Task, Value
from codeplan.untrusted import files

MAX_PLAN_FILE_BYTES = 1_000_000


class EpisodeReview(Value, frozen=True):
    """The model's review of one training episode; ``revision`` is empty if there was no plan to revise."""

    goal: str
    outcome: str
    summary: str
    flaws: str
    revision: str


class AutoPlan:
    """An executor with a learnt plan as a note; also the Learner of that plan."""

    name = "autoplan"

    def __init__(
        self,
        *,
        plan: Annotated[str | Path | None, Setting("A file with the plan.", "trusted")] = None,
        executor: ExecutorSetting = "react",
        batch: Annotated[int, Setting("Learning: tasks per batch.", "safe", most=1000)] = 2,
        epochs: Annotated[int, Setting("Learning: passes over the tasks.", "safe", most=1000)] = 1,
        folder: Annotated[
            str | Path | None, Setting("Learning: a folder for each batch's plan.", "trusted", repeat="never")
        ] = None,
        prompts: PromptsSetting = None,
    ) -> None:
        """Raises UsageError if a value does not fit or the plan cannot be read."""
        require_positive(self.name, batch=batch, epochs=epochs)
        self.executor = resolve_executor(self.name, executor)
        self.batch, self.epochs = batch, epochs
        self.plan = _read(Path(plan)) if plan else ""
        self.folder = Path(folder) if folder else None
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Have the executor follow the plan."""
        note = f"Go by this plan, and say in your thoughts at which step of it you are:\n{self.plan}"
        result = self.executor.solve(task.with_notes(note) if self.plan else task, episode)
        return episode.result(result.ending, self.name, result.claim)

    # -------------------------------------------------------------- learning

    def fit(self, tasks: Sequence[Task], open_episode: EpisodeOpener) -> AutoPlan:
        """Learn a plan from the tasks, batch by batch, and return this method, which follows it from now on.

        Raises: UsageError: there are no tasks, or one of them is not a train task.
        """
        if not tasks:
            raise UsageError("autoplan cannot learn from no tasks; name a split and a number that has some")
        if foreign := next((t for t in tasks if not t.split.startswith("train")), None):
            raise UsageError(f"the task {foreign.id} is of the split {foreign.split}; autoplan learns from train only")
        for name, batch in self._batches(tasks):
            self.plan = self._learn_batch(name, batch, open_episode)
            if self.folder:
                _write(self.folder / f"plan-{name}.txt", self.plan)
        return self

    def _batches(self, tasks: Sequence[Task]) -> Iterator[tuple[str, Sequence[Task]]]:
        for epoch in range(1, self.epochs + 1):
            for number, start in enumerate(range(0, len(tasks), self.batch), 1):
                yield f"{epoch}-{number:02}", tasks[start : start + self.batch]

    def _learn_batch(self, name: str, batch: Sequence[Task], open_episode: EpisodeOpener) -> str:
        """The plan after a batch. The call that writes it belongs to the batch's last episode."""
        reviews: list[EpisodeReview] = []
        plan = self.plan
        for task in batch:
            with open_episode(task) as episode, episode.span("batch", name):
                reviews.append(self._review(task, episode))
                if len(reviews) == len(batch):
                    plan = self._revise_plan(reviews, episode)
        return plan

    def _revise_plan(self, reviews: list[EpisodeReview], episode: Episode) -> str:
        values: dict[str, Any] = {"plan": self.plan, "forms": episode.action_space.forms, "tools": episode.has_tools}
        return ask_template(episode, self.prompts, "autoplan/update", "generalise", **values, reviews=reviews).strip()

    def _review(self, task: Task, episode: Episode) -> EpisodeReview:
        result = self.solve(task, episode)
        outcome = "The task was done." if result.success else f"The task was not done: {result.reason}."
        values = {
            "observation": episode.first_observation.text,
            "goal": episode.goal_of(task),
            "transcript": format_transcript(collect_turns(episode)),
            "outcome": outcome,
            "plan": self.plan,
        }
        summary = ask_template(episode, self.prompts, "autoplan/summary", "reflect", **values).strip()
        flaws = ask_template(episode, self.prompts, "autoplan/flaws", "reflect", **values, summary=summary).strip()
        revision = ""
        if self.plan:
            values |= {"summary": summary, "flaws": flaws}
            revision = ask_template(episode, self.prompts, "autoplan/revision", "reflect", **values).strip()
        return EpisodeReview(episode.goal_of(task), outcome, summary, flaws, revision)


def _read(file: Path) -> str:
    try:
        return files.read_user_text(file, MAX_PLAN_FILE_BYTES).strip()
    except OSError as e:
        raise UsageError(f"the plan {file} cannot be read: {e.strerror}") from None


def _write(file: Path, plan: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        files.write_atomically(file, f"{plan}\n")
    except OSError as e:
        raise UsageError(f"the plan cannot be written to {file}: {e.strerror}") from None
