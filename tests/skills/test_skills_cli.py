"""``codeplan skills``: tables for people, JSON for scripts, one sentence for what is wrong."""

import json
import shutil
import subprocess
import sys

import pytest
from support.curation_samples import made
from support.skill_samples import PLAN, skill

from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import EvidenceRecord


@pytest.fixture
def library(tmp_path):
    made = SkillLibrary(tmp_path / "skills")
    made.add(skill("heat-1"))
    made.add(skill("heat-2", "candidate", plan=PLAN.replace("apple", "egg"), description="Heats an egg."))
    for seed in range(8):
        made.record(
            skill("heat-1"), EvidenceRecord(f"heat/{seed}", seed, "m", True, True, phase="filter", run=f"runs/{seed}")
        )
        made.record(skill("heat-1"), EvidenceRecord(f"heat/{seed}", seed, "m", False, False, phase="filter"))
    return made


def codeplan(library, *arguments):
    command = [sys.executable, "-m", "codeplan", "skills", *arguments, "--library", str(library.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=library.path.parent)
    return done.returncode, done.stdout, done.stderr


def as_json(library, *arguments):
    code, out, _ = codeplan(library, *arguments, "--json")
    return code, json.loads(out)


def test_list_shows_status_version_and_evidence(library):
    code, out, err = codeplan(library, "list")
    assert (code, err) == (0, "")
    assert out.split("\n")[2].split() == ["household/heat-1", "heat", "active", "1", "8/8", "0/8"]
    _, found = as_json(library, "list", "--status", "candidate")
    assert [e["name"] for e in found["skills"]] == ["heat-2"]
    _, found = as_json(library, "list", "--run", "runs/3")
    assert [e["name"] for e in found["skills"]] == ["heat-1"]


def test_list_names_what_is_damaged_and_shows_the_rest(library):
    (library.path / "household" / "heat-2" / "SKILL.md").write_text("\x1b[31mbroken")
    code, out, err = codeplan(library, "list")
    assert code == 0
    assert "heat-1" in out
    assert "heat-2/SKILL.md" in err
    assert "\x1b" not in err


def test_show_has_origins_evidence_statistics_and_plan(library):
    code, out, _ = codeplan(library, "show", "heat-1")
    assert code == 0
    for words in ("parameters  ", "from        heat/2000", "runs/3", "0.0078", "def solution(agent, start_from=1):"):
        assert words in out
    _, found = as_json(library, "show", "household/heat-1")
    assert (found["statistics"]["wins"], len(found["evidence"])) == (8, 16)


def test_diff_is_of_skills_and_of_versions(library):
    code, out, _ = codeplan(library, "diff", "heat-1", "heat-2")
    assert code == 1
    assert '-     the_item = "apple"' in out
    library.change(skill("heat-1"), plan=PLAN + "# more\n")
    code, found = as_json(library, "diff", "heat-1@1", "heat-1")
    assert found[-1] == {"mark": "+", "line": "# more"}
    assert codeplan(library, "diff", "heat-1@1", "heat-1@1")[:2] == (0, "the plans are equal\n")


def test_search_and_stats(library):
    assert [e["name"] for e in as_json(library, "search", "eggs")[1]] == ["heat-2"]
    (one, two) = as_json(library, "stats")[1]
    assert (one["shown"], one["solved"], one["baseline_solved"], one["wins"]) == (8, 8, 0, 8)
    assert one["interval"][0] > 0.6
    assert (two["shown"], two["interval"]) == (0, [0.0, 1.0])
    assert "household/heat-1" in codeplan(library, "stats")[1]


def test_promote_retire_pin_and_merge(library):
    for command, status in (("promote", "active"), ("retire", "retired")):
        assert codeplan(library, command, "heat-2")[0] == 0
        assert library.get_by_name("heat-2").status == status
    codeplan(library, "pin", "heat-2")
    assert library.get_by_name("heat-2").pinned
    codeplan(library, "pin", "heat-2", "--off")
    assert not library.get_by_name("heat-2").pinned
    assert codeplan(library, "merge", "heat-1", "heat-2")[0] == 0
    assert library.get_by_name("heat-2").status == "retired"


def test_export_adds_the_suffix_that_import_and_other_programs_know(library):
    assert as_json(library, "export", "all")[1] == {"file": "all.zip", "skills": 2}
    assert (library.path.parent / "all.zip").is_file()
    code, _, err = codeplan(library, "export", "all")
    assert (code, err) == (2, "codeplan: all.zip exists already; name a new file\n")
    assert as_json(library, "export", "all.backup")[1]["file"] == "all.backup"


def test_export_import_and_rebuild(library):
    assert as_json(library, "export", "all.zip")[1] == {"file": "all.zip", "skills": 2}
    other = SkillLibrary(library.path.parent / "other")
    code, rows = as_json(other, "import", "all.zip")
    assert (code, [r["name"] for r in rows]) == (0, ["heat-1", "heat-2"])
    code, rows = as_json(other, "import", "all.zip")
    assert (code, {r["reason"] for r in rows}) == (1, {"the library has a skill with this plan already"})
    assert as_json(other, "rebuild") == (0, {"folders": 2, "faults": [], "changed": []})
    (other.path / "household" / "heat-1" / "SKILL.md").unlink()
    assert codeplan(other, "rebuild")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["import", "none.zip"], "there is no file none.zip; name a zip file of skills, or a library's folder\n"),
        (["show", "nobody"], "skills list --library /"),
        (["show", "../../etc"], "is not a valid name for an environment"),
        (["show", "heat-1@9"], "has no version 9; its latest is 1"),
        (["show", "heat-1@x"], "is not a version"),
        (["list", "--status", "new"], "is no status"),
        (["merge", "heat-1", "heat-1"], "with itself"),
        (["import", "/proc/self/fd"], "there are no skills in /proc/self/fd"),
        (["filter", "household", "--test", "t"], "is no test"),
        (["discover", "household", "--split", "moon"], "no split moon"),
        (["discover", "nowhere"], "no environment"),
    ],
)
def test_bad_input_is_one_sentence(library, arguments, why):
    code, out, err = codeplan(library, *arguments)
    assert code == 2
    assert why in err
    assert err.count("\n") == 1


def test_a_candidate_without_pairs_is_in_the_json(library):
    library.add(skill("bad-1", "candidate", plan="def solution(agent, start_from=1):\n    agent.goto('x')\n"))
    code, out, _ = codeplan(library, "filter", "household", "--skill", "bad-1", "--alone", "1", "--json")
    assert "NaN" not in out
    assert (code, json.loads(out)["filtered"][0]["difference"]["value"]) == (0, None)


@pytest.mark.long
@pytest.mark.parametrize(
    ("wins", "pairs", "status"),
    [(0, "needs 7 pairs", "candidate"), (3, "needs 4 pairs", "candidate"), (5, "", "active"), (9, "", "active")],
)
def test_a_promotion_is_called_impossible_only_if_the_earlier_pairs_leave_it_so(library, wins, pairs, status):
    good = library.add(made("heat", name="heat-good"))
    for seed in range(wins):
        for shown in (True, False):
            record = EvidenceRecord(f"heat/9{seed}", seed, "scripted", shown, shown, phase="filter")
            library.record(good, record)
    flags = ["--set", "gaps=1.0", "--set", "sample_kinds=pick"]
    code, out, err = codeplan(
        library, "filter", "household", "--skill", "heat-good", "--pairs", "2", "--alone", "1", *flags
    )
    said = f"codeplan: no promotion is possible with --pairs 2: at level 0.05 the sequential test {pairs} for one"
    assert (code, err.startswith(said), "no promotion" in err) == (0, bool(pairs), bool(pairs))
    assert ("Not tried" in out) == bool(pairs)
    assert library.get_by_name("heat-good").status == status


@pytest.mark.long
def test_filter_and_check_run_episodes_set_the_exit_code_and_replay_from_tapes(library, tmp_path):
    library.add(made("heat", name="heat-good"))
    shutil.copytree(library.path, tmp_path / "later" / "skills")
    later = SkillLibrary(tmp_path / "later" / "skills")
    flags = ["--set", "gaps=1.0", "--set", "sample_kinds=pick", "--skill", "heat-good"]
    filtering = ["filter", "household", "--pairs", "8", "--alone", "1", *flags]
    played = []
    for command in (filtering, ["check", "--skill", "heat-good", "-n", "2"]):
        tape = str(tmp_path / command[0])
        played.append(as_json(later, *command, "--record", tape))
        assert played[-1] == as_json(library, *command, "--replay", tape)
    (filtered, verdicts), (checked, solved) = played
    assert (filtered, verdicts["filtered"][0]["verdict"], verdicts["filtered"][0]["wins"]) == (0, "helps", 7)
    assert (checked, solved["checked"][0]["solved"]) == (0, 2)
    assert list((later.path.parent / "runs").iterdir())
    assert [s.status for s in library.entries() if s.name == "heat-good"] == ["active"]
    assert not (tmp_path / "runs").exists()
    code, _, err = codeplan(library, *filtering, "--replay", str(tmp_path / "check"))
    assert (code, err.count("\n")) == (1, 1)
    code, _, err = codeplan(library, *filtering, "--replay", str(tmp_path / "check"), "--out", "x")
    assert (code, err) == (2, "codeplan: episodes from a tape leave no traces; omit --out or --replay\n")
