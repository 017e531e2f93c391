"""codeplan's environments in gymnasium."""

import subprocess
import sys
import warnings

import pytest

from codeplan import envs
from codeplan.envs.household.environment import Household
from codeplan.errors import UsageError

WHY = "gymnasium is not installed: pip install 'codeplan[gym]'"
gymnasium = pytest.importorskip("gymnasium", reason=WHY)
check_env = pytest.importorskip("gymnasium.utils.env_checker", reason=WHY).check_env
IDS = pytest.importorskip("codeplan.gym", reason=WHY).IDS


def ids():
    return [id for id, name in IDS.items() if name in envs.names() and name != "alfworld"]


@pytest.mark.parametrize("id", ids())
def test_gymnasium_s_own_checker_accepts_it(id):
    env = gymnasium.make(id)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check_env(env.unwrapped, skip_render_check=False)
    env.close()
    assert [str(warning.message) for warning in said] == []


def test_gymnasium_imports_it_by_its_module_name():
    program = "import gymnasium; print(gymnasium.make('codeplan.gym:codeplan/Household-v0').reset(seed=1)[1]['goal'])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith(".")


def test_a_task_is_drawn_by_the_seed():
    env = gymnasium.make("codeplan/Household-v0", split="dev")
    first = [env.reset(seed=s)[1]["task"] for s in range(6)]
    assert first == [env.reset(seed=s)[1]["task"] for s in range(6)]
    assert len(set(first)) > 1
    assert all(1000 <= int(task.split("/")[1]) < 1050 for task in first)


def test_a_task_is_played_to_success():
    env = gymnasium.make("codeplan/Household-v0")
    text, info = env.reset(options={"task": "heat/17"})
    assert info["goal"] in text
    house = Household()
    for action in house.game(house.task("heat", 17)).walkthrough:
        assert action in info["admissible"]
        text, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)


def test_the_action_limit_truncates():
    env = gymnasium.make("codeplan/Household-v0", actions=2)
    env.reset(seed=0)
    assert env.step("look")[2:4] == (False, False)
    assert env.step("look")[2:4] == (False, True)


def test_errors_are_one_line():
    with pytest.raises(UsageError, match="no setting 'colour'"):
        gymnasium.make("codeplan/Household-v0", colour="red")
    env = gymnasium.make("codeplan/Household-v0", split="exam")
    with pytest.raises(UsageError, match="exam"):
        env.reset()
