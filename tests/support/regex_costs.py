"""Judges whether a regular expression can take more than linear time, by looking at it.

``re`` backtracks: it tries every path through the expression until one succeeds. The number of paths grows faster than
the text if and only if the automaton of the expression is ambiguous in one of two ways (Weber and Seidl, "On the degree
of ambiguity of finite automata", 1991):

- a state comes back to itself on two paths that read the same text (exponential);
- two states p and q come back to themselves, and p leads to q, all by the same text (quadratic or worse).

States from which every text succeeds are left out: the search ends there. A search that may begin anywhere is an
expression that begins with a loop over all characters. The judgement is exact for the common parts of the syntax; for
the others (atomic groups, long lookaheads) it errs towards "slow".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from re import _constants as sre
from re import _parser as parser
from typing import Any, Literal

Mode = Literal["match", "search", "fullmatch"]

ALPHABET = [chr(c) for c in range(128)] + list("\x85\xa0é²٣ßİſK\u200b\u2028\u3000漢😀")
_CATEGORIES = {
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
}
_NEGATED = {
    sre.CATEGORY_NOT_DIGIT: sre.CATEGORY_DIGIT,
    sre.CATEGORY_NOT_SPACE: sre.CATEGORY_SPACE,
    sre.CATEGORY_NOT_WORD: sre.CATEGORY_WORD,
}
_MAX_COPIES = 2

Chars = frozenset[str]
Everything: Chars = frozenset(ALPHABET)


class NotJudged(Exception):
    """The expression uses something that this module does not understand."""


@dataclass(frozen=True)
class Attack:
    """A text that makes the expression slow: the pump is repeated between prefix and suffix."""

    kind: Literal["exponential", "polynomial"]
    prefix: str
    pump: str


# ------------------------------------------------------------------ from the expression to an automaton


@dataclass(frozen=True)
class Guard:
    """A condition on the characters before and after a place; None in them is the text's start or end.

    ``may`` is when the place may be passed, ``must`` is when it can surely be passed.
    """

    may: Any
    must: Any


def _guard(test: Any) -> Guard:
    return Guard(test, test)


@dataclass
class Automaton:
    """States are numbers. ``empty`` edges read nothing and may have a guard; ``reads`` edges read one character."""

    empty: list[list[tuple[int, Guard | None]]] = field(default_factory=list)
    reads: list[tuple[int, Chars, int]] = field(default_factory=list)

    def state(self) -> int:
        self.empty.append([])
        return len(self.empty) - 1

    def skip(self, start: int, end: int, guard: Guard | None = None) -> None:
        self.empty[start].append((end, guard))

    def read(self, start: int, chars: Chars) -> int:
        end = self.state()
        self.reads.append((start, chars, end))
        return end

    def add(self, nodes: Iterable[Any], start: int, flags: int) -> int:
        for node in nodes:
            start = self._node(node, start, flags)
        return start

    def _node(self, node: Any, start: int, flags: int) -> int:
        what, value = node
        if (chars := _chars(node, flags)) is not None:
            return self.read(start, chars)
        if what in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            return self._repeat(what, value, start, flags)
        if what is sre.SUBPATTERN:
            return self.add(value[3], start, (flags | value[1]) & ~value[2])
        if what is sre.ATOMIC_GROUP:
            return self.add(value, start, flags)
        if what is sre.BRANCH:
            end = self.state()
            for branch in value[1]:
                self.skip(self.add(branch, start, flags), end)
            return end
        end = self.state()
        if what is sre.AT:
            self.skip(start, end, _place(value, flags))
        elif what in (sre.ASSERT, sre.ASSERT_NOT):
            self._look(what is sre.ASSERT, value, start, end, flags)
        else:
            raise NotJudged(str(what))
        return end

    def _repeat(self, what: Any, value: Any, start: int, flags: int) -> int:
        low, high, body = value
        end = self.state()
        guard = None
        if what is sre.POSSESSIVE_REPEAT and len(body) == 1 and (chars := _chars(body[0], flags)) is not None:
            guard = _guard(lambda _, after: after not in chars) if high is sre.MAXREPEAT else None
        if low == 0:
            self.skip(start, end, guard)
        for number in range(1, min(max(low, 1 if high else 0), _MAX_COPIES) + 1):
            start = self.add(body, start, flags)
            if number >= min(low, _MAX_COPIES):
                self.skip(start, end, guard)
        if high is sre.MAXREPEAT:
            loop = self.state()
            self.skip(start, loop)
            back = self.add(body, loop, flags)
            self.skip(back, loop)
            self.skip(back, end, guard)
        else:
            for _ in range(min(high - max(low, 1), _MAX_COPIES)):
                start = self.add(body, start, flags)
                self.skip(start, end)
        return end

    def _look(self, wanted: bool, value: Any, start: int, end: int, flags: int) -> None:
        direction, body = value
        chars = _chars(body[0], flags) if len(body) == 1 else None
        if chars is not None and direction > 0:
            self.skip(start, end, _guard(lambda _, after: (after in chars) == wanted))
        elif chars is not None:
            self.skip(start, end, _guard(lambda before, _: (before in chars) == wanted))
        else:
            last = _chars(body[len(body) - 1], flags) if direction < 0 and wanted else None
            self.skip(start, end, Guard(lambda before, _: last is None or before in last, lambda _, __: False))
            if direction > 0:
                self.add(body, start, flags)  # the lookahead's own work: a branch that leads nowhere


def _place(at: Any, flags: int) -> Guard:
    lines = bool(flags & re.MULTILINE)
    if at in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING):
        inner = lines and at is sre.AT_BEGINNING
        return _guard(lambda before, _: before is None or (inner and before == "\n"))
    if at is sre.AT_END:
        return Guard(
            lambda _, after: after in (None, "\n"), lambda _, after: after is None or (lines and after == "\n")
        )
    if at is sre.AT_END_STRING:
        return _guard(lambda _, after: after is None)
    if at in (sre.AT_BOUNDARY, sre.AT_NON_BOUNDARY):
        wanted = at is sre.AT_BOUNDARY
        return _guard(lambda before, after: (_is_word(before) != _is_word(after)) == wanted)
    raise NotJudged(str(at))


def _is_word(character: str | None) -> bool:
    return character is not None and (character.isalnum() or character == "_")


def _chars(node: Any, flags: int) -> Chars | None:
    """The characters that a node reads; None if it is not one that reads exactly one character."""
    what, value = node
    if what is sre.ANY:
        return Everything if flags & re.DOTALL else Everything - {"\n"}
    if what is sre.LITERAL:
        return _folded(lambda c: ord(c) == value, flags)
    if what is sre.NOT_LITERAL:
        return Everything - _folded(lambda c: ord(c) == value, flags)
    if what is sre.IN:
        negated = bool(value) and value[0][0] is sre.NEGATE
        found = frozenset[str]().union(*(_folded(_item(i, flags), flags) for i in value if i[0] is not sre.NEGATE))
        return Everything - found if negated else found
    if what is sre.SUBPATTERN and len(value[3]) == 1:
        return _chars(value[3][0], (flags | value[1]) & ~value[2])
    return None


def _folded(test: Any, flags: int) -> Chars:
    if not flags & re.IGNORECASE:
        return frozenset(c for c in ALPHABET if test(c))
    return frozenset(c for c in ALPHABET if test(c) or any(len(o) == 1 and test(o) for o in (c.lower(), c.upper())))


def _item(item: Any, flags: int) -> Any:
    what, value = item
    if what is sre.LITERAL:
        return lambda c: ord(c) == value
    if what is sre.RANGE:
        return lambda c: value[0] <= ord(c) <= value[1]
    if what is sre.CATEGORY:
        test = _CATEGORIES[_NEGATED.get(value, value)]
        plain = (lambda c: c.isascii() and test(c)) if flags & re.ASCII else test
        return (lambda c: not plain(c)) if value in _NEGATED else plain
    raise NotJudged(str(what))


# ------------------------------------------------------------------ from the automaton to a graph without empty edges

Node = tuple[int, str]
"""A read edge, and a character (for its class) that it has just read."""


@dataclass
class Graph:
    """``next`` maps a node to its successors by character; ``first`` are the nodes after the first character."""

    next: dict[Node, dict[str, list[Node]]]
    first: list[Node]


def _graph(pattern: str, flags: int, mode: Mode) -> Graph:
    parsed = parser.parse(pattern, flags)
    automaton = Automaton()
    start = automaton.state()
    if mode == "search":
        loop = automaton.state()
        automaton.skip(start, loop)
        automaton.skip(automaton.read(loop, Everything), loop)
        begin = automaton.state()
        automaton.skip(loop, begin)
    else:
        begin = start
    end = automaton.add(parsed, begin, parsed.state.flags)
    goal = automaton.state()
    automaton.skip(end, goal, _place(sre.AT_END_STRING, 0) if mode == "fullmatch" else None)
    return _Flattening(automaton, start, goal).graph()


class _Flattening:
    def __init__(self, automaton: Automaton, start: int, goal: int) -> None:
        self.automaton, self.start, self.goal = automaton, start, goal
        self.classes = _classes(automaton.reads)
        self.leaving: dict[int, list[int]] = {}
        for number, (source, _, _) in enumerate(automaton.reads):
            self.leaving.setdefault(source, []).append(number)

    def graph(self) -> Graph:
        next_of: dict[Node, dict[str, list[Node]]] = {}
        first = [n for c in self.classes for n in self._after(self.start, None, c, "may")[0]]
        todo = list(first)
        while todo:
            node = todo.pop()
            if node in next_of:
                continue
            state = self.automaton.reads[node[0]][2]
            next_of[node] = {c: self._after(state, node[1], c, "may")[0] for c in self.classes}
            todo += (n for nodes in next_of[node].values() for n in nodes)
        safe = self._safe(next_of)
        kept = {
            node: {c: [n for n in nodes if n not in safe] for c, nodes in by.items()}
            for node, by in next_of.items()
            if node not in safe
        }
        return Graph(kept, [n for n in first if n not in safe])

    def _safe(self, nodes: Iterable[Node]) -> set[Node]:
        """The nodes from which a match is found, whatever follows."""
        safe = set(nodes)
        endings = [*self.classes, None]
        musts = {
            (node, c): self._after(self.automaton.reads[node[0]][2], node[1], c, "must")
            for node in safe
            for c in endings
        }
        while True:
            lost = {
                node
                for node in safe
                if not all(musts[node, c][1] or any(n in safe for n in musts[node, c][0]) for c in endings)
            }
            if not lost:
                return safe
            safe -= lost

    def _after(self, state: int, before: str | None, after: str | None, sort: str) -> tuple[list[Node], bool]:
        """The nodes that ``after`` leads to from a state, and whether the goal is reached in front of it."""
        seen, todo = {state}, [state]
        while todo:
            for end, guard in self.automaton.empty[todo.pop()]:
                if end not in seen and (guard is None or getattr(guard, sort)(before, after)):
                    seen.add(end)
                    todo.append(end)
        reads = self.automaton.reads
        nodes = [
            (r, after) for s in seen for r in self.leaving.get(s, ()) if after is not None and after in reads[r][1]
        ]
        return nodes, self.goal in seen


def _classes(reads: Iterable[tuple[int, Chars, int]]) -> list[str]:
    """One character for each set of characters that the expression does not tell apart."""
    kinds = [chars for _, chars, _ in reads]
    found: dict[tuple[object, ...], str] = {}
    for c in ALPHABET:
        found.setdefault((c == "\n", _is_word(c), *(c in chars for chars in kinds)), c)
    return list(found.values())


# ------------------------------------------------------------------ the judgement


@cache
def find_attack(pattern: str, flags: int, mode: Mode) -> Attack | None:
    """A text that takes more than linear time; None if there is none. Raises: NotJudged."""
    graph = _graph(pattern, flags & ~re.UNICODE, mode)
    component = _components(graph)
    for p in graph.next:
        if p in component and (pump := _two_ways_back(graph, component, p)):
            return Attack("exponential", _way(graph, p), pump)
    for p, q in product(component, component):
        if p != q and p[1] == q[1] and (pump := _loops_in_turn(graph, component, p, q)):
            return Attack("polynomial", _way(graph, p), pump)
    return None


def _components(graph: Graph) -> dict[Node, int]:
    """The strongly connected component of each node that lies on a cycle."""
    reach = {node: _reachable(graph, node) for node in graph.next}
    numbers: dict[frozenset[Node], int] = {}
    found: dict[Node, int] = {}
    for node in graph.next:
        if node in reach[node]:
            same = frozenset(other for other in reach[node] if node in reach[other])
            found[node] = numbers.setdefault(same, len(numbers))
    return found


def _reachable(graph: Graph, start: Node) -> set[Node]:
    seen: set[Node] = set()
    todo = [start]
    while todo:
        for nodes in graph.next[todo.pop()].values():
            for node in nodes:
                if node not in seen:
                    seen.add(node)
                    todo.append(node)
    return seen


def _search(graph: Graph, start: tuple[Any, ...], goal: tuple[Any, ...], allowed: Any) -> str | None:
    """The shortest text by which all nodes of ``start`` go to those of ``goal`` in step; None if there is none."""
    seen, todo = {start}, [(start, "")]
    while todo:
        later = []
        for nodes, text in todo:
            for c in graph.next[nodes[0]]:
                for step in product(*(graph.next[n][c] for n in nodes)):
                    if not allowed(step):
                        continue
                    if step == goal:
                        return text + c
                    if step not in seen:
                        seen.add(step)
                        later.append((step, text + c))
        todo = later
    return None


def _two_ways_back(graph: Graph, component: dict[Node, int], p: Node) -> str | None:
    """A text by which ``p`` comes back to itself on two paths."""
    home = component[p]
    todo = [((p, p), False, "")]
    seen = {(p, p, False)}
    while todo:
        later = []
        for (a, b), parted, text in todo:
            for c, nodes in graph.next[a].items():
                for x, y in product(nodes, graph.next[b][c]):
                    if component.get(x) != home or component.get(y) != home:
                        continue
                    apart = parted or x != y
                    if x == y == p and apart:
                        return text + c
                    if (x, y, apart) not in seen:
                        seen.add((x, y, apart))
                        later.append(((x, y), apart, text + c))
        todo = later
    return None


def _loops_in_turn(graph: Graph, component: dict[Node, int], p: Node, q: Node) -> str | None:
    """A text by which ``p`` comes back to itself, ``q`` to itself, and ``p`` leads to ``q``."""

    def allowed(step: tuple[Node, Node, Node]) -> bool:
        return component.get(step[0]) == component[p] and component.get(step[2]) == component[q]

    return _search(graph, (p, p, q), (p, q, q), allowed)


def _way(graph: Graph, goal: Node) -> str:
    """A text that leads from the start to a node."""
    seen = set(graph.first)
    todo = [(node, node[1]) for node in graph.first]
    while todo:
        later = []
        for node, text in todo:
            if node == goal:
                return text
            for c, nodes in graph.next[node].items():
                for n in nodes:
                    if n not in seen:
                        seen.add(n)
                        later.append((n, text + c))
        todo = later
    return ""
