"""Asks the model for a plan in sub-tasks, and describes what one sub-task passes on to the next."""

from __future__ import annotations

import msgspec

from codeplan.episode.episode import Episode
from codeplan.planning.asking import ask_template
from codeplan.planning.executor_turns import Turn, action_turn
from codeplan.planning.json_calls import show_value
from codeplan.planning.plan_run import finished_with
from codeplan.planning.sample_choice import sample_for
from codeplan.planning.subtask_expressions import Decomposition, DecompositionError, parse_decomposition
from codeplan.prompts.templates import Prompts
from codeplan.recording.events import ActionTaken, WarningIssued
from codeplan.types import Ending, NotSolved, Task


class Decomposer:
    """Has the model decompose tasks of one episode, with the templates in ``folder`` (``"adapt"``, for example)."""

    def __init__(self, episode: Episode, prompts: Prompts, folder: str) -> None:
        self._episode, self._prompts, self._folder = episode, prompts, folder

    def decompose(self, task: Task, notes: tuple[str, ...] = ()) -> Decomposition | None:
        """The plan for a task. The model gets one chance to correct an invalid plan; if that fails too, the result is
        None.
        """
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
        goal = self._episode.goal_of(task)
        return ask_template(
            self._episode,
            self._prompts,
            f"{self._folder}/plan",
            "decompose",
            forms=self._episode.action_space.forms,
            tools=self._episode.has_tools,
            sample=sample_for(self._prompts, self._folder, self._episode.env.name, goal),
            observation=self._episode.first_observation.text,
            goal=goal,
            notes=(*task.notes, *notes),
            reply=reply,
            problem=problem,
        )


def progress_note(episode: Episode) -> str | None:
    """A success's information for the next attempt: the agent's belongings if an action shows them, otherwise the last
    action.

    ADaPT passes information on in this way (Prasad et al., 2024, section 3.1, and its appendix for each environment).
    With tools, the note is the value that the sub-task returned. None if no action was taken yet.
    """
    if status := episode.action_space.status:
        return str(Turn(status, episode.act(status).text))
    if episode.has_tools and episode.finished and episode.finished.value is not None:
        return f"What the step before came to: {show_value(episode.finished.value)}"
    last = next((e for e in reversed(episode.trace.events) if isinstance(e, ActionTaken)), None)
    return str(action_turn(episode, last)) if last else None


def judge_parts(episode: Episode, ending: Ending) -> Ending:
    """Have the environment judge the last sub-task's result as the value of the whole task.

    ``ending`` is what the method believes. It holds if the environment has no verifier.
    """
    if episode.success or not episode.has_tools:
        return ending
    last = episode.finished or finished_with(None)
    verdict = episode.judge(last)
    if verdict is None or verdict.verdict is None or episode.success:
        return ending
    return NotSolved(verdict.verdict.text)


def make_subtask(task: Task, goal: str, *notes: str) -> Task:
    """The same task with another goal, and with more notes for the method that attempts it."""
    return msgspec.structs.replace(task.with_notes(*notes), goal=goal)
