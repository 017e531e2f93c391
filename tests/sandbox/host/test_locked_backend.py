"""The locked worker fulfils the backend contract."""

from __future__ import annotations

from support.backend_contract import BackendContract
from support.sample_plans import sample_plans

from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.host.locked_backend import LockedBackend


class TestLockedWorker(BackendContract):
    def make(self, limits: Limits) -> Sandbox:
        return Sandbox(limits)


def test_it_declares_no_difference() -> None:
    assert not LockedBackend.differences


def test_there_are_two_hundred_sample_plans_and_no_two_are_the_same() -> None:
    assert len(sample_plans()) >= 200
    assert len({s.source for s in sample_plans()}) == len({s.name for s in sample_plans()}) == len(sample_plans())
