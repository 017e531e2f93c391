"""Merges a reply that holds only steps into the plan before it. Layout and comments of both stay."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import libcst as cst
import msgspec

from codeplan.sandbox.analysis.codemods import guard_bound, solution_of, split_chain
from codeplan.sandbox.language.checking import parse_or_repair
from codeplan.sandbox.language.extraction import SOLUTION_HEADER, add_header, readings
from codeplan.sandbox.language.name_flow import analyse_flow, bound_names, parameter_names
from codeplan.sandbox.language.parsing import RejectedPlanError, has_no_effect, is_name, walk
from codeplan.sandbox.language.plan_outline import is_solution_call
from codeplan.types import Diagnostic

ACTING_NAMES = frozenset({"agent", "ask_llm"})
_EMPTY = cst.Module([])


class Statement(msgspec.Struct, frozen=True, eq=False):
    """A statement outside the steps. ``code`` is equal for equal syntax; layout and comments do not count.

    ``reads`` are the names that it reads when it runs, ``deferred`` those that the functions in it read when called.
    ``head`` is the first line of a loop, a condition or a context; None for other statements. ``is_idle`` is true for
    standalone texts, ``pass`` and calls of the plan itself.
    """

    node: cst.BaseStatement
    code: str
    names: frozenset[str]
    reads: frozenset[str]
    deferred: frozenset[str]
    head: str | None
    is_import: bool
    is_return: bool
    is_idle: bool

    @property
    def is_definition(self) -> bool:
        """Whether it defines a function or a class."""
        return isinstance(self.node, cst.FunctionDef | cst.ClassDef)

    @property
    def extends(self) -> bool:
        """Whether it needs an earlier value of a name that it binds, as ``places += ['desk 1']`` does."""
        return bool(self.names & self.reads)


def describe_statement(node: cst.BaseStatement) -> Statement:
    """Describe a statement as it stands."""
    body = ast.parse(_EMPTY.code_for_node(node)).body
    flow = analyse_flow(body)
    return Statement(
        node=node,
        code=" ".join(map(ast.dump, body)),
        names=bound_names(body),
        reads=frozenset(flow.reads),
        deferred=frozenset(flow.deferred_reads),
        head=_head(body[0]),
        is_import=all(isinstance(s, ast.Import | ast.ImportFrom) for s in body),
        is_return=isinstance(body[-1], ast.Return),
        is_idle=all(has_no_effect(s) or is_solution_call(s) for s in body),
    )


def with_layout(new: cst.BaseStatement, old: cst.BaseStatement) -> cst.BaseStatement:
    """Return ``new`` with the empty lines in front of ``old``, and with its comments unless ``new`` has its own."""
    own, before = _lines_before(new), _lines_before(old)
    if not any(line.comment for line in own):
        return new.with_changes(leading_lines=before)
    return new.with_changes(leading_lines=[*empty_start(before), *own[len(empty_start(own)) :]])


def with_space(new: cst.BaseStatement, old: cst.BaseStatement) -> cst.BaseStatement:
    """Return ``new`` with at least the empty lines in front of ``old``."""
    own = _lines_before(new)
    missing = empty_start(_lines_before(old))[len(empty_start(own)) :]
    return new.with_changes(leading_lines=[*missing, *own])


def empty_start(lines: Iterable[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """Return the lines before the first comment."""
    found: list[cst.EmptyLine] = []
    for line in lines:
        if line.comment is not None:
            break
        found.append(line)
    return found


def _lines_before(node: cst.BaseStatement) -> list[cst.EmptyLine]:
    return list(getattr(node, "leading_lines", ()))


def _head(statement: ast.stmt) -> str | None:
    match statement:
        case ast.For(target=target, iter=values):
            return f"for {ast.dump(target)} {ast.dump(values)}"
        case ast.While(test=test):
            return f"while {ast.dump(test)}"
        case ast.If(test=test):
            return f"if {ast.dump(test)}"
        case ast.Try() | ast.TryStar():
            return "try"
        case ast.With(items=items):
            return f"with {' '.join(map(ast.dump, items))}"
        case _:
            return None


class Part(msgspec.Struct, frozen=True, eq=False):
    """A step with its ``number``, or a statement outside the steps: one of the two is there."""

    node: cst.BaseStatement
    number: int | None = None
    statement: Statement | None = None


class PlanParts(msgspec.Struct, frozen=True, eq=False):
    """A plan with a function ``solution``: the statements around it, and the parts of its body."""

    module: cst.Module
    solution: cst.FunctionDef
    around: tuple[Statement, ...]
    body: tuple[Part, ...]

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the steps."""
        return frozenset(p.number for p in self.body if p.number is not None)

    @property
    def names(self) -> frozenset[str]:
        """The names that the code outside the steps binds."""
        every = [*self.around, *(p.statement for p in self.body if p.statement)]
        return frozenset(name for s in every for name in s.names)


def split_plan(module: cst.Module) -> PlanParts | None:
    """Take a plan apart; None if it has no ``solution`` with a body of several lines."""
    solution = solution_of(module)
    if solution is None or not isinstance(solution.body, cst.IndentedBlock):
        return None
    around = tuple(describe_statement(s) for s in _statements(module.body) if not is_solution(s))
    return PlanParts(module, solution, around, tuple(split_parts(solution.body.body)))


def split_parts(statements: Sequence[cst.BaseStatement | cst.BaseSmallStatement]) -> list[Part]:
    """Return the parts in their order; steps written as ``elif`` become parts of their own."""
    return [_part(s) for statement in _statements(statements) for s in split_chain(statement)]


def _part(node: cst.BaseStatement) -> Part:
    bound = guard_bound(node.test) if isinstance(node, cst.If) and node.orelse is None else None
    return Part(node, statement=describe_statement(node)) if bound is None else Part(node, number=bound)


def _statements(found: Iterable[cst.BaseStatement | cst.BaseSmallStatement]) -> list[cst.BaseStatement]:
    return [s for s in found if isinstance(s, cst.BaseStatement)]


def is_solution(statement: cst.CSTNode) -> bool:
    """Return whether a statement defines ``solution``."""
    return isinstance(statement, cst.FunctionDef) and statement.name.value == "solution"


class Redefinitions(msgspec.Struct, frozen=True):
    """The definitions in a reply: names that it sets, names whose values it only changes, and the heads of its
    loops.
    """

    fresh: frozenset[str]
    extended: frozenset[str]
    heads: frozenset[str]

    def replaces(self, old: Statement) -> bool:
        """Return whether the reply's code takes the place of a statement of the plan."""
        if old.head is not None:
            return old.head in self.heads
        covered = self.fresh | self.extended if old.extends else self.fresh
        return bool(old.names) and old.names <= covered


def find_redefinitions(given: Sequence[Statement]) -> Redefinitions:
    """Return what the statements of a reply define."""
    fresh: set[str] = set()
    extended: set[str] = set()
    for statement in given:
        if statement.head is None:
            needed = statement.names & statement.reads
            (fresh if needed <= fresh else extended).update(statement.names)
    heads = frozenset(s.head for s in given if s.head is not None)
    return Redefinitions(frozenset(fresh), frozenset(extended - fresh), heads)


class OutsideCode(msgspec.Struct, frozen=True):
    """The statements of a plan outside its steps, merged with those of a reply.

    ``groups`` has, for each statement of the plan, the statements that now take its place. ``new`` goes before the
    first step, ``behind`` directly after the step with that number, and ``ending`` at the plan's end.
    """

    groups: tuple[list[Statement], ...]
    new: list[Statement]
    behind: dict[int, list[Statement]]
    ending: list[Statement]


class Layout(msgspec.Struct, frozen=True):
    """A plan's statements outside the steps: the first ``around`` stand around ``solution``, those below ``first``
    before its first step.

    ``step_names`` are set by steps alone. ``index`` has the statements by the names that they set.
    """

    statements: tuple[Statement, ...]
    around: int
    first: int
    step_names: frozenset[str]
    index: dict[str, list[int]]

    @property
    def inside_names(self) -> frozenset[str]:
        """The names that are known in ``solution`` alone."""
        return frozenset(name for s in self.statements[self.around :] for name in s.names) | ACTING_NAMES


def place_statements(layout: Layout, given: Sequence[tuple[Statement, int | None]]) -> OutsideCode:
    """Place the statements of a reply, each with the number of the step before it.

    Definitions go to the place where the plan defines the name, or before the first step. Code that acts, or needs a
    name that a step sets, stays after its step.
    """
    redefined = find_redefinitions([s for s, _ in given])
    known = {s.code for s in layout.statements if not s.names or s.is_import}
    fronts: dict[int, list[Statement]] = {}
    backs: dict[int, list[Statement]] = {}
    found = OutsideCode((), [], {}, [])
    place, inside = found.new, layout.inside_names
    for statement, number in given:
        home = _find_home(statement, layout, redefined, inside)
        if statement.is_idle or statement.code in known:
            continue
        if statement.is_return:
            found.ending.append(statement)
        elif home is not None:
            place = (backs if home[1] else fronts).setdefault(home[0], [])
            place.append(statement)
        elif number is not None and not _is_free(statement, layout):
            found.behind.setdefault(number, []).append(statement)
        else:
            place = found.new if statement.names else place
            place.append(statement)
    groups: list[list[Statement]] = []
    for index, old in enumerate(layout.statements):
        if redefined.replaces(old):
            groups.append([*_in_layout_of(old, fronts.get(index, [])), *backs.get(index, [])])
        else:
            groups.append([*fronts.get(index, []), old, *backs.get(index, [])])
    return msgspec.structs.replace(found, groups=tuple(groups))


def _is_free(statement: Statement, layout: Layout) -> bool:
    """Return whether a statement is a definition that means the same before the first step."""
    if statement.is_import:
        return True
    bound_to_place = statement.reads & (ACTING_NAMES | layout.step_names)
    return bool(statement.names) and statement.head is None and not bound_to_place


def _in_layout_of(old: Statement, statements: list[Statement]) -> list[Statement]:
    if not statements:
        return []
    first = statements[0]
    return [msgspec.structs.replace(first, node=with_layout(first.node, old.node)), *statements[1:]]


def _find_home(
    new: Statement, layout: Layout, redefined: Redefinitions, inside: frozenset[str]
) -> tuple[int, bool] | None:
    """Return the statement of the plan at which ``new`` belongs, and whether that is behind it; None without one.

    The ``inside`` names are not known outside ``solution``.
    """
    start = layout.around if new.reads & inside else 0
    end = layout.first if new.is_definition else len(layout.statements)
    near = sorted({i for name in new.names for i in layout.index.get(name, ()) if start <= i < end})
    related = [i for i in near if layout.statements[i].head == new.head]
    replaced = [i for i in related if redefined.replaces(layout.statements[i])]
    if replaced:
        return replaced[0], False
    return (related[-1], True) if related else None


def index_by_name(statements: Sequence[Statement]) -> dict[str, list[int]]:
    """Return the places of the statements by the names that they set."""
    found: dict[str, list[int]] = {}
    for place, statement in enumerate(statements):
        for name in statement.names:
            found.setdefault(name, []).append(place)
    return found


def order_by_need(statements: Sequence[Statement]) -> list[Statement]:
    """Return the statements in their order, but each after those that set what it reads when it runs."""
    binders: dict[str, list[Statement]] = {}
    for statement in statements:
        for name in statement.names:
            binders.setdefault(name, []).append(statement)
    done: list[Statement] = []
    started: set[int] = set()
    bound: set[str] = set()

    def emit(statement: Statement) -> None:
        if id(statement) in started:
            return
        started.add(id(statement))
        for name in sorted(_needs(statement, binders)):
            for binder in [] if name in bound else binders[name]:
                emit(binder)
        done.append(statement)
        bound.update(statement.names)

    for statement in statements:
        emit(statement)
    return done


def _needs(statement: Statement, binders: dict[str, list[Statement]]) -> set[str]:
    """Return the names that must be set before a statement runs, those in the functions that it calls included."""
    found: set[str] = set()
    waiting = [*statement.reads]
    while waiting:
        name = waiting.pop()
        if name not in found and name in binders:
            found.add(name)
            waiting += [other for b in binders[name] if b.is_definition for other in b.deferred]
    return found


_NUMBERED_GUARD = re.compile(r"[ \t]*+(?:el)?if\b[^\n]*?\bstart_from\s*<=\s*(\d{1,7})\b")
_DEFINITION = re.compile(r"[ \t]*+(?:(?:async[ \t]++)?+(?:def|class)[ \t]++(\w++)|(\w++)[ \t]*+(?::[^=\n]*+)?=(?!=))")


def leave_out_parts(source: str, numbers: Collection[int], names: Collection[str]) -> str:
    """Return the plan without the bodies of these steps and without the definitions of these names.

    The parts are recognised by their first lines and their indentation; nothing is parsed.
    """
    lines = source.split("\n")
    margin = next((_indentation(line) for line in lines if _NUMBERED_GUARD.match(line)), 0)
    kept: list[str] = []
    is_left_out = False
    for line in lines:
        if line.strip() and _indentation(line) <= margin and line.lstrip()[0] not in ")]}":
            empty = _empty_part(line, numbers, names)
            is_left_out = empty is not None
            while is_left_out and kept and kept[-1].lstrip().startswith("@"):
                kept.pop()  # a decorator of what is left out
            kept += [line] if empty is None else [f"{line[: _indentation(line)]}{empty}"]
        elif not is_left_out or not line.strip():
            kept.append(line)
    return "\n".join(kept)


def _empty_part(line: str, numbers: Collection[int], names: Collection[str]) -> str | None:
    """Return a statement of one line in place of the part that begins here; None if the part stays."""
    guard = _NUMBERED_GUARD.match(line)
    if guard:
        return f"if start_from <= {guard[1]}: pass" if int(guard[1]) in numbers else None
    found = _DEFINITION.match(line)
    name = (found[1] or found[2]) if found else None
    return f"{name} = None" if name in names else None


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


_ANY_GUARD = re.compile(r"[ \t]*+(?:el)?if\b[^\n]*\bstart_from\b")


def align_parts(source: str) -> str:
    """Return the source with each step, and each run of lines between two steps, moved to the left margin.

    A step is its guard and the deeper lines after it. Nothing is parsed: lines of a text in triple quotes may move.
    """
    aligned: list[str] = []
    part: list[str] = []
    for line in source.split("\n"):
        in_step = bool(part) and _starts_step(part[0])
        if _starts_step(line) or (in_step and _is_code(line) and _indent(line) <= _indent(part[0])):
            aligned += _dedent(part)
            part = []
        part.append(line)
    return "\n".join([*aligned, *_dedent(part)])


def _dedent(part: list[str]) -> list[str]:
    margin = min((_indent(line) for line in part if _is_code(line)), default=0)
    return [line[min(margin, _indent(line)) :] for line in part]


def _starts_step(line: str) -> bool:
    return _ANY_GUARD.match(line) is not None


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


_Function = ast.FunctionDef | ast.AsyncFunctionDef


class StepReply(msgspec.Struct, frozen=True, eq=False):
    """The parts of a reply that changes some steps of a plan, in their order."""

    parts: tuple[Part, ...]

    @property
    def steps(self) -> dict[int, cst.BaseStatement]:
        """The steps by number. Of two with one number the last counts."""
        return {p.number: p.node for p in self.parts if p.number is not None}


def read_reply(source: str, plan: PlanParts) -> StepReply | None:
    """Read a reply to a prompt that showed ``plan``; None if it is a whole plan, or none at all.

    A reply without ``def solution`` holds steps, if it has some, or if it redefines a name that the plan defines
    outside its steps. One with ``def solution`` does so only if it leaves out the first steps of the plan.

    Raises: RejectedPlanError: the reply is not Python.
    """
    text = _readable_source(source, plan)
    module = _with_first_comments(cst.parse_module(text))
    whole = split_plan(module)
    if whole is not None:
        parts = [*(Part(s.node, statement=s) for s in whole.around), *whole.body]
        return StepReply(tuple(parts)) if _omits_first_steps(whole, plan) else None
    if _is_plan_of_other_name(ast.parse(text), plan):
        return None
    parts = split_parts(module.body)
    return StepReply(tuple(parts)) if _changes_plan(parts, plan) else None


def _readable_source(source: str, plan: PlanParts) -> str:
    """Return the source as it is, or with its steps aligned if steps are hidden in it otherwise."""
    text, tree = parse_steps(source)
    if _solutions(tree) or not _hidden_guards(tree) or _is_plan_of_other_name(tree, plan):
        return text
    try:
        aligned, tree = parse_or_repair(align_parts(source))
    except RejectedPlanError:
        return text
    return text if _hidden_guards(tree) else aligned


def parse_steps(source: str) -> tuple[str, ast.Module]:
    """Parse a reply, with its steps aligned if it is not Python otherwise. Raises RejectedPlanError."""
    try:
        return parse_or_repair(source)
    except RejectedPlanError as error:
        refusal = error
    try:
        text, tree = parse_or_repair(align_parts(source))
    except RejectedPlanError:
        raise refusal from None
    if _solutions(tree):
        raise refusal
    return text, tree


def _omits_first_steps(reply: PlanParts, plan: PlanParts) -> bool:
    first = next((p.number for p in reply.body if p.number is not None), 0)
    return first > 1 and plan.numbers.issuperset(range(1, first))


def _changes_plan(parts: list[Part], plan: PlanParts) -> bool:
    if any(p.number is not None for p in parts):
        return True
    statements = [p.statement for p in parts if p.statement and not p.statement.is_idle]
    definitions = all(s.is_import or (s.names and s.head is None) for s in statements)
    return definitions and any(s.names & plan.names for s in statements)


def _is_plan_of_other_name(tree: ast.Module, plan: PlanParts) -> bool:
    """Return whether a function that the plan does not have contains steps."""
    functions = [s for s in tree.body if isinstance(s, _Function) and s.name not in plan.names]
    guarded = any(_is_guard(n) for f in functions for n in walk(f))
    return guarded and any(parameter_names(f) & {"agent", "start_from"} for f in functions)


def _hidden_guards(tree: ast.Module) -> bool:
    """Return whether a guard of a step stands inside something else than a chain of steps."""
    found = [n for n in walk(tree) if _is_guard(n)]
    outer: list[ast.stmt] = []
    waiting = list(tree.body)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.If) and _is_guard(statement):
            outer.append(statement)
            waiting += statement.orelse
    return len(outer) < len(found)


def _is_guard(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and any(is_name(n, "start_from") for n in walk(node.test))


def _solutions(tree: ast.Module) -> bool:
    return any(isinstance(s, _Function) and s.name == "solution" for s in tree.body)


def _with_first_comments(module: cst.Module) -> cst.Module:
    """Return the module with the comments at its head in front of its first statement."""
    if not module.body or not module.header:
        return module
    first = module.body[0]
    lines = [*module.header, *getattr(first, "leading_lines", ())]
    return module.with_changes(header=[], body=[first.with_changes(leading_lines=lines), *module.body[1:]])


def choose_reading(source: str, arguments: dict[str, Any]) -> int:
    """Return the number of the first of the ``readings`` of a reply that is Python; -1 if none is.

    One word of prose, or two with a comma between them, is Python as well, but does not count.
    """
    for number, code in enumerate(readings(source)):
        try:
            tree = parse_or_repair(add_header(code))[1]
        except RejectedPlanError:
            continue
        if not any(map(_is_prose, tree.body)):
            return number
    return -1


def _is_prose(statement: ast.stmt) -> bool:
    """Return whether a statement outside all functions computes and does nothing, as words do."""
    match statement:
        case ast.Expr(value=ast.Constant() | ast.Call() | ast.Await()):
            return False
        case ast.Expr() | ast.AnnAssign(value=None):
            return True
        case _:
            return False


_GUARD_LINE = re.compile(r"^[ \t]*(?:el)?if\b[^\n]*\bstart_from\b", re.MULTILINE)


def merge_reply(source: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Return the plan with the reply's steps as ``source``, and their numbers as ``steps``; None for a whole plan.

    ``source`` is the reply's code. ``arguments``: ``before``, the plan that it changes. Steps with a known number
    replace that step, the others are added; so it is with helper functions and constants by their names.

    Raises: RejectedPlanError: the reply is not Python, or holds steps of a plan that is not. ValueError: ``before`` is
    no text.
    """
    before = arguments.get("before")
    if not isinstance(before, str):
        raise ValueError("the analysis needs the argument 'before', the text of a plan")
    text = _readable_plan(before, source)
    if text is None:
        return None
    plan = split_plan(cst.parse_module(text))
    if plan is None or not plan.numbers:
        return None
    reply = read_reply(source, plan)
    if reply is None:
        return None
    return {"source": merge_parts(plan, reply).code, "steps": sorted(reply.steps)}


def merge_parts(plan: PlanParts, reply: StepReply) -> cst.Module:
    """Return the plan's module with the parts of the reply."""
    first = next(i for i, p in enumerate(plan.body) if p.number is not None)
    inside = [p.statement for p in plan.body if p.statement]
    before = len(plan.around) + sum(p.statement is not None for p in plan.body[:first])
    old = (*plan.around, *inside)
    layout = Layout(old, len(plan.around), before, _step_names(plan, reply), index_by_name(old))
    outside = place_statements(layout, _statements_with_numbers(reply))
    groups = iter(outside.groups[before:])
    parts = [(p, next(groups) if p.statement else []) for p in plan.body[first:]]
    lead = [s for group in outside.groups[len(plan.around) : before] for s in group]
    imports = [s for s in outside.new if s.is_import]
    lead = order_by_need([*lead, *(s for s in outside.new if not s.is_import)])
    body = [*_nodes(lead), *_merge_steps(parts, reply, outside)]
    around = [_nodes(group) for group in outside.groups[: len(plan.around)]]
    return _rebuild_module(plan, [*_nodes(imports)], around, body)


def _statements_with_numbers(reply: StepReply) -> list[tuple[Statement, int | None]]:
    """Return the reply's statements outside its steps, each with the number of the step before it."""
    found: list[tuple[Statement, int | None]] = []
    number: int | None = None
    for part in reply.parts:
        number = part.number if part.number is not None else number
        if part.statement:
            found.append((part.statement, number))
    return found


def _step_names(plan: PlanParts, reply: StepReply) -> frozenset[str]:
    """Return the names that only steps set."""
    parts = [*plan.body, *reply.parts]
    in_steps = {n for p in parts if p.number is not None for n in describe_statement(p.node).names}
    return frozenset(in_steps - plan.names - {n for p in reply.parts if p.statement for n in p.statement.names})


def _merge_steps(
    parts: Sequence[tuple[Part, list[Statement]]], reply: StepReply, outside: OutsideCode
) -> list[cst.BaseStatement]:
    """Return the plan's body from the first step on, with the steps of the reply. Statements come with their group.

    Code that binds no name belongs to the step before it and is replaced together with that step, except ``return``.
    """
    waiting = reply.steps
    old_steps = [p for p, _ in parts if p.number is not None]
    done: list[cst.BaseStatement] = []

    def add(numbers: Iterable[int]) -> None:
        for number in sorted(numbers):
            done.extend([with_space(waiting.pop(number), old_steps[-1].node), *_behind(outside, number)])

    is_replaced = False
    for part, group in parts:
        if part.number is not None:
            add([n for n in waiting if n < part.number])
            is_replaced = part.number in reply.steps
            if part.number in waiting:
                done += [with_layout(waiting.pop(part.number), part.node), *_behind(outside, part.number)]
            elif not is_replaced:
                done.append(part.node)
            if part is old_steps[-1]:
                add([*waiting])
        elif part.statement and part.statement.is_return and outside.ending:
            pass
        elif not is_replaced or (part.statement and (part.statement.names or part.statement.is_return)):
            done += _nodes(group)
    return [*done, *_nodes(outside.ending)]


def _behind(outside: OutsideCode, number: int) -> list[cst.BaseStatement]:
    return _nodes(outside.behind.get(number, ()))


def _nodes(statements: Iterable[Statement]) -> list[cst.BaseStatement]:
    return [s.node for s in statements]


def _rebuild_module(
    plan: PlanParts,
    imports: Sequence[cst.BaseStatement],
    around: Sequence[list[cst.BaseStatement]],
    body: Sequence[cst.BaseStatement],
) -> cst.Module:
    """Return the plan's module with this body of ``solution``, and these statements at the places of those around."""
    solution = plan.solution.with_changes(body=plan.solution.body.with_changes(body=body))
    groups = iter(around)
    statements: list[cst.BaseStatement] = [*imports]
    for statement in plan.module.body:
        if statement is plan.solution:
            statements.append(solution)
        elif not is_solution(statement):
            statements += next(groups)
    return plan.module.with_changes(body=statements)


def _readable_plan(before: str, reply: str) -> str | None:
    """Return the plan before as Python, if need be without the parts that the reply replaces.

    None if the reply has all of its steps, and so is the whole plan.
    """
    try:
        return parse_or_repair(before)[0]
    except RejectedPlanError as error:
        refusal = error
    parts = split_parts(cst.parse_module(parse_steps(reply)[0]).body)
    numbers = {p.number for p in parts if p.number is not None}
    names = {name for p in parts if p.statement for name in p.statement.names}
    try:
        return parse_or_repair(leave_out_parts(before, numbers, names))[0]
    except RejectedPlanError:
        if len(numbers) >= max(1, len(_GUARD_LINE.findall(before))):
            return None
    raise _no_plan_before(refusal) from None


def _no_plan_before(error: RejectedPlanError) -> RejectedPlanError:
    message = (
        f"the reply holds only steps, but the plan that they belong to cannot be read: {error.diagnostics[0].message}; "
        f"write the whole plan, from `{SOLUTION_HEADER}` on"
    )
    return RejectedPlanError((Diagnostic(0, 0, "steps-alone", message),))
