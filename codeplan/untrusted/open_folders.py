"""Open folders: the only place where a name in a folder becomes an open file, without following a link.

Where the system allows it, a folder is held by a descriptor, so no program can replace it by another folder. On
Windows it is held by its path: names with a special meaning are refused, and so are links, and an exchange of a file
while it is opened is detected. Only a program that exchanges a *folder* at that very moment gets past the check.
"""

from __future__ import annotations

import contextlib
import errno
import ntpath
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import Final, Protocol

HAS_DESCRIPTORS: Final = hasattr(os, "O_DIRECTORY") and hasattr(os, "O_NOFOLLOW")
"""Whether this system has descriptors of folders. Windows does not."""

_ANYWHERE = getattr(os, "O_PATH", os.O_RDONLY)  # on Linux a folder to pass through need not be readable
_CLOSED_IN_CHILDREN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | _CLOSED_IN_CHILDREN
_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_FILE = getattr(os, "O_NOFOLLOW", 0) | _WAITING | _CLOSED_IN_CHILDREN | getattr(os, "O_BINARY", 0)
_LINK_TAGS = (0xA000000C, 0xA0000003)  # Windows' symbolic links and mount points ("junctions")
_KINDS = {
    stat.S_IFLNK: "it is a link, and links are not followed here",
    stat.S_IFDIR: "it is a folder, not a file",
    stat.S_IFIFO: "it is a pipe, not a file",
    stat.S_IFSOCK: "it is a socket, not a file",
    stat.S_IFCHR: "it is a device, not a file",
    stat.S_IFBLK: "it is a device, not a file",
}


class UnsafeFile(OSError):
    """A file is not opened because of what it is; ``strerror`` says why: "it is a link, and links are not …"."""

    def __init__(self, reason: str, path: str | Path, number: int = errno.EINVAL) -> None:
        super().__init__(number, reason, str(path))


class OpenFolder(Protocol):
    """A folder that stays the same one while it is open. Errors carry the ``path`` that the caller gives."""

    def open_file(self, name: str, flags: int, path: Path | str) -> int:
        """Return a descriptor of a regular file. Raises: OSError, UnsafeFile for a link or anything else."""
        ...

    def enter(self, name: str, path: Path | str, *, to_read: bool = False) -> OpenFolder:
        """Open a folder in this one; ``to_read`` to list or sync it. Raises: OSError, UnsafeFile for a link or file."""
        ...

    def mode(self, name: str) -> int:
        """The mode of the entry with this name; for a link, the link's own mode. Raises: OSError."""
        ...

    def make_folder(self, name: str) -> None:
        """Make a folder. Raises: OSError."""
        ...

    def replace(self, old: str, new: str) -> None:
        """Rename a file over another one. Raises: OSError."""
        ...

    def unlink(self, name: str) -> None:
        """Remove a file or a link. Raises: OSError."""
        ...

    def scan(self) -> contextlib.AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """The entries of a folder that is open to read. Raises: OSError."""
        ...

    def sync(self) -> None:
        """Make new and renamed files durable. Raises: OSError."""
        ...

    def close(self) -> None:
        """Give the folder back."""
        ...


def open_root(path: str, *, to_read: bool = False) -> OpenFolder:
    """Open a folder that the user named, which may be a link; ``to_read`` to list or sync it. Raises: OSError."""
    if not HAS_DESCRIPTORS:
        return FolderByPath(path)
    return FolderByDescriptor(os.open(path, (os.O_RDONLY if to_read else _ANYWHERE) | _FOLDER))


def open_followed(path: str) -> int:
    """Return a descriptor of a regular file that the user named: a link is followed. Raises: OSError, UnsafeFile."""
    return _require_kind(os.open(path, os.O_RDONLY | (_FILE & ~getattr(os, "O_NOFOLLOW", 0))), stat.S_IFREG, path)


def split_names(path: str) -> list[str]:
    """The names in a relative path, without empty ones and ``.``."""
    return [name for name in path.replace(os.sep, "/").split("/") if name not in ("", ".")]


class FolderByDescriptor:
    """A folder held by its descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def open_file(self, name: str, flags: int, path: Path | str) -> int:
        """See ``OpenFolder``."""
        return self._open(name, flags, path, stat.S_IFREG)

    def enter(self, name: str, path: Path | str, *, to_read: bool = False) -> FolderByDescriptor:
        """See ``OpenFolder``."""
        flags = (os.O_RDONLY if to_read else _ANYWHERE) | _FOLDER
        return FolderByDescriptor(self._open(name, flags, path, stat.S_IFDIR))

    def mode(self, name: str) -> int:
        """See ``OpenFolder``."""
        return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False).st_mode

    def make_folder(self, name: str) -> None:
        """See ``OpenFolder``."""
        os.mkdir(name, dir_fd=self._descriptor)

    def replace(self, old: str, new: str) -> None:
        """See ``OpenFolder``."""
        os.rename(old, new, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def unlink(self, name: str) -> None:
        """See ``OpenFolder``."""
        os.unlink(name, dir_fd=self._descriptor)

    def scan(self) -> contextlib.AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """See ``OpenFolder``."""
        return os.scandir(self._descriptor)

    def sync(self) -> None:
        """See ``OpenFolder``. A descriptor to pass through cannot be synced, so the folder is opened again."""
        descriptor = os.open(".", os.O_RDONLY | _FOLDER, dir_fd=self._descriptor)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """See ``OpenFolder``."""
        os.close(self._descriptor)

    def _open(self, name: str, flags: int, path: Path | str, kind: int) -> int:
        try:
            descriptor = os.open(name, flags | _FILE, 0o666, dir_fd=self._descriptor)
        except OSError as e:
            if e.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR, errno.EISDIR, errno.ENXIO):
                raise self._refusal(name, path) from None
            raise OSError(e.errno, e.strerror, str(path)) from None
        return _require_kind(descriptor, kind, path)

    def _refusal(self, name: str, path: Path | str) -> OSError:
        """The error for a name that could not be opened because it has the wrong kind."""
        try:
            return UnsafeFile(describe_mode(self.mode(name)), path)
        except OSError as e:
            return OSError(e.errno, e.strerror, str(path))


class FolderByPath:
    """A folder held by its path, for systems without descriptors of folders."""

    def __init__(self, path: str) -> None:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        self._path = path

    def open_file(self, name: str, flags: int, path: Path | str) -> int:
        """See ``OpenFolder``."""
        place = self._place(name, path)
        before = None if flags & os.O_EXCL else self._existing(place, path)
        if before is None and flags & os.O_CREAT:
            flags |= os.O_EXCL  # a link is not followed, and a file that appears meanwhile is a different one
        try:
            descriptor = os.open(place, flags | _FILE, 0o666)
        except OSError as e:
            raise OSError(e.errno, e.strerror, str(path)) from None
        _require_kind(descriptor, stat.S_IFREG, path)
        if not os.path.samestat(before or os.lstat(place), os.fstat(descriptor)):
            os.close(descriptor)
            raise UnsafeFile("it was exchanged while it was opened", path)
        return descriptor

    def enter(self, name: str, path: Path | str, *, to_read: bool = False) -> FolderByPath:
        """See ``OpenFolder``."""
        place = self._place(name, path)
        self._status(place, path, stat.S_IFDIR)
        return FolderByPath(place)

    def mode(self, name: str) -> int:
        """See ``OpenFolder``."""
        return _mode_here(os.lstat(self._place(name, name)))

    def make_folder(self, name: str) -> None:
        """See ``OpenFolder``."""
        os.mkdir(self._place(name, name))

    def replace(self, old: str, new: str) -> None:
        """See ``OpenFolder``."""
        os.replace(self._place(old, old), self._place(new, new))

    def unlink(self, name: str) -> None:
        """See ``OpenFolder``."""
        os.unlink(self._place(name, name))

    def scan(self) -> contextlib.AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """See ``OpenFolder``."""
        return os.scandir(self._path)

    def sync(self) -> None:
        """Nothing: a folder without a descriptor cannot be synced."""

    def close(self) -> None:
        """Nothing: no descriptor is open."""

    def _place(self, name: str, path: Path | str) -> str:
        """The path of a name in this folder. Raises: UnsafeFile if Windows would take it for something else."""
        if (
            name != ntpath.basename(name)
            or ":" in name
            or name.rstrip(" .") != name
            or PureWindowsPath(name).is_reserved()
        ):
            raise UnsafeFile("it has a name that means something else on Windows", path)
        return os.path.join(self._path, name)

    def _existing(self, place: str, path: Path | str) -> os.stat_result | None:
        """The status of a regular file, None if nothing is there. Raises: OSError, UnsafeFile."""
        try:
            return self._status(place, path, stat.S_IFREG)
        except FileNotFoundError:
            return None

    def _status(self, place: str, path: Path | str, kind: int) -> os.stat_result:
        """The status of the entry, if it is of this kind. Raises: OSError, UnsafeFile."""
        try:
            status = os.lstat(place)
        except OSError as e:
            raise OSError(e.errno, e.strerror, str(path)) from None
        if stat.S_IFMT(_mode_here(status)) != kind:
            raise UnsafeFile(describe_mode(_mode_here(status)), path)
        return status


def describe_mode(mode: int) -> str:
    """The actual kind of an entry with the wrong kind: "it is a folder, not a file"."""
    return _KINDS.get(stat.S_IFMT(mode), "it is a file, not a folder")


def _mode_here(status: os.stat_result) -> int:
    """The mode; a link's for a mount point too, which Windows shows as a folder."""
    return stat.S_IFLNK if getattr(status, "st_reparse_tag", 0) in _LINK_TAGS else status.st_mode


def _require_kind(descriptor: int, kind: int, path: Path | str) -> int:
    """The descriptor, if it is of this kind; otherwise it is closed. Raises: UnsafeFile."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_IFMT(mode) != kind:
        os.close(descriptor)
        raise UnsafeFile(describe_mode(mode), path)
    return descriptor
