"""Environments are found by name, tasks by id, kind, seed or split."""

import pytest
from support.boxes import Boxes

from codeplan import envs
from codeplan.envs.household.environment import Household
from codeplan.errors import EnvironmentFailure, UsageError


def test_an_environment_is_made_by_its_name():
    assert isinstance(envs.make("household"), Household)
    assert "household" in envs.names()


def test_settings_reach_the_environment():
    env = envs.make("household", actions=1)
    env.reset(envs.select(env))
    assert env.step("look").done


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"colour": "red"}, ["'colour'", "actions", "dialect"]),
        ({"actions": "50"}, ["actions='50'", "int"]),
        ({"actions": True}, ["actions=True", "int"]),
        ({"actions": 0}, ["actions", "from 1 up"]),
        ({"dialect": "shove"}, ["'shove'", "'put' or 'move'"]),
        ({"feedback": "loud"}, ["feedback"]),
        ({"difficulty": "mad"}, ["difficulty"]),
    ],
)
def test_a_wrong_setting_is_refused_with_the_valid_ones(settings, message):
    with pytest.raises(UsageError) as refused:
        envs.make("household", **settings)
    assert all(part in str(refused.value) for part in message)


def test_an_unknown_name_is_refused_with_the_known_names():
    with pytest.raises(UsageError, match=r"no environment 'househodl'.*household"):
        envs.make("househodl")


def test_the_package_cannot_be_loaded_under_another_name():
    with pytest.raises(ImportError, match=r"import codeplan\.envs"):
        exec(compile(_source_of_the_package(), "envs", "exec"), {"__name__": "envs"})


def _source_of_the_package():
    with open(envs.__file__, encoding="utf-8") as file:
        return file.read()


# ------------------------------------------------------------------ an environment that generates tasks


def test_the_default_task_is_the_first_of_the_split():
    env = Household()
    assert envs.select(env) == env.tasks("test")[0]
    assert envs.select(env, split="dev") == env.tasks("dev")[0]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"id": "heat/17"}, "heat/17"),
        ({"id": "cool/987654321"}, "cool/987654321"),
        ({"kind": "heat", "seed": 17}, "heat/17"),
        ({"kind": "heat"}, "heat/0"),
        ({"kind": "heat", "split": "train"}, "heat/2000"),
        ({"seed": 5}, "pick/5"),
        ({"seed": 1005, "split": "dev"}, "pick/1005"),
    ],
)
def test_a_generated_task_is_selected(choice, expected):
    assert envs.select(Household(), **choice).id == expected


@pytest.mark.parametrize(
    ("choice", "error"),
    [
        ({"id": "heat/x"}, "no task 'heat/x'.*looks like 'pick/0'"),
        ({"id": "heat/017"}, "no task 'heat/017'"),
        ({"id": "heat/17", "split": "dev"}, "split test, not in dev"),
        ({"id": "heat/17", "kind": "heat"}, "not by both"),
        ({"kind": "fry"}, "'fry'.*heat"),
        ({"kind": "fry", "seed": 1}, "'fry'.*heat"),
        ({"seed": -1}, "-1"),
        ({"split": "exam"}, "exam.*test, dev, train"),
    ],
)
def test_an_unknown_generated_task_is_refused_with_the_choices(choice, error):
    with pytest.raises(UsageError, match=error):
        envs.select(Household(), **choice)


# ------------------------------------------------------------------ an environment with a list of tasks


@pytest.mark.parametrize(
    ("choice", "expected"),
    [({}, "ball/1"), ({"id": "ball/3"}, "ball/3"), ({"seed": 2}, "ball/2"), ({"kind": "find", "seed": 3}, "ball/3")],
)
def test_a_listed_task_is_selected(choice, expected):
    assert envs.select(Boxes(), **choice).id == expected


@pytest.mark.parametrize(
    ("choice", "error"),
    [({"id": "ball/9"}, "'ball/9'"), ({"kind": "lose"}, "kind lose.*find"), ({"seed": 8}, "seed 8")],
)
def test_an_unknown_listed_task_is_refused(choice, error):
    with pytest.raises(UsageError, match=error):
        envs.select(Boxes(), **choice)


class Yielding(Boxes):
    def tasks(self, split):
        return (task for task in super().tasks(split))


class Naming(Boxes):
    def tasks(self, split):
        return "ball/1"


def test_tasks_that_are_yielded_one_by_one_are_a_list():
    assert envs.tasks_of(Yielding(), "test") == Boxes().tasks("test")
    assert envs.select(Yielding(), id="ball/2").id == "ball/2"


def test_a_text_is_no_list_of_tasks():
    with pytest.raises(EnvironmentFailure, match=r"^the environment boxes gave a str for its split test; tasks must "):
        envs.tasks_of(Naming(), "test")


class Maker(Boxes):
    """Generates tasks, but not all of them."""

    kinds = ("find",)

    def task(self, kind, seed):
        return {1: None, 2: {}[kind] if seed == 2 else None}[seed]


def test_an_environment_that_makes_no_task_is_named():
    with pytest.raises(
        EnvironmentFailure, match=r"boxes gave a NoneType for find/1; task must return a codeplan.Task$"
    ):
        envs.select(Maker(), kind="find", seed=1)
    told = r"boxes broke while making the task find/2: KeyError\('find'\) \(test_environments.py, line \d+\)$"
    with pytest.raises(EnvironmentFailure, match=told) as e:
        envs.select(Maker(), kind="find", seed=2)
    assert e.value.is_users_bug
