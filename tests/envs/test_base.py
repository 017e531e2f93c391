"""The base of environments: the action limit, the end of an episode, snapshots, checks of settings, the agent's log."""

import pytest

from codeplan.envs.base import ActionLog, EpisodeSnapshot, RestorableEnvironment, check_choice, check_positive
from codeplan.errors import UsageError
from codeplan.types import Observation


class Total(EpisodeSnapshot, frozen=True):
    total: int = 0


class Adder(RestorableEnvironment[Total]):
    """Adds numbers; a total of 10 wins, a negative number loses."""

    name = "adder"

    def reset(self):
        self._begin(Total())
        return Observation("0")

    def _apply(self, before, action):
        total = before.total + int(action)
        won = total == 10
        return Total(total=total), Observation(str(total), float(won), done=won or int(action) < 0, success=won)


OVER = Observation("The episode is over.", done=True)


def adder(actions):
    env = Adder(actions)
    env.reset()
    return env


def test_an_action_below_the_limit_does_not_end_the_episode():
    env = adder(2)
    assert env.step("1") == Observation("1")
    assert env.step("1") == Observation("2", done=True)
    assert env.step("1") == OVER


def test_the_only_allowed_action_ends_the_episode_and_may_win():
    assert adder(1).step("1") == Observation("1", done=True)
    assert adder(1).step("10") == Observation("10", 1.0, done=True, success=True)


def test_after_success_every_action_repeats_success_without_reward():
    env = adder(5)
    env.step("10")
    assert env.step("1") == Observation("The episode is over.", done=True, success=True)
    assert env.snapshot() == Total(total=10, actions=1, done=True, success=True)


def test_an_environment_may_end_an_episode_without_success():
    env = adder(5)
    assert env.step("-1").done
    assert env.step("1") == OVER


def test_a_snapshot_restores_state_count_and_end():
    env = adder(2)
    env.step("1")
    kept = env.snapshot()
    assert env.step("4").done
    env.restore(kept)
    assert env.step("9") == Observation("10", 1.0, done=True, success=True)


def test_without_a_task_every_call_is_refused():
    env = adder(2)
    env.close()
    for call in (env.snapshot, lambda: env.step("1"), lambda: env.restore(Total())):
        with pytest.raises(UsageError, match=r"adder has no task yet; call reset"):
            call()


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "1", None])
def test_a_number_that_is_not_positive_is_refused_by_name(value):
    with pytest.raises(UsageError, match=r"the setting actions of adder must be a whole number from 1 up"):
        Adder(value)
    assert check_positive("adder", "actions", 1) == 1


def test_a_choice_that_is_not_allowed_is_refused_with_those_that_are():
    assert check_choice("adder", "mode", "a", ("a", "b")) == "a"
    with pytest.raises(UsageError, match=r"the setting mode of adder must be one of a, b \(got 'c'\)"):
        check_choice("adder", "mode", "c", ("a", "b"))


def test_the_log_describes_the_last_action():
    log = ActionLog(lambda action: Observation(f"done {action}"))
    assert log.describe_last() == "I have not acted yet."
    assert log.act("look") == "done look"
    assert log.describe_last() == "Last action: 'look'; it answered: 'done look'"
    assert log.describe_last("the page now", str.upper) == "Last action: 'look'; the page now: DONE LOOK"
