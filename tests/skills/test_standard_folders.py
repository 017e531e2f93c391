"""SKILL.md as agentskills.io describes it: what we write, what other agents write, and what we wrote before."""

import re
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.skill_samples import PLAN, skill

from codeplan.skills.import_export import import_skills
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill_folder import format_manifest, parse_manifest, parse_yaml, standard_name

OLD = """+++
name = "heat-1"
description = "Heat a thing."
environment = "household"
kind = "heat"
parameters = []
version = 1
status = "active"
pinned = false
digest = "2db06e6ca59ad1ec"

[[origins]]
task = "heat/2000"
goal = "heat some apple and put it in fridge."
model = "scripted"
run = "runs/1"
+++

# heat-1
"""
TRIP = """def solution(agent, start_from=1):
    if start_from <= 1:
        weather = agent.get_weather("Lisbon")
        assert weather, "no weather"
    return weather
"""
FOREIGN = """---
name: plan-trip
description: >
  Plans a trip by the weather.
  Use when somebody travels.
license: MIT
allowed-tools: Bash(rm:*) get_weather
metadata:
  author: somebody
  version: "3.1"
---

# Plan a trip
"""


def foreign(folder, plan=TRIP, text=FOREIGN):
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)
    if plan is not None:
        (folder / "plan.py").write_text(plan)
    return folder


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(max_size=80))
def test_what_we_write_keeps_the_rules_of_the_standard(description, words):
    """The rules of the reference validator: these fields, a name in single hyphens, texts below metadata."""
    name = standard_name(words, "1a2b")
    _, front, body = format_manifest(skill(name, description=description * 50)).split("---", 2)
    fields = parse_yaml(front)
    assert fields.keys() <= {"name", "description", "license", "allowed-tools", "metadata", "compatibility"}
    assert re.fullmatch(r"(?!-)(?!.*--)[a-z0-9-]{1,64}(?<!-)", name) and fields["name"] == name
    assert fields["description"].strip() and len(fields["description"]) <= 1024
    assert all(isinstance(value, str) for value in fields["metadata"].values())
    assert "plan.py" in body


def test_an_old_library_is_read_and_rewritten_on_the_first_change(library):
    folder = library.path / "household" / "heat-1"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(OLD)
    (folder / "plan.py").write_text(PLAN)
    library.refresh()
    assert library.get_by_name("heat-1") == skill() and library.faults() == []
    assert (folder / "SKILL.md").read_text() == OLD
    library.change(skill(), pinned=True)
    assert (folder / "SKILL.md").read_text().startswith('---\nname: "heat-1"\n')
    assert SkillLibrary(library.path).get_by_name("heat-1") == skill(pinned=True)


def test_a_skill_of_another_agent_with_a_plan_is_a_candidate_in_a_library(library):
    folder = foreign(library.path / "tools" / "plan-trip")
    library.refresh()
    found = library.get_by_name("plan-trip")
    assert (found.env, found.plan, found.status, found.version) == ("tools", TRIP, "candidate", 1)
    assert found.description.startswith("Plans a trip by the weather. Use when")
    assert library.rebuild() == 1 and (folder / "SKILL.md").read_text() == FOREIGN
    library.change(found, status="active")
    assert library.get_by_name("plan-trip").status == "active" and library.faults() == []


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_a_folder_of_skills_of_other_agents_is_imported(library, tmp_path, packed):
    theirs = tmp_path / "theirs"
    foreign(theirs / "plan-trip")
    foreign(theirs / "only-words", None, FOREIGN.replace("plan-trip", "only-words"))
    foreign(theirs / "hostile", "import glob\n" + TRIP, FOREIGN.replace("plan-trip", "hostile"))
    if packed:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for path in sorted(theirs.rglob("*.*")):
                archive.write(path, path.relative_to(theirs))
    rows = {r.source: r for r in import_skills(library, tmp_path / "a.zip" if packed else theirs)}
    assert "refused" in rows["hostile"].reason and "plan.py" in rows["only-words"].reason
    assert rows["plan-trip"].name == "plan-trip"
    assert library.get_by_name("tools/plan-trip").status == "candidate"


def test_what_a_stranger_pre_approves_allows_nothing():
    found = parse_manifest(FOREIGN.replace("metadata:", "status: active\nmetadata:\n  status: active"))
    assert (found.status, found.tools, found.pinned) == ("candidate", (), False)
