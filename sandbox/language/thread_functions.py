"""The second form of a plan's functions, for its threads: generators that yield where they may wait.

``def f(q): item = q.get(); use(item)`` becomes, beside itself and with its guards, ``def f(q): item = _arrive_(yield
from _wait_(q.get)); _arrive_(yield from _wait_(use, item))``. What is called decides whether it waits (see
``runtime.switching``). A StopIteration, which no generator can raise, goes through as a value.
"""

from __future__ import annotations

import ast
import copy
import sys
from typing import Final, cast

from codeplan.sandbox.language.parsing import call_function, children, is_name, load_name, with_location

THREAD_MODULES: Final = frozenset({"threading", "concurrent", "concurrent.futures"})
"""Functions have a second form in plans that import one of these."""

_FORM_NAME: Final = "__plan_form_{}__"
"""The name of a second form until the function has it. No plan can read or write it."""

MAX_COPIED: Final = 20_000
"""Nodes of all second forms of a plan; functions beyond have none."""

MAX_DEPTH: Final = 3
"""Functions within functions: a second form holds those of the functions inside it again."""

_CALLED_IN_PLACE: Final = frozenset({"super", "locals", "vars", "dir", "eval"})
"""Functions that look at the place where they are called."""

_OWN_SCOPES: Final = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def without_form(name: str) -> str:
    """The name of a function, given that of its second form or its own."""
    start, _, end = _FORM_NAME.partition("{}")
    return name[len(start) : -len(end)] if name.startswith(start) and name.endswith(end) else name


class ThreadForms:
    """Makes the second forms of one plan's functions, within MAX_COPIED nodes."""

    def __init__(self) -> None:
        self._left = MAX_COPIED

    def add_to(self, function: ast.FunctionDef, depth: int) -> list[ast.stmt]:
        """Return the definitions of a function that has its guards: of its second form, if it has one, and its own."""
        if function.decorator_list or depth > MAX_DEPTH:
            return [function]
        inside = _own_nodes(function.body)
        waits = any(isinstance(n, ast.With) or _is_plans_call(n) for n in inside)
        if not waits or any(isinstance(n, ast.Yield | ast.YieldFrom) for n in inside):
            return [function]
        self._left -= sum(1 for statement in function.body for _ in ast.walk(statement))
        if self._left < 0:
            return [function]
        name = _FORM_NAME.format(function.name)
        form = ast.FunctionDef(name, _without_defaults(function.args), copy.deepcopy(function.body), [])
        if sys.version_info >= (3, 12):
            form.type_params = []
        change = _Waits()
        form.body = [cast(ast.stmt, change.visit(statement)) for statement in form.body]
        carry = ast.Return(call_function("_ended_", load_name(_ERROR)))
        handler = ast.ExceptHandler(load_name("_StopIteration_"), _ERROR, [carry])
        never = ast.If(ast.Constant(False), [ast.Expr(ast.Yield())], [])
        form.body = [with_location(function, part) for part in (ast.Try(form.body, [handler], [], []), never)]
        pair = call_function("_pair_", ast.Name(name, ast.Load()))
        function.decorator_list = [with_location(function, pair)]
        forget = ast.Delete([ast.Name(name, ast.Del())])
        return [with_location(function, form), function, with_location(function, forget)]


def _own_nodes(body: list[ast.stmt]) -> list[ast.AST]:
    """The nodes of a function's body that are in no scope within it."""
    nodes: list[ast.AST] = []
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if not isinstance(node, _OWN_SCOPES):
            waiting += children(node)
    return nodes


def _is_plans_call(node: ast.AST) -> bool:
    """Return whether the plan wrote this call, and may have it in a thread's steps."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        name = node.func.id
        return name not in _CALLED_IN_PLACE and not (name.startswith("_") and name.endswith("_"))
    return isinstance(node.func, ast.Call) and is_name(node.func.func, "_getattr_")


def _without_defaults(arguments: ast.arguments) -> ast.arguments:
    """The parameters alone: the second form gets the values of the first."""
    made = copy.deepcopy(arguments)
    made.defaults, made.kw_defaults = [], [None for _ in made.kwonlyargs]
    return made


_TAKEN: Final = "_taken_"
_ERROR: Final = "_error_"


def _stored(*names: str) -> ast.Tuple:
    return ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())


class _Waits(ast.NodeTransformer):
    """Lets calls and contexts in a function's own scope wait."""

    _loops = 0

    def visit(self, node: ast.AST) -> ast.AST:
        """Leave what has a scope of its own as it is."""
        return node if isinstance(node, _OWN_SCOPES) else super().visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        waits = _is_plans_call(node)
        self.generic_visit(node)
        if not waits:
            return node
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            call = ast.Call(call_function("_wait_starred_", node.func), node.args, node.keywords)
        else:
            call = ast.Call(load_name("_wait_"), [node.func, *node.args], node.keywords)
        return with_location(node, call_function("_arrive_", ast.YieldFrom(call)))

    def visit_For(self, node: ast.For) -> ast.AST:
        """Let each call of ``for x in iter(f, sentinel)`` wait."""
        self.generic_visit(node)
        match node.iter:
            case ast.Call(args=[ast.Call(args=[ast.YieldFrom(value=ast.Call(args=[_, called, last]) as made)]), turns]):
                if not is_name(made.args[0], "iter"):
                    return node
            case _:
                return node
        if node.orelse:
            return node
        self._loops += 1
        function, sentinel = f"_called_{self._loops}_", f"_last_{self._loops}_"
        call = ast.YieldFrom(call_function("_wait_", load_name(function)))
        take = with_location(node.iter, ast.Assign([ast.Name(_TAKEN, ast.Store())], call))
        is_last = call_function("_is_last_", load_name(_TAKEN), load_name(sentinel))
        leave = with_location(node.iter, ast.If(is_last, [ast.Break()], []))
        bind = with_location(node.iter, ast.Assign([node.target], load_name(_TAKEN)))
        loop = ast.For(ast.Name("_each_", ast.Store()), turns, [take, leave, bind, *node.body], [])
        given = ast.Assign([_stored(function, sentinel)], ast.Tuple([called, last], ast.Load()))
        return with_location(
            node, ast.If(ast.Constant(True), [with_location(node, given), with_location(node, loop)], [])
        )

    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        for item in node.items:
            opened = item.context_expr
            assert isinstance(opened, ast.Call)
            opened.args[-1] = with_location(opened, ast.YieldFrom(call_function("_enter_", opened.args[-1])))
        return node
