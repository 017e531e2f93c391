"""ALFWorld as an environment: its data on disk, its tasks, what is told of data that is not there or not whole."""

import json
import os
import re
import shutil

import pytest
from support.alfworld_files import write

from codeplan import envs
from codeplan.bench.suite import TaskSuite
from codeplan.envs.alfworld.environment import ALFWorld, make
from codeplan.envs.household.generator import KINDS
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.runner.live import run
from codeplan.testing.environment import EnvironmentContract
from codeplan.types.task import Task


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder of data as it is downloaded: three splits, one game of each kind in the first."""
    root = tmp_path_factory.mktemp("alfworld")
    for kind in KINDS:
        write(root / "json_2.1.1" / "valid_unseen", kind, 1)
    write(root / "json_2.1.1" / "valid_seen", "pick", 2, room=301)
    for seed in (3, 4):
        write(root / "json_2.1.1" / "train", "heat", seed, room=7, dialect="move")
    return root


@pytest.fixture
def env(data):
    return make(data=str(data))


class TestALFWorldIsAnEnvironment(EnvironmentContract):
    @pytest.fixture(autouse=True)
    def _data(self, data):
        self.folder = str(data)

    def make(self):
        return make(data=self.folder)


class TestALFWorldWithOtherSettingsIsAnEnvironment(TestALFWorldIsAnEnvironment):
    split = "train"

    def make(self):
        return make(data=self.folder, actions=7, feedback="augmented", arrival="recorded")


# ------------------------------------------------------------------ what there is


def test_splits_bear_the_data_s_names_the_usual_ones_first(env, data, tmp_path):
    assert env.splits == envs.splits(env) == ("valid_unseen", "valid_seen", "train")
    shutil.copytree(data, tmp_path / "more")
    write(tmp_path / "more" / "json_2.1.1" / "another", "pick", 9)
    assert make(data=str(tmp_path / "more")).splits == ("valid_unseen", "valid_seen", "train", "another")


def test_a_task_s_id_is_its_folders_and_its_kind_the_household_s(env):
    tasks = env.tasks("valid_unseen")
    assert {task.kind for task in tasks} == set(env.kinds) == set(KINDS)
    assert all(re.fullmatch(r"[a-z_]+-\w+-None-\w+-10/trial_00001", task.id) for task in tasks)
    assert [task.id for task in tasks] == sorted(task.id for task in tasks)


@pytest.mark.parametrize("part", [".", "json_2.1.1", "json_2.1.1/valid_unseen"])
def test_any_folder_above_the_tasks_can_be_given(data, part, monkeypatch):
    assert len(make(data=str(data / part)).tasks("valid_unseen")) == 6
    monkeypatch.setenv("ALFWORLD_DATA", str(data / part))
    assert len(make().tasks("valid_unseen")) == 6


@pytest.mark.parametrize(("room", "split"), [(10, "valid_unseen"), (424, "valid_unseen"), (7, "games")])
def test_a_folder_of_tasks_with_a_name_of_its_own_is_told_by_its_rooms(tmp_path, room, split):
    write(tmp_path / "games", "pick", 1, room=room)
    assert make(data=str(tmp_path / "games")).splits == (split,)


def test_of_two_releases_the_later_one_that_has_games_counts(data, tmp_path):
    root = tmp_path / "both"
    shutil.copytree(data, root)
    write(root / "json_2.1.2" / "valid_unseen", "pick", 77)
    (root / "json_2.1.3" / "train").mkdir(parents=True)
    found = make(data=str(root))
    assert [task.id.endswith("trial_00077") for task in found.tasks("valid_unseen")] == [True]
    assert len(found.tasks("train")) == 2


def test_games_that_are_not_known_to_be_solvable_are_not_listed_nor_those_of_types_that_are_not_played(tmp_path):
    split = tmp_path / "valid_seen"
    listed = write(split, "pick", 1)
    write(split, "pick", 2, solvable=False)
    write(split, "pick", 3, solvable=None)
    task, trial = listed.split("/")
    for other in (
        "pick_and_place_with_movable_recep-Fork-Bowl-Fridge-10",
        "pick_and_place_simple-AppleSliced-None-Fridge-10",
    ):
        shutil.copytree(split / task, split / other)
    env = make(data=str(tmp_path))
    assert [t.id for t in env.tasks("valid_seen")] == [listed]
    assert env.notes()[1] == (
        "valid_seen  1 of the 140 games of the complete data; 2 more are left out: they are not known to be solvable"
    )


def test_data_that_was_never_made_into_games_is_played_from_its_problems(tmp_path):
    id = write(tmp_path / "train", "pick", 1)
    (file,) = tmp_path.rglob("game.tw-pddl")
    (file.parent / "initial_state.pddl").write_text(json.loads(file.read_text())["pddl_problem"])
    kind, thing, _, place, _ = id.split("/")[0].split("-")
    (file.parent / "traj_data.json").write_text(
        json.dumps({"task_type": kind, "pddl_params": {"object_target": thing, "parent_target": place}})
    )
    file.unlink()
    (task,) = make(data=str(tmp_path)).tasks("train")
    assert task.goal == f"put a {thing.lower()} in {place.lower()}."
    assert run("alfworld", task, data=str(tmp_path)).success


@pytest.mark.parametrize(("said", "kind"), [({}, None), ({"kind": "cool"}, "cool"), ({"split": "valid_seen"}, "pick")])
def test_one_task_is_selected_as_elsewhere(env, said, kind):
    task = envs.select(env, **said)
    assert kind in (None, task.kind)
    assert task.split == said.get("split", "valid_unseen")
    assert envs.select(env, id=task.id) == task


# ------------------------------------------------------------------ playing


@pytest.mark.parametrize("split", ["valid_unseen", "train"])
def test_every_walkthrough_wins(env, split):
    for task in env.tasks(split):
        env.reset(task)
        words = ("put {} in/on {}", "move {} to {}")[split == "train"]
        for action in env.game(task).walkthrough:
            put = re.fullmatch(r"put (.*) in/on (.*)", action)
            answer = env.step(words.format(*put.groups()) if put else action)
        assert answer.success


@pytest.mark.parametrize(
    ("split", "told"), [("valid_unseen", r"You arrive at loc \d+\. "), ("train", r"You arrive at \w+ \d\. ")]
)
def test_arrivals_are_told_as_the_file_has_it_or_as_transcripts_do(data, split, told):
    for arrival, expected in (("exact", told), ("recorded", r"You arrive at the location\. ")):
        env = make(data=str(data), arrival=arrival)
        task = env.tasks(split)[0]
        env.reset(task)
        action = f"go to {env.game(task).receptacles[0].name}"
        assert re.match(expected, env.step(action).text)


def test_a_snapshot_brings_back_the_world(env):
    task = env.tasks("valid_unseen")[0]
    env.reset(task)
    start = env.snapshot()
    first = env.admissible()
    env.step(env.game(task).walkthrough[0])
    assert env.admissible() != first
    env.restore(start)
    assert env.admissible() == first


def test_the_scripted_stand_in_wins_them_all(data, env):
    tasks = [*env.tasks("valid_unseen"), *env.tasks("train")]
    results = TaskSuite(env="alfworld", tasks=tasks, workers=2, settings={"data": str(data)}).run()
    assert [result.reason for result in results if not result.success] == []


# ------------------------------------------------------------------ what is wrong


def test_without_data_it_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    env = make()
    for ask in (
        lambda: env.splits,
        lambda: env.tasks("train"),
        lambda: env.reset(Task("a/b")),
        lambda: envs.select(env),
    ):
        with pytest.raises(
            UsageError, match=r"no data of ALFWorld.*pip install alfworld && alfworld-download.*--data FOLDER"
        ):
            ask()


@pytest.mark.parametrize(
    ("folder", "told"),
    [("nowhere", "there is no folder"), ("file", "there is no folder"), ("empty", "no games of ALFWorld in")],
)
def test_a_wrong_folder_is_named(tmp_path, folder, told):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=rf"{told}.*{folder}.*alfworld-download"):
        make(data=str(tmp_path / folder)).tasks("train")


@pytest.mark.parametrize("id", ["x", "a/b", "../valid_seen", "a/../b", "a/b/c", "", "/etc/passwd", "a\0/b", "x" * 9000])
def test_an_unknown_id_is_refused_with_one_that_there_is(env, id):
    with pytest.raises(UsageError, match=r"no game .* an id names the folders .* as in \w+-.*/trial_00001"):
        env.reset(Task(id))


@pytest.fixture
def damaged(data, tmp_path):
    """The data, with a game that is half downloaded, one with a strange goal, and a folder with nothing in it."""
    root = tmp_path / "damaged"
    shutil.copytree(data, root)
    split = root / "json_2.1.1" / "valid_unseen"
    half, strange = sorted(split.rglob("game.tw-pddl"))[:2]
    half.write_bytes(half.read_bytes()[:1000])
    strange.write_text(
        strange.read_text()
        .replace("holds ?a", "examined ?a")
        .replace("isHot", "isOn")
        .replace("isCool", "isOn")
        .replace("isClean", "isOn")
        .replace("(and (exists", "(and (isOn x) (exists", 1)
    )
    (split / "pick_and_place_simple-Mug-None-Desk-308" / "trial_T1").mkdir(parents=True)
    return root, half, strange


def test_a_damaged_game_is_listed_and_its_playing_says_what_is_wrong(damaged):
    root, half, strange = damaged
    env = make(data=str(root))
    tasks = env.tasks("valid_unseen")
    assert len(tasks) == 6
    for file, why in ((half, "half downloaded"), (strange, "its goal has an unknown form")):
        (task,) = [t for t in tasks if t.id == f"{file.parent.parent.name}/{file.parent.name}"]
        with pytest.raises(EnvironmentFailure, match=why) as refused:
            env.reset(task)
        assert str(file) in str(refused.value)


def test_a_damaged_game_does_not_keep_a_suite_from_the_others(damaged):
    root, _, _ = damaged
    tasks = make(data=str(root)).tasks("valid_unseen")
    results = TaskSuite(env="alfworld", tasks=tasks, settings={"data": str(root)}).run()
    assert sorted(result.success for result in results) == [False, False, True, True, True, True]
    assert all(result.reason.startswith("infrastructure: the game file") for result in results if not result.success)


def test_each_fault_of_the_data_is_one_sentence_with_the_file(damaged, env):
    root, half, strange = damaged
    faults = make(data=str(root)).faults()
    assert [fault.count("\n") for fault in faults] == [0, 0, 0]
    assert str(half) in faults[0]
    assert str(strange) in faults[1]
    assert "trial_T1 is half downloaded" in faults[2]
    assert env.faults() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_a_file_that_may_not_be_read_is_named(damaged):
    root, half, _ = damaged
    half.chmod(0)
    assert any(str(half) in fault and "Permission" in fault for fault in make(data=str(root)).faults())


@pytest.mark.parametrize(
    "settings",
    [
        {"actions": 0},
        {"feedback": "loud"},
        {"arrival": "late"},
        {"engine": "unity"},
        {"engine": "textworld", "feedback": "augmented"},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(UsageError, match=next(iter(settings))):
        ALFWorld(**settings)


@pytest.mark.parametrize(
    ("python", "why"), [("/usr/bin/false", "its process ended"), ("/no/such/python", "cannot be started: No such file")]
)
def test_the_official_engine_says_what_it_lacks(data, monkeypatch, python, why):
    monkeypatch.setenv("CODEPLAN_TEXTWORLD_PYTHON", python)
    env = make(data=str(data), engine="textworld")
    with pytest.raises(EnvironmentFailure, match=f"the engine textworld failed in {python}: .*{why}"):
        env.reset(env.tasks("valid_unseen")[0])
