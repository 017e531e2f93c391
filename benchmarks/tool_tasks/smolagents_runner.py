"""Plays one task with smolagents' CodeAgent; run by ``play.py`` in smolagents' own environment.

Standard input is JSON: the goal, the servers, the endpoint, the task's check and folder. The last line of standard
output is JSON: how many calls of tools were made, and the error that ended the run, if any.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any

from mcp import StdioServerParameters
from smolagents import CodeAgent, OpenAIServerModel, ToolCollection

MAX_STEPS = 40
IMPORTS = ["json", "csv", "io"]


def main() -> None:
    """Play the task of standard input; print the number of calls and what failed, as JSON."""
    given = json.load(sys.stdin)
    sys.path.insert(0, given["checks"])
    import checks

    verify = getattr(checks, given["verify"])

    def goal_is_reached(answer: object, memory: object, agent: object = None) -> bool:
        from pathlib import Path

        verdict = verify(answer, None, Path(given["folder"]))
        if verdict is not True:
            raise ValueError(verdict or "the goal is not reached")
        return True

    calls, error = 0, None
    how = {"trust_remote_code": True, "structured_output": given["structured"]}
    with contextlib.ExitStack() as stack:
        tools: list[Any] = []
        for server in given["servers"]:
            command, *args = server["command"]
            env = {**os.environ, **server["env"]}
            parameters = StdioServerParameters(command=command, args=args, env=env, cwd=server["cwd"])
            tools += stack.enter_context(ToolCollection.from_mcp(parameters, **how)).tools
        for tool in tools:
            calls_before = tool.forward

            def counted(*args: Any, _forward: Any = calls_before, **kwargs: Any) -> Any:
                nonlocal calls
                calls += 1
                return _forward(*args, **kwargs)

            tool.forward = counted
        client = {"timeout": 3_000, "max_retries": 0}
        model = OpenAIServerModel(model_id="m", api_base=given["url"], api_key="none", client_kwargs=client)
        agent = CodeAgent(
            tools=tools,
            model=model,
            additional_authorized_imports=IMPORTS,
            max_steps=MAX_STEPS,
            verbosity_level=0,
            final_answer_checks=[goal_is_reached],
        )
        try:
            agent.run(given["goal"])
        except Exception as e:
            error = f"{type(e).__name__}: {e}"
    print(json.dumps({"tool_calls": calls, "error": error}))


main()
