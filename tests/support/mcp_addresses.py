"""Addresses of the MCP servers that the tests start."""

import json
import shlex
import sys
from pathlib import Path

from codeplan.tools.mcp import ServerAddress

LIBRARY = ServerAddress("library", (sys.executable, str(Path(__file__).with_name("mcp_library.py"))))


def raw(*names, name="raw", tools="", **env):
    """A server that misbehaves; ``names`` are its tools, or ``tools`` is an expression for them."""
    listed = tools or json.dumps([{"name": n, "inputSchema": {"type": "object"}} for n in names])
    return ServerAddress(name, (sys.executable, str(Path(__file__).with_name("mcp_raw_server.py")), listed), env=env)


def command_line(address):
    """The address as ``--mcp`` takes it."""
    return shlex.join(address.command)
