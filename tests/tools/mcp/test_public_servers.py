"""Plans over servers that others publish: five of node, and one of Python in an environment of its own.

``CODEPLAN_NODE_MODULES`` is a ``node_modules`` folder, ``CODEPLAN_MCP_PYTHON`` a folder with Python's programs. CI
installs both.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import codeplan
from codeplan.types import Finished

NODE = Path(os.environ.get("CODEPLAN_NODE_MODULES") or "/nowhere") / ".bin"
PYTHON = Path(os.environ.get("CODEPLAN_MCP_PYTHON") or "/nowhere")

PLANS = {
    "mcp-server-filesystem {folder}": (
        "agent.write_file('{folder}/b.txt', agent.read_text_file('{folder}/a.txt').upper())\n"
        "return agent.read_text_file('{folder}/b.txt')",
        "HELLO",
    ),
    "mcp-server-memory": (
        "agent.create_entities([{{'name': n, 'entityType': 'person', 'observations': ['tall']}} for n in ('Ann', 'Bob')])\n"
        "found = agent.search_nodes('tall')\nreturn sorted(e['name'] for e in found['entities'])",
        ["Ann", "Bob"],
    ),
    "mcp-server-sequential-thinking": (
        "done = agent.sequentialthinking('first', nextThoughtNeeded=False, thoughtNumber=1, totalThoughts=1)\n"
        "return done['thoughtHistoryLength']",
        1,
    ),
    "mcp-server-everything": ("return agent.echo('hi'), agent.get_sum(2, 3)", ("Echo: hi", "The sum of 2 and 3 is 5.")),
    "mcp-server-time": (
        "done = agent.convert_time('Europe/Zurich', '12:00', 'Asia/Tokyo')\nreturn done['time_difference'][:1]",
        "+",
    ),
    "mcp-server-git --repository {folder}": (
        "agent.git_add('{folder}', ['a.txt'])\nreturn 'new file:   a.txt' in agent.git_status('{folder}')",
        True,
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("command", PLANS)
def test_a_plan_uses_a_public_server(command: str, tmp_path: Path) -> None:
    program = next((p for f in (NODE, PYTHON) if (p := f / command.partition(" ")[0]).exists()), None)
    if program is None:
        pytest.skip("CODEPLAN_NODE_MODULES or CODEPLAN_MCP_PYTHON names no folder with this server")
    (tmp_path / "a.txt").write_text("hello")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    body, expected = (part.format(folder=tmp_path) if isinstance(part, str) else part for part in PLANS[command])
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    plan = f"def solution(agent, start_from=1):\n    if start_from <= 1:\n{lines}"
    arguments = command.format(folder=tmp_path).partition(" ")[2]
    env = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}
    servers = {"mcpServers": {"it": {"command": str(program), "args": arguments.split(), "env": env}}}
    (tmp_path / "servers.json").write_text(json.dumps(servers))
    execution = codeplan.execute(plan, mcp_config=tmp_path / "servers.json", allow=("*",))
    assert isinstance(execution.outcome, Finished), execution
    assert execution.outcome.value == expected
