"""The host's own accounting of a run: exceeded limits and processor time."""

from __future__ import annotations

import time
from typing import Final

from codeplan.sandbox.limits import Limits

_CPU_CLOCK_ID: Final = 2


class LimitExceededError(Exception):
    """The host found a limit of the run exceeded: its name as in ``Limits``, and the value that was reached."""

    def __init__(self, limit: str, value: float) -> None:
        super().__init__(limit)
        self.limit, self.value = limit, value


def require_within(limits: Limits, limit: str, value: float) -> None:
    """Raise LimitExceededError if ``value`` exceeds the limit of this name."""
    if value > getattr(limits, limit):
        raise LimitExceededError(limit, value)


def processor_seconds(pid: int | None) -> float:
    """A process's processor time by the kernel's count; 0 if unknown."""
    try:
        return time.clock_gettime((~pid << 3) | _CPU_CLOCK_ID) if pid else 0.0
    except (OSError, OverflowError):
        return 0.0
