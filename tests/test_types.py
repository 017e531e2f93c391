import msgspec
import pytest

from codeplan.types.model import Usage
from codeplan.types.plan import Diagnostic, Plan, Step
from codeplan.types.task import Observation, Task


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


def test_tasks_travel_as_json():
    task = Task("heat/3", "household", "heat", "heat it", 3, "dev")
    assert msgspec.json.decode(msgspec.json.encode(task), type=Task) == task
