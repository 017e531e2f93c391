"""Methods that try again, or take a task apart, make a call of a tool that is called once no second time."""

import pytest
from support.boxes import Replies

import codeplan
from codeplan.recording.events import CallRepeated

SEND = 'send {"to": "%s"}'


@pytest.fixture
def done():
    return []


@pytest.fixture
def do(done, tmp_path):
    def send(to: str) -> int:
        """Send a letter."""
        if "!" in to and to not in failed:
            failed.append(to)
            raise ConnectionError("try again")
        done.append(to)
        return len(done)

    def play(*turns, **options):
        seen = []
        given = {"tools": send, "once": "send", "on_event": seen.append} | options
        result = codeplan.do("send letters", model=Replies(*turns), out=tmp_path / "run", **given)
        assert codeplan.replay(tmp_path / "run") == result
        return result, [e.of for e in seen if isinstance(e, CallRepeated)]

    failed = []
    return play


def test_single_calls_of_one_attempt_are_all_made_for_each_is_meant(do, done):
    result, repeated = do(SEND % "ann", SEND % "ann", SEND % "b!", SEND % "b!", 'finish {"value": 1}', method="react")
    assert result.value == 1 and done == ["ann", "ann", "b!"] and repeated == []


def test_a_new_trial_gets_the_answers_of_the_trial_before(do, done):
    first = [SEND % "ann", SEND % "b!", 'give_up {"reason": "no"}']
    second = [SEND % "ann", SEND % "b!", SEND % "ann", 'finish {"value": 1}']
    result, repeated = do(*first, "I learnt to try again.", *second, method="reflexion", trials=2)
    assert result.value == 1 and done == ["ann", "b!", "ann"] and repeated == [1]


def test_the_parts_of_a_task_whose_attempt_failed_get_its_answers(do, done):
    whole = [SEND % "ann", SEND % "bob", 'give_up {"reason": "too much"}']
    apart = "Step 1: send to ann\nStep 2: send to bob twice\nExecution Order: (Step 1 AND Step 2)"
    parts = [SEND % "ann", 'finish {"value": 1}', SEND % "bob", SEND % "bob", 'finish {"value": 2}']
    result, repeated = do(*whole, apart, *parts, method="adapt")
    assert result.value == 2 and done == ["ann", "bob", "bob"] and repeated == [1, 2]
