"""The cage as a tool of LangChain (extra ``langchain``).

    from codeplan.integrations.langchain import python_tool

    agent = create_agent(model, tools=[python_tool([search, weather])])

The code runs in the cage and reaches nothing but the tools that it was given.
"""

from __future__ import annotations

from typing import Any

import msgspec

from codeplan.integrations.code_runs import CodeRunner, missing_extra

try:
    from langchain_core.tools import StructuredTool, ToolException
except ImportError:
    raise missing_extra("langchain") from None


def python_tool(tools: object, *, name: str = "run_python", description: str = "", **options: Any) -> StructuredTool:
    """A tool that runs Python code over ``tools``: functions, objects or what else ``codeplan.execute`` takes.

    ``options`` are those of ``codeplan.execute`` about tools, ``limits`` and ``imports``. Its answer is JSON with what
    the code ``printed`` and its ``value``. Code that fails gives a message with the status ``error``; errors of your
    machine or your settings are raised.

    Raises: UsageError: a tool or an option is wrong. SandboxError: this machine cannot run plans.
    """
    runner = CodeRunner(tools, **options)

    def run(code: str) -> str:
        ended = runner.run(code)
        if ended.fault:
            raise ToolException(ended.failure)
        return msgspec.json.encode(ended.answer).decode()

    return StructuredTool.from_function(
        run, name=name, description=description or runner.description, handle_tool_error=True
    )
