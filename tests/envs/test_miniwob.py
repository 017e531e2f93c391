"""MiniWoB++ as an environment: its tasks, its episodes in the browser, its settings."""

import json
import struct
import time

import pytest
from support.miniwob_pages import folder_of_pages, needs_browser

from codeplan import envs
from codeplan.envs.miniwob.environment import MiniWob, make
from codeplan.envs.miniwob.tasks import FEEDBACK_TASKS, PAPER_TASKS
from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.testing.environment import EnvironmentContract
from codeplan.types import Task

pytestmark = needs_browser

SUBMIT = "click_xpath //button[@id='subbtn']"


class TestMiniWobIsAnEnvironment(EnvironmentContract):
    def make(self):
        return MiniWob()


class TestMiniWobOfOneActionIsAnEnvironment(EnvironmentContract):
    split = "other"
    non_winning_action = "type x"

    def make(self):
        return make(actions=1, data_mode="test", pictures=True)


@pytest.fixture(scope="module")
def env():
    env = MiniWob()
    yield env
    env.close()


@pytest.fixture
def own(tmp_path):
    """Makes an environment with custom pages."""
    made = []

    def build(settings=None, **pages):
        made.append(MiniWob(pages=folder_of_pages(tmp_path, **pages), **(settings or {})))
        return made[-1]

    yield build
    for env in made:
        env.close()


# ------------------------------------------------------------------ tasks


def test_kinds_are_all_pages_with_the_paper_s_53_first(env):
    assert env.kinds[:53] == PAPER_TASKS
    assert len(set(env.kinds)) == len(env.kinds) == 130
    assert PAPER_TASKS[:9] == FEEDBACK_TASKS


@pytest.mark.parametrize(
    ("split", "kinds", "seeds"),
    [
        ("test", PAPER_TASKS, range(100)),
        ("dev", PAPER_TASKS, range(1000, 1050)),
        ("train", PAPER_TASKS, range(2000, 2200)),
        ("feedback", FEEDBACK_TASKS, range(100)),
    ],
)
def test_a_split_has_its_pages_and_seeds(env, split, kinds, seeds):
    tasks = env.tasks(split)
    assert len(tasks) == len(kinds) * len(seeds)
    assert tuple(t.kind for t in tasks[: len(kinds)]) == kinds
    assert {t.seed for t in tasks} == set(seeds)


def test_all_other_pages_are_in_the_split_other(env):
    assert {t.kind for t in env.tasks("other")} == set(env.kinds[53:])


def test_every_seed_makes_a_task(env):
    assert envs.select(env, kind="click-button", seed=17) == Task("click-button/17", "miniwob", "click-button", "", 17)
    assert env.task("click-button", 2**53 - 1).split == "train"
    assert env.task("drag-box", 1).split == "other"
    for seed in (-1, 2**53, True, "3"):
        with pytest.raises(UsageError, match="must be a whole number from 0"):
            env.task("click-button", seed)


@pytest.mark.parametrize("task", [Task("click-test/7"), Task("x", kind="click-test", seed=7)])
def test_a_task_is_found_by_its_id_or_by_its_kind_and_seed(env, task):
    assert env.reset(task) == env.reset(env.task("click-test", 7))


@pytest.mark.parametrize(
    "task", [Task(""), Task("click-test"), Task("click-tset/7"), Task("x", kind="../core", seed=1)]
)
def test_an_unknown_task_is_refused(env, task):
    with pytest.raises(UsageError, match=r"has no task .*(click-button/17|click-test)"):
        env.reset(task)


# ------------------------------------------------------------------ episodes


def test_the_first_observation_separates_goal_and_page(env):
    text = env.reset(env.task("enter-text", 0)).text
    assert text.startswith('Task: Enter "Agustina" into the text field and press Submit.\n\nPage:\n<div id="wrap">')
    assert "Agustina" not in text.partition("Page:")[2]


def test_the_state_shows_live_values(env):
    env.reset(env.task("enter-text", 0))
    env.step("click_xpath //input")
    assert 'value="Agu" focused=""' in env.step("type Agu").text
    assert 'value="Ag" focused=""' in env.step("press_key backspace").text
    env.reset(env.task("click-checkboxes", 0))
    assert 'id="ch1" focused="" checked=""' in env.step('click_xpath //label[text()="HF2"]').text.replace(
        'checked="" focused=""', 'focused="" checked=""'
    )
    env.reset(env.task("choose-list", 0))
    assert '<option selected="">Helli' in env.step('click_option //option[text()="Helli"]').text


def test_visible_parts_outside_the_task_s_area_are_shown(env):
    assert 'role="dialog"' in env.reset(env.task("click-dialog", 0)).text
    env.reset(env.task("use-autocomplete", 0))
    env.step("click_xpath //input")
    assert "ui-menu-item" in env.step("type An").text


def test_success_is_a_raw_reward_of_one_and_the_end_is_final(env):
    env.reset(env.task("click-test-2", 0))
    won = env.step("click_xpath //button[text()='ONE']")
    assert (won.text, won.reward, won.done, won.success) == ("DONE. The task is solved.", 1.0, True, True)
    for action in ("click_xpath //body", "click_xpath //*[@id='sync-task-cover']", "type x", ""):
        after = env.step(action)
        assert (after.text, after.reward, after.done, after.success) == ("The episode is over.", 0.0, True, True)


def test_half_a_task_gives_half_a_reward_and_no_success(env):
    env.reset(env.task("click-checkboxes-large", 0))
    for name in ("nb", "8qiSp3m", "pKybC69", "v8Zs3"):
        env.step(f'click_xpath //label[text()="{name}"]')
    half = env.step(SUBMIT)
    assert half.done
    assert not half.success
    assert 0 < half.reward < 1


def test_a_failure_has_a_negative_reward(env):
    env.reset(env.task("click-test-2", 0))
    lost = env.step("click_xpath //button[text()='TWO']")
    assert (lost.text, lost.reward, lost.success) == ("FAILED. The task has ended without success.", -1.0, False)


def test_the_page_s_clock_advances_only_with_actions(own):
    env = own(begin="setInterval(() => { out.textContent = Date.now() / 1000 % 3600 }, 100)", page="<p id='out'>?</p>")
    env.reset(env.task("page", 0))
    assert [env.step("type x").text.split(">")[3].split("<")[0] for _ in range(3)] == ["0.5", "1", "1.5"]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("click_xpath //blink", "//blink matches no element of the page."),
        ("click_xpath //[", "//[ is no valid XPath for elements."),
        ("click_xpath count(//p)", "count(//p) is no valid XPath for elements."),
        ("click_xpath //*[@id='unseen']", "//*[@id='unseen'] is not visible."),
        ("click_xpath //*[@id='off']", "//*[@id='off'] is disabled."),
        ("click_xpath //*[@id='under']", "//*[@id='under'] is covered by div#over."),
        ("click_xpath //option", "//option is disabled."),
        ("click_xpath //i", "//i matches 201 elements; name fewer."),
        ("press_key f5", "There is no key 'f5'; there are enter, space, arrow_left"),
        ("press_key", "The action press_key needs one of enter, space"),
        ("type", "The action type needs the characters after it."),
        ("type " + "x" * 5001, "The action type takes 5,000 characters at most, not 5,001."),
        ("shout hello", "There is no action 'shout'; there are type, press_key"),
    ],
)
def test_an_impossible_action_is_answered_with_the_reason_and_the_page(own, action, message):
    area = (
        "<button id='unseen' style='display: none'>a</button><button id='off' disabled>b</button>"
        "<button id='under'>c</button><div id='over' style='position: absolute; inset: 0'></div>"
        "<select disabled><option>d</option></select>" + "<i>i</i>" * 201
    )
    env = own(page=area)
    env.reset(env.task("page", 0))
    text = env.step(action).text
    assert text.startswith(f"Last action error: {message}")
    assert '\n\nPage:\n<div id="wrap">' in text


def test_a_click_acts_on_every_match_and_one_success_is_enough(own):
    area = (
        "<b onclick='out.textContent += 1'>x</b><b hidden>y</b><b onclick='out.textContent += 3'>z</b><p id='out'></p>"
    )
    env = own(page=area)
    env.reset(env.task("page", 0))
    assert ">13<" in env.step("click_xpath //b").text


def test_a_click_waits_for_moving_elements_and_finds_an_uncovered_part(own):
    area = (
        "<button id='late' style='display: none' onclick='out.textContent += 1'>a</button>"
        "<div style='position: relative'><button style='width: 90px; height: 30px' onclick='out.textContent += 2'>b</button>"
        "<div style='position: absolute; left: 0; top: 0; width: 60px; height: 30px'></div></div><p id='out'></p>"
    )
    env = own(page=area, begin="setTimeout(() => { late.style.display = 'block' }, 300)")
    env.reset(env.task("page", 0))
    assert ">1<" in env.step("click_xpath //*[@id='late']").text
    assert ">12<" in env.step("click_xpath //div[@style]/button").text


def test_the_last_action_allowed_ends_the_episode(own):
    env = own({"actions": 2}, page="<p>nothing to do</p>")
    env.reset(env.task("page", 0))
    assert not env.step("shout").done
    last = env.step("type x")
    assert (last.text, last.done, last.success) == (
        "FAILED. The last action allowed is spent, and the task not solved.",
        True,
        False,
    )


# ------------------------------------------------------------------ settings


def test_the_setting_pictures_enables_pictures(env):
    env.reset(env.task("click-test", 0))
    assert env.picture() is None
    env = make(pictures=True)
    assert env.picture() is None
    env.reset(env.task("click-test", 0))
    picture = env.picture()
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == (160, 210)
    env.close()
    assert env.picture() is None


def test_mouse_moves_change_neither_the_picture_nor_the_page(own):
    whole = "wrap.style = 'position: fixed; inset: 0'"
    env = own({"pictures": True}, page="<div>still</div>", begin=whole)
    before = env.reset(env.task("page", 0)).text.partition("Page:")[2], env.picture()
    for _ in range(3):
        after = env.step("move_mouse_on //div[text()='still']").text.partition("Page:")[2], env.picture()
        assert after == before


def test_data_mode_selects_half_of_the_data(own):
    for half in ("train", "test"):
        env = own({"data_mode": half}, page="", begin="area.textContent = document.body.dataset.mode")
        assert f">{half}<" in env.reset(env.task("page", 0)).text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"actions": 0}, "actions of miniwob"),
        ({"actions": True}, "got True"),
        ({"data_mode": "dev"}, "must be one of train, test"),
    ],
)
def test_an_invalid_setting_is_refused(settings, message):
    with pytest.raises(UsageError, match=message):
        make(**settings)


# ------------------------------------------------------------------ finding, dragging, dates


def found(env, xpath):
    text = env.step(f"find {xpath}").text
    assert text.startswith("Found:\n")
    return json.loads(text.removeprefix("Found:\n"))


def test_find_lists_elements_as_data_and_takes_no_time(own):
    env = own(begin="setInterval(() => out.textContent++, 1)", page="<p id='out'>0</p><input value='a'><b hidden>x</b>")
    before = env.reset(env.task("page", 0)).text.partition("Page:")[2]
    env.step("click_xpath //input")
    env.step("type b")
    (field,) = found(env, "//input")
    assert (field["tag"], field["attributes"], field["visible"]) == ("input", {"value": "ab", "focused": ""}, True)
    assert [e["visible"] for e in found(env, "//b")] == [False]
    assert found(env, "//blink") == []
    assert found(env, "//*[@id='out']")[0]["text"] == found(env, "//*[@id='out']")[0]["text"] != "0"
    assert before


def test_what_is_found_is_bounded(own):
    area = "<i>i</i>" * 201 + f"<b title='{'t' * 3_000_000}'>{'x' * 3_000_000}</b>"
    env = own(page=area)
    env.reset(env.task("page", 0))
    assert "//i matches 201 elements; name fewer." in env.step("find //i").text
    (big,) = found(env, "//b")
    assert len(big["text"]) == len(big["attributes"]["title"]) == 1001


@pytest.mark.parametrize(
    "begin",
    [
        "for (let i = 0; i < 300000; i++) area.append(document.createElement('u'))",
        "let e = area; for (let i = 0; i < 400; i++) e = e.appendChild(document.createElement('u'))",
        "area.setAttribute('title', 'x'.repeat(30000000))",
        "const f = () => setTimeout(f, 0); f()",
        "for (let i = 0; i < 100; i++) setInterval(() => {}, 0)",
    ],
)
def test_a_hostile_page_has_a_bounded_state_soon(own, begin):
    env = own(begin=begin, page="<p>x</p>")
    started = time.monotonic()
    env.reset(env.task("page", 0))
    text = env.step("move_mouse_on //p").text
    assert len(text) <= 100_200
    assert time.monotonic() - started < 20


def test_a_page_that_tampers_with_the_language_ends_as_a_failure(own):
    env = own(begin="JSON.stringify = () => ''; Math.round = () => ({})", page="<p>x</p>")
    env.reset(env.task("page", 0))
    with pytest.raises(EnvironmentFailure, match="answered describe in no valid form"):
        env.step("find //p")


@pytest.mark.parametrize(
    ("kind", "typed", "value"),
    [
        *(("date", text, "2012-12-25") for text in ("12/25/2012", "2012-12-25", "12252012")),
        *(("time", text, "15:45") for text in ("3:45 PM", "15:45", "0345PM")),
    ],
)
def test_a_date_or_time_field_takes_what_is_typed_and_is_cleared(own, kind, typed, value):
    env = own(page=f"<input type='{kind}'>")
    env.reset(env.task("page", 0))
    env.step("click_xpath //input")
    assert f'value="{value}"' in env.step(f"type {typed}").text
    assert 'value=""' in env.step("clear //input").text


def test_keys_select_and_move(own):
    env = own(page="<input><textarea></textarea>")
    env.reset(env.task("page", 0))
    env.step("click_xpath //input")
    env.step("type abc")
    env.step("press_key shift_arrow_left")
    assert 'value="ab"' in env.step("press_key delete").text
    env.step("press_key select_all")
    assert 'value="x"' in env.step("type x").text
    env.step("press_key tab")
    assert "focused=" in env.step("type y").text.partition("<textarea")[2]


def test_waiting_takes_as_long_as_it_says(own):
    env = own(begin="setInterval(() => { out.textContent = Date.now() / 1000 % 3600 }, 10)", page="<p id='out'>?</p>")
    env.reset(env.task("page", 0))
    shown = [env.step(f"wait {ms}").text.split(">")[3].split("<")[0] for ms in (100, 2000)]
    assert [round(float(seconds), 3) for seconds in shown] == [0.1, 2.1]


def test_an_element_scrolls_into_its_text(own):
    env = own(
        page="<div id='box' style='height: 20px; overflow: auto' onscroll='out.textContent = scrollY + this.scrollTop'>"
        "<p style='height: 500px'>x</p></div><p id='out'></p>"
    )
    env.reset(env.task("page", 0))
    env.step("scroll //*[@id='box'] -> 0 40")
    assert found(env, "//*[@id='box']/p")[0]["box"][1] < found(env, "//*[@id='box']")[0]["box"][1]


def direction(goal):
    return next(
        sign for word, sign in {"left": "-20 0", "right": "20 0", "up": "0 -20", "down": "0 20"}.items() if word in goal
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("kind", "drag"),
    [
        ("drag-box", lambda goal: "drag //*[@id='draggableSmall'] -> //*[@id='draggableLarge']"),
        ("drag-circle", lambda goal: f"drag_by //*[name()='circle'] -> {direction(goal)}"),
        ("drag-single-shape", lambda goal: f"drag_by //*[contains(@class, 'black-shape')] -> {direction(goal)}"),
    ],
)
def test_pages_that_need_a_drag_can_be_won(env, kind, drag, seed):
    goal = env.reset(env.task(kind, seed)).goal
    env.step(drag(goal))
    assert env.step(SUBMIT).success


@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_of_drag_sort_numbers_can_be_sorted(env, seed):
    env.reset(env.task("drag-sort-numbers", seed))
    numbers = "//ul[@id='sortable']/li"
    for place in range(1, 4):
        values = [int(e["text"]) for e in found(env, numbers)]
        least = values.index(min(values[place - 1 :])) + 1
        if least != place:
            boxes = found(env, numbers)
            up = boxes[place - 1]["box"][1] - boxes[least - 1]["box"][1]
            env.step(f"drag_by ({numbers})[{least}] -> 0 {up - 3:g}")
    assert env.step(SUBMIT).success
