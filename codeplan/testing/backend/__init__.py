"""The contract of all backends, as a test class to inherit:

    class TestMyBackend(BackendContract):
        def make(self, limits):
            return MyBackend(limits)

A backend that lacks a capability declares it (see ``codeplan.sandbox.host.backend.PartialBackend``). The contract then
skips the tests that need it, with the backend's own reason.
"""

from __future__ import annotations

from codeplan.testing.backend.contract import BackendContract

__all__ = ["BackendContract"]
