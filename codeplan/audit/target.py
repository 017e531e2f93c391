"""The audit's child: a host process that runs the hostile plans it is handed, and reports what became of each.

It is a process of its own so that one that dies, hangs or grows is seen from outside. It is started by ``watch``,
reads one Shot a line from its standard input, and writes one Report a line; the first says whether it can work at all.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Iterator
from typing import Final

import msgspec

from codeplan.audit.decoy import HONEST_OUTPUT, HONEST_PLAN, AttackSession, agent_state
from codeplan.errors import CodeplanError
from codeplan.sandbox.host import launcher
from codeplan.sandbox.host.sandbox import Sandbox
from codeplan.sandbox.limits import Limits
from codeplan.sandbox.protocol.codec import CheckpointError
from codeplan.types.plan import Checkpoint, Plan, Rejected, Step
from codeplan.types.run import Failed, Finished, Stopped

ATTACK_LIMITS: Final = Limits(wall=1.0, cpu=0.5)
"""Shorter times than plans have elsewhere, all other limits as they are: an audit has hundreds of plans to sit out."""

SECRET_VARIABLE: Final = "OPENAI_API_KEY"
"""The environment variable that holds a secret."""

_SUBREAPER: Final = 36

Outcome = Finished | Failed | Stopped | Rejected


class AttackCase(msgspec.Struct, frozen=True):
    """A plan to run, with its placeholders filled in. ``steps`` are the numbers that it may fail in."""

    source: str
    steps: tuple[int, ...]
    canary: str
    """What must not appear in anything that comes out of the run."""


class AttackReport(msgspec.Struct, frozen=True):
    """What became of one plan. ``ended`` is rejected, failed, finished, stopped:<limit>, or error:<exception>.

    ``problem`` says what was wrong as seen from within the host, empty where nothing was.
    """

    ending: str
    problem: str
    seconds: float
    accepted: bool = True
    """Whether it passed the check of the language (always, where the language layer is off)."""


def main() -> None:
    """Serve shots until standard input ends."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    unrestricted = "--unrestricted" in sys.argv
    if unrestricted:
        launcher.run_workers.use_entry_module("codeplan.audit.unguarded")
    target = AttackTarget(os.environ[SECRET_VARIABLE], check_first=not unrestricted)
    _write_report(AttackReport("ready", target.honest_plan_problem(None), 0.0))
    decoder = msgspec.json.Decoder(AttackCase)
    for line in sys.stdin.buffer:
        _write_report(target.run_case(decoder.decode(line)))


def _write_report(report: AttackReport) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")
    sys.stdout.buffer.flush()


class AttackTarget:
    """The sandbox under attack. ``checked``: plans pass the check first, and refusals of it count."""

    def __init__(self, secret: str, *, check_first: bool) -> None:
        self._secret, self._check_first = secret, check_first
        self._sandbox = Sandbox(ATTACK_LIMITS)
        self._honest_sandbox = Sandbox()

    def run_case(self, case: AttackCase) -> AttackReport:
        """Run the plan, then the honest one."""
        hunt = AttackSession(f"CANARY-{self._secret}")
        began = time.monotonic()
        try:
            plan = self._plan(case, hunt)
            # A plan that the check refuses is run all the same: the text alone is enough for the compiler.
            outcome = self._sandbox.run(plan or case.source, hunt.agent, hunt.ask)
        except CodeplanError as error:
            return AttackReport(
                f"error:{type(error).__name__}", f"the sandbox raised {error}", time.monotonic() - began
            )
        seconds = time.monotonic() - began
        problem = next(self._problems(case, hunt, outcome), "")
        return AttackReport(_ending(outcome), problem, seconds, plan is not None)

    def _plan(self, shot: AttackCase, hunt: AttackSession) -> Plan | None:
        if not self._check_first:
            return Plan(shot.source, tuple(Step(n, 1, 1, "", "") for n in shot.steps))
        checked = self._sandbox.check(shot.source, type(hunt.agent))
        return checked if isinstance(checked, Plan) else None

    def _problems(self, shot: AttackCase, hunt: AttackSession, outcome: Outcome) -> Iterator[str]:
        yield from _find_excesses(hunt)
        if not isinstance(outcome, Rejected):
            yield from _find_leaks(shot, hunt, outcome)
            if problem := self.honest_plan_problem(outcome.checkpoint):
                yield f"with the plan's checkpoint, {problem}"
        if problem := self.honest_plan_problem(None):
            yield problem

    def honest_plan_problem(self, checkpoint: Checkpoint | None) -> str:
        """Why an honest plan does not succeed, empty where it does."""
        hunt = AttackSession(self._secret)
        try:
            outcome = self._honest_sandbox.run(HONEST_PLAN, hunt.agent, hunt.ask, checkpoint=checkpoint)
        except CheckpointError:
            return "an honest plan could not be resumed"
        except CodeplanError as error:
            return f"an honest plan was not run ({error})"
        well = isinstance(outcome, Finished) and outcome.output == HONEST_OUTPUT
        return "" if well else f"an honest plan ended in {str(outcome)[:300]}"


def _ending(outcome: Outcome) -> str:
    kind = type(outcome).__name__.lower()
    return f"{kind}:{outcome.limit}" if isinstance(outcome, Stopped) else kind


def _find_excesses(hunt: AttackSession) -> Iterator[str]:
    if len(hunt.calls) > 1_000 or len(hunt.questions) > 100:
        yield f"it made {len(hunt.calls)} actions and {len(hunt.questions)} asks"
    if hunt.agent_was_changed():
        yield f"the agent was changed: {agent_state(hunt.agent)[:200]}"
    if hunt.non_plain_argument():
        yield f"the agent was given a {hunt.non_plain_argument()}"


def _find_leaks(shot: AttackCase, hunt: AttackSession, outcome: Finished | Failed | Stopped) -> Iterator[str]:
    message = "" if isinstance(outcome, Finished) else outcome.message
    if len(outcome.output) + len(message) > 2_000_000:
        yield f"{len(outcome.output) + len(message):,} characters of output were kept"
    came_out = {
        "output": outcome.output,
        "error message": message,
        "asks": "".join(hunt.questions),
        "actions": hunt.argument_text(),
    }
    came_out["checkpoint"] = _text(outcome.checkpoint) + "".join(map(_text, outcome.entries.values()))
    for place, text in came_out.items():
        if shot.canary in text:
            at = text.index(shot.canary)
            yield f"{shot.canary} reached the {place}: {text[max(0, at - 40) : at + 80]!r}"
    if not {outcome.step, *outcome.entries} <= {None, *shot.steps}:
        yield f"the step was forged: {outcome.step}, entered {sorted(outcome.entries)[:5]}"


def _text(checkpoint: Checkpoint | None) -> str:
    """All that is in a checkpoint, read off its table: decoded values that hold each other would be endless as text."""
    return "" if checkpoint is None else repr([checkpoint.names, checkpoint.nodes, checkpoint.dropped])


if __name__ == "__main__":
    main()
