"""Numbers in a trace or in a bench's results that are too large to calculate with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from codeplan.bench import grid, store
from codeplan.cli.app import main
from codeplan.errors import UsageError
from codeplan.recording.event_log import decode_event
from codeplan.recording.events import EpisodeEnded, ModelCalled
from codeplan.types import Completion, Result, Success, Task, Usage

HUGE = 10**400
TASK = Task("t/0", "household", "clean")

ODD_RESULTS: list[dict[str, Any]] = [
    {"actions": HUGE},
    {"actions": -1},
    {"asks": HUGE},
    {"refinements": 2**63},
    {"model_calls": HUGE},
    {"seconds": 1e308},
    {"seconds": -1e308},
    {"reward": 1.7e308},
    {"usage": {"input_tokens": HUGE}},
    {"usage": {"output_tokens": HUGE}},
    {"usage": {"cached_tokens": HUGE}},
    {"usage": {"reasoning_tokens": -HUGE}},
    {"usage": {"money": 1e308}},
]


def with_changes(value: object, changes: dict[str, Any]) -> bytes:
    return msgspec.json.encode({**msgspec.to_builtins(value), **changes})


@pytest.mark.parametrize("changes", ODD_RESULTS, ids=lambda changes: str(changes)[:40])
def test_a_result_with_such_a_number_is_refused(changes: dict[str, Any]) -> None:
    result = msgspec.Raw(with_changes(Result(TASK, Success()), changes))
    with pytest.raises(UsageError, match="Expected `(int|float)` [<>]="):
        decode_event(with_changes(EpisodeEnded(result=Result(TASK, Success())), {"result": result}), "line 1", "event")


@pytest.mark.parametrize("changes", [{"seconds": 1e308}, {"cut_from": HUGE}, {"cut_from": -1}])
def test_an_event_with_such_a_number_is_refused(changes: dict[str, Any]) -> None:
    called = ModelCalled(purpose="plan", messages=[], completion=Completion("x", usage=Usage(1, 1)), seconds=1.0)
    with pytest.raises(UsageError, match="Expected `(int|float)` [<>]="):
        decode_event(with_changes(called, changes), "line 1", "event")


@pytest.mark.parametrize("changes", ODD_RESULTS, ids=lambda changes: str(changes)[:40])
@pytest.mark.parametrize("command", ["report", "compare"])
def test_a_bench_with_such_a_number_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, changes: dict[str, Any]
) -> None:
    for name in ("a", "b"):
        cell = grid.BenchCell(name, "household", "household", "adaplanner", "scripted")
        with store.BenchStore(tmp_path / name, grid.BenchGrid((cell,), {"household": (TASK,)})) as kept:
            kept.append(store.EpisodeOutcome(name, TASK, 0, "runs", Result(TASK, Success())))
    result = msgspec.Raw(with_changes(Result(TASK, Success()), changes))
    line = with_changes(store.EpisodeOutcome("a", TASK, 0, "runs", Result(TASK, Success())), {"result": result})
    (tmp_path / "a" / store.RESULTS_FILE).write_bytes(line + b"\n")
    more = ["--out", str(tmp_path / "page.html")] if command == "report" else [str(tmp_path / "b")]
    assert main([command, str(tmp_path / "a"), *more]) == 2
    assert "line 1 is not an episode's outcome" in capsys.readouterr().err
