"""The type that the user wants the value of a plan to have: told to the model, checked, and converted to.

It is a type of Python, which pydantic checks, or a JSON schema. Values are checked strictly, as JSON data: a text is
not a number, but a time is a text. A dict stands for a dataclass or a model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from codeplan.errors import EnvironmentFailure, UsageError
from codeplan.plain_data import NotPlainData, unpack
from codeplan.tools.arguments import TypeWriter, UnsupportedType, is_users_own, misfit_reason, strict_adapter
from codeplan.tools.failures import failure_sentence, require_failure
from codeplan.tools.mcp.signatures import MAX_SCHEMA_CHARS, SchemaWriter, TypeTable, fault_of, fetch_nothing
from codeplan.tools.python_tools import object_of_file
from codeplan.tools.results import pack_result, type_words
from codeplan.types import AgentType, ReturnType
from codeplan.untrusted.files import read_user_text
from codeplan.untrusted.texts import one_line, parser_reason, with_article
from codeplan.untrusted.values import in_quotes, value_text

if TYPE_CHECKING:
    from jsonschema_rs import Validator
    from pydantic import TypeAdapter

_FORMS: Final = "a type, such as list[int] or a pydantic model, a JSON schema, 'FILE.py:NAME' or 'FILE.json'"
_MAX_PLACES: Final = 3  # that a sentence names
_MAX_KEY: Final = 60
_MAX_GIVEN: Final = 80
_MAX_SENTENCE: Final = 300


class Misfit(Exception):
    """A value does not have the type; the message says where, in a sentence without a full stop."""


class ValueFault(NamedTuple):
    """What is wrong at one place of a value: ``path`` leads there, ``wanted`` are types, or ``reason`` says it."""

    path: tuple[str | int, ...]
    given: object
    wanted: tuple[str, ...] = ()
    reason: str = ""
    lacks: str | None = None


class WantedType(Protocol):
    """A type for the values of plans."""

    described: ReturnType

    def convert(self, value: object, *, blind: bool = False) -> object:
        """The value with the type. ``blind``: the message has nothing of the value but the names of types.

        Raises: Misfit: it does not have the type. EnvironmentFailure: the user's own code in the type fails.
        """
        ...


class PythonType:
    """A type of Python. ``known`` are the types that the tools' signatures use, by name.

    Raises: UsageError: plain data cannot stand for it.
    """

    def __init__(self, annotation: Any, known: Mapping[str, AgentType] | None = None) -> None:
        try:
            self._adapter: TypeAdapter[Any] = strict_adapter(annotation)
        except UnsupportedType as reason:
            raise UsageError(f"returns: plain data cannot stand for {reason}; give {_FORMS}") from None
        self.described = _described(annotation, known or {})

    def convert(self, value: object, *, blind: bool = False) -> object:
        """The value with the type, as ``WantedType`` says."""
        from pydantic import ValidationError

        try:
            return self._convert(value)
        except ValidationError as error:
            raise Misfit(_sentence(_faults(value, error), blind=blind)) from None
        except Exception as error:  # pydantic runs code of the user's classes
            require_failure(error)
            if not is_users_own(error):
                raise Misfit("the value does not have the wanted type") from None
            failure = EnvironmentFailure(f"the type in returns failed: {failure_sentence(error)}")
            failure.is_users_bug = True
            raise failure from error

    def _convert(self, value: object) -> object:
        from pydantic import ValidationError

        check: Any = self._adapter.validator
        names = {"strict": True, "by_alias": True, "by_name": True}
        try:
            return check.validate_python(value, **names)
        except ValidationError:
            try:
                text = json.dumps(unpack(pack_result(value)))
            except (NotPlainData, TypeError, ValueError):
                text = ""
            if not text or "\\ud" in text:  # half of a surrogate pair, which pydantic's JSON does not have
                raise
        return check.validate_json(text, **names)


class SchemaType:
    """A JSON schema, of the user's own. ``known`` are the types that the tools' signatures use, by name.

    Raises: UsageError: it is no schema, or the package that checks it is not installed.
    """

    def __init__(self, schema: Mapping[str, Any], known: Mapping[str, AgentType] | None = None) -> None:
        try:
            from jsonschema_rs import validator_for
        except ImportError:
            raise UsageError("JSON schemas need the extra mcp; install it: pip install 'codeplan[mcp]'") from None
        self._schema = dict(schema)
        try:
            self._validator: Validator = validator_for(self._schema, validate_formats=False, retriever=fetch_nothing)
        except Exception as reason:  # the library raises many types for a schema that is none
            raise UsageError(f"returns: this is no JSON schema: {parser_reason(reason)}") from None
        table = TypeTable({name: each.text for name, each in (known or {}).items()})
        writer = SchemaWriter(table, self._schema, "may be left out")
        self.described = ReturnType(writer.text(self._schema, "Result"), tuple(writer.types.values()))

    def convert(self, value: object, *, blind: bool = False) -> object:
        """The value as JSON data, as ``WantedType`` says."""
        from jsonschema_rs import ValidationError

        try:
            data = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            only = "only None, booleans, finite numbers, texts, lists and dicts are"
            raise Misfit(f"the value is not JSON data: {only}") from None
        try:
            self._validator.validate(data)
        except ValidationError as error:
            path, reason = fault_of(self._schema, error)
            given = _at(data, path)
            raise Misfit(_sentence([ValueFault(tuple(path), given, reason=reason)], blind=blind)) from None
        return data


def read_returns(given: Any, known: Sequence[AgentType] = ()) -> WantedType | None:
    """The type as the user gives it; None if there is none. ``known`` are the types that tools' signatures use.

    Raises: UsageError: it is none, or cannot be read.
    """
    if given is None:
        return None
    types = {each.name: each for each in known}
    if isinstance(given, str | Path):
        given = _type_of_file(str(given))
    return SchemaType(given, types) if isinstance(given, Mapping) else PythonType(given, types)


def _type_of_file(given: str) -> Any:
    if ".py" in given:
        return object_of_file(given, f"names no single type; give {_FORMS}")
    if not given.endswith(".json"):
        raise UsageError(f"returns is {_FORMS}, not {in_quotes(given)}")
    try:
        found = json.loads(read_user_text(given, MAX_SCHEMA_CHARS))
    except OSError as e:
        raise UsageError(f"the JSON schema in {given} cannot be read: {e.strerror}") from None
    except (ValueError, RecursionError) as reason:
        raise UsageError(f"{given} is not JSON: {parser_reason(reason)}") from None
    if not isinstance(found, dict):
        raise UsageError(f"{given} is no JSON schema: it holds {with_article(type(found).__name__)}, not an object")
    return found


def _described(annotation: Any, known: Mapping[str, AgentType]) -> ReturnType:
    """The type as text. Its classes keep their names, unless a tool's signature has another type of that name."""
    writer = TypeWriter()
    text = writer.text(annotation)
    if any(each != known.get(name, each) for name, each in writer.types.items()):
        writer = TypeWriter(known)
        text = writer.text(annotation)
    return ReturnType(text, tuple(each for name, each in writer.types.items() if name not in known))


# ------------------------------------------------------------------ sentences

_KINDS: Final = {
    "float_type": "float",
    "int_type": "int",
    "string_type": "str",
    "bytes_type": "str",
    "bool_type": "bool",
    "list_type": "list",
    "tuple_type": "tuple",
    "set_type": "list",
    "frozen_set_type": "list",
    "dict_type": "dict",
    "mapping_type": "dict",
    "model_type": "dict",
    "model_attributes_type": "dict",
    "dataclass_type": "dict",
    "dataclass_exact_type": "dict",
    "none_required": "None",
}
"""The type that a plan's value should have, by the type of pydantic's error."""


def _faults(value: object, error: Any) -> list[ValueFault]:
    """What is wrong, one a place: the members of a union are told together."""
    try:
        errors = error.errors(include_url=False, include_context=False)
    except ValueError:  # pydantic cannot write half of a surrogate pair
        return [ValueFault((), value, reason="it does not have the wanted type")]
    found: dict[tuple[tuple[str | int, ...], str | None], ValueFault] = {}
    for each in errors:
        path = _path(value, each["loc"])
        kind, reason, lacks = _KINDS.get(each["type"]), one_line(misfit_reason(each), _MAX_SENTENCE), None
        if each["type"] == "missing":
            lacks = str(each["loc"][-1])
        before = found.get((path, lacks))
        if before is None:
            found[path, lacks] = ValueFault(
                path, _at(value, path), (kind,) if kind else (), "" if kind else reason, lacks
            )
        elif kind and before.wanted and kind not in before.wanted:
            found[path, lacks] = before._replace(wanted=(*before.wanted, kind))
    return [*found.values()]


def _path(value: object, place: Sequence[str | int]) -> tuple[str | int, ...]:
    """The part of pydantic's place that leads into the value; it also names members of unions and the like."""
    path: list[str | int] = []
    for part in place:
        inside = isinstance(value, dict) and part in value
        inside = inside or (isinstance(value, list | tuple) and isinstance(part, int) and part < len(value))
        if inside:
            path.append(part)
            value = value[part]  # type: ignore[index]
    return tuple(path)


def _at(value: Any, path: Sequence[str | int]) -> Any:
    for part in path:
        value = value[part]
    return value


def _sentence(faults: Sequence[ValueFault], *, blind: bool) -> str:
    tell: Callable[[ValueFault], str] = _blind_clause if blind else _clause
    clauses = dict.fromkeys(map(tell, faults[:_MAX_PLACES]))
    more = len(faults) - _MAX_PLACES
    return "; ".join(clauses) + (f"; and {more:,} more" if more > 0 else "")


def _clause(fault: ValueFault) -> str:
    place = "".join(f"[{value_text(part, _MAX_KEY)}]" for part in fault.path)
    where = f"the value at {place}" if place else "the value"
    if fault.lacks is not None:
        return f"{where} lacks {in_quotes(fault.lacks, _MAX_KEY)}"
    if fault.wanted:
        return f"{where} is {type_words(fault.given)}, not {_wanted(fault)}"
    return f"{where} is {value_text(fault.given, _MAX_GIVEN)}: {fault.reason}"


def _blind_clause(fault: ValueFault) -> str:
    """As ``_clause``, without what data may have written."""
    where = "a part of the value" if fault.path else "the value"
    if fault.lacks is not None:
        return f"{where} lacks {in_quotes(fault.lacks, _MAX_KEY)}"
    wanted = f", not {_wanted(fault)}" if fault.wanted else " that does not fit"
    return f"{where} is {type_words(fault.given)}{wanted}"


def _wanted(fault: ValueFault) -> str:
    return " or ".join(kind if kind == "None" else with_article(kind) for kind in fault.wanted)
