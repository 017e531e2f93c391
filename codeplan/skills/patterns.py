"""Patterns of words with places for values: ``(pay|settle) [the] invoice {the_item}``.

Alternatives stand in round brackets, what may be left out in square ones, with ``|`` between alternatives; a backslash
before one of these signs makes it a word. A model wrote a pattern, and strangers may have spoken to it: a pattern never
becomes a regular expression, and is matched in a bounded number of steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from codeplan.skills.goal_words import PLACE_MARK, Same, meaningful, split_parts, without_marks

MAX_WAYS: Final = 8
"""A pattern that fits in so many ways says nothing."""

MAX_STATES: Final = 200
MAX_WORK: Final = 20_000
_MAX_DEPTH: Final = 4

PLACE: Final = re.compile(r"\{(\w{1,80})\}")
_SIGNS = re.compile(r"\\[()\[\]|\\]|[()\[\]|]|[^()\[\]|\\]+|\\")
_HAS_SIGNS = re.compile(r"[()\[\]|\\]")


class ValuePlace(NamedTuple):
    """A parameter's place in a pattern."""

    name: str


class PatternChoice(NamedTuple):
    """One of several sequences; an empty one may be left out."""

    ways: tuple[Pattern, ...]


Pattern: TypeAlias = "tuple[str | ValuePlace | PatternChoice, ...]"


class Bound(NamedTuple):
    """The parts, from ``start`` to ``end``, that are a parameter's value. ``alone``: no word says what it is for."""

    name: str
    start: int
    end: int
    alone: bool = False


Binding: TypeAlias = tuple[Bound, ...]
_States: TypeAlias = dict[int, list[Binding]]  # how the words before each place are those of a pattern


class TooManyWays(Exception):
    """A pattern, or several, fit a goal in too many ways."""


def escape(text: str) -> str:
    """The text as a pattern of its words alone."""
    return _HAS_SIGNS.sub(r"\\\g<0>", text)


def read_pattern(text: str, same: Same, *, whole: bool) -> Pattern | None:
    """The pattern with its words in canonical form; None if its brackets do not fit, or are too deep.

    A ``whole`` sentence without alternatives loses its courtesies as a goal does.
    """
    signs = _SIGNS.findall(text)
    if whole and not any(s in "()[]|" for s in signs):
        return _items("".join(s[-1] if s[0] == "\\" else s for s in signs), same, whole=True)
    reader = _Reader(signs, same)
    pattern = reader.read("", 0)
    return pattern if reader.at == len(signs) and not reader.is_damaged else None


class _Reader:
    """Reads alternatives up to a closing sign."""

    def __init__(self, signs: Sequence[str], same: Same) -> None:
        self._signs, self._same = signs, same
        self.at, self.is_damaged = 0, False

    def read(self, closing: str, depth: int) -> Pattern:
        self.is_damaged |= depth > _MAX_DEPTH
        ways: list[Pattern] = [()]
        run = ""
        while self.at < len(self._signs) and not self.is_damaged and self._signs[self.at] not in ")]":
            sign = self._signs[self.at]
            self.at += 1
            if sign not in "([|":
                run += sign[-1] if sign[0] == "\\" else sign
                continue
            ways[-1], run = (*ways[-1], *_items(run, self._same, whole=False)), ""
            if sign == "|":
                ways.append(())
            else:
                ways[-1] = (*ways[-1], self._read_inner(sign, depth))
        ways[-1] = (*ways[-1], *_items(run, self._same, whole=False))
        self.is_damaged |= (self._signs[self.at] if self.at < len(self._signs) else "") != closing
        kept = [way for way in ways if way != ("no",)]  # a number's, which no goal has: see goal_words
        return kept[0] if len(kept) == 1 else (PatternChoice(tuple(kept)),)

    def _read_inner(self, sign: str, depth: int) -> PatternChoice:
        inner = self.read(")" if sign == "(" else "]", depth + 1)
        self.at += 1
        return PatternChoice((inner,) if sign == "(" else (inner, ()))


def _items(text: str, same: Same, *, whole: bool) -> Pattern:
    """The words of a text without alternatives, and the places of its parameters."""
    names = iter(PLACE.findall(text))
    marked = PLACE.sub(f" {PLACE_MARK} ", text.replace(PLACE_MARK, ""))
    parts = split_parts(meaningful(marked) if whole else without_marks(marked), same)
    return tuple(ValuePlace(next(names)) if p.tokens[0].text == PLACE_MARK else p.word for p in parts)


def without_words(pattern: Pattern, words: Collection[str]) -> Pattern | None:
    """The pattern without those alternatives that have one of these words; None if it has one itself."""
    return _pruned(pattern, words, len(pattern), without_words)


def without_words_before_values(pattern: Pattern, words: Collection[str]) -> Pattern | None:
    """The pattern without those alternatives that have one of these words before a value; None if it has one itself."""
    last = max((i for i, node in enumerate(pattern) if _has_place(node)), default=-1)
    return _pruned(pattern, words, last, without_words_before_values)


_Prune: TypeAlias = "Callable[[Pattern, Collection[str]], Pattern | None]"


def _pruned(pattern: Pattern, words: Collection[str], last: int, prune_last: _Prune) -> Pattern | None:
    """The pattern without those words in its nodes up to the ``last``, which has them pruned in a way of its own."""
    kept: list[str | ValuePlace | PatternChoice] = []
    for i, node in enumerate(pattern):
        if i <= last and isinstance(node, PatternChoice):
            prune = prune_last if i == last else without_words
            ways = tuple(way for each in node.ways if (way := prune(each, words)) is not None)
            if not ways:
                return None
            kept.append(PatternChoice(ways))
        elif i <= last and node in words:
            return None
        else:
            kept.append(node)
    return tuple(kept)


def _has_place(node: str | ValuePlace | PatternChoice) -> bool:
    if isinstance(node, PatternChoice):
        return any(_has_place(each) for way in node.ways for each in way)
    return isinstance(node, ValuePlace)


def flatten(pattern: Pattern) -> Iterator[str | ValuePlace]:
    """All words and places of a pattern."""
    for node in pattern:
        if isinstance(node, PatternChoice):
            for way in node.ways:
                yield from flatten(way)
        else:
            yield node


def count_words(pattern: Pattern) -> int:
    """The least number of words with which the pattern is met; places are no words."""
    least = 0
    for node in pattern:
        least += min(map(count_words, node.ways)) if isinstance(node, PatternChoice) else isinstance(node, str)
    return least


def has_choice(pattern: Pattern) -> bool:
    return any(isinstance(node, PatternChoice) for node in pattern)


def may_match(pattern: Pattern, words: Collection[str]) -> bool:
    """Whether the words that the pattern needs are among these: quicker than to match it, which finds no more."""
    return all(
        any(may_match(way, words) for way in node.ways) if isinstance(node, PatternChoice) else node in words
        for node in pattern
        if not isinstance(node, ValuePlace)
    )


class Work:
    """What matching may cost, in steps of a pattern at a word: a stranger's patterns end there."""

    def __init__(self) -> None:
        self.left = MAX_WORK

    def spend(self, steps: int) -> None:
        """Raises: TooManyWays."""
        self.left -= steps
        if self.left < 0:
            raise TooManyWays


class GoalWords(NamedTuple):
    """The parts of a goal, and for each parameter and part, where a value that begins there may end.

    ``joints`` are where the joints that begin at a part end; ``joined`` is whether no mark stands before it. ``led``
    are parameters whose value has a word before it, which says what it is for, as in *up to 10*.
    """

    words: Sequence[str]
    values: Mapping[str, Sequence[Sequence[int]]]
    joints: Sequence[Sequence[int]]
    joined: Sequence[bool]
    led: frozenset[str]
    work: Work


def match_whole(pattern: Pattern, goal: GoalWords) -> list[Binding]:
    """The ways in which all words of the goal are those of the pattern. Raises: TooManyWays."""
    return _advance(pattern, {0: [()]}, goal).get(len(goal.words), [])


def _advance(pattern: Pattern, states: _States, goal: GoalWords) -> _States:
    for node in pattern:
        if not states:
            break
        states = _step(node, states, goal)
    return states


def _step(node: str | ValuePlace | PatternChoice, states: _States, goal: GoalWords) -> _States:
    """The states after one more node."""
    goal.work.spend(len(states))
    after: _States = {}
    if isinstance(node, PatternChoice):
        for way in node.ways:
            for at, bindings in _advance(way, states, goal).items():
                _add(after, at, bindings)
        return after
    for at, bindings in states.items():
        if isinstance(node, ValuePlace):
            for end in goal.values[node.name][at] if at < len(goal.words) and node.name in goal.values else ():
                bound = Bound(node.name, at, end)
                _add(after, end, [(*b, bound) for b in bindings if _agree(b, bound, goal)])
        elif at < len(goal.words) and goal.words[at] == node:
            _add(after, at + 1, bindings)
    return after


def _agree(binding: Binding, new: Bound, goal: GoalWords) -> bool:
    """Whether a value is the same wherever it stands."""
    words = goal.words[new.start : new.end]
    return all(goal.words[b.start : b.end] == words for b in binding if b.name == new.name)


def _add(states: _States, at: int, bindings: list[Binding]) -> None:
    there = states.setdefault(at, [])
    there += [b for b in bindings if b not in there]
    if len(there) >= MAX_WAYS:
        raise TooManyWays


# ------------------------------------------------------------------ frames


class GoalFrame(NamedTuple):
    """How a goal is said in pieces, in any order: each thing of ``does`` once, in one of its ways, and each value once,
    in a way of ``does`` or ``has``. ``beginning`` has the ways by their first words; None stands for a value.
    """

    does: int
    beginning: Mapping[str | None, Sequence[tuple[int, Pattern]]]


def make_frame(does: Sequence[Sequence[Pattern]], has: Sequence[Pattern]) -> GoalFrame:
    """The frame of these things that the goal says, and ways to give values."""
    beginning: dict[str | None, list[tuple[int, Pattern]]] = {}
    for thing, patterns in (*((1 << i, ways) for i, ways in enumerate(does)), (0, has)):
        for pattern in patterns:
            for word in _first_words(pattern):
                beginning.setdefault(word, []).append((thing, pattern))
    return GoalFrame(len(does), beginning)


def may_match_frame(frame: GoalFrame, words: Collection[str]) -> bool:
    """Whether each thing may be said with these words; see ``may_match``."""
    things = 0
    for pieces in frame.beginning.values():
        for thing, pattern in pieces:
            things |= thing if not things & thing and may_match(pattern, words) else 0
    return bool(frame.does) and things == (1 << frame.does) - 1


def _first_words(pattern: Pattern) -> set[str | None]:
    """The words with which the pattern may begin; None for a value."""
    found: set[str | None] = set()
    for node in pattern:
        if not isinstance(node, PatternChoice):
            return found | {None if isinstance(node, ValuePlace) else node}
        found |= {word for way in node.ways for word in _first_words(way)}
        if not any(map(_may_be_empty, node.ways)):
            break
    return found


def _may_be_empty(pattern: Pattern) -> bool:
    return all(isinstance(node, PatternChoice) and any(map(_may_be_empty, node.ways)) for node in pattern)


class _Piece(NamedTuple):
    """A way that begins at a word: the thing it says, as a bit (0 for a value alone), its end and its values."""

    thing: int
    end: int
    binding: Binding
    is_bare: bool  # a value, and no word


class _Said(NamedTuple):
    """What the words up to one say: things, as bits, and values. ``leads``: the last one asks for what follows."""

    things: int
    binding: Binding
    leads: bool


def match_frame(frame: GoalFrame, goal: GoalWords) -> list[Binding]:
    """The ways in which the goal is said in pieces, with nothing left. Raises: TooManyWays."""
    states: list[set[_Said]] = [set() for _ in range(len(goal.words) + 1)]
    states[0].add(_Said(0, (), leads=False))
    for at, known in enumerate(states[:-1]):
        if len(known) > MAX_STATES:
            raise TooManyWays
        for end in goal.joints[at] if known else ():
            states[end] |= {said._replace(leads=False) for said in known}
        for piece in list(_pieces(frame, at, goal)) if known else ():
            states[piece.end] |= {after for said in known if (after := _say(said, piece, at, goal))}
    return [said.binding for said in states[-1] if said.things == (1 << frame.does) - 1]


def _say(said: _Said, piece: _Piece, at: int, goal: GoalWords) -> _Said | None:
    """What is said with one more piece, which begins at a word; None if it says a thing again, or a value otherwise."""
    if said.things & piece.thing or not all(_agree(said.binding, b, goal) for b in piece.binding):
        return None
    ends = {at, *(b.end for b in piece.binding)}
    alone = piece.is_bare and not (said.leads and goal.joined[at])
    new = tuple(b._replace(alone=b.start in ends if b.name in goal.led else alone) for b in piece.binding)
    leads = bool(piece.thing) and not (new and new[-1].end == piece.end)
    return _Said(said.things | piece.thing, (*said.binding, *new), leads)


def _pieces(frame: GoalFrame, at: int, goal: GoalWords) -> Iterator[_Piece]:
    """The pieces of the frame that begin at a word."""
    for word in (goal.words[at], None):
        for thing, pattern in frame.beginning.get(word, ()):
            for end, bindings in _advance(pattern, {at: [()]}, goal).items():
                for b in bindings if end > at else ():
                    yield _Piece(thing, end, b, len(b) == 1 and (b[0].start, b[0].end) == (at, end))
