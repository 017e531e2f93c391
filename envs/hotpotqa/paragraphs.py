"""Extracts the prose of a page's HTML: its paragraphs, then its list items."""

from __future__ import annotations

from html.parser import HTMLParser

_MIN_WORDS = 3
_MAX_DEPTH = 256
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_SKIPPED_TAGS = frozenset({"script", "style", "math"})
_SKIPPED_CLASSES = frozenset(
    {"reference", "mw-editsection", "navbox", "toc", "reflist", "metadata", "mw-references-wrap"}
)
"""Classes of elements that are not prose: reference marks, buttons, tables of contents and the like."""


def extract_paragraphs(html: str) -> str:
    """The paragraphs, then the list items, one per line, without those of one or two words.

    ReAct reads Wikipedia in this order (Yao et al., 2023), but includes references and navigation.
    """
    parser = _ProseParser()
    parser.feed(f"{html}\n")  # without the line end, the parser would hold back the last word
    parser.end_text()
    # HTMLParser.close is not called: it rescans an unfinished comment again and again, for hours in hostile input.
    return "\n".join(text for text in (*parser.paragraphs, *parser.items) if len(text.split(" ")) >= _MIN_WORDS)


class _ProseParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self.items: list[str] = []
        self._open: list[str] = []
        self._skipped_depth: int | None = None  # the depth of the element that is being skipped
        self._text: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            self.handle_data(" ")
        if tag in _VOID or len(self._open) >= _MAX_DEPTH:
            return
        if self._skipped_depth is None and _is_skipped(tag, attrs):
            self._skipped_depth = len(self._open)
        self._open.append(tag)
        if tag in ("p", "li") and self._skipped_depth is None:
            self.end_text()
            self._text = []

    def handle_endtag(self, tag: str) -> None:
        if tag not in self._open:
            return
        if tag in ("p", "li", "ul") and self._skipped_depth is None:
            self.end_text()
        while self._open.pop() != tag:
            pass
        if self._skipped_depth is not None and len(self._open) <= self._skipped_depth:
            self._skipped_depth = None

    def handle_data(self, data: str) -> None:
        if self._skipped_depth is None and self._text is not None:
            self._text.append(data)

    def end_text(self) -> None:
        """End the current paragraph or list item."""
        if self._text is not None:
            inside = self._open[::-1]
            is_item = "li" in inside and ("p" not in inside or inside.index("li") < inside.index("p"))
            (self.items if is_item else self.paragraphs).append(" ".join("".join(self._text).split()))
        self._text = None


def _is_skipped(tag: str, attrs: list[tuple[str, str | None]]) -> bool:
    given = dict(attrs)
    classes = (given.get("class") or "").split()
    return tag in _SKIPPED_TAGS or given.get("role") == "navigation" or not _SKIPPED_CLASSES.isdisjoint(classes)
