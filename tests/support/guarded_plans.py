"""Runs plans in this process, with guards but without the cage."""

from __future__ import annotations

from typing import Any

from support.sample_plans import wrap_as_plan as plan
from support.sample_worlds import SampleWalker

from codeplan.agent_interface import agent_api
from codeplan.sandbox.language.checking import check_source
from codeplan.sandbox.language.compilation import compile_expression, compile_plan
from codeplan.sandbox.runtime.guards import RunSettings
from codeplan.sandbox.runtime.namespace import PlanRuntime, plan_variables
from codeplan.sandbox.runtime.termination import AssertionFailure, LimitExceeded, PlanTermination
from codeplan.types import AgentApi, Plan, Rejected

API: AgentApi = agent_api(SampleWalker)


STARTED = RunSettings(started=1_700_000_000.0)


class InProcessHost:
    """The host's side of a run, in this process."""

    methods = frozenset(m.name for m in API.methods)
    attributes = frozenset(a.name for a in API.attributes)

    def __init__(self) -> None:
        self.failure: AssertionFailure | LimitExceeded | None = None
        self.agent = SampleWalker()
        self.output: list[str] = []
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        self.calls.append((method, args, kwargs))
        try:
            return getattr(self.agent, method)(*args, **kwargs)
        except TypeError as error:
            raise RuntimeError(str(error)) from None

    def read(self, attribute: str) -> object:
        value = getattr(self.agent, attribute)
        return list(value) if isinstance(value, list) else value

    def ask(self, question: str, data: object, form: object, wrong: str) -> str:
        return f"answer to {question!r}"

    def print(self, text: str) -> None:
        self.output.append(text)


class GuardedRun:
    """How a guarded run ended."""

    def __init__(
        self, host: InProcessHost, variables: dict[str, object], error: BaseException | None, over: bool
    ) -> None:
        self.host, self.variables, self.error, self.over = host, variables, error, over
        self.output = "".join(host.output)


def run(
    source: str,
    *,
    turns: int = 1_000_000,
    start_from: int = 1,
    variables: dict[str, object] | None = None,
    dropped: dict[str, str] | None = None,
    runtime: PlanRuntime | None = None,
    settings: RunSettings = STARTED,
) -> GuardedRun:
    """Run a plan with guards, on a new runtime unless one is given."""
    program = compile_plan(source)
    host = InProcessHost()
    space = (runtime or PlanRuntime(compile_expression)).begin(
        host, turns=turns, settings=settings, start_from=start_from, variables=variables or {}, dropped=dropped or {}
    )
    error: BaseException | None = None
    over = False
    try:
        for segment in program.segments:
            if segment.step is None or segment.step >= start_from:
                exec(segment.code, space)
                over = space.pop("_segment_")() is not None  # type: ignore[operator]
            if over:
                break
    except (Exception, PlanTermination) as raised:
        error = raised
    return GuardedRun(host, plan_variables(space), error, over)


def check(source: str) -> Plan | Rejected:
    """Check a plan for SampleWalker."""
    return check_source(source, API)


def accepted(source: str) -> Plan:
    """Return the checked plan, or fail with the problems."""
    result = check(source)
    assert isinstance(result, Plan), [str(d) for d in result.diagnostics]
    return result


def refused(source: str) -> Rejected:
    """Return the rejection, or fail if there is none."""
    result = check(source)
    assert isinstance(result, Rejected), "the plan was accepted"
    return result


def message(body: str) -> str:
    """Return the error that the statements' own handler sees."""
    wrapped = (
        "try:\n"
        + "\n".join(f"    {line}" for line in body.split("\n"))
        + "\nexcept Exception as e:\n    print(type(e).__name__, e)"
    )
    guarded = run(plan(wrapped))
    assert guarded.error is None
    return guarded.output.strip()
