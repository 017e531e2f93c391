"""What the environment says, and the words by which its agent reads that."""

from __future__ import annotations

from codeplan.envs.miniwob.page_session import PageState

GOAL_PREFIX = "Task: "
PAGE_PREFIX = "Page:\n"
ERROR_PREFIX = "Last action error: "
DONE_PREFIX = "DONE"
"""What the answer to an action begins with when it has ended the episode."""

SOLVED, FAILED, LIMIT_REACHED = (
    f"{DONE_PREFIX}. The task is solved.",
    f"{DONE_PREFIX}. The task has failed.",
    f"{DONE_PREFIX}. The last action allowed is spent, and the task not solved.",
)
EPISODE_OVER = "The episode is over."


def first_observation(goal: str, state: PageState) -> str:
    """The observation that begins an episode: the task, apart from the page."""
    return f"{GOAL_PREFIX}{goal}\n\n{PAGE_PREFIX}{state.html}"


def next_observation(state: PageState) -> str:
    """The page after an action, and before it the sentence on why that could not be done, where it could not."""
    return f"{ERROR_PREFIX}{state.fault}\n\n{PAGE_PREFIX}{state.html}" if state.fault else f"{PAGE_PREFIX}{state.html}"
