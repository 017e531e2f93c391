"""The audit: hostile plans are run on this very machine, and judged by what came of them.

Each plan of a corpus is a file with a header that says what it tries. It is run by a host process of the audit's own
that has something to hide (a file, an environment variable, an agent with private parts) and is watched from outside.
A plan gets through when it reached any of that, harmed the host, or left something behind; afterwards an honest plan
must run as ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

import msgspec

from codeplan.audit.monitor import HostMonitor
from codeplan.errors import UsageError

_HEADER: Final = re.compile(r"^# (id|kind|tries|a correct runtime must|layer): (.*)$", re.MULTILINE)
_STEP: Final = re.compile(r"^    if start_from <= (-?\d{1,15}):", re.MULTILINE)


class HostilePlan(msgspec.Struct, frozen=True):
    """A hostile plan, as its header describes it.

    ``for_cage``: it needs more of Python than plans have, so it is aimed at the cage alone; the check must refuse it.
    """

    id: str
    kind: str
    tries: str
    source: str
    for_cage: bool = False

    @property
    def steps(self) -> tuple[int, ...]:
        """The numbers of its own steps."""
        return tuple(int(n) for n in _STEP.findall(self.source))


class AttackVerdict(msgspec.Struct, frozen=True):
    """What came of one hostile plan.

    ``ended`` is how its run ended: rejected, failed, finished, stopped:<limit>, error:<exception>, or host lost.
    ``problem`` says by which criterion it got through, and is empty where it did not. ``growth`` is in bytes, the
    host's.
    """

    id: str
    kind: str
    ending: str
    problem: str
    seconds: float
    growth: int

    @property
    def got_through(self) -> bool:
        """Whether the plan got through."""
        return bool(self.problem)


def read_hostile_plan(path: Path) -> HostilePlan:
    """A hostile plan. Raises UsageError where the file cannot be read or its header says too little."""
    try:
        source = path.read_bytes().decode()  # as it is: its line ends may be part of the attack
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the hostile plan {path} cannot be read: {error}") from None
    header = dict(_HEADER.findall(source.replace("\r", "\n")))
    missing = [key for key in ("id", "kind", "tries") if key not in header]
    if missing:
        raise UsageError(f"the hostile plan {path} has no line '# {missing[0]}: …'; add it to its header")
    return HostilePlan(header["id"], header["kind"], header["tries"], source, header.get("layer") == "cage")


def read_corpus(folder: Path) -> list[HostilePlan]:
    """All hostile plans of a folder, by file name. Raises UsageError where there is none."""
    escapes = [read_hostile_plan(path) for path in sorted(folder.glob("*.py"))]
    if not escapes:
        raise UsageError(f"there are no hostile plans (*.py) in {folder}; name their folder with --corpus")
    return escapes


def audit_plan(plan: HostilePlan, monitor: HostMonitor, *, unrestricted: bool) -> AttackVerdict:
    """Run one plan in a watched host. Raises SandboxError where the sandbox does not run at all."""
    any_canary = plan.for_cage or not unrestricted  # with all of Python, the word itself is everybody's
    report, growth = monitor.run_attack(plan.source, plan.steps, any_canary=any_canary)
    problem = report.problem
    if not problem and plan.for_cage and not unrestricted and report.accepted:
        problem = "it needs what plans do not have, and the check let it pass"
    return AttackVerdict(plan.id, plan.kind, report.ending, problem, report.seconds, growth)


def audit_plans(
    plans: Sequence[HostilePlan],
    *,
    unrestricted: bool = False,
    hosts: int = 2,
    on_event: Callable[[AttackVerdict], None] = lambda verdict: None,
) -> list[AttackVerdict]:
    """Run all plans, in ``hosts`` host processes at once; the verdicts in the order of the plans.

    ``unrestricted`` takes the language layer for broken: plans have all of Python, and only the cage holds them.
    ``heard`` is told of each verdict as it falls, from several threads. Raises SandboxError where the sandbox does not
    run at all.
    """
    waiting: SimpleQueue[int] = SimpleQueue()
    for number in range(len(plans)):
        waiting.put(number)
    verdicts: dict[int, AttackVerdict] = {}

    def work() -> None:
        with HostMonitor(unrestricted=unrestricted) as watch:
            for number in _drain(waiting):
                verdicts[number] = audit_plan(plans[number], watch, unrestricted=unrestricted)
                on_event(verdicts[number])

    with ThreadPoolExecutor(hosts) as pool:
        for done in [pool.submit(work) for _ in range(hosts)]:
            done.result()
    return [verdicts[number] for number in range(len(plans))]


def _drain(waiting: SimpleQueue[int]) -> Iterator[int]:
    while True:
        try:
            yield waiting.get_nowait()
        except Empty:
            return
