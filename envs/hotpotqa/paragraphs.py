"""The text of a page as HTML: its paragraphs, then the items of its lists, without what is not prose."""

from __future__ import annotations

from html.parser import HTMLParser

_FEWEST_WORDS = 3
_DEEPEST = 256
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_UNSPOKEN = frozenset({"script", "style", "math"})
_ASIDE = frozenset({"reference", "mw-editsection", "navbox", "toc", "reflist", "metadata", "mw-references-wrap"})
"""Classes of elements that stand beside the prose: marks of references, buttons, tables of contents, and the like."""


def extract_paragraphs(html: str) -> str:
    """A page's paragraphs, then its list items, each on a line; those of one or two words are left out.

    ReAct reads Wikipedia in this order (Yao et al., 2023), references and navigation included, which are not here.
    """
    reader = _Reader()
    reader.feed(f"{html}\n")  # so that the last word is not held back as half of a sign
    reader.end()
    return "\n".join(text for text in (*reader.paragraphs, *reader.items) if len(text.split(" ")) >= _FEWEST_WORDS)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self.items: list[str] = []
        self._open: list[str] = []
        self._aside: int | None = None  # how deep the element stands that is passed over
        self._text: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            self.handle_data(" ")
        if tag in _VOID or len(self._open) >= _DEEPEST:
            return
        if self._aside is None and _is_aside(tag, attrs):
            self._aside = len(self._open)
        self._open.append(tag)
        if tag in ("p", "li") and self._aside is None:
            self._keep()
            self._text = []

    def handle_endtag(self, tag: str) -> None:
        if tag not in self._open:
            return
        if tag in ("p", "li", "ul") and self._aside is None:
            self._keep()
        while self._open.pop() != tag:
            pass
        if self._aside is not None and len(self._open) <= self._aside:
            self._aside = None

    def handle_data(self, data: str) -> None:
        if self._aside is None and self._text is not None:
            self._text.append(data)

    def end(self) -> None:
        """The HTML ends. What is not closed then, such as half of a comment, is nothing to show, as in a browser.

        This is not ``close``, which looks into that again and again, for hours where a comment begins everywhere.
        """
        self._keep()

    def _keep(self) -> None:
        """What was read since the last beginning is a paragraph, or an item."""
        if self._text is not None:
            inside = self._open[::-1]
            is_item = "li" in inside and ("p" not in inside or inside.index("li") < inside.index("p"))
            (self.items if is_item else self.paragraphs).append(" ".join("".join(self._text).split()))
        self._text = None


def _is_aside(tag: str, attrs: list[tuple[str, str | None]]) -> bool:
    given = dict(attrs)
    classes = (given.get("class") or "").split()
    return tag in _UNSPOKEN or given.get("role") == "navigation" or not _ASIDE.isdisjoint(classes)
