"""Servers that run: their tools, their failures, and that none is left."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mcp_types import ToolAnnotations
from support.mcp_addresses import LIBRARY, raw

from codeplan.errors import AgentError, EnvironmentFailure, UsageError
from codeplan.tools.mcp import McpServers, ServerAddress, parse_address
from codeplan.tools.mcp.servers import read_hints


def opened(*addresses, **options):
    return McpServers(addresses, **{"seconds": 30, "notify": lambda _: None, **options})


def call(servers, tool, **arguments):
    return {t.name: t for t in servers.tools}[tool].call(arguments)


def refused(servers, tool, **arguments):
    with pytest.raises(AgentError) as caught:
        call(servers, tool, **arguments)
    return caught.value.error, str(caught.value)


def one_tool(server_tool, **arguments):
    with opened(raw(server_tool)) as servers:
        return call(servers, server_tool, **arguments)


def fault_of(server_tool, **options):
    with opened(raw(server_tool), **options) as servers:
        return refused(servers, server_tool)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def assert_gone(pids, seconds=15.0):
    until = time.monotonic() + seconds
    while any(map(is_alive, pids)):
        assert time.monotonic() < until, [pid for pid in pids if is_alive(pid)]
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("hints", "said"),
    [
        ({}, ""),
        ({"read_only": True, "destructive": False, "idempotent": True, "open_world": False}, "read-only"),
        ({"read_only": True, "open_world": True}, "read-only, reaches other systems"),
        ({"read_only": False, "destructive": True, "idempotent": False}, "destructive"),
        ({"destructive": False, "idempotent": True}, "not destructive, idempotent"),
    ],
)
def test_a_servers_hints_in_words(hints, said):
    assert read_hints(ToolAnnotations(**{f"{name}_hint": value for name, value in hints.items()})) == said
    assert read_hints(None) == ""


def test_hints_are_shown_with_the_description_and_decide_nothing(library):
    tools = {tool.name: tool for tool in library.tools}
    assert tools["burn"].hint == "destructive, idempotent"
    assert tools["burn"].method.doc == "The server dies.\nThe server says: destructive, idempotent."
    assert (tools["find"].hint, {tool.approval for tool in tools.values()}) == ("", {"ask"})


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    with opened(LIBRARY, folder=tmp_path_factory.mktemp("run")) as servers:
        yield servers


def test_a_servers_tools_have_typed_signatures(library):
    assert {t.name: t.method.signature for t in library.tools} == {
        "find": "(subject: Literal['birds', 'trees'], least: int = 0) -> list[Book]",
        "lend": "(book: Book, to: str | None = None) -> str",
        "cover": "(title: str) -> str",
        "burn": "() -> str",
    }
    assert library.tools[0].types[0].text == "class Book(TypedDict):  # a dict\n    title: str\n    stars: int"
    assert {t.approval for t in library.tools} == {"ask"}


def test_structured_content_is_data_and_text_stays_text(library):
    assert call(library, "find", subject="birds", least=4) == [{"title": "More birds", "stars": 5}]
    assert call(library, "lend", book={"title": "X", "stars": 1}, to=None) == "X goes to you; 1 lent"


def test_a_wrong_argument_does_not_reach_the_server(library):
    kind, message = refused(library, "lend", book={"title": 3, "stars": 1})
    assert (kind, message) == (
        "TypeError",
        "lend was called wrongly: book.title: it must be of the type string (given: 3)",
    )


def test_a_failed_tool_raises_its_words(library):
    kind, message = refused(library, "lend", book={"title": "X", "stars": 1}, to="nobody")
    assert kind == "RuntimeError" and message.startswith("lend failed: ") and "lend" in message


def test_an_image_becomes_a_file_beside_the_trace(library):
    found = call(library, "cover", title="birds")
    path = Path(found["files"][0]["path"])
    assert found == {"text": "", "files": [{"mime_type": "image/png", "bytes": 10, "path": str(path)}]}
    assert (path.parent.name, path.suffix, path.read_bytes()) == ("files", ".png", b"\x89PNG birds")
    assert call(library, "cover", title="birds") == found and len(list(path.parent.iterdir())) == 1


def test_all_kinds_of_content_are_data():
    png, note = {"mime_type": "image/png", "bytes": 2}, {"uri": "note://1", "text": "a note", "mime_type": "text/plain"}
    blob, link = {"uri": "note://2", "mime_type": "", "bytes": 2}, {"uri": "note://3", "name": "third", "mime_type": ""}
    assert one_tool("mixed") == {"text": "see", "files": [png, note, blob, link]}


def test_a_files_name_is_made_here(tmp_path):
    blob = {"name": "blob", "inputSchema": {"type": "object", "properties": {"data": {"type": "string"}}}}
    with opened(raw(tools=json.dumps([blob])), folder=tmp_path / "run") as servers:
        found = call(servers, "blob", data="aGk=")["files"][0]
    assert found["mime_type"] == "../../etc/[31mpasswd"
    assert Path(found["path"]) == tmp_path / "run" / "files" / "8f434346648f6b96.bin"


def test_an_image_that_is_also_structured_content_becomes_a_file(tmp_path):
    image = {"type": "object", "properties": {"type": {"enum": ["image", "audio"]}, "data": {"type": "string"}}}
    text = {"type": "object", "properties": {"type": {"const": "text"}}}
    output = {"properties": {"content": {"type": "array", "items": {"anyOf": [image, text]}}}, "required": ["content"]}
    tools = [{"name": "picture", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", **output}}]
    with opened(raw(tools=f"json.loads({json.dumps(tools)!r})"), folder=tmp_path) as servers:
        assert servers.tools[0].method.signature == "() -> str"
        (file,) = call(servers, "picture")["files"]
    assert Path(file["path"]).read_bytes() == b"hi"


def test_a_failure_without_text_has_the_words_of_its_structured_content():
    assert fault_of("unfit") == ("RuntimeError", 'unfit failed: {"why": "the jar is shut"}')


def test_a_tool_that_takes_no_plain_calls_is_left_out():
    said, tool = [], {"inputSchema": {"type": "object"}}
    tools = [{"name": "study", **tool, "execution": {"taskSupport": "required"}}, {"name": "look", **tool}]
    with opened(raw(tools=repr(tools)), notify=said.append) as servers:
        assert [t.name for t in servers.tools] == ["look"]
    assert len(said) == 1 and "the tool study of the MCP server raw is left out: it can be called only" in said[0]


def test_a_file_that_is_not_encoded_is_an_error():
    assert fault_of("blob") == ("RuntimeError", "blob returned a file that is not encoded in base64")


# ------------------------------------------------------------------ hostile answers


def test_a_result_of_too_many_values_ends_the_connection_before_it_is_parsed():
    assert fault_of("wide") == (
        "ConnectionError",
        "the MCP server raw sent a message of more than 500,000 JSON values during wide; whether it was done is unknown",
    )


def test_a_large_table_and_a_text_full_of_brackets_are_read():
    assert len(one_tool("table")["rows"]) == 240_000
    assert one_tool("commas") == '["' * 600_000


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("endless", "sent a message of more than 16 MiB"),
        ("flood", "sent more than 50,000 messages that nobody asked for"),
    ],
)
def test_a_server_that_floods_is_ended(tool, message):
    assert message in fault_of(tool)[1]


def test_garbage_between_messages_is_ignored():
    assert one_tool("garbage") == "after the garbage"


def test_a_call_that_hangs_is_given_up():
    kind, message = fault_of("silent", seconds=0.5)
    assert (kind, message) == ("TimeoutError", "silent did not answer within 0.5 s; whether it was done is unknown")


def test_words_of_a_failure_are_bounded():
    kind, message = fault_of("refuse")
    assert kind == "RuntimeError" and 2_000 < len(message) < 2_100


def test_an_answer_that_is_none_leaves_the_call_in_doubt():
    for tool in ("nonsense", "chart_alone", "content_null_alone", "empty"):
        said = fault_of(tool)[1]
        assert "answered what the protocol does not allow" in said and "whether it was done is unknown" in said


def test_readable_parts_of_a_broken_answer_are_the_answer():
    assert (one_tool("chart"), one_tool("structured_alone")) == ("12", {"n": 12})


@pytest.mark.parametrize(
    ("tool", "value"),
    [
        ("content_null", {"n": 12}),
        ("content_missing", {"n": 12}),
        ("empty_object", {}),
        ("structured_list", "[1, 2]"),
        ("structured_list_beside_text", "12"),
        ("odd_hint", "12"),
        ("link_without_name", "12"),
        ("nothing", ""),
    ],
)
def test_what_can_be_read_of_an_answer_is_read(tool, value):
    assert one_tool(tool) == value


@pytest.mark.parametrize("forged", [5, ["'good' is dangerous"], None])
def test_a_server_cannot_say_itself_which_tools_are_left_out(forged):
    notes = []
    good = "{'name': 'good', 'inputSchema': {'type': 'object'}}"
    listed = f"lambda _: {{'tools': [{good}], '_meta': {{'codeplan/unusable': {forged!r}}}}}"
    with opened(raw(tools=listed), notify=notes.append) as servers:
        assert ([tool.name for tool in servers.tools], notes) == (["good"], [])


def test_a_broken_schema_of_results_leaves_the_tool():
    odd = "{'name': 'odd', 'inputSchema': {'type': 'object'}, 'outputSchema': {'type': 'array'}}"
    notes = []
    with opened(raw(tools=f"[{odd}]"), notify=notes.append) as servers:
        assert (call(servers, "odd"), notes) == ("{}", [])


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ("{'name': 'odd'}", "inputSchema: Field required"),
        ("{'name': 'odd', 'inputSchema': {}}", "inputSchema.type"),
        (
            "{'name': 'odd', 'inputSchema': {'type': 'object', 'properties': {'required': ['a']}}}",
            "properties.required",
        ),
        ("{'name': 'odd', 'inputSchema': {'anyOf': [{'type': 'object'}]}}", "inputSchema.type: Field required"),
        ("{'name': 'odd', 'inputSchema': 'object'}", "inputSchema"),
        ("{'name': 'odd', 'inputSchema': None}", "inputSchema"),
        ("{'inputSchema': {'type': 'object'}}", "name: Field required"),
        ("5", "valid dictionary"),
    ],
)
def test_a_tool_that_breaks_the_protocol_leaves_the_others(odd, why):
    notes = []
    good = "{'name': 'good', 'inputSchema': {'type': 'object'}}"
    with opened(raw(tools=f"[{odd}, {good}]"), notify=notes.append) as servers:
        assert [tool.name for tool in servers.tools] == ["good"]
    (note,) = notes
    assert note.startswith("a tool of the MCP server raw is left out") and why in note
    assert "'odd'" in note or "'name'" not in odd


def test_a_server_cannot_ask_for_a_model():
    assert one_tool("ask") == '"Sampling not supported"'


def test_a_server_gets_no_keys(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "hush")
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", "/etc/own.pem")
    with opened(raw("environment", MINE="1")) as servers:
        found = json.loads(call(servers, "environment"))
    assert "OPENAI_API_KEY" not in found and found["MINE"] == "1" and "PATH" in found
    assert (
        found["NODE_EXTRA_CA_CERTS"] == "/etc/own.pem"
    )  # a path, without which npx reaches no registry in some networks


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["\x1b[31mread\nfile"], ["tool_31mread_file"]),
        (["class"], ["class_"]),
        (["a.b", "a-b"], ["raw_a_b", "raw_a_b_2"]),
        (["é" * 9], ["tool"]),
    ],
)
def test_names_are_made_fit_and_the_change_is_told(given, names):
    said, tools = [], [{"name": name, "inputSchema": {"type": "object"}} for name in given]
    with opened(raw(tools=repr(tools)), notify=said.append) as servers:
        assert [t.name for t in servers.tools] == names
    assert len(said) == 1 and len(said[0]) < 400 and all(name.removeprefix("tool_") in said[0] for name in names)


def test_a_tool_with_a_huge_schema_is_left_out_and_told():
    said, huge = [], "{'name': 'x', 'inputSchema': {'type': 'object', 'd': 'x' * 10_000_000}}"
    with opened(
        raw(tools=f"[{huge}, {{'name': 'y', 'inputSchema': {{'type': 'object'}}}}]"), notify=said.append
    ) as servers:
        assert [t.name for t in servers.tools] == ["y"]
    assert len(said) == 1 and "is left out" in said[0] and len(said[0]) < 400


def test_tools_of_the_same_name_carry_their_servers_names():
    with opened(raw("read", "mine"), raw("read", name="other"), taken={"mine"}) as servers:
        assert [t.name for t in servers.tools] == ["raw_read", "raw_mine", "other_read"]
        assert call(servers, "other_read") == "{}"


# ------------------------------------------------------------------ servers that do not start


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (parse_address("no-such-program-at-all x"), "there is no program 'no-such-program-at-all'"),
        (
            ServerAddress("s", ("sh", "-c", "echo boom >&2; exit 3")),
            r"s ended with exit code 3 \(its last words: boom\)",
        ),
        (
            ServerAddress("s", ("sh", "-c", "echo no KEY >&2; echo; echo Usage: s >&2; exit 1")),
            r"s ended with exit code 1 \(its last words: no KEY / Usage: s\)",
        ),
        (ServerAddress("s", ("echo", "Usage: s")), r"s ended with exit code 0 \(its last words: Usage: s\)"),
        (ServerAddress("s", ("sh", "-c", "kill -SEGV $$")), "s was ended by SIGSEGV; to see why, run its command"),
        (ServerAddress("s", ("sleep", "0")), "the MCP server s ended"),
        (ServerAddress("s", ("pwd",), cwd="/no/such/folder"), "cannot start"),
        (
            ServerAddress("s", url="http://me:pass@127.0.0.1:9/mcp?key=1"),
            r"the MCP server s cannot be reached at 127\.0\.0\.1:9: [\w ]+; is it running, and is its URL right\?$",
        ),
        (raw(tools="5"), "object is not callable"),
        (raw(tools="lambda m: {'tools': [], 'nextCursor': str(m['id'])}"), "lists its tools in more than 100 parts"),
        (
            raw("echo", INITIALIZE='{"protocolVersion": 5}'),
            r"raw cannot be used: what it sent breaks the protocol at protocolVersion: Input should be a valid string$",
        ),
        (
            raw(
                "echo",
                INITIALIZE='{"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}',
            ),
            "raw cannot be used: Unsupported protocol version",
        ),
        (
            raw(tools="lambda m: {'tools': 5}"),
            r"cannot be used: what it sent breaks the protocol at tools: Input should be a valid list$",
        ),
    ],
)
def test_a_server_that_does_not_start_is_named_in_a_sentence(address, message):
    with pytest.raises(EnvironmentFailure, match=message) as caught, opened(address):
        pass
    assert len(str(caught.value)) < 700 and "\n" not in str(caught.value)


def test_servers_without_tools_are_refused():
    with pytest.raises(UsageError, match="no tool"), opened(raw()):
        pass


def test_if_one_server_does_not_start_the_others_are_ended(tmp_path):
    pids = tmp_path / "pids"
    with pytest.raises(EnvironmentFailure), opened(raw("x", PIDFILE=str(pids)), ServerAddress("s", ("sleep", "0"))):
        pass
    assert_gone(map(int, pids.read_text().split()) if pids.exists() else [])


# ------------------------------------------------------------------ servers that end


def test_a_server_that_dies_in_a_call_is_started_once_more_for_the_next():
    with opened(raw("die", "echo")) as servers:
        kind, message = refused(servers, "die")
        assert kind == "ConnectionError"
        assert message == (
            "the MCP server raw ended with exit code 9 during die "
            "(its last words: Segmentation fault [2J of the library); whether it was done is unknown"
        )
        assert call(servers, "echo") == "{}"
        refused(servers, "die")
        with pytest.raises(
            EnvironmentFailure, match="raw ended with exit code 9 again .*; to see why, run its command in a terminal"
        ):
            call(servers, "echo")


def test_calls_that_find_a_server_killed_at_the_same_time_start_it_once(tmp_path):
    pids = tmp_path / "pids"
    with opened(raw("read", PIDFILE=str(pids)), restarts=1) as servers, ThreadPoolExecutor(4) as threads:
        os.kill(int(pids.read_text().split()[0]), signal.SIGKILL)
        time.sleep(0.5)

        def read(_):
            servers.tools[0].prepare()
            return call(servers, "read")

        assert list(threads.map(read, range(4))) == ["{}"] * 4
    assert len(pids.read_text().splitlines()) == 2


@pytest.mark.parametrize("env", [{}, {"STUBBORN": "1"}])
def test_no_process_is_left(tmp_path, env):
    pids = tmp_path / "pids"
    with pytest.raises(ZeroDivisionError), opened(raw("echo", PIDFILE=str(pids), **env)):
        raise ZeroDivisionError
    found = [int(pid) for pid in pids.read_text().split()]
    assert len(found) == 2
    assert_gone(found)


PROGRAM = """
import sys, time
from codeplan.tools.mcp import McpServers, ServerAddress
with McpServers([ServerAddress("raw", tuple(sys.argv[2:]), env={"PIDFILE": sys.argv[1], "STUBBORN": "1"})], seconds=60) as s:
    print("open", flush=True)
    s.tools[0].call({})
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_survives_this_one(tmp_path, number):
    pids = tmp_path / "pids"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(pids), *raw("silent").command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout.readline() == b"open\n"
        time.sleep(0.5)
        process.send_signal(number)
        process.communicate(timeout=60)
    found = [int(pid) for pid in pids.read_text().split()]
    assert len(found) == 2
    assert_gone(found)


# ------------------------------------------------------------------ streamable HTTP


@pytest.fixture
def website(unused_port):
    with subprocess.Popen([*LIBRARY.command, str(unused_port)], stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(unused_port)
            yield ServerAddress("library", url=f"http://127.0.0.1:{unused_port}/mcp"), process
        finally:
            process.kill()


@pytest.fixture
def unused_port():
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(port):
    import socket

    until = time.monotonic() + 60
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the server does not start")


def test_a_server_at_a_url(website):
    address, process = website
    with opened(address) as servers:
        assert call(servers, "find", subject="birds", least=4) == [{"title": "More birds", "stars": 5}]
        kind, message = refused(servers, "burn")
        assert kind == "ConnectionError" and "ended during burn" in message
        process.wait()
        with pytest.raises(EnvironmentFailure, match="the MCP server library"):
            call(servers, "find", subject="birds")


def test_an_official_server_with_the_old_transport(tmp_path, unused_port):
    program = tmp_path / "old.py"
    program.write_text(
        "from mcp.server.mcpserver import MCPServer\n"
        "server = MCPServer('old', log_level='ERROR')\n"
        "@server.tool()\n"
        "def add(a: int, b: int) -> int:\n"
        "    return a + b\n"
        f"server.run('sse', port={unused_port})\n"
    )
    with subprocess.Popen([sys.executable, str(program)], stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(unused_port)
            with opened(ServerAddress("old", url=f"http://127.0.0.1:{unused_port}/sse")) as servers:
                assert call(servers, "add", a=1, b=2) == 3
        finally:
            process.kill()


def test_a_server_that_asks_the_user_gets_no_input(tmp_path):
    program = tmp_path / "asking.py"
    program.write_text(
        "from mcp.server.mcpserver import MCPServer\n"
        "from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult\n"
        "server = MCPServer('asking', log_level='ERROR')\n"
        "SCHEMA = {'type': 'object', 'properties': {'day': {'type': 'string'}}}\n"
        "@server.tool()\n"
        "def book() -> InputRequiredResult:\n"
        "    form = ElicitRequestFormParams(message='Which day?', requested_schema=SCHEMA)\n"
        "    return InputRequiredResult(input_requests={'day': ElicitRequest(params=form)})\n"
        "server.run('stdio')\n"
    )
    with opened(ServerAddress("asking", (sys.executable, str(program)))) as servers:
        assert refused(servers, "book") == (
            "RuntimeError", "book asks for input before it goes on, and codeplan gives servers none"
        )  # fmt: skip
