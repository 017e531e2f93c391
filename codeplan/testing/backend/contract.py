"""What everything that runs plans must do. Tests inherit ``ExecutorContract``; pytest collects them:

    class TestMyExecutor(ExecutorContract):
        def make(self, limits):
            return MyExecutor(limits)

An executor that lacks a capability declares it (see ``codeplan.sandbox.host.backend.Differs``); what needs it is then
skipped, with the executor's own reason.
"""

from __future__ import annotations

from codeplan.testing.backend.checkpoints import Checkpoints
from codeplan.testing.backend.endings import Endings
from codeplan.testing.backend.hostile import Hostile
from codeplan.testing.backend.language import Language
from codeplan.testing.backend.limits import AtLimits
from codeplan.testing.backend.reach import Reach


class ExecutorContract(Language, Reach, Endings, AtLimits, Checkpoints, Hostile):
    """All of the contract. Inherit, and define ``make``."""
