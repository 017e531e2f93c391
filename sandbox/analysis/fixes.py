"""Mends faults of a plan that have only one possible correction, with libcst, one rule after the other."""

from __future__ import annotations

import ast
import keyword
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import libcst as cst
from libcst.metadata import PositionProvider

from codeplan.sandbox.analysis.codemods import (
    Codemod,
    NamesBefore,
    PlanFacts,
    StepConditions,
    StepGuards,
    guard_bound,
    head_line,
    is_name,
    parameters_of,
    solution_of,
)
from codeplan.sandbox.language.extraction import STALE_RETURN
from codeplan.sandbox.language.guard_insertion import find_imports, import_problem, tried_imports
from codeplan.sandbox.language.name_flow import NameFlow, analyse_flow, bound_names, outer_names, scope_nodes
from codeplan.sandbox.language.parsing import parse_plan, walk
from codeplan.sandbox.protocol.limits import MAX_FIXES
from codeplan.sandbox.runtime.names import ENDING_NAMES, PREDEFINED_NAMES, RESERVED_NAMES, is_reserved
from codeplan.types import AgentApi, AgentMethod, Fix

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


class ToolNames(Codemod):
    """Rewrites the bare name of one of the agent's methods, such as ``goto(place)``, as ``agent.goto``.

    A name that means something else anywhere in the plan stays.
    """

    rule = "tool-name"

    def __init__(self, module: cst.Module, facts: PlanFacts) -> None:
        super().__init__(module, facts)
        self._meant = _bare_tools(facts)
        self._other_names: set[cst.CSTNode] = set()

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether the plan reads such a name."""
        return bool(_bare_tools(facts))

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Remember the attribute's own name."""
        self._other_names.add(node.attr)

    def visit_Arg(self, node: cst.Arg) -> None:
        """Remember the parameter's name."""
        if node.keyword:
            self._other_names.add(node.keyword)

    def visit_ImportAlias(self, node: cst.ImportAlias) -> bool:
        """Leave imports alone."""
        return False

    def visit_ImportFrom_module(self, node: cst.ImportFrom) -> None:
        """Remember the name of the module."""
        if node.module:
            self._other_names.add(node.module)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Rewrite a name that is read."""
        if original_node.value not in self._meant or original_node in self._other_names:
            return updated_node
        name = cst.Name(original_node.value)
        new = cst.Attribute(cst.Name("agent"), name, lpar=updated_node.lpar, rpar=updated_node.rpar)
        self.note(original_node, original_node, new)
        return new


def _bare_tools(facts: PlanFacts) -> frozenset[str]:
    tools = {*facts.api.names, *dict(facts.api.aliases)} - facts.known
    return frozenset(n.id for n in facts.nodes if isinstance(n, ast.Name) and n.id in tools)


class StaleReturn(Codemod):
    """Removes a ``return`` of names that the plan before set, and that neither this plan nor a kept variable has."""

    rule = STALE_RETURN

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether names are gone that the plan reads."""
        return bool(_gone_names(facts))

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        """Remove the statement, or leave ``pass`` where a block would be empty."""
        own = next((block for block in self._blocks if original_node in block), None)
        if own is None or not _returns(original_node, _gone_names(self.facts)):
            return updated_node
        self.note(original_node, original_node.with_changes(leading_lines=[]), "")
        return cst.RemoveFromParent() if len(own) > 1 else cst.SimpleStatementLine([cst.Pass()])

    @cached_property
    def _blocks(self) -> list[Sequence[cst.CSTNode]]:
        """The statements of ``solution``, and those of each step."""
        solution = solution_of(self.module)
        if solution is None or not isinstance(solution.body, cst.IndentedBlock):
            return []
        steps = [s for s in solution.body.body if isinstance(s, cst.If) and guard_bound(s.test) is not None]
        return [solution.body.body, *(step.body.body for step in steps)]


def _gone_names(facts: PlanFacts) -> frozenset[str]:
    read = {n.id for n in facts.nodes if isinstance(n, ast.Name)}
    return frozenset(read & facts.before.set - facts.known)


def _returns(line: cst.SimpleStatementLine, names: frozenset[str]) -> bool:
    return isinstance(line.body[-1], cst.Return) and len(line.body) == 1 and bool(_names_read(_tree(line)) & names)


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


class RuntimeNames(RenamedNames):
    """Renames a plan's own variables and functions that are called like ``replan``, ``give_up`` or ``ask``."""

    rule = "runtime-name"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether the plan binds such a name for itself."""
        return bool(_own_names(facts))

    def choose_names(self) -> dict[str, str]:
        """Return the name with underscores at its end."""
        return {name: _unused(name, self.facts.names) for name in sorted(_own_names(self.facts))}


def _own_names(facts: PlanFacts) -> frozenset[str]:
    """Return the names that the plan binds, unless it also calls the runtime's function: what is not its own def."""
    defined = {n.name for n in facts.nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    called = {n.func.id for n in facts.nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return (facts.bound & {*ENDING_NAMES, "ask"}) - (called - defined) - facts.class_names


def _unused(name: str, taken: Iterable[str]) -> str:
    there = {*taken, *_TAKEN}
    candidate = name if name.isidentifier() else f"name{name}"
    while candidate in there:
        candidate += "_"
    return candidate


class SolutionName(RenamedNames):
    """Renames the only function that takes ``agent`` to ``solution``, if no function has that name."""

    rule = "solution-name"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether there is just one candidate."""
        return not facts.solutions and len(_takers(facts)) == 1

    def choose_names(self) -> dict[str, str]:
        """Return the function's new name."""
        return {_takers(self.facts)[0].name: "solution"}


def _takers(facts: PlanFacts) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [f for f in facts.functions if "agent" in parameters_of(f)]


class EarlierSolutions(Codemod):
    """Removes all functions ``solution`` but the last, which is the one that Python would call."""

    rule = "solution-twice"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether there is more than one."""
        return len(facts.solutions) > 1

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef | cst.RemovalSentinel:
        """Remove an earlier function."""
        on_top = original_node.name.value == "solution" and original_node in self.module.body
        if not on_top or original_node is solution_of(self.module):
            return updated_node
        self.note(original_node, head_line(original_node), "")
        return cst.RemoveFromParent()


class SolutionSignature(Codemod):
    """Rewrites other signatures: other orders and defaults, and extra parameters, which become variables."""

    rule = "solution-signature"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether the plan's parameters are others; annotations do not matter."""
        return bool(facts.solutions) and not _is_regular(facts.solutions[-1])

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        """Rewrite the signature of the plan."""
        if original_node is not solution_of(self.module):
            return updated_node
        assignments = _extra_assignments(original_node)
        if assignments is None:
            return updated_node
        new = updated_node.with_changes(
            params=_signature(), returns=None, body=_with_first(updated_node.body, assignments)
        )
        self.note(original_node.name, head_line(original_node), head_line(new))
        return new


def _is_regular(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    given = function.args
    plain = not given.kwonlyargs and not given.posonlyargs
    stars = given.vararg or given.kwarg
    # A default other than 1 is the model's opinion on where to resume.
    number = not given.defaults or isinstance(given.defaults[-1], ast.Constant)
    return plain and not stars and number and parameters_of(function) == ["agent", "start_from"]


def _extra_assignments(function: cst.FunctionDef) -> list[str] | None:
    """Return the statements that set the extra parameters; None if one has no value or stands for many."""
    given = function.params
    if isinstance(given.star_arg, cst.Param) or given.star_kwarg is not None:
        return None
    statements: list[str] = []
    rest = list(_parameters(function))
    if not any(p.name.value == "agent" for p in rest) and rest and rest[0].default is None:
        statements.append(f"{rest.pop(0).name.value} = agent")
    for p in rest:
        name = p.name.value
        if name in ("agent", "start_from"):
            continue
        if p.default is None or name in RESERVED_NAMES:
            return None
        statements.append(f"{name} = {cst.Module([]).code_for_node(p.default)}")
    return statements


def _parameters(function: cst.FunctionDef) -> Iterator[cst.Param]:
    given = function.params
    yield from (*given.posonly_params, *given.params, *given.kwonly_params)


def _signature() -> cst.Parameters:
    function = cst.parse_statement("def solution(agent, start_from=1): pass")
    assert isinstance(function, cst.FunctionDef), "a header is a function's"
    return function.params


def _with_first(body: cst.BaseSuite, statements: list[str]) -> cst.BaseSuite:
    """Return the body with these statements first, after a docstring."""
    if not statements or not isinstance(body, cst.IndentedBlock):
        return body
    first = body.body[0]
    documented = (
        isinstance(first, cst.SimpleStatementLine)
        and isinstance(first.body[0], cst.Expr)
        and isinstance(first.body[0].value, cst.SimpleString)
    )
    new = [cst.parse_statement(s) for s in statements]
    return body.with_changes(body=[*body.body[:documented], *new, *body.body[documented:]])


_TEXT = cst.SimpleString | cst.FormattedString | cst.ConcatenatedString


class AssertedTuples(Codemod):
    """Rewrites ``assert (condition, "message")``, which always holds, as ``assert condition, "message"``."""

    rule = "assert-tuple"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether an assertion tests a pair."""
        asserted = (n.test for n in facts.nodes if isinstance(n, ast.Assert))
        return any(isinstance(test, ast.Tuple) and len(test.elts) == 2 for test in asserted)

    def leave_Assert(self, original_node: cst.Assert, updated_node: cst.Assert) -> cst.Assert:
        """Take the tuple apart."""
        pair = updated_node.test
        if not is_asserted_tuple(updated_node) or not isinstance(pair, cst.Tuple):
            return updated_node
        condition, message = (_on_one_line(element.value) for element in pair.elements)
        new = cst.Assert(test=condition, msg=message, semicolon=updated_node.semicolon)
        self.note(original_node, original_node, new)
        return new


def is_asserted_tuple(node: cst.Assert) -> bool:
    """Return whether the assertion tests a pair of a condition and a text."""
    pair = node.test
    return (
        node.msg is None
        and isinstance(pair, cst.Tuple)
        and len(pair.elements) == 2
        and all(isinstance(e, cst.Element) for e in pair.elements)
        and isinstance(pair.elements[1].value, _TEXT)
    )


def _on_one_line(expression: cst.BaseExpression) -> cst.BaseExpression:
    """Return the expression so that it can stand outside of brackets: one of several lines gets brackets."""
    inner = cst.Module([]).code_for_node(expression)
    if "\n" in inner and not expression.lpar:
        return expression.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return expression


_Definition: TypeAlias = cst.FunctionDef | cst.ClassDef | cst.SimpleStatementLine


def _defined_name(statement: cst.CSTNode) -> str:
    """Return the name of the function, class or lambda that a statement defines; of others, the empty text."""
    if isinstance(statement, cst.FunctionDef | cst.ClassDef):
        return statement.name.value
    line = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    if len(line) != 1 or not isinstance(line[0], cst.Assign) or not isinstance(line[0].value, cst.Lambda):
        return ""
    targets = line[0].targets
    return targets[0].target.value if len(targets) == 1 and isinstance(targets[0].target, cst.Name) else ""


class HelperFunctions(Codemod):
    """Moves functions, lambdas and classes that one step defines and another uses to the place before the first step.

    They are not part of a checkpoint, so a plan that resumes at the other step would lack them.
    """

    rule = "helper-function"

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether a step defines a function, a lambda or a class."""
        return any(isinstance(s, _DEFINITIONS) or _is_lambda(s) for guard in facts.guards for s in guard.body)

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        """Move the definitions out of the steps."""
        if original_node is not solution_of(self.module) or not isinstance(original_node.body, cst.IndentedBlock):
            return updated_node
        statements = list(original_node.body.body)
        steps = [s for s in statements if isinstance(s, cst.If) and guard_bound(s.test) is not None]
        around = [s for s in self.module.body if s is not original_node]
        moved = _SharedDefinitions([*around, *statements], steps).find() if steps else []
        if not moved:
            return updated_node
        for definition in moved:
            kind = {cst.ClassDef: "class ", cst.FunctionDef: "def "}.get(type(definition), "")
            name = f"{kind}{_defined_name(definition)}"
            self.note(definition, f"{name} in a step", f"{name} before the steps")
        kept = [_without(s, moved) if isinstance(s, cst.If) and s in steps else s for s in statements]
        first = statements.index(steps[0])
        body = [*kept[:first], *moved, *kept[first:]]
        return updated_node.with_changes(body=original_node.body.with_changes(body=body))


class _SharedDefinitions:
    """The functions and classes that steps define, with what decides whether they can stand before the first step."""

    def __init__(self, statements: list[Any], steps: list[cst.If]) -> None:
        trees = {id(s): _tree(s) for s in statements}
        self._readers = Counter(name for tree in trees.values() for name in _names_read(tree))
        self._bound = Counter(name for tree in trees.values() for name in _bindings(tree))
        self._steps = [(step, _names_read(trees[id(step)])) for step in steps]
        self._flows: dict[str, NameFlow] = {}
        before = [trees[id(s)] for s in statements[: statements.index(steps[0])]]
        flows = [analyse_flow(tree.body) for tree in before]
        imported = {a.asname or a.name for t in before for n in walk(t) if isinstance(n, _IMPORTS) for a in n.names}
        self._before = {name: flow for flow in flows for name in flow.binds if self._bound[name] == 1}
        self._stable = (PREDEFINED_NAMES - _ACTING - self._bound.keys()) | (imported - self._bound.keys() - _ACTING)

    def find(self) -> list[_Definition]:
        """Return the definitions to move, in their order: each that another statement uses, and what these use."""
        inside = [(d, own) for step, own in self._steps for d in step.body.body if isinstance(d, _Definition)]
        defined = {name: (d, own) for d, own in inside if self._bound[name := _defined_name(d)] == 1}
        self._flows = {name: analyse_flow(_tree(d).body) for name, (d, _) in defined.items()}
        wanted = {name for name, (_, own) in defined.items() if self._readers[name] > (name in own)}
        waiting = [*wanted]
        while waiting:
            flow = self._flows[waiting.pop()]
            more = (flow.reads.keys() | flow.deferred_reads.keys()) & self._flows.keys() - wanted
            wanted |= more
            waiting += more
        found: list[_Definition] = []
        movable: set[str] = set()
        for name, (definition, _) in defined.items():
            if name in wanted and self._means_the_same(self._flows[name], movable):
                found.append(definition)
                movable.add(name)
        return found

    def _means_the_same(self, flow: NameFlow, moved: set[str]) -> bool:
        """Return whether a definition means the same before the first step.

        What runs there, such as decorators, bases, defaults and a class's own statements, may use only what is the same
        at both places and does nothing but compute.
        """
        return all(self._is_stable(name, moved, set()) for name in flow.reads)

    def _is_stable(self, name: str, moved: set[str], seen: set[str]) -> bool:
        if name in self._stable or name in seen:
            return True
        flow = self._before.get(name) or (self._flows[name] if name in moved else None)
        if flow is None:
            return False
        called = flow.deferred_reads if name in flow.functions else {}
        return all(self._is_stable(other, moved, seen | {name}) for other in called)


_IMPORTS = (ast.Import, ast.ImportFrom)

_ACTING = RESERVED_NAMES | {"random"}
"""Names whose use means something else, or something more, if it happens at every start of the plan."""


def _without(step: cst.If, definitions: list[_Definition]) -> cst.If:
    body = [s for s in step.body.body if s not in definitions]
    if not body:
        body = [cst.SimpleStatementLine([cst.Pass()])]
    return step.with_changes(body=step.body.with_changes(body=body))


def _tree(statement: cst.CSTNode) -> ast.Module:
    return ast.parse(cst.Module([]).code_for_node(statement))


def _names_read(tree: ast.Module) -> set[str]:
    return {n.id for n in walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _bindings(tree: ast.Module) -> list[str]:
    """Return the names that code binds, each as often as it defines or assigns it."""
    nodes = list(scope_nodes(tree.body))
    direct = [n.name for n in nodes if isinstance(n, _DEFINITIONS)]
    direct += [n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    return [*direct, *(bound_names(tree.body) - set(direct)), *outer_names(tree.body)]


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _is_lambda(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda)


_Import = TypeVar("_Import", cst.Import, cst.ImportFrom)


class UnusedImports(Codemod):
    """Removes names that may not be imported, if the plan never reads them.

    Annotations do not count as reading. An import that takes a name of the runtime stays, and is refused. One that is
    tried stays, and raises an error there.
    """

    rule = "unused-import"

    def __init__(self, module: cst.Module, facts: PlanFacts) -> None:
        super().__init__(module, facts)
        self._read = _names_in_code(facts.nodes)
        self._tried = {node.lineno for node in tried_imports(facts.nodes)}

    @staticmethod
    def may_apply(facts: PlanFacts) -> bool:
        """Return whether the plan imports anything."""
        return bool(find_imports(facts.nodes))

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> cst.Import | cst.RemovalSentinel:
        """Remove names from ``import a, b``."""
        return self._without_unused(original_node, updated_node, updated_node.names)

    def leave_ImportFrom(
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.ImportFrom | cst.RemovalSentinel:
        """Remove names from ``from a import b, c``."""
        names = () if isinstance(updated_node.names, cst.ImportStar) else updated_node.names
        return self._without_unused(original_node, updated_node, names)

    def _without_unused(
        self, original: _Import, updated: _Import, names: Sequence[cst.ImportAlias]
    ) -> _Import | cst.RemovalSentinel:
        if self.get_metadata(PositionProvider, original).start.line in self._tried:
            return updated
        kept: list[cst.ImportAlias] = [name for name in names if not self._is_unused(original, name)]
        if len(kept) == len(names) and names:
            return updated
        if not kept:
            self.note(original, original, "")
            return cst.RemoveFromParent()
        last = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        new = updated.with_changes(names=[*kept[:-1], last])
        self.note(original, original, new)
        return new

    def _is_unused(self, statement: cst.Import | cst.ImportFrom, name: cst.ImportAlias) -> bool:
        alias = name.evaluated_alias or name.evaluated_name.split(".")[0]
        own = not is_reserved(alias) and alias not in RESERVED_NAMES
        return own and alias not in self._read and _problem(statement, name) is not None


def _problem(statement: cst.Import | cst.ImportFrom, name: cst.ImportAlias) -> str | None:
    """Return why this import is not allowed, or None."""
    node = ast.parse(cst.Module([]).code_for_node(statement.with_changes(semicolon=cst.MaybeSentinel.DEFAULT))).body[0]
    assert isinstance(node, ast.Import | ast.ImportFrom), "an import stays one"
    return import_problem(node, ast.alias(name.evaluated_name, name.evaluated_alias))


def _names_in_code(nodes: list[ast.AST]) -> frozenset[str]:
    annotations = {
        id(n)
        for owner in nodes
        for a in (getattr(owner, "annotation", None), getattr(owner, "returns", None))
        if a is not None
        for n in walk(a)
    }
    return frozenset(n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in annotations)


_CODEMODS: tuple[type[Codemod], ...] = (
    *(SolutionName, EarlierSolutions, SolutionSignature),
    *(StepConditions, StepGuards, AssertedTuples),
    *(AskSpellings, ToolNames, AgentAliases, RuntimeNames, StaleReturn),
    *(UnusedImports, HelperFunctions),
)
"""The rules in their order. Those that add, remove or move lines come after the others as far as they can."""


cst.parse_module("")  # loads the parser now: the cage can load no modules


def mend(source: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the plan after all fixes as ``source``, and the ``fixes`` with rule, line, was and now.

    ``arguments``: ``names``, those of the agent's methods and attributes; ``aliases``, other names of its methods;
    ``kept``, the variables that a run before left, and ``set_before``, the names that its plan set.

    Raises: RejectedPlanError: the source is not Python. ValueError: an argument is missing.
    """
    names, aliases = arguments.get("names"), arguments.get("aliases")
    kept, set_before = arguments.get("kept", []), arguments.get("set_before", [])
    if not isinstance(names, list) or not isinstance(aliases, dict):
        raise ValueError("the analysis needs the arguments 'names', a list, and 'aliases', a dict")
    if not isinstance(kept, list) or not isinstance(set_before, list):
        raise ValueError("the arguments 'kept' and 'set_before' of the analysis are lists")
    parse_plan(source)
    api = AgentApi(tuple(AgentMethod(str(name), "()") for name in names), aliases=tuple(aliases.items()))
    mended, fixes = mend_plan(source, api, NamesBefore(frozenset(map(str, kept)), frozenset(map(str, set_before))))
    rows = [{"rule": f.rule, "line": f.line, "was": f.was, "now": f.now} for f in fixes]
    return {"source": mended, "fixes": rows}


def mend_plan(
    source: str,
    api: AgentApi,
    before: NamesBefore = NamesBefore(),  # noqa: B008  # frozen
) -> tuple[str, tuple[Fix, ...]]:
    """Return the plan after all fixes that apply, and the fixes by line. The plan must have passed ``parse_plan``."""
    module, facts = cst.parse_module(source), PlanFacts(source, api, before)
    fixes: list[Fix] = []
    for kind in _CODEMODS:
        if not kind.may_apply(facts):
            continue
        codemod = kind(module, facts)
        module = codemod.apply()
        fixes += codemod.fixes
        if len(fixes) > MAX_FIXES:
            return source, ()
        if codemod.fixes:
            facts = PlanFacts(module.code, api, before)
    return (module.code, tuple(sorted(fixes, key=lambda fix: fix.line))) if fixes else (source, ())
