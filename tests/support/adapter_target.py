"""The host process of an audit whose hostile code reaches the cage through an adapter for another framework.

``CODEPLAN_TEST_ADAPTER`` names the adapter. What a framework would show its model or its user is searched for secrets.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator

import msgspec

from codeplan.audit.target import (
    ATTACK_LIMITS,
    SECRET_VARIABLE,
    AttackCase,
    AttackReport,
    AttackSession,
    _find_excesses,
)
from codeplan.errors import CodeplanError

HONEST = "seen = goto('shelf 1')\nprint('[Step 1]', seen)\nseen"
REFUSED = "refused, and nothing of it ran"


def smolagents(session):
    """CodeAgent's executor: the code as it is, and as a snippet that defines a function and calls it."""
    from smolagents.local_python_executor import InterpreterError

    from codeplan.integrations.smolagents import CagedExecutor

    executor = CagedExecutor(limits=ATTACK_LIMITS)
    agent = session.agent
    executor.send_tools({m: getattr(agent, m) for m in ("goto", "take", "put", "look", "fail", "leaky")})

    def run(code):
        said = []
        for form in (code, code.replace("def solution(", "def attack(") + "\nattack(agent, 1)\n"):
            try:
                said.append(repr(executor(form)))
            except InterpreterError as error:
                said.append(str(error))
            said.append(str(executor.state["_print_outputs"]))
        return "\n".join(said)

    return run


def pydantic_ai(session):
    import pydantic_ai as framework

    from codeplan.integrations.pydantic_ai import python_tool

    tool = python_tool(session.agent, limits=ATTACK_LIMITS)

    def run(code):
        try:
            return json.dumps(tool.function(code))
        except (framework.ModelRetry, framework.ToolFailed) as error:
            return error.message

    return run


def langchain(session):
    from codeplan.integrations.langchain import python_tool

    tool = python_tool(session.agent, limits=ATTACK_LIMITS)
    return lambda code: tool.invoke({"name": tool.name, "args": {"code": code}, "id": "1", "type": "tool_call"}).content


def openai_agents(session):
    from agents.tool_context import ToolContext

    from codeplan.integrations.openai_agents import python_tool

    tool = python_tool(session.agent, limits=ATTACK_LIMITS)

    def run(code):
        arguments = json.dumps({"code": code})
        context = ToolContext(context=None, tool_name=tool.name, tool_call_id="1", tool_arguments=arguments)
        return asyncio.run(tool.on_invoke_tool(context, arguments))

    return run


def run_case(adapter, secret: str, case: AttackCase) -> AttackReport:
    """Run the code, then an honest snippet, through one adapter."""
    session = AttackSession(f"CANARY-{secret}")
    began = time.monotonic()
    run = adapter(session)
    try:
        said = run(case.source)
    except CodeplanError as error:
        return AttackReport("error", type(error).__name__, f"the adapter raised {error}", time.monotonic() - began)
    seconds = time.monotonic() - began
    refused = said.count(REFUSED) == (2 if adapter is smolagents else 1)
    return AttackReport("finished", "", next(_problems(run, case, session, said), ""), seconds, not refused)


def _problems(run, case: AttackCase, session: AttackSession, said: str) -> Iterator[str]:
    yield from _find_excesses(session)
    for place, text in {"answer": _without_lines(said), "actions": session.argument_text()}.items():
        if case.canary and case.canary in text:
            yield f"{case.canary} reached the {place}: {text[:200]!r}"
    if len(said) > 2_000_000:
        yield f"{len(said):,} characters were answered"
    if "You are at shelf 1." not in (again := run(HONEST)):
        yield f"an honest snippet afterwards ended in {again[:300]}"


def _without_lines(said: str) -> str:
    """The answer without the code that errors quote."""
    return "\n".join(line.partition("`" if line.startswith("- ") else " (at `")[0] for line in said.split("\n"))


def main() -> None:
    """Run cases until standard input ends."""
    import ctypes

    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # the orphans of workers are this process's
    adapter, secret = globals()[os.environ["CODEPLAN_TEST_ADAPTER"]], os.environ[SECRET_VARIABLE]
    first = run_case(adapter, secret, AttackCase("print('ready')", (), ""))
    _write(AttackReport("ready", "", first.problem, 0.0))
    decoder = msgspec.json.Decoder(AttackCase)
    for line in sys.stdin.buffer:
        _write(run_case(adapter, secret, decoder.decode(line)))


def _write(report: AttackReport) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")
    sys.stdout.buffer.flush()
