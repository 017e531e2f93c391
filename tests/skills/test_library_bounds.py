"""The library at its edges: how many skills it finds, what it refuses, and what it leaves as it is."""

import sqlite3

import pytest
from support.skill_samples import skill, task

from codeplan.errors import UsageError
from codeplan.skills.embeddings import Embedder
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceRecord, SkillOrigin
from codeplan.standin.server import text_vector


@pytest.fixture
def library(tmp_path):
    return SkillLibrary(tmp_path / "skills")


def names(found):
    return [s.name for s in found]


# ------------------------------------------------------------------ how many, and which


@pytest.mark.parametrize(("retired", "found"), [(8, ["heat-z"]), (9, [])])
def test_eight_skills_that_the_index_has_wrongly_as_active_hide_no_other(library, retired, found):
    for number in range(retired):
        library.change(library.add(skill(f"heat-{number}")), status="retired")
    library.add(skill("heat-z"))
    library.close()
    db = sqlite3.connect(library.path / ".index.sqlite")
    db.execute("update skills set status = 'active'")
    db.execute("update texts set tags = (select tags from texts where name = 'heat-z')")
    db.commit()
    db.close()
    assert names(library.find(task(), 1)) == found


def test_a_search_finds_twenty_skills_unless_it_is_asked_for_more(library):
    for number in range(21):
        library.add(skill(f"heat-{number}"))
    assert len(library.search("heat")) == 20
    assert len(library.search("heat", 21)) == 21


def test_an_endless_limit_takes_all_that_are_nearest(library):
    library.add(skill())
    embedder = Embedder("small", lambda texts: [text_vector(text) for text in texts])
    assert names(library.nearest(task(), 10**30, embedder)) == ["heat-1"]


def test_the_kind_of_a_task_chooses_skills_like_a_word_of_its_goal(library):
    for name, description in (("a-1", "Do a thing."), ("b-1", "Heat a thing.")):
        library.add(skill(name, description=description, origins=()))
    assert names(library.find(task(goal="warm it up"), 2)) == ["b-1", "a-1"]


# ------------------------------------------------------------------ what is refused


def test_a_name_that_is_taken_is_refused_and_the_skill_stays(library):
    library.add(skill())
    with pytest.raises(UsageError, match="already has a skill household/heat-1"):
        library.add(skill(description="Another."))
    assert library.get("household", "heat-1") == skill()


def test_a_missing_skill_is_named_with_its_environment(library):
    with pytest.raises(UsageError, match=r"there is no skill household/heat-1 in .*skills; codeplan skills list"):
        library.get("household", "heat-1")


def test_a_name_in_two_environments_is_refused_with_both_in_order(library):
    library.add(skill("heat-1"))
    assert library.get_by_name("heat-1").env == "household"
    library.add(skill("heat-1", env="alfworld"))
    said = "^alfworld and household have a skill heat-1; name it as in alfworld/heat-1$"
    with pytest.raises(UsageError, match=said):
        library.get_by_name("heat-1")


def test_skills_of_two_environments_are_not_merged(library):
    into, other = library.add(skill("heat-1")), library.add(skill("heat-2", env="alfworld"))
    with pytest.raises(UsageError, match="household/heat-1 and alfworld/heat-2 are for different environments"):
        library.merge(into, other)
    assert library.get_by_name("heat-2").status == "active"


def test_merging_again_adds_no_origin_twice(library):
    origins = [SkillOrigin(f"heat/{number}") for number in (1, 2)]
    into, other = (library.add(skill(f"heat-{n}", origins=tuple(origins[:n]))) for n in (1, 2))
    assert library.merge(library.merge(into, other), other).origins == tuple(origins)


# ------------------------------------------------------------------ what is written


def test_a_record_gets_the_present_time_unless_it_has_one(library):
    library.add(skill())
    for at in (0.0, 7.5):
        library.record(skill(), EvidenceRecord("heat/7", 7, "m", True, True, at=at))
    now, given = (record.at for record in library.read_evidence(skill()))
    assert now > 1_000_000_000
    assert given == 7.5


def test_the_first_write_creates_the_folders_above_the_library_too(tmp_path):
    made = SkillLibrary(tmp_path / "mine" / "skills")
    assert made.writable
    made.add(skill())
    assert names(made.entries()) == ["heat-1"]


def test_a_place_where_no_folder_can_be_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"the skill library .*file/skills cannot be created: Not a directory"):
        SkillLibrary(tmp_path / "file" / "skills").add(skill())


def test_a_users_own_list_of_ignored_files_stays(library):
    library.add(skill())
    ignored = library.path / ".gitignore"
    assert {".index.sqlite*", ".lock", ".*.tmp"} <= set(ignored.read_text().splitlines())
    ignored.write_text("mine\n")
    library.add(skill("heat-2"))
    assert ignored.read_text() == "mine\n"


def test_no_skill_comes_from_a_run_without_a_name(library):
    library.add(skill(origins=(SkillOrigin("heat/1"),)))
    assert library.entries_of_run("") == []
