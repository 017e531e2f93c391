"""The agent that plans for MiniWoB++ act through. Its docstrings are the API that a model is shown."""

from __future__ import annotations

from codeplan.envs.miniwob.observations import DONE_PREFIX, ERROR_PREFIX, GOAL_PREFIX, PAGE_PREFIX
from codeplan.errors import AgentError
from codeplan.protocols import Act
from codeplan.types.task import Observation


class MiniWobAgent:
    """One who works on a web page with mouse and keyboard.

    description is the task. current_state is the page's HTML as it is now: what is typed in is told by value, what is
    ticked by checked, what is chosen in a list by selected, and what has the keyboard by focused. Each method acts and
    returns the new state; that is "DONE" and a sentence when the task has ended, and then nothing can be done any more.
    Where an action cannot be done, such as a click on what matches no element, an error is raised that says why.
    """

    description: str
    current_state: str

    def __init__(self, act: Act, observation: Observation | None = None) -> None:
        first = observation.text if observation else ""
        goal, _, page = first.removeprefix(GOAL_PREFIX).partition(PAGE_PREFIX)
        self.description, self.current_state = goal.strip(), page
        self._act = act
        self._last = ""

    def type(self, characters: str) -> str:
        """Type characters into the element that is focused; click it first.

        Example: agent.click_xpath("//input[@id='tt']"); agent.type("hello")
        """
        return self._do("type", characters)

    def press_key(self, key: str) -> str:
        """Press one key: enter, space, arrow_left, arrow_right, arrow_up, arrow_down or backspace."""
        return self._do("press_key", key)

    def click_option(self, xpath: str) -> str:
        """Choose an option of a list; in a list of which several can be chosen, choose it or take it back.

        Example: agent.click_option("//select[@id='cars']/option[text()='Volvo']")
        """
        return self._do("click_option", xpath)

    def click_xpath(self, xpath: str) -> str:
        """Click the element, or all elements one after the other, that an XPath matches.

        Example: agent.click_xpath("//button[text()='Submit']")
        """
        return self._do("click_xpath", xpath)

    def move_mouse_on(self, xpath: str) -> str:
        """Move the mouse onto an element, as for a menu that opens then."""
        return self._do("move_mouse_on", xpath)

    def report(self) -> str:
        """The last action, what became of it, and the page now, for the message of an assertion."""
        done = f"Last action: {self._last}" if self._last else "Nothing has been done yet."
        return f"{done} The page: {self.current_state}"

    def _do(self, name: str, what: str) -> str:
        if not isinstance(what, str):
            raise AgentError(f"{name} takes a text, not {type(what).__name__}")
        text = self._act(f"{name} {what}").text
        fault, _, page = (
            text.removeprefix(ERROR_PREFIX).partition(PAGE_PREFIX) if text.startswith(ERROR_PREFIX) else ("", "", text)
        )
        self.current_state = page.removeprefix(PAGE_PREFIX)
        self._last = f"{name} {what!r}, which failed: {fault.strip()}" if fault else f"{name} {what!r}."
        if fault and not self.current_state.startswith(DONE_PREFIX):
            raise AgentError(fault.strip())
        return self.current_state
