"""Environments in Python files of the user: ``FILE.py:NAME`` on a command line.

The file runs in this process, with the rights of the user who named it. This module handles only text that the user
typed. Names in a trace, a tape, a manifest or a bench's file are looked up among the registered names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from codeplan import plugins
from codeplan.envs.registry import build
from codeplan.errors import UsageError
from codeplan.protocols import Environment, has_members, require_members
from codeplan.tools.python_tools import is_file, object_of_file
from codeplan.untrusted.values import in_quotes

_FORM = (
    "names no single environment; write FILE.py:NAME: an Environment's class, an object, or a function that makes it"
)


def require_recorded(name: str) -> None:
    """Check that the environment that a recording names is known in this process.

    Raises: UsageError: it is not; the message says how the user names a file for it.
    """
    if name not in (known := plugins.names("codeplan.envs")):
        raise UsageError(
            f"there is no environment {in_quotes(name)}, which the trace names; {plugins.suggest_names(name, known)}; "
            "name your own again, whose agent is code and never taken from a trace: --env FILE.py:NAME, or in Python "
            "env=…"
        )


def absolute_form(given: str) -> str:
    """``FILE.py:NAME`` with the file's absolute path, for processes in other folders."""
    file, _, name = given.partition(".py:")
    return f"{Path(file).absolute()}.py:{name}"


def use_environment(given: str, *, many_times: bool = False) -> str:
    """The name under which the environment of ``FILE.py:NAME`` is known in this process from now on.

    NAME is a class, an object or a function that returns an environment; ``many_times`` refuses an object, which serves
    one episode only. Any other text is an environment's name already.

    Raises:
        UsageError: the file cannot be imported, offers no such environment, or its name is that of an installed one.
        EnvironmentFailure: it cannot be built.
    """
    if not is_file(given):
        return given
    what = f"the environment {in_quotes(given)}"
    found = object_of_file(given, _FORM)
    makes = isinstance(found, type) or (callable(found) and not has_members(found, Environment, what))
    if (isinstance(found, type) and not has_members(found, Environment, what)) or not makes:
        require_members(found, Environment, what)
    if makes:
        name, factory = name_of_factory(found, what), found
    elif many_times:
        raise UsageError(f"{what} is one object, which cannot serve several episodes; name its class or a function")
    else:
        env: Any = found
        name, factory = env.name, lambda: env
    plugins.register("codeplan.envs", name, factory)
    return name


def name_of_factory(factory: Callable[..., Any], what: str) -> str:
    """The name of the environments that the factory makes: the class's name, or the name of an object that is created
    to find out.
    """
    declared = inspect.getattr_static(factory, "name", None) if isinstance(factory, type) else None
    if isinstance(declared, str) and declared.strip():
        return declared
    if needed := [spec.name for spec in plugins.setting_specs(factory) if spec.required]:
        raise UsageError(f"{what} needs a value for {needed[0]} before its name is known; give it a default value")
    with closing(build(factory, {}, what)) as env:
        return env.name
