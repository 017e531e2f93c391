"""The index of a library from elsewhere: what it holds is true of the folders, or it is built again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.skill_samples import skill, task

from codeplan.cli.app import main
from codeplan.skills.library import SkillLibrary

ROW: dict[str, Any] = {
    **dict.fromkeys(("env", "name", "kind", "status", "description", "digest"), "text"),
    **dict.fromkeys(("id", "shown", "solved", "baseline", "baseline_solved", "wins", "losses", "failing"), 77),
    **{"pinned": 0, "version": 1, "failing": 0, "env": "household", "name": "ghost", "status": "active"},
}
COLUMNS = [name for name in ROW if name != "id"]
CONTRADICTIONS = [("solved", 2**63 - 1), ("baseline_solved", 1)]
CONTRADICTIONS += [(name, -1) for name in ("solved", "baseline_solved", "wins", "losses")]


@pytest.fixture
def library(tmp_path: Path) -> SkillLibrary:
    made = SkillLibrary(tmp_path / "skills")
    made.add(skill())
    made.close()
    return made


def write(library: SkillLibrary, statement: str, values: tuple[Any, ...] = ()) -> None:
    with closing(sqlite3.connect(library.path / ".index.sqlite", isolation_level=None)) as db:
        db.execute(statement, values)


def listed(library: SkillLibrary) -> list[str]:
    with closing(SkillLibrary(library.path)) as again:
        return [entry.name for entry in again.entries()]


def test_a_skill_without_a_folder_is_not_listed(library: SkillLibrary) -> None:
    write(library, f"insert into skills ({', '.join(ROW)}) values ({', '.join('?' * len(ROW))})", tuple(ROW.values()))
    assert listed(library) == [skill().name]


@pytest.mark.parametrize("column", COLUMNS)
def test_a_value_of_another_type_is_read_again_from_the_folder(library: SkillLibrary, column: str) -> None:
    """The signature of the folder is right, so nothing else would update the row."""
    write(library, f"update skills set {column} = ?", (b"\xff\x1b[31m",))
    assert listed(library) == [skill().name]
    with closing(SkillLibrary(library.path)) as again:
        assert [found.name for found in again.find(task(), 1)] == [skill().name]


@pytest.mark.parametrize("counts", [f"{name} = {value}" for name, value in CONTRADICTIONS])
def test_counts_that_contradict_one_another_are_counted_again(library: SkillLibrary, counts: str) -> None:
    write(library, f"update skills set {counts}")
    with closing(SkillLibrary(library.path)) as again:
        tally = again.entries()[0].evidence
        assert (tally.solved, tally.baseline_solved, tally.wins, tally.losses) == (0, 0, 0, 0)


def test_a_reason_that_is_no_text_is_found_again(library: SkillLibrary, capsys: pytest.CaptureFixture[str]) -> None:
    write(library, "update files set fault = ?", (b"\xff",))
    assert main(["skills", "list", "--library", str(library.path)]) == 0
    assert "left out" not in capsys.readouterr().err


def test_a_vector_that_is_no_bytes_is_dropped(library: SkillLibrary) -> None:
    library.store_vectors("small", {"digest": b"vector"})
    library.close()
    write(library, "update vectors set vector = 'text'")
    with closing(SkillLibrary(library.path)) as again:
        assert again.read_vectors("small", ["digest"]) == {}


def test_an_own_index_is_kept(library: SkillLibrary) -> None:
    """Its vectors cost money."""
    library.store_vectors("small", {"digest": b"vector"})
    library.close()
    with closing(SkillLibrary(library.path)) as again:
        assert again.read_vectors("small", ["digest"]) == {"digest": b"vector"}
