"""The household as an environment."""

import time

import pytest

from codeplan.envs.household.environment import Household, make
from codeplan.errors import UsageError
from codeplan.protocols import GeneratesTasks
from codeplan.testing.environment import EnvironmentContract
from codeplan.types import Observation, Task


class TestHouseholdIsAnEnvironment(EnvironmentContract):
    def make(self):
        return Household()


class TestAHardHouseholdIsAnEnvironment(EnvironmentContract):
    def make(self):
        return make(difficulty="hard", feedback="augmented")


class TestHouseholdOfTheOtherDialectIsAnEnvironment(EnvironmentContract):
    split = "dev"

    def make(self):
        return make(dialect="move", actions=7)


def test_it_generates_six_kinds_of_tasks():
    env = Household()
    assert isinstance(env, GeneratesTasks)
    assert env.kinds == ("pick", "clean", "heat", "cool", "examine", "pick_two")
    assert [t.id for t in env.tasks("test")[:7]] == [*(f"{kind}/0" for kind in env.kinds), "pick/1"]


@pytest.mark.parametrize(("split", "size", "last"), [("test", 300, 49), ("dev", 300, 1049), ("train", 1200, 2199)])
def test_each_split_has_its_seeds(split, size, last):
    tasks = Household().tasks(split)
    assert len(tasks) == size
    assert tasks[-1].id == f"pick_two/{last}"
    assert tasks[-1].split == tasks[0].split == split


@pytest.mark.parametrize(
    ("seed", "split"), [(0, "test"), (999, "test"), (1000, "dev"), (1999, "dev"), (2000, "train"), (10**9, "train")]
)
def test_any_seed_belongs_to_a_split(seed, split):
    assert Household().task("heat", seed).split == split


def test_listing_tasks_generates_none_of_them():
    started = time.perf_counter()
    assert sum(len(Household().tasks("train")) for _ in range(1000)) == 1_200_000
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize("task", [Task("heat/17"), Task("mine", kind="heat", seed=17), Task("x/9", "", "heat", "", 17)])
def test_a_hand_made_task_is_found_by_its_kind_and_seed_or_its_id(task):
    env = Household()
    assert env.reset(task) == env.reset(env.task("heat", 17))


@pytest.mark.parametrize(
    "task",
    [
        *map(Task, ("", "heat", "heat/", "/3", "heat/-1", "heat/²", "fry/1", "a/heat/1", "heat/" + "9" * 5000)),
        *(Task("x", kind=kind, seed=seed) for kind, seed in (("fry", 0), ("heat", -1), ("heat", True))),
    ],
)
def test_an_unknown_task_is_refused(task):
    with pytest.raises(UsageError, match=r"household"):
        Household().reset(task)


@pytest.mark.parametrize("kind", Household.kinds)
@pytest.mark.parametrize("dialect", ["put", "move"])
def test_a_walkthrough_ends_in_success(kind, dialect):
    env = Household(dialect=dialect)
    task = env.task(kind, 8)
    env.reset(task)
    *before, last = [env.step(action) for action in env.game(task).walkthrough]
    assert not any(answer.done or answer.success or answer.reward for answer in before)
    assert (last.done, last.success, last.reward) == (True, True, 1.0)
    assert env.step("look") == Observation("The episode is over.", done=True, success=True)
    assert env.admissible() == ()


def test_fifty_actions_are_allowed_by_default():
    env = Household()
    env.reset(env.task("pick", 0))
    assert [env.step("nonsense").done for _ in range(50)].index(True) == 49
