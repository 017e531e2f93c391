"""Suites by name: what is run where the field has a name for it, or an environment's first split."""

from __future__ import annotations

from codeplan import envs, plugins
from codeplan.errors import UsageError

NAMED = {
    "alfworld-unseen": ("alfworld", "valid_unseen"),
    "alfworld-seen": ("alfworld", "valid_seen"),
}
"""An environment and its split, by the suite's name."""


def resolve(suite: str) -> tuple[str, str | None]:
    """The environment's name and the split of a suite; of an environment's own name, the split is left open: None.

    Raises UsageError for a name that is neither a suite's nor an environment's.
    """
    if suite in NAMED:
        return NAMED[suite]
    every = (*NAMED, *envs.names())
    if suite not in every:
        raise UsageError(f"there is no suite or environment {suite!r}; {plugins.choices(suite, every)}")
    return suite, None
