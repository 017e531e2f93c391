"""``literal_eval`` for plans: reads a value from a model's answer, with caps on its size."""

from __future__ import annotations

import ast
import re
import warnings

MAX_CHARS = 100_000
"""Maximum length of the text. Models' answers have a few hundred characters."""

MAX_NESTING = 40
"""Maximum nesting of brackets."""

_SHOWN = 120
_SIGN_RUN = re.compile(r"(?:[-+~][ \t]*+){8}")
"""Eight or more signs in a row: each is one more level of nesting."""


def literal_eval(text: object) -> object:
    """Return the value of the Python literal in ``text``, ignoring surrounding white space.

    Raises: The exceptions of ``ast.literal_eval`` (SyntaxError, ValueError, or TypeError for a list as a key), with
    the start of the text; ValueError for anything but a str.
    """
    if type(text) is not str:
        raise ValueError(f"literal_eval takes a text, not {type(text).__name__}; use the value as it is")
    problem: str | None = _size_problem(text)
    raised: type[Exception] = ValueError
    if problem is None:
        raised, problem, value = _evaluate(text.strip())
        if problem is None:
            return value
    raise raised(f"literal_eval cannot read {_excerpt(text)}: {problem}")


def _size_problem(text: str) -> str | None:
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
        return "it is nested too deeply"
    return None


def _evaluate(text: str) -> tuple[type[Exception], str | None, object]:
    """Return the exception type, the problem and the value. Errors are returned, so that none remains as a context."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ValueError, None, ast.literal_eval(text)
    except (MemoryError, RecursionError):
        return ValueError, "it is nested too deeply", None
    except (SyntaxError, ValueError, TypeError) as error:
        raised = next(kind for kind in (SyntaxError, ValueError, TypeError) if isinstance(error, kind))
        return raised, "it is not a Python literal such as 'text', 3, ['a', 'b'] or {'a': 1}", None


def _excerpt(text: str) -> str:
    start = text.strip()
    return repr(start if len(start) <= _SHOWN else start[:_SHOWN] + "…")
