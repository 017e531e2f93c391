"""Builds environments from their names."""

from __future__ import annotations

from typing import Any

from codeplan import plugins
from codeplan.errors import EnvironmentFailure
from codeplan.protocols import Environment
from codeplan.untrusted.values import in_quotes


def names() -> tuple[str, ...]:
    """Return the names of all installed environments, sorted, without loading them."""
    return plugins.names("codeplan.envs")


def make(name: str, **settings: Any) -> Environment:
    """Build an environment from its name and settings, as in ``make("household", actions=30)``.

    Raises: UsageError for an unknown name or setting, or a value of the wrong type; EnvironmentFailure if the factory
    does not return an Environment.
    """
    env = plugins.build(plugins.load_factory("codeplan.envs", name), settings, f"the environment {name}")
    if not isinstance(env, Environment):
        kind = type(env).__name__
        raise EnvironmentFailure(
            f"the factory of the environment {in_quotes(name)} returned a {kind}, not an Environment"
        )
    return env
