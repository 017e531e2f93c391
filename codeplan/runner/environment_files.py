"""Environments in Python files of the user: ``FILE.py:NAME`` on a command line.

The file runs in this process, with the rights of the user who named it. Only what the user types comes here: what a
trace, a tape, a manifest or a bench's file names is looked up among the registered names.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from codeplan import plugins
from codeplan.envs.registry import build
from codeplan.errors import UsageError
from codeplan.protocols import Environment, has_members, require_members
from codeplan.tools.tool_files import object_of_file
from codeplan.untrusted.values import in_quotes

_FORM = (
    "names no single environment; write FILE.py:NAME: an Environment's class, an object, or a function that makes it"
)


def is_environment_file(given: str) -> bool:
    """Whether the text has the form of a file instead of an environment's name."""
    return ".py:" in given or given.endswith(".py")


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
    if not is_environment_file(given):
        return given
    what = f"the environment {in_quotes(given)}"
    found = object_of_file(given, _FORM)
    factory = _factory(found, what, many_times)
    name = getattr(found, "name", None)
    if not isinstance(name, str):
        name = _name_of_new(factory, what)
    plugins.register("codeplan.envs", name, factory)
    return name


def _factory(found: Any, what: str, many_times: bool) -> Callable[..., Any]:
    if isinstance(found, type) and not has_members(found, Environment):
        require_members(found, Environment, what)
    if isinstance(found, type) or (callable(found) and not has_members(found, Environment)):
        factory: Callable[..., Any] = found
        return factory
    require_members(found, Environment, what)
    if many_times:
        raise UsageError(f"{what} is one object, which cannot serve several episodes; name its class or a function")
    return lambda: found


def _name_of_new(factory: Callable[..., Any], what: str) -> str:
    """The name of an environment that only an object of it has."""
    if needed := [spec.name for spec in plugins.setting_specs(factory) if spec.required]:
        raise UsageError(f"{what} needs a value for {needed[0]} before its name is known; give it a default value")
    with closing(build(factory, {}, what)) as env:
        return env.name
