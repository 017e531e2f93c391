"""The ways to solve a task, all on the same Episode, registered under the entry-point group ``codeplan.methods``."""

from __future__ import annotations

from typing import Any

from codeplan import plugins
from codeplan.protocols import Method

__all__ = ["make", "names"]


def names() -> tuple[str, ...]:
    """The names of all methods there are."""
    return plugins.names("codeplan.methods")


def make(name: str, **settings: Any) -> Method:
    """A method by name. Raises UsageError for an unknown name or setting."""
    method: Method = plugins.build(plugins.load("codeplan.methods", name), settings, f"the method {name}")
    return method
