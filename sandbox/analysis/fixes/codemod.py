"""The base of all fixes: a transformer that records its changes."""

from __future__ import annotations

from typing import ClassVar, Final

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from codeplan.sandbox.analysis.fixes.plan_facts import PlanFacts
from codeplan.sandbox.limits import MAX_FIX_CHARS
from codeplan.types import Fix

_EMPTY: Final = cst.Module([])


class Codemod(cst.CSTTransformer):
    """Changes a plan by one rule, and keeps layout and comments. ``fixes`` are the changes, in their order."""

    METADATA_DEPENDENCIES = (PositionProvider,)
    rule: ClassVar[str]

    def __init__(self, module: cst.Module, facts: PlanFacts) -> None:
        super().__init__()
        self.module, self.facts = module, facts
        self.fixes: list[Fix] = []

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return False if the rule certainly changes nothing in this plan. The answer must be cheap."""
        raise NotImplementedError

    def apply(self) -> cst.Module:
        """Return the changed module, or the given one if there is nothing to change."""
        changed = MetadataWrapper(self.module, unsafe_skip_copy=True).visit(self)
        return cst.parse_module(changed.code) if self.fixes else self.module

    def note(self, node: cst.CSTNode, was: cst.CSTNode | str, now: cst.CSTNode | str) -> None:
        """Note a change of ``node``, a node of the module as given: its code before and after ("": removed)."""
        line = self.get_metadata(PositionProvider, node).start.line
        self.fixes.append(Fix(self.rule, line, code_line(was), code_line(now)))


def code_line(code: cst.CSTNode | str) -> str:
    """Return the first line of the code, shortened."""
    text = code if isinstance(code, str) else _EMPTY.code_for_node(code)
    line = next(iter(text.strip().splitlines()), "")
    return line if len(line) <= MAX_FIX_CHARS else line[: MAX_FIX_CHARS - 1] + "…"


def head_line(statement: cst.If | cst.FunctionDef) -> str:
    """Return the first line of a compound statement, without its comments and its body."""
    empty = cst.IndentedBlock([cst.SimpleStatementLine([cst.Pass()])])
    bare = statement.with_changes(leading_lines=[], body=empty)
    return code_line(bare.with_changes(orelse=None) if isinstance(bare, cst.If) else bare)


def solution_of(module: cst.Module) -> cst.FunctionDef | None:
    """Return the last function ``solution`` of the module."""
    found = [s for s in module.body if isinstance(s, cst.FunctionDef) and s.name.value == "solution"]
    return found[-1] if found else None


def is_name(node: cst.CSTNode | None, name: str) -> bool:
    """Return whether the node is this name."""
    return isinstance(node, cst.Name) and node.value == name
