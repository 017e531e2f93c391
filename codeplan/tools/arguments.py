"""Checks and converts the arguments of a call, by the annotations of a Python function, with pydantic.

Pydantic is imported when the first tool is built: codeplan without tools starts faster without it.
"""

from __future__ import annotations

import inspect
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, NewType, TypeVar

from codeplan.errors import AgentError
from codeplan.tools.failures import failure_sentence
from codeplan.tools.readable_dicts import with_readable_dicts
from codeplan.untrusted.terminal import message_text, one_line
from codeplan.untrusted.values import value_text

_MAX_PATH = 100
_MAX_GIVEN = 80
_MAX_SENTENCE = 300
_MISSING: Final = object()

_LIBRARY_FILES: Final = (sysconfig.get_path("stdlib"), "<frozen ", "<string>")
"""How the names of files in Python's own library begin, and of the code that it generates."""

_PACKAGES: Final = frozenset({"site-packages", "dist-packages"})
"""Folders of other packages, which may stand in that of Python's own library."""

Converter = Callable[[Any], Any]
"""Makes what a parameter takes of plain data. Raises: pydantic.ValidationError, or whatever the type's code raises."""


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
        why = "a text would import a module" if _imports(adapter.core_schema) else ""
        if not why and not _takes_code(adapter.core_schema):
            return partial(adapter.validator.validate_python, by_alias=True, by_name=True)
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


def _imports(schema: Any) -> bool:
    """Whether a schema of pydantic has a part, however deep, that imports what a text names (``ImportString``)."""
    importer, waiting, seen = _importer(), [schema], set[int]()
    while waiting:
        part = waiting.pop()
        if part is importer:
            return True
        if isinstance(part, Mapping | list | tuple) and id(part) not in seen:
            seen.add(id(part))
            waiting += part.values() if isinstance(part, Mapping) else part
    return False


@lru_cache
def _importer() -> object:
    """Pydantic's function that imports what a text names."""
    from pydantic import ImportString, TypeAdapter

    schema: Any = TypeAdapter(ImportString).core_schema
    return schema["function"]["function"]


def convert_arguments(tool: str, converters: Mapping[str, Converter], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the function takes them.

    Raises: AgentError: one does not fit; one sentence with its path. The plan gets a TypeError, or a ValueError if the
    type fits. Any other exception: code of the user's annotations raised it, and it is no ValueError.
    """
    converted = dict(arguments)
    for name, value in arguments.items():
        if convert := converters.get(name):
            try:
                converted[name] = convert(value)
            except Exception as error:
                if _is_users_own(error):
                    raise
                raise _misfit(tool, name, value, error) from None
    return converted


def _is_users_own(error: Exception) -> bool:
    """Whether the user's own code failed, such as a validator in an annotation.

    Pydantic makes its own error of a ValueError or an AssertionError there. Anything else that passes through the
    user's code is a fault in it. What only pydantic and Python's own library raise is their refusal of the value.
    """
    import pydantic  # only after a failure: the import takes a part of a quick call's time

    if isinstance(error, pydantic.ValidationError):
        return False
    ours = (str(Path(pydantic.__file__).parent), str(Path(__file__).parent))
    files = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
    return not all(file.startswith(ours) or _is_pythons_own(file) for file in files)


def _is_pythons_own(file: str) -> bool:
    return file.startswith(_LIBRARY_FILES) and _PACKAGES.isdisjoint(Path(file).parts)


def _misfit(tool: str, parameter: str, value: object, error: Exception) -> AgentError:
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return _refusal(tool, parameter, failure_sentence(error), value)
    try:
        first, *others = error.errors(include_url=False, include_context=False)
    except ValueError:  # pydantic cannot write half of a surrogate pair
        return _refusal(tool, parameter, "it does not fit", value)
    path = parameter + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    found = _MISSING if first["type"] == "missing" else first["input"]
    kind = "TypeError" if first["type"].endswith("_type") else "ValueError"
    return _refusal(tool, path, first["msg"], found, f", and {len(others)} more" if others else "", kind)


def _refusal(tool: str, path: str, reason: str, value: object, more: str = "", kind: str = "ValueError") -> AgentError:
    given = "" if value is _MISSING else f" (given: {value_text(value, _MAX_GIVEN)})"
    sentence = f"{tool} was called wrongly: {one_line(path, _MAX_PATH)}: {reason}{given}{more}"
    return AgentError(one_line(sentence, _MAX_SENTENCE), kind)
