"""Tests for code that others write for codeplan: contract suites, and ``cases``, unit tests of plans.

Importing it needs no test framework. Names load on first use, because pytest imports this package in every project, for
its plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeplan.lazy import lazy_names

if TYPE_CHECKING:
    from codeplan.testing.cases.strategies import tasks
    from codeplan.testing.environment import EnvironmentContract

__getattr__, __dir__ = lazy_names(__name__, {"cases.strategies": "tasks", "environment": "EnvironmentContract"})

__all__ = ["EnvironmentContract", "tasks"]
