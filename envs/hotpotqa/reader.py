"""Reading in an encyclopedia as ReAct does (Yao et al., 2023): search a page, look up words in it, one by one."""

from __future__ import annotations

from codeplan.envs.hotpotqa.wiki import SimilarTitles, Wiki, WikiPage
from codeplan.types.value import Value

_FIRST = 5
"""Sentences of a page that a search shows."""

_AMBIGUOUS = "may refer to:"


class ReaderState(Value, frozen=True):
    """The sentences of the open page (none before the first), the word last looked up and how often it was."""

    sentences: tuple[str, ...] = ()
    keyword: str | None = None
    matches_shown: int = 0


def search(wiki: Wiki, state: ReaderState, entity: str) -> tuple[ReaderState, str]:
    """Open a page. Returns what is read from now on, and the first five sentences; or that there is no such page.

    A page of a word's several meanings is passed over: the word is searched for again in brackets, which are in no
    title. Raises what the encyclopedia does.
    """
    found = wiki.search(entity)
    if isinstance(found, WikiPage) and _AMBIGUOUS in found.text:
        entity = f"[{entity}]"
        found = wiki.search(entity)
    if isinstance(found, SimilarTitles):
        return state, f"Could not find {entity}. Similar: {list(found.titles)}."
    opened = ReaderState(split_sentences(found.text))
    return opened, " ".join(opened.sentences[:_FIRST])


def lookup(state: ReaderState, keyword: str) -> tuple[ReaderState, str]:
    """The open page's next sentence with this word, in whatever capitals; the first one where the word is a new one."""
    hits = [sentence for sentence in state.sentences if keyword.lower() in sentence.lower()]
    seen = state.matches_shown if keyword == state.keyword else 0
    if seen >= len(hits):
        return ReaderState(state.sentences, keyword, seen), "No more results.\n"
    return ReaderState(state.sentences, keyword, seen + 1), f"(Result {seen + 1} / {len(hits)}) {hits[seen]}"


def split_sentences(text: str) -> tuple[str, ...]:
    """A page's sentences, as ReAct cuts them: paragraphs at line ends, then at ". ", with a full stop added to each.

    So the last sentence of a paragraph ends with two.
    """
    paragraphs = (paragraph.strip() for paragraph in text.split("\n"))
    pieces = (piece.strip() for paragraph in paragraphs for piece in paragraph.split(". "))
    return tuple(f"{piece}." for piece in pieces if piece)
