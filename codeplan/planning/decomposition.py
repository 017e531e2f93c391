"""Asking the model for a plan in sub-tasks, and handing the sub-tasks on."""

from __future__ import annotations

import msgspec

from codeplan.episode.episode import Episode
from codeplan.planning.prompting import ask_template
from codeplan.planning.subtasks import Decomposition, DecompositionError, parse_decomposition
from codeplan.planning.turns import Turn
from codeplan.prompts.templates import Prompts
from codeplan.recording.events import ActionTaken, WarningIssued
from codeplan.types.task import Task


class Decomposer:
    """Has the model decompose tasks of one episode; ``prompt`` is the template, such as ``"adapt/plan"``."""

    def __init__(self, episode: Episode, prompts: Prompts, prompt: str) -> None:
        self._episode, self._prompts, self._prompt = episode, prompts, prompt
        self._sample = prompts.sample(prompt.partition("/")[0], episode.env.name)

    def decompose(self, task: Task, notes: tuple[str, ...] = ()) -> Decomposition | None:
        """The plan for a task. One that cannot be read goes back once; None where that cannot be read either."""
        reply = problem = ""
        for _ in range(2):
            reply = self._ask_plan(task, notes, reply, problem)
            try:
                return parse_decomposition(reply)
            except DecompositionError as e:
                problem = str(e)
        self._episode.record(WarningIssued(message=f"a plan in sub-tasks was refused: {problem}"))
        return None

    def _ask_plan(self, task: Task, notes: tuple[str, ...], reply: str, problem: str) -> str:
        return ask_template(
            self._episode,
            self._prompts,
            self._prompt,
            "decompose",
            forms=self._episode.action_space.forms,
            sample=self._sample,
            observation=self._episode.first_observation.text,
            goal=task.goal,
            notes=(*task.notes, *notes),
            reply=reply,
            problem=problem,
        )


def progress_note(episode: Episode) -> str | None:
    """What is passed on after a success: all that the agent has, where an action tells it, or else its last action.

    As ADaPT passes information on (Prasad et al., 2024, section 3.1, and its appendix by environment). None where
    nothing was done yet.
    """
    if status := episode.action_space.status:
        return str(Turn(status, episode.act(status).text))
    done = next((e for e in reversed(episode.trace.events) if isinstance(e, ActionTaken)), None)
    return str(Turn(done.action, done.observation.text)) if done else None


def make_subtask(task: Task, goal: str, *notes: str) -> Task:
    """A sub-task: the same task in all but the goal, with notes for whoever works on it."""
    return msgspec.structs.replace(task, goal=goal, notes=(*task.notes, *notes))
