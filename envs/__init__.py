"""Environments, found by name.

``make`` builds an environment from its name, ``names`` lists the installed ones, ``select`` picks one of its tasks, and
``splits`` names its sets of tasks. A package adds an environment with an entry point of the group ``codeplan.envs``: it
names a callable that takes settings by keyword and returns an Environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeplan.lazy import lazy_names

if TYPE_CHECKING:
    from codeplan.envs.registry import make, names
    from codeplan.envs.selection import select, splits

__getattr__, __dir__ = lazy_names(__name__, {"registry": "make names", "selection": "select splits"})

__all__ = ["make", "names", "select", "splits"]
