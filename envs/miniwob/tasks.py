"""MiniWoB++'s pages, where they are, and the tasks: every page with every seed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from codeplan.envs.base import GeneratedTasks, split_for_seed
from codeplan.errors import UsageError
from codeplan.types import Task
from codeplan.untrusted.values import in_quotes

_WITH_FEEDBACK = """
search-engine tic-tac-toe terminal login-user-popup guess-number email-inbox email-inbox-nl-turk email-inbox-forward-nl
email-inbox-forward-nl-turk
"""
_WITHOUT_FEEDBACK = """
choose-list click-button click-button-sequence click-checkboxes click-checkboxes-large click-checkboxes-soft
click-checkboxes-transfer click-collapsible click-collapsible-2 click-color click-dialog click-dialog-2 click-link
click-menu click-option click-scroll-list click-shades click-shape click-tab click-tab-2 click-tab-2-hard click-test
click-test-2 click-widget count-shape enter-date enter-password enter-text enter-text-dynamic enter-time focus-text
focus-text-2 grid-coordinate identify-shape login-user multi-layouts multi-orderings navigate-tree simple-algebra
social-media social-media-all social-media-some use-autocomplete use-spinner
"""
_REUSABLE = """
choose-list click-button click-button-sequence click-color click-link click-scroll-list click-shades click-shape
click-test click-test-2 count-shape enter-date enter-password enter-text enter-text-dynamic enter-time focus-text
focus-text-2 grid-coordinate identify-shape login-user simple-algebra
"""

_MAIL = """
email-inbox-delete email-inbox-forward email-inbox-important email-inbox-noscroll email-inbox-reply
email-inbox-star-reply
"""
_FORMS = "enter-password enter-text enter-text-2 enter-text-dynamic login-user"

FEEDBACK_TASKS: tuple[str, ...] = tuple(_WITH_FEEDBACK.split())
"""AdaPlanner's nine tasks with feedback from the page (Sun et al., NeurIPS 2023, section 4)."""

PAPER_TASKS: tuple[str, ...] = (*FEEDBACK_TASKS, *_WITHOUT_FEEDBACK.split())
"""The paper's 53 tasks, those with feedback first."""

SIMILAR_PAGES: dict[str, tuple[str, ...]] = {
    "email-inbox-nl-turk": ("email-inbox",),
    "email-inbox-forward-nl": ("email-inbox-forward-nl-turk",),
    "email-inbox-forward-nl-turk": ("email-inbox-forward-nl",),
    **dict.fromkeys(_MAIL.split(), ("email-inbox",)),
    **dict.fromkeys(_FORMS.split(), ("login-user-popup",)),
}
"""For a page, the pages that need the same actions: reading a mail box, or filling in text fields."""

REUSABLE_PAGES = frozenset(_REUSABLE.split())
"""Pages that redraw everything when an episode begins, so that an episode leaves no state to the next.

They need not be loaded again, which takes most of a short episode's time. Other pages keep widget counters, timers or
text: search-engine, use-spinner, use-slider …
"""

INSTALL_HINT = "install the pages with: pip install 'codeplan[miniwob]', or name a folder of them by the setting pages"


class PageFolder:
    """A folder of pages: ``miniwob/NAME.html`` and the files they load, in ``core`` and ``common``.

    By default, the folder of the package ``miniwob``. Methods raise UsageError if there are no pages.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._given = folder

    @property
    def folder(self) -> Path:
        """The folder, with links resolved."""
        folder = Path(self._given) if self._given else _find_package_folder()
        if not (folder / "miniwob").is_dir() or not (folder / "core" / "core.js").is_file():
            raise UsageError(f"{folder} lacks MiniWoB++'s folders miniwob and core; {INSTALL_HINT}")
        return folder.resolve()

    def names(self) -> tuple[str, ...]:
        """The names of all pages, the paper's 53 first."""
        existing = {path.stem for path in (self.folder / "miniwob").glob("*.html")}
        return (*(name for name in PAPER_TASKS if name in existing), *sorted(existing - set(PAPER_TASKS)))

    def url(self, name: str) -> str:
        """The URL of a page."""
        return (self.folder / "miniwob" / f"{name}.html").as_uri()


def _find_package_folder() -> Path:
    """The folder in the package ``miniwob``, without importing it: the import would load Selenium."""
    try:
        return Path(str(distribution("miniwob").locate_file("miniwob"))) / "html"
    except PackageNotFoundError:
        raise UsageError(f"MiniWoB++'s pages are not installed; {INSTALL_HINT}") from None


NAME = "miniwob"

SPLITS = ("test", "dev", "train", "feedback", "other")

_SEEDS = {"test": range(100), "dev": range(1000, 1050), "train": range(2000, 2200)}
"""The listed seeds of each split; ``feedback`` and ``other`` use those of ``test``."""

_SEED_LIMIT = 2**53
"""JavaScript represents all smaller integers exactly."""


def list_tasks(split: str, names: Sequence[str]) -> Sequence[Task]:
    """The tasks of a split, each built on access; empty if there is no such split.

    ``test``, ``dev`` and ``train`` are the paper's 53 pages, ``feedback`` the nine with feedback, ``other`` the rest.
    """
    others = tuple(name for name in names if name not in PAPER_TASKS)
    kinds = {"feedback": FEEDBACK_TASKS, "other": others}.get(split, PAPER_TASKS)
    seeds = _SEEDS.get("test" if split in ("feedback", "other") else split, range(0))
    return GeneratedTasks(tuple(kind for kind in kinds if kind in names), seeds, partial(_task, split=split))


def make_task(kind: str, seed: int) -> Task:
    """The task of a page and a seed. Raises: UsageError if the seed is invalid."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < _SEED_LIMIT:
        raise UsageError(
            f"the seed of a MiniWoB++ task must be a whole number from 0 to {_SEED_LIMIT - 1} (got {in_quotes(seed)})"
        )
    return _task(kind, seed, "other" if kind not in PAPER_TASKS else split_for_seed(seed))


def page_and_seed(task: Task) -> tuple[str, int]:
    """A task's page and seed, from its kind and seed or, if it has no kind, from its id."""
    if task.kind:
        return task.kind, task.seed
    kind, _, digits = task.id.rpartition("/")
    if not (kind and digits.isascii() and digits.isdigit() and len(digits) < 17):
        raise UsageError(
            f"MiniWoB++ has no task {in_quotes(task.id, 80)}; an id is a page and a seed, as in click-button/17"
        )
    return kind, int(digits)


def _task(kind: str, seed: int, split: str) -> Task:
    return Task(f"{kind}/{seed}", NAME, kind, "", seed, split)
