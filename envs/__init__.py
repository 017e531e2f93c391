"""Environments, found by name.

``make`` builds an environment from its name, ``names`` lists the installed ones, ``select`` picks one of its tasks,
``splits`` names its sets of tasks, and ``tasks_of`` lists one of them. A package adds an environment with an entry
point of the group ``codeplan.envs``: it names a callable that takes settings by keyword and returns an Environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeplan.lazy import lazy_names

if TYPE_CHECKING:
    from codeplan.envs.registry import make, names, select, splits, tasks_of

__getattr__, __dir__ = lazy_names(__name__, {"registry": "make names select splits tasks_of"})

__all__ = ["make", "names", "select", "splits", "tasks_of"]
