"""Files in folders that other people made: links are not followed, nothing blocks, and nothing elsewhere changes."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.untrusted import files
from codeplan.untrusted.files import FolderEntry, UnsafeFile, find_files, list_folder

SECRET = "the user's own text\n"


@pytest.fixture(params=["by descriptor", "by path"], autouse=True, scope="module")
def held(request: pytest.FixtureRequest) -> Iterator[None]:
    """Folders are held by descriptors, or by paths as on systems that have no descriptors of folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "HAS_DESCRIPTORS", request.param == "by descriptor")
        yield


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file of the user, outside the folder from elsewhere."""
    (tmp_path / "home").mkdir()
    file = tmp_path / "home" / ".bashrc"
    file.write_text(SECRET)
    return file


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """The folder from elsewhere."""
    (tmp_path / "foreign").mkdir()
    return tmp_path / "foreign"


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _loop(path: Path) -> None:
    path.symlink_to(path.with_name("second"))
    path.with_name("second").symlink_to(path)


HOSTILE: dict[str, Callable[[Path, Path], None]] = {
    "a link": lambda path, target: path.symlink_to(target),
    "a relative link": lambda path, target: path.symlink_to("../home/.bashrc"),
    "a dangling link": lambda path, target: path.symlink_to(target.with_name("new")),
    "a loop of links": lambda path, target: _loop(path),
    "a link to itself": lambda path, target: path.symlink_to(path.name),
    "a link to a device": lambda path, target: path.symlink_to("/dev/zero"),
    "a link to the process": lambda path, target: path.symlink_to("/proc/self/environ"),
    "a link to an open file": lambda path, target: path.symlink_to("/dev/stdin"),
    "a link to a folder": lambda path, target: path.symlink_to(target.parent),
    "a pipe": lambda path, target: os.mkfifo(path),
    "a socket": lambda path, target: _socket(path),
    "a folder": lambda path, target: path.mkdir(),
}


@pytest.fixture(params=HOSTILE)
def hostile(request: pytest.FixtureRequest, foreign: Path, outside: Path) -> Iterator[Path]:
    path = foreign / "trace.jsonl"
    HOSTILE[request.param](path, outside)
    yield path
    assert outside.read_text() == SECRET
    assert sorted(os.listdir(outside.parent)) == [".bashrc"]


@pytest.mark.parametrize("use", [files.open_to_read, files.open_to_append, files.open_to_update])
def test_nothing_but_a_regular_file_is_opened(use: Callable[[Path], object], hostile: Path) -> None:
    with pytest.raises(UnsafeFile, match="it is a (link|pipe|socket|folder)"):
        use(hostile)


def test_a_new_file_takes_no_name_that_something_has(hostile: Path) -> None:
    with pytest.raises(FileExistsError):
        files.create_file(hostile)


def test_a_whole_file_replaces_the_link_and_not_its_target(hostile: Path) -> None:
    if hostile.is_dir() and not hostile.is_symlink():
        with pytest.raises(IsADirectoryError):
            files.write_atomically(hostile, "new")
    else:
        files.write_atomically(hostile, "new")
        assert not hostile.is_symlink()
        assert hostile.read_text() == "new"
    assert not [name for name in os.listdir(hostile.parent) if name.endswith(".tmp")]


def test_a_linked_folder_below_the_users_path_is_not_entered(foreign: Path, outside: Path) -> None:
    (foreign / "runs").mkdir()
    (foreign / "runs" / "x").symlink_to(outside.parent)
    inside = foreign / "runs" / "x" / ".bashrc"
    for use in (files.open_to_read, files.open_to_append, files.open_to_update, files.create_file, list_folder):
        with pytest.raises(UnsafeFile, match="it is a link"):
            use(inside, foreign)
    with pytest.raises(UnsafeFile, match="it is a link"):
        files.write_atomically(inside, "new", foreign)
    with pytest.raises(UnsafeFile, match="it is a link"):
        files.create_folder(foreign / "runs" / "x", foreign)
    assert outside.read_text() == SECRET


def test_the_part_that_the_user_named_may_be_a_link(foreign: Path, tmp_path: Path) -> None:
    (foreign / "trace.jsonl").write_text("{}\n")
    (tmp_path / "latest").symlink_to(foreign)
    (tmp_path / "mine.py").symlink_to(foreign / "trace.jsonl")
    assert files.read_text(tmp_path / "latest" / "trace.jsonl", 10) == "{}\n"
    assert files.read_text(tmp_path / "latest" / "trace.jsonl", 10, tmp_path / "latest") == "{}\n"
    assert list_folder(tmp_path / "latest") == [FolderEntry("trace.jsonl", is_folder=False)]
    assert files.read_user_text(tmp_path / "mine.py", 10) == "{}\n"


@pytest.mark.parametrize("kind", ["a pipe", "a socket", "a folder", "a link to a device", "a link to a folder"])
def test_a_file_that_the_user_named_must_be_a_regular_one(kind: str, foreign: Path, outside: Path) -> None:
    HOSTILE[kind](foreign / "plan.py", outside)
    with pytest.raises(OSError):
        files.read_user_text(foreign / "plan.py", 1000)


@pytest.mark.parametrize(
    "name", ["../home/.bashrc", "a/../../home/.bashrc", "..", ".", "", "a\0b", "\ud800", "a/..", "/etc/passwd"]
)
def test_a_path_out_of_the_folder_is_refused(name: str, foreign: Path, outside: Path) -> None:
    (foreign / "a").mkdir()
    with pytest.raises(UnsafeFile, match="outside the folder|no file can have"):
        files.read_bytes(foreign / name, 1000, foreign)


@pytest.mark.parametrize("name", [".", "..", "folder/"])
def test_a_folder_that_the_user_names_as_a_file_is_told_to_be_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnsafeFile, match="it is a folder, not a file"):
        files.read_bytes(name, 1000)


def test_a_file_with_a_second_hard_link_is_read_but_not_written(foreign: Path, outside: Path) -> None:
    os.link(outside, foreign / "evidence.jsonl")
    assert files.read_text(foreign / "evidence.jsonl", 1000) == SECRET
    for use in (files.open_to_append, files.open_to_update):
        with pytest.raises(UnsafeFile, match="second name"):
            use(foreign / "evidence.jsonl")
    files.write_atomically(foreign / "evidence.jsonl", "new")
    assert outside.read_text() == SECRET


def test_a_file_over_the_limit_is_refused_whatever_its_size(foreign: Path) -> None:
    (foreign / "file").write_bytes(b"x" * 100)
    assert files.read_bytes(foreign / "file", 100) == b"x" * 100
    for size in (101, 10 << 30):
        os.truncate(foreign / "file", size)
        with pytest.raises(UnsafeFile, match="larger than 100 bytes"):
            files.read_bytes(foreign / "file", 100)


def test_text_keeps_its_line_ends_and_must_be_utf8(foreign: Path) -> None:
    (foreign / "file").write_bytes(b"a\r\nb\r")
    assert files.read_text(foreign / "file", 100) == "a\r\nb\r"
    (foreign / "file").write_bytes(b"\xff")
    with pytest.raises(UnsafeFile, match="byte 0"):
        files.read_text(foreign / "file", 100)


def test_a_file_swapped_for_a_link_after_it_was_opened_changes_nothing(foreign: Path, outside: Path) -> None:
    file = foreign / "trace.jsonl"
    file.write_text("mine\n")
    with files.open_to_update(file) as opened:
        file.unlink()
        file.symlink_to(outside)
        opened.truncate(0)
    assert outside.read_text() == SECRET


def test_appending_creates_the_file_and_then_writes_at_its_end(foreign: Path) -> None:
    sizes = []
    for _ in range(2):
        with files.open_to_append(foreign / "lines") as file:
            sizes.append(file.tell())
            files.write_all(file, b"line\n")
    assert sizes == [0, 5]
    assert (foreign / "lines").read_bytes() == b"line\nline\n"


def test_a_walk_leaves_out_links_pipes_deep_folders_and_folders_called_like_the_file(
    foreign: Path, outside: Path
) -> None:
    (foreign / "trace.jsonl").mkdir()
    names = ["a", os.fsdecode(b"\xff\xfe"), "new\nline", "\x1b]0;title\x07", "deep/er/still"]
    for name in names:
        (foreign / name).mkdir(parents=True)
        (foreign / name / "trace.jsonl").write_text("{}\n")
    (foreign / "linked").symlink_to(foreign / "a")
    (foreign / "up").symlink_to(foreign)
    (foreign / "b").mkdir()
    (foreign / "b" / "trace.jsonl").symlink_to(outside)
    (foreign / "c").mkdir()
    os.mkfifo(foreign / "c" / "trace.jsonl")
    (foreign / "locked").mkdir(mode=0)
    found = [str(path.parent.relative_to(foreign)) for path in find_files(foreign, "trace.jsonl", 2)]
    assert found == sorted(names[:4])


@contextlib.contextmanager
def swapping(real: Path, link: Path) -> Iterator[None]:
    """Meanwhile, a link takes the place of a file or folder again and again."""
    stop, aside = threading.Event(), real.with_name("aside")

    def swap() -> None:
        while not stop.is_set():
            os.rename(real, aside)
            os.rename(link, real)
            os.rename(real, link)
            os.rename(aside, real)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_swapping_a_folder_for_a_link_while_a_file_is_opened_gains_nothing(foreign: Path, outside: Path) -> None:
    if not files.HAS_DESCRIPTORS:
        pytest.skip("a folder that is held by its path can be exchanged, as open_folders says")
    (foreign / "run").mkdir()
    (foreign / "run" / ".bashrc").write_text("mine")
    (foreign / "link").symlink_to(outside.parent)
    seen = set()
    with swapping(foreign / "run", foreign / "link"):
        for _ in range(3000):
            with contextlib.suppress(OSError):
                seen.add(files.read_text(foreign / "run" / ".bashrc", 1000, foreign))
            with contextlib.suppress(OSError):
                files.write_atomically(foreign / "run" / "new", "text", foreign)
            with contextlib.suppress(OSError), files.open_to_append(foreign / "run" / ".bashrc", foreign) as file:
                files.write_all(file, b"")
    assert seen == {"mine"}
    assert os.listdir(outside.parent) == [".bashrc"]


def test_swapping_a_file_for_a_link_while_it_is_opened_gains_nothing(foreign: Path, outside: Path) -> None:
    (foreign / "notes").write_text("mine")
    (foreign / "link").symlink_to(outside)
    seen = set()
    with swapping(foreign / "notes", foreign / "link"):
        for _ in range(3000):
            with contextlib.suppress(OSError):
                seen.add(files.read_text(foreign / "notes", 1000, foreign))
            with contextlib.suppress(OSError), files.open_to_update(foreign / "notes", foreign) as file:
                files.write_all(file, b"mine")
    assert seen == {"mine"}
    assert outside.read_text() == SECRET


@pytest.mark.parametrize(
    "name", ["a:b", "a.txt:stream", "c:", "nul", "CON.txt", "Com¹.tar.gz", "lpt9 .a", "a.", "a ", "b\\c"]
)
def test_a_name_that_means_something_else_on_windows_is_refused_there(name: str, foreign: Path) -> None:
    if files.HAS_DESCRIPTORS:
        files.create_file(foreign / name, foreign).close()
        assert os.listdir(foreign) == [name]
    else:
        with pytest.raises(UnsafeFile, match="means something else on Windows"):
            files.create_file(foreign / name, foreign)
        assert os.listdir(foreign) == []


@pytest.mark.parametrize(("tag", "is_link"), [(0xA000000C, True), (0xA0000003, True), (0x80000013, False), (0, False)])
def test_a_mount_point_of_windows_counts_as_a_link(tag: int, is_link: bool, foreign: Path) -> None:
    status = SimpleNamespace(st_mode=foreign.stat().st_mode, st_reparse_tag=tag)
    assert stat.S_ISLNK(files._mode_here(cast("os.stat_result", status))) is is_link


class CarefullyRead(io.FileIO):
    """A file that gives only as many bytes as a careful reader asks for."""

    given = 0

    def read(self, size: int | None = -1) -> bytes:
        assert size is not None and 0 <= size <= LIMIT + 1 - self.given
        data = super().read(size) or b""
        self.given += len(data)
        return data


LIMIT = 3_000_000


def test_a_file_that_hides_its_size_is_read_up_to_the_limit() -> None:
    with CarefullyRead("/dev/zero") as endless:
        with pytest.raises(UnsafeFile, match="it is larger than 3,000,000 bytes"):
            files.read_bounded(cast("BinaryIO", endless), LIMIT, "x")
        assert endless.given == LIMIT + 1
    with pytest.raises(UnsafeFile, match="it is larger than 10 bytes"):
        files.read_bytes("/proc/self/status", 10)
    assert files.read_bytes("/proc/self/status", LIMIT).startswith(b"Name:")


@given(st.lists(st.sampled_from(["..", ".", "", "a", "link", "up", "self", "home", ".bashrc", "foreign"]), max_size=8))
def test_no_path_leads_out_of_the_folder(parts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as top:
        foreign, home = Path(top, "foreign"), Path(top, "home")
        for folder in (foreign / "a" / "a", home):
            folder.mkdir(parents=True)
        (home / ".bashrc").write_text(SECRET)
        (foreign / "a" / ".bashrc").write_text("mine")
        for name, target in (("link", home), ("up", ".."), ("self", "."), ("a/link", "../../home"), ("a/up", "../up")):
            (foreign / name).symlink_to(target)
        path = f"{foreign}/{'/'.join(parts)}"
        with contextlib.suppress(OSError):
            assert files.read_text(path, 1000, foreign) == "mine"
        with contextlib.suppress(OSError):
            files.write_atomically(path, "changed", foreign)
        with contextlib.suppress(OSError):
            files.create_folder(path, foreign)
        with contextlib.suppress(OSError), files.open_to_append(path, foreign) as file:
            files.write_all(file, b"changed")
        assert os.listdir(home) == [".bashrc"]
        assert (home / ".bashrc").read_text() == SECRET
        assert sorted(os.listdir(top)) == ["foreign", "home"]
