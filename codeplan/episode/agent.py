"""An environment's Agent class, and an agent made of it."""

from __future__ import annotations

import inspect
from typing import Any

from codeplan.errors import EnvironmentFailure
from codeplan.protocols import Act, Environment
from codeplan.types.task import Observation


def agent_class(env: Environment) -> type:
    """The environment's Agent class. Raises EnvironmentFailure where it has none."""
    if not isinstance(env.agent, type):
        raise EnvironmentFailure(
            f"the environment {env.name} has no Agent class: its attribute 'agent' must be a class"
        )
    return env.agent


def build_agent(env: Environment, act: Act, first: Observation) -> Any:
    """An agent of the environment that acts by ``act``; built with the first observation, too, where it takes one."""
    cls = agent_class(env)
    takes = list(inspect.signature(cls).parameters.values())
    wants_observation = len([p for p in takes if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]) > 1
    return cls(act, first) if wants_observation else cls(act)
