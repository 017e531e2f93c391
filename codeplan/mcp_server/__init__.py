"""An MCP server in front of tools: its clients check, run and resume plans in place of calling hundreds of tools.

``codeplan mcp`` starts it. ``plan_runner`` does the work, without a word of the protocol; ``server`` speaks it.
"""
