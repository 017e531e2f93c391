"""The agent of MiniWoB++, without a browser."""

import pytest

from codeplan.agent_api import agent_api
from codeplan.envs.miniwob.actions import BrowserAction, parse_action
from codeplan.envs.miniwob.agent import MiniWobAgent
from codeplan.errors import AgentError
from codeplan.types import Observation

FIRST = Observation('Task: Click on the "ok" button.\n\nPage:\n<div id="wrap"><button>ok</button></div>')


def agent(*answers):
    """An agent that gets these answers, and the list of its actions."""
    done, coming = [], iter(answers)

    def act(action):
        done.append(action)
        return Observation(next(coming))

    return MiniWobAgent(act, FIRST), done


def test_its_api_is_the_paper_s():
    assert agent_api(MiniWobAgent).names == (
        *("type", "press_key", "click_option", "click_xpath", "move_mouse_on", "report"),
        *("description", "current_state"),
    )


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
