"""The Agent class of a toolset: one method for each tool, whose call is an action of the episode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codeplan.errors import AgentError, EpisodeOver
from codeplan.protocols import Act
from codeplan.tools import wire
from codeplan.tools.disclosure import DESCRIBE, shown_api, tool_text
from codeplan.tools.tool import Tool
from codeplan.tools.toolset import Toolset
from codeplan.untrusted.values import in_quotes, value_text

_MAX_SHOWN = 300


class ToolAgent:
    """Base of the Agent classes. The data that a tool returned reaches the plan as data."""

    def __init__(self, act: Act) -> None:
        self._act = act
        self._last: tuple[str, str] | None = None

    def report(self) -> str:
        """The last call and its answer in a sentence."""
        return _sentence(*self._last) if self._last else "No tool was called yet."

    def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Raises: AgentError: the call failed, or was refused."""
        call = wire.call_text(tool, arguments)
        observation = self._act(call)
        self._last = call, observation.text
        answer = wire.read_answer(observation.text)
        if observation.done:
            raise EpisodeOver(f"the tool {tool} failed, and tool errors end the episode: {answer.message}")
        if answer.error:
            raise AgentError(answer.message, answer.error)
        return answer.result


def agent_class_for(toolset: Toolset, goal: str) -> type[ToolAgent]:
    """The Agent class that offers the tools. If there are many, prompts show those in full that fit the goal."""
    api = shown_api(toolset, goal)
    methods = {tool.name: _method(tool) for tool in toolset.tools}
    if api.brief:
        methods[DESCRIBE.name] = _describe_method(toolset)
    return type("Agent", (ToolAgent,), {"__doc__": toolset.doc, "_api": api, **methods})


def _describe_method(toolset: Toolset) -> Callable[..., Any]:
    def describe(agent: ToolAgent, name: str) -> str:
        tool = toolset.get(name) if isinstance(name, str) else None
        if tool is None:
            raise AgentError(f"there is no tool {in_quotes(name)}", "KeyError")
        return tool_text(tool)

    return describe


def _method(tool: Tool) -> Callable[..., Any]:
    def method(agent: ToolAgent, /, *args: Any, **kwargs: Any) -> Any:
        return agent._call(tool.name, _bind(tool, args, kwargs))

    method.__name__, method.__doc__ = tool.name, tool.method.doc
    method.__dict__["__signature__"] = tool.signature
    return method


def _bind(tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    if (found := tool.bind_simply(args, kwargs)) is not None:
        return found
    try:
        bound = tool.signature.bind(None, *args, **kwargs).arguments
    except TypeError as error:
        raise AgentError(
            f"{tool.name} was called wrongly: {tool.method.explain_misfit(kwargs, error)}", "TypeError"
        ) from None
    return {name: value for name, value in bound.items() if name != "_agent_"}


def _sentence(call: str, observation: str) -> str:
    """A call and its answer in words. Written when a plan asks: writing it costs more than a quick call."""
    tool, arguments = wire.read_call(call)
    answer = wire.read_answer(observation)
    given = ", ".join(f"{name}={value_text(value, _MAX_SHOWN)}" for name, value in arguments.items())
    returned = f"returned {value_text(answer.result, _MAX_SHOWN)}"
    return f"The last call, {tool}({given}), {f'raised {answer.error}: {answer.message}' if answer.error else returned}"
