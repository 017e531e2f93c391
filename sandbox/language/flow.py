"""Which names a run of statements reads, sets on some path, and surely sets on every path to its end.

A definite-assignment analysis: one pass over the tree, states joined where paths meet. It may say "maybe" for a name
that is in fact always set; it does not say "surely" for one that may not be.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from codeplan.sandbox.language.bindings import Function, bound_names, defaults, parameters, target_names
from codeplan.sandbox.language.nodes import children

State = frozenset[str] | None
"""The names surely set here; None where no path leads here."""

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True)
class Flow:
    """What a run of statements does with names; nodes are those where a name is met first.

    ``reads`` are read as the statements run, ``early`` those of them that may be read before they are set;
    ``deferred`` are read by functions defined here, when these are called; ``sets`` are surely set at the end,
    ``binds`` on some path; ``functions`` are bound by ``def``, or to a lambda; ``unsteady`` may be unset again
    (``del``, ``except … as``).
    """

    reads: dict[str, ast.AST]
    early: dict[str, ast.AST]
    deferred: dict[str, ast.AST]
    sets: frozenset[str]
    binds: frozenset[str]
    functions: frozenset[str]
    unsteady: frozenset[str]


def flow(body: list[ast.stmt]) -> Flow:
    """Analyse statements that run one after the other."""
    walker = _Walker()
    walker.block(body)
    binds = bound_names(body)
    sets = binds if walker.state is None else walker.state
    return Flow(
        walker.reads,
        walker.early,
        walker.deferred,
        sets,
        binds,
        frozenset(walker.functions),
        frozenset(walker.unsteady),
    )


def free_names(function: Function) -> dict[str, ast.AST]:
    """The names that a function reads from outside of it, those of functions within it included."""
    body: list[ast.stmt] = [ast.Expr(function.body)] if isinstance(function, ast.Lambda) else function.body
    walker = _Walker()
    walker.block(body)
    own = parameters(function) | bound_names(body)
    return {name: node for name, node in (walker.deferred | walker.reads).items() if name not in own}


def _meet(states: Iterable[State]) -> State:
    """What is surely set whichever of these paths was taken."""
    alive = [s for s in states if s is not None]
    return frozenset.intersection(*alive) if alive else None


@dataclass
class _Walker:
    state: State = frozenset()
    reads: dict[str, ast.AST] = field(default_factory=dict)
    early: dict[str, ast.AST] = field(default_factory=dict)
    deferred: dict[str, ast.AST] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    unsteady: set[str] = field(default_factory=set)
    breaks: list[list[State]] = field(default_factory=list)
    hidden: list[frozenset[str]] = field(default_factory=list)

    def block(self, body: Iterable[ast.AST]) -> None:
        for node in body:
            self.visit(node)

    def visit(self, node: ast.AST | None) -> None:
        if node is None:
            return
        method = _METHODS[type(node)]
        if method is None:
            self.block(children(node))
        else:
            method(self, node)

    # ------------------------------------------------------------------ names

    def _read(self, name: str, node: ast.AST) -> None:
        if any(name in names for names in self.hidden):
            return
        self.reads.setdefault(name, node)
        if self.state is not None and name not in self.state:
            self.early.setdefault(name, node)

    def _bind(self, *names: str) -> None:
        if self.state is not None:
            self.state |= {n for n in names if not any(n in hidden for hidden in self.hidden)}

    def _unset(self, name: str) -> None:
        self.unsteady.add(name)
        if self.state is not None:
            self.state -= {name}

    def _Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self._bind(node.id)
        else:
            self._read(node.id, node)
            if isinstance(node.ctx, ast.Del):
                self._unset(node.id)

    # ------------------------------------------------------------------ bindings

    def _Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        self.block(node.targets)
        if isinstance(node.value, ast.Lambda):
            self.functions.update(*(target_names(t) for t in node.targets))

    def _AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._read(node.target.id, node.target)
        self.visit(node.value)
        self.visit(node.target)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)

    def _NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._bind(node.target.id)

    def _FunctionDef(self, node: ast.FunctionDef) -> None:
        self._defer(node)
        self._bind(node.name)
        self.functions.add(node.name)

    def _Lambda(self, node: ast.Lambda) -> None:
        self._defer(node)

    def _defer(self, node: ast.FunctionDef | ast.Lambda) -> None:
        self.block(defaults(node))
        for name, place in free_names(node).items():
            if not any(name in names for names in self.hidden):
                self.deferred.setdefault(name, place)

    def _Import(self, node: ast.AST) -> None:
        """What may be imported is given from the start."""

    _ImportFrom = _ClassDef = _AsyncFunctionDef = _arg = _Import

    # ------------------------------------------------------------------ expressions with paths

    def _BoolOp(self, node: ast.BoolOp) -> None:
        self.visit(node.values[0])
        first = self.state
        self.block(node.values[1:])
        self.state = first

    def _IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        start = self.state
        self.visit(node.body)
        then, self.state = self.state, start
        self.visit(node.orelse)
        self.state = _meet([then, self.state])

    def _comprehension_of(self, node: Comprehension) -> None:
        self.visit(node.generators[0].iter)
        start = self.state
        self.hidden.append(frozenset().union(*(target_names(g.target) for g in node.generators)))
        for i, generator in enumerate(node.generators):
            self.block([*([generator.iter] if i else []), generator.target, *generator.ifs])
        self.block([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self.hidden.pop()
        self.state = start

    _ListComp = _SetComp = _DictComp = _GeneratorExp = _comprehension_of

    # ------------------------------------------------------------------ statements with paths

    def _If(self, node: ast.If) -> None:
        self.visit(node.test)
        start = self.state
        self._bind(*_set_when_true(node.test))
        self.block(node.body)
        then, self.state = self.state, start
        self.block(node.orelse)
        self.state = _meet([then, self.state])

    def _For(self, node: ast.For) -> None:
        self.visit(node.iter)
        start = self.state
        self.visit(node.target)
        breaks = self._loop(node.body)
        self.state = start
        self.block(node.orelse)
        self.state = _meet([self.state, *breaks])

    def _While(self, node: ast.While) -> None:
        self.visit(node.test)
        start = self.state
        self._bind(*_set_when_true(node.test))
        breaks = self._loop(node.body)
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self.state = None if endless else start
        self.block(node.orelse)
        self.state = _meet([self.state, *breaks])

    def _loop(self, body: list[ast.stmt]) -> list[State]:
        self.breaks.append([])
        self.block(body)
        return self.breaks.pop()

    def _Try(self, node: ast.Try) -> None:
        start = self.state
        self.block([*node.body, *node.orelse])
        ends = [self.state]
        for handler in node.handlers:
            self.state = start
            self.visit(handler)
            ends.append(self.state)
        self.state = start
        self.block(node.finalbody)
        end, last = _meet(ends), self.state
        self.state = None if end is None or last is None else end | last

    def _ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.visit(node.type)
        if node.name:
            self._bind(node.name)
        self.block(node.body)
        if node.name:
            self._unset(node.name)

    def _Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        start = self.state
        ends: list[State] = []
        for case in node.cases:
            self.state = start
            self._bind(*bound_names([case.pattern]))
            self.block([case.guard, *case.body] if case.guard else case.body)
            ends.append(self.state)
        last = node.cases[-1]
        catches_all = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
        self.state = _meet(ends if catches_all else [*ends, start])

    def _Assert(self, node: ast.Assert) -> None:
        self.visit(node.test)
        start = self.state
        self.visit(node.msg)
        never = isinstance(node.test, ast.Constant) and not node.test.value
        self.state = None if never else start
        self._bind(*_set_when_true(node.test))

    def _Return(self, node: ast.Return) -> None:
        self.visit(node.value)
        self.state = None

    def _Raise(self, node: ast.Raise) -> None:
        self.block(children(node))
        self.state = None

    def _Break(self, node: ast.Break) -> None:
        if self.breaks:
            self.breaks[-1].append(self.state)
        self.state = None

    def _Continue(self, node: ast.Continue) -> None:
        self.state = None


class _Methods(dict[type[ast.AST], Callable[[_Walker, Any], None] | None]):
    """What a walker does with a sort of node; None where it goes on below."""

    def __missing__(self, kind: type[ast.AST]) -> Callable[[_Walker, Any], None] | None:
        self[kind] = getattr(_Walker, f"_{kind.__name__}", None)
        return self[kind]


_METHODS = _Methods()


def _set_when_true(test: ast.expr) -> frozenset[str]:
    """Names that ``:=`` has set in a condition if it was true: each part of an ``and`` was then evaluated."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return frozenset().union(*map(_set_when_true, test.values))
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _set_when_true(test.left) | _set_when_true(test.comparators[0])
    return frozenset({test.target.id}) if isinstance(test, ast.NamedExpr) else frozenset()
