"""The user's logins at MCP servers, each in a file of its own in the user's configuration folder.

A file holds tokens, so it is the user's alone. Its name is a hash of the server's URL: tokens for one URL are never
found for another.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import msgspec

from codeplan.durable_files import config_folder, make_private, try_lock
from codeplan.errors import UsageError
from codeplan.untrusted import files
from codeplan.untrusted.texts import shell_word

MAX_LOGIN_BYTES: Final = 1 << 20
"""Maximum size of a login's file, in bytes."""

_FOLDER: Final = "mcp-logins"
_POLL_SECONDS: Final = 0.05


class StoredLogin(msgspec.Struct):
    """A login, or the part of it that there is yet. Its parts are as the standards of OAuth name their fields."""

    server: str = ""
    """The server's URL without what may be secret."""
    tokens: dict[str, Any] | None = None
    expires_at: float | None = None
    """When the access token expires, in seconds since 1970; None if that is unknown."""
    client: dict[str, Any] | None = None
    """The registration of codeplan at the authorization server."""
    is_client_given: bool = False
    """Whether the user made the registration."""
    resource: dict[str, Any] | None = None
    """The server's metadata, which names the authorization server."""
    authorization: dict[str, Any] | None = None
    """The authorization server's metadata."""
    challenge: str = ""
    """What the server wants of the next login, as it said when it refused the present one; empty if it did not."""


class LoginFile:
    """The file of the login at one URL. Without a home folder nothing is found, and nothing can be kept."""

    def __init__(self, url: str) -> None:
        self._url = url
        folder = config_folder()
        name = hashlib.sha256(_canonical(url).encode()).hexdigest()[:32]
        self._path = None if folder is None else folder / _FOLDER / f"{name}.json"

    def read(self) -> StoredLogin:
        """The login; an empty one if there is none. Raises: UsageError: it is damaged, or others may read it."""
        path = self._path
        if path is None:
            return StoredLogin()
        try:
            content = files.read_bytes(path, MAX_LOGIN_BYTES)
            _require_private(path)
            return msgspec.json.decode(content, type=StoredLogin)
        except FileNotFoundError:
            return StoredLogin()
        except OSError as error:
            raise UsageError(f"the login {path} cannot be read: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise UsageError(f"the login {path} is damaged; remove it, then log in again") from None

    def write(self, login: StoredLogin) -> None:
        """Keep the login. Raises: UsageError: it cannot be written."""
        path = self._made()
        login.server = shown_url(self._url)
        try:
            files.write_atomically(path, msgspec.json.encode(login), mode=0o600)
        except OSError as error:
            raise _unwritable(path, error) from None

    def remove(self) -> bool:
        """Forget the login. Returns whether there was one. Raises: UsageError: it cannot be removed."""
        if self._path is None:
            return False
        try:
            self._path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _unwritable(self._path, error) from None
        return True

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        """Hold the login against other processes: many servers take a token for renewal once, and then revoke all.

        Raises: UsageError: it cannot be locked.
        """
        path = self._made().with_suffix(".lock")
        try:
            file = files.open_to_append(path)
        except OSError as error:
            raise _unwritable(path, error) from None
        with file:
            while not try_lock(file):
                await asyncio.sleep(_POLL_SECONDS)
            yield

    def _made(self) -> Path:
        """The path, in a folder that is there."""
        if self._path is None:
            raise UsageError("there is no home folder for your logins; set XDG_CONFIG_HOME to a folder")
        folder = self._path.parent
        try:
            make_private(folder.parent)
            make_private(folder)
        except OSError as error:
            raise _unwritable(folder, error) from None
        return self._path


def shown_url(url: str) -> str:
    """The URL without name, password, query and fragment, any of which may be secret."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def login_command(name: str, url: str) -> str:
    """The command that logs in at the server ``name``."""
    is_whole = shown_url(url) == url
    return f"codeplan mcp login {shell_word(url) if is_whole else f'{shell_word(name)} --mcp-config FILE'}"


def _canonical(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", parts.query, ""))


def _require_private(path: Path) -> None:
    """Raises: UsageError: other users may read the file."""
    if hasattr(os, "geteuid") and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"others may read the login {path}; remove it, then log in again")


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"the login cannot be written to {path}: {error.strerror}")
