"""A changed plan reads the variables that it resumes with: an obedient refinement makes no call twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import codeplan
from codeplan.cli.app import main
from codeplan.planning.resume_point import MissingVariable, find_resume_point
from codeplan.types import Checkpoint, Plan, Step

FIRST = """
def solution(agent, start_from=1):
    if start_from <= 1:
        sent = []
        for p in agent.people():
            agent.send(p)
            sent.append(p)
        assert len(sent) == 3
    return sent
"""
NATURAL = """
    if start_from <= 1:
        for p in agent.people():
            if p not in sent:
                agent.send(p)
                sent.append(p)
        assert len(sent) == 3
"""
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
    refinement, repair = model.prompts[1:]
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
