"""Whether a plan uses its agent as the agent's API allows: methods that exist, with arguments that fit."""

from __future__ import annotations

import difflib
import inspect

import libcst as cst

from codeplan.sandbox.language.structure import Found, walk
from codeplan.types import AgentApi, AgentMethod


def check_agent_calls(module: cst.Module, api: AgentApi, found: Found) -> None:
    """Check every ``agent.name`` and ``agent.name(…)`` of a plan."""
    methods = {m.name: m for m in api.methods}
    attributes = {a.name for a in api.attributes}
    for node in walk(module):
        if isinstance(node, cst.Attribute) and _is_agent(node.value):
            _check_name(node, api, found)
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and _is_agent(node.func.value):
            name = node.func.attr.value
            if name in methods:
                _check_arguments(node, methods[name], found)
            elif name in attributes:
                found.add(
                    node, "agent-arguments", f"`agent.{name}` is a value, not a method; write it without parentheses"
                )


def _is_agent(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "agent"


def _check_name(node: cst.Attribute, api: AgentApi, found: Found) -> None:
    name = node.attr.value
    if name in api.names or name.startswith("_"):
        return
    near = difflib.get_close_matches(name, api.names, n=1, cutoff=0.5)
    meant = f"did you mean `{near[0]}`? " if near else ""
    found.add(node, "agent-method", f"the agent has no `{name}`; {meant}It has: {', '.join(api.names) or 'nothing'}")


def _check_arguments(node: cst.Call, method: AgentMethod, found: Found) -> None:
    if any(a.star for a in node.args):
        return
    positional = [None for a in node.args if a.keyword is None]
    named = [a.keyword.value for a in node.args if a.keyword is not None]
    try:
        _signature(method).bind(*positional, **dict.fromkeys(named))
    except TypeError as error:
        found.add(
            node, "agent-arguments", f"`agent.{method.name}` is called as {method.name}{method.signature}: {error}"
        )


def _signature(method: AgentMethod) -> inspect.Signature:
    """The method's signature, in which a default only says that there is one."""
    parameters = []
    for p in method.parameters:
        kind = getattr(inspect.Parameter, p.kind)
        variadic = p.kind in ("VAR_POSITIONAL", "VAR_KEYWORD")
        default = inspect.Parameter.empty if p.required or variadic else None
        parameters.append(inspect.Parameter(p.name, kind, default=default))
    return inspect.Signature(parameters)
