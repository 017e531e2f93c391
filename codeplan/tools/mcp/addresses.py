"""The addresses of MCP servers: commands and URLs, from the command line, from Python or from an ``mcpServers``
file.
"""

from __future__ import annotations

import keyword
import os
import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from codeplan.errors import UsageError
from codeplan.untrusted import files
from codeplan.untrusted.texts import parser_reason
from codeplan.untrusted.values import in_quotes

MAX_NAME_CHARS = 60
"""Maximum length of a name that is made here, in characters."""

_OTHER = re.compile(r"[^0-9A-Za-z]+")


def python_name(name: str, fallback: str) -> str:
    """The nearest Python name. ``fallback`` is what a name without any usable character becomes.

    Letters beyond ASCII are left out: two names that look alike would differ.
    """
    found = _OTHER.sub("_", name[: 4 * MAX_NAME_CHARS]).strip("_")[:MAX_NAME_CHARS] or fallback
    if found[0].isdigit():
        found = f"{fallback}_{found}"
    return f"{found}_" if keyword.iskeyword(found) or keyword.issoftkeyword(found) else found


def class_name(name: str) -> str:
    """The nearest name for a class, as in ``SearchResult`` for ``search_result``."""
    words = _OTHER.sub(" ", name[: 4 * MAX_NAME_CHARS]).split()
    joined = "".join(word[0].upper() + word[1:] for word in words)[:MAX_NAME_CHARS]
    fits = joined[:1].isalpha() and not keyword.iskeyword(joined)
    return joined if fits else f"Type{joined}"


def unique_name(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found


MAX_CONFIG_BYTES = 1 << 20
"""Maximum size of an ``mcpServers`` file, in bytes."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^${}]*))?\}")
_EDITORS_OWN = re.compile(r"\$\{(?:(?!env:)\w+:(?!-)[^${}]*|/)\}")
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.?+)*+"?+|//[^\n]*+|/\*|[^"/]++|.', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\]++|\\.?+)*+"?+)|,(?=\s*+[}\]])', re.DOTALL)
_GENERIC_WORDS = frozenset(
    {"bun", "bunx", "deno", "docker", "exec", "node", "npm", "npx", "pipx", "pnpm", "run", "sudo", "tool", "uv", "uvx"}
    | {"python", "python3", "env", "mcp", "server", "www", "api", "sh", "bash", "main", "index", "dist", "src"}
    | {"bin", "build", "lib", "out", "modules", "mjs", "cjs", "ts"}
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OTHER_FIELDS = {"serverUrl": "url", "httpUrl": "url", "transport": "type"}
_NAME_PARTS = re.compile(r"[^0-9A-Za-z]+")
_SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts")
_HTTP_TYPES = ("http", "streamable-http", "streamableHttp")


@dataclass(frozen=True)
class ServerAddress:
    """A server to start (``command``) or to connect to (``url``): exactly one of them is given.

    ``name`` is a Python name, which tells tools of the same name apart. ``env`` is added to the few environment
    variables that a server gets; ``headers`` are sent with each request. Both may hold secrets, so neither is ever
    shown. ``is_sse`` says that the URL speaks the old transport, with server-sent events; otherwise that is found out.

    Raises: UsageError: a header cannot be sent; blanks around its value, as files with keys have them, are left out.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    is_sse: bool = False

    def __post_init__(self) -> None:
        headers = {name: value.strip() for name, value in self.headers.items()}
        for name, value in headers.items():  # the HTTP client's own error would show the value
            if not _HEADER_NAME.fullmatch(name) or not (value.isascii() and value.isprintable()):
                sentence = (
                    f"the MCP server {self.name} has the header {in_quotes(name)}, whose name or value cannot be sent"
                )
                raise UsageError(sentence)
        object.__setattr__(self, "headers", headers)


def parse_address(text: str) -> ServerAddress:
    """The server of a command line or a URL, with a name from its words. Raises: UsageError: it is neither."""
    if not isinstance(text, str):
        raise UsageError(f"an MCP server is a command or a URL, not {in_quotes(text)}")
    text = text.strip()
    if text.startswith(("http://", "https://")):
        return ServerAddress(_name_of(_host(text)), url=text)
    if scheme := _SCHEME.match(text):
        raise UsageError(f"the URL of an MCP server begins with http:// or https://, not with {in_quotes(scheme[0])}")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"the MCP server {in_quotes(text)} is no command: {error}") from None
    if not words:
        raise UsageError("an MCP server is a command or a URL; this one is empty")
    return ServerAddress(_name_of(words), command=tuple(words))


def read_config(path: Path) -> tuple[ServerAddress, ...]:
    """The servers of a JSON file with ``mcpServers`` or ``servers``, as other programs write it; disabled ones are left
    out. Editors' files may have comments, and commas at the end of a list.

    ``${NAME}``, ``${env:NAME}`` and ``${NAME:-default}`` stand for environment variables. Raises: UsageError: it cannot
    be read, or a server in it is not understood.
    """
    try:
        config = _decode(files.read_user_text(path, MAX_CONFIG_BYTES))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON: {parser_reason(error)}") from None
    servers = _servers_in(config)
    if not isinstance(servers, dict) or not servers:
        raise UsageError(f'{path} names no server; it needs {{"mcpServers": {{"NAME": {{"command": "…"}}}}}}')
    return tuple(
        server_of_entry(f"{path}: the server {in_quotes(name)}", name, entry)
        for name, entry in servers.items()
        if not _is_disabled(entry)
    )


def _servers_in(config: Any) -> Any:
    """The servers where programs keep them: in an editor's settings, they are in ``mcp``."""
    places = (config, config.get("mcp")) if isinstance(config, dict) else ()
    named = (place.get(key) for place in places if isinstance(place, dict) for key in ("mcpServers", "servers"))
    return next(filter(None, named), None)


def _decode(text: str) -> Any:
    """The JSON of an editor's file. Raises: msgspec.DecodeError, RecursionError: it is none."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        if "//" not in text and "/*" not in text and not _LAST_COMMA.search(text):
            raise
    return msgspec.json.decode(_LAST_COMMA.sub(lambda found: found[1] or "", _without_comments(text)))


def _without_comments(text: str) -> str:
    kept: list[str] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        assert token is not None, "a token is any character at least"
        at = token.end()
        if token[0] == "/*":
            end = text.find("*/", at)
            at = len(text) if end < 0 else end + 2
        elif not token[0].startswith("//"):
            kept.append(token[0])
    return "".join(kept)


def with_unique_names(addresses: Iterable[ServerAddress]) -> tuple[ServerAddress, ...]:
    """The addresses, with numbers in names that occur twice."""
    named: dict[str, ServerAddress] = {}
    for given in addresses:
        name = unique_name(given.name, named)
        named[name] = replace(given, name=name)
    return tuple(named.values())


class ServerEntry(msgspec.Struct):
    """One entry of ``mcpServers``, as it is written."""

    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str = ""
    headers: dict[str, str] = {}
    type: str = ""

    def described(self) -> dict[str, str]:
        """What the server reaches, by name, for a user who decides whether to trust the entry; nothing is empty.

        "" is its command or address, ``variables`` are the environment variables whose values it gets. Values that may
        be secret are left out.
        """
        texts = [self.command, *self.args, *self.env.values(), self.cwd or "", self.url, *self.headers.values()]
        found = {
            "": " ".join((self.command, *self.args)) if self.command else self.url,
            "env": ", ".join(self.env),
            "cwd": self.cwd or "",
            "headers": ", ".join(self.headers),
            "variables": ", ".join(sorted({match[1] for text in texts for match in _VARIABLE.finditer(text)})),
        }
        return {name: text for name, text in found.items() if text}


def _is_disabled(entry: object) -> bool:
    return isinstance(entry, dict) and (entry.get("disabled") is True or entry.get("enabled") is False)


def server_of_entry(where: str, name: str, entry: object) -> ServerAddress:
    """The server of one entry of ``mcpServers``, as data; messages name it by ``where``. Raises as ``read_config``."""
    found = parse_entry(where, _with_variables(entry, where))
    if found.url and found.type not in ("", "sse", *_HTTP_TYPES):
        raise UsageError(f"{where} has the type {in_quotes(found.type)}; for a url it is http or sse")
    if found.url and not found.url.lower().startswith(("http://", "https://")):
        raise UsageError(f"{where} has a url that begins with neither http:// nor https://")
    command = (found.command, *found.args) if found.command else ()
    is_sse = bool(found.url) and found.type == "sse"
    return ServerAddress(python_name(name, "server"), command, found.url, found.env, found.headers, found.cwd, is_sse)


def parse_entry(where: str, entry: object) -> ServerEntry:
    """The entry with its types checked; variables stay as they are. Raises: UsageError: it is not understood."""
    if isinstance(entry, dict):  # as some programs name the fields
        entry = {_OTHER_FIELDS.get(field, field): value for field, value in entry.items()}
        entry = {k: v.strip() if k == "url" and isinstance(v, str) else v for k, v in entry.items()}
    try:
        found = msgspec.convert(entry, ServerEntry)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where} is not understood: {parser_reason(error)}") from None
    if bool(found.command) == bool(found.url):
        raise UsageError(f"{where} needs either a command or a url")
    return found


def _with_variables(value: Any, where: str) -> Any:
    """The value with environment variables in all its texts. Raises: UsageError: one is not set."""
    if isinstance(value, str):
        if own := _EDITORS_OWN.search(value):
            shown = in_quotes(own[0])
            raise UsageError(f"{where} has {shown}, which only an editor can fill in; put ${{env:NAME}} in its place")
        return _VARIABLE.sub(lambda match: _variable(match, where), value)
    if isinstance(value, list):
        return [_with_variables(v, where) for v in value]
    return {k: _with_variables(v, where) for k, v in value.items()} if isinstance(value, dict) else value


def _variable(match: re.Match[str], where: str) -> str:
    found = os.environ.get(match[1], match[2])
    if found is None:
        raise UsageError(f"{where} uses the environment variable {match[1]}, which is not set")
    return found


def _host(url: str) -> list[str]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host:
        raise UsageError(f"the MCP server {in_quotes(url.partition('@')[2] or url)} is no usable URL")
    labels = host.split(".")
    if host[0].isdigit() or ":" in host or len(labels) == 1:
        return ["server" if host[0].isdigit() or ":" in host else f"{host}_{port}" if port else host]
    return labels[:-1]


def _name_of(words: Iterable[str]) -> str:
    """The first distinctive word of a command or a host, without the parts that most servers' names share.

    Of a path it is the last part, or if that is a script with a name such as ``index.js``, the nearest folder's.
    """
    for word in words:
        if word.startswith("-") or "=" in word:
            continue
        *folders, last = word.rstrip("/").split("/")
        is_script = last.endswith(_SCRIPTS)
        for part in (last.removesuffix(".py").removesuffix(".js"), *(reversed(folders) if is_script else ())):
            if kept := _telling_words(part):
                return python_name("_".join(kept), "server")
    return "server"


def _telling_words(name: str) -> list[str]:
    found = _NAME_PARTS.split(name.partition("@")[0] or name)
    return [word for word in found if word and word.lower() not in _GENERIC_WORDS]
