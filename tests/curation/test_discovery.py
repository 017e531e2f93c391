"""Discovery end to end: from one sample to skills that raise success on unseen tasks."""

import pytest

from codeplan.curation.curation_runner import CurationRunner
from codeplan.curation.filtering import FilterRule, compare_library, discover_skills, run_skill_alone
from codeplan.envs.registry import take_of_each_kind
from codeplan.skills.library import SkillLibrary

pytestmark = pytest.mark.long

KINDS = ("heat", "examine")
SHOWN = 3


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The library that was discovered for two kinds, what happened, and where."""
    folder = tmp_path_factory.mktemp("discovery")
    library = SkillLibrary(folder / "skills")
    runner = CurationRunner("household", folder=folder / "runs", gaps=0.8, sample_kinds="pick")
    tasks = [t for t in runner.tasks("train") if t.kind in KINDS]
    rounds = discover_skills(runner, library, tasks, per_kind=8, max_candidates=1, rule=FilterRule(pairs=24))
    return runner, library, rounds


def test_a_round_acquires_from_successes_and_filters(found):
    _, library, (first,) = found
    assert first.episodes == 16
    assert 0 < first.solved < 16
    assert {r.status for r in first.filtered} == {"active"}
    assert {e.kind for e in library.entries(status="active")} == set(KINDS)


def test_every_promoted_skill_runs_from_step_1_on_other_tasks_of_its_kind(found):
    runner, library, _ = found
    for entry in library.entries(status="active"):
        skill = library.get(entry.env, entry.name)
        known = {o.task for o in skill.origins} | {t.task for t in library.read_evidence(skill)}
        others = [t for t in runner.tasks("test") if t.kind == skill.kind and t.id not in known][:4]
        assert run_skill_alone(runner, library, skill, others) == [True] * 4


def test_success_rises_on_unseen_tasks(found):
    runner, library, _ = found
    unseen = take_of_each_kind([t for t in runner.tasks("dev") if t.kind in KINDS], SHOWN)
    *kinds, total = compare_library(runner, library, unseen)
    assert [r.kind for r in kinds] == list(KINDS)
    assert total.pairs == 2 * SHOWN
    assert total.solved > total.baseline_solved
    assert total.losses == 0


def test_skills_and_their_episodes_link_to_each_other(found):
    _, library, _ = found
    entry = library.entries(status="active")[0]
    skill = library.get(entry.env, entry.name)
    runs = [o.run for o in skill.origins] + [t.run for t in library.read_evidence(skill) if t.run]
    assert all(runs)
    for run in (runs[0], runs[-1]):
        assert entry.name in [e.name for e in library.entries_of_run(run)]


def test_comparing_records_no_evidence(found):
    runner, library, _ = found
    before = {e.name: e.evidence.shown for e in library.entries()}
    compare_library(runner, library, take_of_each_kind([t for t in runner.tasks("dev") if t.kind == "heat"], 1))
    assert {e.name: e.evidence.shown for e in library.entries()} == before
