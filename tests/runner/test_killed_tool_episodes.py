"""Episodes with tools that are killed by SIGKILL come to the same end; ``make crash`` kills three hundred times."""

import pytest
from support.tool_crashes import play_rounds

pytestmark = pytest.mark.long


@pytest.mark.parametrize("first", [0, 1])
def test_a_killed_episode_comes_to_the_same_end_and_makes_no_call_twice(tmp_path, first):
    figures = play_rounds(tmp_path, kills=2, first=first, workers=1)
    assert figures.faults == []
    assert figures.counts["killed"] >= 2 and figures.counts["reached the goal"] == figures.counts["episodes"]
