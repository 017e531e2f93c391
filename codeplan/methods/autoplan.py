"""AutoPlan: a plan in words, optimised over batches of experience, then followed (Ouyang & Li, 2023, section 3).

Training: every task of a batch is played with the plan so far; then the model sums up what happened, names the plan's
flaws and suggests a revision; one more call writes the next plan out of the batch's suggestions. The first batch is
played without a plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from codeplan.episode.episode import Episode
from codeplan.episode.method import EpisodeOpener
from codeplan.errors import UsageError
from codeplan.methods.registry import ExecutorSpec
from codeplan.methods.registry import resolve_executor as method
from codeplan.planning.prompting import ask_template, load_prompts
from codeplan.planning.turns import collect_turns, format_transcript
from codeplan.types.result import Result
from codeplan.types.task import Task
from codeplan.types.value import Value


class EpisodeReview(Value, frozen=True):
    """What the model makes of one episode of training; ``revision`` is empty where there was no plan to revise."""

    goal: str
    outcome: str
    summary: str
    flaws: str
    revision: str


class AutoPlan:
    """The method: its ``executor`` with a learnt plan as a note. It is a Learner, too.

    ``plan`` is a file with the plan, None for none yet. ``fit`` takes ``batch`` tasks at a time, ``epochs`` times over,
    and writes each batch's plan into ``folder`` (None: nowhere). ``prompts`` is a folder whose templates win over
    codeplan's own.
    """

    name = "autoplan"

    def __init__(
        self,
        *,
        plan: str | Path | None = None,
        executor: ExecutorSpec = "react",
        batch: int = 2,
        epochs: int = 1,
        folder: str | Path | None = None,
        prompts: str | Path | None = None,
    ) -> None:
        """Raises UsageError for a value that does not fit, or a plan that cannot be read."""
        for name, value in (("batch", batch), ("epochs", epochs)):
            if value < 1:
                raise UsageError(f"the setting {name} of the method autoplan is {value}; give a whole number from 1 up")
        self.executor = method(self.name, executor)
        self.batch, self.epochs = batch, epochs
        self.plan = _read(Path(plan)) if plan else ""
        self.folder = Path(folder) if folder else None
        self.prompts = load_prompts(prompts, self.name)

    def solve(self, task: Task, episode: Episode) -> Result:
        """Have the executor go by the plan."""
        note = f"Go by this plan, and say in your thoughts at which step of it you are:\n{self.plan}"
        noted = msgspec.structs.replace(task, notes=(*task.notes, note)) if self.plan else task
        result = self.executor.solve(noted, episode)
        return episode.result(result.ending, self.name, result.claim)

    # -------------------------------------------------------------- learning

    def fit(self, tasks: Sequence[Task], open_episode: EpisodeOpener) -> AutoPlan:
        """Learn a plan from the tasks, batch by batch; returns this method, which goes by it from then on.

        Raises UsageError where there are no tasks, or where a task is none to train on.
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
        """The plan after a batch: the call that writes it belongs to the batch's last episode."""
        reviews: list[EpisodeReview] = []
        plan = self.plan
        for task in batch:
            with open_episode(task) as episode, episode.span("batch", name):
                reviews.append(self._review(task, episode))
                if len(reviews) == len(batch):
                    plan = self._revise_plan(reviews, episode)
        return plan

    def _revise_plan(self, reviews: list[EpisodeReview], episode: Episode) -> str:
        forms = episode.action_space.forms
        reply = ask_template(
            episode, self.prompts, "autoplan/update", "generalise", plan=self.plan, forms=forms, reviews=reviews
        )
        return reply.strip()

    def _review(self, task: Task, episode: Episode) -> EpisodeReview:
        result = self.solve(task, episode)
        outcome = "The task was done." if result.success else f"The task was not done: {result.reason}."
        shown = {
            "observation": episode.first_observation.text,
            "goal": task.goal,
            "transcript": format_transcript(collect_turns(episode.trace.events)),
            "outcome": outcome,
            "plan": self.plan,
        }
        summary = ask_template(episode, self.prompts, "autoplan/summary", "reflect", **shown).strip()
        flaws = ask_template(episode, self.prompts, "autoplan/flaws", "reflect", **shown, summary=summary).strip()
        revision = ""
        if self.plan:
            given = {**shown, "summary": summary, "flaws": flaws}
            revision = ask_template(episode, self.prompts, "autoplan/revision", "reflect", **given).strip()
        return EpisodeReview(task.goal, outcome, summary, flaws, revision)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is not UTF-8 text"
        raise UsageError(f"the plan {file} cannot be read: {reason}") from None


def _write(file: Path, plan: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{plan}\n", encoding="utf-8")
    except OSError as e:
        raise UsageError(f"the plan cannot be written to {file}: {e.strerror}") from None
