"""The pytest plugin in a project that uses it."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET

import pytest
from support.plan_suites import CLEANS, MANIFEST, clean_plan, write

REPORT = """\
_________________________________ clean/1591 __________________________________
clean.py: an assertion failed in step 2; expected success
  task: clean/1591: put a clean lettuce in diningtable.
  clean.py:43, step 2: I take the lettuce
      41 |             approach(place)
      42 |             agent.take(found, place)
  >   43 |         assert agent.holding == found, f'Error in [Step 2]: I cannot take {found} from {place}. {agent.report()}'
      44 |     if start_from <= 3:
      45 |         print('[Step 3] I clean it at the sinkbasin 1')
  AssertionError: Error in [Step 2]: I cannot take lettuce 1 from countertop 1. I am at countertop 1, holding nothing. \
Last action: 'take lettuce 1 from countertop 1'; it answered: 'Nothing happens.'
  seen = {}
  found = 'lettuce 1'
  place = 'countertop 1'
  actions: 2:
    [2] go to countertop 1 -> You arrive at loc 20. On the countertop 1, you see a bowl 2, a pan 2, a paperto…
    [2] take lettuce 1 from countertop 1 -> Nothing happens.
"""


@pytest.fixture
def project(pytester):
    """A project with one plan and its manifest."""
    write(pytester.path)
    return pytester


def test_it_collects_manifests_by_stable_names(project):
    write(project.path, 'faults = ["nothing"]\n' + MANIFEST + 'expect = { resumes = "all" }\n')
    found = project.runpytest("--collect-only", "-q")
    found.stdout.fnmatch_lines(
        [
            "clean.plan.toml::clean/418",
            r"clean.plan.toml::clean/418[[]resume]",
            r"clean.plan.toml::clean/418[[]nothing]",
        ]
    )


def test_a_failure_shows_the_plans_line_step_variables_and_last_actions(project):
    plan = clean_plan().replace("found, place = search(", "found, place = 'lettuce 1', 'countertop 1' #")
    write(project.path, MANIFEST.replace("418", "1591"), plan)
    shown = "\n".join(project.runpytest().outlines)
    assert REPORT.split("\n", 1)[1] in shown


def test_a_test_is_selected_by_name_by_k_and_by_marker(project):
    write(project.path, 'faults = "all"\nmarks = ["kitchen"]\n' + MANIFEST)
    project.makeini("[pytest]\nmarkers = kitchen")
    project.runpytest("clean.plan.toml::clean/418[nothing]").assert_outcomes(passed=1)
    project.runpytest("-k", "popup or slow").assert_outcomes(passed=2, deselected=8)
    project.runpytest("-m", "plan_fault and kitchen").assert_outcomes(passed=6, skipped=3, deselected=1)
    project.runpytest("-m", "not plan").assert_outcomes(deselected=10)


def test_markers_are_known_to_strict_pytest(project):
    project.runpytest("--strict-markers", "-W", "error").assert_outcomes(passed=1)


def test_xdist_distributes_tests_and_coverage_is_combined(project):
    write(project.path, 'faults = ["nothing", "slow"]\n' + MANIFEST.replace("seed = 418", "seeds = [418, 1591]"))
    found = project.runpytest("-n", "2", "--plan-cov")
    found.assert_outcomes(passed=6)
    alone = project.runpytest("--plan-cov", "-p", "no:xdist")
    table = [line for line in alone.outlines if line.startswith("clean.py ")]
    assert table
    assert table == [line for line in found.outlines if line.startswith("clean.py ")]


def test_a_bad_manifest_is_one_error_with_file_line_and_key(project):
    write(project.path, MANIFEST + "[expect]\nactons = 3\n")
    found = project.runpytest()
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(["clean.plan.toml:8: expect.actons: there is no such key; did you mean 'actions'*"])
    assert "Traceback" not in found.stdout.str()


def test_an_unknown_task_fails_with_one_sentence(project):
    write(project.path, MANIFEST.replace('clean"', 'dance"'))
    found = project.runpytest()
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["the household has no tasks of kind 'dance'; its kinds are *"])
    assert "Traceback" not in found.stdout.str()


@pytest.mark.parametrize(
    ("hostile", "told"),
    [
        ("import os; os.getcwd()", "the plan was refused"),
        ("open('owned', 'w')", "the plan was refused"),
        ("().__class__.__base__.__subclasses__()", "the plan was refused"),
        ("[0 for a in range(10**9)]", "the plan was stopped"),
        ("print('\\x1b]0;owned\\x07' * 9); assert False, 'Error in [Step 1]: \\x1b[31mowned'", "an assertion failed"),
    ],
)
def test_a_hostile_plan_fails_and_gets_nothing(project, hostile, told):
    plan = f"def solution(agent, start_from=1):\n    if start_from <= 1:\n        {hostile}\n        assert agent.holding, 'Error'\n"
    write(project.path, MANIFEST, plan)
    found = project.runpytest()
    found.assert_outcomes(failed=1)
    assert told in found.stdout.str()
    assert "\x1b" not in found.stdout.str()
    assert not (project.path / "owned").exists()


def test_a_plan_is_never_imported_or_run_by_pytest_itself(project):
    write(project.path, MANIFEST, f"print('here')\n{clean_plan()}")
    (project.path / "test_other.py").write_text(
        "import sys\n\ndef test_no_plan():\n    assert 'clean' not in sys.modules\n"
    )
    found = project.runpytest("-s")
    assert "here" not in found.outlines
    assert "clean" not in sys.modules


def test_a_real_model_is_asked_only_with_live_llm(project):
    write(project.path, MANIFEST + "[answers]\nmodel = 'some-model'\n")
    found = project.runpytest("-rs")
    found.assert_outcomes(skipped=1)
    found.stdout.fnmatch_lines(["*run it with --live-llm*"])


def test_the_junit_report_has_each_plans_figures(project):
    project.runpytest("--junitxml", "junit.xml", "-o", "junit_family=xunit1").assert_outcomes(passed=1)
    properties = ET.parse(project.path / "junit.xml").iter("property")
    found = {p.attrib["name"]: p.attrib["value"] for p in properties}
    assert found["plan"] == "clean.py"
    assert (found["plan_actions"], found["plan_asks"], found["plan_success"]) == ("6", "0", "True")


def test_coverage_is_shown_written_as_pages_and_compared_with_a_minimum(project):
    found = project.runpytest("--plan-cov", "--plan-cov-html", "pages", "--plan-cov-fail-under", "99")
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    found.stdout.re_match_lines(
        [r"clean\.py +4/4 +30/38 +7/16 +69 %  .*", r"FAIL: coverage is 68\.5 %, below the required 99 %"]
    )
    page = next(p for p in (project.path / "pages").glob("*.html") if p.name != "index.html").read_text()
    assert re.search(r'class="line missed"><span class="no">  27', page)
    assert "<script" not in page
    assert project.runpytest("--plan-cov-fail-under", "60").ret == 0


def test_mutants_run_if_requested(project):
    weak = MANIFEST + "[mutation]\nat_least = 0.9\n"
    write(project.path, weak, clean_plan().replace(CLEANS, "assert seen, 'Error in [Step 3]: nothing seen'"))
    project.runpytest().assert_outcomes(passed=1)
    found = project.runpytest("--plan-mutants")
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.re_match_lines(
        [
            r"clean\.py: the tests kill \d+ of 33 mutants .*",
            r"survived: clean\.py:48: step 3: assert nothing instead of seen",
        ]
    )


def test_no_heavy_module_is_loaded_without_plans(pytester):
    pytester.makepyfile(
        "import sys\n\ndef test_it():\n    assert not {'codeplan.sandbox', 'codeplan.envs', 'hypothesis', 'msgspec'} & set(sys.modules)\n"
    )
    pytester.runpytest_subprocess("-p", "no:hypothesispytest").assert_outcomes(passed=1)


def test_the_command_runs_where_warnings_are_errors(project):
    ran = project.run(sys.executable, "-m", "codeplan", "test", "-q", "-W", "error")
    assert ran.ret == 0
    assert "warning" not in str(ran.stdout)
