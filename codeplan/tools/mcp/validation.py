"""Checks the arguments of a call by a server's schema, before the call.

The schema is a stranger's. So no reference to another document is ever fetched, regular expressions are left to the
server (they could take forever), and so are checks of more than a fixed number of steps.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from codeplan.errors import AgentError
from codeplan.untrusted.terminal import one_line
from codeplan.untrusted.values import in_quotes, value_text

if TYPE_CHECKING:
    from jsonschema import ValidationError

MAX_STEPS: Final = 100_000
"""Maximum number of steps of one check: keywords that are evaluated, and parts of messages."""

MAX_DEPTH: Final = 120
"""Maximum number of keywords within one another in a check. A schema that contains itself would use up Python's stack,
and the library's compiled code panics if that happens in it.
"""

_MAX_GIVEN: Final = 80
_MAX_PATH: Final = 100
_MAX_SENTENCE: Final = 300
_LEFT_TO_THE_SERVER: Final = frozenset(
    {"pattern", "patternProperties", "format", "uniqueItems", "unevaluatedItems", "unevaluatedProperties"}
    | {"$dynamicRef", "$recursiveRef", "propertyNames", "contentEncoding", "contentMediaType"}
)
_Keyword = Callable[[Any, Any, Any, Any], "Iterator[ValidationError] | None"]


class _TooManySteps(Exception):
    """The check takes too long, or goes too deep."""


class _Spent(threading.local):
    """What the present check of a thread has spent: the runs of ``codeplan mcp`` check at the same time."""

    steps = 0
    depth = 0


class ArgumentCheck:
    """The check of one tool's arguments. A schema that cannot be used lets everything pass."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._spent = _Spent()

    def require_valid(self, tool: str, arguments: dict[str, Any]) -> None:
        """Raises: AgentError: an argument does not fit; one sentence with its path.

        The plan gets a TypeError if the type is wrong, otherwise a ValueError.
        """
        if error := self._first_error(arguments):
            raise _misfit(tool, error)

    def _first_error(self, arguments: dict[str, Any]) -> ValidationError | None:
        from jsonschema import exceptions
        from referencing.exceptions import Unresolvable

        if self._validator is None:
            return None
        self._spent.steps = self._spent.depth = 0
        try:
            error = exceptions.best_match(self._validator.iter_errors(arguments))
        except (Unresolvable, RecursionError, _TooManySteps, *_SCHEMA_FAULTS):
            return None
        except Exception:
            if self._is_sound:
                raise
            return None
        return error if error is not None and self._is_sound else None

    @cached_property
    def _is_sound(self) -> bool:
        """Whether the schema keeps to its dialect. Looked at only for a call that does not fit: it can take seconds."""
        from jsonschema import FormatChecker, SchemaError

        try:
            self._dialect.check_schema(self._schema, format_checker=FormatChecker(()))  # formats are the server's
        except (SchemaError, RecursionError, *_SCHEMA_FAULTS):
            return False
        return True

    @cached_property
    def _dialect(self) -> Any:
        """The library's class for the schema's dialect."""
        from jsonschema import Draft202012Validator, validators

        return validators.validator_for(self._schema, default=Draft202012Validator)

    @cached_property
    def _validator(self) -> Any:
        """The validator; None if the schema is none."""
        from jsonschema import validators
        from referencing import Registry

        try:
            base, schema = self._dialect, _of_one_dialect(self._schema)
        except (RecursionError, *_SCHEMA_FAULTS):
            return None
        checks = {**base.VALIDATORS, "additionalProperties": _check_additional, "enum": _check_enum}
        counted = {name: self._counted(check) for name, check in checks.items()}
        bounded = validators.extend(base, {**counted, **dict.fromkeys(_LEFT_TO_THE_SERVER, _check_nothing)})
        return bounded(schema, registry=Registry())  # the library's own registry fetches

    def _spend(self, steps: int) -> None:
        self._spent.steps += steps
        if self._spent.steps > MAX_STEPS:
            raise _TooManySteps

    def _counted(self, check: _Keyword) -> _Keyword:
        def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
            self._spend(1 + (len(value) // 10 if isinstance(value, list) else 0))
            self._spent.depth += 1
            try:
                if self._spent.depth > MAX_DEPTH:
                    raise _TooManySteps
                for error in check(validator, value, instance, schema) or ():
                    self._spend(len(error.message) // 50)  # the library writes the whole value into it
                    yield error
            finally:
                self._spent.depth -= 1

        return counted


_SCHEMA_FAULTS: Final = (TypeError, ValueError, AttributeError, KeyError, ArithmeticError)
"""The exceptions that the library raises for a schema of an unexpected form, or for a number that is too large."""


def _of_one_dialect(schema: Any) -> Any:
    """The schema without names of dialects: the library would check a part that names one by its own keywords."""
    if isinstance(schema, list):
        return [_of_one_dialect(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: _of_one_dialect(v) for k, v in schema.items() if k != "$schema" or not isinstance(v, str)}


def _check_nothing(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> None:
    """The server checks this keyword."""


def _check_additional(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Checks this keyword as the library does, but without regular expressions: with ``patternProperties`` the server
    decides.
    """
    from jsonschema import ValidationError

    if not isinstance(instance, dict) or schema.get("patternProperties"):
        return
    unknown = [name for name in instance if name not in schema.get("properties", {})]
    if value is False and unknown:
        yield ValidationError(f"has no {', '.join(in_quotes(name, 40) for name in unknown[:3])}")
    elif isinstance(value, dict):
        for name in unknown:
            yield from validator.descend(instance[name], value, path=name)


def _check_enum(validator: Any, values: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    if instance not in values:
        yield ValidationError("is none of the allowed values")


def _misfit(tool: str, error: ValidationError) -> AgentError:
    parts = [f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path]
    path = one_line("".join(parts).lstrip("."), _MAX_PATH)
    given = f" (given: {value_text(error.instance, _MAX_GIVEN)})"
    sentence = f"{tool} was called wrongly: {path}{': ' if path else ''}{_fault(error)}{given if path else ''}"
    return AgentError(one_line(sentence, _MAX_SENTENCE), "TypeError" if error.validator == "type" else "ValueError")


def _fault(error: ValidationError) -> str:
    wanted: Any = error.validator_value
    match error.validator:
        case "type":
            return f"it must be of the type {' or '.join(wanted) if isinstance(wanted, list) else wanted}"
        case "required":
            missing = [name for name in wanted if name not in error.instance]
            return f"it lacks {', '.join(in_quotes(name, 40) for name in missing[:3])}"
        case "enum" | "const":
            return f"it must be {'one of ' if error.validator == 'enum' else ''}{value_text(wanted, 120)}"
        case "additionalProperties":
            return f"it {error.message}, and no other names are allowed"
        case None:  # the schema is False
            return "no value is allowed"
        case "anyOf" | "oneOf":
            return "it fits none of the alternatives, or too many"
        case _:
            return f"it breaks the rule {in_quotes(error.validator, 40)}: {value_text(wanted, 120)}"
