"""Finds the places in a plan for the helper functions and constants of a reply."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from codeplan.sandbox.analysis.replies.statements import ACTING_NAMES, Statement, with_layout


class Redefinitions(msgspec.Struct, frozen=True):
    """The definitions in a reply: names that it sets, names whose values it only changes, and the heads of its
    loops.
    """

    fresh: frozenset[str]
    extended: frozenset[str]
    heads: frozenset[str]

    def replaces(self, old: Statement) -> bool:
        """Return whether the reply's code takes the place of a statement of the plan."""
        if old.head is not None:
            return old.head in self.heads
        covered = self.fresh | self.extended if old.extends else self.fresh
        return bool(old.names) and old.names <= covered


def find_redefinitions(given: Sequence[Statement]) -> Redefinitions:
    """Return what the statements of a reply define."""
    fresh: set[str] = set()
    extended: set[str] = set()
    for statement in given:
        if statement.head is None:
            needed = statement.names & statement.reads
            (fresh if needed <= fresh else extended).update(statement.names)
    heads = frozenset(s.head for s in given if s.head is not None)
    return Redefinitions(frozenset(fresh), frozenset(extended - fresh), heads)


class OutsideCode(msgspec.Struct, frozen=True):
    """The statements of a plan outside its steps, merged with those of a reply.

    ``groups`` has, for each statement of the plan, the statements that now take its place. ``new`` goes before the
    first step, ``behind`` directly after the step with that number, and ``ending`` at the plan's end.
    """

    groups: tuple[list[Statement], ...]
    new: list[Statement]
    behind: dict[int, list[Statement]]
    ending: list[Statement]


class Layout(msgspec.Struct, frozen=True):
    """A plan's statements outside the steps: the first ``around`` stand around ``solution``, those below ``first``
    before its first step.

    ``step_names`` are set by steps alone. ``index`` has the statements by the names that they set.
    """

    statements: tuple[Statement, ...]
    around: int
    first: int
    step_names: frozenset[str]
    index: dict[str, list[int]]

    @property
    def inside_names(self) -> frozenset[str]:
        """The names that are known in ``solution`` alone."""
        return frozenset(name for s in self.statements[self.around :] for name in s.names) | ACTING_NAMES


def place_statements(layout: Layout, given: Sequence[tuple[Statement, int | None]]) -> OutsideCode:
    """Place the statements of a reply, each with the number of the step before it.

    Definitions go to the place where the plan defines the name, or before the first step. Code that acts, or needs a
    name that a step sets, stays after its step.
    """
    redefined = find_redefinitions([s for s, _ in given])
    known = {s.code for s in layout.statements if not s.names or s.is_import}
    fronts: dict[int, list[Statement]] = {}
    backs: dict[int, list[Statement]] = {}
    found = OutsideCode((), [], {}, [])
    place, inside = found.new, layout.inside_names
    for statement, number in given:
        home = _find_home(statement, layout, redefined, inside)
        if statement.is_idle or statement.code in known:
            continue
        if statement.is_return:
            found.ending.append(statement)
        elif home is not None:
            place = (backs if home[1] else fronts).setdefault(home[0], [])
            place.append(statement)
        elif number is not None and not _is_free(statement, layout):
            found.behind.setdefault(number, []).append(statement)
        else:
            place = found.new if statement.names else place
            place.append(statement)
    groups: list[list[Statement]] = []
    for index, old in enumerate(layout.statements):
        if redefined.replaces(old):
            groups.append([*_in_layout_of(old, fronts.get(index, [])), *backs.get(index, [])])
        else:
            groups.append([*fronts.get(index, []), old, *backs.get(index, [])])
    return msgspec.structs.replace(found, groups=tuple(groups))


def _is_free(statement: Statement, layout: Layout) -> bool:
    """Return whether a statement is a definition that means the same before the first step."""
    if statement.is_import or statement.is_function:
        return True
    bound_to_place = statement.reads & (ACTING_NAMES | layout.step_names)
    return bool(statement.names) and statement.head is None and not bound_to_place


def _in_layout_of(old: Statement, statements: list[Statement]) -> list[Statement]:
    if not statements:
        return []
    first = statements[0]
    return [msgspec.structs.replace(first, node=with_layout(first.node, old.node)), *statements[1:]]


def _find_home(
    new: Statement, layout: Layout, redefined: Redefinitions, inside: frozenset[str]
) -> tuple[int, bool] | None:
    """Return the statement of the plan at which ``new`` belongs, and whether that is behind it; None without one.

    The ``inside`` names are not known outside ``solution``.
    """
    start = layout.around if new.reads & inside else 0
    end = layout.first if new.is_function else len(layout.statements)
    near = sorted({i for name in new.names for i in layout.index.get(name, ()) if start <= i < end})
    related = [i for i in near if layout.statements[i].head == new.head]
    replaced = [i for i in related if redefined.replaces(layout.statements[i])]
    if replaced:
        return replaced[0], False
    return (related[-1], True) if related else None


def index_by_name(statements: Sequence[Statement]) -> dict[str, list[int]]:
    """Return the places of the statements by the names that they set."""
    found: dict[str, list[int]] = {}
    for place, statement in enumerate(statements):
        for name in statement.names:
            found.setdefault(name, []).append(place)
    return found


def order_by_need(statements: Sequence[Statement]) -> list[Statement]:
    """Return the statements in their order, but each after those that set what it reads when it runs."""
    binders: dict[str, list[Statement]] = {}
    for statement in statements:
        for name in statement.names:
            binders.setdefault(name, []).append(statement)
    done: list[Statement] = []
    started: set[int] = set()
    bound: set[str] = set()

    def emit(statement: Statement) -> None:
        if id(statement) in started:
            return
        started.add(id(statement))
        for name in sorted(_needs(statement, binders)):
            for binder in [] if name in bound else binders[name]:
                emit(binder)
        done.append(statement)
        bound.update(statement.names)

    for statement in statements:
        emit(statement)
    return done


def _needs(statement: Statement, binders: dict[str, list[Statement]]) -> set[str]:
    """Return the names that must be set before a statement runs, those in the functions that it calls included."""
    found: set[str] = set()
    waiting = [*statement.reads]
    while waiting:
        name = waiting.pop()
        if name not in found and name in binders:
            found.add(name)
            waiting += [other for b in binders[name] if b.is_function for other in b.deferred]
    return found
