"""An environment's Agent class, and agents built from it."""

from __future__ import annotations

import inspect
from typing import Any

from codeplan.errors import EnvironmentFailure
from codeplan.protocols import Act, Environment
from codeplan.types import Observation


def agent_class(env: Environment) -> type:
    """The environment's Agent class. Raises: EnvironmentFailure: its attribute ``agent`` is not a class."""
    if not isinstance(env.agent, type):
        raise EnvironmentFailure(
            f"the environment {env.name} has no Agent class: its attribute 'agent' must be a class"
        )
    return env.agent


def build_agent(env: Environment, act: Act, first: Observation) -> Any:
    """An agent that acts through ``act``. Passes the first observation if ``__init__`` takes it."""
    cls = agent_class(env)
    parameters = inspect.signature(cls).parameters.values()
    takes_observation = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) > 1
    return cls(act, first) if takes_observation else cls(act)
