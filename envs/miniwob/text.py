"""What the environment says, and the words by which its agent reads that."""

from __future__ import annotations

from codeplan.envs.miniwob.play import State

GOAL = "Task: "
PAGE = "Page:\n"
FAULT = "Last action error: "
DONE = "DONE"
"""What the answer to an action begins with when it has ended the episode."""

SOLVED, FAILED, SPENT = (
    f"{DONE}. The task is solved.",
    f"{DONE}. The task has failed.",
    f"{DONE}. The last action allowed is spent, and the task not solved.",
)
OVER = "The episode is over."


def first(goal: str, state: State) -> str:
    """The observation that begins an episode: the task, apart from the page."""
    return f"{GOAL}{goal}\n\n{PAGE}{state.html}"


def after(state: State) -> str:
    """The page after an action, and before it the sentence on why that could not be done, where it could not."""
    return f"{FAULT}{state.fault}\n\n{PAGE}{state.html}" if state.fault else f"{PAGE}{state.html}"
