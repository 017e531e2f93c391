"""Checks the arguments of a call by a server's schema, before the call.

The schema is a stranger's. So no reference to another document is ever fetched, regular expressions are left to the
server (they could take forever), and so are checks of more than a fixed number of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final

from codeplan.errors import AgentError
from codeplan.tools.mcp.bounded_validator import SCHEMA_FAULTS, BoundedValidator, Bounds, Keyword, TooManySteps
from codeplan.untrusted.texts import one_line
from codeplan.untrusted.values import in_quotes, value_text

if TYPE_CHECKING:
    from jsonschema import ValidationError

CALL_BOUNDS: Final = Bounds(steps=300_000, depth=120)
"""What the check of one call may take."""

SCHEMA_BOUNDS: Final = Bounds(steps=2_000_000, depth=200)
"""What the check of a schema itself may take, once: some 400 steps for each schema in it, and a depth of 5."""

_MAX_GIVEN: Final = 80
_MAX_PATH: Final = 100
_MAX_SENTENCE: Final = 300
_LEFT_TO_THE_SERVER: Final = frozenset(
    {"pattern", "patternProperties", "format", "uniqueItems", "unevaluatedItems", "unevaluatedProperties"}
    | {"$dynamicRef", "$recursiveRef", "propertyNames", "contentEncoding", "contentMediaType"}
)


class ArgumentCheck:
    """The check of one tool's arguments. A schema that cannot be used lets everything pass."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema

    def require_valid(self, tool: str, arguments: dict[str, Any]) -> None:
        """Raises: AgentError: an argument does not fit; one sentence with its path.

        The plan gets a TypeError if the type is wrong, otherwise a ValueError.
        """
        if error := self._first_error(arguments):
            raise _misfit(tool, error)

    def _first_error(self, arguments: dict[str, Any]) -> ValidationError | None:
        from referencing.exceptions import Unresolvable

        if self._validator is None:
            return None
        try:
            error = self._validator.best_error(arguments)
        except (Unresolvable, RecursionError, TooManySteps, *SCHEMA_FAULTS):
            return None
        except Exception:
            if self._is_sound:
                raise
            return None
        return error if error is not None and self._is_sound else None

    @cached_property
    def _is_sound(self) -> bool:
        """Whether the schema keeps to its dialect. Looked at only for a call that does not fit: it can take seconds."""
        try:
            return next(_rules_of(self._dialect).errors(self._schema), None) is None
        except (RecursionError, TooManySteps, *SCHEMA_FAULTS):
            return False

    @cached_property
    def _dialect(self) -> Any:
        """The library's class for the schema's dialect."""
        from jsonschema import Draft202012Validator, validators

        return validators.validator_for(self._schema, default=Draft202012Validator)

    @cached_property
    def _validator(self) -> BoundedValidator | None:
        """The validator; None if the schema is none, or has too many identifiers."""
        checks: dict[str, Keyword] = {"additionalProperties": _check_additional, "enum": _check_enum}
        checks |= dict.fromkeys(_LEFT_TO_THE_SERVER, _check_nothing)
        try:
            return BoundedValidator(self._dialect, _of_one_dialect(self._schema), checks, CALL_BOUNDS)
        except (RecursionError, TooManySteps, *SCHEMA_FAULTS):
            return None


@lru_cache
def _rules_of(dialect: Any) -> BoundedValidator:
    """The validator of a dialect's schemas.

    Formats are the server's. Values that a schema lists twice do no harm, and the library compares each with each.
    """
    from jsonschema_specifications import REGISTRY

    checks: dict[str, Keyword] = dict.fromkeys(("format", "uniqueItems"), _check_nothing)
    folder = dialect.ID_OF(dialect.META_SCHEMA).rpartition("/")[0]
    parts = {uri: _of_one_dialect(REGISTRY.contents(uri)) for uri in REGISTRY if uri.startswith(f"{folder}/")}
    return BoundedValidator(dialect, _of_one_dialect(dialect.META_SCHEMA), checks, SCHEMA_BOUNDS, parts)


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
