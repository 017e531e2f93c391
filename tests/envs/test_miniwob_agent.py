"""The agent of MiniWoB++, without a browser."""

import pytest
from support.scripted_agents import scripted

from codeplan.envs.miniwob.actions import BrowserAction, parse_action, split_target
from codeplan.envs.miniwob.agent import MiniWobAgent
from codeplan.envs.miniwob.page import keys_for_field
from codeplan.errors import AgentError
from codeplan.types import Observation

FIRST = Observation('Task: Click on the "ok" button.\n\nPage:\n<div id="wrap"><button>ok</button></div>')


def agent(*answers):
    """An agent that gets these answers, and the list of its actions."""
    return scripted(MiniWobAgent, FIRST, *answers)


def test_the_agent_separates_goal_and_page():
    one, done = agent()
    assert one.description == 'Click on the "ok" button.'
    assert one.current_state == '<div id="wrap"><button>ok</button></div>'
    assert one.report() == f"Nothing has been done yet. The page: {one.current_state}"
    assert done == []


def test_each_method_acts_and_returns_the_new_state():
    one, done = agent(*("Page:\n<p>new</p>",) * 5)
    calls = [
        one.type(" a b\n"),
        one.press_key("enter"),
        one.click_option("//option"),
        one.click_xpath("//p"),
        one.move_mouse_on("//i"),
    ]
    assert calls == ["<p>new</p>"] * 5
    assert done == [
        *("type  a b\n", "press_key enter", "click_option //option"),
        *("click_xpath //p", "move_mouse_on //i"),
    ]
    assert one.report() == "Last action: move_mouse_on '//i'. The page: <p>new</p>"


def test_an_impossible_action_is_an_error_with_the_reason_and_updates_the_page():
    one, _ = agent("Last action error: //p matches no element of the page.\n\nPage:\n<p>Page:\nx</p>")
    with pytest.raises(AgentError, match=r"^//p matches no element of the page\.$"):
        one.click_xpath("//p")
    assert one.current_state == "<p>Page:\nx</p>"
    assert "click_xpath '//p', which failed: //p matches no element of the page." in one.report()


def test_the_end_is_the_last_state():
    one, _ = agent("DONE. The task is solved.")
    assert one.click_xpath("//p") == one.current_state == "DONE. The task is solved."


def test_an_argument_that_is_not_text_is_refused():
    one, done = agent()
    with pytest.raises(AgentError, match="type takes a text, not int"):
        one.type(5)
    assert done == []


@pytest.mark.parametrize("action", ["type a b ", "press_key space", "click_xpath //a[text()='x y']", "type  \n\t"])
def test_actions_survive_writing_and_parsing(action):
    assert isinstance(parse_action(action), BrowserAction)
    assert str(parse_action(action)) == action


@pytest.mark.parametrize(
    "action", ["", " ", "type", "type ", "Type x", "click //p", "press_key Enter", "press_key a b"]
)
def test_an_invalid_action_is_explained(action):
    assert isinstance(parse_action(action), str)


@pytest.mark.parametrize(
    ("kind", "text", "keys"),
    [
        ("date", "2012-12-25", "12252012"),
        ("date", "1/5/2016", "01052016"),
        ("date", "12252012", None),
        ("date", "12/25", None),
        ("time", "15:45", "0345P"),
        ("time", "3:45 pm", "0345P"),
        ("time", "00:30", "1230A"),
        ("time", "12:00", "1200P"),
        ("time", "12:00 AM", "1200A"),
        ("time", "345", None),
        ("text", "2012-12-25", None),
    ],
)
def test_a_whole_date_or_time_becomes_the_keys_of_its_field(kind, text, keys):
    assert keys_for_field(kind, text) == keys


def test_the_other_methods_write_their_arguments_with_an_arrow():
    one, done = agent(*("Page:\n<p>new</p>",) * 7)
    one.clear("//p")
    one.wait(20)
    one.scroll("//p", -5)
    one.click_point("//p", 1.5, 2)
    one.drag("//p", "//i")
    one.drag_by("//p", -3, 4)
    assert one.draw("//p", [[1, 2], (3, 4.25)]) == one.current_state == "<p>new</p>"
    assert done == [
        *("clear //p", "wait 20", "scroll //p -> 0 -5", "click_point //p -> 1.5 2", "drag //p -> //i"),
        *("drag_by //p -> -3 4", "draw //p -> 1 2, 3 4.25"),
    ]
    assert all(isinstance(parse_action(action), BrowserAction) for action in done)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: a.wait(0), "whole number of milliseconds from 1 to 10,000"),
        (lambda a: a.wait(1.5), "whole number"),
        (lambda a: a.drag("//p", 5), "drag takes two XPaths"),
        (lambda a: a.drag_by("//p", "5", 5), "drag_by takes pixels"),
        (lambda a: a.click_point("//p", float("nan"), 5), "click_point takes pixels"),
        (lambda a: a.scroll("//p", 10**30), "scroll takes pixels"),
        (lambda a: a.draw("//p", [[1, 2]]), "draw takes 2 to 200 points"),
        (lambda a: a.draw("//p", [[1, 2]] * 201), "draw takes 2 to 200 points"),
        (lambda a: a.draw("//p", [[1, 2], [3]]), "points as pairs"),
        (lambda a: a.find(7), "find takes a text"),
    ],
)
def test_what_fits_no_method_is_refused_without_an_action(call, message):
    one, done = agent()
    with pytest.raises(AgentError, match=message):
        call(one)
    assert done == []


@pytest.mark.parametrize(
    "action",
    [
        *("wait 0", "wait 10001", "wait -1", "wait 1e3", "wait ²", "drag //p", "drag  -> //p", "click_point //p -> 1"),
        *("click_point //p -> 1 2, 3 4", "draw //p -> 1 2", "drag_by //p -> 1 nan", "drag_by //p -> 99999 1"),
        *("scroll //p", "draw //p -> " + ", ".join(["1 2"] * 201)),
    ],
)
def test_malformed_numbers_are_explained(action):
    fault = parse_action(action)
    assert isinstance(fault, str)
    assert f"The action {action.split()[0]} needs " in fault


def test_an_arrow_within_an_xpath_stays_in_it():
    parsed = parse_action("drag_by //p[text()='a -> b'] -> 1 2")
    assert isinstance(parsed, BrowserAction)
    assert split_target(parsed.argument) == ("//p[text()='a -> b']", "1 2")


def test_found_elements_are_plain_data_and_the_state_stays():
    one, done = agent('Found:\n[{"tag":"p","text":"x","attributes":{},"visible":true,"box":[0.0,1.0,2.0,3.0]}]')
    before = one.current_state
    assert one.find("//p") == [{"tag": "p", "text": "x", "attributes": {}, "visible": True, "box": [0, 1, 2, 3]}]
    assert (one.current_state, done) == (before, ["find //p"])


def test_finding_with_the_last_action_allowed_finds_nothing():
    one, _ = agent("FAILED. The last action allowed is spent, and the task not solved.")
    assert one.find("//p") == []
    assert one.current_state.startswith("FAILED")
