"""What an agent remembers and what it read survive SIGKILL, in every environment."""

import random

import pytest
from support.killed_episodes import kill_at_sizes
from support.killed_plans import killed_episode
from support.miniwob_pages import needs_browser
from support.scienceworld_engine import needs_engine

from codeplan.agent_interface import agent_api
from codeplan.recording.events import answered_calls
from codeplan.recording.trace import Trace, describe_difference
from codeplan.runner.episodes import run
from codeplan.runner.recorded_episodes import resume

pytestmark = pytest.mark.long

KILLS = {"household": 3, "alfworld": 2, "textcraft": 2, "webshop": 2, "hotpotqa": 2}
ALL = [
    *(pytest.param(name, kills, id=name) for name, kills in KILLS.items()),
    pytest.param("miniwob", 2, marks=needs_browser, id="miniwob"),
    pytest.param("scienceworld", 1, marks=needs_engine, id="scienceworld"),
]
LEFT_OUT = {
    **{name: {"heat", "cool", "turn_on"} for name in ("household", "alfworld")},
    "scienceworld": {
        *("read", "teleport", "close", "drop", "pour", "dunk", "mix", "activate", "deactivate", "use", "connect"),
        *("disconnect", "eat", "flush", "wait", "choose"),
    },
}
"""Methods that only pass an action on, as those in the plans do."""


@pytest.mark.parametrize(("name", "kills"), ALL)
def test_a_killed_agent_goes_on_with_what_it_knew(tmp_path, name, kills):
    episode = killed_episode(name, tmp_path / "files")
    try:
        result = run(episode.env, episode.task, model=episode.reply, out=tmp_path / "whole")
        assert (result.success, result.refinements, result.model_calls) == (name != "scienceworld", 1, 2), result
        whole = Trace.read(tmp_path / "whole" / "trace.jsonl")
        size = (tmp_path / "whole" / "trace.jsonl").stat().st_size
        draw = random.Random(f"{name} 2026")
        kill_at_sizes(name, tmp_path / "files", tmp_path, [draw.randrange(size // 10, size) for _ in range(kills)])
        cut_off = [i for i in range(kills) if len(Trace.read(tmp_path / str(i) / "trace.jsonl")) < len(whole)]
        assert cut_off
        for i in cut_off:
            assert resume(tmp_path / str(i), env=episode.env, model=episode.reply).refinements == 1
            after = Trace.read(tmp_path / str(i) / "trace.jsonl")
            assert [describe_difference(a, b) for a, b in zip(whole, after, strict=True)] == [""] * len(whole)
            assert actions(after) == actions(whole)
    finally:
        episode.env.close()


def actions(events):
    return [(c.call.name, c.answer.observation) for c in answered_calls(events)]


@pytest.mark.parametrize("name", [*KILLS, "miniwob", "scienceworld"])
def test_the_plans_use_all_that_an_agent_can_remember_and_read(tmp_path, name):
    episode = killed_episode(name, tmp_path / "files")
    unused = {part for part in agent_api(episode.env.agent).names if f"agent.{part}" not in episode.plan}
    assert unused == LEFT_OUT.get(name, set())
    episode.env.close()
