"""The words of a goal: without marks, articles, courtesies, capitals and plurals, and which are interchangeable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

PLACE_MARK: Final = "\ue000"  # a private character: the place of a parameter in a phrase

_TOKEN = re.compile(
    r"\"[^\"]*\"|“[^“”]*”|(?<![^\s(])\.\w{1,20}\b|\w+(?:(?:[-@./:'’+&]|(?<=[^\W\d]),(?=[^\W\d]))\w+)*|[^\w\s]"
)
_PATH_PIECE = re.compile(r"/|[^/]+")


def words_of(text: str) -> frozenset[str]:
    """The words of a text, as they are."""
    return frozenset(re.findall(r"\w+", text))


FILLERS: Final = words_of("a an the my our your please pls kindly just")
ARTICLES: Final = words_of("a an the my our your")
POSSESSIVES: Final = words_of("my our your")
MARKS: Final = frozenset(".,;:!?'‘’")

_OPENINGS = (
    "could you, can you, would you, will you, could someone, can someone, could somebody, can somebody, i want to, "
    "i want you to, i need to, i need you to, i would like to, i would like you to, i'd like to, i'd like you to, "
    "we need to, we want to, we would like to, we'd like to, would you mind, would you be so kind as to, "
    "be so kind as to, let's, let us, go ahead and, make sure to, hi, hello, hey, hi there, hello there, good morning, "
    "thanks, thank you, thx"
)
_CLOSINGS = (
    "thanks, thank you, thx, many thanks, thanks a lot, thank you very much, thank you so much, thanks in advance, "
    "for me, for us, now, right now, if you can, when you can, cheers"
)
_POLITE = tuple(
    tuple(sorted((tuple(w for w in p.split() if w not in FILLERS) for p in phrases.split(", ")), key=len, reverse=True))
    for phrases in (_OPENINGS, _CLOSINGS)
)
_JOINTS = frozenset({"and", "&", "+", "-", "–", "—", "/", "|", "(", ")"})


class GoalToken(NamedTuple):
    text: str
    start: int
    end: int
    number: int  # among all tokens of the text


class GoalPart(NamedTuple):
    """A word of a text, or several that are interchangeable with others; ``word`` stands for it."""

    word: str
    tokens: Sequence[GoalToken]


Same: TypeAlias = Mapping[tuple[str, ...], str]
"""What stands for each of several interchangeable parts."""


@lru_cache(maxsize=2_000)
def tokenize(text: str) -> tuple[GoalToken, ...]:
    """The words, numbers and signs of a text; a path from the root or from home has a token for each of its names."""
    spans: list[tuple[int, int]] = []
    for m in _TOKEN.finditer(text):
        if "/" in m[0] and m[0][0] not in '"“' and text[max(0, m.start() - 1) : m.start()] == "/":
            spans += [(m.start() + p.start(), m.start() + p.end()) for p in _PATH_PIECE.finditer(m[0])]
        else:
            spans.append(m.span())
    return tuple(GoalToken(text[start:end], start, end, i) for i, (start, end) in enumerate(spans))


def meaningful(text: str) -> list[GoalToken]:
    """The tokens of a text without marks, articles and courtesies."""
    left = without_marks(text)
    words = [_plain(t) for t in left]
    first, last, (openings, closings) = 0, len(words), _POLITE
    while size := next((len(p) for p in openings if tuple(words[first : first + len(p)]) == p), 0):
        first += size
    while size := next((len(p) for p in closings if tuple(words[max(first, last - len(p)) : last]) == p), 0):
        last -= size
    return left[first:last]


def without_marks(text: str) -> list[GoalToken]:
    """The tokens of a text without marks and articles, and without *no.* before a number."""
    tokens = tokenize(text)
    numbering = {
        one.number
        for one, mark, other in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if one.text.casefold() in _NUMBERING and mark.text == "." and one.end == mark.start and other.text[0].isdigit()
    }
    left = (t for t in tokens if t.text not in MARKS and t.text.casefold() not in FILLERS)
    return [t for t in left if t.number not in numbering]


_NUMBERING = frozenset({"no", "nr"})


def _plain(token: GoalToken) -> str:
    return token.text.casefold().replace("’", "'")


def stem(word: str) -> str:
    """The word without capitals, possessive and plural."""
    word = word.casefold().replace("’", "'").removesuffix("'s")
    if not (len(word) > 3 and word.isalpha() and word.endswith("s")) or word.endswith(("ss", "us", "is")):
        return word
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses")) else word[:-1]


def interchangeable(groups: Iterable[Sequence[str]]) -> dict[tuple[str, ...], str]:
    """What stands for each part of a group, by its words; a part in two groups stands for itself."""
    found: dict[tuple[str, ...], str] = {}
    twice: set[tuple[str, ...]] = set()
    for group in groups:
        parts = [key for key in (_key(part) for part in group) if key]
        for part in parts:
            twice |= {part} & found.keys()
            found.setdefault(part, " ".join(parts[0]))
    return {part: stands for part, stands in found.items() if part not in twice and tuple(stands.split()) not in twice}


def _key(part: str) -> tuple[str, ...]:
    """The words of a part; none if it has the mark of a place, which some model or some stranger's file wrote."""
    return () if PLACE_MARK in part else tuple(stem(t.text) for t in without_marks(part))


def split_parts(tokens: Sequence[GoalToken], same: Same) -> list[GoalPart]:
    """The tokens as parts, the longest that is interchangeable first."""
    stems = [stem(t.text) for t in tokens]
    longest = max(map(len, same), default=1)
    found: list[GoalPart] = []
    at = 0
    while at < len(tokens):
        sizes = range(min(longest, len(tokens) - at), 0, -1)
        size = next((n for n in sizes if tuple(stems[at : at + n]) in same), 1)
        known = tuple(stems[at : at + size])
        found.append(GoalPart(same.get(known, known[0]), tokens[at : at + size]))
        at += size
    return found


def find_joints(parts: Sequence[GoalPart], text: str) -> list[list[int]]:
    """For each part, where a joint or a courtesy that begins there ends: it says nothing about what is asked for."""
    words = [_plain(p.tokens[0]) if len(p.tokens) == 1 else "" for p in parts]
    joints = [[at + 1] if _is_joint(p, text) else [] for at, p in enumerate(parts)]
    for phrase in (p for phrases in _POLITE for p in phrases):
        for at in (i for i, word in enumerate(words) if word == phrase[0]):
            if tuple(words[at : at + len(phrase)]) == phrase:
                joints[at].append(at + len(phrase))
    if words and words[0] in _ASKING and text.rstrip().endswith("?"):
        joints[0].append(1)
    return joints


def _is_joint(part: GoalPart, text: str) -> bool:
    """Whether it joins what stands beside it; a sign that touches what follows does not, as in -5."""
    token = part.tokens[0]
    if len(part.tokens) != 1 or token.text.casefold() not in _JOINTS:
        return False
    return token.text.isalpha() or token.text in "()" or text[token.end : token.end + 1] in ("", " ", "\n")


_ASKING = words_of("could can would")
_MODALS = _ASKING | {"please", "pls"}


def asks_for_facts(goal: str) -> bool:
    """Whether a sentence of the goal is a question that is not a request: *Is it paid?*, and not *Can you pay it?*"""
    clauses: list[str] = []  # of one sentence, as the words with which they begin
    before = ""
    for token in tokenize(goal):
        if token.text == "?" and clauses and _MODALS.isdisjoint(clauses):
            return True
        if token.text in ".!?":
            clauses, before = [], ""
        elif token.text not in MARKS:
            clauses += [_plain(token)] if before in _STARTS else []
            before = _plain(token)
        else:
            before = token.text
    return False


_STARTS = frozenset({"", ",", ";", ":", "and", "so", "hi", "hello", "hey", "there", "please", "pls", "thanks"})


def find_joined(parts: Sequence[GoalPart], text: str) -> list[bool]:
    """For each part, whether no mark stands between it and the one before."""
    ends = [0, *(p.tokens[-1].end for p in parts)]
    return [MARKS.isdisjoint(text[end : p.tokens[0].start]) for end, p in zip(ends, parts, strict=False)]


def begins_sentence(token: GoalToken, goal: str) -> bool:
    """Whether a word has its capital because a sentence begins there, perhaps."""
    before = goal[: token.start].rstrip()
    return token.text[0].isupper() and (not before or before[-1] in ".!?:")


_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_UNITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
NUMBER_WORDS = {word: number for number, word in enumerate([*_UNITS, *_TEENS], 1) if number > 1}
NUMBER_WORDS |= {word: 10 * number for number, word in enumerate(_TENS, 2)}
NUMBER_WORDS |= {f"{ten}-{unit}": NUMBER_WORDS[ten] + i for ten in _TENS for i, unit in enumerate(_UNITS, 1)}
"""The numbers that one word says; *one* is often none."""
