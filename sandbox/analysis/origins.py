"""Where the arguments of a plan's calls come from: which answers of tools and of the model can reach each of them.

An abstract interpretation of the plan's text. A name, a container's field or a function's parameter has a set of
*atoms*: origins, cells (the containers and objects that the plan makes, one for each place that makes them), and
functions. Names in one function change in the order of the statements; cells, parameters, results and what functions
read from the outside only grow, until a pass adds nothing. What cannot be followed has the origin ``unknown``.

An origin is ``tool:NAME.FIELD`` (``tool:NAME``: the whole answer; ``.*`` at the end: some part of it), ``ask:N`` (the
N-th question to the model; ``ask:N!`` if its form has no free text), ``revision`` (the text of a plan that was written
after data was shown) or ``unknown``. The text of a first plan and the goal have no origin. With ``~`` in front, the
origin only decides whether or how often something is done: the flow of control.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, NamedTuple

from codeplan.sandbox.language.name_flow import Function, bound_names, function_names, outer_names, scope_nodes
from codeplan.sandbox.language.parsing import parse_plan
from codeplan.sandbox.runtime.names import ASK_USER

MAX_PASSES: Final = 40
"""Passes over a plan; one that still changes then is not followed."""

MAX_STEPS: Final = 300_000
"""Nodes that all passes together may visit."""

MAX_FIELDS: Final = 3
"""Fields of an answer that an origin names, one within the other."""

UNKNOWN: Final = "unknown"
REVISION: Final = "revision"
ANY: Final = "*"


class Ref(NamedTuple):
    """An atom that is no origin.

    A ``cell``; a function of the plan (``fn``), of a container (``bound``, by its cell) or of Python (``builtin``); a
    tool (``method``), the ``agent``, ``ask_llm`` (``ask``); an object or a class of the plan (``obj``); an ``error``;
    what gets attributes by names (``getter``); ``flat``: the parts of the value are in it, mixed.
    """

    kind: str
    key: Any = None


Value = frozenset[str | Ref]

_NOTHING: Final[Value] = frozenset()
_AGENT, _ASK, _OBJECT, _FLAT, _BUILTIN = Ref("agent"), Ref("ask"), Ref("obj"), Ref("flat"), Ref("builtin")
_ERROR, _GETTER = Ref("error"), Ref("getter")
_UNKNOWN: Final[Value] = frozenset({UNKNOWN, _FLAT})

_WRITERS: Final = frozenset(
    {
        "append",
        "appendleft",
        "add",
        "extend",
        "extendleft",
        "insert",
        "update",
        "setdefault",
        "send",
        "asend",
        "athrow",
        "throw",
        "put",
        "put_nowait",
        "push",
        "write",
        "writelines",
        "writerow",
        "writerows",
        "__setitem__",
        "__setattr__",
        "__init__",
        "heappush",
        "rotate",
        "subtract",
        "difference_update",
        "intersection_update",
        "symmetric_difference_update",
        "__iadd__",
        "__iand__",
        "__imul__",
        "__ior__",
        "__isub__",
        "__ixor__",
    }
)
"""Methods that put their arguments into what they are called on."""

_MOVERS: Final = frozenset(
    {"insert", "pop", "popleft", "remove", "reverse", "sort", "rotate", "appendleft", "extendleft", "clear"}
)
"""Methods after which the elements of a list stand at other places."""

_READERS: Final = frozenset(dir(str)) | {
    *("get", "keys", "values", "items", "copy", "group", "groups", "groupdict", "search", "match", "fullmatch"),
    *("findall", "finditer", "sub", "isoformat", "strftime", "date", "time", "total_seconds", "read", "getvalue"),
}
"""Methods that put nothing into an object of a library."""

_SPREADERS: Final = frozenset(
    {"update", "extend", "extendleft", "writelines", "intersection_update", "symmetric_difference_update"}
    | {"__iadd__", "__iand__", "__ior__", "__ixor__"}
)
_RETURN_NOTHING: Final = frozenset({"append", "appendleft", "add", "insert", "extend", "update"})

_SAME_ELEMENTS: Final = frozenset(
    {"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "deque", "islice", "chain", "filter"}
)
_ONE_ELEMENT: Final = frozenset({"max", "min", "next", "choice"})
_EACH: Final = frozenset({"map", "each"})
_READ_ALL: Final = frozenset({"locals", "globals", "vars", "eval", "dir"})
_CALLED: Final = frozenset({"fn", "method", "ask", "bound"})
_FOLLOWED: Final = (
    *_SAME_ELEMENTS,
    *_ONE_ELEMENT,
    *_EACH,
    *_READ_ALL,
    "getattr",
    "setattr",
    "enumerate",
    "zip",
    "super",
)
_MODULE: Final = "module"
"""The first part of the key of a module's cell."""

_STATEFUL: Final = frozenset({"contextvars", "logging", "threading", "traceback", "warnings"})
"""Modules whose functions may return what any of them was given."""

_TRACERS: Final = ("logging", "traceback")
"""Modules that show an exception that is being handled."""

_SETTINGS: Final = frozenset(
    {
        "algorithms_available",
        "algorithms_guaranteed",
        "all_tasks",
        "argv",
        "current_task",
        "field_size_limit",
        "firstweekday",
        "get_dialect",
        "getcontext",
        "list_dialects",
        "localcontext",
        "register_dialect",
        "seed",
        "setcontext",
        "setfirstweekday",
        "setstate",
        "unregister_dialect",
    }
)
"""Functions by which a module keeps a setting, which shows in what libraries compute, and containers that it keeps."""

_KEPT_SETTINGS: Final = Ref("cell", (_MODULE, "settings"))
_SETTERS: Final[Value] = frozenset({_KEPT_SETTINGS, Ref("bound", _KEPT_SETTINGS.key)})
_ERRORS: Final = Ref("cell", (_MODULE, "errors"))
"""What any error that the plan meets may carry."""

_ERROR_READERS: Final = frozenset({"exc_info", "exception"})
"""Functions of ``sys`` that return the error that is being handled."""

_OF_ERRORS: Final = frozenset({"__cause__", "__context__", "__notes__"})
"""Attributes of an error that are not its arguments: other errors and notes."""

_GETTERS: Final = frozenset({"attrgetter", "getattr", "methodcaller"})
_FORMATTERS: Final = frozenset({"format", "format_map", "vformat"})
"""Functions and methods that get attributes by names that they are given."""

_KEEPERS: Final[Mapping[str, Value]] = {
    **dict.fromkeys(("asyncio", "calendar", "csv", "decimal", "hashlib", "random"), _SETTERS),
    "sys": _SETTERS | {_ERRORS},
}
"""Modules with settings, each with what it may give to code that gets the module itself."""

_REDIRECTORS: Final = frozenset({"redirect_stderr", "redirect_stdout"})

_BUILTIN_ERRORS: Final = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)

_PLAIN_BASES: Final = frozenset(
    {"object", "ABC", "Generic", "Protocol", "NamedTuple", "TypedDict", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}
    | {"str", "bytes", "int", "float", "complex", "list", "dict", "tuple", "set", "frozenset"}
    | _BUILTIN_ERRORS
)
"""Classes that call no method of a class derived from them but those with names of Python."""

_PLAIN_HOMES: Final = frozenset({"abc", "enum", "typing"})
"""The modules of those that are no builtins."""

_HOMES: Final = frozenset({"collections", "itertools", "random"})
_MAKERS: Final = ("__init__", "__new__", "__post_init__", "__set_name__", "__init_subclass__", "_missing_")
_GIVERS: Final = ("__new__", "_missing_")
"""Those of them that return the object."""

_OF_CLASSES: Final = frozenset(
    {"__bases__", "__dataclass_fields__", "__defaults__", "__kwdefaults__", "__mro__", "_field_defaults"}
)
"""Attributes that are containers of what a class or a function has, or of classes."""

_OF_WRAPPERS: Final = frozenset({"fdel", "fget", "fset", "func", "registry"})
"""Attributes of a property or the like that are its functions, or hold them."""

_OF_MAPPINGS: Final = frozenset({"get", "items", "keys"})
_OF_GENERATORS: Final = frozenset({"close", "send", "throw"})
_ENUMS: Final = frozenset({"Enum", "Flag", "IntEnum", "IntFlag", "StrEnum"})
_LEAVERS: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_ORDER: Final = "#order"  # a field that is read only by going through a container
_CLOSED: Final = frozenset({"int", "float", "bool", "date", "datetime", "Decimal", "None"})


class TooHard(Exception):
    """The plan takes too many passes or steps."""


def find_origins(source: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The origins of the arguments of each call in a plan.

    ``arguments`` may hold ``tools`` (the agent's methods), ``start_from``, ``variables`` and ``asks`` (as returned for
    the plan before, whose variables a resumed run starts with), and for a plan that was written after data was shown
    ``goal`` and ``known``, the texts of the plans before that. Returns ``sites`` (rows of tool, first and last line,
    the origins of each argument by position, name or ``*``, those of control, whether no known plan calls the tool),
    ``asks`` (by number, what each question was given), ``variables`` (rows of name, origins, cells) and ``followed``.
    Raises RejectedPlanError.
    """
    tree = parse_plan(source)
    try:
        interpreter = _Interpreter(tree, arguments)
        interpreter.run()
        return interpreter.findings()
    except (TooHard, RecursionError):
        return {"sites": [], "asks": {}, "variables": [], "followed": False}


class _Known:
    """What a plan has in common with the plans before data was shown; all of it if there are none to compare."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        texts = arguments.get("known")
        self.compares = texts is not None
        trees = [ast.parse(text) for text in texts or ()]
        nodes = [node for tree in trees for node in ast.walk(tree)]
        self._goal = str(arguments.get("goal", ""))
        self._constants = {_constant_key(n.value) for n in nodes if isinstance(n, ast.Constant)}
        self._statements = _most_often(Counter(_head(n) for n in ast.walk(t) if isinstance(n, ast.stmt)) for t in trees)
        self.calls = {n.attr for n in nodes if isinstance(n, ast.Attribute)}

    def own_statements(self, tree: ast.Module) -> frozenset[ast.AST]:
        """The statements of a plan that stand in no known one, or more often, each without those in it; and what a
        loop repeats that is one of these.
        """
        if not self.compares:
            return frozenset()
        left, found = self._statements.copy(), set[ast.AST]()
        for node in ast.walk(tree):
            if isinstance(node, ast.stmt):
                left[head := _head(node)] -= 1
                if left[head] < 0:
                    found.add(node)
        loops = [node for node in found if isinstance(node, ast.For | ast.AsyncFor | ast.While)]
        return frozenset(found).union(*(set(ast.walk(loop)) for loop in loops))

    def has_constant(self, value: object) -> bool:
        """Whether the constant stands in a known plan or in the goal."""
        if not self.compares or value is None or isinstance(value, bool) or value in ("", Ellipsis):
            return True
        text = value if isinstance(value, str) else str(value)
        in_goal = re.search(rf"(?<!\w){re.escape(text)}(?!\w)", self._goal) is not None
        return in_goal or _constant_key(value) in self._constants


def _constant_key(value: object) -> tuple[str, str]:
    return type(value).__name__, str(value)


def _most_often(counts: Iterable[Counter[str]]) -> Counter[str]:
    """How often each stands in the plan that has it most."""
    found: Counter[str] = Counter()
    for each in counts:
        found |= each
    return found


def _head(node: ast.stmt) -> str:
    """A statement's text, without the statements in it."""
    parts = [type(node).__name__]
    for name, part in ast.iter_fields(node):
        given = part if isinstance(part, list) else [part]
        parts += [_dump(each, name) for each in given if not isinstance(each, ast.stmt | ast.ExceptHandler)]
    return "\n".join(parts)


def _dump(part: object, name: str) -> str:
    return f"{name}={ast.dump(part) if isinstance(part, ast.AST) else part}"


class _Function:
    """A function of the plan: what its parameters can hold, what it returns, and the values of its expressions."""

    def __init__(self, node: Function, scope: _Scope) -> None:
        self.node, self.outer = node, scope
        a = node.args
        self.positional = [p.arg for p in (*a.posonlyargs, *a.args)]
        self.named = {p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
        self.nameless = {p.arg for p in a.posonlyargs}
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        yields = (ast.Yield, ast.YieldFrom)
        self.yields = any(isinstance(n, yields) for n in scope_nodes(body))
        self.scope = _Scope(scope, function_names(node), outer_names(body))
        self.is_new = False  # a lambda in a revision's own statement
        self.result: set[str | Ref] = set()
        self.seen: set[str | Ref] = set()
        self.control: set[str | Ref] = set()
        self.is_stale = True  # its parameters have grown since its body was interpreted
        self.is_active = False


class _Scope:
    """The names of a function or of the module. ``now`` is what they hold here, ``ever`` what they hold anywhere.

    ``shared`` names are written by functions within, so their ``ever`` counts here as well.
    """

    def __init__(self, outer: _Scope | None, names: frozenset[str], shared: Iterable[str]) -> None:
        self.outer, self.names, self.shared, self.is_class = outer, names, {*shared}, False
        self.now: dict[str, Value] = {}
        self.ever: defaultdict[str, set[str | Ref]] = defaultdict(set)

    def home(self, name: str) -> _Scope:
        """The scope to which the name belongs."""
        scope = self
        while scope.outer is not None and name not in scope.names:
            scope = scope.outer
        return scope

    def around(self) -> _Scope:
        """The scope that functions defined here see: not a class's."""
        return self.outer if self.is_class and self.outer is not None else self


class _Site:
    """A call of a tool at one place."""

    def __init__(self) -> None:
        self.arguments: defaultdict[str, set[str | Ref]] = defaultdict(set)
        self.control: set[str | Ref] = set()


class _Interpreter:
    """Runs the abstract interpretation. ``new`` is whether the statement here is a revision's own."""

    def __init__(self, tree: ast.Module, arguments: Mapping[str, Any]) -> None:
        self.tree = tree
        self.tools = frozenset(arguments.get("tools", ()))
        self.start_from = int(arguments.get("start_from", 1))
        self.variables = list(arguments.get("variables", ()))
        self.known = _Known(arguments)
        self.own = self.known.own_statements(tree)
        self.heap: defaultdict[Any, defaultdict[str, set[str | Ref]]] = defaultdict(lambda: defaultdict(set))
        self.functions: dict[Any, _Function] = {}
        self.methods: defaultdict[str, list[_Function]] = defaultdict(list)
        self.properties: set[str] = set()
        self.classes: dict[Any, _Scope] = {}
        self.sites: defaultdict[tuple[str, int, int], _Site] = defaultdict(_Site)
        self.asks: dict[tuple[int, int], int] = {}
        self.asked: defaultdict[int, set[str | Ref]] = defaultdict(set)
        for number, given in arguments.get("asks", {}).items():
            self.asked[int(number)] = set(given)
        self.first_ask = 1 + max(self.asked, default=-1)
        self.module = _Scope(None, frozenset(), ())
        self.scope = self.module
        self.control: Value = _NOTHING
        self.seen: list[set[str | Ref]] = [set()]
        self.tried: defaultdict[Any, set[str | Ref]] = defaultdict(set)  # the values in a ``try`` or ``with``
        self.bound: list[dict[str, Value]] = []  # what names were given inside of a loop, ``try`` or ``with``
        self.late: set[Any] = set()  # functions that Python's own code may call, at any time
        self.loose: set[str] = set()  # tools that are called by another name, so perhaps at another line
        self.printed: set[str | Ref] = set()
        self.stateful: dict[str, Value] = {}  # names of modules that keep what they are given, and of their members
        self.keepers: dict[str, Value] = dict.fromkeys(
            ("asyncio", "random"), _SETTERS
        )  # names of modules with settings
        self.class_keys: set[Any] = set()
        self.library: set[Any] = set()  # the classes whose methods a library may call, as it derives them from its own
        self.enums: set[Any] = set()
        self.homes = set(_PLAIN_HOMES)  # names of modules with plain bases
        self.foreign: set[str] = set()  # names of these or of plain bases that an import gives to something else
        self.imported: dict[str, bool] = {}  # names that hide a function of Python; whether a revision does it
        self.function: _Function | None = None
        self.new = False
        self.leaving: dict[Any, bool] = {}
        self.is_calling_given = False
        self.growth = 0  # counts what was added to cells, parameters and results
        self.flattened: dict[tuple[Value, ...], tuple[int, Value]] = {}
        self.is_changed = True
        self.steps = 0
        modules = {alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
        modules |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        self.solution = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "solution"), None)

    # ------------------------------------------------------------------ passes

    def run(self) -> None:
        """Pass over the plan until nothing is added. Raises: TooHard."""
        for _ in range(MAX_PASSES):
            self.is_changed = False
            self.control, self.scope = _NOTHING, self.module
            self.block(self.tree.body)
            if self.solution is not None:
                self._enter_solution(self.functions[_place(self.solution)])
            for function in list(self.functions.values()):
                if function.node is not self.solution:
                    self._body(function)
            seen = self.seen[0].union(*(function.seen for function in self.functions.values()))
            self.grow(self.heap[_ERRORS.key][ANY], seen)
            if not self.is_changed:
                return
        raise TooHard

    def _enter_solution(self, solution: _Function) -> None:
        first = solution.positional[:1]
        for name in first:
            self.grow(solution.scope.ever[name], {_AGENT})
        solution.scope.names |= {row[0] for row in self.variables}
        for name, origins, cells in self.variables:
            held = {*origins, *(Ref("cell", ("kept", cell)) for cell in cells)}
            self.grow(solution.scope.ever[name], held | ({_OBJECT} if self.methods else set()))
        self._body(solution)

    def _body(self, function: _Function) -> None:
        """Interpret a function's body with all that its parameters ever hold."""
        before = self.scope, self.control, self.function, self.seen, self.new, self.bound
        function.is_stale, function.is_active = False, True
        self.bound = []
        self.scope, self.control, self.function = function.scope, frozenset(function.control), function
        self.seen = [function.seen]
        self.scope.now = {name: frozenset(held) for name, held in self._initial(function)}
        if isinstance(function.node, ast.Lambda):
            self.new = function.is_new
            self.grow(function.result, self.value(function.node.body))
            self.new = False
        else:
            self.block(function.node.body)
        function.is_active = False
        self.scope, self.control, self.function, self.seen, self.new, self.bound = before

    def _initial(self, function: _Function) -> Iterator[tuple[str, set[str | Ref]]]:
        kept = {row[0] for row in self.variables} if function.node is self.solution else set()
        a = function.node.args
        extra = {p.arg for p in (a.vararg, a.kwarg) if p}
        for name in function.named | extra | kept:
            yield name, function.scope.ever[name]

    def grow(self, held: set[str | Ref], more: Iterable[str | Ref]) -> None:
        """Add atoms to what only grows."""
        size = len(held)
        held.update(more)
        if len(held) > size:
            self.is_changed = True
            self.growth += 1

    # ------------------------------------------------------------------ values

    def flat(self, *values: Iterable[str | Ref]) -> Value:
        """Values that an operation mixes: all that can be reached from them, as one."""
        given = tuple(map(frozenset, values))
        growth, flat = self.flattened.get(given, (-1, _NOTHING))
        if growth != self.growth:
            flat = self._flatten(given)
            self.flattened[given] = self.growth, flat
        return flat

    def _flatten(self, values: Iterable[Value]) -> Value:
        reached: set[str | Ref] = set()
        new: set[str | Ref] = set().union(*values)
        while new:
            reached |= new
            inside = [
                held
                for atom in new
                if isinstance(atom, Ref) and atom.kind in ("cell", "fn") and (key := _heap_key(atom)) in self.heap
                for held in self.heap[key].values()
            ]
            new = set().union(*inside) - reached
        found = {_some_part(atom) if isinstance(atom, str) else atom for atom in reached}
        if _OBJECT in found:
            found |= self._hooks(found)
        if found:
            found.add(_FLAT)
        return frozenset(found)

    def computed(self, *values: Iterable[str | Ref]) -> Value:
        """The value of an expression that computes; what a revision's own statement computes is the revision's."""
        return self.noted(self.flat(*values) | ({REVISION} if self.new else _NOTHING))

    def noted(self, value: Value) -> Value:
        """The value, which an exception raised near here may carry."""
        for seen in self.seen:
            self.grow(seen, value)
        return value

    def taken(self, value: Value) -> Value:
        """A part of a value: which part of a known text, a revision's own statement says."""
        return value | {REVISION} if self.new and _is_text(value) else value

    def order(self, made: Value) -> Value:
        """A container that is filled here: what it has, and in which order, a revision's own statement says."""
        if self.new:
            self.store(made, _ORDER, {REVISION})
        return made

    def elements(self, value: Value) -> Value:
        """What one gets by going through a value."""
        if _FLAT in value:
            return value
        found: set[str | Ref] = set()
        for atom in value:
            if isinstance(atom, Ref) and atom.kind == "cell":
                for held in self.heap[atom.key].values():
                    found |= held
            else:
                found.add(atom)
        return self.taken(value) | found if _is_text(value) else self._with_hooks(found, value)

    def _unpacked(self, value: Value, names: frozenset[str]) -> Value:
        """All that a value holds, and what methods of these names return, which Python's own code calls."""
        found = self.flat(value)
        return found | self._hooks(found, names) if _OBJECT in found else found

    def _mapped(self, value: Value) -> Value:
        """What ``**value`` has."""
        return self.elements(value) | (self._hooks(value, _OF_MAPPINGS) if _OBJECT in value else _NOTHING)

    def _with_hooks(self, found: set[str | Ref], value: Value) -> Value:
        return frozenset(found) | (self._hooks(value) if _OBJECT in value else _NOTHING)

    def field(self, value: Value, name: str) -> Value:
        """What a value holds under a constant key, index (``#0``) or attribute."""
        if _FLAT in value:
            return value
        found: set[str | Ref] = set()
        for atom in value:
            if isinstance(atom, str):
                found.add(_with_field(atom, name))
            elif atom.kind in ("cell", "fn"):
                fields = self.heap[_heap_key(atom)]
                found |= fields.get(name, _NOTHING) | fields.get(ANY, _NOTHING)
            elif atom is _BUILTIN:
                found.add(atom)
        return self.taken(value) if _is_text(value) else frozenset(found)

    def store(self, value: Iterable[str | Ref], name: str, more: Iterable[str | Ref]) -> None:
        """Put atoms into the cells of a value."""
        held = {*more, *self.control}
        for atom in value:
            if isinstance(atom, Ref) and atom.kind in ("cell", "fn"):
                self.grow(self.heap[_heap_key(atom)][name], held)

    def move(self, value: Value) -> None:
        """The elements of lists may stand at other places now."""
        for atom in value:
            if isinstance(atom, Ref) and atom.kind == "cell" and "List" in atom.key:
                fields = self.heap[atom.key]
                self.grow(fields[ANY], [each for name, held in fields.items() if name != ANY for each in held])

    def cell(self, node: ast.AST, fields: Mapping[str, Iterable[str | Ref]], what: str = "") -> Value:
        """A new container made at this place."""
        key = (*_place(node), what)
        for name, held in fields.items():
            self.grow(self.heap[key][name], held)
        return frozenset({Ref("cell", key)})

    def _hooks(self, given: Iterable[str | Ref], more: frozenset[str] = frozenset()) -> set[str | Ref]:
        """What special methods, properties and ``more`` of the plan's classes return, called with these atoms."""
        found: set[str | Ref] = set()
        for name, functions in self.methods.items():
            if _is_hook(name) or name in self.properties or name in more:
                for function in functions:
                    self.give_all(function, given)
                    found |= function.result
        return found | self._call_assigned(given, more)

    def _call_assigned(self, given: Iterable[str | Ref], more: frozenset[str] = frozenset()) -> set[str | Ref]:
        """What functions return that a class has as special methods, or as any that a library may call."""
        found: set[str | Ref] = set()
        for key in sorted(self.class_keys):
            for name, held in list(self.heap[key].items()):
                if key in self.library or name == ANY or _is_hook(name) or name in more:
                    found |= self._call_any(held, given, key[0])
        return found

    def _call_any(self, functions: Collection[str | Ref], given: Iterable[str | Ref], line: int) -> set[str | Ref]:
        """What these functions return, each called with these atoms. Tools among them get them wherever they stand."""
        found: set[str | Ref] = set()
        if _GETTER in functions and _ERROR in {*given}:
            found.add(_ERRORS)
        for kind, key in [(atom.kind, atom.key) for atom in functions if isinstance(atom, Ref)]:
            if kind == "fn":
                self.give_all(self.functions[key], given)
                found |= self.functions[key].result
            elif kind == "bound" and key:
                self.store({Ref("cell", key)}, ANY, given)
                found |= {*given}
            elif kind == "method":
                self.loose.add(key)
                self.grow(self.sites[key, line, line].arguments[ANY], given)
                found |= {f"tool:{key}", *given}
            elif kind == "ask":
                found.add(UNKNOWN)
        return found

    # ------------------------------------------------------------------ names

    def read(self, name: str) -> Value:
        """What a name holds here."""
        home = self.scope.home(name)
        held = home.now.get(name, _NOTHING)
        if home is not self.scope or name in home.shared:
            held |= home.ever.get(name, _NOTHING)
        outer = home.outer if home.is_class else None
        while outer is not None:  # before the class binds it, Python looks past the functions around
            held |= outer.ever.get(name, _NOTHING)
            outer = outer.outer
        return held

    def set_name(self, name: str, value: Value) -> None:
        """Bind a name."""
        value |= self.control
        home = self.scope.home(name)
        home.now[name] = value
        for held in self.bound if home is self.scope else ():
            held[name] = held.get(name, _NOTHING) | value
        if home is not self.scope:
            home.shared.add(name)
        self.grow(home.ever[name], value)

    def bind(self, target: ast.AST, value: Value) -> None:
        """Assign a value to a target."""
        match target:
            case ast.Name(id=name):
                self.set_name(name, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                starred = any(isinstance(part, ast.Starred) for part in parts)
                for place, part in enumerate(parts):
                    self.bind(part, self.elements(value) if starred else self.field(value, f"#{place}"))
            case ast.Starred(value=inner):
                self.bind(inner, self.cell(inner, {ANY: value}))
            case ast.Attribute(value=base, attr=name):
                held = self.value(base)
                self.store(held, name, value)
                if _OBJECT in held:
                    self._hooks({*held, *value})
            case ast.Subscript(value=base, slice=key):
                held, field = self.value(base), _constant_field(key)
                self.store(self.order(held), field or ANY, value)
                if isinstance(key, ast.Slice):
                    self.move(held)
                    self.store(held, ANY, self.elements(value))
                if field is None:
                    self.store(held, ANY, self.value(key))
                if _OBJECT in held:
                    self._hooks({*held, *value, *self.value(key)})

    # ------------------------------------------------------------------ expressions

    def value(self, node: ast.AST | None) -> Value:
        """What an expression can be."""
        if node is None:
            return _NOTHING
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooHard
        way = _EXPRESSIONS.get(type(node))
        return way(self, node) if way else self._mixed(node)

    def _mixed(self, node: ast.AST) -> Value:
        return self.computed(*(self.value(child) for child in ast.iter_child_nodes(node) if _is_code(child)))

    def _constant(self, node: ast.Constant) -> Value:
        return _NOTHING if not self.new or self.known.has_constant(node.value) else frozenset({REVISION})

    def _name(self, node: ast.Name) -> Value:
        if node.id == "ask_llm":
            return frozenset({_ASK})
        if self.is_bound(node.id):
            return self.read(node.id)
        if node.id in _READ_ALL:
            return _UNKNOWN
        if node.id in self.stateful:
            return self.stateful[node.id]
        kept = self.keepers.get(node.id, _NOTHING) | ({_ERROR} if node.id in _BUILTIN_ERRORS else _NOTHING)
        kept |= {_GETTER} if node.id in _GETTERS else _NOTHING
        return kept | ({_BUILTIN, REVISION} if self.imported.get(node.id) else {_BUILTIN})

    def _owner(self, node: ast.expr) -> Value:
        """What stands before a dot. A module there does not give all that it keeps."""
        held = self.value(node)
        is_module = isinstance(node, ast.Name) and node.id in self.keepers and not self.is_bound(node.id)
        return frozenset(atom for atom in held if isinstance(atom, str) or atom is _BUILTIN) if is_module else held

    def is_bound(self, name: str) -> bool:
        """Whether the plan binds the name, other than by an import."""
        return name in self.scope.home(name).ever

    def _attribute(self, node: ast.Attribute) -> Value:
        base = self._owner(node.value)
        self.noted(base)  # an AttributeError has it
        methods = {Ref("bound", _heap_key(a)) for a in base if isinstance(a, Ref) and a.kind in ("cell", "fn")}
        if not methods and _AGENT not in base:  # ``", ".join``
            methods.add(_BUILTIN)
        if node.attr in _FORMATTERS:
            methods.add(_GETTER)
        return self.attribute(base, node.attr) | methods

    def attribute(self, base: Value, name: str) -> Value:
        """What an attribute of a value can be."""
        found: Value = frozenset(_some_part(a) for a in base if isinstance(a, str))
        found |= self.field(frozenset(a for a in base if not isinstance(a, str)), name)
        if _AGENT in base:
            is_tool = name in self.tools or not self.tools
            found |= {Ref("method", name)} if is_tool else {f"tool:{name}"}
        if name in _OF_CLASSES:
            found |= self.flat(base)
        elif name.startswith("__"):  # ``__class__``, ``__dict__``
            found |= base
        if name in _OF_WRAPPERS:
            found |= {atom for atom in base if _is_function(atom)}
        if name in _OF_ERRORS:
            found |= self.flat({_ERRORS})
        if name in _GETTERS and _BUILTIN in base:
            found |= {_GETTER}
        if name in _SETTINGS and _BUILTIN in base:
            found |= _SETTERS
        if name in _ERROR_READERS and _BUILTIN in base and _FLAT not in base:
            found |= {_ERRORS}
        if self.new and name.startswith("_"):  # ``__name__``, ``_fields``: text that a name is
            found |= {REVISION}
        if self.new and "__getattr__" in self.methods:
            found |= self._hooks({*base, REVISION})
        if _OBJECT in base and _FLAT in found:  # ``v = property(f)``
            found |= self._call_any({a for a in found if _is_called_later(a)}, base, 1)
        for function in self.methods.get(name, ()):
            self.give(function, function.positional[:1], base)
            found |= {Ref("fn", _place(function.node))}
            if name in self.properties:
                found |= function.result
        return found

    def _subscript(self, node: ast.Subscript) -> Value:
        base, name = self.value(node.value), _constant_field(node.slice)
        hooked = self._hooks({*base, *self.flat(self.value(node.slice))}) if _OBJECT in base else _NOTHING
        if name is not None:
            return self.noted(self.field(base, name) | hooked)
        if isinstance(node.slice, ast.Slice):
            return self.computed(base, self.value(node.slice))
        if isinstance(node.slice, ast.UnaryOp | ast.Constant):
            return self.noted(self.elements(base))
        return self.noted(self.elements(base) | self.flat(self.value(node.slice)))

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        if any(isinstance(each, ast.Starred) for each in node.elts):
            return self.order(self.cell(node, {ANY: frozenset().union(*map(self.value, node.elts))}))
        made = self.cell(node, {f"#{place}": self.value(each) for place, each in enumerate(node.elts)})
        return self.order(made) if len(node.elts) > 1 else made

    def _starred(self, node: ast.Starred) -> Value:
        return self.elements(self.value(node.value))

    def _dict(self, node: ast.Dict) -> Value:
        made = self.cell(node, {})
        for key, each in zip(node.keys, node.values, strict=True):
            if key is None:
                self.store(made, ANY, self._mapped(self.value(each)))
                continue
            name, held = _constant_field(key), self.value(each)
            self.store(made, name or ANY, held if name else held | self.value(key))
        return self.order(made)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        before, now = self.control, dict(self.scope.now)
        for loop in node.generators:
            self.bind(loop.target, self.elements(self.value(loop.iter)))
            for test in loop.ifs:
                self.control |= _control(self.flat(self.value(test)))
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        held = _NOTHING.union(*map(self.value, parts))
        made = self.cell(node, {ANY: held | self.control})
        self.control = before
        hidden = {n.id for loop in node.generators for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        for name in hidden:
            if name in now:
                self.scope.now[name] = now[name]
            else:
                self.scope.now.pop(name, None)
        return made

    def _choice(self, node: ast.IfExp) -> Value:
        control = _control(self.flat(self.value(node.test)))
        return self.value(node.body) | self.value(node.orelse) | control

    def _bool_op(self, node: ast.BoolOp) -> Value:
        return frozenset().union(*map(self.value, node.values))

    def _walrus(self, node: ast.NamedExpr) -> Value:
        held, home = self.value(node.value), self.scope.home(node.target.id)
        self.bind(node.target, held)
        if node.target.id not in home.shared:  # it may be skipped, or stand before where it is read
            home.shared.add(node.target.id)
            self.is_changed = True
        return held

    def _lambda(self, node: ast.Lambda) -> Value:
        return self.define(node)

    def _await(self, node: ast.Await) -> Value:
        return self.value(node.value)

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Value:
        held = self.value(node.value)
        if isinstance(node, ast.YieldFrom):
            held = self.elements(held) | (self._delegate(held) if _OBJECT in held else _NOTHING)
        if self.function is None:
            return held
        made = self.cell(self.function.node, {ANY: held | self.control}, "yields")
        self.grow(self.function.result, self.order(made))
        self.called_late({Ref("fn", _place(self.function.node))})
        return self.noted(self.elements(made)) | (
            self.elements(self.value(node.value)) if isinstance(node, ast.YieldFrom) else _NOTHING
        )

    def _delegate(self, held: Value) -> set[str | Ref]:
        """What methods return to which ``yield from`` hands what the generator is sent."""
        sent = self.field(self.cell(self.function.node, {}, "yields"), ANY) if self.function else _NOTHING
        return self._hooks({*held, *sent}, _OF_GENERATORS)

    # ------------------------------------------------------------------ calls

    def _call(self, node: ast.Call) -> Value:
        arguments = _Arguments(self, node)
        match node.func:
            case ast.Name(id=name) if name in self.stateful and not self.is_bound(name):
                return self.noted(self._call_stateful(node, self.stateful[name], arguments))
            case ast.Name(id=name) if (name in self.imported or name in self.keepers) and not self.is_bound(name):
                return self.noted(self._unfollowed(node, arguments, self.value(node.func)))
            case ast.Name(id=name) if name != "ask_llm" and not self.is_bound(name):
                return self.noted(self._builtin(node, name, arguments))
            case ast.Attribute(value=base, attr=name):
                held = self._owner(base)
                arguments.is_bound = any(isinstance(a, Ref) and a.kind == "cell" and a.key[-1] != "class" for a in held)
                function = self.attribute(held, name)
                if _are_public_names(node.args):  # ``operator.attrgetter("email")``
                    function -= {_GETTER}
                found = self.call(function, node, arguments)
                if _AGENT in held and name in self.tools:
                    return self.noted(found)
                return self.noted(found | self._method(node, held, name, arguments))
            case function:
                return self.noted(self.call(self.value(function), node, arguments))

    def call(self, function: Value, node: ast.Call, arguments: _Arguments) -> Value:
        """What a call of any of these functions returns."""
        found: set[str | Ref] = set()
        mixed = function if _FLAT in function else _NOTHING
        for atom in function:
            if isinstance(atom, str):
                found.add(_some_part(atom))
            elif atom.kind == "fn":
                found |= self._call_function(self.functions[atom.key], arguments, mixed)
                if (key := _heap_key(atom)) in self.heap:  # ``singledispatch``
                    more = {a for a in self.heap[key][ANY] if _is_called_later(a)}
                    found |= self._call_any(more, arguments.every, node.lineno)
            elif atom.kind == "method":
                found |= self._call_tool(atom.key, node, arguments, mixed)
            elif atom.kind == "ask":
                found |= self._call_model(node, arguments)
            elif atom.kind == "cell":
                found |= self._made_object(node, atom, arguments, function)
            elif atom.kind in ("bound", "builtin"):
                cell = frozenset({Ref("cell", atom.key)} if atom.key else ())
                self.store(cell, ANY, arguments.every | self.elements(arguments.every))
                self._write_out(cell, arguments, frozenset({_FLAT}))
                found |= self._unfollowed(node, arguments, cell, function & {_GETTER})
        if _AGENT in function:  # ``attrgetter("send")(agent)(x)``
            found |= self._call_tool(ANY, node, arguments, mixed)
        if _OBJECT in function:
            found |= self._hooks({*function, *arguments.every})
        return frozenset(found)

    def _unfollowed(self, node: ast.Call, arguments: _Arguments, *more: Value) -> Value:
        """What a function that is not the plan's own returns: perhaps a new container, and all arguments in it."""
        called = self._call_given(node, arguments, more=more)
        if getattr(node.func, "attr", getattr(node.func, "id", "")) == "create_task":
            self.store({_KEPT_SETTINGS}, ANY, arguments.named.get("name", _NOTHING))
        if _AGENT in self.flat(arguments.every):  # ``methodcaller("send", x)(agent)``
            self._call_tool(ANY, node, arguments, self.flat(arguments.every, *more))
        for held in (*arguments.positional, *arguments.named.values()):  # it may fill one with another: ``heappush``
            self.store(held, ANY, arguments.every - held)
            self.move(held)
        made = self._classes_of_dicts(arguments)
        found = self.computed(arguments.every, called, self._settings(), *more, made) | self.cell(node, {}) | {_FLAT}
        if "return_exceptions" in arguments.named:
            found |= {_ERROR}
        return found | self.flat({_ERRORS}) if {_ERROR, _GETTER} <= found else found  # ``attrgetter("__context__")``

    def _classes_of_dicts(self, arguments: _Arguments) -> Value:
        """An object, if a dict among the arguments holds special methods: ``type(name, (), methods)`` makes a class."""
        cells = [a.key for a in self.flat(arguments.every) if isinstance(a, Ref) and a.kind == "cell"]
        keys = {key for key in cells if "Dict" in key}
        made = {
            key
            for key in keys
            for name, held in self.heap[key].items()
            if (name == ANY or name in _MAKERS or _is_hook(name)) and any(map(_is_called_later, held))
        }
        self.is_changed |= not made <= self.class_keys
        self.class_keys |= made
        return frozenset({_OBJECT} if made else ())

    def _settings(self) -> Value:
        """What settings of modules were given."""
        return frozenset(atom for atom in self.flat({_KEPT_SETTINGS}) if isinstance(atom, str))

    def _write_out(self, base: Value, arguments: _Arguments, kind: Value) -> None:
        """An object of a library may write what it holds into another of a kind, as ``parser.write(stream)`` does."""
        for held in (*arguments.positional, *arguments.named.values()):
            if kind <= held:
                self.store(filter(_is_made_elsewhere, held), ANY, self.flat(base))

    def _call_stateful(self, node: ast.Call, base: Value, arguments: _Arguments) -> Value:
        """What a module returns that keeps what it is given, and may put it into whatever it holds, or print it."""
        inside = self.flat(base, arguments.every)
        self.store(inside, ANY, arguments.every)
        called = self._call_assigned(inside)
        given = self._call_given(node, _Arguments.of([inside]))
        self.grow(self.printed, inside | self._raised(set()))
        return self._unfollowed(node, arguments, inside, frozenset(called), given)

    def _call_function(self, function: _Function, arguments: _Arguments, mixed: Value) -> set[str | Ref]:
        bound = 1 if function in self.methods.get(getattr(function.node, "name", ""), ()) else 0
        parameters = function.positional[bound:]
        if bound and not arguments.is_bound:  # ``Class.method(self, x)``
            for parameter, held in zip(function.positional, arguments.positional, strict=False):
                self.give(function, [parameter], held)
        if isinstance(function.node, ast.AsyncFunctionDef):
            self.called_late({Ref("fn", _place(function.node))})
        for place, held in enumerate(arguments.positional):
            if place < len(parameters) and not (arguments.is_starred or mixed):
                self.give(function, [parameters[place]], held)
            else:
                self.give(function, [*parameters[0 if arguments.is_starred or mixed else place :]], held)
                self._give_extra(function, function.node.args.vararg, held)
        for name, held in arguments.named.items():
            has_name = name in function.named - function.nameless
            if has_name and not mixed:
                self.give(function, [name], held)
            elif name == ANY or mixed:
                self.give(function, function.named, held)
            if not has_name:
                self._give_extra(function, function.node.args.kwarg, held)
        if mixed:
            self.give(function, function.named, mixed)
        self.grow(function.control, self.control)
        if function.is_stale and not function.is_active:
            self._body(function)
        for seen in self.seen:
            self.grow(seen, function.seen)
        return {*function.result}

    def give(self, function: _Function, parameters: Iterable[str], held: Value) -> None:
        """Let parameters of a function hold these atoms, too."""
        for name in parameters:
            known = function.scope.ever[name]
            function.is_stale = function.is_stale or not known.issuperset(held)
            self.grow(known, held)

    def give_all(self, function: _Function, held: Iterable[str | Ref]) -> None:
        """Let each parameter of a function that Python itself calls hold these atoms, too."""
        value = frozenset(held)
        self.give(function, function.named, value)
        self._give_extra(function, function.node.args.vararg, value)
        self._give_extra(function, function.node.args.kwarg, value)
        self.called_late({Ref("fn", _place(function.node))})

    def called_late(self, functions: Iterable[str | Ref]) -> None:
        """Note that Python's own code may call these functions, and that any statement may meet what they raise."""
        self.grow(self.late, {a.key for a in functions if isinstance(a, Ref) and a.kind == "fn"})

    def _give_extra(self, function: _Function, parameter: ast.arg | None, held: Value) -> None:
        if parameter is not None:
            made = self.order(self.cell(parameter, {ANY: held}))
            self.grow(function.scope.ever[parameter.arg], made)

    def _call_tool(self, name: str, node: ast.Call, arguments: _Arguments, mixed: Value) -> Value:
        site = self.sites[name, node.lineno, node.end_lineno or node.lineno]
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == name):
            self.loose.add(name)
        self.grow(site.control, self.control)
        unclear = mixed or arguments.is_starred
        for place, held in enumerate(arguments.positional):
            self.grow(site.arguments[ANY if unclear else str(place)], held)
        for key, held in arguments.named.items():
            self.grow(site.arguments[ANY if mixed else key], held)
        self.grow(site.arguments[ANY], mixed) if mixed else None
        given = frozenset(atom for atom in self.flat(arguments.every) if isinstance(atom, str))
        return frozenset({f"tool:{name}"}) | self.cell(node, {}) | given  # it may answer with what it was given

    def _call_model(self, node: ast.Call, arguments: _Arguments) -> Value:
        number = self.asks.setdefault(_place(node)[:2], self.first_ask + len(self.asks))
        form = next((k.value for k in node.keywords if k.arg == "form"), node.args[2] if len(node.args) > 2 else None)
        self.grow(self.asked[number], self.flat(arguments.every))
        if not isinstance(form, ast.Dict):
            return frozenset({_answer_of(number, form), *self.cell(node, {})})
        fields = {
            _constant_field(k) or ANY: {_answer_of(number, v)} for k, v in zip(form.keys, form.values, strict=True) if k
        }
        return self.cell(node, fields)

    def _made_object(self, node: ast.Call, made: Ref, arguments: _Arguments, called: Value) -> Value:
        """The object that a call of a class of the plan makes; of anything else in a cell nothing is known."""
        if not isinstance(made.key, tuple) or made.key[-1] != "class":
            for held in (*arguments.positional, *arguments.named.values()):  # ``methodcaller("append", x)(xs)``
                self.store(held, ANY, called - {_FLAT, _BUILTIN})
            return self._unfollowed(node, arguments, called)
        found = self.cell(node, {ANY: arguments.every}) | {made, _OBJECT} | (called & {_ERROR})
        arguments.is_bound = True
        for name in _MAKERS:
            known = {Ref("fn", _place(function.node)) for function in self.methods.get(name, ())}
            returned = self._call_any(self.heap[made.key][name] - known, {*found, *arguments.every}, node.lineno)
            found |= returned - {_FLAT} if name in _GIVERS else _NOTHING
            for function in self.methods.get(name, ()):
                self.give(function, function.positional[:1], found)
                returned = self._call_function(function, arguments, _NOTHING)
                found |= returned - {_FLAT} if name in _GIVERS else _NOTHING
                if name == "__post_init__":  # which of them it gets, the fields say
                    self.give(function, function.positional[1:], arguments.every)
        return found

    def _builtin(self, node: ast.Call, name: str, arguments: _Arguments) -> Value:
        """What a function that is not the plan's own returns."""
        every, first = arguments.every, arguments.positional[0] if arguments.positional else _NOTHING
        if name == ASK_USER:  # the user's own words, as good as the goal
            return _NOTHING
        if name in _READ_ALL:
            return _UNKNOWN
        if name == "getattr" and len(node.args) >= 2:
            return self._getattr(node, arguments)
        if name == "setattr" and len(node.args) == 3:
            self.store(first, _constant_field(node.args[1]) or ANY, every - first)
            return _NOTHING
        if name == "super" and self.function is not None:
            first_parameter = self.function.positional[:1]
            return _NOTHING.union(*map(self.read, first_parameter)) | self._unfollowed(node, arguments)
        if name == "print":
            self.grow(self.printed, self.flat(every))
        if name in _REDIRECTORS:
            self.store(every, ANY, self.printed)
        if name in _EACH and len(arguments.positional) > 1:
            self.called_late(first)
            each = arguments.with_positional([self.elements(held) for held in arguments.positional[1:]])
            return self.cell(node, {ANY: self.call(first, node, each)})
        taken = arguments.positional[1:] if name == "filter" else arguments.positional
        own = _NOTHING.union(*taken, *(held for key, held in arguments.named.items() if key != "key"))
        items = self.elements(own)
        if name in _SAME_ELEMENTS:
            returned = self._call_given(node, arguments, items)
            return self.cell(node, {ANY: items | (returned if name == "iter" else _NOTHING)})
        if name in _ONE_ELEMENT:  # ``max(1, x)`` gives an argument itself
            self._call_given(node, arguments, items)
            return items | own | self._settings()
        if name in ("enumerate", "zip"):
            return self._pairs(node, name, arguments)
        is_getter = name in _GETTERS and not _are_public_names(node.args)
        kinds = ((_ERROR, name in _BUILTIN_ERRORS), (_GETTER, is_getter))
        return self._unfollowed(node, arguments).union(kind for kind, holds in kinds if holds)

    def _getattr(self, node: ast.Call, arguments: _Arguments) -> Value:
        base, name = arguments.positional[0], _constant_field(node.args[1])
        if name is not None:
            return self.attribute(base, name).union(*arguments.positional[2:])
        found = self.flat(arguments.every)
        if _ERROR in found:  # ``__context__``
            found |= self.flat({_ERRORS})
        return found | ({Ref("method", ANY), _FLAT} if _AGENT in base else _NOTHING)

    def _pairs(self, node: ast.Call, name: str, arguments: _Arguments) -> Value:
        columns = [self.elements(held) for held in arguments.positional]
        if arguments.is_starred:
            return self.computed(arguments.every)
        count: Value = frozenset({REVISION} if self.new else ())
        fields = (
            {"#0": count, "#1": columns[0]}
            if name == "enumerate"
            else {f"#{n}": held for n, held in enumerate(columns)}
        )
        return self.cell(node, {ANY: self.cell(node, fields, "pair")})

    def _call_given(
        self, node: ast.Call, arguments: _Arguments, items: Value | None = None, more: Iterable[Value] = ()
    ) -> Value:
        """What functions among the arguments return, called with ``items``, or else with all arguments mixed."""
        every = self.flat(arguments.every)
        self.called_late(every)
        functions = frozenset(a for a in every if isinstance(a, Ref) and a.kind in _CALLED)
        if not functions or self.is_calling_given:
            return _NOTHING
        self.is_calling_given = True
        given = self.flat(every, *more) if items is None else items
        found = self.call(functions if items is not None else functions | {_FLAT}, node, _Arguments.of([given]))
        self.is_calling_given = False
        return found

    def _method(self, node: ast.Call, base: Value, name: str, arguments: _Arguments) -> Value:
        """What a method that is not the plan's own returns."""
        every = arguments.every
        if name in _MOVERS:
            self.move(base)
        if name in _REDIRECTORS:
            self.store(every, ANY, self.printed)
        if name in _SETTINGS:
            base |= _SETTERS
        if name == "set_name" and name not in self.methods:  # of a task
            self.store({_KEPT_SETTINGS}, ANY, every)
        if any(isinstance(atom, Ref) and atom.kind == "cell" and atom.key[0] == _MODULE for atom in base):
            return self._call_stateful(node, base, arguments)
        if _OBJECT in base and self.library:
            called = frozenset(self._call_assigned(self.flat(base, every)))
            arguments = arguments.with_positional([*arguments.positional, called])
        elif _BUILTIN in base and _FLAT in base and name not in _READERS:
            self._write_out(base, arguments, frozenset({_FLAT} if name == "readinto" else {_FLAT, _BUILTIN}))
        if _OBJECT not in base and name not in _READERS:
            self.store(frozenset(filter(_is_made_elsewhere, base)), ANY, every)
        if name == "exception":  # of a Future
            return self._unfollowed(node, arguments, base) | {_ERROR}
        if name in _FORMATTERS and not _are_public_names([getattr(node.func, "value", None)]):
            return self._unfollowed(node, arguments, base, frozenset({_GETTER}))
        if name == "register":
            return self._unfollowed(node, arguments, base) | {
                Ref("bound", _heap_key(a)) for a in base if isinstance(a, Ref) and a.kind == "fn"
            }
        if name in _WRITERS and _BUILTIN not in base:
            self.order(base)
            spreads = name in _SPREADERS or (name == "__init__" and _OBJECT not in base)
            self.store(base, ANY, every | (self.elements(every) if spreads else _NOTHING))
            if name in _RETURN_NOTHING:
                return _NOTHING
        if name in ("get", "pop", "setdefault") and node.args:
            key = _constant_field(node.args[0])
            rest = _NOTHING.union(*arguments.positional[1:])
            return (self.field(base, key) if key else self.elements(base) | self.flat(arguments.positional[0])) | rest
        if name == "copy" and not every:
            return base
        if name == "items" and _FLAT not in base and not any(isinstance(atom, str) for atom in base):
            pair = self.cell(node, {"#0": self.flat(base), "#1": self.elements(base)}, "pair")
            return self.cell(node, {ANY: pair})
        held = self.flat(filter(_is_made_elsewhere, base))
        if not any(isinstance(atom, Ref) and atom.kind == "fn" for atom in held):
            return self._unfollowed(node, arguments, base)
        called = self._call_given(node, _Arguments.of([held | self.flat(every)]))  # ``parser.optionxform``
        return self._unfollowed(node, arguments, base, called)

    # ------------------------------------------------------------------ statements

    def block(self, body: Iterable[ast.stmt]) -> None:
        """Statements one after the other."""
        for node in body:
            before, self.new = self.new, node in self.own
            way = _STATEMENTS.get(type(node))
            if way:
                way(self, node)
            else:
                for child in ast.iter_child_nodes(node):
                    self.value(child)
            self.new = before

    def define(self, node: Function) -> Value:
        """The value of a function that is defined here."""
        key = _place(node)
        function = self.functions.get(key)
        if function is None:
            function = self.functions[key] = _Function(node, self.scope.around())
            self.is_changed = True
        function.is_new = self.new
        by_name = zip((p.arg for p in node.args.kwonlyargs), node.args.kw_defaults, strict=True)
        for name, default in (
            *zip(reversed(function.positional), reversed(node.args.defaults), strict=False),
            *by_name,
        ):
            held = self.value(default)
            self.give(function, [name], held)
            self.store({Ref("fn", key)}, "__defaults__", held)
        return frozenset({Ref("fn", key)})

    def _def(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        value = self.define(node)
        self.set_name(node.name, self._decorated(node, value))

    def _decorated(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, value: Value) -> Value:
        for decorator in reversed(node.decorator_list):
            place, held = ast.copy_location(ast.Call(decorator, [], []), decorator), self.value(decorator)
            if _OBJECT in held:  # a ContextDecorator
                own = [a.key for a in value if isinstance(a, Ref) and a.kind == "fn"]
                self._call_exits(self.flat(*(self.functions[each].seen for each in own)))
            called = frozenset(a for a in held if not isinstance(a, Ref) or a.kind in (*_CALLED, "cell"))
            value |= self.call(called, place, _Arguments.of([value]))
        return value

    def _class(self, node: ast.ClassDef) -> None:
        made = self.cell(node, {}, "class") | {_OBJECT}
        for base in node.bases:
            held = self.value(base)
            made |= frozenset(a for a in held if isinstance(a, Ref))
            if _OBJECT not in held and not self._is_plain(base.value if isinstance(base, ast.Subscript) else base):
                self.library |= {(*_place(node), "class")}
            if getattr(base, "id", getattr(base, "attr", "")) in _ENUMS:
                self.enums |= {(*_place(node), "class")}
        keys = {a.key for a in made if isinstance(a, Ref) and a.kind == "cell" and a.key[-1] == "class"}
        self.class_keys |= keys
        if not self.library.isdisjoint(keys):
            self.is_changed |= not keys <= self.library
            self.library |= keys
        given = _NOTHING.union(*(self.value(keyword.value) for keyword in node.keywords))
        if given:
            self._call_on_class("__init_subclass__", given | made)
        outer, key = self.scope, _place(node)
        if key not in self.classes:
            self.classes[key] = _Scope(outer.around(), bound_names(node.body), ())
            self.classes[key].is_class = True
        self.scope = self.classes[key]
        for each in node.body:
            self.block([each])
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                self._add_method(each)
        attributes, self.scope = self.scope.ever, outer
        for name, value in attributes.items():
            self.store(made, name, value)
        self._call_on_class("__set_name__", made)
        if not keys.isdisjoint(self.library | self.enums):
            self._add_members(made, attributes)
        self.set_name(node.name, made | self._decorated(node, made))

    def _call_on_class(self, name: str, given: Value) -> None:
        """The methods of this name are called as a class is made."""
        for key in sorted(self.class_keys):
            self._call_any(self.heap[key][name], given, key[0])

    def _add_members(self, made: Value, held: Mapping[str, Iterable[str | Ref]]) -> None:
        """The members of an Enum are objects that it makes of their values."""
        values = frozenset().union(*held.values()) | made
        for name, value in [*held.items()]:
            self.store(made, name, _NOTHING if any(map(_is_function, value)) else made)
        for name in ("__init__", "__new__", "_generate_next_value_"):
            for function in self.methods.get(name, ()):
                self.give_all(function, values)
                self.store(made, ANY, function.result)

    def _is_plain(self, base: ast.AST) -> bool:
        """Whether a base is a plain class by its own name."""
        match base:
            case ast.Name(id=name):
                return name in _PLAIN_BASES and name not in self.foreign and not self.is_bound(name)
            case ast.Attribute(value=ast.Name(id=home), attr=name):
                is_home = home in self.homes and home not in self.foreign and not self.is_bound(home)
                return is_home and name in _PLAIN_BASES
        return False

    def _add_method(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        function = self.functions[_place(node)]
        if function not in self.methods[node.name]:
            self.methods[node.name].append(function)
            self.is_changed = True
        named = {getattr(d, "id", getattr(d, "attr", "")) for d in node.decorator_list}
        if named - {"staticmethod", "classmethod"}:
            self.properties.add(node.name)
        if "staticmethod" in named:
            self.give(function, function.positional, frozenset().union(*function.scope.ever.values()))

    def _assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.bind(target, value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if self.scope.is_class:  # elsewhere Python does not evaluate it
            told = {atom for atom in self.flat(self.value(node.annotation)) if isinstance(atom, str)}
            self.grow(self.scope.ever["__annotations__"], told) if told else None
        if node.value is not None:
            self.bind(node.target, self.value(node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        before, more = self.value(_loaded(node.target)), self.value(node.value)
        self.store(self.order(before), ANY, more | self.elements(more))
        self.move(before)
        self.bind(node.target, before | self.computed(before, more))

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.value(target)
            if isinstance(target, ast.Subscript):
                held = self.value(target.value)
                self.move(held)
                if _OBJECT in held:
                    self._hooks({*held, *self.flat(self.value(target.slice))})

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        is_home = isinstance(node, ast.ImportFrom) and node.module in _HOMES
        for alias in node.names:
            name = alias.asname or alias.name
            module = alias.name if isinstance(node, ast.Import) else node.module
            if module in _STATEFUL:
                self.stateful[name] = frozenset({Ref("cell", (_MODULE, module))})
            elif isinstance(node, ast.Import) and alias.name in _KEEPERS:
                self.keepers[name] = _KEEPERS[alias.name]
            elif alias.name in _SETTINGS:
                self.stateful[name] = _SETTERS
            elif module == "sys" and alias.name in _ERROR_READERS:
                self.keepers[name] = frozenset({_ERRORS})
            if isinstance(node, ast.Import) and module in _PLAIN_HOMES:
                self.homes.add(name)
            elif name in _PLAIN_BASES | _PLAIN_HOMES and not (module in _PLAIN_HOMES and alias.name == name):
                self.is_changed |= name not in self.foreign
                self.foreign.add(name)
            if self.new or (name in _FOLLOWED and not (is_home and name == alias.name)):
                self.imported[name] = self.imported.get(name, False) or self.new

    def _return(self, node: ast.Return) -> None:
        held = self.value(node.value) | self.control
        if self.function is not None:
            self.grow(self.function.result, held)

    def _assert(self, node: ast.Assert) -> None:
        self.control |= _control(self.flat(self.value(node.test)))
        self.noted(self.value(node.msg))

    def _raise(self, node: ast.Raise) -> None:
        self.noted(self.flat(self.value(node.exc), self.value(node.cause)))

    def _if(self, node: ast.If) -> None:
        step = _step_of(node.test) if self.function is None or self.function.node is self.solution else None
        if step is not None:
            self.block(node.body if step >= self.start_from else node.orelse)
            return
        with self._under(node, self.flat(self.value(node.test))):
            self._fork([node.body, node.orelse])

    def _fork(self, ways: Iterable[Iterable[ast.stmt]]) -> None:
        start, ends = dict(self.scope.now), []
        for body in ways:
            self.scope.now = dict(start)
            self.block(body)
            ends.append(self.scope.now)
        self.scope.now = _joined(ends)

    @contextmanager
    def _under(self, node: ast.AST, deciding: Value) -> Iterator[None]:
        """What is done in a statement is decided by these atoms, and what follows if the statement may leave."""
        before = self.control
        self.control = before | _control(deciding)
        yield
        if not self._leaves(node):
            self.control = before

    def _leaves(self, node: ast.AST) -> bool:
        key = _place(node)
        if key not in self.leaving:
            self.leaving[key] = any(isinstance(n, _LEAVERS) for n in ast.walk(node))
        return self.leaving[key]

    def _while(self, node: ast.While) -> None:
        with self._under(node, self.flat(self.value(node.test))):
            self._loop(node, lambda: self.value(node.test))

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        items = self.elements(self.value(node.iter))
        with self._under(node, self.flat(items)):
            self._loop(node, lambda: self.bind(node.target, items))

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, begin: Callable[[], object]) -> None:
        start = dict(self.scope.now)
        leaves = any(isinstance(n, ast.Break | ast.Continue) for n in ast.walk(node))
        while True:
            before = self.scope.now
            self.scope.now = dict(before)
            with self._binding() as held:
                begin()
                self.block(node.body)
            self.scope.now = _joined([before, self.scope.now, *([held] if leaves else [])])
            if self.scope.now == before:
                break
        self.block(node.orelse)
        self.scope.now = _joined([start, self.scope.now])

    @contextmanager
    def _binding(self) -> Iterator[dict[str, Value]]:
        """All that names are given in a block, which may be left anywhere."""
        held: dict[str, Value] = {}
        self.bound.append(held)
        yield held
        self.bound.pop()

    def _raised(self, seen: set[str | Ref]) -> Value:
        """What an exception that was raised in a block may carry."""
        return self.flat(seen, *(self.functions[key].seen for key in self.late)) | {_ERROR}

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        start = dict(self.scope.now)
        self.seen.append(self.tried[_place(node)])
        with self._binding() as every:
            with self._binding() as passed:
                self.block(node.body)
            seen = self._raised(self.seen.pop())
            for module in _TRACERS:
                self.grow(self.heap[_MODULE, module][ANY], seen)
            if self.own and not self.own.isdisjoint(n for each in node.body for n in ast.walk(each)):
                seen |= {REVISION}  # a message may have a name or a key
            self.block(node.orelse)
            ends = [self.scope.now]
            for handler in node.handlers:
                self.scope.now = _joined([start, passed])
                with self._under(handler, seen):
                    if handler.name:
                        self.set_name(handler.name, seen)
                    self.block(handler.body)
                ends.append(self.scope.now)
        self.scope.now = _joined([*ends, *([start, every] if node.finalbody else ())])
        self.block(node.finalbody)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        before, entered = dict(self.scope.now), _NOTHING
        self.seen.append(self.tried[_place(node)])
        with self._binding() as passed:
            for item in node.items:
                held = self.value(item.context_expr)
                entered |= held
                hooks = self._hooks(held) if _OBJECT in held else set()
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, held | hooks | self.elements(held))
            self.block(node.body)
        seen = self._raised(self.seen.pop())
        self.store(entered, ANY, seen)
        self._call_exits(seen)
        self.scope.now = _joined([before, passed, self.scope.now])

    def _call_exits(self, seen: Value) -> None:
        """The ends of contexts are called with what was raised inside of them."""
        for name in ("__exit__", "__aexit__"):
            for function in self.methods.get(name, ()):
                self.give_all(function, seen | {_ERROR})

    def _match(self, node: ast.Match) -> None:
        subject = self.value(node.subject)
        start, ends = dict(self.scope.now), [dict(self.scope.now)]
        with self._under(node, self.flat(subject)):
            for case in node.cases:
                self.scope.now = dict(start)
                for compared in (n.value for n in ast.walk(case.pattern) if isinstance(n, ast.MatchValue)):
                    self.flat(self.value(compared), subject)
                for name in _captured(case.pattern):
                    self.set_name(name, self._unpacked(subject, _OF_MAPPINGS))
                self.value(case.guard)
                self.block(case.body)
                ends.append(self.scope.now)
        self.scope.now = _joined(ends)

    # ------------------------------------------------------------------ findings

    def findings(self) -> dict[str, Any]:
        """The result as plain data."""
        sites = []
        for (tool, line, end), site in sorted(self.sites.items()):
            given = [each.arguments for (name, _, _), each in self.sites.items() if name == tool and name in self.loose]
            keys = sorted({key for each in (site.arguments, *given) for key in each})
            held = {key: self.flat(site.arguments[key], *(each.get(key, ()) for each in given)) for key in keys}
            plain = {key: _origins(atoms) for key, atoms in held.items()}
            control = _deciding(site.control.union(*held.values()))
            is_new = self.known.compares and tool not in self.known.calls
            sites.append([tool, line, end, plain, control, is_new])
        asks = {str(number): self._given(number) for number in sorted(self.asked)}
        return {"sites": sites, "asks": asks, "variables": self._variables(), "followed": True}

    def _given(self, number: int) -> list[str]:
        return _origins(self.flat(self.asked[number]))

    def _variables(self) -> list[Any]:
        """Each variable with its origins and cells, by which a resumed run finds what is the same object."""
        if self.solution is None:
            return []
        numbers: dict[Any, int] = {}
        rows = []
        for name, held in sorted(self.functions[_place(self.solution)].scope.ever.items()):
            cells = {a.key for a in held if isinstance(a, Ref) and a.kind == "cell"}
            direct = not any(self.heap[key] for key in cells)
            value = frozenset(held) if direct else self.flat(held)
            every = {a.key for a in value if isinstance(a, Ref) and a.kind == "cell"}
            origins = sorted(a for a in value if isinstance(a, str))
            shared = sorted(numbers.setdefault(key, len(numbers)) for key in sorted(every, key=str))
            rows.append([name, origins, shared])
        return rows


class _Arguments:
    """The arguments of a call: values by position and by name (``*`` for ``**mapping``).

    ``is_bound`` says that a method's first parameter is not among them.
    """

    def __init__(self, interpreter: _Interpreter, node: ast.Call) -> None:
        self.positional, self.is_bound = [interpreter.value(each) for each in node.args], False
        self.is_starred = any(isinstance(each, ast.Starred) for each in node.args)
        self.named: dict[str, Value] = {}
        for keyword in node.keywords:
            held = interpreter.value(keyword.value)
            name = keyword.arg or ANY
            held = held if keyword.arg else interpreter._mapped(held)
            self.named[name] = self.named.get(name, _NOTHING) | held

    @classmethod
    def of(cls, positional: list[Value]) -> _Arguments:
        """Arguments by position alone."""
        made = cls.__new__(cls)
        made.positional, made.is_starred, made.named, made.is_bound = positional, False, {}, False
        return made

    def with_positional(self, positional: list[Value]) -> _Arguments:
        """These arguments in place of those by position."""
        made = _Arguments.of(positional)
        made.is_starred, made.named, made.is_bound = self.is_starred, self.named, self.is_bound
        return made

    @property
    def every(self) -> Value:
        """All atoms of all arguments."""
        return frozenset().union(*self.positional, *self.named.values())


def _place(node: ast.AST) -> tuple[int, int, str]:
    """A node's place, by which its cell or function is known."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0), type(node).__name__


def _heap_key(atom: Ref) -> Any:
    """Where the heap has the contents of a cell, or the attributes of a function."""
    return atom.key if atom.kind == "cell" else ("fn", *atom.key)


def _is_text(value: Value) -> bool:
    """Whether a value has no origin and no parts that are known: it may be a text of the plan."""
    return all(isinstance(atom, Ref) and atom.kind in ("builtin", "bound", "error", "getter", "obj") for atom in value)


def _are_public_names(texts: Iterable[ast.AST | None]) -> bool:
    """Whether these are constant texts without a name such as ``__context__``."""
    return all(
        isinstance(text, ast.Constant) and isinstance(text.value, str) and "__" not in text.value for text in texts
    )


def _is_hook(name: str) -> bool:
    """Whether Python or Enum may call a method of this name at any time."""
    return name.startswith("_") and name.endswith("_") and name not in _MAKERS


def _is_function(atom: str | Ref) -> bool:
    return isinstance(atom, Ref) and atom.kind == "fn"


def _is_called_later(atom: str | Ref) -> bool:
    """Whether a value is a function of the plan, or a tool, that a property or the like calls."""
    return isinstance(atom, Ref) and atom.kind in ("fn", "method")


def _is_made_elsewhere(atom: str | Ref) -> bool:
    """Whether a cell is what a function returned that is not the plan's own, or what was kept from a run before."""
    return isinstance(atom, Ref) and atom.kind == "cell" and ("Call" in atom.key or "kept" in atom.key)


def _is_code(node: ast.AST) -> bool:
    return isinstance(node, ast.expr | ast.FormattedValue | ast.keyword | ast.Slice)


@lru_cache(maxsize=4096)
def _some_part(origin: str) -> str:
    """The origin of a part that is not known any more."""
    return origin if not origin.lstrip("~").startswith("tool:") or origin.endswith(".*") else f"{origin}.*"


def _with_field(origin: str, name: str) -> str:
    """The origin of a field of a tool's answer; an index does not count."""
    if not origin.startswith("tool:") or name.startswith("#") or origin.endswith(".*"):
        return origin
    return f"{origin}.{name}" if origin.count(".") < MAX_FIELDS and "." not in name else _some_part(origin)


@lru_cache(maxsize=4096)
def _control(value: Value) -> Value:
    """The origins of a value, as what decides."""
    return frozenset(a if a.startswith("~") else f"~{a}" for a in value if isinstance(a, str))


def _origins(value: Iterable[str | Ref]) -> list[str]:
    """The origins of data for the caller, to whom a field and a part of it are the same."""
    return sorted({a.removesuffix(".*") for a in value if isinstance(a, str) and not a.startswith("~")})


def _deciding(value: Iterable[str | Ref]) -> list[str]:
    """The origins of control for the caller."""
    return sorted({a[1:].removesuffix(".*") for a in value if isinstance(a, str) and a.startswith("~")})


def _constant_field(key: ast.AST) -> str | None:
    """The field that a constant key names; None if the key is computed."""
    if not isinstance(key, ast.Constant) or isinstance(key.value, bool):
        return None
    if isinstance(key.value, int):
        return f"#{key.value}"
    return key.value if isinstance(key.value, str) and not key.value.startswith("#") else None


def _answer_of(number: int, form: ast.AST | None) -> str:
    return f"ask:{number}!" if form is not None and _is_closed(form) else f"ask:{number}"


def _is_closed(form: ast.AST) -> bool:
    """Whether values of this form have no free text."""
    match form:
        case ast.Constant(value=None):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _CLOSED
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal")):
            return True
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            return all(map(_is_closed, parts))
        case ast.Subscript(slice=part):
            return _is_closed(part)
        case ast.BinOp(left=left, right=right):
            return _is_closed(left) and _is_closed(right)
        case ast.List(elts=parts) | ast.Dict(values=parts):
            return all(map(_is_closed, parts))
    return False


def _step_of(test: ast.AST) -> int | None:
    """The step that a guard ``start_from <= k`` begins; None if it is no guard."""
    match test:
        case ast.Compare(left=ast.Name(id="start_from"), ops=[ast.LtE()], comparators=[ast.Constant(value=int(step))]):
            return step
    return None


def _loaded(target: ast.AST) -> ast.AST:
    """The expression that reads a target."""
    match target:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
    return target


def _captured(pattern: ast.AST) -> Iterator[str]:
    for node in ast.walk(pattern):
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if isinstance(name, str):
            yield name


def _joined(ways: Iterable[dict[str, Value]]) -> dict[str, Value]:
    """What names hold after one of several ways."""
    found: dict[str, Value] = {}
    for way in ways:
        for name, held in way.items():
            before = found.get(name)
            found[name] = held if before is None or before is held else before | held
    return found


_I = _Interpreter
_EXPRESSIONS: Final[dict[type[ast.AST], Callable[[_Interpreter, Any], Value]]] = {
    ast.Constant: _I._constant,
    ast.Name: _I._name,
    ast.Attribute: _I._attribute,
    ast.Subscript: _I._subscript,
    ast.List: _I._sequence,
    ast.Tuple: _I._sequence,
    ast.Set: _I._sequence,
    ast.Starred: _I._starred,
    ast.Dict: _I._dict,
    ast.ListComp: _I._comprehension,
    ast.SetComp: _I._comprehension,
    ast.GeneratorExp: _I._comprehension,
    ast.DictComp: _I._comprehension,
    ast.IfExp: _I._choice,
    ast.BoolOp: _I._bool_op,
    ast.NamedExpr: _I._walrus,
    ast.Lambda: _I._lambda,
    ast.Await: _I._await,
    ast.Yield: _I._yield,
    ast.YieldFrom: _I._yield,
    ast.Call: _I._call,
}
_STATEMENTS: Final[dict[type[ast.AST], Callable[[_Interpreter, Any], None]]] = {
    ast.FunctionDef: _I._def,
    ast.AsyncFunctionDef: _I._def,
    ast.ClassDef: _I._class,
    ast.Assign: _I._assign,
    ast.AnnAssign: _I._annotated,
    ast.AugAssign: _I._augmented,
    ast.Return: _I._return,
    ast.Assert: _I._assert,
    ast.Raise: _I._raise,
    ast.If: _I._if,
    ast.While: _I._while,
    ast.For: _I._for,
    ast.AsyncFor: _I._for,
    ast.Try: _I._try,
    ast.TryStar: _I._try,
    ast.With: _I._with,
    ast.AsyncWith: _I._with,
    ast.Match: _I._match,
    ast.Import: _I._import,
    ast.ImportFrom: _I._import,
    ast.Delete: _I._delete,
    ast.Global: lambda self, node: None,
    ast.Nonlocal: lambda self, node: None,
}
