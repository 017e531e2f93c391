"""Manifests are read strictly: every mistake is reported with file, line and key."""

from __future__ import annotations

import pytest
from support.plan_suites import MANIFEST, write

from codeplan.testing.cases.case import PlanSuite
from codeplan.testing.cases.manifest_files import ManifestError
from codeplan.testing.cases.toml_lines import line_of


def told(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.raises(ManifestError) as caught:
        PlanSuite(path)
    return str(caught.value).removeprefix(f"{tmp_path}/")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MANIFEST + "[expect]\nactons = 3\n", "clean.plan.toml:8: expect.actons: there is no such key; did you mean 'actions'"),
        (MANIFEST + "[expect]\nactions = 'ten'\n", "clean.plan.toml:8: expect.actions: Expected 'int"),
        (MANIFEST + "[expect]\nactions = -1\n", "clean.plan.toml:8: expect.actions: Expected 'int' >= 0"),
        (MANIFEST + "expect = { refuses = { stp = 1 } }\n", "clean.plan.toml:7: tasks[0].expect.refuses.stp: there is no such key"),
        (MANIFEST.replace("clean.py", "dirty.py"), "clean.plan.toml:1: plan: there is no file 'dirty.py' beside the manifest"),
        (MANIFEST.replace("household", "houshold"), "clean.plan.toml:2: env: there is no environment 'houshold'; did you mean"),
        (MANIFEST.replace('env = "household"', ""), "clean.plan.toml:1: env: this key is missing"),
        (MANIFEST.replace('plan = "clean.py"', ""), "clean.plan.toml:1: plan: give exactly one of"),
        ('sample = "heat"\n' + MANIFEST, "clean.plan.toml:1: sample: give exactly one of"),
        (MANIFEST.replace("seed = 418", 'seeds = "9-1"'), "clean.plan.toml:6: tasks[0].seeds: '9-1' is not a range of seeds"),
        (MANIFEST.replace("seed = 418", ""), "clean.plan.toml:5: tasks[0].kind: give seed or seeds together with kind"),
        (MANIFEST.replace("seed = 418", 'id = "clean/1"'), "clean.plan.toml:5: tasks[0].kind: name tasks by exactly one of"),
        ('faults = ["nothin"]\n' + MANIFEST, "clean.plan.toml:1: faults: there is no fault 'nothin'; did you mean 'nothing'"),
        (MANIFEST + "[expect]\noutput = '('\n", "clean.plan.toml:8: expect.output: '(' is not a regular expression"),
        (MANIFEST + "[answers]\ntape = 'gone.jsonl'\n", "clean.plan.toml:8: answers.tape: there is no file 'gone.jsonl'"),
        (MANIFEST + "values = { a = 'b' }\n", "clean.plan.toml:7: tasks[0].values: only a skill has parameters"),
        (MANIFEST.replace('plan = "clean.py"', 'sample = "dance"'), "clean.plan.toml:1: sample: the prompts have no worked sample of kind 'dance'"),
        (MANIFEST + "[expect\n", "clean.plan.toml:7: this is not TOML"),
        (MANIFEST + "[[tasks]]\nid = 'a'\nmarks = 'slow'\n", "clean.plan.toml:9: tasks[1].marks: Expected 'array'"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_with_file_line_and_key(tmp_path, text, message):
    assert told(tmp_path, text).startswith(message)


def test_a_tasks_expectations_override_the_manifests(tmp_path):
    text = MANIFEST + "expect = { actions = 3 }\n[expect]\nactions = 9\nasks = 0\n"
    (case,) = PlanSuite(write(tmp_path, text)).cases
    assert (case.expect.actions, case.expect.asks) == (3, 0)


def test_names_of_cases_are_stable_and_unique(tmp_path):
    text = 'faults = ["nothing", "slow"]\n' + MANIFEST + "[[tasks]]\nids = ['clean/418', 'heat/1']\nfaults = 'none'\n"
    names = [case.name for case in PlanSuite(write(tmp_path, text)).cases]
    assert names == ["clean/418", "clean/418[nothing]", "clean/418[slow]", "clean/418#2", "heat/1"]
    assert names == [case.name for case in PlanSuite(tmp_path / "clean.plan.toml").cases]


def test_a_range_of_seeds_has_both_ends(tmp_path):
    text = MANIFEST.replace("seed = 418", 'seeds = "3-5"')
    assert [case.seed for case in PlanSuite(write(tmp_path, text)).cases] == [3, 4, 5]


def test_the_line_of_a_key_is_found_through_tables_arrays_and_long_texts():
    text = 'a = """\nb = 1\n"""\n[c.d]\ne = 1\n[[f]]\ng = [\n  1,\n]\n[[f]]\n"g h" = 2\n[f.i]\nj = {k = 1}\n'
    assert line_of(text, ("a",)) == 1
    assert line_of(text, ("b",)) == 1
    assert line_of(text, ("c", "d", "e")) == 5
    assert line_of(text, ("f", 0, "g", 0)) == 7
    assert line_of(text, ("f", 1, "g h")) == 11
    assert line_of(text, ("f", 1, "i", "j", "k")) == 13
    assert line_of(text, ("f", 1)) == 10
    assert line_of(text, ("gone",)) == 1
