"""Builds environments from their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from codeplan import plugins
from codeplan.errors import CodeplanError, EnvironmentFailure, UsageError
from codeplan.protocols import Environment, require_members
from codeplan.untrusted.scalars import type_name
from codeplan.untrusted.terminal import MAX_REASON_CHARS, message_text, one_line


def names() -> tuple[str, ...]:
    """Return the names of all installed environments, sorted, without loading them."""
    return plugins.names("codeplan.envs")


def make(name: str, **settings: Any) -> Environment:
    """Build an environment from its name and settings, as in ``make("household", actions=30)``.

    Raises:
        UsageError: the name or a setting is unknown, a value has the wrong type, or the factory's result lacks members
        of an Environment. EnvironmentFailure: the factory raised an exception.
    """
    return build(plugins.load_factory("codeplan.envs", name), settings, f"the environment {name}")


def build(factory: Callable[..., Any], settings: Mapping[str, Any], what: str) -> Environment:
    """Build an environment from its factory; ``what`` names it in messages, as in "the environment X". Raises as
    ``make``.
    """
    try:
        env: Environment = plugins.build(factory, settings, what)
    except CodeplanError:
        raise
    except (Exception, SystemExit) as e:
        said = one_line(f"{type_name(e)}: {message_text(e)}", MAX_REASON_CHARS)
        broken = EnvironmentFailure(f"{what} cannot be built: {said}")
        broken.is_users_bug = True
        raise broken from e
    if inspect.iscoroutine(env):
        env.close()
        raise UsageError(f"{what} comes from an asynchronous function; write one that returns an Environment")
    require_members(env, Environment, what)
    return env
