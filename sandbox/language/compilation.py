"""Compiles a plan's source to code objects that run segment by segment."""

from __future__ import annotations

import ast
import inspect
import marshal
import sys
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from types import CodeType

from codeplan.sandbox.language.extraction import SOLUTION_HEADER
from codeplan.sandbox.language.guard_insertion import (
    ImportBinding,
    ImportStatement,
    PlanTransformer,
    find_imports,
    find_kept_calls,
    import_bindings,
    reads_annotations,
)
from codeplan.sandbox.language.name_flow import (
    NameFlow,
    analyse_flow,
    bound_names,
    comprehension_names,
    iterate_bound_names,
)
from codeplan.sandbox.language.parsing import (
    DiagnosticCollector,
    RejectedPlanError,
    call_function,
    call_statement,
    children,
    fill_locations,
    load_name,
    parse_plan,
    walk,
    with_location,
)
from codeplan.sandbox.language.plan_outline import (
    FunctionDefinition,
    PlanOutline,
    PlanPart,
    find_final_replan,
    outline_plan,
)
from codeplan.sandbox.language.thread_functions import THREAD_MODULES, ThreadForms, without_form
from codeplan.sandbox.protocol.frames import HALF_PAIR
from codeplan.sandbox.protocol.limits import MAX_STEPS
from codeplan.sandbox.runtime.classes import PLAN_FILENAME
from codeplan.sandbox.runtime.names import PREDEFINED_NAMES

__all__ = ["PLAN_FILENAME", "Program", "RejectedPlanError", "Segment", "build_program", "compile_plan"]


@dataclass(frozen=True)
class Segment:
    """A step's block, or code outside the steps (``step`` is None), which runs at every start.

    ``exec(code, namespace)`` defines the function ``_segment_`` there. It takes no arguments and returns a tuple of the
    returned value if the plan executed ``return``, else None; the function of a segment that awaits returns a coroutine
    of it. All names that the segment binds are globals of the
    namespace.
    """

    step: int | None
    line: int
    code: CodeType


@dataclass(frozen=True)
class Program:
    """A compiled plan: its segments in execution order, and the names that it binds or imports somewhere."""

    segments: tuple[Segment, ...]
    binds: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()

    def pack(self) -> bytes:
        """Return the program as bytes for another process of the same Python."""
        return marshal.dumps(([(s.step, s.line, s.code) for s in self.segments], self.binds, self.imports))

    @classmethod
    def unpack(cls, packed: bytes) -> Program:
        """Return the program that these bytes hold.

        Use it only in the cage: forged bytes can crash the process or hold any program. Raises ValueError, EOFError,
        TypeError.
        """
        segments, binds, imports = marshal.loads(packed)
        return cls(tuple(Segment(*part) for part in segments), binds, imports)

    def is_plan_variable(self, name: str) -> bool:
        """Return whether a saved variable belongs to the plan, rather than to the runtime or to an import."""
        return name in self.binds or (name not in PREDEFINED_NAMES and name not in self.imports)


def compile_plan(source: str) -> Program:
    """Compile a plan for the guarded namespace. Raises RejectedPlanError with every problem found."""
    tree = parse_plan(source)
    problems = DiagnosticCollector(source)
    outline = outline_plan(tree)
    if outline.solution is None:
        problems.add(None, "solution-missing", f"there is no function `solution`; write `{SOLUTION_HEADER}`")
    program = build_program(find_imports(walk(tree)), outline, [analyse_flow(p.body) for p in outline.parts], problems)
    problems.raise_if_any()
    return program


def compile_expression(source: str) -> CodeType:
    """Compile the text that a plan gives to ``eval``, with the guards of a plan. Raises SyntaxError."""
    problems = DiagnosticCollector(source)
    try:
        (statement,) = parse_plan(source.strip()).body or [ast.Pass()]
        if not isinstance(statement, ast.Expr):
            raise SyntaxError("eval takes one expression")
        body = PlanTransformer(problems).visit(statement.value)
        problems.raise_if_any()
    except RejectedPlanError as refused:
        raise SyntaxError(refused.diagnostics[0].message) from None
    except ValueError:
        raise SyntaxError("eval takes one expression") from None
    return compile(ast.fix_missing_locations(ast.Expression(body)), "<string>", "eval", dont_inherit=True)


def build_program(
    imported: list[ImportStatement], outline: PlanOutline, flows: list[NameFlow], problems: DiagnosticCollector
) -> Program:
    """Compile an outline, changing its nodes in place.

    ``imported`` are all its import statements, ``flows`` those of its parts. If ``problems`` receives any, the program
    is empty.
    """
    given = tuple(import_bindings(imported))
    rebound = frozenset().union(*(f.binds for f in flows))
    postponed = any(isinstance(s, ast.ImportFrom) and s.module == "__future__" for s in imported)
    own = bound_names(s for p in outline.parts for s in p.body)
    every = walk(*(s for p in outline.parts for s in p.body))
    kept = find_kept_calls(every)
    forms = ThreadForms() if any(b.module in THREAD_MODULES for b in given) else None
    keeps_annotations = reads_annotations([*every, *(alias for s in imported for alias in s.names)])
    transformer = PlanTransformer(
        problems, rebound, own, kept, forms=forms, annotates=not postponed, keeps_annotations=keeps_annotations
    )
    _check_solution(outline, problems)
    if len(outline.steps) > MAX_STEPS:
        problems.add(None, "size", f"the plan has {len(outline.steps):,} steps; write at most {MAX_STEPS:,}")
    shared = frozenset().union(*(f.deferred_reads.keys() | f.generator_names | f.outer_binds for f in flows))
    by_text = ("eval", "globals", "locals")
    if keeps_annotations or any(name in f.reads or name in f.deferred_reads for f in flows for name in by_text):
        shared = rebound  # a text may read any variable
    bodies = [(p, _transform_part(p, transformer, f, shared)) for p, f in zip(outline.parts, flows, strict=True)]
    if problems:
        return Program(())
    segments = [_import_segment(given)] if given else []
    try:
        for p, body in bodies:
            if body:
                code = set_qualnames(_compile_segment(body, p.node), outline.solution)
                segments.append(Segment(p.step, p.node.lineno, code))
    except SyntaxError as error:
        problems.add_at(error.lineno or 0, 0, "syntax", str(error.msg))
    except UnicodeEncodeError:  # from Python 3.13 on
        problems.add(p.node, "syntax", f"a docstring in this part of the plan holds {HALF_PAIR}")
    return Program(tuple(segments), rebound, frozenset(b.name for b in given))


def _check_solution(outline: PlanOutline, problems: DiagnosticCollector) -> None:
    if outline.solution is not None and outline.solution.decorator_list:
        problems.add(outline.solution, "language", "solution takes no decorator; leave it out")
    inside = {id(s) for s in outline.solution.body} if outline.solution else set()
    for part in outline.parts:
        for s in part.body if part.step is None else []:
            if id(s) not in inside:
                _check_no_return(s, problems)


def _check_no_return(node: ast.AST, problems: DiagnosticCollector) -> None:
    """Report a return outside functions, which would otherwise return from the segment."""
    if isinstance(node, ast.Return):
        problems.add(node, "syntax", "'return' outside function")
    for child in [] if isinstance(node, FunctionDefinition | ast.ClassDef) else ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            _check_no_return(child, problems)


def _transform_part(
    part: PlanPart, transformer: PlanTransformer, names: NameFlow, shared: frozenset[str]
) -> list[ast.stmt]:
    """Return a part's body with its guards and with each name made global or local.

    A local name is faster. It is possible if no function or generator reads the name and if this part sets it before
    reading it. The part writes local names back to the namespace when it ends, even by an error.
    """
    final = find_final_replan(part.body) if part.step is not None else None
    body: list[ast.stmt] = []
    for statement in part.body:
        visited = transformer.visit(statement)
        body += visited if isinstance(visited, list) else [] if visited is None else [visited]
    if final is not None:  # the visitor is done with this node, which is still part of the tree
        final.func = with_location(final.func, load_name("_replan_at_end_"))
    local = names.binds - shared - names.read_before_set.keys() - names.may_be_unset
    if local and body:
        names_kept = ast.Tuple([ast.Constant(name) for name in _in_order(part.body, local)], ast.Load())
        keep = ast.Expr(call_function("_keep_", call_function("_locals_"), names_kept))
        body = [with_location(part.node, ast.Try(body=body, handlers=[], orelse=[], finalbody=[keep]))]
    elsewhere = sorted(names.binds - local)
    return [ast.Global(elsewhere), *body] if elsewhere and body else body


def _in_order(body: list[ast.stmt], names: Collection[str]) -> list[str]:
    """Return the names in the order in which prompts show variables: as the source binds them, and after them, sorted,
    those that comprehensions use. Python 3.11 keeps them so; its later versions each keep them in another way.
    """
    inside = comprehension_names(body)
    bound = [name for name in dict.fromkeys(iterate_bound_names(body)) if name in names]
    return [name for name in bound if name not in inside] + sorted(inside.intersection(bound))


def _import_segment(imported: tuple[ImportBinding, ...]) -> Segment:
    first = imported[0].node
    body: list[ast.stmt] = []
    for b in imported:
        arguments = (ast.Constant(b.name), ast.Constant(b.module), ast.Constant(b.member))
        body.append(call_statement(b.node, "_import_", *arguments))
    return Segment(None, first.lineno, _compile_segment(body, first))


def _compile_segment(body: list[ast.stmt], place: ast.stmt) -> CodeType:
    arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    kind = ast.AsyncFunctionDef if _awaits(body) else ast.FunctionDef
    function = with_location(place, kind("_segment_", arguments, body, []))
    if sys.version_info >= (3, 12):
        function.type_params = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fill_locations(function)
        return compile(ast.Module([function], []), PLAN_FILENAME, "exec", dont_inherit=True)


def _awaits(body: list[ast.stmt]) -> bool:
    """Return whether these statements await something themselves, so that they are the body of a coroutine."""
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith) or getattr(node, "is_async", False):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += children(node)
    return False


def set_qualnames(code: CodeType, solution: FunctionDefinition | None) -> CodeType:
    """Rename the functions in a segment's code as if it were not wrapped in ``_segment_``.

    A function inside ``solution`` becomes ``solution.<locals>.f``, another ``f``.
    """
    inside = range(solution.lineno, (solution.end_lineno or solution.lineno) + 1) if solution else range(0)
    return _map_inner_code(
        code,
        lambda segment: _map_inner_code(
            segment, lambda f: _qualify(f, "solution.<locals>" if f.co_firstlineno in inside else "")
        ),
    )


def _qualify(code: CodeType, around: str) -> CodeType:
    """Name a function or a class's body after what stands around it; a class's body stores its own name."""
    own = without_form(code.co_name)
    name = f"{around}.{own}" if around else own
    is_class = not code.co_flags & inspect.CO_OPTIMIZED
    constants = tuple(name if is_class and c == code.co_qualname else c for c in code.co_consts)
    inside = name if is_class else f"{name}.<locals>"
    named = code.replace(co_name=own, co_qualname=name, co_consts=constants)
    return _map_inner_code(named, lambda inner: _qualify(inner, inside))


def _map_inner_code(code: CodeType, change: Callable[[CodeType], CodeType]) -> CodeType:
    """Return ``code`` with ``change`` applied to the code objects in its constants."""
    return code.replace(co_consts=tuple(change(c) if isinstance(c, CodeType) else c for c in code.co_consts))
