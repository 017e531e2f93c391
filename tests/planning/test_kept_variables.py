"""A changed plan reads the variables that it resumes with: an obedient refinement makes no call twice."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.sample_plans import LETTERS, REFINED_LETTERS
from support.tag_marks import without_marks

import codeplan
from codeplan.cli.app import main
from codeplan.methods.adaplanner import AdaPlanner
from codeplan.planning.refinement import MissingVariable, find_resume_point, missing_at_end
from codeplan.types import Checkpoint, Plan, Step

FIRST = f"\ndef solution(agent, start_from=1):{LETTERS}"
NATURAL = REFINED_LETTERS.removesuffix("    return sent\n")
TOOLS = """
def people() -> list[str]:
    return ["ann", "bob", "cid"]

def send(to: str) -> str:
    written = LOG.read_text().split() if LOG.exists() else []
    LOG.write_text(" ".join([*written, to]))
    if to == "bob" and "bob" not in written:
        raise ConnectionError("try again")
    return "ok"

from pathlib import Path
LOG = Path("sent.log")
__all__ = ["people", "send"]
"""


@pytest.fixture
def letters(tmp_path, monkeypatch):
    """The tools' functions, in a folder of their own where a log of the letters is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.py").write_text(TOOLS)
    space: dict[str, object] = {}
    exec(TOOLS, space)
    return [space["people"], space["send"]]


class Listener:
    """Gives one reply after the other, and keeps the last message of each prompt."""

    def __init__(self, *replies: str) -> None:
        self.replies, self.prompts = list(replies), []

    def __call__(self, messages):
        self.prompts.append(messages[-1]["content"])
        return self.replies.pop(0)


def test_a_refined_step_goes_on_with_the_letters_that_were_sent(letters, tmp_path):
    result = codeplan.do("write to all", tools=letters, model=Listener(FIRST, NATURAL))
    assert result.value == ["ann", "bob", "cid"]
    assert (tmp_path / "sent.log").read_text() == "ann bob bob cid"


def test_the_command_line_goes_on_with_them_too(letters, tmp_path):
    (tmp_path / "model.py").write_text(
        f"replies = [{FIRST!r}, {NATURAL!r}]\ndef me(messages):\n    return replies.pop(0)\n"
    )
    main(["do", "write to all", "--tools", "tools.py:people,send", "--model", "model.py:me", "-q"])
    assert (tmp_path / "sent.log").read_text() == "ann bob bob cid"


def test_a_repair_after_a_run_shows_variables_log_and_the_calls_that_were_made(letters):
    model = Listener(FIRST, NATURAL.replace("p not in sent", "p not in snt"), NATURAL)
    assert codeplan.do("write to all", tools=letters, model=model).value == ["ann", "bob", "cid"]
    refinement, repair = map(without_marks, model.prompts[1:])
    for part in ("log", "variables", "done"):
        text = refinement.partition(f"<{part}>")[2].partition(f"</{part}>")[0]
        assert text
        assert text in repair


def test_a_step_that_would_start_without_a_kept_variable_is_refused_before_it_runs(letters, tmp_path):
    two = """
def solution(agent, start_from=1):
    if start_from <= 1:
        who = agent.people()
        assert who
    if start_from <= 2:
        sent = []
        for p in who:
            agent.send(p)
            sent.append(p)
        assert len(sent) == 3
    return sent
"""
    both = """
    if start_from <= 1:
        who = sorted(agent.people())
        assert who
    if start_from <= 2:
        for p in who:
            if p not in sent:
                agent.send(p)
                sent.append(p)
        assert len(sent) == 3
"""
    repaired = two.replace("sent = []", "sent = ['ann']").replace("agent.send(p)", "if p not in sent: agent.send(p)")
    model = Listener(two, both, repaired.replace("        sent.append(p)", "        sent = [*{*sent, p}]"))
    codeplan.do("write to all", tools=letters, model=model)
    assert (
        "step 2 reads `sent`, which is not among the variables with which the plan goes on at step 1; leave the steps "
        "before step 2 as they were, or set it in step 2 before it is read"
    ) in model.prompts[2]
    assert (tmp_path / "sent.log").read_text() == "ann bob bob cid"


names = st.lists(st.sampled_from("abcd"), unique=True, max_size=3).map(tuple)
plans = st.builds(
    lambda rows, provides, needs, kept: Plan(
        "", tuple(Step(n, n, n, "", *row) for n, row in enumerate(rows, 1)), provides, needs=needs, kept=kept
    ),
    st.lists(st.tuples(st.sampled_from("xy"), names, names), min_size=1, max_size=5),
    names,
    names,
    names,
)
states = st.dictionaries(st.integers(1, 5), names.map(lambda found: Checkpoint(dict.fromkeys(found, 0))))


@given(plans, plans, st.none() | st.integers(1, 5), states)
def test_a_plan_starts_with_each_kept_variable_that_it_reads_or_is_refused_by_name(old, new, failed, saved):
    found = find_resume_point(old, new, failed, saved)
    start = found.start if isinstance(found, MissingVariable) else found
    have = {*new.provides, *(saved[start].names if start in saved else ())}
    missing = set()
    for step in (s for s in new.steps if s.number >= start):
        missing |= {*step.needs} & {*new.kept} - have
        have |= {*step.sets}
    missing |= {*new.needs} & {*new.kept} - have
    if isinstance(found, MissingVariable):
        assert found.name in missing
        assert f"`{found.name}`" in found.refuse(new).diagnostics[0].message
        assert not isinstance(find_resume_point(old, replace(new, kept=()), failed, saved), MissingVariable)
    else:
        assert not missing


RESUMED = pytest.mark.parametrize(("state", "shown", "value"), [("failure", [1, 2], [1, 2, 2]), ("entry", [1], [1, 2])])


@RESUMED
def test_the_prompt_shows_the_variables_that_the_failed_step_resumes_with(letters, state, shown, value):
    first = """
def solution(agent, start_from=1):
    if start_from <= 1:
        seen = [1]
        assert seen
    if start_from <= 2:
        seen.append(2)
        assert not seen
    return seen
"""
    second = "    if start_from <= 2:\n        seen.append(2)\n        assert seen\n"
    model = Listener(first, second)
    method = AdaPlanner(resume_state=state)
    assert codeplan.do("count", tools=letters, model=model, method=method).value == value
    assert f"<variables>\nseen = {shown}\n</variables>" in without_marks(model.prompts[1])


def test_code_after_the_last_step_goes_on_with_a_kept_variable_and_no_call_is_made(letters, tmp_path):
    first = FIRST.replace("return sent", "total = len(sent)\n    return total")
    model = Listener(first, first.replace("total = len(sent)\n    return total", "return [sent, total]"))
    (tmp_path / "sent.log").write_text("bob")
    result = codeplan.do("write", tools=letters, model=model, verify=lambda value: value == [["ann", "bob", "cid"], 3])
    assert (tmp_path / "sent.log").read_text() == "bob ann bob cid"
    assert result.success


def test_the_code_after_the_last_step_is_refused_without_a_kept_variable():
    plan = Plan("", (Step(1, 1, 1, "", "d"),), needs=("total",), kept=("total",))
    assert missing_at_end(plan, Checkpoint({"total": 0}), 2) is None
    missing = missing_at_end(plan, Checkpoint({"sent": 0}), 2)
    assert missing is not None
    assert missing.refuse(plan).diagnostics[0].message == (
        "the code after the last step reads `total`, which is not among the variables with which the plan goes on at "
        "step 2; set it in step 1 before it is read"
    )


def test_a_plan_that_is_executed_from_a_later_step_reads_the_variables_of_the_checkpoint(letters, tmp_path, capsys):
    (tmp_path / "late.py").write_text(
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        assert 1 < 2\n"
        "    if start_from <= 2:\n        assert sent\n    return sent\n"
    )
    (tmp_path / "start.json").write_text('{"sent": ["ann"]}')
    given = ["exec", "late.py", "--tools", "tools.py:people,send", "--json"]
    main([*given, "--start-from", "2", "--checkpoint", "start.json"])
    assert json.loads(capsys.readouterr().out)["value"] == ["ann"]
    assert main(given) == 1
    assert "`sent` is not defined" in capsys.readouterr().out
