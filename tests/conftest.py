"""What all tests share: assertions of the contract suites explain themselves."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester"]

pytest.register_assert_rewrite("codeplan.testing.environment", "support.backend_contract", "support.backend_outcomes")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A background job of a shell ignores interrupts, and so would the programs that the tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine may take long for an example. That is no failure.
settings.register_profile("patient", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(scope="session", autouse=True)
def config_folder_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests trust is trusted in their own list, not in that of the person who runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield
