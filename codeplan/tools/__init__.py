"""The user's own tools: what a plan may call, and the environment that offers them to a plan."""

from __future__ import annotations

from codeplan.tools.approvals import ProposedCall
from codeplan.tools.environment import ToolEnvironment
from codeplan.tools.tool import Tool
from codeplan.tools.toolset import Toolset, python_tools

__all__ = ["ProposedCall", "Tool", "ToolEnvironment", "Toolset", "python_tools"]
