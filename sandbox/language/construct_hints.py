"""Advice on what to write instead of syntax that the plan language lacks, by the name of the syntax node."""

from __future__ import annotations

_ASYNC = "plans run one statement after the other; leave out async and await"
_OUTER = "name it as a parameter and return the new value, or keep it in a dict"
_YIELD = "plans have no generators; collect the values in a list and return it"
_TEMPLATE = "template strings are not part of the plan language; use an f-string"

CONSTRUCT_HINTS: dict[str, str] = {
    "ClassDef": "plans have no classes; keep data in a dict and behaviour in functions",
    "With": "with is not part of the plan language; call the functions directly, with try and finally where needed",
    "Global": f"global is not part of the plan language; {_OUTER}",
    "Nonlocal": f"nonlocal is not part of the plan language; {_OUTER}",
    "Yield": _YIELD,
    "YieldFrom": _YIELD,
    "AsyncFunctionDef": _ASYNC,
    "AsyncFor": _ASYNC,
    "AsyncWith": _ASYNC,
    "Await": _ASYNC,
    "TryStar": "except* is not part of the plan language; use except",
    "MatchClass": "class patterns are not part of the plan language; use if isinstance(x, str), or literal cases",
    "TemplateStr": _TEMPLATE,
    "Interpolation": _TEMPLATE,
    "TypeAlias": "type aliases are not part of the plan language; leave them out",
}
