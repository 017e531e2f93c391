"""The store: folders are the truth, the index follows them, and nothing that is written is ever lost."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.skill_samples import PLAN, skill, task

from codeplan.errors import UsageError
from codeplan.skills.embeddings import Embedder
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceRecord, Skill, SkillOrigin
from codeplan.skills.skill_folder import format_manifest, parse_manifest
from codeplan.standin.server import text_vector

WITH = EvidenceRecord("heat/7", 7, "scripted", True, True, phase="filter")


def names(found):
    return [s.name for s in found]


# ------------------------------------------------------------------ folders


def test_a_skill_is_a_folder_of_texts(library):
    library.record(library.add(skill()), WITH)
    folder = library.path / "household" / "heat-1"
    assert {p.name for p in folder.iterdir()} == {"SKILL.md", "plan.py", "evidence.jsonl", "versions"}
    assert (folder / "plan.py").read_text() == (folder / "versions" / "1.py").read_text() == PLAN
    assert (folder / "SKILL.md").read_text().startswith('---\nname: "heat-1"\n')


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(words, words, st.lists(words, max_size=4), words)
def test_every_text_survives_the_front_matter(description, kind, parameters, goal):
    made = Skill(
        "a", "b", "x", kind, description.strip(), tuple(parameters), 3, "retired", True, (SkillOrigin("t", goal, "m"),)
    )
    assert parse_manifest(format_manifest(made)).to_skill("x") == made


def test_an_invalid_name_is_refused(library):
    for name in ("../up", "A", "", ".hidden", "a/b", "x" * 65, "a_b", "a--b", "a-", "-a"):
        with pytest.raises(UsageError, match="is not a valid name for a skill"):
            library.add(skill(name))
    assert not library.path.exists() or not list(library.path.glob("*/*"))


def test_another_plan_is_another_version_and_a_candidate_again(library):
    library.add(skill())
    new = library.change(skill(), plan=PLAN + "# better\n")
    assert (new.version, new.status) == (2, "candidate")
    assert library.get("household", "heat-1", 1).plan == PLAN
    assert library.get("household", "heat-1") == new


def test_evidence_counts_for_one_version(library):
    library.record(library.add(skill()), WITH)
    library.change(skill(), plan=PLAN + "# better\n")
    assert library.entries()[0].evidence.shown == 0
    assert len(library.read_evidence(skill())) == 1


# ------------------------------------------------------------------ what is damaged


def test_a_folder_with_control_characters_in_its_name_is_left_out(library):
    library.add(skill())
    folder = library.path / "household" / "heat-\x1b[2J"
    shutil.copytree(library.path / "household" / "heat-1", folder)
    text = (folder / "SKILL.md").read_text()
    (folder / "SKILL.md").write_text(text.replace('name: "heat-1"', 'name: "heat-\\u001b[2J"'))
    opened = SkillLibrary(library.path)
    assert names(opened.entries()) == ["heat-1"]
    assert "is not a valid name for a skill" in opened.faults()[0]


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("SKILL.md", b"no front matter", "does not start with YAML"),
        ("SKILL.md", b"\xff\xfe", "not UTF-8"),
        ("SKILL.md", b'+++\nname = "heat-1"\n+++\n', "is invalid"),
        ("SKILL.md", b'---\ndescription: "x"\n---\n', "is invalid"),
        ("SKILL.md", b"---\n" + b"[" * 5000 + b"\n---\n", "not YAML"),
        ("SKILL.md", b"+++\n" + b"a=[" * 5000 + b"\n+++\n", "not TOML"),
        ("SKILL.md", b"+++\nversion = " + b"9" * 5000 + b"\n+++\n", "not TOML"),
        ("plan.py", b"def solution(): pass", "not the plan of version 1"),
        ("plan.py", b"x" * 2_000_000, "larger than"),
    ],
)
def test_a_damaged_skill_is_named_and_skipped_and_stays(library, file, content, why):
    library.add(skill())
    library.add(skill("heat-2"))
    path = library.path / "household" / "heat-1" / file
    path.write_bytes(content)
    library.refresh()
    assert names(library.find(task(), 5)) == ["heat-2"]
    (fault,) = library.faults()
    assert str(path) in fault
    assert why in fault
    assert path.read_bytes() == content


@pytest.mark.parametrize("env", ["e\x1b]0;x\x07", "Environment", "alfworld"])
def test_a_damaged_skill_in_another_environment_does_not_make_a_name_ambiguous(library, env):
    library.add(skill())
    (library.path / env / "heat-1").mkdir(parents=True)
    (library.path / env / "heat-1" / "SKILL.md").write_text(format_manifest(skill(env=env)))
    library.refresh()
    assert library.get_by_name("heat-1") == skill()
    (library.path / "household" / "heat-1" / "plan.py").write_text("x = 1")
    with pytest.raises(UsageError, match=r"heat-1/(SKILL\.md|plan\.py): |is not a valid name"):
        SkillLibrary(library.path).get_by_name("heat-1")


@pytest.mark.parametrize("file", ["SKILL.md", "plan.py", "evidence.jsonl"])
def test_a_pipe_in_place_of_a_file_is_named_and_does_not_block(library, file):
    library.add(skill())
    path = library.path / "household" / "heat-1" / file
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    library.refresh()
    assert library.faults() == [f"{path}: it is a pipe, not a file"]


def test_a_folder_whose_name_is_not_utf8_is_left_out(library):
    library.add(skill())
    os.mkdir(os.fsencode(library.path / "household") + b"/\xff")
    assert names(SkillLibrary(library.path).entries()) == ["heat-1"]
    assert library.rebuild() == 1


@pytest.mark.parametrize(
    "edit", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t, lambda t: t[: t.rindex("---") + 3]]
)
def test_changed_line_ends_do_not_damage_front_matter(edit):
    assert parse_manifest(edit(format_manifest(skill()))) == parse_manifest(format_manifest(skill()))


def test_a_torn_line_of_evidence_is_named_and_the_rest_counts(library):
    library.record(library.add(skill()), WITH)
    path = library.path / "household" / "heat-1" / "evidence.jsonl"
    path.write_bytes(path.read_bytes() + b'{"task": "heat/8", "se')
    library.record(skill(), WITH)
    assert library.entries()[0].evidence.shown == 2
    assert "line 2" in library.faults()[0]


def test_an_edit_by_hand_loses_no_plan(library):
    library.add(skill())
    library.change(skill(), status="retired")
    plan = library.path / "household" / "heat-1" / "plan.py"
    for number in range(3):
        plan.write_text(f"{PLAN}# edit {number}\n")
        library.refresh()
        assert f"it is not the plan of version {number + 1}" in library.faults()[0]
        library.rebuild()
        edited = library.get("household", "heat-1")
        assert (edited.version, edited.status, library.faults()) == (number + 2, "candidate", [])
    plans = [library.get("household", "heat-1", version).plan for version in (1, 2, 3, 4)]
    assert plans == [PLAN, *(f"{PLAN}# edit {number}\n" for number in range(3))]


def test_a_change_next_to_a_damaged_copy_of_the_plan_is_refused_and_changes_nothing(library):
    added = library.add(skill())
    copy = library.path / "household" / "heat-1" / "versions" / "1.py"
    copy.write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"versions/1\.py: it is not UTF-8 text"):
        library.change(added, status="retired")
    assert copy.read_bytes() == b"\xff"
    assert library.get("household", "heat-1").status == added.status


def test_a_library_without_kept_plans_gets_them_from_rebuild(library):
    library.add(skill())
    folder = library.path / "household" / "heat-1"
    shutil.rmtree(folder / "versions")
    library.rebuild()
    (folder / "plan.py").write_text(f"{PLAN}# edited\n")
    library.rebuild()
    assert library.get("household", "heat-1", 1).plan == PLAN


def test_a_deleted_plan_comes_back(library):
    library.add(skill())
    (library.path / "household" / "heat-1" / "plan.py").unlink()
    library.refresh()
    assert (library.get("household", "heat-1"), library.faults()) == (skill(), [])
    library.rebuild()
    assert (library.path / "household" / "heat-1" / "plan.py").read_text() == PLAN


def test_a_skill_without_any_copy_of_its_plan_is_named(library):
    library.add(skill())
    folder = library.path / "household" / "heat-1"
    shutil.rmtree(folder / "versions")
    (folder / "plan.py").unlink()
    library.refresh()
    assert library.faults() == [f"{folder / 'plan.py'}: there is no such file"]


# ------------------------------------------------------------------ the index


def test_changes_by_others_are_seen_on_opening(library):
    library.add(skill())
    other = library.path / "household" / "heat-2"
    shutil.copytree(library.path / "household" / "heat-1", other)
    (other / "SKILL.md").write_text((other / "SKILL.md").read_text().replace('name: "heat-1"', 'name: "heat-2"'))
    assert names(SkillLibrary(library.path).entries()) == ["heat-1", "heat-2"]
    shutil.rmtree(other)
    assert names(SkillLibrary(library.path).entries()) == ["heat-1"]


def test_a_missing_or_damaged_index_is_rebuilt(library):
    library.add(skill())
    library.close()
    for content in (None, b"not a database", b""):
        for file in library.path.glob(".index.sqlite*"):
            file.unlink()
        if content is not None:
            (library.path / ".index.sqlite").write_bytes(content)
        opened = SkillLibrary(library.path)
        assert names(opened.find(task(), 3)) == ["heat-1"]
        opened.close()


def test_an_index_that_links_to_another_database_leaves_it_alone(library):
    library.add(skill())
    library.close()
    precious, index = library.path.parent / "precious.db", library.path / ".index.sqlite"
    with sqlite3.connect(precious) as db:
        db.execute("create table bookmarks (url)")
    db.close()
    before = precious.read_bytes()
    for file in library.path.glob(".index.sqlite*"):
        file.unlink()
    index.symlink_to(precious)
    assert names(SkillLibrary(library.path).entries()) == ["heat-1"]
    assert precious.read_bytes() == before


def test_an_index_damaged_while_open_is_rebuilt(library):
    library.add(skill())
    db = sqlite3.connect(library.path / ".index.sqlite")
    db.execute("drop table skills")
    db.close()
    assert names(library.find(task(), 3)) == ["heat-1"]


def test_two_open_libraries_see_each_others_writes(library):
    other = SkillLibrary(library.path)
    library.add(skill())
    assert names(other.find(task(), 3)) == ["heat-1"]
    other.change(skill(), status="retired")
    assert library.find(task(), 3) == []


def test_an_empty_or_missing_library_finds_nothing(tmp_path):
    assert SkillLibrary(tmp_path / "none").find(task(), 3) == []
    assert not (tmp_path / "none").exists()


# ------------------------------------------------------------------ retrieval


def test_only_active_skills_of_the_kind_and_environment_are_found(library):
    library.add(skill("heat-1"))
    library.add(skill("any-1", kind=""))
    for other in (
        skill("heat-2", "candidate"),
        skill("heat-3", "retired"),
        skill("cool-1", kind="cool"),
        skill("heat-4", env="alfworld"),
    ):
        library.add(other)
    assert sorted(names(library.find(task(), 9))) == ["any-1", "heat-1"]


def test_the_skill_whose_words_fit_best_comes_first_and_has_the_highest_score(library):
    for name, goal in (("heat-1", "heat some apple"), ("heat-2", "heat some potato"), ("heat-3", "heat an egg")):
        library.add(skill(name, origins=(SkillOrigin("t", goal),)))
    found = library.find(task(goal="put a hot potato in fridge."), 3)
    assert found[0].name == "heat-2"
    assert found[0].score > found[1].score
    assert library.find(task(), 1) == found[:1]


def test_words_of_a_goal_cannot_steer_the_search(library):
    library.add(skill())
    for goal in ('" OR 1', "NEAR(a b)", "tags : active", "*", "heat AND NOT", "{name}: x", "'; drop table skills; --"):
        assert names(library.find(task(goal=goal), 3)) == ["heat-1"]
        library.search(goal)


def test_odd_texts_and_numbers_find_nothing(library):
    library.add(skill())
    odd, endless = "heat \udcff", 10**30
    assert library.entries(odd) == library.entries(None, odd) == library.entries_of_run(odd) == []
    assert library.search("heat", endless, odd) == library.find(task(odd), 5) == []
    assert names(library.search("heat", endless)) == names(library.find(task(), endless)) == ["heat-1"]


def test_a_skill_that_failed_lately_is_not_found(library):
    library.add(skill())
    for _ in range(3):
        library.record(skill(), EvidenceRecord("heat/7", 7, "m", True, False))
    assert library.find(task(), 3) == []
    assert library.entries()[0].evidence.failing


def test_a_retired_skill_is_never_found_whatever_the_index_says(library):
    library.add(skill())
    library.change(skill(), status="retired")
    db = sqlite3.connect(library.path / ".index.sqlite")
    db.execute("update skills set status = 'active'")
    db.commit()
    db.close()
    assert library.find(task(), 3) == []


def test_search_matches_inflected_words_and_every_status(library):
    library.add(skill("heat-1", "retired", description="Heats things in the microwave."))
    library.add(skill("cool-1", kind="cool", description="Cools things in the fridge.", origins=()))
    assert names(library.search("heating")) == ["heat-1"]


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


# ------------------------------------------------------------------ provenance, merging


def test_an_episode_leads_back_to_its_skills(library):
    library.add(skill("heat-1"))
    library.add(skill("heat-2", origins=()))
    library.record(skill("heat-2"), EvidenceRecord("heat/9", 9, "m", True, True, run="runs/9"))
    assert names(library.entries_of_run("runs/1")) == ["heat-1"]
    assert names(library.entries_of_run("runs/9")) == ["heat-2"]


def test_an_episodes_folder_may_be_spelled_in_any_way(library, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library.record(library.add(skill()), EvidenceRecord("heat/7", 7, "m", True, True, run="runs/7"))
    library.record(
        library.add(skill("heat-2", plan="x")), EvidenceRecord("heat/8", 8, "m", True, True, run=f"{tmp_path}/runs/8")
    )
    for number, name in ((7, "heat-1"), (8, "heat-2")):
        for spelled in (f"runs/{number}", f"runs/{number}/", f"./runs//{number}", f"{tmp_path}/runs/{number}"):
            assert names(library.entries_of_run(spelled)) == [name]
    assert library.entries_of_run("runs/9") == []


def test_merging_keeps_origins_and_history_and_retires_the_other(library):
    library.add(skill("heat-1"))
    library.add(skill("heat-2", plan=PLAN + "# other\n", origins=(SkillOrigin("heat/9", "g"),)))
    library.record(skill("heat-2"), WITH)
    merged = library.merge(skill("heat-1"), library.get_by_name("heat-2"))
    assert [o.task for o in merged.origins] == ["heat/2000", "heat/9"]
    assert library.get_by_name("heat-2").status == "retired"
    assert len(library.read_evidence(merged)) == 1
    assert library.entries()[0].evidence.shown == 0  # of another plan: history, no evidence


def test_merging_counts_a_record_once_and_only_for_its_plan(library):
    into, other = library.add(skill("heat-1")), library.add(skill("heat-2", plan="# worse\n"))
    library.record(other, EvidenceRecord("heat/1", 1, "m", True, False, 1))
    other = library.change(other, plan=PLAN)
    library.record(other, EvidenceRecord("heat/1", 1, "m", True, True, 2))
    for _ in range(2):
        library.merge(into, other)
        assert [(t.version, t.success) for t in library.read_evidence(into)] == [(0, False), (1, True)]


# ------------------------------------------------------------------ many at once, and death


def scripted(*arguments):
    script = Path(__file__).parents[1] / "support" / "skill_writers.py"
    return subprocess.run([sys.executable, script, *map(str, arguments)], capture_output=True, text=True, check=False)


def test_sixteen_processes_that_record_at_once_lose_nothing(library):
    library.add(skill())
    assert scripted("record", library.path, 16, 10).stderr == ""
    trials = library.read_evidence(skill())
    assert sorted((t.seed, t.task) for t in trials) == sorted((p, str(i)) for p in range(16) for i in range(10))
    assert SkillLibrary(library.path).entries()[0].evidence.shown == 160


def test_killed_at_any_moment_a_writer_leaves_a_library_that_can_be_read(library):
    library.add(skill())
    done = scripted("crash", library.path, 100)
    assert done.stderr == ""
    assert "100 killed" in done.stdout
    library.rebuild()
    assert [f for f in library.faults() if "no trial" not in f] == []
    assert not list(library.path.glob("*/.*.tmp"))
