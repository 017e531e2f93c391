"""Clients' own files: what is added, what stays, and which files are left alone."""

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from codeplan.cli import main
from codeplan.errors import UsageError
from codeplan.mcp_server.clients import CLIENTS, InstalledServer, find_client, plan_change

SERVER = InstalledServer("codeplan", "/bin/codeplan", ("mcp", "--tools", "/t/ö.py"))
DATA = {"command": "/bin/codeplan", "args": ["mcp", "--tools", "/t/ö.py"]}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    return folder


def cursor_file(home, text):
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(("name", "client"), CLIENTS.items())
@pytest.mark.parametrize("in_project", [False, True])
def test_each_client_gets_its_own_shape_in_its_own_file(name, client, in_project, home):
    if in_project and not client.project:
        with pytest.raises(UsageError, match="leave --project out"):
            plan_change(client, SERVER, in_project)
        return
    change = plan_change(find_client(name), SERVER, in_project)
    change.write()
    assert change.path.is_relative_to(home) and not change.replaces
    assert json.loads(change.path.read_text()) == {client.key: {"codeplan": {**client.more, **DATA}}}
    assert json.loads(change.entry) == json.loads(change.path.read_text())
    again = plan_change(client, SERVER, in_project)
    assert not again.is_needed and again.after == change.path.read_text()


OTHER = {"command": "x", "args": []}
KEPT = {
    "two spaces": '{\n  "mcpServers": {\n    "other": {"command": "x", "args": []}\n  },\n  "n": 1.10\n}\n',
    "four spaces": '{\n    "mcpServers": {\n        "other": {"command": "x", "args": []}\n    }\n}',
    "tabs": '{\n\t"mcpServers": {\n\t\t"other": {\n\t\t\t"command": "x", "args": []\n\t\t}\n\t}\n}\n',
    "one line": '{"mcpServers":{"other":{"command":"x","args":[]}},"big":1e400}',
    "CRLF": '{\r\n  "mcpServers": {\r\n    "other": {"command": "x", "args": []}\r\n  }\r\n}\r\n',
    "a byte order mark": '\ufeff{"mcpServers": {"other": {"command": "x", "args": []}}}',
    "escapes and braces in texts": '{"a": "}{ // \\" /*", "mcpServers": {"other": {"command": "x", "args": []}}, "ü": "\\ud800"}',
    "a key twice": '{"mcpServers": {}, "mcpServers": {"other": {"command": "x", "args": []}}}',
    "the key within another": '{"x": {"mcpServers": 1}, "mcpServers": {"other": {"command": "x", "args": []}}}',
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_all_other_text_stays_as_it_is(text, home):
    path = cursor_file(home, text)
    plan_change(find_client("cursor"), SERVER).write()
    written = path.read_bytes().decode()
    assert json.loads(written.removeprefix("\ufeff"))["mcpServers"] == {"other": OTHER, "codeplan": DATA}
    at = next((n for n, (old, new) in enumerate(zip(text, written, strict=False)) if old != new), len(text))
    assert written.endswith(text[at:]), "only something in between is new"
    assert ("\n" in written.replace("\r\n", "")) == ("\r\n" not in text)


@pytest.mark.parametrize("text", ["", " \n", "{}", "{\n}\n", '{"mcpServers": {}}', '{"mcpServers": {\n  }}'])
def test_an_empty_file_gets_the_first_server(text, home):
    path = cursor_file(home, text)
    plan_change(find_client("cursor"), SERVER).write()
    assert json.loads(path.read_text()) == {"mcpServers": {"codeplan": DATA}}


def test_another_server_of_the_name_is_replaced_at_its_place(home):
    path = cursor_file(home, '{"mcpServers": {"a": 1, "codeplan": {"command": "old"}, "b": 2}}')
    change = plan_change(find_client("cursor"), SERVER)
    change.write()
    assert change.replaces
    assert list(json.loads(path.read_text())["mcpServers"].items()) == [("a", 1), ("codeplan", DATA), ("b", 2)]


REFUSED = {
    "line comments": ('// mine\n{"mcpServers": {}}', "comments"),
    "block comments": ('{"mcpServers": {/* none */}}', "comments"),
    "a trailing comma": ('{"mcpServers": {},}', "line 1"),
    "a list": ("[]", "object"),
    "servers in a list": ('{"mcpServers": []}', "mcpServers is not an object"),
    "servers null": ('{"mcpServers": null}', "mcpServers is not an object"),
    "half a file": ('{"mcpServers": {', "line 1"),
    "nested too deep": ("[" * 3000, "nested deeper"),
}


@pytest.mark.parametrize(("text", "said"), REFUSED.values(), ids=REFUSED)
def test_other_files_are_refused_with_what_to_add(text, said, home):
    path = cursor_file(home, text)
    with pytest.raises(UsageError, match=said) as refused:
        plan_change(find_client("cursor"), SERVER)
    assert '"/bin/codeplan"' in str(refused.value) and path.read_text() == text


def test_a_file_that_is_not_utf_8_is_refused(home):
    cursor_file(home, "{}").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(UsageError, match="UTF-8"):
        plan_change(find_client("cursor"), SERVER)


def test_a_file_that_changes_meanwhile_is_not_overwritten(home):
    path = cursor_file(home, "{}")
    change = plan_change(find_client("cursor"), SERVER)
    path.write_text('{"new": 1}')
    with pytest.raises(UsageError, match="changed meanwhile"):
        change.write()
    assert path.read_text() == '{"new": 1}'


def test_a_link_stays_a_link_and_a_private_file_private(home):
    (home / "dotfiles.json").write_text("{}")
    (home / "dotfiles.json").chmod(0o600)
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").symlink_to(home / "dotfiles.json")
    plan_change(find_client("cursor"), SERVER).write()
    assert (home / ".cursor" / "mcp.json").is_symlink()
    assert (home / "dotfiles.json").stat().st_mode & 0o777 == 0o600
    assert "codeplan" in (home / "dotfiles.json").read_text()


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 61, "é"])
def test_names_that_a_client_may_refuse_are_refused(name):
    with pytest.raises(UsageError, match="--name takes"):
        plan_change(find_client("cursor"), InstalledServer(name, "x", ()))


TOOLS = 'def twice(x: int) -> int:\n    """Twice the number."""\n    return 2 * x\n'


def test_the_command_writes_its_own_options_with_whole_paths(home, capsys):
    Path("tools.py").write_text(TOOLS)
    command = ["mcp", "install", "--client", "vscode", "--project", "--name", "my-tools", "--yes"]
    options = ["--tools", "tools.py:twice", "--allow", "list_*", "--allow", "get", "--runs", "runs", "--at-once", "2"]
    assert main([*command, *options, "--allow-weak-sandbox"]) == 0
    written = json.loads((home / ".vscode" / "mcp.json").read_text())["servers"]["my-tools"]
    whole = ["--tools", f"{home}/tools.py:twice", "--allow", "list_*", "--allow", "get", "--runs", f"{home}/runs"]
    assert sorted(written["args"][-11:]) == sorted([*whole, "--at-once", "2", "--allow-weak-sandbox"])
    assert Path(written["command"]).is_absolute() and written["type"] == "stdio"
    shown = capsys.readouterr().out
    assert str(home / ".vscode" / "mcp.json") in shown and '"my-tools"' in shown


def test_nothing_is_written_where_nobody_can_be_asked(home, capsys):
    Path("tools.py").write_text(TOOLS)
    assert main(["mcp", "install", "--client", "cursor", "--tools", "tools.py"]) == 2
    assert "--yes" in capsys.readouterr().err and not (home / ".cursor").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["install", "--client", "emacs", "--tools", "tools.py"], "claude, claude-code, cursor, vscode"),
        (["install", "--tools", "tools.py"], "--client"),
        (["install", "--client", "cursor"], "there are no tools"),
        (["install", "--client", "cursor", "--tools", "missing.py"], "missing.py"),
        (["install", "--client", "cursor", "--tools", "tools.py", "--http", "8000"], "leave --http out"),
        (["--tools", "tools.py", "--client", "cursor"], "codeplan mcp install"),
    ],
)
def test_wrong_commands_are_refused_in_a_sentence(arguments, said, capsys):
    Path("tools.py").write_text(TOOLS)
    assert main(["mcp", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="the paths of other systems")
def test_the_users_files_stand_where_the_clients_look(home):
    where = {name: str(c.path(False).relative_to(home)) for name, c in CLIENTS.items()}
    assert where == {
        "claude": ".config/Claude/claude_desktop_config.json",
        "claude-code": ".mcp.json",
        "cursor": ".cursor/mcp.json",
        "vscode": ".config/Code/User/mcp.json",
        "windsurf": ".codeium/windsurf/mcp_config.json",
        "zed": ".config/zed/settings.json",
        "gemini": ".gemini/settings.json",
    }


@pytest.mark.parametrize(("typed", "code"), [("y", 0), ("", 1), ("no", 1)])
def test_somebody_at_a_terminal_is_asked_after_seeing_it(home, typed, code):
    Path("tools.py").write_text(TOOLS)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "codeplan", "mcp", "install", "--client", "cursor", "--tools", "tools.py"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        while b"[y/N]" not in seen:
            seen += os.read(ours, 4096)
        os.write(ours, f"{typed}\n".encode())
        with contextlib.suppress(OSError):  # the terminal ends with the program
            while part := os.read(ours, 4096):
                seen += part
        assert process.wait(60) == code
    os.close(ours)
    assert seen.index(b"tools.py") < seen.index(b"[y/N]")
    assert (home / ".cursor" / "mcp.json").exists() == (code == 0)
