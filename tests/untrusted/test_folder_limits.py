"""How far a folder is looked into: each limit on both of its sides."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codeplan.untrusted import files
from codeplan.untrusted.files import find_files, find_folders, list_folder


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def names(found: object, root: Path) -> list[str]:
    assert not isinstance(found, str)
    return [os.path.relpath(path, root) for path in found]  # type: ignore[attr-defined]


def test_entries_are_sorted_and_say_what_they_are(tmp_path: Path) -> None:
    make(tmp_path, "b", "a/x", "c")
    (tmp_path / "link").symlink_to("b")
    (tmp_path / "folder link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")
    assert list_folder(tmp_path) == [("a", True), ("b", False), ("c", False)]


def test_listing_leaves_no_folder_open(tmp_path: Path) -> None:
    make(tmp_path, "a/b", "c")
    before = os.listdir("/proc/self/fd")
    for _ in range(20):
        list_folder(tmp_path)
        list_folder(tmp_path / "a", tmp_path)
    assert len(os.listdir("/proc/self/fd")) == len(before)


@pytest.mark.parametrize(("most", "listed"), [(1, 1), (3, 3), (4, 4), (5, 4)])
def test_no_more_entries_are_read_than_the_most(
    tmp_path: Path, most: int, listed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "a", "b", "c", "d")
    assert files.MAX_ENTRIES == 100_000
    monkeypatch.setattr(files, "MAX_ENTRIES", most)
    assert len(list_folder(tmp_path)) == listed


@pytest.mark.parametrize(("most", "visited"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 4)])
def test_no_more_folders_are_visited_than_the_most(
    tmp_path: Path, most: int, visited: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for depth in range(4):
        (tmp_path / "a/b/c"[: max(0, 2 * depth - 1)]).mkdir(exist_ok=True)
    (tmp_path / "a/b/c/f").write_text("")
    monkeypatch.setattr(files, "MAX_ENTRIES", most)
    assert names(find_files(tmp_path, "f", 9), tmp_path) == (["a/b/c/f"] if visited == 4 else [])


@pytest.mark.parametrize(("depth", "found"), [(0, ["f"]), (1, ["f", "a/f", "b/f"]), (2, ["f", "a/f", "a/c/f", "b/f"])])
def test_files_are_found_as_deep_as_asked_and_in_order(tmp_path: Path, depth: int, found: list[str]) -> None:
    make(tmp_path, "f", "g", "b/f", "a/f", "a/c/f", "a/c/d/g")
    assert names(find_files(tmp_path, "f", depth), tmp_path) == found
    assert names(find_files(tmp_path, None, 0), tmp_path) == ["f", "g"]


@pytest.mark.parametrize(("depth", "found"), [(0, ["."]), (1, ["a", "b"]), (2, ["a/c", "b/d"]), (3, [])])
def test_folders_are_found_at_one_depth(tmp_path: Path, depth: int, found: list[str]) -> None:
    make(tmp_path, "f", "b/d/f", "a/c/f")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "a" / "link").symlink_to("c")
    assert names(find_folders(tmp_path, depth), tmp_path) == found


def test_only_the_folder_that_the_user_named_may_be_a_link(tmp_path: Path) -> None:
    make(tmp_path, "real/a/f")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "inner").symlink_to("a")
    assert names(find_files(tmp_path / "link", "f", 3), tmp_path) == ["link/a/f"]
    assert names(find_folders(tmp_path / "link", 1), tmp_path) == ["link/a"]
    assert names(find_files(tmp_path / "missing", "f", 3), tmp_path) == []
    assert names(find_folders(tmp_path / "missing", 1), tmp_path) == []
