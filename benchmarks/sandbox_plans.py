"""The benchmark's plans and runners: the sandbox, plain Python, and installed alternatives."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from importlib.util import find_spec

from codeplan.sandbox import Sandbox
from codeplan.types import Finished, Plan

CALLS = 400
"""The agent calls of MANY_CALLS."""


class InstantAgent:
    """An agent that answers at once. Each call calls ``during``."""

    def __init__(self, during: Callable[[], object] = lambda: None) -> None:
        self.during = during

    def goto(self, receptacle: str) -> str:
        """Walk to a receptacle."""
        self.during()
        return f"You are at {receptacle}."

    def report(self) -> str:
        """Where the agent is."""
        return "at home"


def plan(*lines: str) -> str:
    """A plan with these lines as its body."""
    return "def solution(agent, start_from=1):\n" + "".join(f"    {line}\n" for line in lines)


def step(number: int, *lines: str) -> list[str]:
    """A step's lines."""
    return [f"if start_from <= {number}:", f"    print('[Step {number}] go')", *(f"    {line}" for line in lines)]


def walk(number: int) -> list[str]:
    """A step that goes to a shelf and asserts its arrival."""
    failure = f"f'Error in [Step {number}]: {{agent.report()}}'"
    return step(number, f"seen = agent.goto('shelf {number}')", f"assert 'shelf {number}' in seen, {failure}")


TRIVIAL = plan("pass")
THREE_STEPS = plan(*walk(1), *walk(2), *walk(3))
MANY_CALLS = plan(f"for i in range({CALLS}):", "    agent.goto('shelf')")
LONG = plan(
    *(
        line
        for number in range(1, 9)
        for line in (
            *walk(number),
            "    names = [part.strip(' .') for part in seen.split(',')]",
            "    found = [n for n in names if 'shelf' in n]",
            "    assert found, f'Error in [Step]: {agent.report()}'",
        )
    )
)


def run_plainly(source: str) -> None:
    """Run a plan in this process, as Python."""
    space: dict[str, object] = {"print": lambda *words: None}
    exec(source, space)
    space["solution"](InstantAgent())  # type: ignore[operator]  # the plan's function


def run_caged(source: str, home: InstantAgent | None = None) -> Finished:
    """Run a plan in the sandbox."""
    outcome = Sandbox().run(source, home or InstantAgent(), str)
    assert isinstance(outcome, Finished), outcome
    return outcome


def check_plan(sandbox: Sandbox, source: str) -> Plan:
    """The plan, checked."""
    found = sandbox.check(source, InstantAgent)
    assert isinstance(found, Plan), found
    return found


@contextlib.contextmanager
def runners() -> Iterator[dict[str, Callable[[str], object]]]:
    """The installed runners by name."""
    found: dict[str, Callable[[str], object]] = {"plain exec (no sandbox)": run_plainly, "codeplan": run_caged}
    with contextlib.ExitStack() as stack:
        if _has("smolagents"):
            found["smolagents LocalPythonExecutor"] = _smolagents()
        if _has("pydantic_monty"):
            found["Monty"] = _monty(stack)
        yield found


def _has(module: str) -> bool:
    if find_spec(module) is None:
        print(f"{module} is not installed; skipped")
        return False
    return True


def _smolagents() -> Callable[[str], object]:
    from smolagents.local_python_executor import LocalPythonExecutor

    def run(source: str) -> object:
        executor = LocalPythonExecutor([])
        executor.send_tools({})
        executor.send_variables({"agent": InstantAgent()})
        return executor(f"{source}\nsolution(agent)")

    return run


def _monty(stack: contextlib.ExitStack) -> Callable[[str], object]:
    """Monty has no host objects, so plans call the agent's methods as functions. Only the session is new."""
    from pydantic_monty import CollectString, Monty

    pool = stack.enter_context(Monty())
    home = InstantAgent()
    lookup = {"goto": home.goto, "report": home.report}

    def run(source: str) -> object:
        code = f"{source.replace('agent.', '')}\nsolution(None)"
        with pool.checkout() as session:
            return session.feed_run(code, external_lookup=lookup, print_callback=CollectString())

    return run
