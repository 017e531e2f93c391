"""What all tests share: the small world on the import path; the contracts' assertions are explained."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("codeplan.testing.environment", "codeplan.testing.executor")
