"""TextCraft as an environment: its tasks, its episodes, its settings."""

import json
import random
import subprocess
import sys

import pytest

from codeplan import envs
from codeplan.envs.textcraft.environment import TextCraft, draw_commands, goal_item, make, recipe_book
from codeplan.errors import UsageError
from codeplan.testing.environment import EnvironmentContract
from codeplan.types import Task

TASKS = TextCraft().tasks("test")


class TestTextCraftIsAnEnvironment(EnvironmentContract):
    def make(self):
        return TextCraft()


class TestTextCraftWithRecordedCommandsIsAnEnvironment(EnvironmentContract):
    non_winning_action = "get 1 stick"

    def make(self):
        env = make(exact=True, actions=5)
        known = [t for t in env.tasks("test") if t.seed % 2 == 0]
        env.tasks = lambda split: known if split == "test" else []
        return env


# ------------------------------------------------------------------ tasks


def test_the_test_tasks_are_77_of_depth_2_and_112_of_depth_3_and_11_of_depth_4():
    assert [t.seed for t in TASKS] == list(range(200))
    assert [t.kind for t in TASKS] == ["depth4"] * 11 + ["depth3"] * 112 + ["depth2"] * 77


def test_kind_id_and_environment_agree_on_a_task_s_depth():
    env = TextCraft()
    assert all(f"depth{env.depth(t)}" == t.kind == t.id.split("/")[0] for s in ("test", "dev") for t in env.tasks(s))
    assert env.depth(Task("depth4/0")) == 4


def test_dev_and_train_have_the_other_197_items_of_depth_2():
    dev, train = (TextCraft().tasks(split) for split in ("dev", "train"))
    assert [t.seed for t in [*dev, *train]] == list(range(200, 397))
    assert (len(dev), {t.kind for t in [*dev, *train]}) == (50, {"depth2"})
    assert len({t.goal for t in [*TASKS, *dev, *train]}) == 397


@pytest.mark.parametrize("task", [Task("depth3/17"), Task("mine", kind="depth3", seed=17), TASKS[17]])
def test_a_hand_made_task_is_found_by_its_id_or_its_kind_and_seed(task):
    env = TextCraft()
    assert env.reset(task) == env.reset(TASKS[17])


@pytest.mark.parametrize(
    "task",
    [
        *map(Task, ("", "depth3", "depth2/17", "depth3/397", "depth3/-1", "17", "x" * 10_000)),
        *(Task("x", kind=kind, seed=seed) for kind, seed in (("depth2", 17), ("depth9", 0), ("depth4", True))),
    ],
)
def test_an_unknown_task_is_refused_with_an_example_of_an_id(task):
    with pytest.raises(UsageError, match=r"has no task .*depth3/17.*0 to 396") as refused:
        TextCraft().reset(task)
    assert len(str(refused.value)) < 300


# ------------------------------------------------------------------ the first observation


def test_reset_shows_the_commands_and_the_goal():
    task = next(t for t in TextCraft().tasks("train") if t.goal == "craft oak trapdoor")
    text = TextCraft().reset(task).text
    assert text.startswith("Crafting commands:\ncraft ")
    assert text.endswith("\n\nGoal: craft oak trapdoor.")
    assert "\ncraft 2 oak trapdoor using 6 oak planks\n" in text
    assert text.count("\n") == len(TextCraft().commands(task)) + 2


@pytest.mark.parametrize("split", ["test", "dev", "train"])
def test_every_task_shows_its_needed_commands_and_at_most_ten_distractors_without_duplicates(split):
    env = TextCraft()
    for task in env.tasks(split):
        shown, needed = env.commands(task), recipe_book().recipes_needed_for(goal_item(task))
        assert len(set(shown)) == len(shown)
        assert set(needed) <= set(shown)
        assert len(shown) - len(needed) <= 10


def test_tasks_with_the_same_goal_have_different_distractors():
    first, second = (draw_commands(recipe_book(), "lodestone", seed) for seed in (0, 1))
    assert set(first) != set(second)
    assert set(recipe_book().recipes_needed_for("lodestone")) <= set(first) & set(second)


PRINT_ALL = (
    "from codeplan.envs.textcraft import TextCraft; import hashlib; e = TextCraft(); "
    "print(hashlib.sha256('|'.join(e.reset(t).text for s in ('test', 'dev', 'train') for t in e.tasks(s))"
    ".encode()).hexdigest())"
)


@pytest.mark.parametrize("hash_seed", ["0", "1", "4294967295"])
def test_all_tasks_are_the_same_under_every_hash_seed_and_on_every_machine(hash_seed):
    made = subprocess.run(
        [sys.executable, "-c", PRINT_ALL], env={"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True
    )
    assert made.stdout.strip() == "c9e489e32eed56e869f20c04876412d0cdbc3ffc5a3cd7daeac585935f9c894a"


# ------------------------------------------------------------------ episodes


@pytest.mark.parametrize("split", ["test", "dev", "train"])
def test_every_task_can_be_won_and_its_walkthrough_wins_it(split):
    env = TextCraft()
    for task in env.tasks(split):
        env.reset(task)
        *before, last = [env.step(action) for action in env.walkthrough(task)]
        assert not any(answer.done or answer.success or answer.reward for answer in before)
        assert (last.done, last.success, last.reward) == (True, True, 1.0)


def test_the_longest_walkthrough_takes_less_than_half_of_the_default_action_limit():
    env = TextCraft()
    longest = max(len(env.walkthrough(t)) for t in env.tasks("test"))
    env.reset(TASKS[0])
    allowed = [env.step("inventory").done for _ in range(100)].index(True) + 1
    assert (longest, allowed) == (27, 60)


# ------------------------------------------------------------------ settings


def test_exact_shows_the_commands_in_recorded_order():
    env = envs.make("textcraft", exact=True)
    text = env.reset(TASKS[70]).text
    first = "craft 1 lever using 1 cobblestone, 1 stick\ncraft 1 quartz block using 4 quartz\n"
    assert text.startswith(f"Crafting commands:\n{first}")
    assert text.endswith("\n\nGoal: craft polished andesite.")
    assert text == f"Crafting commands:\n{chr(10).join(env.commands(TASKS[70]))}\n\nGoal: craft polished andesite."


def test_exact_knows_half_of_the_test_tasks_and_refuses_the_others():
    env = TextCraft(exact=True)
    known = 0
    for task in TASKS:
        try:
            known += bool(env.reset(task).text)
        except UsageError as refused:
            assert f"no commands were recorded for the task {task.id}" in str(refused)
    assert known == 100


def recorded(tmp_path, *lines):
    file = tmp_path / "recorded.jsonl"
    file.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return str(file)


def test_more_recorded_tasks_come_from_a_file(tmp_path):
    listed = list(TextCraft().commands(TASKS[151]))
    random.Random(0).shuffle(listed)
    file = recorded(tmp_path, {"seed": 151, "goal": "whatever", "commands": listed}, "")
    env = make(exact=True, recorded=file)
    assert env.commands(TASKS[151]) == tuple(listed)
    assert env.commands(TASKS[70]) == TextCraft(exact=True).commands(TASKS[70])


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        *((line, "line 1 is not a recorded task") for line in ("{", "[1]", "[" * 100_000, {"seed": 1})),
        ({"seed": "1", "commands": ["craft 4 stick using 2 planks"]}, "its seed must be a number"),
        ({"seed": 1, "commands": []}, "its commands a list"),
        ({"seed": 1, "commands": "craft 4 stick using 2 planks"}, "its commands a list"),
        (
            {"seed": 1, "commands": ["craft 1 stick using 1 dragon"]},
            "'craft 1 stick using 1 dragon', which is not one of",
        ),
        ({"seed": 1, "commands": [["x"]]}, "which is not one of"),
    ],
)
def test_a_wrong_line_of_a_recorded_file_is_named_in_one_line(tmp_path, line, fault):
    with pytest.raises(UsageError, match=rf"recorded\.jsonl.*{fault}") as refused:
        make(exact=True, recorded=recorded(tmp_path, line))
    assert "\n" not in str(refused.value)


def test_an_unreadable_recorded_file_is_named(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for file in (tmp_path / "missing", tmp_path, tmp_path / "binary", "a\0b"):
        with pytest.raises(UsageError, match="the recorded tasks in .* cannot be read"):
            make(exact=True, recorded=str(file))


def test_a_file_of_recorded_tasks_without_exact_is_refused(tmp_path):
    with pytest.raises(UsageError, match="exact=True"):
        make(recorded=recorded(tmp_path))
