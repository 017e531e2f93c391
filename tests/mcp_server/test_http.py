"""``codeplan mcp --http``: many clients over streamable HTTP, and no page of another site."""

import asyncio
import contextlib
import http.client
import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from mcp import Client
from mcp_types import ToolListChangedNotification
from support.mcp_addresses import command_line, raw
from support.plan_server import COUNTS, KIWI, PLAN, STEP_2, processes_of, still_running, tools_file

from codeplan.errors import UsageError
from codeplan.mcp_server.transports import MAX_MESSAGE_BYTES, MAX_MESSAGE_VALUES, parse_http_address
from codeplan.untrusted.json_values import measure_json

CODEPLAN = str(Path(sys.executable).with_name("codeplan"))


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tools")  # with the runs, which a server that is killed leaves behind
    command = [CODEPLAN, "mcp", "--tools", str(tools_file(folder)), "--runs", str(folder), "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as started:
        yield started
        started.kill()


@pytest.fixture(scope="module")
def url(process):
    while not (line := process.stdout.readline()).startswith("http://"):
        assert line, "the server ended"
    return line.strip()


def post(url, body, headers):
    address = urlsplit(url)
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=30)
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    connection.request("POST", address.path, body, given)
    answer = connection.getresponse()
    try:
        return answer.status, answer.read().decode()
    finally:
        connection.close()


PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})  # fmt: skip


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_clients_run_and_resume_at_the_same_time(url, mode):
    async def one():
        async with Client(url, mode=mode) as client:
            failed = await client.call_tool("run_plan", {"plan": KIWI})
            run = failed.structured_content["run"]
            return (await client.call_tool("resume_plan", {"run": run, "plan": STEP_2})).structured_content["value"]

    async def main():
        return await asyncio.gather(*(one() for _ in range(4)))

    assert asyncio.run(main()) == [COUNTS] * 4


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
    ids=str,
)
def test_requests_of_other_sites_are_refused(url, headers):
    assert post(url, PING, headers)[0] == 403


def test_requests_by_the_servers_own_names_are_answered(url):
    port = urlsplit(url).port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}"):
        assert post(url, PING, {"Host": host, "Origin": f"http://{host}"})[0] == 200


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[" * 100_000, b'{"jsonrpc": "2.0"}', b"\xff\x00"])
def test_bodies_that_are_no_message_are_refused_and_the_server_lives_on(url, body):
    status, said = post(url, body, {})
    assert 400 <= status < 500 and "Traceback" not in said
    assert post(url, PING, {})[0] == 200


def test_a_body_that_is_too_large_is_refused(url):
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the server stopped reading
        assert post(url, b"x" * (MAX_MESSAGE_BYTES + 1), {})[0] == 413
    assert post(url, PING, {})[0] == 200


@pytest.mark.parametrize(("more", "status"), [(0, 200), (1, 413)])
def test_a_body_may_hold_ten_thousand_values_and_no_more(url, more, status):
    empty = PING.replace('"capabilities": {}', '"capabilities": {"experimental": {"x": {"y": []}}}')
    count = MAX_MESSAGE_VALUES + more - measure_json(empty.encode())[0]
    body = empty.replace("[]", f"[{', '.join(['0'] * (count + 1))}]")
    assert measure_json(body.encode())[0] == MAX_MESSAGE_VALUES + more
    assert post(url, body, {})[0] == status


def test_odd_clients_are_served(url):
    hello = json.loads(PING)
    hello["params"] |= {"capabilities": {"roots": True}, "clientInfo": None}
    assert "serverInfo" in post(url, json.dumps(hello), {})[1]
    listed = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": []})
    status, said = post(url, listed, {"Mcp-Session-Id": session_of(url), "MCP-Protocol-Version": "2025-11-25"})
    assert status == 200 and "run_plan" in said


def session_of(url):
    address = urlsplit(url)
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", address.port, timeout=30)) as connection:
        connection.request("POST", address.path, PING, given)
        return connection.getresponse().headers["Mcp-Session-Id"]


def test_a_client_that_asks_for_events_again_gets_no_error_of_the_server(url):
    address = urlsplit(url)
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", address.port, timeout=30)) as connection:
        connection.request("POST", address.path, PING, given)
        with connection.getresponse() as answer:
            answer.read()
            given["Mcp-Session-Id"] = answer.getheader("mcp-session-id")
    for number in ("1", ""):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", address.port, timeout=30)) as other:
            other.request("GET", address.path, headers={**given, "Last-Event-ID": number})
            with other.getresponse() as stream:
                assert stream.status in (200, 409)  # one stream of events is open at a time


def test_another_path_is_not_there(url):
    assert post(url.replace("/mcp", "/else"), PING, {})[0] == 404


def test_an_interrupt_ends_the_server_and_all_that_it_started(tmp_path):
    command = [CODEPLAN, "mcp", "--tools", str(tools_file(tmp_path)), "--http", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        while not (line := started.stdout.readline()).startswith("http://"):
            assert line

        async def main():
            async with Client(line.strip()) as client:
                await client.call_tool("run_plan", {"plan": PLAN})
                children = processes_of(started.pid)
                started.send_signal(signal.SIGINT)
                return children

        children = asyncio.run(main())
        _, errors = started.communicate(timeout=60)
    assert started.returncode == 0 and "Traceback" not in errors
    assert children and still_running(children) == []


def test_addresses_are_read():
    assert parse_http_address("8000") == parse_http_address(":8000") == ("127.0.0.1", 8000)
    assert parse_http_address("[::1]:8000") == ("::1", 8000) and parse_http_address("[::1]:8000").name == "[::1]"
    assert parse_http_address("localhost:0").is_loopback and parse_http_address("127.0.0.9:1").is_loopback
    assert not parse_http_address("192.0.2.1:80").is_loopback and not parse_http_address("box.example:80").is_loopback


@pytest.mark.parametrize("text", ["", "x", "host:", "host:x", "host:-1", "host:65536", "0.0.0.0:80", "[::]:80", "http://h:80/x", "a b:80", "host:８０"])  # fmt: skip
def test_other_texts_are_no_address(text):
    with pytest.raises(UsageError):
        parse_http_address(text)


def test_a_session_over_http_hears_of_tools_that_a_server_changes():
    """Those of the newer protocol listen as without a transport (test_with_servers)."""
    schema = {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}
    server = raw(tools=f"lambda _: {{'tools': [{{'name': n, 'inputSchema': {schema}}} for n in OFFERED]}}")
    command = [CODEPLAN, "mcp", "--mcp", command_line(server), "--allow", "*", "--http", "0"]
    plan = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        return agent.change(['new'])\n"

    async def main(url):
        news = asyncio.Event()

        async def on_message(message):
            if isinstance(message, ToolListChangedNotification):
                news.set()

        async with Client(url, mode="legacy", message_handler=on_message) as client:
            await client.list_tools()
            await client.call_tool("run_plan", {"plan": plan})
            async with asyncio.timeout(60):
                await news.wait()
            return (await client.list_tools()).tools[0].description

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as started:
        try:
            assert asyncio.run(main(started.stdout.readline().strip())).endswith("They are: new.")
        finally:
            started.send_signal(signal.SIGTERM)
