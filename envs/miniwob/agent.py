"""The agent of MiniWoB++ plans. Models read its docstrings as the API."""

from __future__ import annotations

from typing import ClassVar

from codeplan.envs.miniwob.observations import ERROR_PREFIX, GOAL_PREFIX, PAGE_PREFIX
from codeplan.errors import AgentError
from codeplan.protocols import Act
from codeplan.types import Observation
from codeplan.untrusted.values import in_quotes


class MiniWobAgent:
    """A user of a web page with mouse and keyboard.

    description is the task. current_state is the page's current HTML; the attributes value (text in a field), checked,
    selected and focused show the page's live state. Each method acts and returns the new state. When the task ends, the
    state is a sentence that begins with "DONE" if the task is solved and with "FAILED" if not; after that, no action
    is possible. If an action is not possible, for example
    because an XPath matches no element, the method raises an error with the reason.
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
        """Type characters into the focused element. Click an element to focus it.

        Example: agent.type("Karrie") returns "…<input type="text" id="tt" value="Karrie" focused="">…"
        """
        return self._do("type", characters)

    def press_key(self, key: str) -> str:
        """Press one key: enter, space, arrow_left, arrow_right, arrow_up, arrow_down or backspace.

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

    def report(self) -> str:
        """Return the last action, its outcome and the current page, for use in assertion messages.

        Example: agent.report() returns "Last action: type 'Karrie'. The page: <div…"
        """
        done = f"Last action: {self._last}" if self._last else "Nothing has been done yet."
        return f"{done} The page: {self.current_state}"

    def _do(self, name: str, argument: str) -> str:
        if not isinstance(argument, str):
            raise AgentError(f"{name} takes a text, not {type(argument).__name__}")
        text = self._act(f"{name} {argument}").text
        fault, _, page = (
            text.removeprefix(ERROR_PREFIX).partition(PAGE_PREFIX) if text.startswith(ERROR_PREFIX) else ("", "", text)
        )
        self.current_state = page.removeprefix(PAGE_PREFIX)
        self._last = (
            f"{name} {in_quotes(argument, 200)}, which failed: {fault.strip()}"
            if fault
            else f"{name} {in_quotes(argument, 200)}."
        )
        if fault:
            raise AgentError(fault.strip())
        return self.current_state
