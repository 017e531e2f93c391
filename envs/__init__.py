"""Environments: worlds of tasks that an agent acts in, found by name.

``make`` builds one by its name, ``names`` lists those that are installed, ``select`` picks one of its tasks, ``splits``
names the sets that its tasks are in. An environment joins by an entry point of the group ``codeplan.envs`` that names a
callable which takes settings by keyword and returns an Environment; those of other packages count like our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeplan.lazy import lazy_names

if TYPE_CHECKING:
    from codeplan.envs.registry import make, names
    from codeplan.envs.selection import select, splits

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "registry": "make names",
        "selection": "select splits",
    },
)

__all__ = ["make", "names", "select", "splits"]
