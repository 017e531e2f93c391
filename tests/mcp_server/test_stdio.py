"""``codeplan mcp`` over standard input and output: what belongs to the protocol, and how the server ends."""

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from support.plan_server import COUNTS, KIWI, PLAN, SPIN, STEP_2, processes_of, still_running, tools_file

from codeplan.cli import main
from codeplan.mcp_server.transports import MAX_MESSAGE_BYTES, MAX_MESSAGE_VALUES
from codeplan.untrusted.json_values import measure_json

CODEPLAN = str(Path(sys.executable).with_name("codeplan"))
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
NAPS = SPIN.replace("agent.fruits()", "agent.sleep(0.1)")
"""Runs for longer than any test, before it has made the calls that it may make."""


def wait_for_calls(runs):
    """Wait until the plan of the only run has called a tool."""
    while not any("call_begun" in trace.read_text() for trace in runs.glob("*/trace.jsonl")):
        time.sleep(0.05)


@pytest.fixture(scope="module", autouse=True)
def folder_of_runs(tmp_path_factory):
    """A server that is killed leaves the folder of its runs behind, and leaves it here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("runs")))
        yield


class Server:
    """A server as a client's child, with its lines."""

    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen(
            [CODEPLAN, "mcp", *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def start(self):
        self.send(HELLO)
        assert self.receive()["result"]["serverInfo"]["name"] == "codeplan"
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, number, tool, **arguments):
        params = {"name": tool, "arguments": arguments}
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    def end(self):
        """Close the input, as a client that goes; returns what the server wrote last, and its exit code."""
        output, errors = self.process.communicate(timeout=60)
        return output.decode(), errors.decode(), self.process.returncode


@pytest.fixture
def tools(tmp_path):
    return tools_file(tmp_path)


@pytest.fixture
def server(tools, tmp_path):
    with Server("--tools", tools, "--runs", tmp_path / "runs") as started:
        started.start()
        yield started


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """A server for tests that ask and are answered."""
    with Server("--tools", tools_file(tmp_path_factory.mktemp("tools"))) as started:
        started.start()
        yield started


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_runs_and_resumes(tools, mode):
    async def main():
        transport = StdioServerParameters(command=CODEPLAN, args=["mcp", "--tools", str(tools)])
        async with Client(transport, mode=mode) as client:
            failed = await client.call_tool("run_plan", {"plan": KIWI})
            run = failed.structured_content["run"]
            return (await client.call_tool("resume_plan", {"run": run, "plan": STEP_2})).structured_content

    assert asyncio.run(main())["value"] == COUNTS


def test_what_tools_print_does_not_reach_the_protocol_and_the_end_leaves_no_process(server):
    server.call(1, "run_plan", plan=PLAN)
    assert server.receive()["result"]["structuredContent"]["value"] == COUNTS
    children = processes_of(server.process.pid)
    assert children  # the sandbox's
    output, errors, code = server.end()
    assert (output, code) == ("", 0) and still_running(children) == []
    for said in ("at the import", "by a tool", "to the descriptor", "by a program"):
        assert said in errors


def test_a_client_that_goes_ends_a_running_plan(server, tmp_path):
    server.call(1, "run_plan", plan=NAPS)
    wait_for_calls(tmp_path / "runs")
    children = processes_of(server.process.pid)
    started = time.monotonic()
    assert server.end()[2] == 0 and time.monotonic() - started < 15
    assert still_running(children) == []
    (trace,) = (tmp_path / "runs").glob("*/trace.jsonl")
    assert '"broken_off":true' in trace.read_text()


def test_a_tool_that_hangs_does_not_keep_the_server(server, tmp_path):
    server.call(1, "run_plan", plan=PLAN.replace("agent.fruits()", "agent.sleep(600)"))
    while not any((tmp_path / "runs").glob("*/trace.jsonl")):
        time.sleep(0.05)
    assert server.end()[2] == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_no_process(server, tmp_path, number):
    server.call(1, "run_plan", plan=NAPS)
    wait_for_calls(tmp_path / "runs")
    children = processes_of(server.process.pid)
    server.process.send_signal(number)
    assert server.process.wait(30) == (-signal.SIGKILL if number == signal.SIGKILL else 0)
    assert children and still_running(children) == []


def test_a_run_goes_on_after_a_kill(tools, tmp_path):
    """The next server tells once how the run was broken off, and then resumes it."""
    arguments = ("--tools", tools, "--runs", tmp_path / "runs")
    waiting = PLAN.replace("counts = ", "agent.sleep(600 if start_from == 1 else 0)\n        counts = ")
    with Server(*arguments) as first:
        first.start()
        first.call(1, "run_plan", plan=waiting)
        while not any(t.read_text().count('"call_begun"') == 2 for t in (tmp_path / "runs").glob("*/trace.jsonl")):
            time.sleep(0.05)  # until it sleeps
        first.process.kill()
    (run,) = (folder.name for folder in (tmp_path / "runs").iterdir())
    with Server(*arguments) as second:
        second.start()
        answers = []
        for number in (1, 2):
            second.call(number, "resume_plan", run=run, plan=STEP_2)
            answers.append(second.receive()["result"]["structuredContent"])
    assert answers[0]["ended"] == "interrupted" and answers[0]["run"] == run and "sleep" in answers[0]["note"]
    assert answers[1]["value"] == COUNTS and answers[1]["started_from"] == 2


def test_without_a_folder_the_runs_go_with_the_server(tools, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with Server("--tools", tools, env={**os.environ, "TMPDIR": str(temporary)}) as server:
        server.start()
        server.call(1, "run_plan", plan=PLAN)
        server.receive()
        assert len(list(temporary.glob("codeplan-mcp-*/*/trace.jsonl"))) == 1
        server.end()
    assert list(temporary.iterdir()) == []


# ------------------------------------------------------------------ hostile clients


def request(**parts):
    return json.dumps({"jsonrpc": "2.0", "id": 7, **parts}).encode()


LISTS = b"[" + b"[]," * 10_000 + b"[]]"
NO_MESSAGES = [
    (b"nonsense", None, "is no message"),
    (b'{"jsonrpc": "2.0"}', None, "is no message"),
    (b"[" * 1_000, None, "is no message"),
    (b"[" * 100_000, None, "10,000 values"),
    (b"\xff\xfe\x00", None, "is no message"),
    (b"x" * (MAX_MESSAGE_BYTES + 1000), None, "1 MiB"),
    (b'{"jsonrpc": "2.0", "id": 1, "result": 5}' + b" " * MAX_MESSAGE_BYTES, None, "1 MiB"),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', None, "neither a text nor"),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, "neither a text nor"),
    (request(method="tools/call", params="x"), 7, "is no message"),
    (request(method="ping", params=7), 7, "is no message"),
    (request(method="ping", params={"_meta": "?"}).replace(b'"?"', b'{"x": ' + LISTS + b"}"), 7, "10,000 values"),
]
"""Lines, the id of the answer if the line has one, and what the answer says."""


def test_a_line_that_is_no_message_is_answered_and_the_server_lives_on(server):
    for line, number, said in NO_MESSAGES:
        server.send(line)
        reply = server.receive()
        assert reply["id"] == number and said in reply["error"]["message"], line[:100]
        assert number is None or reply["error"]["code"] == -32600
        server.call(1, "run_plan", plan=PLAN)
        assert server.receive()["result"]["structuredContent"]["value"] == COUNTS, line[:100]
    assert "Traceback" not in server.end()[1]


INFO = HELLO["params"]["clientInfo"]
ODD_CLIENTS = {
    "nulls": {"capabilities": None, "clientInfo": None, "_meta": None},
    "nothing but the version": {"capabilities": ..., "clientInfo": ...},
    "true for a capability": {"capabilities": {"roots": True, "sampling": False, "tasks": []}},
    "a number as its version": {"clientInfo": {"name": "n", "version": 1.5}},
    "null for a token": {"_meta": {"progressToken": None}},
}


@pytest.mark.parametrize("name", ODD_CLIENTS)
def test_what_a_client_says_of_itself_need_not_be_right(tools, name):
    odd = {**HELLO["params"], **ODD_CLIENTS[name]}
    with Server("--tools", tools) as server:
        server.send({**HELLO, "params": {field: value for field, value in odd.items() if value is not ...}})
        assert server.receive()["result"]["serverInfo"]["name"] == "codeplan"
        server.call(1, "run_plan", plan=PLAN)
        assert server.receive()["result"]["structuredContent"]["value"] == COUNTS


CALL = {"name": "run_plan", "arguments": json.dumps({"plan": PLAN})}


def test_parameters_are_read_as_they_are_meant(lasting):
    for method, params, key in (
        ("tools/list", [], "tools"),  # as PHP writes an empty table
        ("tools/list", None, "tools"),
        ("tools/list", {"cursor": None, "_meta": None}, "tools"),
        ("tools/call", CALL, "structuredContent"),
        ("tools/call", {"name": "describe_tools", "arguments": []}, "content"),
        ("tools/call", {"name": "describe_tools", "arguments": ""}, "content"),
        ("tools/call", {"name": "describe_tools", "arguments": None, "_meta": {"progressToken": None}}, "content"),
    ):
        lasting.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        answer = lasting.receive()["result"]
        assert answer[key] and not answer.get("isError"), (method, params)


def test_parameters_that_cannot_be_read_are_named(tools):
    with Server("--tools", tools) as server:
        for starts, method, params, said in (
            (False, "initialize", {"capabilities": {}, "clientInfo": INFO}, "protocolVersion: Field required"),
            (False, "tools/list", {}, "a session begins with initialize; send that first"),
            (True, "tools/call", {"name": "run_plan", "arguments": "none"}, "arguments: Input should be a valid dict"),
            (False, "tools/call", {"arguments": {}}, "name: Field required"),
        ):
            if starts:
                server.start()
            server.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            error = server.receive()["error"]
            assert error["code"] == -32_602 and said in error["message"], params


def test_a_message_may_hold_ten_thousand_values_and_no_more(lasting):
    for more in (0, 1):
        values = b"[" + b"0," * (MAX_MESSAGE_VALUES + more - 8) + b"0]"
        line = request(method="ping", params={"_meta": "?"}).replace(b'"?"', b'{"x": ' + values + b"}")
        assert measure_json(line)[0] == MAX_MESSAGE_VALUES + more
        lasting.send(line)
        assert ("error" in lasting.receive()) == bool(more)


def test_a_message_may_have_a_mebibyte_and_no_more(lasting):
    for more in (0, 1):
        line = request(method="ping")
        lasting.send(line + b" " * (MAX_MESSAGE_BYTES + more - len(line) - 1))  # with the end of the line
        assert ("error" in lasting.receive()) == bool(more)


def test_half_a_surrogate_pair_is_text_like_any_other(lasting):
    """JavaScript writes it when a text is cut within an emoji."""
    cut = "cut \ud83d"
    lasting.send({"jsonrpc": "2.0", "id": cut, "method": "ping"})
    assert lasting.receive() == {"jsonrpc": "2.0", "id": cut, "result": {}}
    lasting.call(1, "run_plan", plan=PLAN, goal=cut)
    assert "the goal 'cut \\ud83d' is not text" in lasting.receive()["result"]["content"][0]["text"]
    lasting.call(2, cut)
    assert "there is no tool" in lasting.receive()["error"]["message"]


def test_a_client_that_reads_nothing_does_not_keep_the_server(tools):
    with Server("--tools", tools) as server:
        server.start()
        for number in range(1, 30):
            server.call(number, "describe_tools")
            server.call(1000 + number, "run_plan", plan="x" * 100_000)
        server.process.stdout.close()
        assert server.end()[2] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "there are no tools"),
        (("--tools", "nothing.py"), 2, "there is no file 'nothing.py'"),
        (("--mcp", "no-such-program"), 4, "there is no program 'no-such-program'"),
        (("--tools", "TOOLS", "--http", "0.0.0.0:80"), 2, "name the one that clients use"),
        (("--tools", "TOOLS", "--http", "nowhere"), 2, "HOST:PORT"),
        (("--tools", "TOOLS", "--http", "127.0.0.1:99999"), 2, "HOST:PORT"),
        (("--tools", "TOOLS", "--library", "nowhere"), 2, "no skill library"),
        (("--tools", "TOOLS", "--at-once", "0"), 2, "--at-once"),
        (("--tools", "TOOLS", "--plan-seconds", "nan"), 2, "plan"),
        (("--tools", "TOOLS", "--allow", ""), 2, "pattern"),
        (("--tools", "TOOLS", "--runs", "TOOLS"), 2, "--runs cannot use"),
    ],
)
def test_a_wrong_command_is_one_sentence(tools, tmp_path, monkeypatch, capfd, arguments, code, said):
    monkeypatch.chdir(tmp_path)
    assert main(["mcp", *(str(tools) if a == "TOOLS" else a for a in arguments)]) == code
    shown = capfd.readouterr()
    errors = [line for line in shown.err.splitlines() if not line.startswith("printed")]
    assert (shown.out, len(errors)) == ("", 1) and said in errors[0]


def test_on_a_terminal_the_server_says_what_it_waits_for(tools):
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [CODEPLAN, "mcp", "--tools", str(tools)], stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as started:  # fmt: skip
        os.close(theirs)
        assert "an MCP client starts this command" in started.stderr.readline()
        os.close(ours)
        assert started.wait(60) == 0
