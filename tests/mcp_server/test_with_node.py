"""The server with programs of the protocol's makers: the inspector's command line, and the conformance suite.

``CODEPLAN_NODE_MODULES`` is a ``node_modules`` folder that has them, in the versions below. CI installs them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.login_site import use_browser
from support.plan_server import COUNTS, KIWI, STEP_2, tools_file

CODEPLAN = str(Path(sys.executable).with_name("codeplan"))
MODULES = Path(os.environ.get("CODEPLAN_NODE_MODULES") or "/nowhere")
SECONDS = 300

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not (MODULES / ".bin" / "conformance").exists(),
        reason="CODEPLAN_NODE_MODULES names no folder with @modelcontextprotocol/inspector and /conformance",
    ),
]

PASSED = {
    "server-initialize": 1,
    "ping": 1,
    "tools-list": 1,
    "dns-rebinding-protection": 2,
    "server-sse-multiple-streams": 2,
    "server-sse-polling": 0,  # two warnings: no events are kept to be sent again
}
"""The scenarios that need no tools, resources or prompts of the suite's own names, with their checks."""

OTHERS = re.compile(r"tools-call-\w|resources-|prompts-|elicitation-sep|json-schema-2020|completion-complete|logging-set-level")  # fmt: skip
"""What the suite asks of a test server: things with names of its own, and what is not offered."""


def environment():
    """The variables with the folder's programs first in PATH, a newer node among them if there is one."""
    return {**os.environ, "PATH": f"{MODULES / '.bin'}{os.pathsep}{os.environ['PATH']}", "MCP_INSPECTOR_SECRET_STORE": "memory"}  # fmt: skip


def inspect(folder, *arguments):
    """What the inspector prints. It starts the server of the folder's configuration."""
    server = {"command": CODEPLAN, "args": ["mcp", "--tools", str(tools_file(folder)), "--runs", str(folder / "runs")]}
    (folder / "servers.json").write_text(json.dumps({"mcpServers": {"codeplan": server}}))
    program = shutil.which("mcp-inspector", path=environment()["PATH"])
    command = [program, "--cli", "--config", "servers.json", "--server", "codeplan", "-q", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    return found.get("result", found)


def call(folder, tool, **arguments):
    pairs = [part for name, value in arguments.items() for part in ("--tool-arg", f"{name}={value}")]
    return inspect(folder, "--method", "tools/call", "--tool-name", tool, *pairs)["structuredContent"]


def test_the_inspector_lists_the_tools(tmp_path):
    """``--strict`` exits with 6 if a schema is one that some client cannot read."""
    listed = inspect(tmp_path, "--method", "tools/list", "--strict")
    assert [t["name"] for t in listed["tools"]] == ["describe_tools", "check_plan", "run_plan", "resume_plan"]


def test_the_inspector_runs_a_plan_and_resumes_it_in_another_server(tmp_path):
    failed = call(tmp_path, "run_plan", plan=KIWI)
    assert failed["ended"] == "failed"
    assert call(tmp_path, "resume_plan", run=failed["run"], plan=STEP_2)["value"] == COUNTS


def test_the_conformance_suite(tmp_path):
    command = [CODEPLAN, "mcp", "--tools", str(tools_file(tmp_path)), "--runs", str(tmp_path), "--http", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            while not (url := server.stdout.readline()).startswith("http://"):
                assert url, "the server ended"
            suite = [MODULES / ".bin" / "conformance", "server", "--url", url.strip(), "--suite", "all"]
            done = subprocess.run(suite, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=SECONDS)  # fmt: skip
        finally:
            server.kill()
    results = re.findall(r"^(✓|✗) ([\w-]+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    assert {name: int(passed) for mark, name, passed, failed in results if mark == "✓"} == PASSED
    assert all(OTHERS.match(name) for mark, name, _, _ in results if mark == "✗") and len(results) == 32


CLIENT_CALLS = {"tools_call": "add_numbers(a=5, b=3)", "sse-retry": "test_reconnection()"}
"""The scenarios for clients that call a tool. Of the others, those with questions are not offered."""


@pytest.mark.parametrize("scenario", CLIENT_CALLS)
def test_the_conformance_suite_for_clients(tmp_path, scenario):
    (tmp_path / "check.py").write_text("def verify(value):\n    return bool(value)\n")
    call = f"        value = agent.{CLIENT_CALLS[scenario]}\n"
    plan = f"def solution(agent, start_from=1):\n    if start_from <= 1:\n{call}    return value\n"
    (tmp_path / "plan.py").write_text(plan)
    program = f"#!/bin/sh\nexec {CODEPLAN} exec plan.py --verify check.py:verify --allow '*' --mcp \"$1\"\n"
    client = tmp_path / "client.sh"
    client.write_text(program)
    client.chmod(0o755)
    suite = [MODULES / ".bin" / "conformance", "client", "--scenario", scenario, "--command", str(client)]
    done = subprocess.run(suite, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0 and re.search(r"Passed: (\d)/\1, 0 failed, 0 warnings", done.stderr + done.stdout)


LOGINS = (
    *("metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "scope-from-www-authenticate"),
    *("scope-from-scopes-supported", "scope-omitted-when-undefined", "scope-step-up", "scope-retry-limit"),
    *("token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none", "pre-registration"),
    *(
        "2025-03-26-oauth-endpoint-fallback",
        "resource-mismatch",
        "offline-access-scope",
        "offline-access-not-supported",
    ),
)
"""The scenarios for clients with a login that a user makes."""

LOGIN_CLIENT = """#!{python}
import sys
from codeplan.cli import main

url = sys.argv[1]
for _ in range(2):  # a call that wants a larger login gets it with the next one
    if main(["mcp", "login", url, *{options}]):
        sys.exit(1)
    if not main(["exec", "plan.py", "--verify", "check.py:verify", "--allow", "*", "--mcp", url]):
        sys.exit(0)
sys.exit(1)
"""


@pytest.mark.parametrize("scenario", LOGINS)
def test_the_conformance_suite_for_logins(tmp_path, monkeypatch, scenario):
    use_browser(monkeypatch, tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CODEPLAN_MCP_CLIENT_SECRET", "pre-registered-secret")
    (tmp_path / "check.py").write_text("def verify(value):\n    return bool(value)\n")
    (tmp_path / "plan.py").write_text(
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        return agent.test_tool()\n"
    )
    options = ["--client-id", "pre-registered-client"] if scenario == "pre-registration" else []
    client = tmp_path / "client.py"
    client.write_text(LOGIN_CLIENT.format(python=sys.executable, options=options))
    client.chmod(0o755)
    suite = [MODULES / ".bin" / "conformance", "client", "--scenario", f"auth/{scenario}", "--command", str(client)]
    suite += ["--timeout", "120000"]  # for a machine that is busy
    done = subprocess.run(suite, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0 and re.search(r"Passed: (\d+)/\1, 0 failed, 0 warnings", done.stderr + done.stdout)
