"""Opens files in folders that other people may have made, without following links.

A folder from elsewhere can hold links, pipes and files of any size. A path therefore has two parts. Links are followed
in the part that the user named: ``below``, by default the file's folder. No component below it may be a link, each
file must be a regular one, and reads are bounded. Files are checked through the open descriptor, so exchanging a file
between check and use has no effect.

    read_bytes, read_text    a whole file, up to a size
    open_to_read             a file to read in parts
    open_to_append           an existing or new file; open_to_update: an existing one
    create_file              a new file; create_folder: a folder, unless it exists
    write_atomically         a whole file; replaces a link itself, never its target

A file that is written in place must have one name only: through a second hard link, the write would change a file
elsewhere. A hard link may be read, because it has the same content as a copy.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from codeplan.untrusted.open_folders import OpenFolder, describe_mode, open_followed, open_root, split_names
from codeplan.untrusted.open_folders import UnsafeFile as UnsafeFile

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


def write_atomically(path: Path | str, content: bytes | str, below: Path | str | None = None) -> None:
    """Write a whole file durably. A concurrent reader sees the old file or the new one. Raises: OSError."""
    data = content.encode() if isinstance(content, str) else content
    with _parent(path, below) as (folder, name):
        temporary = f".{secrets.token_hex(8)}.tmp"
        try:
            with _writable(folder.open_file(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, path), path) as file:
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
