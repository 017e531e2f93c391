"""The verdicts of a manifest's cases on good and bad plans."""

from __future__ import annotations

import pytest
from support.plan_suites import CLEANS, MANIFEST, TAKES, clean_plan, messages, verdicts, write

from codeplan.sandbox.analysis.plan_shape import PARAMETERS_CLOSING, PARAMETERS_OPENING
from codeplan.skills.library import SkillLibrary
from codeplan.skills.skill import Skill
from codeplan.testing.cases import format_report
from codeplan.testing.faults import FAULTS, wrong_answer
from codeplan.testing.manifest import ManifestError

FAULTY = 'faults = ["nothing"]\n' + MANIFEST


def weakened(assertion):
    """Return the plan with an assertion that checks nothing in place of this one."""
    return clean_plan().replace(assertion, "assert seen, 'Error: nothing was seen'")


def test_a_good_plan_passes_unchanged_resumed_and_under_every_fault(tmp_path):
    found = verdicts(
        write(
            tmp_path,
            'faults = "all"\n'
            + MANIFEST
            + 'expect = { resumes = "all", actions = 6, asks = 0, steps = [1, 2, 3, 4] }\n',
        )
    )
    assert {name: messages(v) for name, v in found.items() if v.complaints} == {}
    assert set(found) == {"clean/418", "clean/418[resume]", *(f"clean/418[{fault}]" for fault in FAULTS)}


def test_an_assertion_that_checks_nothing_is_exposed_by_a_fault(tmp_path):
    found = verdicts(write(tmp_path, FAULTY, weakened(CLEANS)))
    assert messages(found["clean/418"]) == []
    assert messages(found["clean/418[nothing]"]) == [
        "an action has no effect, and the observation says so, at 'go to sinkbasin 1' in step 3, and no assertion noticed: "
        "the plan ran to its end without success",
        "an action has no effect, and the observation says so, at 'clean lettuce 1 with sinkbasin 1' in step 3, and no "
        "assertion noticed: the plan ran to its end without success",
    ]


def test_a_step_without_an_assertion_may_pass_until_a_fault_exposes_it(tmp_path):
    found = verdicts(write(tmp_path, FAULTY, clean_plan().replace(CLEANS, "pass")))
    assert messages(found["clean/418"]) == []
    assert any("in step 3, and no assertion noticed" in m for m in messages(found["clean/418[nothing]"]))


def test_an_assertion_in_a_later_step_is_too_late_unless_the_manifest_allows_it(tmp_path):
    late = verdicts(write(tmp_path, FAULTY, weakened(TAKES)))["clean/418[nothing]"]
    assert messages(late) == [
        "an action has no effect, and the observation says so, at 'take lettuce 1 from countertop 1' in step 2, and only an "
        "assertion in step 3 noticed: step 2 let it pass"
    ]
    (tmp_path / "again").mkdir()
    allowed = verdicts(write(tmp_path / "again", 'caught = "any-step"\n' + FAULTY, weakened(TAKES)))
    assert messages(allowed["clean/418[nothing]"]) == []


def test_a_plan_that_a_fault_ends_with_a_traceback_fails(tmp_path):
    plan = clean_plan().replace(CLEANS, "assert answer.split()[4]")
    found = verdicts(write(tmp_path, FAULTY, plan))["clean/418[nothing]"]
    assert "no assertion noticed: IndexError was raised in step 3" in messages(found)[0]


def test_a_plan_that_works_only_on_its_own_episode_fails_on_others(tmp_path):
    plan = clean_plan().replace("search('lettuce', [", "('lettuce 1', 'countertop 1') if True else search('lettuce', [")
    found = verdicts(write(tmp_path, MANIFEST.replace("seed = 418", "seeds = [418, 1591, 493]"), plan))
    assert [name for name, verdict in found.items() if not verdict.complaints] == ["clean/418"]
    assert messages(found["clean/1591"]) == ["an assertion failed in step 2; expected success"]


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ("actions = 5", "it took 6 actions; at most 5 are allowed"),
        ("steps = [1, 2]", "it entered the steps 1, 2, 3, 4; expected 1, 2"),
        ("success = false", "the plan succeeded; expected no success"),
        ("output = 'Step 9'", "its output does not match 'Step 9'"),
        ("checkpoint = { found = 'mug 1' }", "the variable found is 'lettuce 1'; expected 'mug 1'"),
        ("checkpoint = { lost = 1 }", "the variable lost is not set; expected 1"),
        ("refuses = { step = 2 }", "the plan succeeded; expected an assertion to fail in step 2"),
    ],
)
def test_each_unmet_expectation_is_one_sentence(tmp_path, expect, message):
    found = verdicts(write(tmp_path, MANIFEST + f"expect = {{ {expect} }}\n"))
    assert messages(found["clean/418"]) == [message]


def test_a_refusal_of_the_whole_plan_has_no_line(tmp_path):
    found = verdicts(write(tmp_path, MANIFEST, "x = 1\n"))
    report = format_report("clean.py", found["clean/418"].complaints)
    assert "  clean.py: there is no function `solution`" in report


def test_an_expected_failure_must_match_step_and_message(tmp_path):
    task = '[[tasks]]\nkind = "clean"\nseed = 33\nexpect = {{ refuses = {{ step = {}, message = "{}" }} }}\n'
    text = MANIFEST + task.format(1, "no lettuce") + task.format(1, "no soap") + task.format(2, "")
    found = verdicts(write(tmp_path, text))
    assert messages(found["clean/33"]) == []
    assert messages(found["clean/33#2"]) == ["the message of the assertion in step 1 does not match 'no soap'"]
    assert messages(found["clean/33#3"]) == ["an assertion failed in step 1; expected an assertion to fail in step 2"]


def test_each_step_is_resumed_once_and_those_never_entered_are_named_in_one_sentence(tmp_path):
    path = write(tmp_path, MANIFEST + "expect = { resumes = [4, 9, 4, 8, 9, 4] }\n")
    verdict = verdicts(path)["clean/418[resume]"]
    assert messages(verdict) == ["the steps 9, 8 are never entered, so the plan cannot be resumed there"]
    assert len(verdict.runs) == 1
    one = verdicts(write(tmp_path, MANIFEST + "expect = { resumes = [9] }\n"))["clean/418[resume]"]
    assert messages(one) == ["step 9 is never entered, so the plan cannot be resumed there"]


def test_a_plan_that_repeats_an_action_when_it_is_resumed_fails(tmp_path):
    plan = clean_plan().replace("    if start_from <= 1:", "    agent.goto('countertop 1')\n    if start_from <= 1:")
    found = verdicts(write(tmp_path, MANIFEST + "expect = { resumes = [4] }\n", plan))
    assert messages(found["clean/418"]) == []
    assert messages(found["clean/418[resume]"]) == [
        "resumed at step 4, the plan did 'go to countertop 1' again; expected 'go to diningtable 1'"
    ]


@pytest.mark.parametrize(
    ("answers", "passes"),
    [
        ("fixed = \"['garbagecan 1']\"", False),
        ("patterns = [{ pattern = 'look for a lettuce', answer = \"['cabinet 1', 'drawer 1']\" }]", False),
        ("patterns = [{ pattern = 'look for a mug', answer = '[]' }]", None),
        ("model = 'scripted'", True),
    ],
)
def test_questions_get_the_manifests_answers(tmp_path, answers, passes):
    text = MANIFEST.replace("418", "1835") + f"names = {{ lettuce = 'cup' }}\n[answers]\n{answers}\n"
    path = write(tmp_path, text.replace("look for a lettuce", "look for a cup"))
    if passes is None:
        with pytest.raises(Exception, match="the plan asked .*look for a cup.* which has no answer: no pattern fits"):
            verdicts(path)
    else:
        assert (messages(verdicts(path)["clean/1835"]) == []) is passes


def test_a_wrong_answer_has_the_right_form():
    assert wrong_answer("['drawer 2', 'desk 1']") == "['drawer 72', 'desk 71']"
    assert wrong_answer("yes, do") == "noyes, nodo"
    assert (
        wrong_answer('{"due": "2024-05-01", "paid": true, "sum": -5}')
        == '{"due": "2094-05-01", "paid": false, "sum": -75}'
    )
    assert wrong_answer('"spam"', ["spam", "ham"]) == '"ham"'


def test_a_skill_is_tested_with_values_for_its_parameters(tmp_path):
    head = f'    {PARAMETERS_OPENING} put a clean mug in safe.\n    thing = "mug"\n    {PARAMETERS_CLOSING}\n'
    plan = clean_plan().replace("'lettuce'", "thing").replace("    def approach", f"{head}    def approach")
    SkillLibrary(tmp_path / "library").add(Skill("clean-it", "household", plan, kind="clean", parameters=("thing",)))
    text = MANIFEST.replace('plan = "clean.py"', 'skill = "library/household/clean-it"')
    again = '[[tasks]]\nkind = "clean"\nseed = 418\nvalues = { thing = "lettuce" }\nexpect = { checkpoint = { thing = "lettuce" } }\n'
    found = verdicts(write(tmp_path, f"{text}{again}"))
    assert messages(found["clean/418"]) != []
    assert messages(found["clean/418#2"]) == []


def test_an_unreadable_skill_is_reported(tmp_path):
    (tmp_path / "library").mkdir()
    text = MANIFEST.replace('plan = "clean.py"', 'skill = "library"')
    with pytest.raises(ManifestError, match="the skill cannot be read: .*SKILL.md"):
        verdicts(write(tmp_path, text))
