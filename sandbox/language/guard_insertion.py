"""Inserts the guards into a plan: code that compiled plans run in place of the plain operation.

A plan's own classes have hooks that the plan wrote: Python calls them as the plan's code, with the plan's rights. What
has guards is what leads to Python's own insides or makes large values: attributes, item writes, operators, handlers,
assertions, ``with``, class patterns and loop iterations.
"""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from RestrictedPython.transformer import RestrictingNodeTransformer

from codeplan.sandbox.language.name_flow import function_names
from codeplan.sandbox.language.parsing import (
    DiagnosticCollector,
    call_function,
    call_statement,
    is_name,
    load_name,
    walk,
    with_location,
)
from codeplan.sandbox.language.thread_functions import ThreadForms
from codeplan.sandbox.runtime.classes import CLASS_MARK
from codeplan.sandbox.runtime.module_names import ALLOWED_MODULES, PREDEFINED_MEMBERS, REFUSED_MODULES, missing_member
from codeplan.sandbox.runtime.names import (
    ANNOTATION_MODULES,
    DEFINABLE_DUNDERS,
    ENUM_NAMES,
    LOCAL_NAMES,
    METADATA_NAMES,
    PREDEFINED_NAMES,
    RESERVED_NAMES,
    is_readable,
    is_reserved,
    is_writable,
)
from codeplan.sandbox.runtime.user_imports import is_admitted

_TEMPLATE = "template strings are not part of the plan language; use an f-string"

CONSTRUCT_HINTS: dict[str, str] = {
    "TemplateStr": _TEMPLATE,
    "Interpolation": _TEMPLATE,
    "TypeAlias": "type aliases are not part of the plan language; leave them out",
}


ImportStatement = ast.Import | ast.ImportFrom


class ImportBinding(NamedTuple):
    """A name that an import binds to a module (``member`` is None) or to a module's member."""

    name: str
    module: str
    member: str | None
    node: ImportStatement


def import_problem(node: ImportStatement, alias: ast.alias) -> str | None:
    """Return why this import is not allowed and what to write instead, or None if it is."""
    module = alias.name if isinstance(node, ast.Import) else node.module or "."
    if module in ANNOTATION_MODULES:
        return None
    is_relative = isinstance(node, ast.ImportFrom) and node.level > 0
    if is_relative or not _is_known(module):
        return f"`{module}` cannot be imported; {_advice_on_module(module)}"
    if is_admitted(module):
        if fault := _find_private_part(module if isinstance(node, ast.Import) else f"{module}.{alias.name}"):
            return fault
    elif isinstance(node, ast.ImportFrom) and alias.name not in ALLOWED_MODULES[module]:
        return f"`{module}` {missing_member(module, alias.name)}"
    name = alias.asname or alias.name
    if is_reserved(name) or (name in RESERVED_NAMES and name not in (alias.name, "ask", "ask_llm")):
        return f"an import cannot be called `{name}`; use another name"
    if name in ("ask", "ask_llm") and module != "large_language_model":
        return f"`{name}` belongs to the runtime; use another name for `{alias.name}`"
    return None


class MissingImport(NamedTuple):
    """Python's own error for an import of what is not there: its class, its message and the module."""

    error: str
    message: str
    module: str


def missing_import(node: ImportStatement, alias: ast.alias) -> MissingImport | None:
    """Return the error for an import of what plans lack; None if they have it."""
    module = alias.name if isinstance(node, ast.Import) else node.module or ""
    if isinstance(node, ast.ImportFrom) and node.level > 0:
        return MissingImport("ImportError", "attempted relative import with no known parent package", module)
    if module in ANNOTATION_MODULES:
        return None
    if not _is_known(module):
        parts = module.split(".")
        first = next(whole for n in range(len(parts)) if not _is_known(whole := ".".join(parts[: n + 1])))
        return MissingImport("ModuleNotFoundError", f"No module named {first!r}", first)
    if isinstance(node, ast.Import) or is_admitted(module) or alias.name in ALLOWED_MODULES[module]:
        return None
    return MissingImport("ImportError", f"cannot import name {alias.name!r} from {module!r} (unknown location)", module)


def _module_named(call: ast.Call) -> str | None:
    """Return the module of a call with its name alone; None for a name that is computed, or no module of plans."""
    match call:
        case ast.Call(args=[ast.Constant(value=str(name))], keywords=[]) if name in ALLOWED_MODULES and "." not in name:
            return name
    return None


def tried_imports(nodes: Iterable[ast.AST]) -> list[ImportStatement]:
    """Return the imports in the body of a ``try`` that says what to do without the module."""
    tried = [n for n in nodes if isinstance(n, ast.Try | ast.TryStar)]
    bodies = [n.body for n in tried if any(_is_for_imports(h, n.body) for h in n.handlers)]
    return find_imports(below for body in bodies for below in walk(*body))


def _is_for_imports(handler: ast.ExceptHandler, tried: list[ast.stmt]) -> bool:
    """Return whether a handler is for a missing module: by its class, or since ``tried`` only imports and assigns."""
    named = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {n.id if isinstance(n, ast.Name) else "" for n in named if n is not None} or {"Exception"}
    only_imports = all(isinstance(s, ImportStatement | ast.Assign) for s in tried)
    return bool(names & {"ImportError", "ModuleNotFoundError"}) or (only_imports and "Exception" in names)


def _is_known(module: str) -> bool:
    """Return whether a module belongs to the language, or to a package that the user named."""
    return module in ALLOWED_MODULES or is_admitted(module)


def _find_private_part(path: str) -> str | None:
    """Return why a part of an admitted package cannot be imported, or None if it can."""
    private = next((part for part in path.split(".") if part.startswith("_")), None)
    if "*" in path:
        return f"`from {path[:-2]} import *` is not part of the plan language; name what you import"
    return f"`{path}` cannot be imported; plans read public names only, not `{private}`" if private else None


def _advice_on_module(module: str) -> str:
    """Return what to write instead of a module that plans cannot import."""
    for name in (module, module.partition(".")[0]):
        if name in REFUSED_MODULES:
            return REFUSED_MODULES[name]
    known = ", ".join(sorted(ALLOWED_MODULES.keys() - {"large_language_model"}))
    return f"use the agent, or one of: {known}; packages need the user's word (--imports)"


def find_imports(nodes: Iterable[ast.AST]) -> list[ImportStatement]:
    """Return the import statements among these nodes."""
    return [n for n in nodes if isinstance(n, ImportStatement)]


def import_bindings(statements: Iterable[ImportStatement]) -> Iterator[ImportBinding]:
    """Yield every allowed name that these imports bind, except names that the runtime provides anyway."""
    for node in statements:
        for alias in node.names:
            binding = _binding(node, alias)
            if _is_known(binding.module) and not _is_predefined(binding) and import_problem(node, alias) is None:
                yield binding


def _binding(node: ImportStatement, alias: ast.alias) -> ImportBinding:
    name = alias.asname or alias.name
    if isinstance(node, ast.Import):
        whole = alias.name if alias.asname else alias.name.partition(".")[0]  # `import a.b` binds a
        return ImportBinding(alias.asname or whole, whole, None, node)
    return ImportBinding(name, node.module or "", alias.name, node)


def _is_predefined(b: ImportBinding) -> bool:
    """Return whether the name means the same without the import."""
    if b.member is None:
        return b.name == b.module and b.name in PREDEFINED_NAMES
    if b.module == "large_language_model":
        return b.name in ("ask", "ask_llm")
    given = {"ast": {"literal_eval"}, "collections": PREDEFINED_MEMBERS}
    return b.name == b.member and b.member in given.get(b.module, ())


_READABLE_NAMES = METADATA_NAMES | {"__class__", "__name__"}
_T = TypeVar("_T", bound=ast.AST)
VisitResult = ast.AST | list[ast.stmt] | None


class LanguagePolicy(RestrictingNodeTransformer):
    """Decides what a plan may write. Problems go to ``problems``; bad input never raises."""

    def __init__(self, problems: DiagnosticCollector) -> None:
        super().__init__()
        self._problems = problems
        self._tried = set[ImportStatement]()

    def error(self, node: ast.AST, info: str) -> None:
        self._problems.add(node, "language", info)

    def not_allowed(self, node: ast.AST) -> None:
        """Report a node that the language lacks, and say what to write instead."""
        kind = type(node).__name__
        default = f"{kind} is not part of the plan language; write it with plain statements"
        self.error(node, CONSTRUCT_HINTS.get(kind, default))

    def warn(self, node: ast.AST, info: str) -> None:
        """Do nothing: unknown syntax is an error already."""

    def _refuse(self, node: ast.AST) -> VisitResult:
        self.not_allowed(node)
        return None if isinstance(node, ast.stmt) else node

    visit_TemplateStr = visit_Interpolation = _refuse

    def _visited(self, node: _T) -> _T:
        """Visit a node that keeps its type."""
        result: _T = self.visit(node)
        return result

    def check_name(self, node: ast.AST, name: str | None, allow_magic_methods: bool = False) -> None:
        """Report names of the forms ``_name_`` and ``__name__``, which belong to the runtime and to Python."""
        if name is not None and is_reserved(name) and name not in _READABLE_NAMES:
            instead = "an import statement" if name == "__import__" else f"`{name.strip('_')}`"
            self.error(node, f"names that begin and end with an underscore are reserved; write {instead} for `{name}`")

    def _check_binding(self, node: ast.AST, name: str | None) -> None:
        self.check_name(node, name)
        if name in RESERVED_NAMES or name in ("__class__", "__name__"):
            self.error(node, f"`{name}` belongs to the runtime and cannot be assigned; use another name")

    def visit_Name(self, node: ast.Name) -> VisitResult:
        (self.check_name if isinstance(node.ctx, ast.Load) else self._check_binding)(node, node.id)
        return node

    def visit_MatchAs(self, node: ast.MatchAs) -> VisitResult:
        """Check the name that a case binds."""
        self._check_binding(node, node.name)
        return self.node_contents_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> VisitResult:
        """Check the name of a sequence's rest."""
        self._check_binding(node, node.name)
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> VisitResult:
        """Check the name of the rest."""
        self._check_binding(node, node.rest)
        return self.node_contents_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> VisitResult:
        """Check the names of the attributes that the case reads."""
        for name in node.kwd_attrs:
            if is_reserved(name) or not is_readable(name):
                self.error(node, f"a case cannot read `{name}`; use public attributes only")
        return self.node_contents_visit(node)

    def _plain(self, node: ast.AST) -> VisitResult:
        return self.node_contents_visit(node)

    visit_match_case = visit_MatchSequence = visit_MatchOr = visit_MatchSingleton = visit_MatchValue = _plain
    visit_Starred = _plain

    def _import(self, node: ast.Import | ast.ImportFrom) -> VisitResult:
        """Check an import and drop it: the runtime binds the names before the plan begins.

        One that is tried raises Python's error at its place if the module is missing.
        """
        for alias in node.names:
            if node in self._tried and (missing := missing_import(node, alias)):
                return call_statement(node, "_import_missing_", *map(ast.Constant, missing))
            if problem := import_problem(node, alias):
                self._problems.add(node, "import", problem)
        return with_location(node, ast.Pass())

    visit_Import = visit_ImportFrom = _import

    def visit_arg(self, node: ast.arg) -> VisitResult:
        """Drop the annotation, if the plan does not read it, and check the name."""
        node.annotation = self._kept_annotation(node.annotation)
        self.check_name(node, node.arg)
        return node

    def _kept_annotation(self, annotation: ast.expr | None) -> ast.expr | None:
        """Return what is left of an annotation of a function."""
        return None


_GUARDED_OPERATORS: dict[type[ast.operator], str] = {
    ast.Mult: "_mul_",
    ast.Pow: "_pow_",
    ast.LShift: "_lshift_",
    ast.Mod: "_mod_",
}
"""Operators by which a small plan makes a huge value, and the guards that check the size first."""

_SMALL = 1000
"""Up to this constant factor, values grow so slowly that the memory limit suffices."""

_WIDTH_DIGITS = 4
"""A format spec whose numbers have fewer digits than this cannot make a huge text."""


_INSTEAD: dict[str, str] = {
    "__code__": "inspect.signature(f).parameters tells names and defaults",
    **dict.fromkeys(("__defaults__", "__kwdefaults__"), "functools.partial(f, x=1) gives a function other defaults"),
    "__closure__": "keep the value in an attribute of the function, or in an object",
    "__globals__": "globals() gives the plan's own names to read",
    "__traceback__": "traceback.format_exc() shows it",
}
"""What to write for attributes that models use, and plans lack."""


class PlanTransformer(LanguagePolicy):
    """Checks one plan and inserts its guards in place.

    ``rebound`` are the names that the plan binds somewhere, ``own`` those that it binds outside its functions, and
    ``begun`` the methods of the agent in calls that are begun and not waited for, beside those that stand so.
    ``forms`` makes second forms of functions for threads, if the plan may have some.
    ``annotates`` says that annotations in classes are evaluated, as they are without ``from __future__ import
    annotations``; ``keeps_annotations`` says that functions keep theirs.
    """

    def __init__(
        self,
        problems: DiagnosticCollector,
        rebound: frozenset[str] = frozenset(),
        own: frozenset[str] = frozenset(),
        begun: Iterable[ast.expr] = (),
        *,
        forms: ThreadForms | None = None,
        annotates: bool = True,
        keeps_annotations: bool = False,
    ) -> None:
        super().__init__(problems)
        self._keeps_annotations = keeps_annotations
        self._forms = forms
        self._rebound, self._own, self._annotates = rebound, own, annotates
        self._scopes = [_Scope("segment")]
        self._matches = self._finals = 0
        self._begun = set(begun)
        self._final_jumps: set[ast.stmt] = set()

    def _kept_annotation(self, annotation: ast.expr | None) -> ast.expr | None:
        if annotation is None or not self._keeps_annotations:
            return None
        return self._visited(annotation) if self._annotates else _as_text(annotation)

    @contextmanager
    def _scope(self, kind: str, name: str = "", binds: frozenset[str] = frozenset()) -> Iterator[None]:
        self._scopes.append(_Scope(kind, name, binds))
        yield
        self._scopes.pop()

    def _mangled(self, name: str) -> str:
        """Return a name as Python writes it in the class around: ``__x`` in ``C`` is ``_C__x``."""
        around = next((s.name.lstrip("_") for s in reversed(self._scopes) if s.kind == "class"), "")
        return f"_{around}{name}" if around and name.startswith("__") and not name.endswith("__") else name

    def visit_Attribute(self, node: ast.Attribute) -> VisitResult:
        if self._names_a_type(node):
            assert isinstance(node.value, ast.Call)
            return with_location(node, call_function("_type_name_", self._visited(node.value.args[0])))
        reads = isinstance(node.ctx, ast.Load)
        of_class = not reads and node.attr in DEFINABLE_DUNDERS and not is_writable(node.attr)
        if not of_class and not (is_readable if reads else is_writable)(node.attr):
            hint = _INSTEAD.get(node.attr, "use other methods and attributes")
            self.error(node, f"`.{node.attr}` belongs to Python or to the runtime; {hint}")
        if node.attr == "__subclasses__" and not self._may_be_own_class(node.value):
            self.error(
                node, "`.__subclasses__` belongs to Python or to the runtime; it is for classes of the plan alone"
            )
        value = self._visited(node.value)
        if not reads:
            guard = "_writable_class_" if of_class else "_writable_"
            node.value = with_location(node.value, call_function(guard, value))
            return node
        guard = "_begin_" if node in self._begun else "_getattr_"
        return with_location(node, call_function(guard, value, ast.Constant(self._mangled(node.attr))))

    def _may_be_own_class(self, owner: ast.expr) -> bool:
        return isinstance(owner, ast.Name) and owner.id not in PREDEFINED_NAMES

    def _names_a_type(self, node: ast.Attribute) -> bool:
        """Return whether the node is ``type(x).__name__``, which error messages often print."""
        value = node.value
        known = isinstance(value, ast.Call) and is_name(value.func, "type")
        if not known or node.attr != "__name__" or "type" in self._rebound or not isinstance(node.ctx, ast.Load):
            return False
        assert isinstance(value, ast.Call)
        return len(value.args) == 1 and not value.keywords and not isinstance(value.args[0], ast.Starred)

    def visit_Subscript(self, node: ast.Subscript) -> VisitResult:
        """Guard item writes. Reads need no guard (see above)."""
        writes = not isinstance(node.ctx, ast.Load)
        if writes and isinstance(node.value, ast.Call) and is_name(node.value.func, "globals"):
            self.error(node, "globals() is for reading; use a dict of your own")
        node = self.node_contents_visit(node)
        if writes:
            node.value = with_location(node.value, call_function("_write_", node.value))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> VisitResult:
        guard = _GUARDED_OPERATORS.get(type(node.op))
        native = guard is None or _stays_small(node)
        node = self.node_contents_visit(node)
        return node if native or guard is None else with_location(node, call_function(guard, node.left, node.right))

    def visit_AugAssign(self, node: ast.AugAssign) -> VisitResult:
        """Guard operators that make large values. Operands are evaluated once, as in Python."""
        guard = _GUARDED_OPERATORS.get(type(node.op))
        node = self.node_contents_visit(node)
        if guard is None:
            return node
        if isinstance(node.target, ast.Attribute):
            assert isinstance(node.target.value, ast.Call)
            name = ast.Constant(self._mangled(node.target.attr))
            old = call_function("_attribute_", node.target.value.args[0], name)
            return call_statement(node, "_inplace_attribute_", ast.Constant(guard), old, node.value)
        if isinstance(node.target, ast.Name):
            value = call_function("_inplace_", ast.Constant(guard), load_name(node.target.id), node.value)
            return with_location(node, ast.Assign(targets=[node.target], value=value))
        index = _as_expression(node.target.slice)
        item = call_function("_item_", node.target.value, index)
        return call_statement(node, "_inplace_item_", ast.Constant(guard), item, node.value)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> VisitResult:
        """Check a width that may be huge before the text is made."""
        spec, conversion = node.format_spec, node.conversion
        node = self.node_contents_visit(node)
        if spec is None or _is_narrow(spec):
            return node
        value = ast.FormattedValue(node.value, conversion, None)
        converted = node.value if conversion == -1 else ast.JoinedStr([value])
        assert node.format_spec is not None
        return with_location(node, ast.FormattedValue(call_function("_format_", converted, node.format_spec), -1, None))

    def visit_Call(self, node: ast.Call) -> VisitResult:
        """Leave a call unchanged, starred or not: hooks that unpacking calls are the plan's own code.

        Calls of the agent that stand directly in the arguments of ``gather`` and the like are begun, not waited for.
        ``__import__("re")`` with a module that plans may import is that module.
        """
        if is_name(node.func, "__import__") and (module := _module_named(node)):
            found = ast.Subscript(load_name("_modules_"), ast.Constant(module), ast.Load())
            return with_location(node, found)
        if _called_name(node) in _BEGINNERS:
            for argument in node.args:
                self._begun.update(_begun_calls(argument))
        return self.node_contents_visit(node)

    def visit_Assign(self, node: ast.Assign) -> VisitResult:
        """Leave unpacking unchanged: an iterator that the plan wrote is the plan's own code."""
        return self.node_contents_visit(node)

    def visit_Assert(self, node: ast.Assert) -> VisitResult:
        """Make a failed assertion uncatchable. Whatever its message raises, or a lack of depth, does not replace it."""
        node = self.node_contents_visit(node)
        note = _record("_unsaid_")
        if node.msg is None or (isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str)):
            fail: list[ast.stmt] = [note, ast.Expr(call_function("_fail_with_", *([node.msg] if node.msg else [])))]
        else:
            ends = ast.ExceptHandler(load_name("_termination_"), None, [ast.Raise()])
            other = ast.ExceptHandler(load_name("_anything_"), None, [note, ast.Expr(call_function("_fail_unsaid_"))])
            fail = [ast.Try([ast.Expr(call_function("_fail_", node.msg))], [ends, other], [], [])]
        return with_location(node, ast.If(ast.UnaryOp(ast.Not(), node.test), fail, []))

    def visit_Raise(self, node: ast.Raise) -> VisitResult:
        """Record a failed assertion that its handler raises again."""
        if node.exc is not None:
            return self.node_contents_visit(node)
        handler = ast.ExceptHandler(load_name("_termination_"), "_end_", [_record("_end_"), ast.Raise()])
        return with_location(node, ast.Try([node], [handler], [], []))

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> VisitResult:
        self._check_binding(node, node.name)
        node = self.node_contents_visit(node)
        if node.type is None:
            node.type = with_location(node, load_name("_exception_"))
        elif any(is_name(n, "AssertionError") for n in ast.walk(node.type)):
            return self._catch_assertions(node)
        node.body.insert(0, call_statement(node, "_guard_exception_"))
        return node

    def _catch_assertions(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        """Let a handler that names AssertionError catch a failed assertion, as in Python."""
        assert node.type is not None
        node.type = with_location(node.type, call_function("_catchable_", node.type))
        first = call_statement(node, "_caught_")
        name = node.name and ast.Name(node.name, ast.Store())
        node.body.insert(0, with_location(node, ast.Assign([name], first.value)) if name else first)
        return node

    def visit_TryStar(self, node: ast.AST) -> VisitResult:
        """Treat ``except*`` as ``except``."""
        return self.visit_Try(node)  # type: ignore[arg-type]

    def visit_With(self, node: ast.With) -> VisitResult:
        """Open each context through the guard, so that none hides the plan's end."""
        node = self.node_contents_visit(node)
        for item in node.items:
            item.context_expr = with_location(item.context_expr, call_function("_context_", item.context_expr))
        return node

    visit_withitem = LanguagePolicy._plain

    def visit_Try(self, node: ast.Try) -> VisitResult:
        self._tried.update(tried_imports([node]))
        self._final_jumps.update(_find_jumps(node.finalbody))
        node = self.node_contents_visit(node)
        if node.finalbody:
            self._finals += 1
            node.finalbody = _guarded_final(node.finalbody, f"_passing_{self._finals}_")
            if self._scopes[-1].kind == "class":  # whose variables anyone may read
                node.finalbody.append(ast.Delete([ast.Name(f"_passing_{self._finals}_", ast.Del())]))
        return node

    def _jump(self, node: ast.Return | ast.Break | ast.Continue) -> VisitResult:
        """Let a jump out of a finally block lose an error, as in Python, but not what ends the plan."""
        is_final = node in self._final_jumps
        result = self._return(node) if isinstance(node, ast.Return) else node
        return [call_statement(node, "_guard_jump_"), result] if is_final else result

    visit_Return = visit_Break = visit_Continue = _jump

    def _return(self, node: ast.Return) -> ast.Return:
        """End the plan in ``solution``: the segment returns a tuple of the plan's value."""
        node = self.node_contents_visit(node)
        if self._scopes[-1].kind != "segment":
            return node
        value = ast.Constant(None) if node.value is None else node.value
        return with_location(node, ast.Return(ast.Tuple([value], ast.Load())))

    # A for loop reads its values through a C iterator that also counts. That costs a fifth of a counter in the loop's
    # body. Functions call the counter itself, which is in C as well.

    def visit_For(self, node: ast.For) -> VisitResult:
        node = self.node_contents_visit(node)
        node.iter = _count_turns(node.iter)
        return node

    def visit_While(self, node: ast.While) -> VisitResult:
        """Let the counting iterator drive the loop: ``for _each_ in _turns_: if not test: break; body``."""
        node = self.node_contents_visit(node)
        if node.orelse:
            node.body.insert(0, call_statement(node, "_turn_"))
            return node
        leave = with_location(node.test, ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], []))
        each = ast.Name("_each_", ast.Store())
        return with_location(node, ast.For(each, load_name("_turns_"), [leave, *node.body], []))

    def visit_comprehension(self, node: ast.comprehension) -> VisitResult:
        """Count its iterations like those of a for loop. ``_turn_`` returns 1."""
        node = self.node_contents_visit(node)
        if node.is_async:
            node.ifs.insert(0, with_location(node.iter, call_function("_turn_")))
        else:
            node.iter = _count_turns(node.iter)
        return node

    def visit_AsyncFor(self, node: ast.AsyncFor) -> VisitResult:
        node = self.node_contents_visit(node)
        node.body.insert(0, call_statement(node, "_turn_"))
        return node

    def visit_AsyncWith(self, node: ast.AsyncWith) -> VisitResult:
        """Open each context through the guard, as ``with`` does."""
        node = self.node_contents_visit(node)
        for item in node.items:
            item.context_expr = with_location(item.context_expr, call_function("_async_context_", item.context_expr))
        return node

    def visit_Await(self, node: ast.Await) -> VisitResult:
        """Begin a call of the agent that is awaited, and give a value that is there already as it is."""
        self._begun.update(_begun_calls(node.value))
        node = self.node_contents_visit(node)
        node.value = with_location(node.value, call_function("_await_", node.value))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> VisitResult:
        with self._scope("lambda"):
            node = self.node_contents_visit(node)
        node.body = with_location(node.body, ast.BoolOp(ast.And(), [call_function("_turn_"), node.body]))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> VisitResult:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> VisitResult:
        """Treat it as any function. Its coroutine has no attribute that a plan may read."""
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> VisitResult:
        self._check_binding(node, node.name)
        self._check_type_parameters(node)
        node.decorator_list = [self._visited(_with_annotation(d, node.args)) for d in node.decorator_list]
        decorators, node.decorator_list = node.decorator_list, []
        node.returns = self._kept_annotation(node.returns)
        node.args = self._visited(node.args)
        with self._scope("function", node.name, function_names(node)):
            node.body = self._visited_body(node.body)
        node.body.insert(_after_text(node.body), call_statement(node, "_turn_"))
        node.decorator_list = decorators
        if self._forms is None or isinstance(node, ast.AsyncFunctionDef):
            return node
        return self._forms.add_to(node, sum(scope.kind == "function" for scope in self._scopes))

    def visit_Name(self, node: ast.Name) -> VisitResult:
        """Let a class read Python's own methods that it has defined, as in ``__rmul__ = __mul__``; a function, too."""
        read = self._scopes[-1].kind in ("class", "function") and isinstance(node.ctx, ast.Load)
        return node if read and node.id in DEFINABLE_DUNDERS else super().visit_Name(node)

    def _check_type_parameters(self, node: ast.AST) -> None:
        if getattr(node, "type_params", None):
            self.error(node, "type parameters are not part of the plan language; leave them out")

    def _visited_body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        visited: list[ast.stmt] = []
        for statement in body:
            result = self.visit(statement)
            visited += result if isinstance(result, list) else [] if result is None else [result]
        return visited or [with_location(body[0], ast.Pass())]

    def visit_ClassDef(self, node: ast.ClassDef) -> VisitResult:
        """Mark the class as the plan's own, after its docstring."""
        self._check_binding(node, node.name)
        self._check_type_parameters(node)
        if any(isinstance(base, ast.Name) and base.id == "type" for base in node.bases):
            self.error(node, "metaclasses are not part of the plan language; use __init_subclass__ or a decorator")
        for name in ("decorator_list", "bases", "keywords"):
            setattr(node, name, [self._visited(n) for n in getattr(node, name)])
        with self._scope("class", node.name):
            node.body = self._visited_body(node.body)
        mark = with_location(node, ast.Assign([ast.Name(CLASS_MARK, ast.Store())], ast.Constant(True)))
        node.body.insert(_after_text(node.body), mark)
        return node

    def _check_binding(self, node: ast.AST, name: str | None) -> None:
        """Let a class define Python's own methods, except those that hold a door open. Its names are attributes."""
        if self._scopes[-1].kind == "class" and name is not None:
            if not is_reserved(name) or name in DEFINABLE_DUNDERS or name in ENUM_NAMES:
                return
            hint = "write a context manager for what must be closed" if name == "__del__" else "leave it out"
            self.error(node, f"a class of a plan cannot define `{name}`; {hint}")
            return
        if name in DEFINABLE_DUNDERS and self._scopes[-1].kind == "function":  # for a class, later
            return
        if name in LOCAL_NAMES and any(s.kind == "function" and name in s.binds for s in self._scopes):
            return
        super()._check_binding(node, name)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> VisitResult:
        """Drop the annotation, except in a class, whose fields it declares."""
        if self._scopes[-1].kind == "class" and isinstance(node.target, ast.Name):
            if not self._annotates:
                node.annotation = _as_text(node.annotation)
            return self.node_contents_visit(node)
        if node.value is None:
            return with_location(node, ast.Pass())
        return self._visited(with_location(node, ast.Assign(targets=[node.target], value=node.value)))

    def visit_Global(self, node: ast.Global) -> VisitResult:
        """Drop it outside functions: there each name is the plan's own anyway."""
        for name in node.names:
            super()._check_binding(node, name)
        return node if len(self._scopes) > 1 else with_location(node, ast.Pass())

    def visit_Nonlocal(self, node: ast.Nonlocal) -> VisitResult:
        """Make the names of ``solution`` global: its body is compiled in parts, which share their names."""
        around = [s.binds for s in self._scopes[1:-1] if s.kind == "function"]
        inner = [name for name in node.names if any(name in binds for binds in around)]
        outer = [name for name in node.names if name not in inner]
        for name in node.names:
            super()._check_binding(node, name)
            if name in outer and name not in self._own:
                self.error(node, f"no binding for nonlocal `{name}` found; set it before the function")
        kinds = ((ast.Nonlocal, inner), (ast.Global, outer))
        return [with_location(node, kind(names)) for kind, names in kinds if names]

    def visit_Yield(self, node: ast.Yield) -> VisitResult:
        """Allow it in functions."""
        return self._yield(node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> VisitResult:
        """Allow it in functions."""
        return self._yield(node)

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> VisitResult:
        if self._scopes[-1].kind == "segment":
            self.error(node, "`yield` belongs into a helper function; the plan itself is no generator")
        return self.node_contents_visit(node)

    def visit_Match(self, node: ast.Match) -> VisitResult:
        """Compile a match with class patterns or dotted names to guarded tests; leave any other to Python."""
        patterns = [n for case in node.cases for n in ast.walk(case.pattern)]
        if not any(isinstance(n, (ast.MatchClass, ast.Attribute)) for n in patterns):
            return self.node_contents_visit(node)
        self._matches += 1
        subject, node = f"_subject_{self._matches}_", self.node_contents_visit(node)
        chain: list[ast.stmt] = []
        for case in reversed(node.cases):
            chain = [with_location(case.pattern, ast.If(_case_test(case, subject), case.body, chain))]
        return [with_location(node, ast.Assign([ast.Name(subject, ast.Store())], node.subject)), *chain]


def _as_text(annotation: ast.expr) -> ast.expr:
    return with_location(annotation, ast.Constant(ast.unparse(annotation)))


_READ_ANNOTATIONS = frozenset({"__annotations__", "get_type_hints", "signature"})
"""The names by which a plan reads the annotations of its functions."""


def reads_annotations(nodes: Iterable[ast.AST]) -> bool:
    """Return whether a plan may read the annotations of its functions. Others lose them, whatever they say."""
    return any(
        getattr(node, field) in _READ_ANNOTATIONS
        for node in nodes
        if (field := _NAMING_FIELDS.get(type(node))) is not None
    )


_NAMING_FIELDS: dict[type[ast.AST], str] = {
    ast.Attribute: "attr",
    ast.Constant: "value",
    ast.Name: "id",
    ast.alias: "name",
}


def _with_annotation(decorator: ast.expr, arguments: ast.arguments) -> ast.expr:
    """Return ``@f.register`` as ``@f.register(int)``, with the annotation of the first parameter after ``self``."""
    first = next((a for a in [*arguments.posonlyargs, *arguments.args][:2] if a.annotation is not None), None)
    if first is None or first.annotation is None or not isinstance(decorator, ast.Attribute):
        return decorator
    if decorator.attr != "register":
        return decorator
    return with_location(decorator, ast.Call(decorator, [copy.deepcopy(first.annotation)], []))


def _after_text(body: list[ast.stmt]) -> int:
    """Return the place of a body's first statement after its docstring."""
    first = body[0]
    return int(isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant))


class _Scope(NamedTuple):
    """A scope around a node: ``segment``, ``function``, ``lambda`` or ``class``, and the names that it binds."""

    kind: str
    name: str = ""
    binds: frozenset[str] = frozenset()


_FOUND = "_found_"


def _case_test(case: ast.match_case, subject: str) -> ast.expr:
    """Return the condition that a case matches: it binds what the case captures, then evaluates its guard."""
    found = ast.NamedExpr(
        ast.Name(_FOUND, ast.Store()), call_function("_case_", load_name(subject), _pattern(case.pattern))
    )
    parts: list[ast.expr] = [ast.Compare(found, [ast.IsNot()], [ast.Constant(None)])]
    names = sorted(
        {name for n in ast.walk(case.pattern) if (name := getattr(n, "name", None) or getattr(n, "rest", None))}
    )
    if names:
        taken = [ast.Subscript(load_name(_FOUND), ast.Constant(name), ast.Load()) for name in names]
        pairs = zip(names, taken, strict=True)
        parts.append(ast.List([ast.NamedExpr(ast.Name(name, ast.Store()), value) for name, value in pairs], ast.Load()))
    if case.guard is not None:
        parts.append(case.guard)
    return ast.BoolOp(ast.And(), parts) if len(parts) > 1 else parts[0]


def _pattern(node: ast.pattern | None) -> ast.expr:
    """Return the expression that makes a pattern for the matcher (see ``runtime.matching``)."""
    form: str
    parts: list[ast.expr]
    match node:
        case ast.MatchValue(value):
            form, parts = "value", [value]
        case ast.MatchSingleton(singleton):
            form, parts = "singleton", [ast.Constant(singleton)]
        case ast.MatchAs(pattern, name):
            form, parts = "capture", [ast.Constant(name), _pattern(pattern)]
        case ast.MatchStar(name):
            form, parts = "capture", [ast.Constant(name), ast.Constant(None)]
        case ast.MatchOr(patterns):
            form, parts = "or", [*map(_pattern, patterns)]
        case ast.MatchSequence(patterns):
            star = next((i for i, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
            before, after = (patterns, []) if star is None else (patterns[:star], patterns[star + 1 :])
            rest = _pattern(patterns[star]) if star is not None else ast.Constant(None)
            form, parts = "sequence", [_patterns(before), rest, _patterns(after)]
        case ast.MatchMapping(keys, patterns, rest):
            items = [_tuple([key, _pattern(p)]) for key, p in zip(keys, patterns, strict=True)]
            form, parts = "mapping", [_tuple(items), ast.Constant(rest)]
        case ast.MatchClass(kind, patterns, names, named):
            pairs = [_tuple([ast.Constant(n), _pattern(p)]) for n, p in zip(names, named, strict=True)]
            form, parts = "class", [kind, _patterns(patterns), _tuple(pairs)]
        case _:
            return ast.Constant(None)
    return _tuple([ast.Constant(form), *parts])


def _patterns(nodes: list[ast.pattern]) -> ast.expr:
    return _tuple([_pattern(n) for n in nodes])


def _tuple(parts: list[ast.expr]) -> ast.expr:
    return ast.Tuple(parts, ast.Load())


_BEGINNERS = frozenset({"gather", "create_task", "ensure_future", "wait_for", "as_completed", "wait", "shield"})
"""Functions in whose arguments calls of the agent are begun, as names or as attributes."""


def _called_name(call: ast.Call) -> str:
    """The name of what is called: that of a function, or of a module's or an object's."""
    if isinstance(call.func, ast.Attribute) and not is_name(call.func.value, "agent"):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _begun_calls(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the methods whose calls are values of this expression: alone, in a list, in a comprehension or in ``map``.

    A call in the arguments of another one is not among them: there its value is needed.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name("agent")) as method):
            yield method
        case ast.Call(func=ast.Name("map"), args=[ast.Attribute(value=ast.Name("agent")) as method, *_]):
            yield method
        case ast.Starred(value=inner) | ast.GeneratorExp(elt=inner) | ast.ListComp(elt=inner) | ast.SetComp(elt=inner):
            yield from _begun_calls(inner)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            for part in parts:
                yield from _begun_calls(part)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _begun_calls(body)
            yield from _begun_calls(orelse)


class _NameUse:
    """How a plan uses one name: bindings and reads, and how many of them only keep calls and wait for them."""

    def __init__(self) -> None:
        self.binds = self.keeps = self.reads = self.waits = self.appends = 0
        self.methods: list[ast.expr] = []

    @property
    def only_waits(self) -> bool:
        """Whether nothing needs the values of the calls that the name keeps."""
        return self.waits > 0 and self.reads == self.waits + self.appends and self.binds == self.keeps


def find_kept_calls(nodes: Iterable[ast.AST]) -> list[ast.expr]:
    """Return the methods of the agent in calls that a name keeps until they are awaited.

    So in ``calls = [agent.f(x) for x in xs]`` and ``calls.append(agent.f(x))`` if every read of ``calls`` stands under
    ``await`` or in the arguments of ``gather`` and the like.
    """
    uses: defaultdict[str, _NameUse] = defaultdict(_NameUse)
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                uses[name].reads += 1
            case ast.Name(id=name) | ast.arg(arg=name):
                uses[name].binds += 1
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                uses[name].keeps += 1
                uses[name].methods += _begun_calls(value)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value]):
                uses[name].appends += 1
                uses[name].methods += _begun_calls(value)
            case ast.Await(value=ast.Name(id=name)):
                uses[name].waits += 1
            case ast.Call(args=arguments) if _called_name(node) in _BEGINNERS:
                for argument in arguments:
                    kept = argument.value if isinstance(argument, ast.Starred) else argument
                    if isinstance(kept, ast.Name):
                        uses[kept.id].waits += 1
    return [method for use in uses.values() if use.only_waits for method in use.methods]


def _stays_small(node: ast.BinOp) -> bool:
    """Return whether the result is at most proportional to the operands: a small constant factor or a remainder."""
    small = [_is_small(node.left), _is_small(node.right)]
    if isinstance(node.op, ast.Mult):
        return any(small)
    if isinstance(node.op, ast.Mod):
        return small[1] and not (isinstance(node.left, ast.Constant) and isinstance(node.left.value, (str, bytes)))
    return all(small) and not isinstance(node.op, ast.LShift)


def _is_small(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (
        type(node.value) is float or (type(node.value) is int and node.value <= _SMALL)
    )


def _is_narrow(spec: ast.expr) -> bool:
    """Return whether a format spec is a constant without a long number."""
    parts = spec.values if isinstance(spec, ast.JoinedStr) else [spec]
    texts = [p.value if isinstance(p, ast.Constant) and isinstance(p.value, str) else None for p in parts]
    return all(t is not None and sum(c.isdigit() for c in t) < _WIDTH_DIGITS for t in texts)


def _as_expression(index: ast.expr) -> ast.expr:
    """Return the index as an expression: a slice in brackets becomes a call that makes the same slice."""
    if not isinstance(index, ast.Slice):
        return index
    return call_function("_slice_", *(b or ast.Constant(None) for b in (index.lower, index.upper, index.step)))


def _count_turns(iterable: ast.expr) -> ast.expr:
    return with_location(iterable, call_function("_counted_", iterable, load_name("_turns_")))


def _record(name: str) -> ast.stmt:
    """Return the statement that records what ends the plan, unless something did. It needs no further call."""
    recorded = ast.Attribute(load_name("_host_"), "failure", ast.Load())
    failure = ast.BoolOp(ast.Or(), [recorded, load_name(name)])
    return ast.Assign([ast.Attribute(load_name("_host_"), "failure", ast.Store())], failure)


def _guarded_final(body: list[ast.stmt], passing: str) -> list[ast.stmt]:
    """Return the body of a ``finally`` for which a failed assertion waits, kept in the variable ``passing``."""
    first = call_statement(body[0], "_guard_finally_")
    note = with_location(body[0], ast.Assign([ast.Name(passing, ast.Store())], first.value))
    held = ast.Attribute(load_name(passing), "held", ast.Store())
    leave = ast.AugAssign(held, ast.Sub(), ast.Constant(1))
    nowhere = ast.Pass(lineno=-1, end_lineno=-1, col_offset=-1, end_col_offset=-1)  # a tracer sees no line
    return [note, with_location(body[0], ast.Try(body, [], [], [with_location(nowhere, leave)]))]


def _find_jumps(body: list[ast.stmt], loop: bool = False) -> Iterator[ast.stmt]:
    """Yield statements that leave these blocks early: return, and break or continue of a loop outside."""
    for s in body:
        if isinstance(s, ast.Return) or (not loop and isinstance(s, (ast.Break, ast.Continue))):
            yield s
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        inner = loop or isinstance(s, (ast.For, ast.AsyncFor, ast.While))
        for name in ("body", "orelse", "finalbody"):
            yield from _find_jumps(getattr(s, name, []), inner if name == "body" else loop)
        for part in [*getattr(s, "handlers", []), *getattr(s, "cases", [])]:
            yield from _find_jumps(part.body, loop)
