"""Gold paths of every kind say and score in codeplan what they do in the package by itself, and win."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.scienceworld_engine import needs_engine, play_in_package

from codeplan.envs.scienceworld.environment import VARIATIONS, ScienceWorld, find_task, variations
from codeplan.types import Task

pytestmark = [pytest.mark.crosscheck, needs_engine]

GAMES = 5


@pytest.fixture(scope="module")
def env():
    env = ScienceWorld(actions=500)
    yield env
    env.close()


def chosen(kind):
    """Five variations of a kind from all of its splits: the first and the last ones, and some between."""
    count = VARIATIONS[kind]
    return sorted({round(i * (count - 1) / (GAMES - 1)) for i in range(GAMES)})


@pytest.mark.parametrize("kind", VARIATIONS)
def test_gold_paths_of_a_kind_win_with_the_packages_own_words_and_scores(env, kind):
    assert len(chosen(kind)) == GAMES
    played = play_in_package([{"kind": kind, "variation": variation} for variation in chosen(kind)])
    for variation, said in zip(chosen(kind), played, strict=True):
        first = env.reset(find_task(Task(f"{kind}/{variation}")))
        assert first.goal == said["goal"]
        assert first.text.endswith(f"\n\n{said['answers'][0][0]}")
        for action, (text, score, done) in zip(said["actions"], said["answers"][1:], strict=True):
            seen = env.step(action)
            assert (seen.text, seen.reward, seen.done) == (text, score / 100, done), action
            if done:
                break
        assert seen.success, (kind, variation)
    assert said["splits"] == {split: list(variations(kind, split)) for split in ("train", "dev", "test")}


MANY = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from codeplan.envs.scienceworld.environment import ScienceWorld
from codeplan.envs.scienceworld.environment import tasks_in_split

def play(task):
    env = ScienceWorld()
    env.reset(task)
    pid = env._game._engine.pid
    assert env.step("inventory").text.startswith("In your inventory")
    env.close()
    return pid

with ThreadPoolExecutor(3) as pool:
    print(json.dumps(list(pool.map(play, tasks_in_split("test")[:1000]))))
"""


def test_a_thousand_episodes_share_few_engines_and_leave_none():
    played = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, check=True)
    pids = json.loads(played.stdout)
    assert len(pids) == 1000
    assert len(set(pids)) <= 3
    assert not [pid for pid in set(pids) if Path(f"/proc/{pid}").exists()]
