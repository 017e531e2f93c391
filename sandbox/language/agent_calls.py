"""Checks how a plan uses its agent: names that exist, and arguments that fit the method's signature.

The value of an argument is checked only if it is a constant and the parameter is annotated as a Literal.
"""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Mapping
from functools import cache
from typing import Final

from codeplan.sandbox.language.diagnostics import DiagnosticCollector
from codeplan.sandbox.language.syntax_nodes import is_name
from codeplan.types import AgentApi, AgentMethod

_MAX_SHOWN: Final = 80  # characters of a wrong value in a message


def check_agent_calls(nodes: list[ast.AST], api: AgentApi, problems: DiagnosticCollector) -> None:
    """Check every ``agent.name`` and ``agent.name(…)`` among a plan's nodes."""
    methods = {m.name: m for m in api.methods}
    attributes = {a.name for a in api.attributes}
    known = methods.keys() | attributes
    for node in nodes:
        if isinstance(node, ast.Attribute) and is_name(node.value, "agent"):
            if node.attr not in known and not node.attr.startswith("_"):
                _reject_unknown_name(node, api, problems)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_name(node.func.value, "agent"):
            name = node.func.attr
            if name in methods:
                _check_arguments(node, methods[name], problems)
            elif name in attributes:
                message = f"`agent.{name}` is a value, not a method; write it without parentheses"
                problems.add(node, "agent-arguments", message)


def _reject_unknown_name(node: ast.Attribute, api: AgentApi, problems: DiagnosticCollector) -> None:
    near = difflib.get_close_matches(node.attr, api.names, n=1, cutoff=0.5)
    it_has = f"did you mean `{near[0]}`? It has" if near else "it has"
    message = f"the agent has no `{node.attr}`; {it_has}: {', '.join(api.names) or 'nothing'}"
    problems.add(node, "agent-method", message)


def _check_arguments(node: ast.Call, method: AgentMethod, problems: DiagnosticCollector) -> None:
    named = {k.arg: k.value for k in node.keywords if k.arg is not None}
    if len(named) < len(node.keywords) or any(isinstance(a, ast.Starred) for a in node.args):
        return
    try:
        bound = _signature(method).bind(*node.args, **named)
        _check_choices(method, bound.arguments, problems)
    except TypeError as error:
        why = method.explain_misfit(named, error)
        message = f"call `agent.{method.name}` as {method.name}{method.signature}: {why}"
        problems.add(node, "agent-arguments", message)


@cache
def _signature(method: AgentMethod) -> inspect.Signature:
    """Return the method's signature. Its default values only mark optional parameters."""
    parameters = []
    for p in method.parameters:
        kind = getattr(inspect.Parameter, p.kind)
        variadic = p.kind in ("VAR_POSITIONAL", "VAR_KEYWORD")
        default = inspect.Parameter.empty if p.required or variadic else None
        parameters.append(inspect.Parameter(p.name, kind, default=default))
    return inspect.Signature(parameters)


def _check_choices(method: AgentMethod, arguments: Mapping[str, object], problems: DiagnosticCollector) -> None:
    choices = _choices(method) if arguments else {}
    for name, given in arguments.items():
        allowed = choices.get(name)
        if allowed and isinstance(given, ast.expr) and (value := _constant(given)) and value[0] not in allowed:
            *others, last = [repr(v) for v in allowed]
            text = f"{', '.join(others)} or {last}" if others else last
            shown = repr(value[0])
            shown = shown if len(shown) <= _MAX_SHOWN else shown[: _MAX_SHOWN - 1] + "…"
            message = f"`{name}` of `agent.{method.name}` must be {text}, not {shown}"
            problems.add(given, "agent-arguments", message)


@cache
def _choices(method: AgentMethod) -> dict[str, list[object]]:
    """The values that a parameter may have according to its Literal in the signature's text, with its default."""
    if "Literal[" not in method.signature:
        return {}
    try:
        (function,) = ast.parse(f"def f{method.signature}: ...").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    if not isinstance(function, ast.FunctionDef):
        return {}
    found: dict[str, list[object]] = {}
    parameters = function.args
    positional = [*parameters.posonlyargs, *parameters.args]
    defaults = [None] * (len(positional) - len(parameters.defaults)) + parameters.defaults + parameters.kw_defaults
    for parameter, default in zip([*positional, *parameters.kwonlyargs], defaults, strict=True):
        values = _literal_values(parameter.annotation)
        if values and not any(isinstance(v, str) and "…" in v for v in values):  # … marks a shortened text
            own = _constant(default) if default else None
            found[parameter.arg] = values + [v for v in own or () if v not in values]
    return found


def _literal_values(annotation: ast.expr | None) -> list[object]:
    """The values of ``Literal[…]``, or of a union of such and None; empty for any other annotation."""
    match annotation:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            parts = [_literal_values(left), _literal_values(right)]
            return parts[0] + parts[1] if all(parts) else []
        case ast.Constant(value=None):
            return [None]
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal"), slice=options):
            elements = options.elts if isinstance(options, ast.Tuple) else [options]
            values = [value for element in elements for value in _constant(element) or ()]
            return values if len(values) == len(elements) else []
        case _:
            return []


def _constant(node: ast.expr) -> tuple[object] | None:
    """The value of a constant, in a tuple; None for any other expression."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return (-number,)
        case ast.Constant(value=value) if value is not Ellipsis:
            return (value,)
        case _:
            return None
