"""The user's tools as an environment: a plan's calls are actions, their answers observations."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any

from codeplan.errors import AgentError, CodeplanError, EnvironmentFailure, UsageError
from codeplan.tools import wire
from codeplan.tools.event_loop import LoopThread
from codeplan.tools.failures import error_for_plan
from codeplan.tools.tool import Tool
from codeplan.tools.tool_agent import agent_class_for
from codeplan.tools.toolset import Toolset
from codeplan.types import Observation, Task
from codeplan.untrusted.terminal import echo
from codeplan.untrusted.tracebacks import traceback_text
from codeplan.untrusted.values import in_quotes

_FIRST = "No tool was called yet."


class ToolEnvironment:
    """Offers a toolset for one goal. Tools act in the real world, so an episode cannot start over.

    Raises: UsageError: the goal is empty.
    """

    name = "tools"
    splits = ("test",)

    def __init__(self, goal: str, toolset: Toolset) -> None:
        if not isinstance(goal, str) or not goal.strip():
            raise UsageError("the goal is empty; say in a sentence what is to be done")
        self.toolset = toolset
        self.agent = agent_class_for(toolset)
        self._task = Task(id="goal", env=self.name, kind="goal", goal=goal.strip())
        self._loop = LoopThread()
        self._begun = False

    def tasks(self, split: str) -> Sequence[Task]:
        """The one task."""
        return (self._task,) if split == "test" else ()

    def reset(self, task: Task) -> Observation:
        """Begin the task. Raises: EnvironmentFailure: it has begun before."""
        if self._begun:
            raise EnvironmentFailure(
                "tools act in the real world, which has no start to go back to; use a method and settings that do not "
                "start over"
            )
        self._begun = True
        return Observation(_FIRST)

    def step(self, action: str) -> Observation:
        """Make a call, and answer with its result or its error."""
        try:
            name, arguments = wire.read_call(action)
            return self._call(self._find(name), arguments)
        except AgentError as error:
            return Observation(wire.error_text(error.error, str(error)))

    def close(self) -> None:
        """End what asynchronous tools left running."""
        self._loop.close()

    def _find(self, name: str) -> Tool:
        tool = self.toolset.get(name)
        if tool is None:
            raise AgentError(f"there is no tool {in_quotes(name)}; there are: {', '.join(self.toolset.names)}")
        return tool

    def _call(self, tool: Tool, arguments: Mapping[str, Any]) -> Observation:
        tool.require_fit(arguments)
        try:
            result = self._finish(tool.call(arguments))
        except CodeplanError:
            raise
        except Exception as error:
            echo(f"The tool {tool.name} failed:\n{traceback_text(error)}", err=True)
            raise error_for_plan(error) from None
        try:
            return Observation(wire.result_text(result))
        except wire.NotPlain as reason:
            raise AgentError(f"{tool.name} returned {reason}", "ValueError") from None

    def _finish(self, result: object) -> object:
        """Wait for an asynchronous result."""
        if isinstance(result, Awaitable):
            return self._loop.run(result)
        return self._loop.run(_collect(result)) if isinstance(result, AsyncIterator) else result


async def _collect(items: AsyncIterator[Any]) -> list[Any]:
    """As many items as one result may have, and one more, so that too many are refused."""
    found = []
    async for item in items:
        found.append(item)
        if len(found) > wire.MAX_VALUES:
            break
    return found
