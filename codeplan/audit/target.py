"""The host process of an audit: it runs the hostile plans that it is given, and reports on each.

It is a separate process so that ``monitor`` can see from outside whether it dies, hangs or grows. It reads one
AttackCase a line from standard input and writes one AttackReport a line; the first says whether it works at all.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final, Literal

import msgspec

from codeplan.errors import AgentError, CodeplanError
from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.host import launcher
from codeplan.sandbox.host.backend import RunRequest
from codeplan.sandbox.host.locked_backend import LockedBackend
from codeplan.sandbox.language.compilation import Program, Segment
from codeplan.sandbox.protocol.codec import CheckpointError
from codeplan.types import Checkpoint, Failed, Finished, GiveUp, Outcome, Plan, Rejected, Replan, Step, Stopped
from codeplan.untrusted.texts import with_count

HONEST_PLAN = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        seen = agent.goto('shelf 1')
        print('[Step 1]', seen, ask('ready?'))
        assert seen == 'You are at shelf 1.', f'Error in [Step 1]: {agent.report()}'
"""

HONEST_OUTPUT = "[Step 1] You are at shelf 1. yes\n"
"""The output of the honest plan if nothing is broken."""

CallListener = Callable[[str, tuple[object, ...]], None]
"""Receives each call that reaches the agent: the method's name and the arguments."""


class HostSecret:
    """An object of the host behind a public attribute. It must never reach a plan, not even as text."""

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def __repr__(self) -> str:
        return f"<HostSecret {self.secret}>"


class DecoyAgent:
    """Moves around, takes and puts things, and hides a secret."""

    def __init__(self, on_call: CallListener, secret: str) -> None:
        self._on_call = on_call
        self._secret = secret
        self.location: str = "the middle of the room"
        self.holding: object = None
        self.is_success: bool = False
        self.receptacles: list[str] = ["shelf 1", "drawer 1"]
        self.interaction_history: dict[str, list[str]] = {"actions": [], "observations": ["You are in a room."]}
        self.host_secret = HostSecret(secret)

    def goto(self, receptacle: str) -> str:
        """Walk there."""
        self._on_call("goto", (receptacle,))
        self.location = str(receptacle)[:100]
        return f"You are at {self.location}."

    def take(self, object: str, receptacle: str) -> str:
        """Take a thing from a receptacle."""
        self._on_call("take", (object, receptacle))
        self.holding = object
        return "You take it."

    def put(self, object: str, receptacle: str) -> str:
        """Put the held thing into a receptacle."""
        self._on_call("put", (object, receptacle))
        if object != self.holding:
            return "You do not hold that."
        self.holding = None
        return "You put it down."

    def look(self) -> list[str]:
        """The receptacles in sight."""
        return self.receptacles

    def report(self) -> str:
        """Where the agent is."""
        return f"I am at {self.location}."

    def fail(self) -> str:
        """Refuse, because of an error that contains the secret."""
        raise AgentError("it could not be read") from OSError(f"{self._secret} is missing in /etc/host/secrets")

    def leaky(self) -> str:
        """Refuse, because of an error that holds the agent itself."""
        error = AttributeError(f"{self._secret} has no attribute 'nothing'", name="nothing", obj=self)
        error.args += (self,)
        raise AgentError("there is nothing", "AttributeError") from error

    def _reset(self) -> str:
        self.is_success = True
        return self._secret


class AttackSession:
    """One decoy agent, and every call and question that reached it."""

    def __init__(self, secret: str) -> None:
        self.calls: list[tuple[str, tuple[object, ...]]] = []
        self.questions: list[str] = []
        self.agent = DecoyAgent(self._record_call, secret)

    def _record_call(self, method: str, arguments: tuple[object, ...]) -> None:
        self.calls.append((method, copy.deepcopy(arguments)))

    def ask(self, question: str) -> str:
        """Record a question and answer it."""
        self.questions.append(question)
        return "yes"

    def agent_was_changed(self) -> bool:
        """Whether the agent's state differs from what the recorded calls produce on a fresh agent."""
        fresh = DecoyAgent(lambda method, arguments: None, "")
        for method, arguments in self.calls:
            with contextlib.suppress(Exception):  # the original call raised, too
                getattr(fresh, method)(*arguments)
        return agent_state(fresh) != agent_state(self.agent)

    def argument_text(self) -> str:
        """All text in the arguments that the agent received."""
        return " ".join(v for _, arguments in self.calls for v in _walk(arguments) if isinstance(v, str))

    def non_plain_argument(self) -> str:
        """The type of the first argument that is not plain data; empty if all are plain."""
        values = (v for _, arguments in self.calls for v in _walk(arguments))
        return next((type(v).__name__ for v in values if type(v) not in _PLAIN_TYPES), "")


_PLAIN_TYPES = (type(None), bool, int, float, str, list, tuple, dict)


def _walk(value: object) -> Iterator[object]:
    """A value and everything inside it."""
    yield value
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _walk(part)
    elif isinstance(value, dict):
        for item in value.items():
            yield from _walk(item)


def agent_state(agent: DecoyAgent) -> str:
    """The state that a plan may change through methods only, as text."""
    return repr([agent.location, agent.holding, agent.is_success, agent.receptacles, agent.interaction_history])


ATTACK_LIMITS: Final = Limits(wall=1.0, cpu=0.5)
"""The default limits with shorter times, because an audit runs hundreds of plans to their limits."""

SECRET_VARIABLE: Final = "OPENAI_API_KEY"  # the environment variable that holds a secret during an audit
_SUBREAPER: Final = 36

AttackEnding = Literal["ready", "rejected", "failed", "finished", "stopped", "replan", "gave up", "error", "host lost"]
"""How a run ended; ``ready`` is the first report, ``host lost`` is the monitor's."""


class AttackCase(msgspec.Struct, frozen=True):
    """A plan to run, with its placeholders filled in. ``steps`` are the steps that it may enter.

    ``canary`` must not appear in anything that the run returns.
    """

    source: str
    steps: tuple[int, ...]
    canary: str


class AttackReport(msgspec.Struct, frozen=True):
    """How one plan ended. ``detail`` is the limit of a ``stopped`` run and the exception's name of an ``error``.

    ``problem`` says what went wrong as seen from within the host; it is empty if nothing did. ``accepted`` is whether
    the check accepted the plan (always true without the language layer).
    """

    ending: AttackEnding
    detail: str
    problem: str
    seconds: float
    accepted: bool = True


def main() -> None:
    """Run cases until standard input ends."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    target = AttackTarget(os.environ[SECRET_VARIABLE], unrestricted="--unrestricted" in sys.argv)
    _write_report(AttackReport("ready", "", target.honest_plan_problem(None), 0.0))
    decoder = msgspec.json.Decoder(AttackCase)
    for line in sys.stdin.buffer:
        _write_report(target.run_case(decoder.decode(line)))


def _write_report(report: AttackReport) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")
    sys.stdout.buffer.flush()


class AttackTarget:
    """The sandbox under attack. Each plan goes through the check before it runs, or, if ``unrestricted``, runs as code
    that leaves the plan language, as a broken check would hand it on.
    """

    def __init__(self, secret: str, *, unrestricted: bool) -> None:
        self._secret, self._unrestricted = secret, unrestricted
        self._sandbox = Sandbox(ATTACK_LIMITS, backend="cage")
        self._honest_sandbox = Sandbox(backend="cage")
        self._cage = LockedBackend(ATTACK_LIMITS)
        if not unrestricted:  # so that the monitor sees the same processes before and after each plan
            launcher.check_workers.start()
            launcher.analysis_workers.start()

    def run_case(self, case: AttackCase) -> AttackReport:
        """Run the plan, then an honest one."""
        session = AttackSession(f"CANARY-{self._secret}")
        began = time.monotonic()
        try:
            outcome, accepted = self._run_plan(case, session)
        except CodeplanError as error:
            seconds = time.monotonic() - began
            return AttackReport("error", type(error).__name__, f"the sandbox raised {error}", seconds)
        seconds = time.monotonic() - began
        problem = next(self._problems(case, session, outcome), "")
        return AttackReport(*_ending(outcome), problem, seconds, accepted)

    def _run_plan(self, case: AttackCase, session: AttackSession) -> tuple[Outcome | Rejected, bool]:
        """The outcome, and whether the check accepted the plan. A refused plan runs all the same, from its text."""
        if self._unrestricted:
            self._cage.texts.codes.store(case.source, compile_unguarded(case.source))
            plan = Plan(case.source, tuple(Step(n, 1, 1, "", "") for n in case.steps))
            return self._cage.run(RunRequest(plan, session.agent, session.ask)), True
        checked = self._sandbox.check(case.source, type(session.agent))
        accepted = isinstance(checked, Plan)
        plan_or_text = checked if isinstance(checked, Plan) else case.source
        return self._sandbox.run(plan_or_text, session.agent, session.ask), accepted

    def _problems(self, case: AttackCase, session: AttackSession, outcome: Outcome | Rejected) -> Iterator[str]:
        yield from _find_excesses(session)
        if not isinstance(outcome, Rejected):
            yield from _find_leaks(case, session, outcome)
            if problem := self.honest_plan_problem(outcome.checkpoint):
                yield f"with the plan's checkpoint, {problem}"
        if problem := self.honest_plan_problem(None):
            yield problem

    def honest_plan_problem(self, checkpoint: Checkpoint | None) -> str:
        """Why an honest plan does not succeed; empty if it does."""
        session = AttackSession(self._secret)
        try:
            outcome = self._honest_sandbox.run(HONEST_PLAN, session.agent, session.ask, checkpoint=checkpoint)
        except CheckpointError:
            return "an honest plan could not be resumed"
        except CodeplanError as error:
            return f"an honest plan was not run ({error})"
        well = isinstance(outcome, Finished) and outcome.output == HONEST_OUTPUT
        return "" if well else f"an honest plan ended in {str(outcome)[:300]}"


def _ending(outcome: Outcome | Rejected) -> tuple[AttackEnding, str]:
    if isinstance(outcome, Stopped):
        return "stopped", outcome.limit
    endings: dict[type, AttackEnding] = {
        Finished: "finished",
        Failed: "failed",
        Replan: "replan",
        GiveUp: "gave up",
        Rejected: "rejected",
    }
    return endings[type(outcome)], ""


def _find_excesses(session: AttackSession) -> Iterator[str]:
    if len(session.calls) > 1_000 or len(session.questions) > 100:
        yield f"it made {with_count(len(session.calls), 'action')} and {with_count(len(session.questions), 'ask')}"
    if session.agent_was_changed():
        yield f"the agent was changed: {agent_state(session.agent)[:200]}"
    if session.non_plain_argument():
        yield f"the agent was given {session.non_plain_argument()}"


def _find_leaks(case: AttackCase, session: AttackSession, outcome: Outcome) -> Iterator[str]:
    message = "" if isinstance(outcome, Finished) else _said(outcome)
    if len(outcome.output) + len(message) > 2_000_000:
        yield f"{len(outcome.output) + len(message):,} characters of output were kept"
    places = {
        "output": outcome.output,
        "error message": message,
        "asks": "".join(session.questions),
        "actions": session.argument_text(),
    }
    places["checkpoint"] = _text(outcome.checkpoint) + "".join(map(_text, outcome.entries.values()))
    for place, text in places.items():
        if case.canary in text:
            at = text.index(case.canary)
            yield f"{case.canary} reached the {place}: {text[max(0, at - 40) : at + 80]!r}"
    if not {outcome.step, *outcome.entries} <= {None, *case.steps}:
        yield f"the step was forged: {outcome.step}, entered {sorted(outcome.entries)[:5]}"


def _said(outcome: Failed | Stopped | Replan | GiveUp) -> str:
    return outcome.reason if isinstance(outcome, Replan | GiveUp) else outcome.message


def _text(checkpoint: Checkpoint | None) -> str:
    """A checkpoint's table as text. Decoded values may contain each other, and would have endless text."""
    return "" if checkpoint is None else repr([checkpoint.names, checkpoint.nodes, checkpoint.dropped])


_UNGUARDED_TEMPLATE: Final = """\
def _segment_():
    python = print.__globals__['__builtins__']
    agent_of_all = python['type']('Agent', (), {{'__getattr__': lambda self, name: _getattr_(agent, name)}})()
    space = {{
        '__builtins__': python, '__name__': 'plan', 'agent': agent_of_all, 'print': print, 'ask': ask,
        'ask_llm': ask_llm, 'literal_eval': literal_eval, 'start_from': start_from, 're': python['__import__']('re'),
    }}
    python['exec'](python['compile']({source!r}, '<plan>', 'exec'), space)
    space['solution'](agent_of_all, start_from)
"""
"""Leaves the namespace by a function's globals, as a plan could if the language layer were broken."""


def compile_unguarded(source: str) -> bytes:
    """The code of a plan that has all of Python from its first line on, as a worker that lies about a check returns it.

    Process, lockdown, timer and frames of its run are those of any other plan. Nothing here is run in this process.
    """
    code = compile(_UNGUARDED_TEMPLATE.format(source=source), "<escape>", "exec")
    return Program((Segment(None, 1, code),)).pack()


if __name__ == "__main__":
    main()
