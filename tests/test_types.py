from typing import get_args

import msgspec
import pytest

from codeplan.types import (
    BudgetSpent,
    Call,
    Claimed,
    Crashed,
    Diagnostic,
    Ending,
    EnvironmentEnded,
    GaveUp,
    InfrastructureFailed,
    Interrupted,
    NeedsInput,
    NoProgress,
    NotSolved,
    Observation,
    Plan,
    Refused,
    Result,
    Step,
    Success,
    Task,
    TooLarge,
    TraceFull,
    TrialEnded,
    Usage,
    Waiting,
)


def test_values_cannot_be_changed():
    with pytest.raises(AttributeError):
        Task("a").id = "b"


def test_usage_adds_up_and_an_unknown_part_makes_the_sum_unknown():
    assert Usage(1, 2, 3) + Usage(10, 20, 30) == Usage(11, 22, 33)
    assert (Usage(1, 2) + Usage(None, 5)).input_tokens is None
    assert (Usage(1, 2) + Usage(None, 5)).output_tokens == 7
    assert Usage(1, 2).total_tokens == 3
    assert Usage(None, 2).total_tokens is None


def test_an_observation_reads_as_its_text():
    assert f"{Observation('It is dark.')}" == "It is dark."


def test_a_plan_finds_its_steps_by_number():
    step = Step(2, 1, 2, "go", "d")
    assert Plan("", (step,)).step(2) is step
    assert Plan("", (step,)).step(1) is None
    assert Plan("", (step,)).step(None) is None


def test_a_diagnostic_reads_as_a_sentence_with_its_place_and_rule():
    assert str(Diagnostic(3, 5, "syntax", "a colon is missing")) == "line 3, column 5: a colon is missing [syntax]"
    assert str(Diagnostic(3, 0, "size", "too deep")) == "line 3: too deep [size]"
    assert str(Diagnostic(0, 0, "size", "too long")) == "too long [size]"


def test_tasks_travel_as_json():
    task = Task("heat/3", "household", "heat", "heat it", 3, "dev")
    assert msgspec.json.decode(msgspec.json.encode(task), type=Task) == task


ENDINGS = [
    (Success(), "success"),
    (Claimed("it says so"), "it says so"),
    (GaveUp("too hard"), "too hard"),
    (NoProgress("no progress: nothing changed"), "no progress: nothing changed"),
    (Refused("line 1"), "line 1"),
    (NotSolved("no success in 6 tries"), "no success in 6 tries"),
    (EnvironmentEnded(), "the environment ended the episode"),
    (TooLarge("reply", 10, "the reply is too long"), "the reply is too long"),
    (TraceFull(100, "the trace is full"), "the trace is full"),
    (TrialEnded("trial 2", GaveUp("too hard")), "trial 2: too hard"),
    (Waiting("send", Call("send", {}), "waiting for approval: send()"), "waiting for approval: send()"),
    (NeedsInput("Where to?\n\nAnd when?", "str"), "it asks: Where to? And when?"),
    (BudgetSpent("actions", 3, "the budget of 3 actions is spent"), "budget: the budget of 3 actions is spent"),
    (Interrupted(), "interrupted"),
    (InfrastructureFailed("ModelError", "no answer"), "infrastructure: no answer"),
    (Crashed("KeyError", "'x'"), "error: KeyError: 'x'"),
]


def test_every_ending_is_tested_here():
    assert {type(ending) for ending, _ in ENDINGS} == set(get_args(Ending))


@pytest.mark.parametrize(("ending", "sentence"), ENDINGS)
def test_success_and_reason_of_a_result_follow_from_its_ending(ending, sentence):
    result = Result(Task("a"), ending)
    assert (result.success, result.reason) == (isinstance(ending, Success), sentence)
    packed = msgspec.json.encode(result)
    assert msgspec.json.decode(packed, type=Result) == result
    plain = msgspec.json.decode(packed)
    assert (plain["success"], plain["reason"], plain["ending"]["type"]) == (result.success, sentence, ending.name)


def test_a_result_cannot_claim_a_success_that_its_ending_denies():
    lying = msgspec.json.encode(Result(Task("a"), Interrupted())).replace(b'"success":false', b'"success":true')
    assert msgspec.json.decode(lying, type=Result).success is False
    assert msgspec.structs.replace(Result(Task("a"), Interrupted()), ending=Success()).success


def test_notes_are_added_to_a_task():
    assert Task("a", notes=("one",)).with_notes("two", "three").notes == ("one", "two", "three")
