"""Tools of MCP servers: ``python benchmarks/mcp_servers.py`` prints what they take of a prompt, and what a call costs.

The prompt's tokens are its characters divided by four. A call is compared with the official client's own in one run.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from mcp import Client, StdioServerParameters

from codeplan.agent_interface import agent_api, describe_api
from codeplan.tools import ToolEnvironment, Toolset
from codeplan.tools.agent import tool_text
from codeplan.tools.mcp import McpServers, ServerAddress
from codeplan.tools.tool import ToolCall

COUNTS = (10, 50, 150, 500)
CALLS, RUNS = 50, 31
GOAL = "Find the overdue invoices of March and send a reminder for each."
SERVER = """
import sys
from typing import Annotated, Literal
from mcp.server.mcpserver import MCPServer
from pydantic import Field

server = MCPServer("generated", log_level="ERROR")
SUBJECTS = "invoice customer order product shipment payment ticket calendar document branch".split()
VERBS = "list find read create update delete send archive restore export".split()


def make(verb, subject, n):
    def tool(
        query: Annotated[str, Field(description=f"Which {subject}s, in the syntax of a search.")],
        state: Literal["open", "closed", "overdue"] = "open",
        limit: Annotated[int, Field(description="How many at most.", ge=1, le=100)] = 10,
    ) -> list[dict[str, str]]:
        return [{"id": f"{subject}-{n}", "state": state}]

    tool.__doc__ = (
        f"{verb.title()} {subject}s that match a query. Returns one record for each, with its id and its state. "
        f"Use this when you need to {verb} several {subject}s at once; a query that matches none returns an empty list."
    )
    server.add_tool(tool, name=f"{verb}_{subject}" + (f"_{n // 100}" if n >= 100 else ""))


for n in range(int(sys.argv[1])):
    make(VERBS[n % 10], SUBJECTS[n // 10 % 10], n)
server.run("stdio")
"""
NAME = "list_invoice"
ARGUMENTS = {"query": "march", "limit": 5}


def main() -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "generated.py")
        program.write_text(SERVER)
        print("tools   tokens in full   tokens shown   shown in full")
        for count in COUNTS:
            _print_prompt(program, count)
        _print_costs(program)


def _print_prompt(program: Path, count: int) -> None:
    with McpServers([_address(program, count)], seconds=60) as servers:
        api = agent_api(ToolEnvironment(GOAL, Toolset(servers.tools)).agent)
        whole = sum(len(tool_text(tool)) for tool in servers.tools)
        full = count - len(api.brief)
        print(f"{count:5,} {whole // 4:16,} {len(describe_api(api)) // 4:14,} {full:15,}")


def _print_costs(program: Path) -> None:
    with McpServers([_address(program, 10)], seconds=60) as servers:
        call = next(t for t in servers.tools if t.name == NAME).call
        ours, theirs = asyncio.run(_compare(program, call))
    mine, other = (statistics.median(times) / CALLS * 1e6 for times in (ours, theirs))
    ratio = statistics.median(one / another for one, another in zip(ours, theirs, strict=True))
    print(f"a call: {mine:,.0f} µs; by the official client: {other:,.0f} µs; ratio of paired runs {ratio:.2f}")


async def _compare(program: Path, call: ToolCall) -> tuple[list[float], list[float]]:
    """Seconds of alternating runs by both clients, each with a server of its own."""
    ours: list[float] = []
    theirs: list[float] = []
    async with Client(StdioServerParameters(command=sys.executable, args=[str(program), "10"])) as client:
        await client.list_tools()
        for _ in range(RUNS):
            begun = time.perf_counter()
            for _ in range(CALLS):
                call(ARGUMENTS)
            between = time.perf_counter()
            for _ in range(CALLS):
                await client.call_tool(NAME, ARGUMENTS)
            ours.append(between - begun)
            theirs.append(time.perf_counter() - between)
    return ours, theirs


def _address(program: Path, count: int) -> ServerAddress:
    return ServerAddress("generated", (sys.executable, str(program), str(count)))


if __name__ == "__main__":
    main()
