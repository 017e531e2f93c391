"""Out and in: what comes in is a candidate, checked, with no claim that counts."""

import os
import zipfile

import pytest
from support.skill_samples import PLAN, skill

from codeplan.errors import UsageError
from codeplan.skills.import_export import export_skills, import_skills
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceRecord
from codeplan.skills.skill_folder import format_manifest


def archive(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, text in members.items():
            file.writestr(name, text)
    return path


def foreign(path, plan=PLAN, **more):
    made = skill(plan=plan, **more)
    return archive(path, **{"household/heat-1/SKILL.md": format_manifest(made), "household/heat-1/plan.py": plan})


def test_an_exported_skill_is_imported_as_a_candidate_without_evidence(library, tmp_path):
    library.record(library.add(skill(pinned=True, version=4)), EvidenceRecord("heat/7", 7, "m", True, True, 4))
    assert export_skills(library, tmp_path / "a.zip", [library.get_by_name("heat-1")]) == 1
    other = SkillLibrary(tmp_path / "other")
    (row,) = import_skills(other, tmp_path / "a.zip")
    came = other.get_by_name("heat-1")
    assert (row.name, came.plan) == ("heat-1", PLAN)
    assert (came.status, came.pinned, came.version, other.read_evidence(came)) == ("candidate", False, 1, [])
    assert came.origins[0].run == ""
    assert "imported from" in came.origins[0].model


def test_equal_skills_make_equal_files_and_no_file_is_overwritten(library, tmp_path):
    library.add(skill())
    for name in ("a", "b"):
        export_skills(library, tmp_path / f"{name}.zip", [skill()])
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with pytest.raises(UsageError, match="exists already"):
        export_skills(library, tmp_path / "a.zip", [skill()])


@pytest.mark.parametrize(
    "plan",
    [
        "import os\nos.system('true')\n",
        "def solution(agent, start_from=1):\n    agent.__class__\n",
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        agent.fly()\n        assert 1, ''\n",
        "(" * 50_000,
    ],
)
def test_a_plan_that_fails_the_check_is_refused(library, tmp_path, plan):
    (row,) = import_skills(library, foreign(tmp_path / "a.zip", plan))
    assert row.name == ""
    assert "refused" in row.reason
    assert library.entries() == []


def test_a_name_that_is_taken_is_not_overwritten(library, tmp_path):
    library.add(skill())
    (row,) = import_skills(library, foreign(tmp_path / "a.zip", PLAN.replace("apple", "egg")))
    assert row.name.startswith("heat-1-")
    assert library.get_by_name("heat-1").plan == PLAN
    assert library.get_by_name("heat-1").status == "active"


@pytest.mark.parametrize(
    "make",
    [
        lambda place: place.symlink_to("nowhere"),
        lambda place: place.symlink_to(place.name),
        lambda place: place.write_text("x"),
        os.mkfifo,
    ],
    ids=["dangling link", "link to itself", "file", "pipe"],
)
def test_a_name_that_something_else_has_is_taken(library, tmp_path, make):
    (library.path / "household").mkdir(parents=True)
    make(library.path / "household" / "heat-1")
    (row,) = import_skills(library, foreign(tmp_path / "a.zip"))
    assert row.name.startswith("heat-1-")
    with pytest.raises(UsageError, match="already has a skill household/heat-1$"):
        library.add(skill())


@pytest.mark.parametrize("target", ["nowhere", "..", None])
def test_a_skill_is_not_created_where_an_environment_is_no_folder(library, tmp_path, target):
    library.path.mkdir()
    place = library.path / "household"
    place.write_text("x") if target is None else place.symlink_to(target)
    with pytest.raises(UsageError, match="the skill .*/household/heat-1 cannot be created: it is a "):
        import_skills(library, foreign(tmp_path / "a.zip"))


def test_a_skill_whose_names_are_all_taken_gets_a_new_one(library, tmp_path):
    library.add(skill())
    path = foreign(tmp_path / "a.zip", PLAN.replace("apple", "egg"))
    (row,) = import_skills(library, path)
    library.change(library.get_by_name(row.name), plan=PLAN.replace("apple", "pan"))
    (again,) = import_skills(library, path)
    assert again.name == f"{row.name}-2"
    (library.path / "household" / "heat-1" / "SKILL.md").unlink()
    library.change(library.get_by_name(again.name), plan=PLAN.replace("apple", "mug"))
    library.refresh()
    assert import_skills(library, path)[0].name == f"{row.name}-3"


def test_a_plan_that_the_library_has_is_refused(library, tmp_path):
    library.add(skill("other-name"))
    (row,) = import_skills(library, foreign(tmp_path / "a.zip"))
    assert row.reason == "the library has a skill with this plan already"


@pytest.mark.parametrize(
    "name", ["../../etc/x/plan.py", "/household/heat-1/plan.py", "household/../../SKILL.md", "HOUSEHOLD/heat/plan.py"]
)
def test_other_members_of_the_archive_are_ignored(library, tmp_path, name):
    assert import_skills(library, archive(tmp_path / "a.zip", **{name: "x"})) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.zip"]


def test_a_bomb_is_not_unpacked(library, tmp_path):
    members = {"household/heat-1/SKILL.md": format_manifest(skill()), "household/heat-1/plan.py": "#" * 50_000_000}
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in members.items():
            file.writestr(name, text)
    (row,) = import_skills(library, path)
    assert "larger than" in row.reason


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_skill_that_cannot_be_unpacked_is_refused_and_the_others_are_imported(library, tmp_path, packed):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", packed) as file:
        for name in ("heat-1", "heat-2"):
            file.writestr(f"household/{name}/SKILL.md", format_manifest(skill(name)))
            file.writestr(f"household/{name}/plan.py", PLAN)
        torn = file.getinfo("household/heat-1/plan.py").header_offset + 30 + len("household/heat-1/plan.py")
    data = bytearray(path.read_bytes())
    data[torn : torn + 40] = b"\xff" * 40
    path.write_bytes(data)
    first, second = import_skills(library, path)
    assert "cannot be unpacked" in first.reason
    assert second.name == "heat-2"


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04" + b"\0" * 40])
def test_a_file_that_is_not_a_zip_file_is_refused(library, tmp_path, content):
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(UsageError, match=r"cannot be read as a zip file of skills"):
        import_skills(library, tmp_path / "a.zip")


def test_skills_of_an_unknown_environment_are_refused(library, tmp_path):
    made = skill(env="moonbase")
    path = archive(
        tmp_path / "a.zip", **{"moonbase/heat-1/SKILL.md": format_manifest(made), "moonbase/heat-1/plan.py": PLAN}
    )
    (row,) = import_skills(library, path)
    assert "no environment 'moonbase'" in row.reason


@pytest.mark.parametrize("packed", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("bomb", ["SKILL.md", "plan.py"])
def test_a_member_that_python_would_unpack_without_bound_is_refused(library, tmp_path, packed, bomb):
    members = {"SKILL.md": format_manifest(skill()), "plan.py": PLAN}
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        for name, text in members.items():
            kind = packed if name == bomb else zipfile.ZIP_DEFLATED
            file.writestr(f"household/heat-1/{name}", text, kind)
    (row,) = import_skills(library, path)
    assert row.name == ""
    assert f"{bomb} cannot be unpacked; pack the file with the usual method, deflate" in row.reason


def test_a_zip_file_with_an_endless_list_of_members_is_refused(library, tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("household/heat-1/plan.py", PLAN)
        file.filelist[0].comment = b"c" * 60_000  # a comment stands in the list of members only
        file.filelist *= 200
    assert path.stat().st_size > 8 << 20
    with pytest.raises(UsageError, match="list of members is too long"):
        import_skills(library, path)


def test_the_librarys_plans_are_read_once_and_those_of_the_file_known(library, tmp_path, monkeypatch):
    members = {}
    for number, plan in enumerate([PLAN, PLAN + "# other\n", PLAN, PLAN + "# other\n"]):
        name = f"heat-{number}"
        members |= {f"household/{name}/SKILL.md": format_manifest(skill(plan=plan, name=name))}
        members |= {f"household/{name}/plan.py": plan}
    reads = []
    entries = SkillLibrary.entries
    monkeypatch.setattr(SkillLibrary, "entries", lambda self, env: reads.append(env) or entries(self, env))
    rows = import_skills(library, archive(tmp_path / "a.zip", **members))
    assert [row.name for row in rows] == ["heat-0", "heat-1", "", ""]
    assert "with this plan already" in rows[3].reason
    assert reads == ["household"]
