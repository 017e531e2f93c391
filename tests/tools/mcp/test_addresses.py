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
        ("/home/ann/.venv/bin/python -m server", "server"),
        ("./weather.py --verbose", "weather"),
        ("npx tool@1.2", "server"),
        ("'/opt/my servers/über-notes' x", "ber_notes"),
        ("docker run -i --rm mcp/puppeteer", "puppeteer"),
        ("https://mcp.notion.com/mcp", "notion"),
        ("http://localhost:8000/mcp", "localhost_8000"),
        ("http://127.0.0.1:8000/mcp", "server"),
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


def test_secrets_of_a_server_are_not_in_its_text():
    address = read_address({"command": "x", "env": {"TOKEN": "hush"}})
    assert "hush" not in repr(address)


def read_address(entry, tmp_path=None):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mcp.json"
        path.write_text(json.dumps({"mcpServers": {"a-b": entry}}))
        return read_config(path)[0]


def test_the_file_gives_commands_and_urls(monkeypatch):
    monkeypatch.setenv("NOTES_KEY", "k1")
    started = read_address({"command": "npx", "args": ["-y", "${ROOT:-/srv}/x"], "env": {"KEY": "${NOTES_KEY}"}})
    assert (started.name, started.command, started.env) == ("a_b", ("npx", "-y", "/srv/x"), {"KEY": "k1"})
    remote = read_address(
        {"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "${NOTES_KEY}"}}
    )
    assert (remote.url, remote.headers) == ("https://x.example/mcp", {"Authorization": "k1"})


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path):
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"a": {"command": "x"}}}), encoding="utf-8-sig")
    assert [a.name for a in read_config(path)] == ["a"]


def test_disabled_servers_are_left_out(tmp_path):
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"a": {"command": "x", "disabled": True}, "b": {"command": "y"}}}))
    assert [a.name for a in read_config(path)] == ["b"]


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
        ('{"mcpServers": {"x": "y"}}', "is not understood"),
        ('{"mcpServers": {"x": {"command": "a", "args": "b"}}}', "is not understood"),
        ('{"mcpServers": {"x": {"url": "ftp://b"}}}', "begins with neither"),
        ('{"mcpServers": {"x": {"url": "http://b", "type": "sse"}}}', "streamable HTTP only"),
        ('{"mcpServers": {"x": {"command": "${NOT_SET_ANYWHERE}"}}}', "NOT_SET_ANYWHERE, which is not set"),
    ],
)
def test_a_file_that_is_not_understood_is_refused_in_a_sentence(tmp_path, content, message):
    path = tmp_path / "mcp.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=message):
        read_config(path)


def test_a_file_that_is_missing_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_config(tmp_path / "mcp.json")


def test_two_servers_of_one_name_are_told_apart():
    assert [a.name for a in with_unique_names([parse_address("x"), parse_address("x"), parse_address("x 1")])] == [
        "x",
        "x_2",
        "x_3",
    ]
