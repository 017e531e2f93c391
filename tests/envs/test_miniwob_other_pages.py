"""The pages outside the paper's 53: what the agent's methods win, and what docs/envs/miniwob.md says cannot be won."""

import math
import re
from pathlib import Path

import pytest
from support.miniwob_pages import needs_browser

from codeplan.envs.miniwob.agent import MiniWobAgent
from codeplan.envs.miniwob.environment import MiniWob

pytestmark = needs_browser

PAGE = (Path(__file__).parents[2] / "docs" / "envs" / "miniwob.md").read_text()
SUBMIT = "//*[@id='subbtn']"


@pytest.fixture(scope="module")
def env():
    env = MiniWob(actions=300)
    yield env
    env.close()


def play(env, kind, seed, plan):
    """Let a plan act through the agent. Returns the last observation."""
    answers = [env.reset(env.task(kind, seed))]

    def act(action):
        answers.append(env.step(action))
        return answers[-1]

    plan(MiniWobAgent(act, answers[0]))
    return answers[-1]


def middle(element):
    left, top, width, height = element["box"]
    return left + width / 2, top + height / 2


def ended(agent):
    return agent.current_state.startswith(("DONE", "FAILED"))


def fill_the_box(agent):
    tag = {"rectangles": "rect", "circles": "circle", "triangles": "polygon"}[agent.description.split()[2]]
    left, top, *_ = agent.find("//*[@id='shape-container']")[0]["box"]
    shapes = f"//*[name()='{tag}'][not(@id)]"
    for i, shape in enumerate(agent.find(shapes)):
        x, y = middle(shape)
        agent.drag_by(f"({shapes})[{i + 1}]", left + 15 + 15 * i - x, top + 20 - y)
    agent.click_xpath(SUBMIT)


def draw_a_circle(agent):
    left, top, width, height = agent.find("//*[name()='svg']")[0]["box"]
    x, y = middle(agent.find("//*[@id='circ']")[0])
    x, y = x - left, y - top
    radius = min(x, y, width - x, height - y) - 4
    turns = [i * math.pi / 24 for i in range(49)]
    agent.draw("//*[name()='svg']", [[x + radius * math.cos(t), y + radius * math.sin(t)] for t in turns])
    agent.click_xpath("//button")


def follow_the_circle(agent):
    while not ended(agent):
        agent.move_mouse_on("//*[@id='circ']")


def click_what_moves(agent):
    left, top, *_ = agent.find("//*[@id='area_svg']")[0]["box"]
    while not ended(agent):
        places = [(x - left, y - top) for x, y in map(middle, agent.find("//*[@class='item']"))]
        inside = [(x, y) for x, y in places if 3 < x < 153 and 3 < y < 153]
        if inside:
            agent.click_point("//*[@id='area_svg']", *max(inside, key=lambda at: abs(at[0] - 78)))
        else:
            agent.wait(100)


@pytest.mark.parametrize(
    ("kind", "plan", "seeds"),
    [
        ("drag-shapes", fill_the_box, (0, 1)),
        ("draw-circle", draw_a_circle, (0, 1)),
        ("chase-circle", follow_the_circle, (0, 1)),
        ("moving-items", click_what_moves, (0, 1)),
    ],
)
def test_a_page_that_looks_hard_can_be_won(env, kind, plan, seeds):
    assert [play(env, kind, seed, plan).success for seed in seeds] == [True] * len(seeds)


def test_a_drag_takes_time_on_the_page(env):
    def drag(agent):
        def style():
            return agent.find("//*[@class='cube']")[0]["attributes"].get("style")

        agent.wait(100)
        before = style()
        agent.draw("//*[@id='wrapper']", [[60, 40], [100, 40]])
        assert style() != before

    play(env, "drag-cube", 0, drag)


# ------------------------------------------------------------------ what cannot be won


def click_near_the_middle(agent):
    left, top, *_ = agent.find("//*[@id='svg-grid']")[0]["box"]
    x, y = middle(agent.find("//*[name()='circle']")[0])
    agent.click_point("//*[@id='svg-grid']", x - left - 1.5, y - top - 1.5)
    agent.click_xpath(SUBMIT)


def hover_for_long(agent):
    for _ in range(30):
        agent.wait(10_000)


def choose_the_first_item(agent):
    agent.click_xpath("//*[name()='text'][.='+']")
    agent.wait(1500)
    agent.click_xpath("//*[@id='wheelnav-divWheel-title-0']")


def test_the_listed_pages_exist_and_are_no_page_of_the_paper(env):
    section = PAGE.partition("## Pages that no plan wins")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `([\w-]+)`", section, re.MULTILINE)
    assert len(listed) == len(set(listed)) == 9
    assert set(listed) <= {task.kind for task in env.tasks("other")}


def test_circle_center_pays_less_than_one_for_the_nearest_pixel(env):
    last = play(env, "circle-center", 0, click_near_the_middle)
    assert last.done
    assert 0.95 < last.reward < 1


def test_hover_shape_does_not_end(env):
    assert not play(env, "hover-shape", 0, hover_for_long).done


def test_the_first_item_of_click_pie_does_not_react(env):
    assert not play(env, "click-pie", 1, choose_the_first_item).done


@pytest.mark.parametrize("kind", ["count-sides", "number-checkboxes"])
def test_a_page_that_shows_its_answer_as_a_picture_has_the_same_text_for_every_answer(env, kind):
    states = {re.sub(r"ch_\d|o\d", "", env.reset(env.task(kind, seed)).text.partition("Page:")[2]) for seed in range(4)}
    if kind == "number-checkboxes":  # the numbers' pictures differ in which of them is displayed
        states = {re.sub(r"display: \w+;", "", state) for state in states}
    assert len(states) == 1
