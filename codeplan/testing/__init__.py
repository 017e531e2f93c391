"""For tests of what others write for codeplan: contracts to inherit, and ``cases``, unit tests of plans.

Nothing of it needs a test framework to import. Names are loaded when they are first used: pytest imports this package
in every project, for the sake of its plugin.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codeplan.testing.cases.strategies import tasks
    from codeplan.testing.environment import EnvironmentContract

_HOME_OF = {"EnvironmentContract": "environment", "tasks": "cases.strategies"}

__all__ = ["EnvironmentContract", "tasks"]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
