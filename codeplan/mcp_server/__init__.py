"""An MCP server in front of tools: its clients check, run and resume plans instead of calling hundreds of tools.

``codeplan mcp`` starts it. ``plan_runner`` does the work, independently of the protocol; ``server`` implements the
protocol.
"""
