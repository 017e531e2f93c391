"""The cage as a tool of the OpenAI Agents SDK (extra ``openai-agents``).

    from codeplan.integrations.openai_agents import python_tool

    agent = Agent(name="Assistant", tools=[python_tool([search, weather])])

The code runs in the cage and reaches nothing but the tools that it was given.
"""

from __future__ import annotations

from typing import Any

import msgspec

from codeplan.integrations.code_runs import CodeRunner, missing_extra

try:
    from agents import FunctionTool, RunContextWrapper, function_tool
except ImportError:
    raise missing_extra("openai-agents") from None


class CodeFailed(Exception):
    """The code that the model wrote did not reach its end; the message is for the model."""


def _tell_model(context: RunContextWrapper[Any], error: Exception) -> str:
    """The SDK's words for a failed call, with the reason. Raises other errors again: no model's code is to blame."""
    if not isinstance(error, CodeFailed):
        raise error
    return f"An error occurred while running the tool: {error}"


def python_tool(tools: object, *, name: str = "run_python", description: str = "", **options: Any) -> FunctionTool:
    """A tool that runs Python code over ``tools``: functions, objects or what else ``codeplan.execute`` takes.

    ``options`` are those of ``codeplan.execute`` about tools, ``limits`` and ``imports``. Its answer is JSON with what
    the code ``printed`` and its ``value``. Code that fails is told to the model as the SDK tells a tool's error; errors
    of your machine or your settings end the run.

    Raises: UsageError: a tool or an option is wrong. SandboxError: this machine cannot run plans.
    """
    runner = CodeRunner(tools, **options)

    def run(code: str) -> str:
        ended = runner.run(code)
        if ended.fault:
            raise CodeFailed(ended.failure)
        return msgspec.json.encode(ended.answer).decode()

    return function_tool(
        run,
        name_override=name,
        description_override=description or runner.description,
        failure_error_function=_tell_model,
    )
