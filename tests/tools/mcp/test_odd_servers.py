"""What servers and configuration files in the wild do, against the protocol's letter or at its edges."""

import base64
import json

import pytest
from support.mcp_addresses import raw
from support.mcp_site import Site, site, text

from codeplan.errors import AgentError, EnvironmentFailure, UsageError
from codeplan.tools.failures import DoubtfulCall
from codeplan.tools.mcp import McpServers, ServerAddress, read_config

# ------------------------------------------------------------------ answers over HTTP


def value_of(call, kind=Site):
    with site(call, kind) as (_, address), McpServers([address], seconds=10, notify=lambda _: None) as servers:
        return servers.tools[0].call({})


def events(*lines):
    return lambda handler, number: handler.send(
        200, "\n".join(lines).replace("ID", str(number)).encode(), **{"content-type": "text/event-stream"}
    )


ANSWER = json.dumps({"jsonrpc": "2.0", "id": "ID", "result": text("hi")}).replace('"ID"', "ID")


@pytest.mark.parametrize(
    "call",
    [
        events(f"data: {ANSWER}", "", ""),  # no name of the event
        events(f"data:{ANSWER}", "", ""),  # no space
        events("event: message", *(f"data: {line}" for line in ANSWER.replace(", ", ",\n").splitlines()), "", ""),
        events(": ping", "", "retry: 5", "id: 7", f"data: {ANSWER}", "", ""),
        events("\ufeffevent: message", f"data: {ANSWER}", "", ""),
        events("event: ping", "data: 5", "", "event: message", f"data: {ANSWER}", "", ""),
        events('data: {"jsonrpc": "2.0", "id": 1, "method": "ping"}', "", f"data: {ANSWER}", "", ""),
        lambda h, n: h.send(
            200, ANSWER.replace("ID", str(n)).encode(), **{"content-type": "Application/JSON;charset=x"}
        ),
        lambda h, n: h.send(200, ANSWER.replace("ID", f'"{n}"').encode()),  # the id as a text
    ],
)
def test_an_answer_arrives_however_it_is_written(call):
    assert value_of(call) == "hi"


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\x1c", "\x0b"])
def test_a_text_with_unusual_line_ends_arrives_in_a_stream(separator):
    said = f"one{separator}two"
    answer = json.dumps({"jsonrpc": "2.0", "id": 0, "result": text(said)}, ensure_ascii=False).replace(
        '"id": 0', '"id": ID'
    )
    assert value_of(events(f"data: {answer}", "", "")) == said


def test_a_stream_that_stays_open_after_the_answer_does_not_hold_the_call():
    def call(handler, number):
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        handler.close_connection = True
        handler.wfile.write(f"data: {ANSWER.replace('ID', str(number))}\n\n".encode())
        handler.rfile.read(1)  # until the client goes

    assert value_of(call) == "hi"


@pytest.mark.parametrize(("status", "body"), [(200, b""), (200, b"{}"), (204, b""), (500, b"no"), (404, b"")])
def test_what_a_site_says_to_a_notification_does_not_matter(status, body):
    class Talkative(Site):
        def send(self, code, content, **headers):
            super().send(status if code == 202 else code, body if code == 202 else content, **headers)

    assert value_of(lambda h, n: h.answer(n, text("hi")), Talkative) == "hi"


@pytest.mark.parametrize("kind", ["", "text/plain", "application/octet-stream"])
def test_an_answer_of_no_type_is_in_doubt_by_name(kind):
    with pytest.raises(DoubtfulCall) as caught:
        value_of(lambda h, n: h.send(200, ANSWER.replace("ID", str(n)).encode(), **{"content-type": kind}))
    assert (kind or "without a type") in str(caught.value)


@pytest.mark.parametrize(
    "error", [{"code": "E1", "message": "no"}, {"message": "no"}, {"code": 1}, {"code": 1, "message": None}, "no", None]
)
def test_an_error_that_breaks_the_protocol_is_in_doubt_at_once(error):
    with pytest.raises(DoubtfulCall):
        value_of(lambda h, n: h.send(200, json.dumps({"jsonrpc": "2.0", "id": n, "error": error}).encode()))


def test_an_error_tells_what_its_data_say():
    def call(handler, number):
        error = {"code": -32_603, "message": "Internal error", "data": {"detail": "database is locked"}}
        handler.send(200, json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode())

    with pytest.raises(AgentError, match=r'^look failed: Internal error: \{"detail": "database is locked"\}$'):
        value_of(call)


@pytest.mark.parametrize(
    "part", [{"type": "text", "text": 12}, {"type": "text", "text": [1]}, {"type": "text", "text": "12"}]
)
def test_a_text_is_read_whatever_it_is_written_as(part):
    told = part["text"] if isinstance(part["text"], str) else json.dumps(part["text"])
    assert value_of(lambda h, n: h.answer(n, {"content": [part], "isError": None})) == told


@pytest.mark.parametrize(
    ("content", "value"),
    [("hi", "hi"), (["hi"], "hi"), ({"type": "text", "text": "hi"}, "hi"), ({"pears": 12}, {"pears": 12})],
)
def test_content_without_its_part_or_list_is_an_answer(content, value):
    assert value_of(lambda h, n: h.answer(n, {"content": content})) == value


# ------------------------------------------------------------------ lists of tools


def opened(listed, **options):
    notes = []
    with McpServers([raw(tools=listed)], seconds=20, notify=notes.append, **options) as servers:
        return [tool.name for tool in servers.tools], notes


GOOD = "{'name': 'good', 'inputSchema': {'type': 'object'}}"


@pytest.mark.parametrize("cursor", ["5", "{'page': 2}", "True"])
def test_a_cursor_that_is_no_text_ends_the_list_with_a_note(cursor):
    names, notes = opened(f"lambda _: {{'tools': [{GOOD}], 'nextCursor': {cursor}}}")
    assert names == ["good"] and len(notes) == 1 and "nextCursor" in notes[0]


ODD_FIELDS = {
    "a title that is a number": "{'annotations': {'title': 3, 'readOnlyHint': 'true'}, 'inputSchema': {'type': 'object'}}",
    "several at once": "{'title': 5, 'icons': 'x', 'description': [], '_meta': 7, 'inputSchema': {'type': 'object'}}",
    "no type": "{'inputSchema': {'properties': {'a': {'type': 'string'}}}}",
    "two types": "{'inputSchema': {'type': ['object', 'null'], 'properties': {'a': {'type': 'string'}}}}",
}


@pytest.mark.parametrize("name", ODD_FIELDS)
def test_a_tool_is_there_without_the_fields_that_break_the_protocol(name):
    assert opened(f"[{{'name': 'good', **{ODD_FIELDS[name]}}}]") == (["good"], [])


def test_a_tool_that_is_listed_twice_keeps_its_name():
    assert opened(f"[{GOOD}, {GOOD}]") == (["good"], [])


@pytest.mark.parametrize(
    "info",
    [
        '"serverInfo": {"name": "x"}',
        '"serverInfo": null',
        '"serverInfo": {"name": "x", "version": 1, "title": 2}',
        '"capabilities": null',
        '"capabilities": {"tools": [{"name": "echo"}]}',
        '"capabilities": {"tools": true, "logging": true, "tasks": {"list": true, "cancel": true}}',
        '"instructions": ["one", "two"]',
    ],
)
def test_a_server_need_not_say_who_it_is(info):
    address = raw("echo", INITIALIZE=f'{{"protocolVersion": "2025-06-18", {info}}}')
    with McpServers([address], seconds=20) as servers:
        assert [tool.name for tool in servers.tools] == ["echo"]


@pytest.mark.parametrize("answer", ["{'tools': []}", "{'tools': None}"])
def test_a_server_without_tools_leaves_the_others(answer):
    notes = []
    servers = [raw(tools=f"lambda _: {answer}", name="bare"), raw("echo")]
    with McpServers(servers, seconds=20, notify=notes.append) as opened:
        assert [tool.name for tool in opened.tools] == ["echo"]
    assert notes == ["the MCP server bare offers no tools"]


def test_a_server_that_knows_no_tools_leaves_the_others():
    class Prompts(Site):
        def answer(self, number, result, **headers):
            if "tools" not in result:
                return super().answer(number, result, **headers)
            error = {"code": -32_601, "message": "Method not found"}
            return self.send(200, json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode())

    with site(None, Prompts) as (_, address), McpServers([address, raw("echo")], seconds=20) as servers:
        assert [tool.name for tool in servers.tools] == ["echo"]


@pytest.mark.parametrize("name", ["a.b/c", "Ünïcode", "x" * 200, "", " ", "名前", "class", "__init__", "1st", "a\nb"])
def test_any_name_of_a_tool_can_be_called(name):
    listed = f"[{{'name': {name!r}, 'inputSchema': {{'type': 'object'}}}}]"
    with McpServers([raw(tools=listed)], seconds=20, notify=lambda _: None) as servers:
        (tool,) = servers.tools
        assert tool.name.isidentifier() and tool.call({}) == "{}"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": True}},
        {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "additionalProperties": False},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": {"enum": ["x"]}}},
        {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
        {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}}},
        {"type": "object", "properties": {"a": {"type": "str"}}},
        {"type": "object", "properties": {"a": {"const": "x"}}, "$schema": "http://json-schema.org/draft-07/schema#"},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?<n>[", "format": "uri-x"}}},
        {"type": "object", "properties": {"a": {}, "b-c": {}, "self": {}, "class": {}, "": {}}},
        {"type": "object", "properties": None, "required": None},
        {"type": "object", "properties": []},
    ],
)
def test_a_schema_of_the_wild_takes_a_call(schema):
    with McpServers([raw(tools=f"[{{'name': 't', 'inputSchema': {schema!r}}}]")], seconds=20) as servers:
        assert json.loads(servers.tools[0].call({"a": "x"} if schema["properties"] else {})) in ({"a": "x"}, {})


# ------------------------------------------------------------------ files


@pytest.mark.parametrize(
    "data",
    [
        base64.encodebytes(b"x" * 100).decode(),  # in lines
        "data:image/png;base64," + base64.b64encode(b"x" * 100).decode(),
        base64.b64encode(b"x" * 100).decode().rstrip("="),
        base64.urlsafe_b64encode(b"\xff" * 100).decode(),
    ],
)
def test_an_image_is_read_as_servers_encode_it(data, tmp_path):
    schema = {"type": "object", "properties": {"data": {"type": "string"}}}
    listed = json.dumps([{"name": "blob", "inputSchema": schema}])
    with McpServers([raw(tools=listed)], seconds=20, folder=tmp_path) as servers:
        (file,) = servers.tools[0].call({"data": data})["files"]
        assert file["bytes"] == 100


# ------------------------------------------------------------------ configuration


def config(tmp_path, content):
    path = tmp_path / "mcp.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_config(path)


@pytest.mark.parametrize(
    "entry",
    [
        {"serverUrl": "https://a.example/mcp"},  # Windsurf
        {"httpUrl": "https://a.example/mcp"},  # Gemini
        {"url": "https://a.example/mcp", "type": "streamable-http", "autoApprove": ["*"], "timeout": 5},
        {"url": "https://a.example/mcp", "transport": "http"},
        {"url": " https://a.example/mcp\n"},
        {"url": "HTTPS://a.example/mcp"},
    ],
)
def test_editors_write_the_address_of_a_site_in_many_ways(tmp_path, entry):
    (address,) = config(tmp_path, {"mcpServers": {"a": entry}})
    assert address.url.lower() == "https://a.example/mcp"


@pytest.mark.parametrize(
    "form",
    [
        lambda servers: {"mcp": {"servers": servers}},  # VS Code's settings
        lambda servers: {"mcpServers": servers | {"off": {"url": "https://b", "enabled": False}}},
        lambda servers: b"\xef\xbb\xbf" + json.dumps({"mcpServers": servers}).encode(),
        lambda servers: {"inputs": [], "servers": servers, "mcpServers": {}},
    ],
)
def test_editors_keep_their_servers_in_many_places(tmp_path, form):
    assert [address.name for address in config(tmp_path, form({"a": {"command": "x"}}))] == ["a"]


@pytest.mark.parametrize("text", ["${workspaceFolder:app}/x", "a${/}b", "${localEnv:HOME}", "${workspaceFolder}"])
def test_an_editors_own_variable_is_refused_and_not_passed_on(tmp_path, text):
    with pytest.raises(UsageError, match="the server 'a'"):
        config(tmp_path, {"mcpServers": {"a": {"command": "x", "args": [text]}}})


def test_a_whole_command_line_in_command_is_told_how_to_write_it():
    with pytest.raises(EnvironmentFailure, match="there is no program 'npx -y server'.*args"):
        McpServers([ServerAddress("a", ("npx -y server",))]).__enter__()


@pytest.mark.parametrize("value", ["Bearer sesame\n", " Bearer sesame"])
def test_blanks_around_a_header_are_taken_off(value):
    assert ServerAddress("a", url="http://a", headers={"X": value}).headers == {"X": "Bearer sesame"}


@pytest.mark.parametrize(
    "headers", [{"X-Key": "ses\name"}, {"X-Key": "sesäme"}, {"X-Key": "ses\0me"}, {"X Key": "sesame"}]
)
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(tmp_path, headers):
    with pytest.raises(UsageError) as caught:
        config(tmp_path, {"mcpServers": {"a": {"url": "http://a", "headers": headers}}})
    assert next(iter(headers)) in str(caught.value) and "ses" not in str(caught.value)


def test_a_plain_error_of_a_tool_with_an_image_alone_says_something():
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    with pytest.raises(AgentError, match="look failed: it does not say why"):
        value_of(lambda h, n: h.answer(n, {"content": [image], "isError": True}))
