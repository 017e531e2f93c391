"""The texts of observations, which the environment writes and the agent reads."""

from __future__ import annotations

import msgspec

from codeplan.envs.miniwob.page_session import PageState

FOUND_PREFIX = "Found:\n"
GOAL_PREFIX = "Task: "
PAGE_PREFIX = "Page:\n"
ERROR_PREFIX = "Last action error: "
DONE_PREFIX = "DONE"
"""Only a solved task's last observation begins with it, so that a plan's assertion on it fails on a loss."""

FAILED_PREFIX = "FAILED"

SOLVED, FAILED, LIMIT_REACHED = (
    f"{DONE_PREFIX}. The task is solved.",
    f"{FAILED_PREFIX}. The task has ended without success.",
    f"{FAILED_PREFIX}. The last action allowed is spent, and the task not solved.",
)


def first_observation(goal: str, state: PageState) -> str:
    """The goal, then the page."""
    return f"{GOAL_PREFIX}{goal}\n\n{PAGE_PREFIX}{state.html}"


def next_observation(state: PageState) -> str:
    """The page after an action, preceded by the reason if the action was not possible; what ``find`` found, as JSON."""
    if state.found is not None:
        return FOUND_PREFIX + msgspec.json.encode(state.found).decode()
    error = f"{ERROR_PREFIX}{state.fault}\n\n" if state.fault else ""
    return f"{error}{PAGE_PREFIX}{state.html}"
