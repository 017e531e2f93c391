"""The locked worker does all that the contract of executors asks."""

from __future__ import annotations

from codeplan.sandbox.host.backend import Differs
from codeplan.sandbox.host.sandbox import Sandbox
from codeplan.sandbox.limits import Limits
from codeplan.testing.backend.contract import ExecutorContract
from codeplan.testing.samples import samples


class TestLockedWorker(ExecutorContract):
    def make(self, limits: Limits) -> Sandbox:
        return Sandbox(limits)


def test_it_declares_no_difference() -> None:
    assert not isinstance(Sandbox(), Differs)


def test_there_are_two_hundred_sample_plans_and_no_two_are_the_same() -> None:
    assert len(samples()) >= 200
    assert len({s.source for s in samples()}) == len({s.name for s in samples()}) == len(samples())
