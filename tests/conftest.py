"""What all tests share: assertions of the contract suites explain themselves."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester"]

pytest.register_assert_rewrite("codeplan.testing.environment", "codeplan.testing.backend")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A background job of a shell ignores interrupts, and so would the programs that the tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine may take long for an example. That is no failure.
settings.register_profile("patient", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
