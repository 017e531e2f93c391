"""Mends names: spellings of ``ask_llm``, an agent's aliases, and a plan's names that belong to the runtime."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable

import libcst as cst

from codeplan.sandbox.analysis.fixes.codemod import Codemod, is_name
from codeplan.sandbox.analysis.fixes.plan_facts import PlanFacts
from codeplan.sandbox.runtime.names import ENDING_NAMES, PREDEFINED_NAMES, RESERVED_NAMES

_TAKEN = frozenset({*PREDEFINED_NAMES, *RESERVED_NAMES, *keyword.kwlist})


class AskSpellings(Codemod):
    """Rewrites ``ask_LLM`` and ``agent.ask_llm`` as ``ask_llm``."""

    rule = "ask-spelling"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether the plan calls such a name."""
        called = (n.func for n in facts.nodes if isinstance(n, ast.Call))
        return any(_is_ask(f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")) for f in called)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        """Rewrite the function of a call."""
        function = updated_node.func
        if isinstance(function, cst.Attribute):
            of_agent = is_name(function.value, "agent") and function.attr.value not in self.facts.api.names
            meant = of_agent and _is_ask(function.attr.value)
        else:
            meant = isinstance(function, cst.Name) and function.value != "ask_llm" and self._is_free(function.value)
        if not meant:
            return updated_node
        self.note(original_node, function, "ask_llm")
        return updated_node.with_changes(func=cst.Name("ask_llm"))

    def _is_free(self, name: str) -> bool:
        return _is_ask(name) and name not in self.facts.bound and name != "ask"


def _is_ask(name: str) -> bool:
    return name.replace("_", "").lower() in ("askllm", "ask")


class AgentAliases(Codemod):
    """Rewrites the other names of an agent's methods that the agent declares."""

    rule = "agent-alias"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether the plan reads such a name."""
        aliases = dict(facts.api.aliases)
        return bool(aliases) and any(isinstance(n, ast.Attribute) and n.attr in aliases for n in facts.nodes)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
        """Rewrite ``agent.alias``."""
        name = dict(self.facts.api.aliases).get(updated_node.attr.value)
        if name is None or not is_name(updated_node.value, "agent"):
            return updated_node
        new = updated_node.with_changes(attr=cst.Name(name))
        self.note(original_node, original_node, new)
        return new


class RenamedNames(Codemod):
    """Renames names of the plan. Attributes keep theirs. A subclass says which names."""

    def __init__(self, module: cst.Module, facts: PlanFacts) -> None:
        super().__init__(module, facts)
        self.new_names = self.choose_names()
        self._noted: set[str] = set()
        self._attributes: set[cst.Name] = set()

    def choose_names(self) -> dict[str, str]:
        """Return the new name of each name that changes."""
        raise NotImplementedError

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Remember the attribute's name."""
        self._attributes.add(node.attr)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        """Rename a name; each is noted once."""
        name = original_node.value
        if name not in self.new_names or original_node in self._attributes:
            return updated_node
        if name not in self._noted:
            self._noted.add(name)
            self.note(original_node, name, self.new_names[name])
        return updated_node.with_changes(value=self.new_names[name])


class UnderscoreNames(RenamedNames):
    """Renames names that begin with an underscore, which belong to the runtime."""

    rule = "underscore-name"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether the plan binds such a name."""
        return any(map(_is_private, facts.bound))

    def choose_names(self) -> dict[str, str]:
        """Return the name without its underscores; with some at its end where that name is taken."""
        taken = {*self.facts.names}
        chosen: dict[str, str] = {}
        for name in sorted(self.facts.bound):
            if _is_private(name):
                chosen[name] = _unused(name.strip("_"), taken)
                taken.add(chosen[name])
        return chosen


class EndingNames(RenamedNames):
    """Renames a plan's own variables and functions that are called like ``replan`` or ``give_up``."""

    rule = "ending-name"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether the plan binds such a name for itself."""
        return bool(_own_endings(facts))

    def choose_names(self) -> dict[str, str]:
        """Return the name with underscores at its end."""
        return {name: _unused(name, self.facts.names) for name in sorted(_own_endings(self.facts))}


def _own_endings(facts: PlanFacts) -> frozenset[str]:
    """Return the names that the plan binds, unless it also calls the runtime's function: what is not its own def."""
    defined = {n.name for n in facts.nodes if isinstance(n, ast.FunctionDef)}
    called = {n.func.id for n in facts.nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return (facts.bound & ENDING_NAMES) - (called - defined)


def _is_private(name: str) -> bool:
    """Return whether a name is the plan's own; ``_name_`` and ``__name__`` are names of the runtime and of Python."""
    return name.startswith("_") and not name.endswith("_")


def _unused(name: str, taken: Iterable[str]) -> str:
    there = {*taken, *_TAKEN}
    candidate = name if name.isidentifier() else f"name{name}"
    while candidate in there:
        candidate += "_"
    return candidate
