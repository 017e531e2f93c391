"""The environment for the replay of an episode with tools: it has the tools' descriptions, but no tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from codeplan.errors import UsageError
from codeplan.tools.environment import ToolEnvironment
from codeplan.tools.tool import Tool
from codeplan.tools.toolset import Toolset
from codeplan.types import AgentTool
from codeplan.untrusted.terminal import parser_reason


def recorded_environment(goal: str, tools: Sequence[AgentTool], doc: str) -> ToolEnvironment:
    """An environment for the replay of an episode. The recording answers every call, so its tools are never called.

    Raises: UsageError: the descriptions, which may come from a stranger, or the goal cannot be those of an episode.
    """
    try:
        toolset = Toolset((Tool(tool.method, _never_called, tool.types) for tool in tools), doc)
        return ToolEnvironment(goal, toolset)
    except (UsageError, ValueError) as e:
        raise UsageError(f"the trace's header is damaged: its tools: {parser_reason(e)}") from None


def _never_called(arguments: Mapping[str, Any]) -> NoReturn:
    raise AssertionError("the recording answers in place of the tools")
