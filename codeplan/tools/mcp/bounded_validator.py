"""Validates by a stranger's JSON Schema in a bounded number of steps.

The library ``jsonschema`` does the work, without a bound of its own: a short schema can make it walk over long lists
thousands of times, or write the whole value into a message each time. So each schema that it enters, each keyword that
it evaluates and each error that it passes on is charged, with the size of what it walks over.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from referencing import Registry, Resource

MAX_ID_CHARS: Final = 1_000
"""Maximum length of all identifiers (``$id``) of one schema: each is joined with those around it."""

Keyword = Callable[[Any, Any, Any, Any], "Iterable[ValidationError] | None"]
"""The library's check of a keyword: takes the validator, the keyword's value, the instance and the schema."""

SCHEMA_FAULTS: Final = (TypeError, ValueError, AttributeError, KeyError, ArithmeticError)
"""The exceptions that the library raises for a schema of an unexpected form, or for a number that is too large."""

_ENTRIES_A_STEP: Final = 10
_CHARS_A_STEP: Final = 50
_PAIRS_A_STEP: Final = 20
_ID_STEPS: Final = 20
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_DATA: Final = frozenset({"enum", "const"})  # their values are compared as a whole
_DEPENDENCIES: Final = frozenset({"dependencies", "dependentRequired"})  # their values may be dicts of lists


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one validation may take.

    ``steps`` are schemas that are entered, keywords that are evaluated, errors that are passed on, and parts of values
    and messages. ``depth`` is the number of keywords within one another: a schema that contains itself would use up
    Python's stack, and the library's compiled code panics if that happens in it.
    """

    steps: int
    depth: int


class TooManySteps(Exception):
    """The validation takes too long, or goes too deep."""


class _Spent(threading.local):
    """What the present validation of a thread has spent: the runs of ``codeplan mcp`` validate at the same time."""

    steps = 0
    depth = 0


class BoundedValidator:
    """Validates by ``schema``, which belongs to the library's class ``dialect`` and names no dialect itself.

    ``checks`` replace the library's checks of keywords. ``others`` are the documents that references may lead to; none
    is ever fetched. The schema is searched for identifiers and anchors once, here, and not at each reference.

    Raises: TooManySteps: the schema's identifiers are too long. RecursionError, or one of SCHEMA_FAULTS.
    """

    def __init__(
        self,
        dialect: Any,
        schema: Any,
        checks: Mapping[str, Keyword],
        bounds: Bounds,
        others: Mapping[str, Any] | None = None,
    ) -> None:
        from jsonschema import validators

        self._spent, self._bounds = _Spent(), bounds
        self._id_key = "id" if dialect.ID_OF({"id": "x"}) else "$id"
        if _id_chars(schema, self._id_key) > MAX_ID_CHARS:
            raise TooManySteps
        # in dialects before 2019-09, all that stands beside a reference is ignored, an identifier too
        self._is_reference_alone = dialect.ID_OF({"$ref": "#", "$id": "x", "id": "x"}) is None
        create: Any = validators.create
        library = create(
            dialect.META_SCHEMA,
            {name: self._counted(name, check) for name, check in {**dialect.VALIDATORS, **checks}.items()},
            type_checker=dialect.TYPE_CHECKER,
            id_of=dialect.ID_OF,
            applicable_validators=self._enter,
        )
        root, registry = _crawled(dialect, schema, others or {})
        # without a resolver, the library adds its own documents, which name dialects, and crawls at each reference
        self._validator = library(schema, registry=registry, _resolver=registry.resolver(root.id() or ""))

    def errors(self, instance: Any) -> Iterator[ValidationError]:
        """What is wrong with the instance. Raises: TooManySteps. Others: see ``best_error``."""
        self._spent.steps = self._spent.depth = 0
        yield from self._validator.iter_errors(instance)

    def best_error(self, instance: Any) -> ValidationError | None:
        """The error that says most; None if the instance fits.

        Raises: TooManySteps. referencing.exceptions.Unresolvable: a reference leads nowhere. RecursionError, or one of
        SCHEMA_FAULTS.
        """
        from jsonschema import exceptions

        return exceptions.best_match(self.errors(instance), key=self._relevance)

    def _relevance(self, error: ValidationError) -> Any:
        from jsonschema import exceptions

        types = error.schema.get("type") if isinstance(error.schema, dict) else None
        self._spend(1 + _entries(types) // _ENTRIES_A_STEP)  # the library tries each of them
        return exceptions.relevance(error)

    def _spend(self, steps: int) -> None:
        self._spent.steps += steps
        if self._spent.steps > self._bounds.steps:
            raise TooManySteps

    def _enter(self, schema: Any) -> Iterable[tuple[str, Any]]:
        """The keywords of a schema, which the library asks for (twice) when it enters the schema."""
        self._spend(1 + len(schema) // _ENTRIES_A_STEP + (_ID_STEPS if self._id_key in schema else 0))
        if self._is_reference_alone and (reference := schema.get("$ref")) is not None:
            return [("$ref", reference)]
        return schema.items()  # type: ignore[no-any-return]

    def _counted(self, name: str, check: Keyword) -> Keyword:
        def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
            self._spend(1 + _value_steps(name, value) + _entries(instance) // _ENTRIES_A_STEP)
            if refusals := _refusals(value):
                self._spend(refusals * _text_steps(instance))  # the library writes a message at each
            self._spent.depth += 1
            try:
                if self._spent.depth > self._bounds.depth:
                    raise TooManySteps
                for error in check(validator, value, instance, schema) or ():
                    self._spend(1 + len(error.message) // _CHARS_A_STEP)  # the library writes the whole value into it
                    yield error
            finally:
                self._spent.depth -= 1

        return counted


def _crawled(dialect: Any, schema: Any, others: Mapping[str, Any]) -> tuple[Resource[Any], Registry[Any]]:
    """The schema as a document, and the registry that knows its identifiers and anchors and those of the others."""
    from referencing import Registry, Specification
    from referencing.jsonschema import specification_with

    specification = specification_with(dialect.ID_OF(dialect.META_SCHEMA), default=Specification.OPAQUE)
    root = specification.create_resource(schema)
    documents = [(uri, specification.create_resource(other)) for uri, other in others.items()]
    registry: Registry[Any] = Registry().with_resources([*documents, (root.id() or "", root)])
    with contextlib.suppress(*SCHEMA_FAULTS):  # then the first reference that needs it fails, and ends the validation
        registry = registry.crawl()
    return root, registry


def _id_chars(schema: Any, key: str) -> int:
    """The length of all identifiers in a schema."""
    if isinstance(schema, list):
        return sum(_id_chars(part, key) for part in schema)
    if not isinstance(schema, dict):
        return 0
    own = schema.get(key)
    return (len(own) + 1 if isinstance(own, str) else 0) + sum(_id_chars(part, key) for part in schema.values())


def _entries(value: Any) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def _text_steps(value: Any) -> int:
    """The steps of writing a value, or of comparing another with it."""
    return len(json.dumps(value)) // _CHARS_A_STEP


def _value_steps(name: str, value: Any) -> int:
    """The steps of walking over a keyword's value."""
    if name in _DATA:
        return _text_steps(value)
    if name in _REFERENCES:  # the library looks at a pointer's parts once for each of them
        parts: int = value.count("/") + value.count("%2")
        return parts**2 // _PAIRS_A_STEP + len(value) // _CHARS_A_STEP
    entries = _entries(value)
    if name in _DEPENDENCIES and isinstance(value, dict):
        entries += sum(map(_entries, value.values()))
    return entries // _ENTRIES_A_STEP


def _refusals(value: Any) -> int:
    """How many schemas that refuse everything stand in a keyword's value."""
    return value.count(False) if isinstance(value, list) else int(value is False)
