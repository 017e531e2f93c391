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
from codeplan.sandbox.language.nodes import children, walk
from codeplan.sandbox.language.paths import PATHS, State

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True)
class Flow:
    """What a run of statements does with names; nodes are those where a name is met first.

    ``reads`` are read as the statements run, ``early`` those of them that may be read before they are set;
    ``deferred`` are read by functions defined here, when these are called, ``lazy`` are read or bound by generator
    expressions, when they are asked; ``sets`` are surely set at the end, ``binds`` on some path; ``functions`` are
    bound by ``def``, or to a lambda; ``unsteady`` may be unset again (``del``, ``except … as``).
    """

    reads: dict[str, ast.AST]
    early: dict[str, ast.AST]
    deferred: dict[str, ast.AST]
    lazy: frozenset[str]
    sets: frozenset[str]
    binds: frozenset[str]
    functions: frozenset[str]
    unsteady: frozenset[str]


def flow(body: list[ast.stmt]) -> Flow:
    """Analyse statements that run one after the other."""
    walker = Walker()
    walker.block(body)
    binds = bound_names(body)
    sets = binds if walker.state is None else walker.state
    return Flow(
        walker.reads,
        walker.early,
        walker.deferred,
        frozenset(walker.lazy),
        sets,
        binds,
        frozenset(walker.functions),
        frozenset(walker.unsteady),
    )


def free_names(function: Function) -> dict[str, ast.AST]:
    """The names that a function reads from outside of it, those of functions within it included."""
    body: list[ast.stmt] = [ast.Expr(function.body)] if isinstance(function, ast.Lambda) else function.body
    walker = Walker()
    walker.block(body)
    own = parameters(function) | bound_names(body)
    return {name: node for name, node in (walker.deferred | walker.reads).items() if name not in own}


@dataclass
class Walker:
    """Goes through syntax in the order in which it runs, and keeps what it meets of names.

    ``state`` is as of here, ``breaks`` those at the ``break`` of each loop around it; ``hidden`` are the names of the
    comprehensions around it.
    """

    state: State = frozenset()
    reads: dict[str, ast.AST] = field(default_factory=dict)
    early: dict[str, ast.AST] = field(default_factory=dict)
    deferred: dict[str, ast.AST] = field(default_factory=dict)
    lazy: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    unsteady: set[str] = field(default_factory=set)
    breaks: list[list[State]] = field(default_factory=list)
    hidden: list[frozenset[str]] = field(default_factory=list)

    def block(self, body: Iterable[ast.AST]) -> None:
        """Go through nodes, one after the other."""
        for node in body:
            self.visit(node)

    def visit(self, node: ast.AST | None) -> None:
        """Go through a node and all below it."""
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

    def bind(self, *names: str) -> None:
        """These names are surely set from here on."""
        if self.state is not None:
            self.state |= {n for n in names if not any(n in hidden for hidden in self.hidden)}

    def unset(self, name: str) -> None:
        """This name is not set any more."""
        self.unsteady.add(name)
        if self.state is not None:
            self.state -= {name}

    def _Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.bind(node.id)
        else:
            self._read(node.id, node)
            if isinstance(node.ctx, ast.Del):
                self.unset(node.id)

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
        self.bind(node.target.id)

    def _FunctionDef(self, node: ast.FunctionDef) -> None:
        self._defer(node)
        self.bind(node.name)
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

    def _comprehension_of(self, node: Comprehension) -> None:
        self.visit(node.generators[0].iter)
        start = self.state
        self.hidden.append(frozenset().union(*(target_names(g.target) for g in node.generators)))
        for i, generator in enumerate(node.generators):
            self.block([*([generator.iter] if i else []), generator.target, *generator.ifs])
        self.block([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self.hidden.pop()
        self.state = start

    _ListComp = _SetComp = _DictComp = _comprehension_of

    def _GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension_of(node)
        for n in walk(node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
                self.lazy.add(n.id)
            elif isinstance(n, ast.NamedExpr):
                self.lazy.add(n.target.id)


class _Methods(dict[type[ast.AST], Callable[[Walker, Any], None] | None]):
    """What a walker does with a sort of node; None where it goes on below."""

    def __missing__(self, kind: type[ast.AST]) -> Callable[[Walker, Any], None] | None:
        self[kind] = PATHS.get(kind) or getattr(Walker, f"_{kind.__name__}", None)
        return self[kind]


_METHODS = _Methods()
