"""Runs hostile plans in monitored host processes and returns a verdict on each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from itertools import takewhile

import msgspec

from codeplan.audit.corpus import HostilePlan
from codeplan.audit.monitor import HostMonitor
from codeplan.audit.target import AttackEnding


class AttackVerdict(msgspec.Struct, frozen=True):
    """What one hostile plan achieved.

    ``detail`` is the limit of a ``stopped`` run and the exception's name of an ``error``. ``problem`` names the
    criterion by which the plan got through; it is empty if the plan did not. ``growth`` is the host's, in bytes.
    """

    id: str
    kind: str
    ending: AttackEnding
    detail: str
    problem: str
    seconds: float
    growth: int

    @property
    def got_through(self) -> bool:
        """Whether the plan got through."""
        return bool(self.problem)


def audit_plan(plan: HostilePlan, monitor: HostMonitor, *, unrestricted: bool) -> AttackVerdict:
    """Run one plan in a monitored host. Raises SandboxError if the sandbox does not work at all."""
    any_canary = plan.for_cage or not unrestricted  # with all of Python, a plan can print the word itself
    report, growth = monitor.run_attack(plan.source, plan.steps, any_canary=any_canary)
    problem = report.problem
    if not problem and plan.for_cage and not unrestricted and report.accepted:
        problem = "the check accepted a plan that needs more than the plan language"
    return AttackVerdict(plan.id, plan.kind, report.ending, report.detail, problem, report.seconds, growth)


def audit_plans(
    plans: Sequence[HostilePlan],
    *,
    unrestricted: bool = False,
    hosts: int = 2,
    on_event: Callable[[AttackVerdict], None] = lambda verdict: None,
) -> list[AttackVerdict]:
    """Run all plans in ``hosts`` parallel host processes. The verdicts are in the order of the plans.

    ``unrestricted`` assumes that the language layer is broken: plans have all of Python and only the cage holds them.
    ``on_event`` receives each verdict at once, from several threads. An exception, such as Ctrl-C, ends the audit with
    the plans that are being run. Raises SandboxError if the sandbox does not work.
    """
    with ExitStack() as stack:
        monitors = [stack.enter_context(HostMonitor(unrestricted=unrestricted)) for _ in range(hosts)]
        return audit_on(monitors, plans, unrestricted=unrestricted, on_event=on_event)


def audit_on(
    monitors: Sequence[HostMonitor],
    plans: Sequence[HostilePlan],
    *,
    unrestricted: bool,
    on_event: Callable[[AttackVerdict], None] = lambda verdict: None,
) -> list[AttackVerdict]:
    """As ``audit_plans``, in hosts that are already monitored; each runs one plan at a time."""
    numbers = iter(range(len(plans)))  # shared by all threads: each number goes to one of them
    verdicts: dict[int, AttackVerdict] = {}
    is_over = threading.Event()

    def work(monitor: HostMonitor) -> None:
        for number in takewhile(lambda _: not is_over.is_set(), numbers):
            verdicts[number] = audit_plan(plans[number], monitor, unrestricted=unrestricted)
            on_event(verdicts[number])

    with ThreadPoolExecutor(len(monitors)) as pool:
        try:
            running = [pool.submit(work, monitor) for monitor in monitors]
            for done in wait(running, return_when=FIRST_EXCEPTION).done:
                done.result()
        finally:
            is_over.set()  # or the pool would wait for all plans
    return [verdicts[number] for number in range(len(plans))]
