"""What everything that runs plans must do. Tests inherit ``ExecutorContract``; pytest collects them:

    class TestMyExecutor(ExecutorContract):
        def make(self, limits):
            return MyExecutor(limits)

An executor that lacks a capability declares it (see ``codeplan.sandbox.executor.Differs``); what needs it is then
skipped, with the executor's own reason.
"""

from __future__ import annotations

from codeplan.testing.executor.checkpoints import Checkpoints
from codeplan.testing.executor.endings import Endings
from codeplan.testing.executor.hostile import Hostile
from codeplan.testing.executor.language import Language
from codeplan.testing.executor.limits import AtLimits
from codeplan.testing.executor.reach import Reach

__all__ = ["ExecutorContract"]


class ExecutorContract(Language, Reach, Endings, AtLimits, Checkpoints, Hostile):
    """All of the contract. Inherit, and define ``make``."""
