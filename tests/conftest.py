"""What all tests share: the small world on the import path; the contracts' assertions are explained."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("codeplan.testing.environment", "codeplan.testing.executor")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A background job of a shell ignores interrupts, and so would the programs that the tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
