"""What everything that runs plans must do. Tests inherit ``ExecutorContract``; pytest collects them:

    class TestMyExecutor(ExecutorContract):
        def make(self, limits):
            return MyExecutor(limits)

An executor that lacks a capability declares it (see ``codeplan.sandbox.host.backend.Differs``); what needs it is then
skipped, with the executor's own reason.
"""

from __future__ import annotations

from codeplan.testing.backend.contract import BackendContract

__all__ = ["BackendContract"]
