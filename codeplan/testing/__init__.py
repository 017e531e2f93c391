"""For tests of what others write for codeplan: contracts to inherit, and ``cases``, unit tests of plans.

Nothing of it needs a test framework to import. Names are loaded when they are first used: pytest imports this package
in every project, for the sake of its plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeplan.lazy import lazy_names

if TYPE_CHECKING:
    from codeplan.testing.cases.strategies import tasks
    from codeplan.testing.environment import EnvironmentContract

__getattr__, __dir__ = lazy_names(__name__, {"cases.strategies": "tasks", "environment": "EnvironmentContract"})

__all__ = ["EnvironmentContract", "tasks"]
