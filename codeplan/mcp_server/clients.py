"""The configuration files of MCP clients: where each client reads its servers, and how one is added to them.

A file is changed at one place only; all of its other text stays as it is. The places are those that the clients'
documentation names: Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Zed and Gemini CLI.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from json import JSONDecoder
from pathlib import Path
from typing import Any, Final, NamedTuple

from codeplan.errors import UsageError
from codeplan.types import Value
from codeplan.untrusted import files
from codeplan.untrusted.json_values import TOO_DEEP, is_too_deep
from codeplan.untrusted.values import in_quotes

MAX_CONFIG_BYTES: Final = 4 << 20
"""Maximum size of a client's file, in bytes."""

MAX_NAME_CHARS: Final = 60
"""Maximum length of a server's name, in characters."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class McpClient(NamedTuple):
    """A program that starts MCP servers.

    ``key`` is the name of the object of servers in its files, and ``more`` is what a server's entry has besides the
    command. ``user`` is the user's file, below the home folder or, on a Mac, ``mac``; ``project`` is that of a folder.
    Both are empty if there is none.
    """

    title: str
    key: str = "mcpServers"
    user: str = ""
    mac: str = ""
    project: str = ""
    more: Mapping[str, str] = {}

    def path(self, in_project: bool) -> Path:
        """The client's file. Raises: UsageError: it has none for a project, or none for the user."""
        if in_project or not self.user:
            if not self.project:
                raise UsageError(f"{self.title} has no file for one folder; leave --project out")
            return Path.cwd() / self.project
        return Path.home() / (self.mac if self.mac and sys.platform == "darwin" else self.user)


_MAC: Final = "Library/Application Support"

CLIENTS: Final[Mapping[str, McpClient]] = {
    "claude": McpClient(
        "Claude Desktop",
        user=".config/Claude/claude_desktop_config.json",
        mac=f"{_MAC}/Claude/claude_desktop_config.json",
    ),
    "claude-code": McpClient("Claude Code", project=".mcp.json"),
    "cursor": McpClient("Cursor", user=".cursor/mcp.json", project=".cursor/mcp.json"),
    "vscode": McpClient(
        "VS Code",
        "servers",
        ".config/Code/User/mcp.json",
        f"{_MAC}/Code/User/mcp.json",
        ".vscode/mcp.json",
        {"type": "stdio"},
    ),
    "windsurf": McpClient("Windsurf", user=".codeium/windsurf/mcp_config.json"),
    "zed": McpClient("Zed", "context_servers", ".config/zed/settings.json", project=".zed/settings.json"),
    "gemini": McpClient("Gemini CLI", user=".gemini/settings.json", project=".gemini/settings.json"),
}
"""The clients by the names that ``--client`` takes."""


def find_client(name: str) -> McpClient:
    """The client of this name. Raises: UsageError: none has it."""
    client = CLIENTS.get(name)
    if client is None:
        known = ", ".join(CLIENTS)
        raise UsageError(f"there is no client {in_quotes(name, 60)}; --client takes {known}")
    return client


class InstalledServer(Value, frozen=True):
    """A server as clients start it: its name, and its command with arguments."""

    name: str
    command: str
    args: tuple[str, ...]

    def require_name(self) -> None:
        """Raises: UsageError: the name is one that a client may refuse."""
        if not _NAME.fullmatch(self.name) or len(self.name) > MAX_NAME_CHARS:
            shown = in_quotes(self.name, MAX_NAME_CHARS)
            raise UsageError(f"--name takes letters, digits, _ . and -, at most {MAX_NAME_CHARS}, not {shown}")

    def data(self, client: McpClient) -> dict[str, Any]:
        """The entry in a client's file."""
        return {**client.more, "command": self.command, "args": list(self.args)}


class ConfigChange(NamedTuple):
    """A change of a client's file. ``before`` is its text, None if there is no file; ``entry`` is what is new in it."""

    path: Path
    before: str | None
    after: str
    entry: str
    replaces: bool

    @property
    def is_needed(self) -> bool:
        """Whether the file does not have the entry already."""
        return self.before != self.after

    def write(self) -> None:
        """Write the file. Raises: UsageError: it cannot be written, or is another one by now."""
        if _read(self.path) != self.before:
            raise UsageError(f"{self.path} was changed meanwhile; nothing was written: start again")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            mode = None if self.before is None else stat.S_IMODE(os.stat(self.path).st_mode)
            files.write_atomically(self.path, self.after, mode=mode)
        except OSError as e:
            raise UsageError(f"{self.path} cannot be written: {e.strerror}") from None


def plan_change(client: McpClient, server: InstalledServer, in_project: bool = False) -> ConfigChange:
    """What adds the server to the client's file. Nothing is written.

    Raises: UsageError: the file is not JSON, has comments, or its servers are not an object.
    """
    server.require_name()
    path = client.path(in_project).resolve()  # a link stays a link
    before, data = _read(path), server.data(client)
    shown = json.dumps({client.key: {server.name: data}}, indent=2, ensure_ascii=False)
    text = before if before and before.strip("\ufeff \t\r\n") else (before or "") + "{}\n"
    try:
        _require_object(text.removeprefix("\ufeff"))
    except UsageError as reason:
        raise UsageError(f"{path} {reason}; nothing was written. Add this to it yourself:\n{shown}") from None
    servers = _member(text, _start(text), client.key)
    if servers is not None and text[servers.start] != "{":
        raise UsageError(f"{path}: {client.key} is not an object; nothing was written. It should hold this:\n{shown}")
    old = _member(text, servers.start, server.name) if servers else None
    if old is not None and json.loads(text[old.start : old.end]) == data:
        return ConfigChange(path, before, before or text, shown, True)
    layout = _Layout.of(text)
    if servers is None:
        after = layout.insert(text, _start(text), 0, client.key, {server.name: data})
    elif old is None:
        after = layout.insert(text, servers.start, 1, server.name, data)
    else:
        after = text[: old.start] + layout.value(data, 2) + text[old.end :]
    return ConfigChange(path, before, after, shown, old is not None)


def _read(path: Path) -> str | None:
    """The file's text; None if there is no file. Raises: UsageError: it cannot be read."""
    try:
        with files.open_user_file(path) as file:
            return files.read_bounded(file, MAX_CONFIG_BYTES, path).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8; nothing was written") from None
    except OSError as e:
        raise UsageError(f"{path} cannot be read: {e.strerror}") from None


_STRING_OR_COMMENT: Final = re.compile(r'"(?:[^"\\]++|\\.?+)*+"?+|(//|/\*)', re.DOTALL)


def _require_object(text: str) -> None:
    """Raises: UsageError: the text is not a JSON object; the message says what it is."""
    if is_too_deep(text.encode()):
        raise UsageError(f"holds {TOO_DEEP}")
    try:
        whole = json.loads(text)
    except ValueError as e:
        if any(found[1] for found in _STRING_OR_COMMENT.finditer(text)):
            raise UsageError("has comments, which rewriting could damage") from None
        place = f" (line {e.lineno}, column {e.colno}: {e.msg})" if isinstance(e, json.JSONDecodeError) else ""
        raise UsageError(f"is not JSON{place}") from None
    if not isinstance(whole, dict):
        raise UsageError("is not a JSON object")


class _Member(NamedTuple):
    """A member of an object: its name, and where its value starts and ends in the text."""

    name: str
    start: int
    end: int


_decoder: Final = JSONDecoder()


def _start(text: str) -> int:
    """Where the text's object starts."""
    return text.index("{")


def _members(text: str, start: int) -> Iterator[_Member]:
    """The members of the object that starts there, in a text that is JSON."""
    at = _skip(text, start + 1)
    while text[at] != "}":
        name, end = _decoder.raw_decode(text, at)
        value = _skip(text, _skip(text, end) + 1)  # after the colon
        _, end = _decoder.raw_decode(text, value)
        yield _Member(name, value, end)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _member(text: str, start: int, name: str) -> _Member | None:
    """The last member of this name, which is the one that readers take; None if there is none."""
    return next((member for member in reversed([*_members(text, start)]) if member.name == name), None)


_SPACE: Final = re.compile(r"[ \t\r\n]*+")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


class _Layout(NamedTuple):
    """How a file is indented, and how its lines end."""

    indent: str
    newline: str

    @classmethod
    def of(cls, text: str) -> _Layout:
        """That of a text; two spaces, if it shows none."""
        first = re.search(r"\{[ \t]*\r?\n([ \t]+)\"", text)
        return cls(first[1] if first else "  ", "\r\n" if "\r\n" in text else "\n")

    def value(self, data: Any, depth: int) -> str:
        """The data as the value of a member that stands this deep."""
        text = json.dumps(data, indent=self.indent, ensure_ascii=False)
        return text.replace("\n", self.newline + self.indent * depth)

    def insert(self, text: str, start: int, depth: int, name: str, data: Any) -> str:
        """The text with one more member in the object that starts there; ``depth`` is the object's own."""
        line = f"{self.newline}{self.indent * (depth + 1)}{json.dumps(name)}: {self.value(data, depth + 1)}"
        if members := [*_members(text, start)]:
            end = members[-1].end
            return f"{text[:end]},{line}{text[end:]}"
        end = text.index("}", start)
        return f"{text[: start + 1]}{line}{self.newline}{self.indent * depth}{text[end:]}"
