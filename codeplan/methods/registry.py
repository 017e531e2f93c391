"""Methods by name, the settings that several methods share, and the form of the setting ``executor``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from codeplan import plugins
from codeplan.episode.method import Method
from codeplan.errors import UsageError
from codeplan.plugins import Setting
from codeplan.untrusted.texts import with_article
from codeplan.untrusted.values import in_quotes

ExecutorSpec = Method | str | Mapping[str, Any]
"""A method that attempts tasks for another: a Method, a name, or a table with ``name`` and its settings."""

ExecutorSetting = Annotated[
    ExecutorSpec,
    Setting(
        "The method that attempts tasks: its name, or a table of its name and settings.",
        "safe",
        group="codeplan.methods",
    ),
]

PromptsSetting = Annotated[str | Path | None, Setting("A folder of templates that override codeplan's own.", "trusted")]


def names() -> tuple[str, ...]:
    """The names of all methods."""
    return plugins.names("codeplan.methods")


def make(name: str, **settings: Any) -> Method:
    """A method by name. Raises: UsageError: the name or a setting is unknown, or a value does not fit."""
    method: Method = plugins.build(plugins.load_factory("codeplan.methods", name), settings, f"the method {name}")
    return method


def resolve_executor(method: str, spec: ExecutorSpec) -> Method:
    """The executor that ``spec`` names; ``method`` is the name of the method that takes it, for messages.

    Raises: UsageError: ``spec`` names no method.
    """
    if isinstance(spec, str):
        return make(spec)
    if isinstance(spec, Mapping):
        settings = dict(spec)
        name = settings.pop("name", None)
        if not isinstance(name, str):
            raise UsageError(
                f"the executor of the method {method} has no name: {in_quotes(dict(spec))}; for instance name = 'react'"
            )
        return make(name, **settings)
    if isinstance(spec, Method):
        return spec
    raise UsageError(
        f"the executor of the method {method} is {with_article(type(spec).__name__)}; give a method, or the name of one"
    )


def require_positive(method: str, **values: int | None) -> None:
    """Check that each of a method's settings is 1 or more, or None. Raises: UsageError: a value is below 1."""
    for name, value in values.items():
        if value is not None and value < 1:
            raise UsageError(f"the setting {name} of the method {method} is {value}; give a whole number from 1 up")
