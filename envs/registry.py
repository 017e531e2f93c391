"""Environments by name."""

from __future__ import annotations

from typing import Any

from codeplan import plugins
from codeplan.errors import EnvironmentFailure
from codeplan.protocols import Environment


def names() -> tuple[str, ...]:
    """The names of all environments that are installed, sorted. Loads none of them."""
    return plugins.names("codeplan.envs")


def make(name: str, **settings: Any) -> Environment:
    """Build the environment of this name.

    ``settings`` are the environment's own, such as ``make("household", actions=30)``. Raises UsageError for a name or
    a setting that there is not, and for a value of another type than the setting's; EnvironmentFailure where what was
    built is no Environment.
    """
    env = plugins.build(plugins.load_factory("codeplan.envs", name), settings, f"the environment {name}")
    if not isinstance(env, Environment):
        raise EnvironmentFailure(
            f"the environment {name!r} was built as a {type(env).__name__}, which is no Environment"
        )
    return env
