"""Checks how a plan uses its agent: names that exist, and arguments that fit the method's signature."""

from __future__ import annotations

import ast
import difflib
import inspect
from functools import cache

from codeplan.sandbox.language.diagnostics import DiagnosticCollector
from codeplan.sandbox.language.syntax_nodes import is_name
from codeplan.types import AgentApi, AgentMethod


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
    named = [k.arg for k in node.keywords if k.arg is not None]
    if len(named) < len(node.keywords) or any(isinstance(a, ast.Starred) for a in node.args):
        return
    try:
        _signature(method).bind(*node.args, **dict.fromkeys(named))
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
