"""Manifests are read strictly: every mistake is reported with file, line and key."""

from __future__ import annotations

import pytest
from support.foreign_values import count_steps
from support.plan_suites import MANIFEST, write

from codeplan.testing import manifest
from codeplan.testing.cases import PlanSuite
from codeplan.testing.manifest import ManifestError, line_of
from codeplan.untrusted import patterns


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
        (MANIFEST.replace("household", "crates"), "clean.plan.toml:2: env: there is no environment 'crates'; there are: alfworld, "),
        (MANIFEST.replace('env = "household"', ""), "clean.plan.toml:1: env: this key is missing"),
        (MANIFEST.replace('plan = "clean.py"', ""), "clean.plan.toml:1: plan: give exactly one of"),
        ('sample = "heat"\n' + MANIFEST, "clean.plan.toml:1: sample: give exactly one of"),
        (MANIFEST.replace("seed = 418", 'seeds = "9-1"'), "clean.plan.toml:6: tasks[0].seeds: '9-1' is not a range of seeds"),
        (MANIFEST.replace("seed = 418", ""), "clean.plan.toml:5: tasks[0].kind: give seed or seeds together with kind"),
        (MANIFEST.replace("seed = 418", 'id = "clean/1"'), "clean.plan.toml:5: tasks[0].kind: name tasks by exactly one of"),
        ('faults = ["nothin"]\n' + MANIFEST, "clean.plan.toml:1: faults: there is no fault 'nothin'; did you mean 'nothing'"),
        ('faults = "al"\n' + MANIFEST, "clean.plan.toml:1: faults: there is no value 'al'; did you mean 'all'? there are: all, none, or a list"),
        ('caught = "same"\n' + MANIFEST, "clean.plan.toml:1: caught: there is no value 'same'; did you mean 'same-step'? there are: any-step, same-step"),
        (MANIFEST + "expect = { resumes = 'every' }\n", "clean.plan.toml:7: tasks[0].expect.resumes: there is no value 'every'; there are: all, or a list"),
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


def test_an_unknown_environment_may_be_one_of_a_file(tmp_path):
    said = told(tmp_path, MANIFEST.replace("household", "crates"))
    assert "; your own is named by codeplan test --plan-env FILE.py:NAME" in said


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


RANGE = 'kind = "clean"\nseeds = "0-9999"\n'
TOO_MANY = "a manifest has at most 10,000 tests, one for each task and check; write several"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"[[tasks]]\n{RANGE}" * 1_000, "6: tasks[1]"),
        ('[[tasks]]\nkind = "clean"\nseeds = "0-999999999"\n', "3: tasks[0]"),
        (f"[[tasks]]\n{RANGE}expect = {{ resumes = 'all' }}\n", "3: tasks[0]"),
        (f"[[tasks]]\n{RANGE}faults = ['slow'" + ", 'slow'" * 10_000 + "]\n", "3: tasks[0]"),
        ("[[tasks]]\nid = 'clean/1'\n[[tasks]]\nids = ['clean/1'" + ", 'clean/1'" * 20_000 + "]\n", "5: tasks[1]"),
    ],
    ids=["ranges", "range", "resumed", "faults", "ids"],
)
def test_a_manifest_of_too_many_tests_is_refused_before_they_are_made(tmp_path, text, place):
    head = 'plan = "clean.py"\nenv = "household"\n'
    said: list[str] = []
    assert count_steps(lambda: said.append(told(tmp_path, head + text))) < 500_000
    assert said == [f"clean.plan.toml:{place}: {TOO_MANY}"]


def test_a_manifest_may_have_as_many_tests_as_the_limit(tmp_path):
    text = MANIFEST.replace('kind = "clean"\nseed = 418\n', RANGE)
    assert len(PlanSuite(write(tmp_path, text)).cases) == 10_000


@pytest.mark.parametrize("key", ["steps", "resumes"])
def test_a_list_of_steps_may_be_as_long_as_the_limit(tmp_path, key):
    """A test resumes its plan at each step, and names those that were not entered."""
    steps = [*range(1_000)]
    assert PlanSuite(write(tmp_path, MANIFEST + f"expect = {{ {key} = {steps} }}\n")).cases
    said = told(tmp_path, MANIFEST + f"expect = {{ {key} = {[*steps, 1]} }}\n")
    assert said.startswith(f"clean.plan.toml:7: tasks[0].expect.{key}: ") and "length <= 1000" in said


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


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (f'names = {{ sink = "{"x" * 300_000}" }}', "tasks[0].names: Expected 'str' of length <= 200"),
        (f'names = {{ {"y" * 201} = "x" }}', "tasks[0].names: Expected 'str' of length <= 200"),
        ('names = { "" = "x" }', "tasks[0].names: Expected 'str' of length >= 1"),
        ("names = { " + ", ".join(f"w{n} = 'x'" for n in range(101)) + " }", "tasks[0].names: "),
        (f'values = {{ a = "{"x" * 2_001}" }}', "tasks[0].values"),
        ("values = { a = [" + "'x', " * 501 + "] }", "tasks[0].values"),
    ],
)
def test_what_would_blow_up_a_plan_is_refused(tmp_path, key, message):
    assert message in told(tmp_path, MANIFEST + key + "\n")


def test_the_lines_of_many_tasks_are_found_in_one_pass(tmp_path):
    before = manifest._lines_of_keys.cache_info().misses
    cases = PlanSuite(write(tmp_path, MANIFEST + '[[tasks]]\nid = "clean/1"\n' * 3_000)).cases
    assert cases[-1].line == len((tmp_path / "clean.plan.toml").read_text().split("\n")) - 2
    assert manifest._lines_of_keys.cache_info().misses == before + 1


SLOW_SET = "[!-\uffff]"
"""Python needs some milliseconds for each."""


@pytest.mark.parametrize(
    "text",
    [
        f'[expect]\noutput = "{SLOW_SET * 1_900}"\n',
        f'expect = {{ refuses = {{ step = 1, message = "{SLOW_SET * 1_900}" }} }}\n',
        '[answers]\npatterns = [{ pattern = "(?i)' + "[!-\U0010ffff]" * 1_900 + '", answer = "" }]\n',
        "[answers]\npatterns = ["
        + ", ".join(f'{{ pattern = "{SLOW_SET * 100}{n}", answer = "" }}' for n in range(300))
        + "]\n",
    ],
)
def test_expressions_that_take_long_to_compile_are_refused(tmp_path, monkeypatch, text):
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.3)
    assert "to compile" in told(tmp_path, MANIFEST + text)
