"""For tests of what others write for codeplan: contracts to inherit. Nothing of it needs a test framework to import."""

from __future__ import annotations

from codeplan.testing.environment import EnvironmentContract

__all__ = ["EnvironmentContract"]
