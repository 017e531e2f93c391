"""``ast`` for texts: plans read the syntax of an expression, and nothing of it can run.

The nodes are Python's own. A plan makes them with the fields that they have, reads them, and cannot write their
attributes; no plan can compile one.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Any, Final

from codeplan.sandbox.runtime.attributes import ALLOWED_ATTRIBUTES
from codeplan.sandbox.runtime.classes import VISIBLE_TYPES, mark_class
from codeplan.sandbox.runtime.guards import set_name

MAX_CHARS: Final = 100_000
"""Maximum length of a text that is parsed."""

MAX_NESTING: Final = 40
"""Maximum nesting of brackets."""

MAX_DEPTH: Final = 200
"""Maximum depth of a tree."""

MAX_INDENT: Final = 16
"""Maximum ``indent`` of ``dump``."""

_SIGN_RUN = re.compile(r"(?:[-+~][ \t]*+){8}")
"""Eight or more signs in a row: each is one more level of nesting."""


def size_problem(text: str) -> str | None:
    """Return why a text is too large for Python's parser, which could crash over it, or None."""
    if len(text) > MAX_CHARS:
        return f"it has {len(text)} characters; at most {MAX_CHARS} are allowed"
    depth = deepest = 0
    for c in text:
        if c in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif c in ")]}":
            depth -= 1
    if deepest > MAX_NESTING or _SIGN_RUN.search(text):
        return TOO_DEEP
    return None


TOO_DEEP: Final = "it is nested too deeply"


def parse(source: Any, filename: str = "<unknown>", mode: str = "exec") -> ast.AST:
    """``ast.parse``. Raises: SyntaxError; ValueError: the text is too long, or nested too deeply."""
    if type(source) is not str or type(mode) is not str:
        raise TypeError("ast.parse takes a text")
    if mode not in ("exec", "eval", "single"):
        raise ValueError("ast.parse() mode must be 'exec', 'eval' or 'single'")
    problem = size_problem(source)
    if problem is None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree: ast.AST = compile(source, "<unknown>", mode, ast.PyCF_ONLY_AST, dont_inherit=True)
            return require_shallow(tree)
        except (MemoryError, RecursionError):
            problem = TOO_DEEP
    raise ValueError(f"ast.parse cannot read the text: {problem}")


def require_shallow(node: Any) -> ast.AST:
    """Return a node whose tree Python's own functions can walk. Raises: TypeError; ValueError: it is too deep."""
    level: list[ast.AST] = [_require_node(node)]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in ast.iter_child_nodes(parent)]
        if not level:
            return node  # type: ignore[no-any-return]
        if len(level) > MAX_CHARS:
            break
    raise ValueError(f"the syntax tree: {TOO_DEEP}")


def _require_node(node: Any) -> ast.AST:
    if type(node) not in NODE_TYPES:
        raise TypeError(f"expected AST, got {type(node).__name__!r}")
    return node  # type: ignore[no-any-return]


def dump(node: Any, annotate_fields: bool = True, include_attributes: bool = False, *, indent: Any = None) -> str:
    """``ast.dump``."""
    if indent is not None and not (type(indent) is int and 0 <= indent <= MAX_INDENT):
        raise ValueError(f"indent may be {MAX_INDENT} at most")
    return ast.dump(require_shallow(node), annotate_fields, include_attributes, indent=indent)


def unparse(ast_obj: Any) -> str:
    """``ast.unparse``."""
    return ast.unparse(require_shallow(ast_obj))


def walk(node: Any) -> Iterator[ast.AST]:
    """``ast.walk``."""
    return iter(list(ast.walk(require_shallow(node))))


def iter_child_nodes(node: Any) -> Iterator[ast.AST]:
    """``ast.iter_child_nodes``."""
    return iter(list(ast.iter_child_nodes(_require_node(node))))


def iter_fields(node: Any) -> Iterator[tuple[str, Any]]:
    """``ast.iter_fields``."""
    return iter(list(ast.iter_fields(_require_node(node))))


class NodeVisitor:
    """As ``ast.NodeVisitor``, for plans to derive from."""

    def visit(self, node: Any) -> Any:
        """Call the method for this kind of node, or ``generic_visit``."""
        return getattr(self, f"visit_{type(_require_node(node)).__name__}", self.generic_visit)(node)

    def generic_visit(self, node: Any) -> None:
        """Visit the nodes below."""
        for child in ast.iter_child_nodes(_require_node(node)):
            self.visit(child)


def _node_types() -> dict[str, type]:
    kinds = {name: kind for name, kind in vars(ast).items() if type(kind) is type and issubclass(kind, ast.AST)}
    return {name: kind for name, kind in kinds.items() if kind.__module__ in ("ast", "_ast")}


_BY_NAME: Final = _node_types()
NODE_TYPES: Final = frozenset(_BY_NAME.values())
VISIBLE_TYPES |= NODE_TYPES
_NAMES: Final = {kind: frozenset({*kind._fields, *kind._attributes}) for kind in NODE_TYPES}  # type: ignore[attr-defined]
ALLOWED_ATTRIBUTES |= {kind: names | {"_fields"} for kind, names in _NAMES.items()}


_FUNCTIONS: tuple[Any, ...] = (parse, dump, unparse, walk, iter_child_nodes, iter_fields)
SYNTAX_MEMBERS: dict[str, object] = {
    **_BY_NAME,
    **{function.__name__: set_name(function.__name__, function) for function in _FUNCTIONS},
    "NodeVisitor": mark_class(NodeVisitor, shared=True),
}
