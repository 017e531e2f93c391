"""Environments: worlds of tasks that an agent acts in, found by name.

``make`` builds one by its name, ``names`` lists those that are installed, ``select`` picks one of its tasks, ``splits``
names the sets that its tasks are in. An environment joins by an entry point of the group ``codeplan.envs`` that names a
callable which takes settings by keyword and returns an Environment; those of other packages count like our own.
"""

from __future__ import annotations

if not __name__.startswith("codeplan."):
    raise ImportError("import codeplan.envs, not envs: a second copy of this package would be loaded")

from codeplan.envs.registry import make, names
from codeplan.envs.selection import select, splits

__all__ = ["make", "names", "select", "splits"]
