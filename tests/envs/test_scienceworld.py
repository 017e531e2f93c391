"""ScienceWorld as an environment: its tasks, its episodes in the real engine, its settings."""

import pytest
from support.scienceworld_engine import needs_engine, play_in_package

from codeplan import envs
from codeplan.bench.bench_spec import select_tasks
from codeplan.envs.base import EPISODE_OVER
from codeplan.envs.scienceworld.environment import (
    MAX_ACTION_CHARS,
    NOT_UNDERSTOOD,
    SPLITS,
    VARIATIONS,
    ScienceWorld,
    find_task,
    make,
    tasks_in_split,
    variations,
)
from codeplan.errors import UsageError
from codeplan.testing.environment import EnvironmentContract
from codeplan.types import Task

pytestmark = pytest.mark.long

SHORT = ["find-animal", "lifespan-longest-lived-then-shortest-lived", "use-thermometer", "power-component", "boil"]
"""Kinds with short gold paths, one of them with many readings of a thermometer."""


@needs_engine
class TestScienceWorldIsAnEnvironment(EnvironmentContract):
    def make(self):
        return ScienceWorld()


@needs_engine
class TestScienceWorldOfOneActionIsAnEnvironment(EnvironmentContract):
    split = "dev"

    def make(self):
        return make(actions=1, simplifications="easy", score=True)


@pytest.fixture(scope="module")
def env():
    env = ScienceWorld(actions=300)
    yield env
    env.close()


def task(id):
    return find_task(Task(id))


# ------------------------------------------------------------------ tasks: no engine is needed


def test_the_splits_have_all_variations_of_all_kinds_once():
    every = [task for split in ("train", "dev", "test") for task in tasks_in_split(split)]
    assert len(every) == len({task.id for task in every}) == sum(VARIATIONS.values()) == 7207
    assert len(VARIATIONS) == 30
    assert [len(tasks_in_split(split)) for split in SPLITS] == [1819, 1796, 3592]


def test_a_split_goes_through_the_kinds_in_turn():
    kinds = [task.kind for task in tasks_in_split("test")]
    assert kinds[:30] == list(VARIATIONS)
    assert kinds[-1] == "inclined-plane-friction-named-surfaces"  # the kind with the most variations


def test_the_suites_are_the_test_split_and_its_sample():
    assert len(select_tasks("scienceworld-test", ScienceWorld())) == 1819
    sample = select_tasks("scienceworld-271", ScienceWorld())
    counts = [sum(task.kind == kind for task in sample) for kind in VARIATIONS]
    assert (len(sample), min(counts), max(counts)) == (271, 4, 10)
    assert {task.id for task in sample} < {task.id for task in tasks_in_split("test")}
    assert len(select_tasks("scienceworld-test", ScienceWorld(), n=2)) == 60


def test_a_task_is_found_by_id_or_by_kind_and_variation():
    env = ScienceWorld()
    assert envs.select(env, id="find-plant/225").split == "test"
    assert envs.select(env, kind="boil", seed=14) == Task("boil/14", "scienceworld", "boil", "", 14, "dev")
    assert find_task(Task("any", kind="melt", seed=0)).id == "melt/0"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Task("boil/30"), "no variation 30 of boil; they are 0 to 29"),
        (Task("boil/٣"), "no variation '٣'"),
        (Task("boil/007"), "no variation '007'"),
        (Task("boil"), "no variation 'boil' of boil; they are 0 to 29"),
        (Task("boill/3"), "did you mean boil"),
        (Task("x" * 10_000), "x{50}"),
        (Task("", kind="boil", seed=True), "no variation True"),
    ],
)
def test_an_unknown_task_is_refused_in_a_short_sentence(given, message):
    with pytest.raises(UsageError, match=message) as refused:
        ScienceWorld().reset(given)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("given", ["hard", "easy,openDoors", "openDoors,,", "easy;openDoors", "x" * 10_000])
def test_an_unknown_simplification_is_refused(given):
    with pytest.raises(UsageError, match="simplifications of scienceworld") as refused:
        ScienceWorld(simplifications=given)
    assert len(str(refused.value)) < 400


def test_kinds_with_circuits_do_not_start_without_electrical_actions():
    with pytest.raises(UsageError, match="test-conductivity needs electrical actions"):
        ScienceWorld(simplifications="noElectricalAction,openDoors").reset(task("test-conductivity/0"))


# ------------------------------------------------------------------ episodes


@pytest.fixture(scope="module")
def package():
    """Gold paths and their answers from the package alone; the splits of a kind that has them all."""
    return play_in_package([{"kind": kind, "variation": variations(kind, "test")[0]} for kind in SHORT])


def play(env, id, actions):
    first = env.reset(task(id))
    return [first, *(env.step(action) for action in actions)]


@needs_engine
@pytest.mark.parametrize("kind", SHORT)
def test_a_gold_path_gets_the_packages_answers_and_scores_and_wins(env, package, kind):
    said = package[SHORT.index(kind)]
    id = f"{kind}/{variations(kind, 'test')[0]}"
    first, *rest = play(env, id, said["actions"])
    end = next(i for i, (_, _, done) in enumerate(said["answers"]) if done)
    assert first.goal == said["goal"]
    assert first.text == f"{said['goal']}\nYou can take 300 actions.\n\n{said['answers'][0][0]}"
    expected = [(text, score / 100, done, score == 100) for text, score, done in said["answers"][1 : end + 1]]
    assert [(o.text, o.reward, o.done, o.success) for o in rest[:end]] == expected
    assert rest[end - 1].success
    assert env.walkthrough(task(id)) == tuple(said["actions"])


@needs_engine
def test_a_wrong_focus_ends_the_episode_without_a_reward(env):
    env.reset(task("find-plant/225"))
    lost = env.step("focus on agent")
    assert (lost.done, lost.success, lost.reward) == (True, False, 0.0)
    assert env.step("look around").text == EPISODE_OVER


@needs_engine
def test_the_score_is_shown_if_the_setting_says_so():
    env = ScienceWorld(score=True)
    assert env.reset(task("find-plant/225")).text.endswith("\nScore: 0 of 100.")
    assert env.step("focus on agent").text.endswith("\nScore: -100 of 100.")
    env.close()


@needs_engine
def test_the_last_allowed_action_ends_the_episode_with_the_score_reached():
    env = ScienceWorld(actions=2, simplifications="teleportAction")
    env.reset(task("find-plant/230"))
    env.step("teleport to hallway")
    last = env.step("teleport to bedroom")
    assert (last.done, last.success) == (True, False)
    assert 0 < last.reward < 1
    env.close()


@needs_engine
def test_simplifications_change_the_game():
    plain, easy = ScienceWorld(), ScienceWorld(simplifications="easy")
    known = task("find-plant/225")
    assert "(that is closed)" in plain.reset(known).text
    assert "(that is closed)" not in easy.reset(known).text
    assert plain.step("teleport to outside").text == NOT_UNDERSTOOD
    assert easy.step("teleport to outside").text == "You teleport to the outside."
    assert "(that is closed)" in plain.reset(known).text  # the engine keeps nothing of the other game
    plain.close()
    easy.close()


@needs_engine
def test_an_action_that_is_too_long_reaches_the_engine_as_one_that_it_does_not_know(env):
    env.reset(task("find-plant/225"))
    assert env.step("look around" + " " * MAX_ACTION_CHARS).text == NOT_UNDERSTOOD
    assert env.step("x " * 1_000_000).text == NOT_UNDERSTOOD


@needs_engine
@pytest.mark.parametrize(
    "action", ["\ud800", "\\n", "\\", "a\\\\nb", "\r\n", "e", "!x", "y", "s\ne\nc\no0\nstep", "99999999999999999999"]
)
def test_an_action_cannot_speak_to_the_connection(env, action):
    env.reset(task("find-plant/225"))
    assert env.step(action).text == NOT_UNDERSTOOD
    assert env.step("inventory").text.startswith("In your inventory")


@needs_engine
@pytest.mark.parametrize("answer", ["99999999999999999999", "-1", "3", "", "x", "0 0"])
def test_a_question_of_the_engine_survives_any_answer(env, answer):
    env.reset(task("find-plant/228"))
    asked = env.step("open door")
    assert asked.text.startswith("Ambiguous request")
    assert not env.step(answer).done
    assert env.step("inventory").text.startswith("In your inventory")
