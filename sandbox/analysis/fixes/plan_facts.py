"""Facts about a plan that the fixes need: its syntax tree, walked once."""

from __future__ import annotations

import ast
from functools import cached_property

from codeplan.sandbox.language.syntax_nodes import walk
from codeplan.types import AgentApi


class PlanFacts:
    """A plan's tree, all of its nodes, and the agent's API."""

    def __init__(self, source: str, api: AgentApi) -> None:
        self.tree, self.api = ast.parse(source), api
        self.nodes = walk(self.tree)

    @cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """The functions at the top level."""
        return [s for s in self.tree.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]

    @cached_property
    def solutions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """The functions called ``solution``."""
        return [f for f in self.functions if f.name == "solution"]

    @cached_property
    def guards(self) -> list[ast.If]:
        """The statements of the last ``solution`` that are an ``if`` about ``start_from``."""
        body = self.solutions[-1].body if self.solutions else []
        return [s for s in body if isinstance(s, ast.If) and _mentions_start(s.test)]

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that the plan binds in any scope: by assignment, definition, parameter, loop or pattern."""
        found: set[str | None] = set()
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.FunctionDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
                found.add(node.name)
            elif isinstance(node, ast.MatchMapping):
                found.add(node.rest)
        return frozenset(name for name in found if name)

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name in the plan, bound or read."""
        return self.bound | {n.id for n in self.nodes if isinstance(n, ast.Name)}


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the names of the parameters that stand for one value, in their order."""
    given = function.args
    return [p.arg for p in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _mentions_start(test: ast.expr) -> bool:
    return any(isinstance(n, ast.Name) and n.id == "start_from" for n in walk(test))
