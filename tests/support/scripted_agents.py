"""Agents over an environment of few words, for tests of what an agent reads and does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codeplan.types import Observation


def scripted(agent: Callable[..., Any], first: Observation | None, *texts: str) -> tuple[Any, list[str]]:
    """An agent that gets these answers in turn, and the list of its actions."""
    done: list[str] = []
    left = iter(texts)

    def act(action: str) -> Observation:
        done.append(action)
        return Observation(next(left))

    return agent(act, first), done
