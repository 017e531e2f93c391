"""Inserts the guards into a plan: code that compiled plans run in place of the plain operation.

Plans cannot define classes. So every value has an exact builtin type or one of codeplan's types, and no value has hooks
that the plan wrote. Iteration, unpacking, calls and reading items therefore need no guard. Attributes, item writes,
operators that make large values, handlers, assertions and loop iterations have guards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from codeplan.sandbox.language.construct_hints import CONSTRUCT_HINTS
from codeplan.sandbox.language.diagnostics import DiagnosticCollector
from codeplan.sandbox.language.policy import LanguagePolicy, VisitResult
from codeplan.sandbox.language.syntax_nodes import call_function, call_statement, is_name, load_name, with_location

_GUARDED_OPERATORS: dict[type[ast.operator], str] = {
    ast.Mult: "_mul_",
    ast.Pow: "_pow_",
    ast.LShift: "_lshift_",
    ast.Mod: "_mod_",
}
"""Operators by which a small plan makes a huge value, and the guards that check the size first."""

_SMALL = 1000
"""Up to this constant factor, values grow so slowly that the memory limit suffices."""

_WIDTH_DIGITS = 4
"""A format spec whose numbers have fewer digits than this cannot make a huge text."""


class PlanTransformer(LanguagePolicy):
    """Checks one plan and inserts its guards in place. ``rebound`` are the names that the plan binds somewhere."""

    def __init__(self, problems: DiagnosticCollector, rebound: frozenset[str] = frozenset()) -> None:
        super().__init__(problems)
        self._rebound = rebound
        self._scopes = ["segment"]

    @contextmanager
    def _scope(self, kind: str) -> Iterator[None]:
        self._scopes.append(kind)
        yield
        self._scopes.pop()

    def visit_Attribute(self, node: ast.Attribute) -> VisitResult:
        if self._names_a_type(node):
            assert isinstance(node.value, ast.Call)
            return with_location(node, call_function("_type_name_", self._visited(node.value.args[0])))
        if not isinstance(node.ctx, ast.Load):
            hint = f"keep the value in a variable or a dict instead of `.{node.attr}`"
            self.error(node, f"attributes cannot be written; {hint}")
        if node.attr.startswith("_"):
            self.error(node, f"`.{node.attr}` is private; use public methods and attributes only")
        value = self._visited(node.value)
        if not isinstance(node.ctx, ast.Load):
            return node
        return with_location(node, call_function("_getattr_", value, ast.Constant(node.attr)))

    def _names_a_type(self, node: ast.Attribute) -> bool:
        """Return whether the node is ``type(x).__name__``, which error messages often print."""
        value = node.value
        known = isinstance(value, ast.Call) and is_name(value.func, "type")
        if not known or node.attr != "__name__" or "type" in self._rebound or not isinstance(node.ctx, ast.Load):
            return False
        assert isinstance(value, ast.Call)
        return len(value.args) == 1 and not value.keywords and not isinstance(value.args[0], ast.Starred)

    def visit_Subscript(self, node: ast.Subscript) -> VisitResult:
        """Guard item writes. Reads need no guard (see above)."""
        node = self.node_contents_visit(node)
        if not isinstance(node.ctx, ast.Load):
            node.value = with_location(node.value, call_function("_write_", node.value))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> VisitResult:
        guard = _GUARDED_OPERATORS.get(type(node.op))
        native = guard is None or _stays_small(node)
        node = self.node_contents_visit(node)
        return node if native or guard is None else with_location(node, call_function(guard, node.left, node.right))

    def visit_AugAssign(self, node: ast.AugAssign) -> VisitResult:
        """Guard operators that make large values. Operands are evaluated once, as in Python."""
        guard = _GUARDED_OPERATORS.get(type(node.op))
        node = self.node_contents_visit(node)
        if guard is None or isinstance(node.target, ast.Attribute):
            return node
        if isinstance(node.target, ast.Name):
            value = call_function("_inplace_", ast.Constant(guard), load_name(node.target.id), node.value)
            return with_location(node, ast.Assign(targets=[node.target], value=value))
        index = _as_expression(node.target.slice)
        item = call_function("_item_", node.target.value, index)
        return call_statement(node, "_inplace_item_", ast.Constant(guard), item, node.value)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> VisitResult:
        """Check a width that may be huge before the text is made."""
        spec, conversion = node.format_spec, node.conversion
        node = self.node_contents_visit(node)
        if spec is None or _is_narrow(spec):
            return node
        value = ast.FormattedValue(node.value, conversion, None)
        converted = node.value if conversion == -1 else ast.JoinedStr([value])
        assert node.format_spec is not None
        return with_location(node, ast.FormattedValue(call_function("_format_", converted, node.format_spec), -1, None))

    def visit_Call(self, node: ast.Call) -> VisitResult:
        """Leave a call unchanged, starred or not: the unpacked values have no hooks that the plan wrote."""
        return self.node_contents_visit(node)

    def visit_Assign(self, node: ast.Assign) -> VisitResult:
        """Leave unpacking unchanged: no value has an iterator that the plan wrote."""
        return self.node_contents_visit(node)

    def visit_Assert(self, node: ast.Assert) -> VisitResult:
        """Make a failed assertion uncatchable. An error in its message does not replace it."""
        node = self.node_contents_visit(node)
        fail: ast.stmt = ast.Expr(call_function("_fail_", *([node.msg] if node.msg else [])))
        if node.msg and not (isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str)):
            handler = ast.ExceptHandler(load_name("_exception_"), None, [ast.Expr(call_function("_fail_unprinted_"))])
            fail = ast.Try(body=[fail], handlers=[handler], orelse=[], finalbody=[])
        return with_location(node, ast.If(ast.UnaryOp(ast.Not(), node.test), [fail], []))

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> VisitResult:
        self._check_binding(node, node.name)
        node = self.node_contents_visit(node)
        if node.type is None:
            node.type = with_location(node, load_name("_exception_"))
        node.body.insert(0, call_statement(node, "_guard_exception_"))
        return node

    def visit_Try(self, node: ast.Try) -> VisitResult:
        for jump in _find_jumps(node.finalbody):
            message = "return, break and continue in a finally block would lose errors; put it after the try statement"
            self.error(jump, message)
        node = self.node_contents_visit(node)
        if node.finalbody:
            node.finalbody.insert(0, call_statement(node.finalbody[0], "_guard_finally_"))
        return node

    def visit_Return(self, node: ast.Return) -> VisitResult:
        """End the plan in ``solution``: the segment returns a tuple of the plan's value."""
        node = self.node_contents_visit(node)
        if self._scopes[-1] != "segment":
            return node
        value = ast.Constant(None) if node.value is None else node.value
        return with_location(node, ast.Return(ast.Tuple([value], ast.Load())))

    # A for loop reads its values through a C iterator that also counts. That costs a fifth of a counter in the loop's
    # body. Functions call the counter itself, which is in C as well.

    def visit_For(self, node: ast.For) -> VisitResult:
        node = self.node_contents_visit(node)
        node.iter = _count_turns(node.iter)
        return node

    def visit_While(self, node: ast.While) -> VisitResult:
        """Let the counting iterator drive the loop: ``for _each_ in _turns_: if not test: break; body``."""
        node = self.node_contents_visit(node)
        if node.orelse:
            node.body.insert(0, call_statement(node, "_turn_"))
            return node
        leave = with_location(node.test, ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], []))
        each = ast.Name("_each_", ast.Store())
        return with_location(node, ast.For(each, load_name("_turns_"), [leave, *node.body], []))

    def visit_comprehension(self, node: ast.comprehension) -> VisitResult:
        """Count its iterations like those of a for loop."""
        if node.is_async:
            self.error(node.target, CONSTRUCT_HINTS["AsyncFor"])
        node = self.node_contents_visit(node)
        node.iter = _count_turns(node.iter)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> VisitResult:
        with self._scope("lambda"):
            node = self.node_contents_visit(node)
        node.body = with_location(node.body, ast.BoolOp(ast.And(), [call_function("_turn_"), node.body]))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> VisitResult:
        self._check_binding(node, node.name)
        for decorator in node.decorator_list:
            self.error(decorator, "decorators are not part of the plan language; call the function by its name")
        if getattr(node, "type_params", None):
            self.error(node, "type parameters are not part of the plan language; leave them out")
        node.decorator_list, node.returns = [], None
        with self._scope("function"):
            node = self.node_contents_visit(node)
        node.body.insert(0, call_statement(node, "_turn_"))
        return node


def _stays_small(node: ast.BinOp) -> bool:
    """Return whether the result is at most proportional to the operands: a small constant factor or a remainder."""
    small = [_is_small(node.left), _is_small(node.right)]
    if isinstance(node.op, ast.Mult):
        return any(small)
    if isinstance(node.op, ast.Mod):
        return small[1] and not (isinstance(node.left, ast.Constant) and isinstance(node.left.value, (str, bytes)))
    return all(small) and not isinstance(node.op, ast.LShift)


def _is_small(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (
        type(node.value) is float or (type(node.value) is int and node.value <= _SMALL)
    )


def _is_narrow(spec: ast.expr) -> bool:
    """Return whether a format spec is a constant without a long number."""
    parts = spec.values if isinstance(spec, ast.JoinedStr) else [spec]
    texts = [p.value if isinstance(p, ast.Constant) and isinstance(p.value, str) else None for p in parts]
    return all(t is not None and sum(c.isdigit() for c in t) < _WIDTH_DIGITS for t in texts)


def _as_expression(index: ast.expr) -> ast.expr:
    """Return the index as an expression: a slice in brackets becomes a call that makes the same slice."""
    if not isinstance(index, ast.Slice):
        return index
    return call_function("_slice_", *(b or ast.Constant(None) for b in (index.lower, index.upper, index.step)))


def _count_turns(iterable: ast.expr) -> ast.expr:
    return with_location(iterable, call_function("_counted_", iterable, load_name("_turns_")))


def _find_jumps(body: list[ast.stmt], loop: bool = False) -> Iterator[ast.stmt]:
    """Yield statements that leave these blocks early: return, and break or continue of a loop outside."""
    for s in body:
        if isinstance(s, ast.Return) or (not loop and isinstance(s, (ast.Break, ast.Continue))):
            yield s
        if isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            continue
        inner = loop or isinstance(s, (ast.For, ast.While))
        for name in ("body", "orelse", "finalbody"):
            yield from _find_jumps(getattr(s, name, []), inner if name == "body" else loop)
        for part in [*getattr(s, "handlers", []), *getattr(s, "cases", [])]:
            yield from _find_jumps(part.body, loop)
