"""The variables with which a plan starts: from Python, a file or the last run in a trace, and only those."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeplan.errors import UsageError
from codeplan.recording.events import EpisodeStarted, Event, PlanDrafted, PlanRejected, PlanStarted, StepEntered
from codeplan.recording.trace import Trace
from codeplan.runner.start_state import read_start, recorded_start, require_step
from codeplan.sandbox import decode, encode
from codeplan.types import Checkpoint, Task

ROOM = 10_000


def state(**variables: object) -> Checkpoint:
    return encode(variables, ROOM)


def started(at: int = 1, checkpoint: Checkpoint | None = None) -> Event:
    return PlanStarted(number=1, start_from=at, restored=(), checkpoint=checkpoint)


def entered(step: int, **variables: object) -> Event:
    return StepEntered(step=step, title="", checkpoint=state(**variables))


def trace_of(path: Path, *events: Event) -> Path:
    trace = Trace(path)
    for event in (EpisodeStarted(task=Task("a"), env="e", method="m", model="x", codeplan_version="0"), *events):
        trace.append(event)
    trace.close()
    return path


@pytest.mark.parametrize("step", [0, -1, True, False, 1.0, "1", None])
def test_nothing_else_is_a_step(step: object) -> None:
    with pytest.raises(UsageError, match="a plan starts from a step"):
        require_step(step)


def test_of_several_entries_of_a_step_the_last_one_counts(tmp_path: Path) -> None:
    path = trace_of(tmp_path / "t", started(), entered(1, x=1), entered(2, x=2), entered(2, x=3), entered(3, x=4))
    assert decode(read_start(path, 2, ROOM)) == {"x": 3}


def test_entries_of_an_earlier_run_of_a_plan_do_not_count(tmp_path: Path) -> None:
    path = trace_of(tmp_path / "t", started(), entered(1), entered(2, x=1), started(), entered(1, y=1))
    assert decode(read_start(path, 1, ROOM)) == {"y": 1}
    with pytest.raises(UsageError, match="its last run of a plan did not enter step 2"):
        read_start(path, 2, ROOM)


def test_a_refused_plan_is_no_run(tmp_path: Path) -> None:
    refused = PlanRejected(number=2, diagnostics=())
    path = trace_of(tmp_path / "t", started(), entered(1, x=1), refused)
    assert decode(read_start(path, 1, ROOM)) == {"x": 1}


def test_names_that_were_dropped_stay_dropped_with_their_reason() -> None:
    given = encode({"x": 1, "f": len}, ROOM)
    assert read_start(given, 1, ROOM).dropped == given.dropped != {}


@pytest.mark.parametrize("name", ["", "a b", "1a", "x" * 201, 7])
def test_a_key_that_is_not_a_name_is_refused(name: object) -> None:
    with pytest.raises(UsageError, match="is not the name of a variable"):
        read_start({name: 1}, 1, ROOM)  # type: ignore[dict-item]  # what a user may write


def test_a_value_must_fit_into_a_checkpoint(tmp_path: Path) -> None:
    fits = {"x": "y" * 100}
    size = next(n for n in range(10_000) if not encode(fits, n).dropped)
    assert decode(read_start(fits, 1, size)) == fits
    with pytest.raises(UsageError, match="the variable 'x' cannot be saved"):
        read_start(fits, 1, size - 1)


def test_the_start_of_a_recorded_plan_is_that_of_its_first_run() -> None:
    first, second = state(x=1), state(x=2)
    drafted = PlanDrafted(number=1, origin="plan", source="")
    assert recorded_start([drafted, started(2, first), started(2, second)]) == first
    assert recorded_start([drafted, started(1, None), started(2, second)]) is None
    assert recorded_start([PlanRejected(number=1, diagnostics=()), started(2, second)]) is None
