"""Environments are found by name, and tasks by what is said of them."""

import pytest
from support.boxes import Boxes

from codeplan import envs
from codeplan.envs.household.environment import Household
from codeplan.errors import UsageError


def test_an_environment_is_made_by_its_name():
    assert isinstance(envs.make("household"), Household)
    assert "household" in envs.names()


def test_settings_reach_the_environment():
    env = envs.make("household", actions=1)
    env.reset(envs.select(env))
    assert env.step("look").done


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"colour": "red"}, ["'colour'", "actions", "dialect"]),
        ({"actions": "50"}, ["actions='50'", "int"]),
        ({"actions": True}, ["actions=True", "int"]),
        ({"actions": 0}, ["actions", "from 1 up"]),
        ({"dialect": "shove"}, ["'shove'", "'put', 'move'"]),
    ],
)
def test_a_setting_that_does_not_fit_is_refused_with_those_that_do(settings, told):
    with pytest.raises(UsageError) as refused:
        envs.make("household", **settings)
    assert all(part in str(refused.value) for part in told)


def test_an_unknown_name_is_answered_with_the_names_there_are():
    with pytest.raises(UsageError, match=r"no environment 'househodl'.*household"):
        envs.make("househodl")


def test_the_package_cannot_be_loaded_under_another_name():
    with pytest.raises(ImportError, match=r"import codeplan\.envs"):
        exec(compile(_source_of_the_package(), "envs", "exec"), {"__name__": "envs"})


def _source_of_the_package():
    with open(envs.__file__, encoding="utf-8") as file:
        return file.read()


# ------------------------------------------------------------------ one task of an environment that generates


def test_with_nothing_said_the_first_test_task_is_taken():
    env = Household()
    assert envs.select(env) == env.tasks("test")[0]
    assert envs.select(env, split="dev") == env.tasks("dev")[0]


@pytest.mark.parametrize(
    ("said", "meant"),
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
def test_a_task_is_found_by_what_is_said_of_it(said, meant):
    assert envs.select(Household(), **said).id == meant


@pytest.mark.parametrize(
    ("said", "told"),
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
def test_a_task_that_there_is_not_is_refused_with_what_there_is(said, told):
    with pytest.raises(UsageError, match=told):
        envs.select(Household(), **said)


# ------------------------------------------------------------------ one task of an environment with a list


@pytest.mark.parametrize(
    ("said", "meant"),
    [({}, "ball/1"), ({"id": "ball/3"}, "ball/3"), ({"seed": 2}, "ball/2"), ({"kind": "find", "seed": 3}, "ball/3")],
)
def test_a_task_of_a_list_is_found_by_what_is_said_of_it(said, meant):
    assert envs.select(Boxes(), **said).id == meant


@pytest.mark.parametrize(
    ("said", "told"), [({"id": "ball/9"}, "'ball/9'"), ({"kind": "lose"}, "kind lose.*find"), ({"seed": 8}, "seed 8")]
)
def test_a_task_that_is_not_in_the_list_is_refused(said, told):
    with pytest.raises(UsageError, match=told):
        envs.select(Boxes(), **said)
