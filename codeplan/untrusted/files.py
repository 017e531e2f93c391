"""Opens files and lists folders that other people may have made, without following links.

A folder from elsewhere can hold links, pipes and files of any size. A path therefore has two parts. Links are followed
in the part that the user named: ``below``, by default the file's folder. No component below it may be a link, each
file must be a regular one, and reads are bounded. Files are checked through the open descriptor, so exchanging a file
between check and use has no effect.

    read_bytes, read_text    a whole file, up to a size
    open_to_read             a file to read in parts
    open_to_append           an existing or new file; open_to_update: an existing one
    create_file              a new file; create_folder: a folder, unless it exists
    write_atomically         a whole file; replaces a link itself, never its target
    list_folder, find_files, find_folders

A file that is written in place must have one name only: through a second hard link, the write would change a file
elsewhere. A hard link may be read, because it has the same content as a copy.

Where the system allows it, a folder is held by a descriptor, so no program can replace it by another folder. On
Windows it is held by its path: names with a special meaning are refused, and so are links, and an exchange of a file
while it is opened is detected. Only a program that exchanges a *folder* at that very moment gets past the check.
"""

from __future__ import annotations

import contextlib
import errno
import ntpath
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TypeAlias, cast

HAS_DESCRIPTORS: Final = hasattr(os, "O_DIRECTORY") and hasattr(os, "O_NOFOLLOW")
"""Whether this system has descriptors of folders. Windows does not."""

_ANYWHERE = getattr(os, "O_PATH", os.O_RDONLY)  # on Linux a folder to pass through need not be readable
_CLOSED_IN_CHILDREN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | _CLOSED_IN_CHILDREN
_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_FILE = getattr(os, "O_NOFOLLOW", 0) | _WAITING | _CLOSED_IN_CHILDREN | getattr(os, "O_BINARY", 0)
_LINK_TAGS = (0xA000000C, 0xA0000003)  # Windows' symbolic links and mount points ("junctions")
_WINDOWS_DEVICES: Final = frozenset(
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"] + [port + c for port in ("COM", "LPT") for c in "123456789¹²³"]
)  # names of files, with any suffix; pathlib no longer tells from Python 3.13 on
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
    """A folder held by its descriptor, so it stays the same one while it is open. Errors carry the ``path`` that the
    caller gives.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def open_file(self, name: str, flags: int, path: Path | str) -> int:
        """Return a descriptor of a regular file. Raises: OSError, UnsafeFile for a link or anything else."""
        return self._open(name, flags, path, stat.S_IFREG)

    def enter(self, name: str, path: Path | str, *, to_read: bool = False) -> FolderByDescriptor:
        """Open a folder in this one; ``to_read`` to list or sync it. Raises: OSError, UnsafeFile for a link or file."""
        flags = (os.O_RDONLY if to_read else _ANYWHERE) | _FOLDER
        return FolderByDescriptor(self._open(name, flags, path, stat.S_IFDIR))

    def mode(self, name: str) -> int:
        """The mode of the entry with this name; for a link, the link's own mode. Raises: OSError."""
        return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False).st_mode

    def make_folder(self, name: str) -> None:
        """Make a folder. Raises: OSError."""
        os.mkdir(name, dir_fd=self._descriptor)

    def replace(self, old: str, new: str) -> None:
        """Rename a file over another one. Raises: OSError."""
        os.rename(old, new, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def unlink(self, name: str) -> None:
        """Remove a file or a link. Raises: OSError."""
        os.unlink(name, dir_fd=self._descriptor)

    def scan(self) -> contextlib.AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """The entries of a folder that is open to read. Raises: OSError."""
        return os.scandir(self._descriptor)

    def sync(self) -> None:
        """Make new and renamed files durable. Raises: OSError."""
        # a descriptor to pass through cannot be synced, so the folder is opened again
        descriptor = os.open(".", os.O_RDONLY | _FOLDER, dir_fd=self._descriptor)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Give the folder back."""
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
        """See ``FolderByDescriptor``."""
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
        """See ``FolderByDescriptor``."""
        place = self._place(name, path)
        self._status(place, path, stat.S_IFDIR)
        return FolderByPath(place)

    def mode(self, name: str) -> int:
        """See ``FolderByDescriptor``."""
        return _mode_here(os.lstat(self._place(name, name)))

    def make_folder(self, name: str) -> None:
        """See ``FolderByDescriptor``."""
        os.mkdir(self._place(name, name))

    def replace(self, old: str, new: str) -> None:
        """See ``FolderByDescriptor``."""
        os.replace(self._place(old, old), self._place(new, new))

    def unlink(self, name: str) -> None:
        """See ``FolderByDescriptor``."""
        os.unlink(self._place(name, name))

    def scan(self) -> contextlib.AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """See ``FolderByDescriptor``."""
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
            or name.partition(".")[0].rstrip(" ").upper() in _WINDOWS_DEVICES
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


OpenFolder: TypeAlias = FolderByDescriptor | FolderByPath


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


_CHUNK = 1 << 20


def open_to_read(path: Path | str, below: Path | str | None = None) -> BinaryIO:
    """Open a regular file. Raises: OSError, and UnsafeFile for a link or anything but a regular file."""
    return os.fdopen(_open(path, below, os.O_RDONLY), "rb")


def open_user_file(path: Path | str) -> BinaryIO:
    """Open a file that the user named: a link is followed. Raises: OSError, and UnsafeFile if it is not regular."""
    return os.fdopen(open_followed(_checked_name(path)), "rb")


def read_bytes(path: Path | str, max_bytes: int, below: Path | str | None = None) -> bytes:
    """Return a file's content. Raises: OSError, and UnsafeFile for a larger file or what ``open_to_read`` refuses."""
    with open_to_read(path, below) as file:
        return read_bounded(file, max_bytes, path)


def read_text(path: Path | str, max_bytes: int, below: Path | str | None = None) -> str:
    """Return a file's text, with its line ends. Raises: as ``read_bytes``, and UnsafeFile if it is not UTF-8."""
    return _decode(read_bytes(path, max_bytes, below), path)


def read_user_text(path: Path | str, max_bytes: int) -> str:
    """Return the text of a file that the user named, without a byte order mark, which editors of Windows put first.

    Raises: as ``read_text``, but a link is followed.
    """
    with open_user_file(path) as file:
        return _decode(read_bounded(file, max_bytes, path), path).removeprefix("\ufeff")


def read_bounded(file: BinaryIO, max_bytes: int, path: Path | str) -> bytes:
    """Return the rest of an open file. Raises: UnsafeFile if it is larger; OSError if it cannot be read."""
    parts: list[bytes] = []
    size = os.fstat(file.fileno()).st_size
    left = 0 if size > max_bytes else max_bytes + 1
    while left > 0 and (part := file.read(min(left, _CHUNK if parts else size + 1))):  # in /proc, size is wrong
        parts.append(part)
        left -= len(part)
    if left <= 0:
        raise UnsafeFile(f"it is larger than {max_bytes:,} bytes", path, errno.EFBIG)
    return b"".join(parts)


def bounded_lines(file: BinaryIO, max_bytes: int) -> Iterator[bytes]:
    """Yield the whole lines of an open file, with their ends. A longer line ends the iteration, and so does a torn one.

    Raises: OSError if the file cannot be read.
    """
    while (line := file.readline(max_bytes)).endswith(b"\n"):
        yield line


def refuse_links(folder: Path | str, below: Path | str) -> None:
    """Raise UnsafeFile if a folder, or one between it and ``below``, is a link or a file. It may be missing."""
    with contextlib.suppress(FileNotFoundError):
        open_folder(folder, below).close()


def is_regular_file(path: Path | str, below: Path | str | None = None) -> bool:
    """Whether the path leads to a regular file, without links below ``below``."""
    try:
        with _parent(path, below) as (folder, name):
            return stat.S_ISREG(folder.mode(name))
    except OSError:
        return False


def open_to_append(path: Path | str, below: Path | str | None = None) -> BinaryIO:
    """Open a file, or create it, to read it and to write at its end, unbuffered. Raises: as ``open_to_update``."""
    file = _writable(_open(path, below, os.O_RDWR | os.O_APPEND | os.O_CREAT), path)
    file.seek(0, os.SEEK_END)
    return file


def open_to_update(path: Path | str, below: Path | str | None = None) -> BinaryIO:
    """Open an existing file to read and write, unbuffered. Nothing is truncated.

    Raises: OSError, and UnsafeFile for a link, a file with a second hard link, or anything but a regular file.
    """
    return _writable(_open(path, below, os.O_RDWR), path)


def create_file(path: Path | str, below: Path | str | None = None) -> BinaryIO:
    """Create a file to write, unbuffered. Raises: OSError; FileExistsError if anything, a link too, has this name."""
    return _writable(_open(path, below, os.O_RDWR | os.O_CREAT | os.O_EXCL), path)


def create_folder(path: Path | str, below: Path | str | None = None) -> None:
    """Create a folder in an existing one, unless it exists. Raises: OSError, and UnsafeFile if a link has this name."""
    with _parent(path, below) as (folder, name):
        with contextlib.suppress(FileExistsError):
            folder.make_folder(name)
        mode = folder.mode(name)
    if not stat.S_ISDIR(mode):
        raise UnsafeFile(describe_mode(mode), path)


def write_atomically(
    path: Path | str, content: bytes | str, below: Path | str | None = None, *, mode: int | None = None
) -> None:
    """Write a whole file durably. A concurrent reader sees the old file or the new one; ``mode`` is the new one's, None
    that of any new file. Raises: OSError.
    """
    data = content.encode() if isinstance(content, str) else content
    with _parent(path, below) as (folder, name):
        temporary = f".{secrets.token_hex(8)}.tmp"
        try:
            with _writable(folder.open_file(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, path), path) as file:
                if mode is not None:
                    os.chmod(file.fileno(), mode)
                write_all(file, data)
                os.fsync(file.fileno())
            folder.replace(temporary, name)
        except BaseException:
            with contextlib.suppress(OSError):
                folder.unlink(temporary)
            raise
        folder.sync()


def write_all(file: BinaryIO, data: bytes) -> None:
    """Write all of the data to an unbuffered file; one write may take only a part. Raises: OSError."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def open_folder(path: Path | str, below: Path | str | None = None) -> OpenFolder:
    """Open a folder to list or sync it. ``below`` is None for a folder that the user named, which may be a link.

    Raises: OSError, and UnsafeFile for a link or a file.
    """
    if below is None:
        return open_root(_checked_name(path), to_read=True)
    with _parent(path, below) as (folder, name):
        return folder.enter(name, path, to_read=True)


# ------------------------------------------------------------------ the parts


def _open(path: Path | str, below: Path | str | None, flags: int) -> int:
    with _parent(path, below) as (folder, name):
        return folder.open_file(name, flags, path)


@contextlib.contextmanager
def _parent(path: Path | str, below: Path | str | None) -> Iterator[tuple[OpenFolder, str]]:
    """Yield the file's folder, reached without links below ``below``, and the file's name."""
    root, parts = _split(path, below)
    folder = open_root(root)
    try:
        for part in parts[:-1]:
            inner = folder.enter(part, path)
            folder.close()
            folder = inner
        yield folder, parts[-1]
    finally:
        folder.close()


def _split(path: Path | str, below: Path | str | None) -> tuple[str, list[str]]:
    """Return the folder that the user named, and the components below it."""
    whole = _checked_name(path)
    if below is None:
        root, name = os.path.split(whole)
        if name in ("", ".", ".."):
            raise UnsafeFile("it is a folder, not a file", whole)
        root, parts = root or ".", [name]
    else:
        root = os.fspath(below)
        inner = whole[len(root) + 1 :] if whole.startswith(f"{root}{os.sep}") else os.path.relpath(whole, root)
        parts = split_names(inner)
    if not parts or ".." in parts or parts[-1] in ("", "."):
        raise UnsafeFile("it is outside the folder that it must be in", whole)
    return root, parts


def _checked_name(path: Path | str) -> str:
    """The path. Raises: UnsafeFile if no file can have this name: it has a null character or half a surrogate pair."""
    name = os.fspath(path)
    try:
        possible = "\0" not in name and bool(os.fsencode(name))
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise UnsafeFile("it has a name that no file can have", name)
    return name


def _writable(descriptor: int, path: Path | str) -> BinaryIO:
    """The descriptor as a file, if the file has no other name. Raises: UnsafeFile."""
    if os.fstat(descriptor).st_nlink > 1:
        os.close(descriptor)
        raise UnsafeFile("it has a second name (a hard link), and writing would change that file too", path)
    return cast("BinaryIO", os.fdopen(descriptor, "rb+", buffering=0))


def _decode(data: bytes, path: Path | str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as e:
        raise UnsafeFile(f"it is not UTF-8 text (byte {e.start}); save it as UTF-8", path, errno.EILSEQ) from None


MAX_ENTRIES = 100_000
"""Maximum number of entries of one folder that are read."""


class FolderEntry(NamedTuple):
    """A name in a folder: of a folder, or of a regular file."""

    name: str
    is_folder: bool


def list_folder(path: Path | str, below: Path | str | None = None) -> list[FolderEntry]:
    """Return the folders and regular files in a folder, sorted by name; at most ``MAX_ENTRIES`` entries are read.

    ``below`` is None for a folder that the user named, which may be a link. Raises: OSError, UnsafeFile for a link.
    """
    with contextlib.closing(open_folder(path, below)) as folder, folder.scan() as entries:
        found = [_entry(entry) for _, entry in zip(range(MAX_ENTRIES), entries, strict=False)]
    return sorted(entry for entry in found if entry)


def find_folders(root: Path | str, depth: int) -> Iterator[Path]:
    """Yield the folders at a depth below a folder that the user named, in order; 1 are those in it.

    Leaves out links and folders that cannot be read.
    """
    folders = iter([Path(root)])
    for _ in range(depth):
        folders = (inner for folder in folders for inner in _inner_folders(folder, root))
    return folders


def _inner_folders(folder: Path, root: Path | str) -> list[Path]:
    try:
        entries = list_folder(folder, None if folder == Path(root) else root)
    except OSError:
        return []
    return [folder / e.name for e in entries if e.is_folder]


def find_files(root: Path | str, name: str | None, max_depth: int) -> Iterator[Path]:
    """Yield the regular files called ``name`` (None: any) in a folder that the user named, and in its subfolders.

    ``max_depth`` is 0 for the folder alone. Leaves out links and folders that cannot be read. Visits at most
    ``MAX_ENTRIES`` folders.
    """
    folders = [(Path(root), 0)]
    for _ in range(MAX_ENTRIES):
        if not folders:
            return
        folder, depth = folders.pop()
        try:
            entries = list_folder(folder, root if depth else None)
        except OSError:
            continue
        yield from (folder / e.name for e in entries if not e.is_folder and name in (None, e.name))
        if depth < max_depth:
            folders += [(folder / e.name, depth + 1) for e in reversed(entries) if e.is_folder]


def _entry(entry: os.DirEntry[str]) -> FolderEntry | None:
    """The entry, if it is a folder or a regular file; None for a link, a pipe, a device or a socket."""
    if entry.is_dir(follow_symlinks=False):
        return FolderEntry(entry.name, is_folder=True)
    return FolderEntry(entry.name, is_folder=False) if entry.is_file(follow_symlinks=False) else None
