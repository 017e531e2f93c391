"""The agent of MiniWoB++ plans. Models read its docstrings as the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from codeplan.agent_interface import reduced_api
from codeplan.envs.miniwob.actions import (
    ERROR_PREFIX,
    FOUND_PREFIX,
    GOAL_PREFIX,
    MAX_POINTS,
    MAX_WAIT_MS,
    PAGE_PREFIX,
    PAPER_KEY_NAMES,
    write_points,
    write_target,
)
from codeplan.errors import AgentError
from codeplan.protocols import Act
from codeplan.types import Observation
from codeplan.untrusted.values import in_quotes


class MiniWobAgent:
    """A user of a web page with mouse and keyboard.

    description is the task. current_state is the page's current HTML; the attributes value (text in a field), checked,
    selected and focused show the page's live state. Each method but find and report acts and returns the new state.
    When the task ends, the state is a sentence that begins with "DONE" if the task is solved and with "FAILED" if not;
    after that, no action is possible. If an action is not possible, for example because an XPath matches no element,
    the method raises an error with the reason.

    Time on the page passes only with actions: each waits first, up to a second, until its element can be used, and
    afterwards half a second, so that menus open and lists appear. In an XPath, elements of an SVG drawing are named by
    name(): "//*[name()='circle']", "//*[name()='svg']//*[name()='text'][text()='3']".
    """

    description: str
    current_state: str
    _aliases: ClassVar = {"press": "press_key"}

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        first = observation.text if observation else ""
        goal, _, page = first.removeprefix(GOAL_PREFIX).partition(PAGE_PREFIX)
        self.description, self.current_state = goal.strip(), page
        self._act = act
        self._last = ""

    def type(self, characters: str) -> str:
        """Type characters into the focused element, after what it holds. Click an element to focus it.

        A date field takes "12/25/2026" or "2026-12-25", a time field "3:45 PM" or "15:45".
        Example: agent.type("Karrie") returns "…<input type="text" id="tt" value="Karrie" focused="">…"
        """
        return self._do("type", characters)

    def press_key(self, key: str) -> str:
        """Press a key: enter, space, tab, backspace, delete, escape, home, end, page_up, page_down, arrow_left,
        arrow_right, arrow_up, arrow_down; shift_arrow_left and shift_arrow_right, which select text; select_all.

        Example: agent.press_key("backspace") returns "…<input type="text" id="tt" value="Karri" focused="">…"
        """
        return self._do("press_key", key)

    def click_option(self, xpath: str) -> str:
        """Choose an option of a list. If the list allows several, this adds the option or removes it.

        Example: agent.click_option("//option[text()='Benin']") returns "…<option selected="">Benin</option>…"
        """
        return self._do("click_option", xpath)

    def click_xpath(self, xpath: str) -> str:
        """Click every element that an XPath matches, one after the other.

        Example: agent.click_xpath("//input[@id='tt']") returns "…<input type="text" id="tt" value="" focused="">…"
        """
        return self._do("click_xpath", xpath)

    def move_mouse_on(self, xpath: str) -> str:
        """Move the mouse onto an element, for example to open a menu.

        Example: agent.move_mouse_on("//ul[@id='menu']/li[2]/div") returns "…ui-state-active…Elfreda…display: block;…"
        """
        return self._do("move_mouse_on", xpath)

    def find(self, xpath: str) -> list[dict[str, Any]]:
        """Return the elements that an XPath matches as data, at most 200, in the page's order; empty if there are none.

        text is all text in the element; attributes show the live state, as in current_state. box is the left, top,
        width and height in pixels. Long texts are cut off. No time passes on the page, but it counts as an action.
        Example: agent.find("//input") returns [{"tag": "input", "text": "", "attributes": {"type": "text", "id": "tt",
        "value": ""}, "visible": True, "box": […]}]
        """
        text = self._send("find", xpath)
        return msgspec.json.decode(text.removeprefix(FOUND_PREFIX)) if text.startswith(FOUND_PREFIX) else []

    def clear(self, xpath: str) -> str:
        """Click a text, date or time field and empty it.

        Example: agent.clear("//input[@id='tt']") returns "…<input type="text" id="tt" value="" focused="">…"
        """
        return self._do("clear", xpath)

    def wait(self, milliseconds: int) -> str:
        """Let time pass on the page, from 1 to 10,000 milliseconds, and do nothing else.

        Example: agent.wait(2000) returns "<div id="wrap">…"
        """
        if isinstance(milliseconds, bool) or not isinstance(milliseconds, int) or not 1 <= milliseconds <= MAX_WAIT_MS:
            raise AgentError(f"wait takes a whole number of milliseconds from 1 to {MAX_WAIT_MS:,}")
        return self._do("wait", str(milliseconds))

    def scroll(self, xpath: str, down: float) -> str:
        """Scroll an element, or what surrounds it, by some pixels down; up if they are negative.

        Example: agent.scroll("//div[@id='area']", 100) returns "<div id="wrap">…"
        """
        return self._do_there("scroll", xpath, [[0, down]])

    def click_point(self, xpath: str, x: float, y: float) -> str:
        """Click a point of an element, x pixels right of its left edge and y pixels below its top edge.

        Example: agent.click_point("//*[@id='svg-grid']", 54, 39) returns "…id="blue-circle"…"
        """
        return self._do_there("click_point", xpath, [[x, y]])

    def drag(self, xpath: str, to_xpath: str) -> str:
        """Drag an element onto another: the mouse presses on the first and is released on the middle of the second.

        Example: agent.drag("//*[@id='draggableSmall']", "//*[@id='draggableLarge']") returns "…top: 38px; left: 75px;…"
        """
        if not isinstance(xpath, str) or not isinstance(to_xpath, str):
            raise AgentError("drag takes two XPaths")
        return self._do("drag", write_target(xpath, to_xpath))

    def drag_by(self, xpath: str, right: float, down: float) -> str:
        """Drag an element by some pixels to the right and down; to the left and up if they are negative.

        Example: agent.drag_by("//*[@id='slider']/span", -22, 0) returns "…<div id="val">…"
        """
        return self._do_there("drag_by", xpath, [[right, down]])

    def draw(self, xpath: str, points: list[list[float]]) -> str:
        """Press the mouse at the first point of an element, move it through the others, and release it at the last.

        points are 2 to 200 pairs [x, y], in pixels from the element's left top corner. This draws, and selects text.
        Example: agent.draw("//*[name()='svg']", [[20, 50], [120, 50]]) returns "…<path d="M19,49…"
        """
        if not isinstance(points, Sequence) or not 2 <= len(points) <= MAX_POINTS:
            raise AgentError(f"draw takes 2 to {MAX_POINTS} points, each a pair [x, y]")
        return self._do_there("draw", xpath, points)

    def report(self) -> str:
        """Return the last action, its outcome and the current page, for use in assertion messages.

        Example: agent.report() returns "Last action: type 'Karrie'. The page: <div…"
        """
        done = f"Last action: {self._last}" if self._last else "Nothing has been done yet."
        return f"{done} The page: {self.current_state}"

    def _do_there(self, name: str, xpath: str, points: Sequence[Any]) -> str:
        """Take an action with an XPath and points. Raises: AgentError if it is given something else."""
        if not isinstance(xpath, str):
            raise AgentError(f"{name} takes an XPath, not {in_quotes(xpath, 60)}")
        if not all(isinstance(p, (list, tuple)) and len(p) == 2 and all(map(_is_pixels, p)) for p in points):
            raise AgentError(f"{name} takes pixels as numbers from -9999 to 9999, points as pairs of them")
        return self._do(name, write_target(xpath, write_points([(x, y) for x, y in points])))

    def _do(self, name: str, argument: str) -> str:
        self._send(name, argument)
        return self.current_state

    def _send(self, name: str, argument: str) -> str:
        """Take an action and note the new state. Returns the answer. Raises: AgentError if it was not possible."""
        if not isinstance(argument, str):
            raise AgentError(f"{name} takes a text, not {type(argument).__name__}")
        text = self._act(f"{name} {argument}").text
        fault, _, page = (
            text.removeprefix(ERROR_PREFIX).partition(PAGE_PREFIX) if text.startswith(ERROR_PREFIX) else ("", "", text)
        )
        if not text.startswith(FOUND_PREFIX):
            self.current_state = page.removeprefix(PAGE_PREFIX)
        self._last = (
            f"{name} {in_quotes(argument, 200)}, which failed: {fault.strip()}"
            if fault
            else f"{name} {in_quotes(argument, 200)}."
        )
        if fault:
            raise AgentError(fault.strip())
        return text


class _PaperKeysAgent(MiniWobAgent):
    def press_key(self, key: str) -> str:
        """Press one key: enter, space, arrow_left, arrow_right, arrow_up, arrow_down or backspace.

        Example: agent.press_key("backspace") returns "…<input type="text" id="tt" value="Karri" focused="">…"
        """
        if key not in PAPER_KEY_NAMES:
            raise AgentError(f"there is no key {in_quotes(key, 60)}; there are {', '.join(PAPER_KEY_NAMES)}")
        return super().press_key(key)


class PaperMiniWobAgent(_PaperKeysAgent):
    """The agent with the methods of AdaPlanner's prompts (Sun et al. 2023, appendix D.2), and what every agent has."""

    _api = reduced_api(
        _PaperKeysAgent,
        ("type", "press_key", "click_option", "click_xpath", "move_mouse_on", "report", "description", "current_state"),
        """
        A user of a web page with mouse and keyboard.

        description is the task. current_state is the page's current HTML. Each method acts and returns the new state.
        When the task ends, the state is a sentence that begins with "DONE" if the task is solved and with "FAILED" if
        not; after that, no action is possible. An action that is not possible raises an error with the reason.
        """,
    )


def _is_pixels(number: object) -> bool:
    return isinstance(number, (int, float)) and not isinstance(number, bool) and -9999 <= number <= 9999
