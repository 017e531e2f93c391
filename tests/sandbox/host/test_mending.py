"""What the host believes of a worker that mends a plan."""

import pytest
from support.caged import SampleHome

from codeplan.sandbox import Sandbox
from codeplan.sandbox.host.plan_texts import verified_mending
from codeplan.types import Fix, Plan, Rejected

ROW = {"rule": "step-guard", "line": 2, "was": "a", "now": "b"}


def answer(**changes: object) -> dict[str, object]:
    """Return the answer of a worker that made one fix, with these changes to it."""
    return {"source": "x = 1\n", "fixes": [ROW | changes]}


def test_an_answer_within_its_bounds_is_believed() -> None:
    most = verified_mending({"source": "x", "fixes": [ROW | {"was": "a" * 160}] * 200})
    assert most is not None
    assert len(most.to_fixes()) == 200
    found = verified_mending(answer())
    assert found is not None
    assert found.to_fixes() == (Fix("step-guard", 2, "a", "b"),)


LIES = {
    "no fix": {"source": "x = 1\n", "fixes": []},
    "too many fixes": {"source": "x", "fixes": [ROW] * 201},
    "a line too long": answer(was="a" * 161),
    "a new line too long": answer(now="a" * 161),
    "a rule with a control code": answer(rule="\x1b[2J"),
    "a rule too long": answer(rule="r" * 51),
    "a line below 0": answer(line=-1),
    "a line beyond all plans": answer(line=1_000_001),
    "a line that is no number": answer(line="2"),
    "another field": answer(sure=True),
    "no source": {"fixes": [ROW]},
    "a source that is no text": {"source": 1, "fixes": [ROW]},
    "a list": [ROW],
    "nothing": None,
}


@pytest.mark.parametrize("name", LIES)
def test_any_other_answer_leaves_the_plan_as_it_is(name: str) -> None:
    assert verified_mending(LIES[name]) is None


def test_a_plan_that_grows_too_large_by_its_fixes_is_refused_for_its_size() -> None:
    source = "def solution(agent):\n    if start_from <= 1:\n        assert agent.look()\n"
    room = Sandbox().limits.source_bytes - len(source)
    found = Sandbox().check(source + "#" * room, SampleHome)
    assert isinstance(found, Rejected)
    assert [d.rule for d in found.diagnostics] == ["size"]


def test_a_mended_plan_runs_like_the_plan_that_was_meant() -> None:
    meant = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('seen')\n        assert True is True\n"
    found = Sandbox().check(
        meant.replace(", start_from=1", "").replace("start_from <= 1", "1 >= start_from"), SampleHome
    )
    assert isinstance(found, Plan)
    assert found.source == meant
    outcome = Sandbox().run(found, SampleHome(str), str)
    assert getattr(outcome, "output", "") == "seen\n"
