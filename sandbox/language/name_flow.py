"""The names that statements read, set on some path, and set on every path to their end.

A definite-assignment analysis in one pass over the tree. It may fail to see that a name is always set, but it never
reports a name as definitely set if the name may be unset.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from codeplan.sandbox.language.parsing import children, walk
from codeplan.sandbox.language.plan_outline import find_final_replan
from codeplan.sandbox.runtime.names import ENDING_NAMES

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def bound_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that these nodes bind in their own scope on some path, except by imports."""
    return frozenset(iterate_bound_names(nodes))


def parameter_names(function: Function) -> frozenset[str]:
    """Return the names of a function's parameters."""
    a = function.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *([a.vararg] if a.vararg else []), *([a.kwarg] if a.kwarg else [])]
    return frozenset(p.arg for p in every)


def function_names(function: Function) -> frozenset[str]:
    """Return the names that belong to a function's own scope: its parameters, and what it binds and declares nowhere
    else.
    """
    return parameter_names(function) | (bound_names(_body(function)) - _declared_names(_body(function)))


def outer_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names of the plan that functions defined here may bind when they are called, by ``global`` or
    ``nonlocal``.
    """
    return frozenset(name for node in scope_nodes(nodes) if isinstance(node, Function) for name in _reached(node))


def _reached(function: Function, around: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the names outside a function that it may bind; ``around`` are names of functions around it."""
    around |= function_names(function)
    for node in scope_nodes(_body(function)):
        if isinstance(node, Function):
            yield from _reached(node, around)
        elif isinstance(node, ast.Global):
            yield from node.names
        elif isinstance(node, ast.Nonlocal):
            yield from (name for name in node.names if name not in around)


def _body(function: Function) -> list[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else [*function.body]


def _declared_names(body: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that ``global`` and ``nonlocal`` statements of one scope declare."""
    declared = (n for n in scope_nodes(body) if isinstance(n, (ast.Global, ast.Nonlocal)))
    return frozenset(name for node in declared for name in node.names)


def scope_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield these nodes and all below them, but nothing inside a function. A class's body is walked."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, Function):
            stack += children(node)


def default_values(function: Function) -> list[ast.expr]:
    """Return the default values of a function's parameters, which run where it is defined."""
    return [d for d in (*function.args.defaults, *function.args.kw_defaults) if d is not None]


def target_names(target: ast.AST) -> frozenset[str]:
    """Return the names that an assignment's target binds."""
    return frozenset(n.id for n in walk(target) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))


def iterate_bound_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that these nodes bind in their own scope, where they bind them, in the order of the source."""
    stack = [*nodes][::-1]
    while stack:
        node = stack.pop()
        yield from _own_names(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            below: Iterable[ast.AST] = (*default_values(node), *getattr(node, "decorator_list", ()))
        elif isinstance(node, ast.comprehension):
            below = (node.iter, *node.ifs)
        elif isinstance(node, ast.ClassDef):
            below = (*node.decorator_list, *node.bases, *(k.value for k in node.keywords))
        else:
            below = children(node)
        stack += [*below][::-1]


def comprehension_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names from outside that list, set and dict comprehensions below these nodes use."""
    found = set[str]()
    stack: list[tuple[ast.AST, frozenset[str] | None]] = [(node, None) for node in nodes]
    while stack:
        node, own = stack.pop()  # what the comprehensions around the node bind; None: there are none
        below: Iterable[ast.AST] = children(node)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp)):
            first, *others = node.generators
            stack.append((first.iter, own))
            own = (own or frozenset()).union(*(target_names(g.target) for g in node.generators))
            below = (first.target, *first.ifs, *others, *(e for e in children(node) if isinstance(e, ast.expr)))
        elif isinstance(node, ast.Name) and own is not None and node.id not in own:
            found.add(node.id)
        stack += ((each, own) for each in below)
    return frozenset(found)


_NAMED_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)


def _own_names(node: ast.AST) -> Iterator[str]:
    name: str | None = None
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        name = node.id
    elif isinstance(node, _NAMED_NODES):
        name = node.name
    elif isinstance(node, ast.MatchMapping):
        name = node.rest
    if name is not None:
        yield name


AssignmentState = frozenset[str] | None
"""The names that are certainly set here; None if no path leads here."""


class Visitor(Protocol):
    """Visits nodes in execution order and tracks which names are set."""

    state: AssignmentState
    break_states: list[list[AssignmentState]]

    def visit(self, node: ast.AST | None) -> None: ...
    def visit_all(self, body: Iterable[ast.AST]) -> None: ...
    def bind(self, *names: str) -> None: ...
    def unset(self, name: str) -> None: ...


def _bool_op(visitor: Visitor, node: ast.BoolOp) -> None:
    visitor.visit(node.values[0])
    first = visitor.state
    visitor.visit_all(node.values[1:])
    visitor.state = first


def _if_exp(visitor: Visitor, node: ast.IfExp) -> None:
    visitor.visit(node.test)
    _fork(visitor, [node.body], [node.orelse])


def _if(visitor: Visitor, node: ast.If) -> None:
    visitor.visit(node.test)
    _fork(visitor, node.body, node.orelse, _set_when_true(node.test))


def _fork(
    visitor: Visitor, body: Iterable[ast.AST], orelse: Iterable[ast.AST], set_in_body: frozenset[str] = frozenset()
) -> None:
    start = visitor.state
    visitor.bind(*set_in_body)
    visitor.visit_all(body)
    then, visitor.state = visitor.state, start
    visitor.visit_all(orelse)
    visitor.state = _join_states([then, visitor.state])


def _match(visitor: Visitor, node: ast.Match) -> None:
    visitor.visit(node.subject)
    start = visitor.state
    ends: list[AssignmentState] = []
    for case in node.cases:
        visitor.state = start
        visitor.bind(*bound_names([case.pattern]))
        visitor.visit_all([case.guard, *case.body] if case.guard else case.body)
        ends.append(visitor.state)
    last = node.cases[-1]
    catches_all = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
    visitor.state = _join_states(ends if catches_all else [*ends, start])


def _try(visitor: Visitor, node: ast.Try | ast.TryStar) -> None:
    start = visitor.state
    visitor.visit_all([*node.body, *node.orelse])
    ends = [visitor.state]
    for handler in node.handlers:
        visitor.state = start
        visitor.visit(handler)
        ends.append(visitor.state)
    visitor.state = start
    visitor.visit_all(node.finalbody)
    end, last = _join_states(ends), visitor.state
    visitor.state = None if end is None or last is None else end | last


def _handler(visitor: Visitor, node: ast.ExceptHandler) -> None:
    visitor.visit(node.type)
    if node.name:
        visitor.bind(node.name)
    visitor.visit_all(node.body)
    if node.name:
        visitor.unset(node.name)


def _with(visitor: Visitor, node: ast.With | ast.AsyncWith) -> None:
    """A context may end its block early by hiding an error, so nothing that the block sets is certain after it."""
    visitor.visit_all(node.items)
    start = visitor.state
    visitor.visit_all(node.body)
    visitor.state = start


def _for(visitor: Visitor, node: ast.For | ast.AsyncFor) -> None:
    visitor.visit(node.iter)
    start = visitor.state
    visitor.visit(node.target)
    breaks = _loop(visitor, node.body)
    visitor.state = start
    visitor.visit_all(node.orelse)
    visitor.state = _join_states([visitor.state, *breaks])


def _while(visitor: Visitor, node: ast.While) -> None:
    visitor.visit(node.test)
    start = visitor.state
    visitor.bind(*_set_when_true(node.test))
    breaks = _loop(visitor, node.body)
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    visitor.state = None if endless else start
    visitor.visit_all(node.orelse)
    visitor.state = _join_states([visitor.state, *breaks])


def _loop(visitor: Visitor, body: list[ast.stmt]) -> list[AssignmentState]:
    visitor.break_states.append([])
    visitor.visit_all(body)
    return visitor.break_states.pop()


def _assert(visitor: Visitor, node: ast.Assert) -> None:
    visitor.visit(node.test)
    start = visitor.state
    visitor.visit(node.msg)
    never = isinstance(node.test, ast.Constant) and not node.test.value
    visitor.state = None if never else start
    visitor.bind(*_set_when_true(node.test))


def _return(visitor: Visitor, node: ast.Return) -> None:
    visitor.visit(node.value)
    visitor.state = None


def _expr(visitor: Visitor, node: ast.Expr) -> None:
    visitor.visit(node.value)
    if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
        visitor.state = None if node.value.func.id in ENDING_NAMES else visitor.state


def _raise(visitor: Visitor, node: ast.Raise) -> None:
    visitor.visit_all(children(node))
    visitor.state = None


def _break(visitor: Visitor, node: ast.Break) -> None:
    if visitor.break_states:
        visitor.break_states[-1].append(visitor.state)
    visitor.state = None


def _continue(visitor: Visitor, node: ast.Continue) -> None:
    visitor.state = None


def _join_states(states: Iterable[AssignmentState]) -> AssignmentState:
    """Return the names that are set on every one of these paths."""
    alive = [s for s in states if s is not None]
    return frozenset.intersection(*alive) if alive else None


def _set_when_true(test: ast.expr) -> frozenset[str]:
    """Return the names that ``:=`` has set if the condition is true. In that case every part of an ``and`` was
    evaluated.
    """
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return frozenset().union(*map(_set_when_true, test.values))
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _set_when_true(test.left) | _set_when_true(test.comparators[0])
    return frozenset({test.target.id}) if isinstance(test, ast.NamedExpr) else frozenset()


PATH_HANDLERS: dict[type[ast.AST], Callable[[Visitor, Any], None]] = {
    ast.BoolOp: _bool_op,
    ast.IfExp: _if_exp,
    ast.If: _if,
    ast.Match: _match,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.ExceptHandler: _handler,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Assert: _assert,
    ast.Expr: _expr,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _break,
    ast.Continue: _continue,
}
"""How a visitor handles each node type that has several paths or ends one."""


Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True)
class NameFlow:
    """The use of names by statements. Nodes are those of the first use.

    ``reads`` holds the names that are read as the statements run, ``read_before_set`` those that may be read before
    they are set. ``deferred_reads`` are read when functions defined here are called. ``generator_names`` are read or
    bound when generator expressions are consumed. ``sets`` are certainly set at the end, ``binds`` on some path.
    ``global_reads`` are read by classes that bind the same name: Python then looks past the functions around.
    ``functions`` are bound by ``def``, ``class`` or to a lambda, ``classes`` by ``class``. ``outer_binds``, a part of
    ``binds``, are bound by functions that declare them as global or nonlocal. ``may_be_unset`` may lose their value
    again (``del``, ``except … as``).
    """

    reads: dict[str, ast.AST] = field(default_factory=dict)
    read_before_set: dict[str, ast.AST] = field(default_factory=dict)
    deferred_reads: dict[str, ast.AST] = field(default_factory=dict)
    generator_names: set[str] = field(default_factory=set)
    global_reads: dict[str, ast.AST] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    outer_binds: frozenset[str] = frozenset()
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
    state, binds, outer = state if visitor.state is None else visitor.state, bound_names(body), outer_names(body)
    return replace(visitor.flow, sets=binds if state is None else state, binds=binds | outer, outer_binds=outer)


def free_names(function: Function) -> dict[str, ast.AST]:
    """Return the names that a function, or a function inside it, reads from the outside."""
    body: list[ast.stmt] = [ast.Expr(function.body)] if isinstance(function, ast.Lambda) else function.body
    visitor = AssignmentVisitor()
    visitor.visit_all(body)
    own = function_names(function)
    read = visitor.flow.deferred_reads | visitor.flow.reads
    return {name: node for name, node in read.items() if name not in own} | visitor.flow.global_reads


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

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.visit_all(node.decorator_list)
        self._defer(node)
        self.bind(node.name)
        self.flow.functions.add(node.name)

    _AsyncFunctionDef = _FunctionDef

    def _Lambda(self, node: ast.Lambda) -> None:
        self._defer(node)

    def _defer(self, node: Function) -> None:
        self.visit_all(default_values(node))
        for name, place in free_names(node).items():
            self._defer_read(name, place)

    def _defer_read(self, name: str, place: ast.AST) -> None:
        if not any(name in names for names in self.comprehension_names):
            self.flow.deferred_reads.setdefault(name, place)

    def _Import(self, node: ast.AST) -> None:
        """Do nothing: the runtime provides imported names from the start."""

    _ImportFrom = _arg = _Import

    def _ClassDef(self, node: ast.ClassDef) -> None:
        """Visit a class's body, which runs here in a scope of its own. Its methods do not see that scope."""
        self.visit_all([*node.decorator_list, *node.bases, *(k.value for k in node.keywords)])
        inner = AssignmentVisitor()
        inner.visit_all(node.body)
        annotations = [s.annotation for s in node.body if isinstance(s, ast.AnnAssign)]
        inner.visit_all(annotations)
        own = bound_names(node.body)
        self.flow.global_reads.update(inner.flow.global_reads)
        for name, place in inner.flow.read_before_set.items():
            self._read(name, place)
            if name in own:
                self.flow.global_reads.setdefault(name, place)
        for name, place in inner.flow.deferred_reads.items():
            self._defer_read(name, place)
        self.flow.generator_names.update(inner.flow.generator_names, inner.flow.reads)
        self.bind(node.name)
        self.flow.functions.add(node.name)
        self.flow.classes.add(node.name)

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
