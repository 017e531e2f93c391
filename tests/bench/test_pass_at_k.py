"""pass@k of a cell: the unbiased mean over the tasks that have k episodes or more."""

from __future__ import annotations

import pytest

from codeplan.bench.grid import BenchCell
from codeplan.bench.metrics import EpisodeMeasures, cell_statistics
from codeplan.bench.store import EpisodeOutcome
from codeplan.types import Result, Success, Task


@pytest.mark.parametrize(
    ("won", "rates"),
    [
        ({"a": "100", "b": "1"}, (2 / 3, 2 / 3, 1.0)),  # pass@2 and pass@3 are those of task a alone
        ({"a": "10", "b": "00"}, (0.25, 0.5)),
        ({"a": "1", "b": "0"}, ()),
        ({}, ()),
    ],
)
def test_a_task_counts_up_to_the_number_of_its_episodes(won: dict[str, str], rates: tuple[float, ...]) -> None:
    episodes = []
    for name, flags in won.items():
        task = Task(name)
        for repeat, flag in enumerate(flags):
            ended = EpisodeOutcome(cell="c", task=task, repeat=repeat, run="", result=Result(task, Success()))
            success = flag == "1"
            measures = EpisodeMeasures(success, float(success), 1, 1, 0, 0, 1, None, None, 0.0, None, True)
            episodes.append((ended, measures))
    found = cell_statistics(BenchCell("c", "s", "e", "m", "x"), episodes, [])[-1]
    assert found.pass_at_k == pytest.approx(rates)
