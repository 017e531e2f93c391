"""Checks and converts the arguments of a call, by the annotations of a Python function, with pydantic.

Pydantic is imported when the first tool is built: codeplan without tools starts faster without it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NewType, TypeVar

from codeplan.errors import AgentError
from codeplan.tools.readable_dicts import with_readable_dicts
from codeplan.untrusted.terminal import message_text, one_line
from codeplan.untrusted.values import value_text

if TYPE_CHECKING:
    from pydantic import ValidationError

_MAX_PATH = 100
_MAX_GIVEN = 80
_MAX_SENTENCE = 300

Converter = Callable[[Any], Any]
"""Makes what a parameter takes of plain data. Raises: pydantic.ValidationError."""


class UnsupportedType(Exception):
    """Plain data cannot represent a type, which the message names."""


def build_converter(annotation: Any) -> Converter | None:
    """The converter for an annotation; None if it takes everything.

    Raises: UnsupportedType: plain data cannot stand for the type.
    """
    if annotation is Any or annotation is object or isinstance(annotation, str | TypeVar):
        return None
    from pydantic import ConfigDict, PydanticSchemaGenerationError, PydanticUserError, TypeAdapter

    try:
        # pydantic takes a config for no bare class
        readable = NewType("readable", with_readable_dicts(annotation))  # type: ignore[misc]
        adapter = TypeAdapter(readable, config=ConfigDict(extra="forbid"))
        if not _takes_code(adapter.core_schema):
            return partial(adapter.validator.validate_python, by_alias=True, by_name=True)
        why = ""
    except PydanticSchemaGenerationError:
        why = ""
    except PydanticUserError as error:
        undefined = error.code == "class-not-fully-defined"
        why = "a type in it is not defined" if undefined else error.message
    except Exception as error:  # an annotation can be anything, and pydantic runs code of its classes
        why = message_text(error)
    reason = f" ({one_line(why, _MAX_SENTENCE)})" if why else ""
    raise UnsupportedType(f"{one_line(inspect.formatannotation(annotation), _MAX_SENTENCE)}{reason}")


def _takes_code(schema: Any) -> bool:
    """Whether a schema of pydantic takes nothing but functions or classes, or None in place of one."""
    while schema["type"] in ("nullable", "default"):
        schema = schema["schema"]
    return schema["type"] in ("callable", "is-subclass")


def convert_arguments(tool: str, converters: Mapping[str, Converter], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the function takes them.

    Raises: AgentError: one does not fit; one sentence with its path. The plan gets a TypeError, or a ValueError if the
    type fits.
    """
    converted = dict(arguments)
    for name, value in arguments.items():
        if convert := converters.get(name):
            try:
                converted[name] = convert(value)
            except ValueError as error:
                raise _misfit(tool, name, _validation_error(error)) from None
    return converted


def _validation_error(error: ValueError) -> ValidationError:
    """The error that pydantic raised.

    It is imported only after a failure, because the import takes a part of a quick call's time.

    Raises: ValueError: code of the user's annotations raised it, and pydantic let it through.
    """
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        raise error
    return error


def _misfit(tool: str, parameter: str, error: ValidationError) -> AgentError:
    first, *others = error.errors(include_url=False, include_context=False)
    path = parameter + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    given = "" if first["type"] == "missing" else f" (given: {value_text(first['input'], _MAX_GIVEN)})"
    more = f", and {len(others)} more" if others else ""
    sentence = f"{tool} was called wrongly: {one_line(path, _MAX_PATH)}: {first['msg']}{given}{more}"
    return AgentError(
        one_line(sentence, _MAX_SENTENCE), "TypeError" if first["type"].endswith("_type") else "ValueError"
    )
