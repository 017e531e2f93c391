"""Reading an encyclopedia as in ReAct (Yao et al., 2023): search for a page, then look up words in it."""

from __future__ import annotations

from codeplan.envs.hotpotqa.wiki import SimilarTitles, Wiki, WikiPage
from codeplan.types import Value

_SENTENCES_SHOWN = 5
"""Sentences of a page in a search's observation."""

_AMBIGUOUS = "may refer to:"


class ReaderState(Value, frozen=True):
    """The open page's sentences, the last looked-up string, and how many of its matches were shown."""

    sentences: tuple[str, ...] = ()
    keyword: str | None = None
    matches_shown: int = 0


def search(wiki: Wiki, state: ReaderState, entity: str) -> tuple[ReaderState, str]:
    """Open a page. Returns the new state and the first five sentences, or the old state and similar titles.

    For a disambiguation page, the entity is searched again in brackets, which no title contains. Raises what
    ``wiki.search`` raises.
    """
    found = wiki.search(entity)
    if isinstance(found, WikiPage) and _AMBIGUOUS in found.text:
        entity = f"[{entity}]"
        found = wiki.search(entity)
    if isinstance(found, SimilarTitles):
        return state, f"Could not find {entity}. Similar: {list(found.titles)}."
    opened = ReaderState(split_sentences(found.text))
    return opened, " ".join(opened.sentences[:_SENTENCES_SHOWN])


def lookup(state: ReaderState, keyword: str) -> tuple[ReaderState, str]:
    """Show the open page's next sentence that contains the keyword, ignoring case. A new keyword starts over."""
    hits = [sentence for sentence in state.sentences if keyword.lower() in sentence.lower()]
    shown = state.matches_shown if keyword == state.keyword else 0
    if shown >= len(hits):
        return ReaderState(state.sentences, keyword, shown), "No more results.\n"
    return ReaderState(state.sentences, keyword, shown + 1), f"(Result {shown + 1} / {len(hits)}) {hits[shown]}"


def split_sentences(text: str) -> tuple[str, ...]:
    """Split a page into sentences as ReAct does: at line ends, then at ". ", with a full stop added to each.

    As in ReAct, the last sentence of a paragraph therefore ends with two full stops.
    """
    paragraphs = (paragraph.strip() for paragraph in text.split("\n"))
    pieces = (piece.strip() for paragraph in paragraphs for piece in paragraph.split(". "))
    return tuple(f"{piece}." for piece in pieces if piece)
