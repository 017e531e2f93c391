"""MiniWoB++'s pages: where they are, and their names."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from codeplan.errors import UsageError

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
