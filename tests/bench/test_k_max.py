"""k_max: the greatest depth of decomposition, over the episodes that succeed."""

import pytest

from codeplan.bench.metrics import METRICS, EpisodeMeasures, estimate_metric
from codeplan.bench.store import EpisodeOutcome
from codeplan.types import Result, Success, Task


def episode(number, success, depth):
    task = Task(f"craft/{number}")
    measures = EpisodeMeasures(success, float(success), 1, 1, 0, 0, 1, None, None, 0.0, None, True, depth=depth)
    return EpisodeOutcome(cell="c", task=task, repeat=0, run="", result=Result(task, Success())), measures


@pytest.mark.parametrize(
    ("episodes", "mean"),
    [
        ([(True, 1), (True, 4)], 2.5),
        ([(True, 2), (False, 4)], 2.0),
        ([(True, None), (True, 2)], 1.5),  # a method without decomposition works at depth 1
        ([(False, 3)], None),
        ([], None),
    ],
)
def test_it_is_the_mean_over_the_successes(episodes, mean):
    found = estimate_metric(METRICS["k_max"], [episode(n, *each) for n, each in enumerate(episodes)])
    assert found.value == mean
    assert found.episodes == sum(success for success, _ in episodes)
