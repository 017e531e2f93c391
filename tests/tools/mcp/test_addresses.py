"""Where servers are: commands, URLs, and the usual configuration file."""

import json

import pytest

from codeplan.errors import UsageError
from codeplan.tools.mcp import parse_address, read_config
from codeplan.tools.mcp.addresses import with_unique_names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem /tmp", "filesystem"),
        ("uvx mcp-server-git --repository .", "git"),
        ("python -m mcp_server_time", "time"),
        ("node dist/index.js", "server"),
        ("node /srv/node_modules/@modelcontextprotocol/server-everything/dist/index.js", "everything"),
        ("/home/ann/.venv/bin/python /opt/notes/server.py /home/ann/docs", "notes"),
        ("./weather.py --verbose", "weather"),
        ("'/opt/my servers/über-notes' x", "ber_notes"),
        ("docker run -i --rm mcp/puppeteer", "puppeteer"),
        ("https://mcp.notion.com/mcp", "notion"),
        ("http://localhost:8000/mcp", "localhost_8000"),
        ("https://[::1]:9/x", "server"),
    ],
)
def test_a_server_gets_a_name_from_its_words(text, name):
    assert parse_address(text).name == name


def test_a_command_is_split_as_a_shell_does():
    assert parse_address("prog 'two words' \"x\"").command == ("prog", "two words", "x")


@pytest.mark.parametrize(
    "text", ["", "  ", "'unclosed", "http://", "https://user:secret@/x", "http://[::1/", "ws://u:secret@h"]
)
def test_what_is_neither_a_command_nor_a_url_is_refused_without_secrets(text):
    with pytest.raises(UsageError) as caught:
        parse_address(text)
    assert "secret" not in str(caught.value) and len(str(caught.value)) < 200


@pytest.fixture
def read(tmp_path):
    """Reads a file with these servers, by name."""

    def read_servers(servers, encoding="utf-8"):
        path = tmp_path / "mcp.json"
        path.write_text(json.dumps({"mcpServers": servers}), encoding=encoding)
        return read_config(path)

    return read_servers


def test_secrets_of_a_server_are_not_in_its_text(read):
    assert "hush" not in repr(read({"a-b": {"command": "x", "env": {"TOKEN": "hush"}}}))


def test_the_file_gives_commands_and_urls(read, monkeypatch):
    monkeypatch.setenv("NOTES_KEY", "k1")
    command = {"command": "npx", "args": ["-y", "${ROOT:-/srv}/x"], "env": {"KEY": "${NOTES_KEY}"}}
    url = {"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "${NOTES_KEY}"}}
    started, remote = read({"a-b": command, "c": url})
    assert (started.name, started.command, started.env) == ("a_b", ("npx", "-y", "/srv/x"), {"KEY": "k1"})
    assert (remote.url, remote.headers) == ("https://x.example/mcp", {"Authorization": "k1"})


def test_disabled_servers_and_a_byte_order_mark_are_left_out(read):
    servers = {"a": {"command": "x", "disabled": True}, "b": {"command": "y"}}
    assert [a.name for a in read(servers, "utf-8-sig")] == ["b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "names no server"),
        ('{"mcpServers": {}}', "names no server"),
        ('{"mcpServers": {"x": {}}}', "needs either a command or a url"),
        ('{"mcpServers": {"x": {"command": "a", "url": "http://b"}}}', "needs either a command or a url"),
        ('{"mcpServers": {"x": {"command": 5}}}', "is not understood"),
        ('{"mcpServers": {"x": {"command": "a", "args": "b"}}}', "is not understood"),
        ('{"mcpServers": {"x": {"url": "ftp://b"}}}', "begins with neither"),
        ('{"mcpServers": {"x": {"url": "http://b", "type": "websocket"}}}', "for a url it is http or sse"),
        ('{"mcpServers": {"x": {"command": "${NOT_SET_ANYWHERE}"}}}', "NOT_SET_ANYWHERE, which is not set"),
    ],
)
def test_a_file_that_is_not_understood_is_refused_in_a_sentence(tmp_path, content, message):
    path = tmp_path / "mcp.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=message):
        read_config(path)


def test_two_servers_of_one_name_are_told_apart():
    assert [a.name for a in with_unique_names([parse_address("x"), parse_address("x"), parse_address("x 1")])] == [
        "x",
        "x_2",
        "x_3",
    ]


EDITORS = """{
  // the servers of this folder
  "servers": {
    "one": {"command": "x", "args": ["https://a/*b*/", "//c",], /* no comment: "y" */ },
  },
}"""


def test_editors_files_have_comments_and_a_key_of_their_own(tmp_path):
    path = tmp_path / "mcp.json"
    path.write_text(EDITORS)
    (server,) = read_config(path)
    assert (server.name, server.command) == ("one", ("x", "https://a/*b*/", "//c"))


@pytest.mark.parametrize(
    "text", ['{"servers": {"a": {"command": "x" "y"}}} // z', '{"servers": /* ', '{"servers": "//', "//"]
)
def test_what_is_no_json_without_its_comments_is_refused(tmp_path, text):
    path = tmp_path / "mcp.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="is no JSON"):
        read_config(path)


def test_variables_have_two_spellings_and_what_an_editor_asks_for_is_refused(read, monkeypatch):
    monkeypatch.setenv("TOKEN", "t")
    (server,) = read({"a": {"command": "x", "env": {"A": "${TOKEN}", "B": "${env:TOKEN}", "C": "${env:NONE:-c}"}}})
    assert server.env == {"A": "t", "B": "t", "C": "c"}
    with pytest.raises(UsageError, match=r"which only an editor can fill in; put \$\{env:NAME\} in its place"):
        read({"a": {"command": "x", "args": ["${input:key}"]}})
