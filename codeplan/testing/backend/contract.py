"""The whole contract of a backend as one class."""

from __future__ import annotations

from codeplan.testing.backend.agent_access import AgentAccessTests
from codeplan.testing.backend.checkpoints import CheckpointTests
from codeplan.testing.backend.endings import EndingTests
from codeplan.testing.backend.hostile_plans import HostilePlanTests
from codeplan.testing.backend.language import LanguageTests
from codeplan.testing.backend.limits import LimitTests
from codeplan.testing.backend.requested_endings import RequestedEndingTests


class BackendContract(
    LanguageTests, AgentAccessTests, EndingTests, RequestedEndingTests, LimitTests, CheckpointTests, HostilePlanTests
):
    """Inherit this and define ``make``; pytest collects the tests."""
