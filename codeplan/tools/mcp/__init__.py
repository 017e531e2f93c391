"""Tools of MCP servers: programs and addresses that offer tools by the Model Context Protocol."""

from __future__ import annotations

from codeplan.tools.mcp.addresses import ServerAddress, parse_address, parse_entry, read_config, server_of_entry
from codeplan.tools.mcp.connection import MAX_RESTARTS
from codeplan.tools.mcp.servers import DEFAULT_SECONDS, FILES_NOTE, MAX_SECONDS, McpServers

__all__ = [
    "DEFAULT_SECONDS",
    "FILES_NOTE",
    "MAX_RESTARTS",
    "MAX_SECONDS",
    "McpServers",
    "ServerAddress",
    "parse_address",
    "parse_entry",
    "read_config",
    "server_of_entry",
]
