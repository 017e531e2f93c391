"""Checks a plan before it runs and reports everything that is wrong at once.

The order is a safety measure: first the text is capped, then Python parses it, then the tree is capped, then libcst
parses it. Hostile text may still attack the parsers, so this runs in the worker, never in the host.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property, lru_cache
from typing import Final, NamedTuple, TypeAlias

from codeplan.sandbox.language.compilation import Program, build_program
from codeplan.sandbox.language.digest import step_digests, step_title
from codeplan.sandbox.language.extraction import SOLUTION_HEADER, holds_code
from codeplan.sandbox.language.fstring_repair import expand_indentation, repair_fstrings
from codeplan.sandbox.language.guard_insertion import ImportBinding, ImportStatement, find_imports, import_bindings
from codeplan.sandbox.language.layout_tree import parse_layout
from codeplan.sandbox.language.name_flow import NameFlow, analyse_flow
from codeplan.sandbox.language.parsing import DiagnosticCollector, RejectedPlanError, is_name, parse_plan, walk
from codeplan.sandbox.language.plan_outline import PlanOutline, PlanPart, find_final_replan, guard_number, outline_plan
from codeplan.sandbox.protocol import frames
from codeplan.sandbox.protocol.forms import FORM_USAGE
from codeplan.sandbox.protocol.frames import PlanRow, diagnostic_rows
from codeplan.sandbox.protocol.limits import MAX_CODE_BYTES, MAX_NAME_CHARS, MAX_OUTLINE_BYTES
from codeplan.sandbox.runtime.module_names import ALLOWED_MODULES, NEWER_MEMBERS, PREDEFINED_MODULES, missing_member
from codeplan.sandbox.runtime.names import (
    ASK_USER,
    ENDING_NAMES,
    PREDEFINED_NAMES,
    RUNTIME_NAMES,
    is_readable,
    is_reserved,
    suggest_replacement,
)
from codeplan.types import AgentApi, AgentMethod, Diagnostic, Plan, Rejected, Step

STEP_GUARD = "if start_from <= {k}:"

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def check_structure(tree: ast.Module, lines: list[str], problems: DiagnosticCollector) -> None:
    """Check the structure of a whole plan; ``lines`` are the source's."""
    solutions = [s for s in tree.body if isinstance(s, _Function) and s.name == "solution"]
    if not solutions:
        message = f"there is no function `solution`; put the plan into `{SOLUTION_HEADER}`"
        problems.add(None, "solution-missing", message)
        return
    for extra in solutions[:-1]:
        problems.add(extra, "solution-twice", "`solution` is defined more than once; keep one definition")
    solution = solutions[-1]
    _check_signature(solution, problems)
    guards = [s for s in solution.body if isinstance(s, ast.If) and _mentions_start(s.test)]
    within = {s: walk(*(s.body if isinstance(s, ast.If) and s in guards else [s])) for s in solution.body}
    for s in solution.body:
        _check_nested_guards(s, within[s], problems)
    steps = [(g, k) for g in guards if (k := _check_guard(g, lines, problems)) is not None]
    _check_order(steps, problems)


def _check_signature(solution: _Function, problems: DiagnosticCollector) -> None:
    a = solution.args
    names = [p.arg for p in (*a.posonlyargs, *a.args)]
    plain = not a.kwonlyargs and a.vararg is None and a.kwarg is None
    if names != ["agent", "start_from"] or not plain:
        message = f"the signature must be `{SOLUTION_HEADER}`; set other values in the body"
        problems.add(solution, "solution-signature", message)


def _mentions_start(node: ast.AST) -> bool:
    return any(is_name(n, "start_from") for n in walk(node))


def _check_guard(guard: ast.If, lines: list[str], problems: DiagnosticCollector) -> int | None:
    """Return the step's number, or report a malformed guard and return None."""
    k = guard_number(guard.test)
    if k is None:
        wanted = STEP_GUARD.format(k="k")
        message = f"start each step with `{wanted}`, where k is a literal number; other conditions are not allowed"
        problems.add(guard.test, "step-guard", message)
    elif guard.orelse:
        wanted = STEP_GUARD.format(k=k)
        message = f"a step has no elif or else; write `{wanted}` alone, and the next step as an if of its own"
        problems.add_at(_else_line(guard, lines), guard.col_offset + 1, "step-guard", message)
        return None
    return k


def _else_line(guard: ast.If, lines: list[str]) -> int:
    """Return the line of ``else`` or ``elif``; the syntax tree does not hold that of ``else``."""
    first = guard.orelse[0].lineno
    between = range(guard.body[-1].end_lineno or first, first)
    return next((n + 1 for n in between if lines[n].lstrip().startswith("el")), first)


def _check_nested_guards(statement: ast.stmt, within: list[ast.AST], problems: DiagnosticCollector) -> None:
    for node in within:
        if isinstance(node, ast.If) and node is not statement and _mentions_start(node.test):
            wanted = STEP_GUARD.format(k="k")
            message = f"steps stand side by side in the body of solution; move this `{wanted}` out to that level"
            problems.add(node, "step-guard", message)


def _check_order(steps: list[tuple[ast.If, int]], problems: DiagnosticCollector) -> None:
    for i, (guard, k) in enumerate(steps, 1):
        if k != i:
            wanted = STEP_GUARD.format(k=i)
            message = f"steps are numbered 1, 2, 3 … in their order; this one is number {i}: write `{wanted}`"
            problems.add(guard, "step-order", message)
            return


_UNWRITABLE: Final = "the agent's attributes cannot be written; keep the value in a variable"

_MAX_SHOWN: Final = 80  # characters of a wrong value in a message


def check_agent_calls(nodes: list[ast.AST], api: AgentApi, problems: DiagnosticCollector) -> None:
    """Check every ``agent.name`` and ``agent.name(…)`` among a plan's nodes."""
    methods = {m.name: m for m in api.methods}
    attributes = {a.name for a in api.attributes}
    known = methods.keys() | attributes
    for node in nodes:
        if isinstance(node, ast.Attribute) and is_name(node.value, "agent"):
            if not isinstance(node.ctx, ast.Load):
                problems.add(node, "agent-method", _UNWRITABLE)
            elif node.attr not in known and is_readable(node.attr):
                _reject_unknown_name(node, api, problems)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("setattr", "delattr") and node.args and is_name(node.args[0], "agent"):
                problems.add(node, "agent-method", _UNWRITABLE)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_name(node.func.value, "agent"):
            name = node.func.attr
            if name in methods:
                _check_arguments(node, methods[name], problems)
            elif name in attributes:
                message = f"`agent.{name}` is a value, not a method; write it without parentheses"
                problems.add(node, "agent-arguments", message)


_FORM_PLACES: Final = {"ask_llm": 2, "ask": 2, ASK_USER: 1}


def check_module_members(
    nodes: list[ast.AST], bindings: Iterable[ImportBinding], problems: DiagnosticCollector
) -> None:
    """Refuse what a module lacks before anything runs. A name that is also bound otherwise may be anything, and a
    member that only a newer Python has may stand behind a test of the version.
    """
    whole = {b.name: ".".join(filter(None, (b.module, b.member))) for b in bindings}
    modules = {name: name for name in PREDEFINED_MODULES}
    modules |= {name: module for name, module in whole.items() if module in ALLOWED_MODULES}
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    bound |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    modules = {name: module for name, module in modules.items() if name not in bound}
    for node in nodes:
        module = _module_of(node.value, modules) if isinstance(node, ast.Attribute) else None
        if (
            isinstance(node, ast.Attribute)
            and module
            and node.attr not in ALLOWED_MODULES[module]
            and node.attr not in NEWER_MEMBERS.get(module, ())
        ):
            problems.add(node, "import", f"`{module}` {missing_member(module, node.attr)}")


def _module_of(node: ast.expr, modules: dict[str, str]) -> str | None:
    """The module that an expression such as ``urllib.parse`` stands for; None if it is none."""
    match node:
        case ast.Name(id=name):
            return modules.get(name)
        case ast.Attribute(value=ast.Name(id=name), attr=part):
            whole = f"{modules.get(name)}.{part}"
            return whole if whole in ALLOWED_MODULES else None
    return None


def check_forms(nodes: list[ast.AST], problems: DiagnosticCollector) -> None:
    """Check the form of each answer that is written where model or user are asked, and cannot be one."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FORM_PLACES:
            by_place = node.args[_FORM_PLACES[node.func.id] :]
            given = next((k.value for k in node.keywords if k.arg == "form"), by_place[0] if by_place else None)
            if given is not None and _is_no_form(given):
                problems.add(given, "ask-form", FORM_USAGE)


def _is_no_form(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=None) | ast.List(elts=[_]):
            return False
        case ast.Dict(keys=keys):
            return not keys or any(isinstance(key, ast.Constant) and type(key.value) is not str for key in keys)
        case ast.Name(id=name):
            return name in ("dict", "list", "tuple", "set")
        case _:
            return isinstance(node, ast.Constant | ast.JoinedStr | ast.List | ast.Tuple | ast.Set)


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
    types = {p.name: p.type for p in method.parameters if p.type}
    for name, given in arguments.items():
        if not isinstance(given, ast.expr):
            continue
        allowed, value = choices.get(name), constant_of(given)
        if allowed and value and value[0] not in allowed:
            *others, last = [repr(v) for v in allowed]
            text = f"{', '.join(others)} or {last}" if others else last
            problems.add(given, "agent-arguments", _wrong_value(method, name, text, repr(value[0])))
        elif not allowed and not may_fit(given, kind := types.get(name, "")):
            text = f"of the type {kind}"
            problems.add(given, "agent-arguments", _wrong_value(method, name, text, ast.unparse(given)))


def _wrong_value(method: AgentMethod, name: str, wanted: str, given: str) -> str:
    shown = given if len(given) <= _MAX_SHOWN else given[: _MAX_SHOWN - 1] + "…"
    return f"`{name}` of `agent.{method.name}` must be {wanted}, not {shown}"


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
            own = constant_of(default) if default else None
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
            values = [value for element in elements for value in constant_of(element) or ()]
            return values if len(values) == len(elements) else []
        case _:
            return []


class VariablesBefore(NamedTuple):
    """The names of the variables of the run before. The next run starts with them, unless it ``starts_over``."""

    names: frozenset[str] = frozenset()
    starts_over: bool = False


NO_RUN_BEFORE: Final = VariablesBefore()


class PlanNames:
    """The names of one plan by part.

    ``flows`` belong to the outline's parts, in their order; ``imported`` are the plan's import statements. Steps, and
    the code after the last one, may read the variables of the run ``before`` that the next run starts with. ``more``
    are names that plans have over this agent alone.
    """

    def __init__(
        self,
        imported: list[ImportStatement],
        outline: PlanOutline,
        flows: list[NameFlow],
        before: VariablesBefore,
        more: frozenset[str] = frozenset(),
    ) -> None:
        self._parts = list(zip(outline.parts, flows, strict=True))
        self._given = PREDEFINED_NAMES | more | _imported_names(imported)
        self._outside = frozenset().union(*(f.binds for p, f in self._parts if p.step is None))
        self._anywhere = frozenset().union(*(f.binds for _, f in self._parts))
        self._reach = _names_read_by_functions(self._parts)
        known = before.names - self._given - self._outside
        self._kept, self._lost = (frozenset(), known) if before.starts_over else (known, frozenset())
        self._postponed = any(isinstance(s, ast.ImportFrom) and s.module == "__future__" for s in imported)
        self._last_step_line = max((p.node.lineno for p in outline.steps), default=sys.maxsize)

    @property
    def provides(self) -> tuple[str, ...]:
        """The names that code outside the steps binds."""
        return tuple(sorted(self._outside))

    @property
    def needed_at_end(self) -> tuple[str, ...]:
        """The names that the code after the last step may read before it sets them."""
        parts = ((p, f) for p, f in self._parts if p.step is None and self._may_read_kept(p))
        return tuple(sorted({name for p, f in parts for name in self.needs(p, f)}))

    @property
    def kept(self) -> tuple[str, ...]:
        """The names that are read before anything in the plan binds them: variables of the run before."""
        return tuple(sorted({name for p, f in self._parts for name in self._kept_names(p, f)}))

    def needs(self, part: PlanPart, f: NameFlow) -> tuple[str, ...]:
        """Return the names that a part may read before it sets them.

        They come from outside the steps, from earlier steps, or from the run before. Others are left out: no checkpoint
        can hold them.
        """
        read = f.read_before_set.keys() | self._deferred_reads(f)
        return tuple(sorted((read & self._bound_before(part) - RUNTIME_NAMES) | self._kept_names(part, f)))

    def _bound_before(self, part: PlanPart) -> frozenset[str]:
        earlier = (g.binds for p, g in self._parts if p.step is not None and p.node.lineno < part.node.lineno)
        return self._outside.union(*earlier)

    def _deferred_reads(self, f: NameFlow) -> set[str]:
        """Return the names that the functions defined or used by a part may read before the part sets them."""
        later = {n for n in f.deferred_reads if n not in f.binds}
        called = [self._reach[name] for name in f.reads.keys() | f.deferred_reads.keys() if name in self._reach]
        return later.union(*{id(names): names for names in called}.values()) - f.sets

    def _kept_names(self, part: PlanPart, f: NameFlow) -> frozenset[str]:
        """Return the variables of the run before that a part reads: nothing before or in it binds them.

        A function may read a name that is bound later, so a name counts here only if nothing binds it.
        """
        if not self._kept or not self._may_read_kept(part):
            return frozenset()
        read = f.reads.keys() | (self._deferred_reads(f) - self._anywhere)
        return (self._kept & read) - f.binds - self._bound_before(part)

    def _may_read_kept(self, part: PlanPart) -> bool:
        """Return whether a part is a step or follows the last one. Other code runs at every start."""
        return part.step is not None or part.node.lineno > self._last_step_line

    def check(self, problems: DiagnosticCollector) -> None:
        """Report names that are never bound, and names that are read before they are set or after they are lost."""
        before: set[str] = set(self._outside)
        for part, f in self._parts:
            for name, node in f.reads.items():
                if name not in f.binds and not is_reserved(name):
                    self._check_read(name, node, part, before, problems)
            for name, node in f.deferred_reads.items():
                if (
                    name not in self._anywhere | self._given | self._kept
                    and not is_reserved(name)
                    and not self._is_expected(node)
                ):
                    problems.add(node, "name-undefined", self._undefined_message(name))
            before |= f.binds

    def _check_read(
        self, name: str, node: ast.AST, part: PlanPart, before: set[str], problems: DiagnosticCollector
    ) -> None:
        if name in before:
            home = self._defining_step(name)
            if home is not None and part.step != home:
                one, many = ("class", "classes") if self._is_class(name) else ("function", "functions")
                message = (
                    f"the {one} `{name}` is defined in step {home} and used outside of it, but {many} are not "
                    f"saved for a resumption; move its definition above the first step"
                )
                problems.add(node, "name-unset", message)
        elif name in self._given or (name in self._kept and self._may_read_kept(part)):
            return
        elif name in self._anywhere:
            step = next(p.step for p, f in self._parts if name in f.binds)
            why = f"{self._why_unset(name)}; " if name in self._lost else ""
            message = (
                f"`{name}` is read here, but first set in step {step}; {why}set it in this step or above the first"
            )
            problems.add(node, "name-unset", message)
        elif not self._is_expected(node):
            problems.add(node, "name-undefined", self._undefined_message(name))

    def _is_expected(self, node: ast.AST) -> bool:
        """Return whether the plan catches the NameError of this read, or nothing reads the annotation that it is in."""
        if self._postponed and node in self._annotations:
            return True
        return any(node.lineno in lines for lines in self._expected_lines)  # type: ignore[attr-defined]

    @cached_property
    def _annotations(self) -> set[ast.AST]:
        fields = [n for part, _ in self._parts for s in part.body for n in ast.walk(s) if isinstance(n, ast.AnnAssign)]
        return {n for field in fields for n in ast.walk(field.annotation)}

    @cached_property
    def _expected_lines(self) -> list[range]:
        tries = [n for part, _ in self._parts for s in part.body for n in ast.walk(s) if isinstance(n, ast.Try)]
        return [
            range(t.body[0].lineno, (t.body[-1].end_lineno or t.body[-1].lineno) + 1)
            for t in tries
            if any(is_name(n, "NameError") for h in t.handlers if h.type for n in ast.walk(h.type))
        ]

    def _defining_step(self, name: str) -> int | None:
        """Return the only step that binds this name, if it binds it to a function; otherwise None."""
        homes = [(p.step, f) for p, f in self._parts if name in f.binds]
        step, f = homes[0]
        return step if len(homes) == 1 and name in f.functions else None

    def _is_class(self, name: str) -> bool:
        return any(name in f.classes for _, f in self._parts)

    def _undefined_message(self, name: str) -> str:
        if name in self._lost:
            return f"`{name}` is not defined: {self._why_unset(name)}; set it before it is read"
        if name in self._kept:
            return (
                f"`{name}` is kept from the run before, but code before a step runs at every start; read it in a step"
            )
        hint = suggest_replacement(name)
        if hint is None:
            near = difflib.get_close_matches(name, sorted(self._anywhere | self._given | self._kept), n=1)
            hint = f"did you mean `{near[0]}`? Otherwise set it first" if near else "set it before it is read"
        return f"`{name}` is not defined; {hint}"

    def _why_unset(self, name: str) -> str:
        return f"the next run starts at step 1 without variables, also without the `{name}` of the run before"


def _names_read_by_functions(parts: list[tuple[PlanPart, NameFlow]]) -> dict[str, frozenset[str]]:
    """Return, for each function outside the steps, the names that a call may read, also indirectly."""
    homes = {name: f for part, f in parts if part.step is None for name in f.functions}
    reached = {id(f): _names_reached_from(f, homes) for f in homes.values()}  # the functions of a part share one set
    return {name: reached[id(f)] for name, f in homes.items()}


def _names_reached_from(start: NameFlow, homes: dict[str, NameFlow]) -> frozenset[str]:
    """Return the names that the functions of a part read, and those of the functions that they name, and so on."""
    found = set(start.deferred_reads)
    waiting, seen = [*found], {id(start)}
    while waiting:
        home = homes.get(waiting.pop())
        if home is not None and id(home) not in seen:
            seen.add(id(home))
            waiting += home.deferred_reads.keys() - found
            found |= home.deferred_reads.keys()
    return frozenset(found)


def _imported_names(imported: list[ImportStatement]) -> set[str]:
    """Return every name that an import binds, allowed or not, so that a bad import is reported only once."""
    return {(a.asname or a.name).split(".")[0] for statement in imported for a in statement.names}


_TESTS = (ast.Assert, ast.Raise)


def find_warnings(outline: PlanOutline, nodes: list[ast.AST], warnings: DiagnosticCollector) -> None:
    """Collect the warnings of a plan; ``nodes`` are all nodes of its tree."""
    testing = testing_functions(nodes)
    for step in outline.steps:
        if not has_test(step.body, testing):
            message = f"step {step.step} has no assertion; end it with `assert <what must hold now>`"
            warnings.add(step.node, "step-assertion", message)
    for node in nodes:
        if isinstance(node, ast.Assert) and always_holds(node.test):
            pair = isinstance(node.test, ast.Tuple) and len(node.test.elts) == 2 and node.msg is None
            wanted = "write `assert condition, message` without brackets" if pair else "test what the agent observed"
            message = f"this assertion always holds; {wanted}"
            warnings.add(node, "assert-tuple" if pair else "assert-true", message)
    if outline.solution is not None and not outline.steps:
        message = "the plan has no steps, so it cannot resume; put its parts into blocks `if start_from <= k:`"
        warnings.add(outline.solution, "no-steps", message)
    start = header_start(outline.solution)
    if start is not None:
        message = f"the header says start_from={start}, which counts only with resume_by=model; write start_from=1"
        warnings.add(outline.solution, "start-from", message)


def header_start(solution: _Function | None) -> int | None:
    """Return the step that the header names (``start_from=3``); None if it says 1 or nothing."""
    default = solution.args.defaults[-1] if solution and solution.args.defaults else None
    if isinstance(default, ast.Constant) and type(default.value) is int and default.value > 1:
        return default.value
    return None


def always_holds(test: ast.expr) -> bool:
    """Return whether a condition is true by its form alone: a true constant, a filled tuple, a text with characters."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.JoinedStr):
        return any(isinstance(v, ast.Constant) and v.value for v in test.values)
    filled = isinstance(test, ast.Tuple | ast.List | ast.Set) and bool(test.elts)
    return filled or (isinstance(test, ast.Dict) and bool(test.keys))


def testing_functions(nodes: list[ast.AST]) -> frozenset[str]:
    """Return the functions that assert, raise or end the run, directly or through one another."""
    functions = [(n.name, walk(*n.body)) for n in nodes if isinstance(n, _Function) and n.name != "solution"]
    names = ENDING_NAMES
    for _ in functions:
        more = ENDING_NAMES | {name for name, within in functions if _tests(within, names)}
        if more == names:
            break
        names = more
    return names


def has_test(body: Iterable[ast.stmt], functions: frozenset[str]) -> bool:
    """Return whether these statements assert, raise or end the run, or call one of ``functions``, which do."""
    return _tests(walk(*body), functions)


def _tests(nodes: Iterable[ast.AST], functions: frozenset[str]) -> bool:
    return any(
        isinstance(n, _TESTS) or (isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in functions)
        for n in nodes
    )


_NO_PYTHON = Diagnostic(
    0, 0, "no-python", "the reply contains no Python; answer with one fenced python block that holds the whole program"
)


def check_source(source: str, api: AgentApi, before: VariablesBefore = NO_RUN_BEFORE) -> Plan | Rejected:
    """Check a plan against the language and the agent's API. See ``check_and_compile``."""
    found = check_and_compile(source, api, before)
    return found if isinstance(found, Rejected) else found[0]


def check_and_compile(
    source: str, api: AgentApi, before: VariablesBefore = NO_RUN_BEFORE
) -> tuple[Plan, Program] | Rejected:
    """Check a plan against the language and the agent's API, and compile it.

    The Plan keeps the given source, unless an f-string's inner quotes had to change for this Python, or tabs and
    spaces were mixed in its indentation.
    """
    try:
        source, tree = parse_or_repair(source)
    except RejectedPlanError as refused:
        size = any(d.rule == "size" for d in refused.diagnostics)
        return Rejected(source, refused.diagnostics if size or holds_code(source) else (_NO_PYTHON,))
    if not holds_code(source):
        return Rejected(source, (_NO_PYTHON,))
    try:
        source, tree = _with_layout(source, tree)
    except RejectedPlanError as refused:
        return Rejected(source, refused.diagnostics)
    problems = DiagnosticCollector(source)
    outline, nodes = outline_plan(tree), walk(tree)
    check_structure(tree, source.split("\n"), problems)
    check_agent_calls(nodes, api, problems)
    check_forms(nodes, problems)
    check_module_members(nodes, import_bindings(find_imports(nodes)), problems)
    flows = [analyse_flow(p.body) for p in outline.parts]
    imported = find_imports(nodes)
    names = PlanNames(imported, outline, flows, before, frozenset({ASK_USER} if api.asks_user else ()))
    names.check(problems)
    warnings = DiagnosticCollector(source)
    find_warnings(outline, nodes, warnings)
    plan = Plan(
        source,
        _make_steps(outline, flows, names),
        names.provides,
        warnings=warnings.sorted(),
        start_from=header_start(outline.solution),
        needs=names.needed_at_end,
        kept=names.kept,
    )
    _check_name_lengths(plan, problems)
    program = build_program(imported, outline, flows, problems)
    return Rejected(source, problems.sorted()) if problems else (plan, program)


def _with_layout(source: str, tree: ast.Module) -> tuple[str, ast.Module]:
    """Return a source that libcst reads as CPython does: this one, or with spaces for the tabs of its indentation."""
    try:
        parse_layout(source, tree)
    except RejectedPlanError:
        spaced = expand_indentation(source)
        if spaced == source:
            raise
        again = parse_plan(spaced)
        if ast.dump(again) != ast.dump(tree):  # a text of several lines had tabs, too
            raise
        parse_layout(spaced, again)
        return spaced, again
    return source, tree


def parse_or_repair(source: str) -> tuple[str, ast.Module]:
    """Return the source and its tree. Raises RejectedPlanError about the source as given."""
    try:
        return source, parse_plan(source)
    except RejectedPlanError:
        other = repair_fstrings(source)
        if other == source:
            raise
        try:
            return other, parse_plan(other)
        except RejectedPlanError:
            pass
        raise


def _check_name_lengths(plan: Plan, problems: DiagnosticCollector) -> None:
    names = {*plan.provides, *plan.needs, *(name for s in plan.steps for name in (*s.needs, *s.sets))}
    for name in sorted(name for name in names if len(name) > MAX_NAME_CHARS):
        message = f"the name `{name[:20]}…` has {len(name):,} characters; use at most {MAX_NAME_CHARS}"
        problems.add(None, "size", message)


def _replan_line(part: PlanPart) -> int | None:
    call = find_final_replan(part.body)
    return call.lineno if call else None


def _make_steps(outline: PlanOutline, flows: list[NameFlow], names: PlanNames) -> tuple[Step, ...]:
    digests = step_digests(outline, flows)
    return tuple(
        Step(
            number=p.step,
            line=p.node.lineno,
            end_line=p.node.end_lineno or p.node.lineno,
            title=step_title(p),
            digest=digests[p.step],
            needs=names.needs(p, f),
            sets=tuple(sorted(f.sets)),
            replan_line=_replan_line(p),
        )
        for p, f in zip(outline.parts, flows, strict=True)
        if p.step is not None
    )


def answer_check(job: frames.CheckJob) -> frames.AcceptanceFrame | frames.RejectionFrame:
    """Check and compile the plan. Nothing of it runs."""
    found = check_and_compile(job.source, job.api, VariablesBefore(frozenset(job.kept), job.starts_over))
    if isinstance(found, Rejected):
        return frames.RejectionFrame(diagnostic_rows(found.diagnostics))
    plan, program = found
    return _acceptance(PlanRow.from_plan(plan), program.pack())


def _acceptance(plan: PlanRow, code: bytes) -> frames.AcceptanceFrame | frames.RejectionFrame:
    size = frames.packed_size([plan.steps, plan.provides, plan.needs, plan.kept])
    if size > MAX_OUTLINE_BYTES:
        message = (
            f"the names in all steps take {size:,} bytes, more than {MAX_OUTLINE_BYTES:,}; use fewer steps and names"
        )
        return frames.RejectionFrame(diagnostic_rows([Diagnostic(0, 0, "size", message)]))
    return frames.AcceptanceFrame(plan, code if len(code) <= MAX_CODE_BYTES else b"")


_TRUTHS: Final = frozenset({"0", "off", "f", "false", "n", "no", "1", "on", "t", "true", "y", "yes"})
"""The texts that pydantic takes for a bool, in small letters."""


def may_fit(given: ast.expr, type_text: str) -> bool:
    """Whether an argument may have a type, which is given in Python's notation; an unknown type takes everything."""
    wanted = _parsed(type_text)
    return wanted is None or _may_have(given, wanted)


@lru_cache(maxsize=1_000)
def _parsed(type_text: str) -> ast.expr | None:
    try:
        return ast.parse(type_text, mode="eval").body if type_text else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def constant_of(node: ast.expr | None) -> tuple[object] | None:
    """The value of a constant, in a tuple; None for any other expression."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return (-number,)
        case ast.Constant(value=value) if value is not Ellipsis:
            return (value,)
        case _:
            return None


def _may_have(given: ast.expr, wanted: ast.expr) -> bool:
    match wanted:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _may_have(given, left) or _may_have(given, right)
        case ast.Subscript(value=ast.Name(id="list"), slice=inner):
            return _may_be(given, "list") and all(_may_have(part, inner) for part in _parts(given))
        case ast.Subscript(value=ast.Name(id="dict")):
            return _may_be(given, "dict")
        case ast.Subscript(value=ast.Name(id="Literal"), slice=options):
            listed = [constant_of(o) for o in (options.elts if isinstance(options, ast.Tuple) else [options])]
            value = constant_of(given)
            return value in listed or None in listed if value else not isinstance(given, _DISPLAYS)
        case ast.Name(id=name):
            return _may_be(given, name)
        case ast.Constant(value=None):
            return _may_be(given, "None")
        case _:
            return True


_DISPLAYS: Final = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def _parts(given: ast.expr) -> list[ast.expr]:
    """The elements that a display shows one by one."""
    shown = given.elts if isinstance(given, ast.List | ast.Tuple | ast.Set) else []
    return [part for part in shown if not isinstance(part, ast.Starred)]


def _may_be(given: ast.expr, name: str) -> bool:
    """Whether an expression may have one of the types that are known here."""
    if name not in _TAKES:
        return True
    if isinstance(given, _DISPLAYS):
        return name in ("list", "dict")  # pydantic takes some of one for the other
    value = constant_of(given)
    return value is None or isinstance(value[0], bytes | complex) or _TAKES[name](value[0])


def _is_number(value: object) -> bool:
    """Whether a value is a number, or a text that may be read as one."""
    if not isinstance(value, str):
        return isinstance(value, int | float)
    try:
        float(value.replace("_", ""))
    except ValueError:
        return False
    return True


def _is_whole(value: object) -> bool:
    return _is_number(value) and not (isinstance(value, float) and not value.is_integer())


def _is_truth(value: object) -> bool:
    return value.strip().lower() in _TRUTHS if isinstance(value, str) else value in (0, 1)


_TAKES: Final[dict[str, Callable[[object], bool]]] = {
    "int": _is_whole,
    "float": _is_number,
    "bool": _is_truth,
    "str": lambda value: isinstance(value, str),
    "None": lambda value: value is None,
    "list": lambda value: False,
    "dict": lambda value: False,
}
"""Whether a constant may be converted to a type."""
