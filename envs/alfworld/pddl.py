"""Parses PDDL problems, but only the parts of the language that ALFWorld's files use: types, facts and the goal."""

from __future__ import annotations

import re

from codeplan.types import Value

Expression = str | list["Expression"]
"""A word, or a list of the expressions between two parentheses."""


class PDDLProblem(Value, frozen=True):
    """A problem in lower case: the type of each object, the arguments of all facts by predicate, the goal."""

    types: dict[str, str]
    facts: dict[str, list[tuple[str, ...]]]
    goal: Expression

    def binary_facts(self, predicate: str) -> list[tuple[str, str]]:
        """Return the facts of a two-place predicate. Raises: ValueError if one has another number of arguments."""
        return [(first, second) for first, second in self._of(predicate, 2)]

    def unary_facts(self, predicate: str) -> list[str]:
        """Return the facts of a one-place predicate. Raises: ValueError if one has another number of arguments."""
        return [only for (only,) in self._of(predicate, 1)]

    def _of(self, predicate: str, size: int) -> list[tuple[str, ...]]:
        found = self.facts.get(predicate, [])
        for arguments in found:
            if len(arguments) != size:
                raise ValueError(f"the fact ({' '.join((predicate, *arguments))}) must have {size} arguments")
        return found


def parse_problem(text: str) -> PDDLProblem:
    """Parse a problem. Raises: ValueError, with the reason, if the text is not a problem."""
    plain = re.sub(r";[^\n]*", "", text).lower()
    opening, closing = plain.count("("), plain.count(")")
    if not opening:
        raise ValueError("it is empty")
    if opening != closing:
        raise ValueError(f"it ends early or is damaged: {opening:,} parentheses open and {closing:,} close")
    _, *parts = re.split(r"\(:([a-z-]+)", plain)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    for name in ("objects", "init", "goal"):
        if name not in sections:
            raise ValueError(f"it has no section (:{name} …)")
    return PDDLProblem(
        _parse_types(sections["objects"]), _parse_facts(sections["init"]), _parse_expression(sections["goal"])
    )


def _parse_types(section: str) -> dict[str, str]:
    """``a b - object c - location`` as ``{a: object, b: object, c: location}``."""
    types: dict[str, str] = {}
    waiting: list[str] = []
    words = iter(section.replace(")", " ").split())
    for word in words:
        if word == "-":
            types.update(dict.fromkeys(waiting, next(words, "")))
            waiting = []
        else:
            waiting.append(word)
    return types


def _parse_facts(section: str) -> dict[str, list[tuple[str, ...]]]:
    facts: dict[str, list[tuple[str, ...]]] = {}
    for fact in re.findall(r"\(([^()]*)\)", section):
        predicate, *arguments = fact.split() or [""]
        facts.setdefault(predicate, []).append(tuple(arguments))
    return facts


def _parse_expression(section: str) -> Expression:
    """The first expression of a section, without the closing parentheses that follow it."""
    stack: list[list[Expression]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", section):
        if word == "(":
            stack.append([])
        elif word != ")":
            stack[-1].append(word)
        else:
            done = stack.pop()
            if not stack:
                break
            stack[-1].append(done)
            if len(stack) == 1:
                return done
    raise ValueError("its goal is not an expression")
