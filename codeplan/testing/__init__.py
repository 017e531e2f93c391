"""Tests for code that others write for codeplan: a contract suite for environments, and unit tests of plans.

Importing it needs no test framework. Names load on first use, because pytest imports this package in every project, for
its plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeplan.lazy import lazy_names

if TYPE_CHECKING:
    from codeplan.testing.environment import EnvironmentContract
    from codeplan.testing.fixtures import tasks

__getattr__, __dir__ = lazy_names(__name__, {"fixtures": "tasks", "environment": "EnvironmentContract"})

__all__ = ["EnvironmentContract", "tasks"]
