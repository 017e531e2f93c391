"""The names that statements read, set on some path, and set on every path to their end.

A definite-assignment analysis in one pass over the tree. It may fail to see that a name is always set, but it never
reports a name as definitely set if the name may be unset.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from codeplan.sandbox.language.bindings import Function, bound_names, default_values, parameter_names, target_names
from codeplan.sandbox.language.control_flow import PATH_HANDLERS, AssignmentState
from codeplan.sandbox.language.plan_outline import find_final_replan
from codeplan.sandbox.language.syntax_nodes import children, walk

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True)
class NameFlow:
    """The use of names by statements. Nodes are those of the first use.

    ``reads`` holds the names that are read as the statements run, ``read_before_set`` those that may be read before
    they are set. ``deferred_reads`` are read when functions defined here are called. ``generator_names`` are read or
    bound when generator expressions are consumed. ``sets`` are certainly set at the end, ``binds`` on some path.
    ``functions`` are bound by ``def`` or to a lambda. ``may_be_unset`` may lose their value again (``del``, ``except …
    as``).
    """

    reads: dict[str, ast.AST] = field(default_factory=dict)
    read_before_set: dict[str, ast.AST] = field(default_factory=dict)
    deferred_reads: dict[str, ast.AST] = field(default_factory=dict)
    generator_names: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    may_be_unset: set[str] = field(default_factory=set)
    sets: frozenset[str] = frozenset()
    binds: frozenset[str] = frozenset()


def analyse_flow(body: list[ast.stmt]) -> NameFlow:
    """Analyse statements that run one after the other."""
    visitor, final = AssignmentVisitor(), find_final_replan(body)
    state: AssignmentState = None
    for statement in body:
        if final is not None and getattr(statement, "value", None) is final:
            state = visitor.state  # a resumed plan goes on from here to the next step
        visitor.visit(statement)
    state, binds = state if visitor.state is None else visitor.state, bound_names(body)
    return replace(visitor.flow, sets=binds if state is None else state, binds=binds)


def free_names(function: Function) -> dict[str, ast.AST]:
    """Return the names that a function, or a function inside it, reads from the outside."""
    body: list[ast.stmt] = [ast.Expr(function.body)] if isinstance(function, ast.Lambda) else function.body
    visitor = AssignmentVisitor()
    visitor.visit_all(body)
    own = parameter_names(function) | bound_names(body)
    return {name: node for name, node in (visitor.flow.deferred_reads | visitor.flow.reads).items() if name not in own}


@dataclass
class AssignmentVisitor:
    """Visits nodes in execution order and records the use of names.

    ``state`` is the state here, ``break_states`` those at each ``break`` of the enclosing loops.
    ``comprehension_names`` are bound by the enclosing comprehensions.
    """

    flow: NameFlow = field(default_factory=NameFlow)
    state: AssignmentState = frozenset()
    break_states: list[list[AssignmentState]] = field(default_factory=list)
    comprehension_names: list[frozenset[str]] = field(default_factory=list)

    def visit_all(self, body: Iterable[ast.AST]) -> None:
        """Visit nodes one after the other."""
        for node in body:
            self.visit(node)

    def visit(self, node: ast.AST | None) -> None:
        """Visit a node and everything below it."""
        if node is None:
            return
        method = _METHODS[type(node)]
        if method is None:
            self.visit_all(children(node))
        else:
            method(self, node)

    def _read(self, name: str, node: ast.AST) -> None:
        if any(name in names for names in self.comprehension_names):
            return
        self.flow.reads.setdefault(name, node)
        if self.state is not None and name not in self.state:
            self.flow.read_before_set.setdefault(name, node)

    def bind(self, *names: str) -> None:
        """Mark these names as set from here on."""
        if self.state is not None:
            self.state |= {n for n in names if not any(n in hidden for hidden in self.comprehension_names)}

    def unset(self, name: str) -> None:
        """Mark this name as no longer set."""
        self.flow.may_be_unset.add(name)
        if self.state is not None:
            self.state -= {name}

    def _Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.bind(node.id)
        else:
            self._read(node.id, node)
            if isinstance(node.ctx, ast.Del):
                self.unset(node.id)

    def _Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        self.visit_all(node.targets)
        if isinstance(node.value, ast.Lambda):
            self.flow.functions.update(*(target_names(t) for t in node.targets))

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
        self.flow.functions.add(node.name)

    def _Lambda(self, node: ast.Lambda) -> None:
        self._defer(node)

    def _defer(self, node: ast.FunctionDef | ast.Lambda) -> None:
        self.visit_all(default_values(node))
        for name, place in free_names(node).items():
            if not any(name in names for names in self.comprehension_names):
                self.flow.deferred_reads.setdefault(name, place)

    def _Import(self, node: ast.AST) -> None:
        """Do nothing: the runtime provides imported names from the start."""

    _ImportFrom = _ClassDef = _AsyncFunctionDef = _arg = _Import

    def _comprehension_of(self, node: Comprehension) -> None:
        self.visit(node.generators[0].iter)
        start = self.state
        self.comprehension_names.append(frozenset().union(*(target_names(g.target) for g in node.generators)))
        for i, generator in enumerate(node.generators):
            self.visit_all([*([generator.iter] if i else []), generator.target, *generator.ifs])
        self.visit_all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self.comprehension_names.pop()
        self.state = start

    _ListComp = _SetComp = _DictComp = _comprehension_of

    def _GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension_of(node)
        for n in walk(node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
                self.flow.generator_names.add(n.id)
            elif isinstance(n, ast.NamedExpr):
                self.flow.generator_names.add(n.target.id)


class _Methods(dict[type[ast.AST], Callable[[AssignmentVisitor, Any], None] | None]):
    """The visitor's method for each node type; None means that it visits the children."""

    def __missing__(self, kind: type[ast.AST]) -> Callable[[AssignmentVisitor, Any], None] | None:
        self[kind] = PATH_HANDLERS.get(kind) or getattr(AssignmentVisitor, f"_{kind.__name__}", None)
        return self[kind]


_METHODS = _Methods()
