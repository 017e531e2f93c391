"""MiniWoB++: small tasks on web pages, in a real browser: click, type, choose, search, answer mail.

    codeplan run miniwob --task email-inbox/3
    codeplan bench miniwob --kind click-button -n 10

The pages are those of the package ``miniwob``, the tasks and the agent's methods those of AdaPlanner (Sun et al.,
NeurIPS 2023). Time on a page passes with actions only, so an episode repeats exactly and thinking costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from codeplan.envs.miniwob import browser_path, observations
from codeplan.envs.miniwob.actions import KEY_NAMES, BrowserAction, parse_action
from codeplan.envs.miniwob.agent import MiniWobAgent
from codeplan.envs.miniwob.page_folder import PAPER_TASKS, REUSABLE_PAGES, PageFolder
from codeplan.envs.miniwob.page_session import PageSetup
from codeplan.envs.miniwob.recovering_session import RecoveringPageSession
from codeplan.envs.miniwob.tasks import NAME, SPLITS, list_tasks, make_task, page_and_seed
from codeplan.errors import UsageError
from codeplan.plugins import suggest_names
from codeplan.types.task import ActionSpace, Observation, Task

DataMode = Literal["train", "test"]


def make(
    *,
    browser: str | None = None,
    pages: str | None = None,
    actions: int = 100,
    data_mode: DataMode = "train",
    pictures: bool = False,
) -> MiniWob:
    """Build MiniWoB++.

    ``browser`` is the program of a Chrome or Chromium (None: the one that is found), ``pages`` a folder of pages (None:
    those of the package ``miniwob``). ``actions`` is how many actions an episode has. ``data_mode`` is the half of
    their data from which the few tasks that have two halves draw. ``pictures`` says whether ``picture()`` takes any.
    Raises UsageError for a value that does not fit; browser and pages are not looked for before they are needed.
    """
    return MiniWob(browser=browser, pages=pages, actions=actions, data_mode=data_mode, pictures=pictures)


class MiniWob:
    """MiniWoB++ as an Environment. A task's id is its page and its seed: ``click-button/17``; any seed will do."""

    name: str = NAME
    agent: type = MiniWobAgent
    space: ActionSpace = ActionSpace(
        forms=(
            "type CHARACTERS",
            f"press_key KEY ({', '.join(KEY_NAMES)})",
            "click_option XPATH",
            "click_xpath XPATH",
            "move_mouse_on XPATH",
        ),
        no_effect_prefixes=(observations.ERROR_PREFIX,),
        calls=20,
    )
    splits: tuple[str, ...] = SPLITS

    def __init__(
        self,
        *,
        browser: str | None = None,
        pages: str | None = None,
        actions: int = 100,
        data_mode: DataMode = "train",
        pictures: bool = False,
    ) -> None:
        """Raises UsageError for a number of actions below 1, and for a half of the data that there is not."""
        if isinstance(actions, bool) or not isinstance(actions, int) or actions < 1:
            raise UsageError(f"MiniWoB++'s setting actions is {actions!r}; give a whole number from 1 up")
        if data_mode not in ("train", "test"):
            raise UsageError(f"MiniWoB++'s setting data_mode is {data_mode!r}; give 'train' or 'test'")
        self._browser, self._pages = browser, PageFolder(pages)
        self._most, self._mode, self._pictures = actions, data_mode, pictures
        self._play: RecoveringPageSession | None = None
        self._spent = 0
        self._end: Observation | None = None
        self._begun = False

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The names of all pages there are, the paper's 53 first; those alone where the pages are not installed."""
        try:
            return self._pages.names()
        except UsageError:
            return PAPER_TASKS

    def tasks(self, split: str) -> Sequence[Task]:
        """The tasks of ``test`` (5,300: 53 pages), ``dev`` (2,650), ``train`` (10,600), ``feedback`` or ``other``.

        Raises UsageError where the pages are not installed.
        """
        return list_tasks(split, self._pages.names())

    def task(self, kind: str, seed: int) -> Task:
        """The task of this page under this seed; any from 0 up. Raises UsageError for others."""
        self._check(kind)
        return make_task(kind, seed)

    def reset(self, task: Task) -> Observation:
        """Begin a task. What counts is its kind and seed or, where it has no kind, its id.

        Raises UsageError for a task that there is not, and where browser or pages are missing.
        """
        kind, seed = page_and_seed(task)
        known = self.task(kind, seed)
        self._begun = False
        start = PageSetup(self._pages.url(known.kind), known.seed, self._mode, known.kind in REUSABLE_PAGES)
        if self._play is None:
            self._play = RecoveringPageSession(browser_path.find_browser(self._browser), self._pages.folder)
        goal, state = self._play.begin(start)
        self._begun, self._spent, self._end = True, 0, None
        return Observation(observations.first_observation(goal, state))

    def step(self, action: str) -> Observation:
        """Do one action (``click_xpath //button``, ``type hello`` …); one that cannot be done is answered, and counts.

        The page's end ends the episode, with its raw reward, as does the last action allowed. It is a success where the
        reward is 1: some pages give less for half of a task. After the end every action is answered ``The episode is
        over.`` Raises UsageError before the first ``reset``, and EnvironmentFailure where the browser crashes twice.
        """
        if self._play is None or not self._begun:
            raise UsageError("MiniWoB++ has no task yet; call reset(task) first")
        if self._end is not None:
            return Observation(observations.EPISODE_OVER, done=True, success=self._end.success)
        self._spent += 1
        observation = self._answer(parse_action(action), self._play)
        if observation.done:
            self._end = observation
        return observation

    def picture(self) -> bytes | None:
        """The task's area as it looks now, as a PNG; None without the setting pictures, and before any task."""
        return self._play.picture() if self._pictures and self._play and self._begun else None

    def close(self) -> None:
        """Close the page; the browser ends soon after its last one."""
        if self._play is not None:
            self._play.close()
        self._play, self._begun = None, False

    def _answer(self, action: BrowserAction | str, play: RecoveringPageSession) -> Observation:
        state = play.act(action) if isinstance(action, BrowserAction) else play.reject(action)
        if state.done:
            won = state.reward == 1
            return Observation(
                observations.SOLVED if won else observations.FAILED, state.reward, done=True, success=won
            )
        if self._spent >= self._most:
            return Observation(observations.LIMIT_REACHED, done=True)
        return Observation(observations.next_observation(state))

    def _check(self, kind: str) -> None:
        if kind not in self._pages.names():
            raise UsageError(f"MiniWoB++ has no task {kind[:80]!r}; {suggest_names(kind[:80], self.kinds)}")
