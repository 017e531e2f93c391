"""The cage as a tool of Pydantic AI (extra ``pydantic-ai``).

    from codeplan.integrations.pydantic_ai import python_tool

    agent = Agent(model, tools=[python_tool([search, weather])])

The code runs in the cage and reaches nothing but the tools that it was given.
"""

from __future__ import annotations

from typing import Any

from codeplan.integrations.code_runs import CodeRunner, missing_extra

try:
    from pydantic_ai import ModelRetry, Tool, ToolFailed
except ImportError:
    raise missing_extra("pydantic-ai") from None


def python_tool(tools: object, *, name: str = "run_python", description: str = "", **options: Any) -> Tool[Any]:
    """A tool that runs Python code over ``tools``: functions, objects or what else ``codeplan.execute`` takes.

    ``options`` are those of ``codeplan.execute`` about tools, ``limits`` and ``imports``. It returns what the code
    ``printed`` and its ``value``. Code that fails before it calls a tool is a retry; later it is a failed call, which
    the model must not repeat blindly. Errors of your machine or your settings are raised.

    Raises: UsageError: a tool or an option is wrong. SandboxError: this machine cannot run plans.
    """
    runner = CodeRunner(tools, **options)

    def run(code: str) -> dict[str, Any]:
        ended = runner.run(code)
        if ended.fault:
            raise (ToolFailed if ended.acted else ModelRetry)(ended.failure)
        return ended.answer

    return Tool(run, name=name, description=description or runner.description)
