"""Resolves names across a plan's parts: the names that a step needs from earlier parts, and undefined names."""

from __future__ import annotations

import ast
import difflib

from codeplan.sandbox.language.diagnostics import DiagnosticCollector
from codeplan.sandbox.language.imports import ImportStatement
from codeplan.sandbox.language.name_flow import NameFlow
from codeplan.sandbox.language.plan_outline import PlanOutline, PlanPart
from codeplan.sandbox.runtime.names import PREDEFINED_NAMES, RUNTIME_NAMES, suggest_replacement


class PlanNames:
    """The names of one plan by part.

    ``flows`` belong to the outline's parts, in their order; ``imported`` are the plan's import statements.
    """

    def __init__(self, imported: list[ImportStatement], outline: PlanOutline, flows: list[NameFlow]) -> None:
        self._parts = list(zip(outline.parts, flows, strict=True))
        self._given = PREDEFINED_NAMES | _imported_names(imported)
        self._outside = frozenset().union(*(f.binds for p, f in self._parts if p.step is None))
        self._anywhere = frozenset().union(*(f.binds for _, f in self._parts))
        self._reach = _names_read_by_functions(self._parts)

    @property
    def provides(self) -> tuple[str, ...]:
        """The names that code outside the steps binds."""
        return tuple(sorted(self._outside))

    def needs(self, part: PlanPart, f: NameFlow) -> tuple[str, ...]:
        """Return the names that a step may read before it sets them.

        They come from outside the steps or from earlier steps. Others are left out: no checkpoint can hold them.
        """
        before = self._outside | frozenset().union(
            *(g.binds for p, g in self._parts if p.step is not None and p.node.lineno < part.node.lineno)
        )
        later = {n for n in f.deferred_reads if n not in f.binds}
        called = [self._reach[name] for name in f.reads.keys() | f.deferred_reads.keys() if name in self._reach]
        through = frozenset().union(*{id(names): names for names in called}.values()) - f.sets
        return tuple(sorted((f.read_before_set.keys() | later | through) & before - RUNTIME_NAMES))

    def check(self, problems: DiagnosticCollector) -> None:
        """Report names that are never bound, and names that are read before they are set or after they are lost."""
        before: set[str] = set(self._outside)
        for part, f in self._parts:
            for name, node in f.reads.items():
                if name not in f.binds and not name.startswith("_"):
                    self._check_read(name, node, part, before, problems)
            for name, node in f.deferred_reads.items():
                if name not in self._anywhere | self._given and not name.startswith("_"):
                    problems.add(node, "name-undefined", self._undefined_message(name))
            before |= f.binds

    def _check_read(
        self, name: str, node: ast.AST, part: PlanPart, before: set[str], problems: DiagnosticCollector
    ) -> None:
        if name in before:
            home = self._defining_step(name)
            if home is not None and part.step != home:
                message = (
                    f"the function `{name}` is defined in step {home} and used outside of it, but functions are not "
                    f"saved for a resumption; move its definition above the first step"
                )
                problems.add(node, "name-unset", message)
        elif name in self._given:
            return
        elif name in self._anywhere:
            step = next(p.step for p, f in self._parts if name in f.binds)
            message = f"`{name}` is read here, but first set in step {step}; set it in this step or above the first"
            problems.add(node, "name-unset", message)
        else:
            problems.add(node, "name-undefined", self._undefined_message(name))

    def _defining_step(self, name: str) -> int | None:
        """Return the only step that binds this name, if it binds it to a function; otherwise None."""
        homes = [(p.step, f) for p, f in self._parts if name in f.binds]
        step, f = homes[0]
        return step if len(homes) == 1 and name in f.functions else None

    def _undefined_message(self, name: str) -> str:
        hint = suggest_replacement(name)
        if hint is None:
            near = difflib.get_close_matches(name, sorted(self._anywhere | self._given), n=1)
            hint = f"did you mean `{near[0]}`? Otherwise set it first" if near else "set it before it is read"
        return f"`{name}` is not defined; {hint}"


def _names_read_by_functions(parts: list[tuple[PlanPart, NameFlow]]) -> dict[str, frozenset[str]]:
    """Return, for each function outside the steps, the names that a call may read, also indirectly."""
    homes = {name: f for part, f in parts if part.step is None for name in f.functions}
    reached = {id(f): _names_reached_from(f, homes) for f in homes.values()}  # the functions of a part share one set
    return {name: reached[id(f)] for name, f in homes.items()}


def _names_reached_from(start: NameFlow, homes: dict[str, NameFlow]) -> frozenset[str]:
    """Return the names that the functions of a part read, and those of the functions that they name, and so on."""
    found = set(start.deferred_reads)
    waiting, seen = [*found], {id(start)}
    while waiting:
        home = homes.get(waiting.pop())
        if home is not None and id(home) not in seen:
            seen.add(id(home))
            waiting += home.deferred_reads.keys() - found
            found |= home.deferred_reads.keys()
    return frozenset(found)


def _imported_names(imported: list[ImportStatement]) -> set[str]:
    """Return every name that an import binds, allowed or not, so that a bad import is reported only once."""
    return {(a.asname or a.name).split(".")[0] for statement in imported for a in statement.names}
