"""The commands of the pages on tools and on the MCP server run as printed, with real servers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import Tool
from support.login_site import login_site, use_browser
from support.loopback_port import port_8000
from support.page_reader import ROOT, PageReader, Read
from support.reply_server import Endpoint, endpoint, reply
from support.shown_commands import code_blocks, named_files

pytestmark = pytest.mark.long

__all__ = ["endpoint", "port_8000"]

SUPPORT = Path(__file__).parents[1] / "support"
LIBRARY, RAW_SERVER = SUPPORT / "mcp_library.py", SUPPORT / "mcp_raw_server.py"
NODE_MODULES = Path(os.environ.get("CODEPLAN_NODE_MODULES") or "/nowhere")
FILE_SERVER = "@modelcontextprotocol/server-filesystem"
NODE_PATH = f"{NODE_MODULES / '.bin'}{os.pathsep}{os.environ['PATH']}"


def shown_lines(page: str, begin: str) -> list[str]:
    """The page's command lines that begin so."""
    blocks = code_blocks((ROOT / page).read_text(encoding="utf-8"))
    return [
        line
        for heading, text in blocks
        if heading in ("", "bash")
        for line in text.splitlines()
        if line.startswith(begin)
    ]


def run_in_shell(line: str, page: PageReader) -> str:
    """The output of a command line that is not codeplan's."""
    done = subprocess.run(
        line, shell=True, cwd=page.folder, env=page.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (line, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """The reader's ``tools.py``: README's."""
    text = named_files((ROOT / "README.md").read_text(encoding="utf-8"))["tools.py"]
    (tmp_path / "tools.py").write_text(text)
    return tmp_path / "tools.py"


def test_the_mcp_server(read: Read, tools: Path, port_8000: int) -> None:
    page = read("docs/mcp-server.md", PATH=NODE_PATH, MCP_INSPECTOR_SECRET_STORE="memory")
    if NODE_MODULES.exists():
        (page.folder / "node_modules").symlink_to(NODE_MODULES)
    install = page.left[0]
    assert ".cursor/mcp.json" in page.play("mcp install", code=2)  # there is no terminal to ask at
    page.type(*install, "--yes")
    written = json.loads((page.folder / ".reader" / ".cursor" / "mcp.json").read_text())["mcpServers"]["codeplan"]
    assert written["args"] == ["mcp", "--tools", str(tools), "--allow", "list_*"]
    with page.served("mcp --tools") as url:
        assert url == f"http://127.0.0.1:{port_8000}/mcp"
        assert {tool.name for tool in asyncio.run(tools_of(url))} >= {"describe_tools", "check_plan", "run_plan"}
        if (NODE_MODULES / "@modelcontextprotocol" / "inspector").exists():
            assert "def invoice(self, number: str)" in run_in_shell(*shown_lines("docs/mcp-server.md", "npx "), page)
    assert not page.left


async def tools_of(url: str) -> list[Tool]:
    async with Client(url) as client:
        return (await client.list_tools()).tools


def test_tools_in_a_file(read: Read, endpoint: Endpoint, tools: Path) -> None:
    page = read("docs/tools.md", OPENAI_BASE_URL=endpoint.url)
    assert len(page.left) == 10  # the last five are played by the tests below
    first_example = next(text for heading, text in code_blocks((ROOT / "docs/tools.md").read_text()) if heading)
    functions, rest = first_example.split("def verify", 1)
    verifier, rest = rest.split("PLAN = ", 1)
    tools.write_text(functions.split("from codeplan import Completion", 1)[1])
    (page.folder / "checks.py").write_text(f"def verify{verifier}")
    plan = rest.split('"""')[1]
    endpoint.answer(reply(f"```python{plan}```"))
    assert '"pears"' in page.play("do")
    endpoint.answers.clear()
    endpoint.answer(reply(f"```python{plan}```"))
    page.play("do", code=1)  # within its limits of time; nobody verifies it

    names = ("drop_all", "delete_one", "send", "wipe")
    tools.write_text("".join(f'def {name}() -> str:\n    """{name}."""\n    return "done"\n\n\n' for name in names))
    plan = "def solution(agent, start_from=1):\n    if start_from <= 1:\n"
    calls = "".join(f"        {name} = agent.{name}()\n" for name in names[1:])
    endpoint.answers.clear()
    endpoint.answer(reply(f"```python\n{plan}{calls}        assert wipe, 'Error in [Step 1]'\n    return wipe\n```"))
    assert "waiting for approval: delete_one()" in page.play("do", code=5)
    max((page.folder / "runs").iterdir()).rename(page.folder / "RUN")
    page.play("approve")
    output = page.play("resume", code=5)
    assert "> delete_one()" in output and "waiting for approval: send()" in output


def test_tools_of_a_server_with_an_address(read: Read, endpoint: Endpoint, port_8000: int) -> None:
    page = read("docs/tools.md", OPENAI_BASE_URL=endpoint.url)
    page.left = page.left[6:]
    wipe = json.dumps([{"name": "wipe", "inputSchema": {"type": "object"}}])
    servers = {"mcpServers": {"more": {"command": sys.executable, "args": [str(RAW_SERVER), wipe]}}}
    (page.folder / "servers.json").write_text(json.dumps(servers))
    endpoint.answer(
        reply("""```python
def solution(agent, start_from=1):
    if start_from <= 1:
        books = agent.find('birds')
        assert books, 'Error in [Step 1]: there is none'
    return books[0]['title']
```""")
    )
    with subprocess.Popen([sys.executable, str(LIBRARY), str(port_8000)], stderr=subprocess.DEVNULL) as server:
        try:
            wait_for_port(port_8000)
            assert '"All about birds"' in page.play("do", code=1)  # nothing verifies it
        finally:
            server.kill()


def test_logins(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    page = read("docs/tools.md")
    page.left = page.left[8:]  # the one before is at a site of nobody
    use_browser(monkeypatch, page.folder)
    page.environment["BROWSER"] = os.environ["BROWSER"]
    with login_site() as (_, address):
        (page.folder / "servers.json").write_text(json.dumps({"mcpServers": {"notes": {"url": address.url}}}))
        assert "notes can be used; it offers 1 tool" in page.play("mcp")
    assert "there is no login" in page.play("mcp")


def wait_for_port(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise AssertionError(f"nobody listens at port {port}")


@pytest.mark.skipif(
    not (NODE_MODULES / FILE_SERVER).exists(), reason=f"CODEPLAN_NODE_MODULES names no folder with {FILE_SERVER}"
)
def test_tools_of_the_public_file_server(read: Read, endpoint: Endpoint) -> None:
    page = read("docs/tools.md", OPENAI_BASE_URL=endpoint.url, PATH=NODE_PATH)
    page.left = page.left[5:6]
    (page.folder / "node_modules").symlink_to(NODE_MODULES)
    (page.folder / "docs").mkdir()
    for name, size in (("small.md", 10), ("large.md", 90_000)):
        (page.folder / "docs" / name).write_text("x" * size)
    endpoint.answer(
        reply("""```python
def solution(agent, start_from=1):
    if start_from <= 1:
        listed = str(agent.list_directory_with_sizes(path='.', sortBy='size'))
        assert 'large.md' in listed, f'Error in [Step 1]: {listed}'
    return 'large.md' if listed.index('large.md') < listed.index('small.md') else 'small.md'
```""")
    )
    assert '"large.md"' in page.play("do", code=1)  # nothing verifies it
