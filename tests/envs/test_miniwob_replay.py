"""An episode of MiniWoB++ is the same in every run, environment and order."""

import pytest
from support.miniwob_pages import needs_browser

from codeplan.envs.miniwob.environment import MiniWob
from codeplan.envs.miniwob.tasks import REUSABLE_PAGES
from codeplan.runner.episodes import run
from codeplan.runner.recorded_episodes import replay, resume

pytestmark = needs_browser

ACTIONS = (
    "click_xpath (//input)[1]",
    "type ab1",
    "move_mouse_on (//*[@id='area']//*)[2]",
    "click_xpath (//*[@id='area']//*)[last()]",
    "press_key enter",
    "click_xpath (//button)[1]",
)


def play(env, kind, seed):
    observations = [env.reset(env.task(kind, seed))]
    return observations + [env.step(action) for action in ACTIONS]


@pytest.fixture(scope="module")
def environments():
    two = MiniWob(), MiniWob()
    yield two
    for env in two:
        env.close()


@pytest.mark.parametrize("kind", sorted(REUSABLE_PAGES))
def test_a_reused_page_is_like_a_new_one(environments, kind):
    used, new = environments
    play(used, kind, 1)
    new.reset(new.task("email-inbox", 0))
    assert play(used, kind, 2) == play(new, kind, 2)


STILL = ("terminal", "search-engine", "click-menu", "navigate-tree", "use-spinner")
ANIMATED = ("chase-circle", "moving-items", "use-slider", "drag-cube", "stock-market", "simon-says")


@pytest.mark.parametrize("kind", STILL + ANIMATED)
def test_an_episode_is_the_same_in_every_environment(environments, kind):
    once, again = (play(env, kind, 4) for env in environments)
    assert once == again


def test_a_recorded_episode_replays_offline_and_resumes_in_a_new_browser(tmp_path):
    won = run("miniwob", "guess-number/3", mistakes="wrong_guess", out=tmp_path / "run")
    assert won.success
    assert won.refinements
    assert replay(tmp_path / "run").success
    trace = tmp_path / "run" / "trace.jsonl"
    lines = trace.read_text().splitlines(keepends=True)
    trace.write_text("".join(lines[: len(lines) // 2]))
    resumed = resume(tmp_path / "run")
    assert (resumed.success, resumed.actions) == (True, won.actions)
