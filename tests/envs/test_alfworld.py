"""ALFWorld as an environment: its data on disk, its tasks, missing and damaged data."""

import json
import os
import re
import shutil

import pytest
from support.alfworld_files import write
from support.task_runs import run_tasks

from codeplan import envs
from codeplan.envs.alfworld.environment import ALFWorld, make
from codeplan.envs.household.generator import KINDS
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.runner.episodes import run
from codeplan.testing.environment import EnvironmentContract
from codeplan.types import Task


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder of data as downloaded: three splits, with one game of each kind in the first."""
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


def test_splits_have_the_names_of_the_data_with_the_usual_ones_first(env, data, tmp_path):
    assert env.splits == envs.splits(env) == ("valid_unseen", "valid_seen", "train")
    shutil.copytree(data, tmp_path / "more")
    write(tmp_path / "more" / "json_2.1.1" / "another", "pick", 9)
    assert make(data=str(tmp_path / "more")).splits == ("valid_unseen", "valid_seen", "train", "another")


def test_a_task_has_its_folders_as_id_and_a_kind_of_the_household(env):
    tasks = env.tasks("valid_unseen")
    assert {task.kind for task in tasks} == set(env.kinds) == set(KINDS)
    assert all(re.fullmatch(r"[a-z_]+-\w+-None-\w+-10/trial_00001", task.id) for task in tasks)
    assert [task.id for task in tasks] == sorted(task.id for task in tasks)


@pytest.mark.parametrize("part", [".", "json_2.1.1", "json_2.1.1/valid_unseen"])
def test_any_folder_above_the_tasks_can_be_named(data, part, monkeypatch):
    assert len(make(data=str(data / part)).tasks("valid_unseen")) == 6
    monkeypatch.setenv("ALFWORLD_DATA", str(data / part))
    assert len(make().tasks("valid_unseen")) == 6


@pytest.mark.parametrize(("room", "split"), [(10, "valid_unseen"), (424, "valid_unseen"), (7, "games")])
def test_the_split_of_a_renamed_folder_follows_from_its_rooms(tmp_path, room, split):
    write(tmp_path / "games", "pick", 1, room=room)
    assert make(data=str(tmp_path / "games")).splits == (split,)


def test_the_latest_release_with_games_counts(data, tmp_path):
    root = tmp_path / "both"
    shutil.copytree(data, root)
    write(root / "json_2.1.2" / "valid_unseen", "pick", 77)
    (root / "json_2.1.3" / "train").mkdir(parents=True)
    found = make(data=str(root))
    assert [task.id.endswith("trial_00077") for task in found.tasks("valid_unseen")] == [True]
    assert len(found.tasks("train")) == 2


def test_unsolvable_games_and_unknown_types_are_not_listed(tmp_path):
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


def test_data_without_game_files_is_played_from_its_problems(tmp_path):
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
    ("split", "wording"), [("valid_unseen", r"You arrive at loc \d+\. "), ("train", r"You arrive at \w+ \d\. ")]
)
def test_arrivals_are_worded_as_in_the_file_or_as_in_transcripts(data, split, wording):
    for arrival, expected in (("exact", wording), ("recorded", r"You arrive at the location\. ")):
        env = make(data=str(data), arrival=arrival)
        task = env.tasks(split)[0]
        env.reset(task)
        action = f"go to {env.game(task).receptacles[0].name}"
        assert re.match(expected, env.step(action).text)


def test_the_stand_in_wins_every_game(data, env):
    tasks = [*env.tasks("valid_unseen"), *env.tasks("train")]
    results = run_tasks("alfworld", tasks, workers=2, data=str(data))
    assert [result.reason for result in results if not result.success] == []


# ------------------------------------------------------------------ what is wrong


def test_without_data_the_error_says_how_to_get_it(monkeypatch, tmp_path):
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
    ("folder", "message"),
    [("nowhere", "there is no folder"), ("file", "there is no folder"), ("empty", "no games of ALFWorld in")],
)
def test_a_wrong_folder_is_named(tmp_path, folder, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=rf"{message}.*{folder}.*alfworld-download"):
        make(data=str(tmp_path / folder)).tasks("train")


@pytest.mark.parametrize("id", ["x", "a/b", "../valid_seen", "a/../b", "a/b/c", "", "/etc/passwd", "a\0/b", "x" * 9000])
def test_an_unknown_id_is_refused_with_an_example(env, id):
    with pytest.raises(UsageError, match=r"no game .* an id names the folders .* as in \w+-.*/trial_00001"):
        env.reset(Task(id))


@pytest.fixture
def damaged(data, tmp_path):
    """The data with a half downloaded game, a game with an unknown goal, and an empty folder."""
    root = tmp_path / "damaged"
    shutil.copytree(data, root)
    split = root / "json_2.1.1" / "valid_unseen"
    half, strange = sorted(split.rglob("game.tw-pddl"))[:2]
    half.write_bytes(half.read_bytes()[:1000])
    text = re.sub("isHot|isCool|isClean", "isOn", strange.read_text()).replace("holds ?a", "examined ?a")
    strange.write_text(text.replace("(and (exists", "(and (isOn x) (exists", 1))
    (split / "pick_and_place_simple-Mug-None-Desk-308" / "trial_T1").mkdir(parents=True)
    return root, half, strange


def test_a_damaged_game_is_listed_and_reset_says_what_is_wrong(damaged):
    root, half, strange = damaged
    env = make(data=str(root))
    tasks = env.tasks("valid_unseen")
    assert len(tasks) == 6
    for file, why in ((half, "half downloaded"), (strange, "its goal has an unknown form")):
        (task,) = [t for t in tasks if t.id == f"{file.parent.parent.name}/{file.parent.name}"]
        with pytest.raises(EnvironmentFailure, match=why) as refused:
            env.reset(task)
        assert str(file) in str(refused.value)


def test_a_suite_plays_the_other_games_despite_a_damaged_one(damaged):
    root, _, _ = damaged
    tasks = make(data=str(root)).tasks("valid_unseen")
    results = run_tasks("alfworld", tasks, data=str(root))
    assert sorted(result.success for result in results) == [False, False, True, True, True, True]
    assert all(result.reason.startswith("infrastructure: the game file") for result in results if not result.success)


def test_each_fault_is_one_sentence_with_the_file(damaged, env):
    root, half, strange = damaged
    faults = make(data=str(root)).faults()
    assert [fault.count("\n") for fault in faults] == [0, 0, 0]
    assert str(half) in faults[0]
    assert str(strange) in faults[1]
    assert "trial_T1 is half downloaded" in faults[2]
    assert env.faults() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_an_unreadable_file_is_named(damaged):
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
def test_settings_outside_their_range_are_refused(settings):
    with pytest.raises(UsageError, match=next(iter(settings))):
        ALFWorld(**settings)


@pytest.mark.parametrize(
    ("python", "why"), [("/usr/bin/false", "its process ended"), ("/no/such/python", "cannot be started: No such file")]
)
def test_textworld_reports_why_it_cannot_start(data, monkeypatch, python, why):
    monkeypatch.setenv("CODEPLAN_TEXTWORLD_PYTHON", python)
    env = make(data=str(data), engine="textworld")
    with pytest.raises(EnvironmentFailure, match=f"the engine textworld failed in {python}: .*{why}"):
        env.reset(env.tasks("valid_unseen")[0])
