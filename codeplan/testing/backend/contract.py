"""What everything that runs plans must do. Tests inherit ``ExecutorContract``; pytest collects them:

    class TestMyExecutor(ExecutorContract):
        def make(self, limits):
            return MyExecutor(limits)

An executor that lacks a capability declares it (see ``codeplan.sandbox.host.backend.Differs``); what needs it is then
skipped, with the executor's own reason.
"""

from __future__ import annotations

from codeplan.testing.backend.agent_access import AgentAccessTests
from codeplan.testing.backend.checkpoints import CheckpointTests
from codeplan.testing.backend.endings import EndingTests
from codeplan.testing.backend.hostile_plans import HostilePlanTests
from codeplan.testing.backend.language import LanguageTests
from codeplan.testing.backend.limits import LimitTests


class BackendContract(LanguageTests, AgentAccessTests, EndingTests, LimitTests, CheckpointTests, HostilePlanTests):
    """All of the contract. Inherit, and define ``make``."""
