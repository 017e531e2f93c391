"""MiniWoB++: small tasks on web pages, in a real browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal

import msgspec

from codeplan.envs.base import ActionLimit, AgentSetting, EpisodeSnapshot, LimitedEnvironment, check_choice
from codeplan.envs.miniwob import actions, browser
from codeplan.envs.miniwob.actions import KEY_NAMES, BrowserAction, parse_action
from codeplan.envs.miniwob.agent import MiniWobAgent, PaperMiniWobAgent
from codeplan.envs.miniwob.page import PageSetup, PageState, RecoveringPageSession
from codeplan.envs.miniwob.tasks import (
    NAME,
    PAPER_TASKS,
    REUSABLE_PAGES,
    SIMILAR_PAGES,
    SPLITS,
    PageFolder,
    list_tasks,
    make_task,
    page_and_seed,
)
from codeplan.errors import UsageError
from codeplan.plugins import Setting, suggest_names
from codeplan.types import ActionSpace, Observation, Task
from codeplan.untrusted.values import in_quotes

DataMode = Literal["train", "test"]


class MiniWob(LimitedEnvironment[EpisodeSnapshot]):
    """MiniWoB++. A task's id is its page and any seed, as in ``click-button/17``.

    An episode succeeds if the page's raw reward is 1; some pages give less for a part of the task.
    """

    name: str = NAME
    agent: type = MiniWobAgent
    agents: Mapping[str, type] = {"full": MiniWobAgent, "paper": PaperMiniWobAgent}
    space: ActionSpace = ActionSpace(
        forms=(
            "type CHARACTERS",
            f"press_key KEY ({', '.join(KEY_NAMES)})",
            "click_option XPATH",
            "click_xpath XPATH",
            "move_mouse_on XPATH",
            "find XPATH (lists the elements as data)",
            "clear XPATH (empties a field)",
            "wait MILLISECONDS",
            "scroll XPATH -> PIXELS_RIGHT PIXELS_DOWN",
            "click_point XPATH -> X Y (pixels from the element's left top corner)",
            "drag XPATH -> XPATH",
            "drag_by XPATH -> PIXELS_RIGHT PIXELS_DOWN",
            "draw XPATH -> X Y, X Y, ... (drags through points of the element)",
        ),
        no_effect_prefixes=(actions.ERROR_PREFIX,),
        calls=20,
    )
    splits: tuple[str, ...] = SPLITS
    similar_kinds: Mapping[str, Sequence[str]] = SIMILAR_PAGES

    def __init__(
        self,
        *,
        browser: Annotated[
            str | None,
            Setting("Program of a Chrome or Chromium; default: an installed one.", "trusted", repeat="never"),
        ] = None,
        pages: Annotated[
            str | None, Setting("Folder of pages; default: those of the package miniwob.", "trusted", repeat="live")
        ] = None,
        actions: ActionLimit = 100,
        data_mode: Annotated[
            DataMode, Setting("Half of the data that the few pages with two halves use.", "safe")
        ] = "train",
        pictures: Annotated[bool, Setting("Take pictures of the page.", "safe")] = False,
        agent: AgentSetting = "full",
    ) -> None:
        """Browser and pages are looked up on first use. Raises: UsageError if a setting is invalid."""
        super().__init__(actions)
        self._choose_agent(agent)
        self._mode = check_choice(self.name, "data_mode", data_mode, ("train", "test"))
        self._browser, self._pages, self._pictures = browser, PageFolder(pages), pictures
        self._session: RecoveringPageSession | None = None

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The names of all pages, the paper's 53 first; only those if the pages are not installed."""
        try:
            return self._pages.names()
        except UsageError:
            return PAPER_TASKS

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of ``test`` (5,300: 53 pages), ``dev`` (2,650), ``train`` (10,600), ``feedback`` or ``other``.

        Raises: UsageError if the pages are not installed.
        """
        return list_tasks(split, self._pages.names())

    def task(self, kind: str, seed: int) -> Task:
        """The task of a page and a seed from 0 up. Raises: UsageError for any other page or seed."""
        if kind not in self._pages.names():
            raise UsageError(f"MiniWoB++ has no task {in_quotes(kind, 80)}; {suggest_names(kind[:80], self.kinds)}")
        return make_task(kind, seed)

    def reset(self, task: Task) -> Observation:
        """Begin a task, found by its kind and seed, or by its id if it has no kind.

        Raises: UsageError if there is no such task, or if browser or pages are missing.
        """
        known = self.task(*page_and_seed(task))
        super().close()
        setup = PageSetup(self._pages.url(known.kind), known.seed, self._mode, known.kind in REUSABLE_PAGES)
        if self._session is None:
            self._session = RecoveringPageSession(browser.find_browser(self._browser), self._pages.folder)
        goal, state = self._session.begin(setup)
        self._begin(EpisodeSnapshot())
        return Observation(f"{actions.GOAL_PREFIX}{goal}\n\n{actions.PAGE_PREFIX}{state.html}", goal=goal.strip())

    def picture(self) -> bytes | None:
        """The task's area as a PNG; None without the setting ``pictures``, or before the first ``reset``."""
        return self._session.picture() if self._pictures and self._session and self._current else None

    def close(self) -> None:
        """Close the page. The browser exits soon after its last page."""
        super().close()
        if self._session is not None:
            self._session.close()
        self._session = None

    def _apply(self, before: EpisodeSnapshot, action: str) -> tuple[EpisodeSnapshot, Observation]:
        """Raises: EnvironmentFailure if the browser crashes twice."""
        assert self._session is not None, "reset opens the session"
        parsed = parse_action(action)
        state = self._session.act(parsed) if isinstance(parsed, BrowserAction) else self._session.reject(parsed)
        if not state.done:
            return before, Observation(_next_observation(state))
        won = state.reward == 1
        text = actions.SOLVED if won else actions.FAILED
        return before, Observation(text, state.reward, done=True, success=won)

    def _end_at_limit(self, observation: Observation) -> Observation:
        return Observation(actions.LIMIT_REACHED, done=True)


make = MiniWob
"""The factory that the entry point ``miniwob`` names."""


def _next_observation(state: PageState) -> str:
    """The page after an action, preceded by the reason if the action was not possible; what ``find`` found, as JSON."""
    if state.found is not None:
        return actions.FOUND_PREFIX + msgspec.json.encode(state.found).decode()
    error = f"{actions.ERROR_PREFIX}{state.fault}\n\n" if state.fault else ""
    return f"{error}{actions.PAGE_PREFIX}{state.html}"
