"""The ways to solve a task, all on the same Episode, registered under the entry-point group ``codeplan.methods``.

Methods compose by nesting: one that hands tasks to another has a setting ``executor``, which is a Method, a name, or a
table of a name and its settings.

    Adapt(executor=Reflexion(executor=ReAct()))
    make("adapt", executor={"name": "reflexion", "executor": "react"})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codeplan import plugins
from codeplan.episode.method import Method
from codeplan.errors import UsageError

ExecutorSpec = Method | str | Mapping[str, Any]
"""How a method that is to be handed tasks is named: a Method, a name, or a table with ``name`` and its settings."""


def names() -> tuple[str, ...]:
    """The names of all methods there are."""
    return plugins.names("codeplan.methods")


def make(name: str, **settings: Any) -> Method:
    """A method by name. Raises UsageError for an unknown name or setting."""
    method: Method = plugins.build(plugins.load_factory("codeplan.methods", name), settings, f"the method {name}")
    return method


def resolve_executor(method: str, spec: ExecutorSpec) -> Method:
    """The executor that was given to the method ``of``. Raises UsageError where it is none."""
    if isinstance(spec, str):
        return make(spec)
    if isinstance(spec, Mapping):
        settings = dict(spec)
        name = settings.pop("name", None)
        if not isinstance(name, str):
            raise UsageError(
                f"the executor of the method {method} has no name: {dict(spec)}; for instance name = 'react'"
            )
        return make(name, **settings)
    if isinstance(spec, Method):
        return spec
    raise UsageError(
        f"the executor of the method {method} is a {type(spec).__name__}; give a method, or the name of one"
    )
