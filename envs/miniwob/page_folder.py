"""Where MiniWoB++'s pages are, and which there are."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from codeplan.errors import UsageError

FEEDBACK_TASKS: tuple[str, ...] = (
    "search-engine",
    "tic-tac-toe",
    "terminal",
    "login-user-popup",
    "guess-number",
    "email-inbox",
    "email-inbox-nl-turk",
    "email-inbox-forward-nl",
    "email-inbox-forward-nl-turk",
)
"""The nine tasks of AdaPlanner (Sun et al., NeurIPS 2023, section 4) whose pages answer what is done."""

_WITHOUT_FEEDBACK = """
choose-list click-button click-button-sequence click-checkboxes click-checkboxes-large click-checkboxes-soft
click-checkboxes-transfer click-collapsible click-collapsible-2 click-color click-dialog click-dialog-2 click-link
click-menu click-option click-scroll-list click-shades click-shape click-tab click-tab-2 click-tab-2-hard click-test
click-test-2 click-widget count-shape enter-date enter-password enter-text enter-text-dynamic enter-time focus-text
focus-text-2 grid-coordinate identify-shape login-user multi-layouts multi-orderings navigate-tree simple-algebra
social-media social-media-all social-media-some use-autocomplete use-spinner
"""

PAPER_TASKS: tuple[str, ...] = (*FEEDBACK_TASKS, *_WITHOUT_FEEDBACK.split())
"""The paper's 53 tasks: those with feedback first."""

_DRAWN_ANEW = """
choose-list click-button click-button-sequence click-color click-link click-scroll-list click-shades click-shape
click-test click-test-2 count-shape enter-date enter-password enter-text enter-text-dynamic enter-time focus-text
focus-text-2 grid-coordinate identify-shape login-user simple-algebra
"""

REUSABLE_PAGES = frozenset(_DRAWN_ANEW.split())
"""Pages that draw all there is to see at each episode's beginning, so that one episode leaves nothing to the next.

They need not be loaded again, which takes most of a short episode's time. In others, counters of widgets, timers
or old text go on: search-engine, use-spinner, use-slider …
"""

INSTALL_HINT = "install the pages with: pip install 'codeplan[miniwob]', or name a folder of them by the setting pages"


class PageFolder:
    """A folder of pages: ``miniwob/NAME.html`` and what they load, ``core`` and ``common``.

    ``folder`` is None for those of the package ``miniwob``. Nothing is looked at before it is asked for.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._given = folder

    @property
    def folder(self) -> Path:
        """The folder, links resolved. Raises UsageError where it has no pages."""
        folder = Path(self._given) if self._given else _of_the_package()
        if not (folder / "miniwob").is_dir() or not (folder / "core" / "core.js").is_file():
            raise UsageError(
                f"there are no MiniWoB++ pages in {folder}, with its folders miniwob and core; {INSTALL_HINT}"
            )
        return folder.resolve()

    def names(self) -> tuple[str, ...]:
        """The names of all pages, the paper's 53 first. Raises UsageError as ``folder`` does."""
        there = {path.stem for path in (self.folder / "miniwob").glob("*.html")}
        return (*(name for name in PAPER_TASKS if name in there), *sorted(there - set(PAPER_TASKS)))

    def url(self, name: str) -> str:
        """The page's URL."""
        return (self.folder / "miniwob" / f"{name}.html").as_uri()


def _of_the_package() -> Path:
    """The folder inside the package ``miniwob``, which is looked up and not imported: it would load Selenium."""
    try:
        return Path(str(distribution("miniwob").locate_file("miniwob"))) / "html"
    except PackageNotFoundError:
        raise UsageError(f"MiniWoB++'s pages are not installed; {INSTALL_HINT}") from None
