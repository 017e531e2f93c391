"""Filtering: promoted only when success rises on other tasks; harmful ones retired; the poisoned one never promoted."""

import pytest
from support.boxes import Boxes, Replies
from support.curation_samples import made, poisoned
from support.foreign_values import count_steps

from codeplan.curation.curation_runner import CurationRunner
from codeplan.curation.filtering import FilterRule, check_skills, filter_candidates, list_candidates, missing_pairs
from codeplan.errors import UsageError
from codeplan.runner.recorded_episodes import replay, resume
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import Skill

pytestmark = pytest.mark.long

GAPS = {"gaps": 0.8, "sample_kinds": "pick"}


@pytest.fixture
def library(tmp_path):
    return SkillLibrary(tmp_path / "skills")


@pytest.fixture
def runner():
    return CurationRunner("household", **GAPS)


def tried(runner, library, *skills, **rule):
    for skill in skills:
        library.add(skill)
    return filter_candidates(runner, library, runner.tasks("train"), skills, FilterRule(**rule))


@pytest.mark.parametrize(("test", "needed"), [("sequential", 7), ("fixed", 6)])
def test_too_few_pairs_for_a_promotion_are_counted_and_nothing_is_run(runner, library, test, needed):
    (row,) = tried(runner, library, made("heat"), pairs=4, test=test)
    assert (row.missing_pairs, row.pairs, row.alone, row.status) == (needed - 4, 0, 0, "candidate")
    assert library.read_evidence(made("heat")) == []
    assert missing_pairs((), needed, 0.05, test) == 0
    assert missing_pairs((), needed - 1, 0.05, test) == 1


def test_earlier_wins_count_towards_the_pairs_of_the_sequential_test():
    assert missing_pairs([(True, False)] * 5, 2, 0.05, "sequential") == 0
    assert missing_pairs([(True, False)] * 5, 1, 0.05, "sequential") == 1


@pytest.mark.parametrize(("test", "level"), [("sequential", 0.05), ("fixed", 1e-300)])
def test_missing_pairs_are_not_counted_one_by_one(test, level):
    lost = [(False, True)] * 2_000
    assert count_steps(lambda: missing_pairs(lost, 0, level, test)) < 2 * len(lost) + 400  # two to count a pair
    needed = missing_pairs(lost, 0, level, test)
    assert (missing_pairs(lost, needed, level, test), missing_pairs(lost, needed - 1, level, test)) == (0, 1)


def test_a_skill_that_raises_success_is_promoted_with_its_statistics(runner, library):
    (row,) = tried(runner, library, made("heat"))
    assert (row.verdict, row.status) == ("helps", "active")
    assert library.get_by_name("heat-good").status == "active"
    assert row.wins > row.losses == 0
    assert row.solved == row.pairs > row.baseline_solved
    assert row.e_value >= 1 / row.level
    assert row.difference.low > 0
    assert (row.alone, row.alone_solved) == (5, 5)


def test_episodes_replay_offline_without_their_library(library, tmp_path):
    runner = CurationRunner("household", folder=tmp_path / "runs", **GAPS)
    tried(runner, library, made("heat"), pairs=2, alone=1, level=0.6)
    (tmp_path / "skills").rename(tmp_path / "elsewhere")
    runs = sorted((tmp_path / "runs").iterdir())
    assert {r.name.split("-")[-3] for r in runs} >= {"with", "alone"}
    for run in runs:
        replay(run)
    trace = runs[0] / "trace.jsonl"
    trace.write_bytes(trace.read_bytes().split(b"\n")[0] + b"\n")
    with pytest.raises(UsageError, match="library='FixedStore.*'; .* give --set library="):
        resume(runs[0])


def test_every_episode_is_evidence_and_none_is_on_the_task_it_came_from(runner, library):
    (row,) = tried(runner, library, made("heat", 2000))
    trials = library.read_evidence(library.get_by_name("heat-good"))
    pairs = [t for t in trials if t.phase == "filter"]
    assert len(pairs) == 2 * row.pairs
    assert sum(t.shown for t in pairs) == row.pairs
    assert "heat/2000" not in {t.task for t in trials}


@pytest.mark.parametrize("alone", [0, 5])
def test_a_poisoned_skill_is_not_promoted(runner, library, alone):
    bad = poisoned("heat")
    assert runner.run_plan(bad.plan, runner.tasks("train")[20], "own").result.task.id == "heat/2003"
    assert runner.run_plan(bad.plan, runner.tasks("train")[20], "own").result.success
    good, row = tried(runner, library, made("heat"), bad, alone=alone)
    assert good.status == "active"
    assert row.status != "active"
    assert row.solved < row.pairs or row.pairs == 0


def test_a_skill_that_harms_is_retired_with_its_evidence(library):
    runner = CurationRunner("household")  # no gaps: it solves these tasks by itself
    (row,) = tried(runner, library, poisoned("heat"), alone=0)
    assert (row.verdict, row.status) == ("harms", "retired")
    assert library.get_by_name("heat-poisoned").status == "retired"
    assert len(library.read_evidence(library.get_by_name("heat-poisoned"))) == 2 * row.pairs


def test_a_skill_without_effect_stays_a_candidate(library):
    (row,) = tried(CurationRunner("household"), library, made("heat"), pairs=6)
    assert (row.verdict, row.status) == ("open", "candidate")


def test_a_pinned_skill_keeps_its_status(runner, library):
    library.add(made("heat"))
    pinned = library.change(library.get_by_name("heat-good"), pinned=True)
    (row,) = filter_candidates(runner, library, runner.tasks("train"), [pinned])
    assert (row.verdict, row.status) == ("helps", "candidate")


def test_with_a_fixed_number_of_pairs_mcnemars_test_decides_after_all_of_them(runner, library):
    (row,) = tried(runner, library, made("heat"), test="fixed", pairs=16)
    assert row.pairs == 16
    assert row.p_value <= row.level
    assert row.status == "active"


def test_each_candidate_is_tested_at_its_share_of_the_level(runner, library):
    rows = tried(runner, library, made("heat"), made("cool", name="cool-good"), pairs=2, alone=0)
    assert [r.level for r in rows] == [0.025, 0.025]


def test_earlier_pairs_count_and_no_task_runs_twice(runner, library):
    (first,) = tried(runner, library, made("heat"), pairs=4, alone=0, level=0.6)
    skill = library.change(library.get_by_name("heat-good"), status="candidate")
    (second,) = filter_candidates(runner, library, runner.tasks("train"), [skill], FilterRule(alone=0, pairs=20))
    used = [t.task for t in library.read_evidence(skill) if t.shown]
    assert second.pairs == len(used) == len(set(used)) > first.pairs
    assert second.status == "active"


def test_the_candidates_that_came_from_most_episodes_are_tried_first(library):
    library.add(made("heat", name="heat-1"))
    library.add(made("heat", 2004, name="heat-2"))
    library.change(library.get_by_name("heat-2"), origins=(*made("heat").origins, *made("heat", 2004).origins))
    library.add(made("heat", name="heat-0"))
    library.add(made("clean", name="clean-9"))
    library.change(library.add(made("heat", name="heat-active")), status="active")

    def listed(*most):
        return [s.name for s in list_candidates(library, "household", *most)]

    assert listed(1) == ["clean-9", "heat-2"]
    assert listed(2) == ["clean-9", "heat-2", "heat-0"]
    assert listed() == ["clean-9", "heat-2", "heat-0", "heat-1"]


def test_a_check_runs_each_skill_again_on_its_tasks_and_plans_nothing(runner, library, tmp_path):
    for skill in (made("heat"), poisoned("clean")):
        library.add(skill)
        library.change(skill, status="active", origins=(*made(skill.kind).origins, *made(skill.kind, 2005).origins))
    good, bad = check_skills(runner, library, [library.get_by_name("heat-good"), library.get_by_name("clean-poisoned")])
    assert (good.tasks, good.solved, good.unsolved) == (2, 2, ())
    assert bad.unsolved == ("clean/2005",)
    assert {t.phase for t in library.read_evidence(library.get_by_name("heat-good"))} == {"check"}


@pytest.mark.parametrize(
    "rule", [{"pairs": 0}, {"level": 0.9e-9}, {"level": 1.0}, {"level": 1.5}, {"test": "t"}, {"alone": -1}]
)
def test_invalid_rules_are_refused(rule):
    with pytest.raises(UsageError):
        FilterRule(**rule)


def test_by_default_five_tasks_alone_and_twenty_pairs_are_judged_at_five_percent():
    assert FilterRule() == FilterRule(alone=5, pairs=20, level=0.05, test="sequential")
    assert FilterRule(alone=0, pairs=1, level=0.999, test="fixed").pairs == 1
    assert missing_pairs((), 20, FilterRule(level=1e-9).level / 10_000, "sequential") < 100


def test_an_episode_that_broke_off_is_not_evidence(library):
    runner = CurationRunner(Boxes(), Replies())  # a model that has no reply left
    skill = library.add(Skill("look-1", "boxes", "def solution(agent, start_from=1):\n    agent.open(2)\n", "find"))
    (row,) = filter_candidates(runner, library, runner.tasks("train"), [skill], FilterRule(alone=0, level=0.6))
    assert (row.pairs, row.status) == (0, "candidate")
    assert library.read_evidence(skill) == []
    assert "no reply is left" in runner.failures[0]
