"""Describes a server's tool for a plan, and converts the plan's arguments to the server's."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from codeplan.errors import AgentError
from codeplan.tools.json_data import MAX_DEPTH
from codeplan.tools.mcp.names import class_name, python_name, unique_name
from codeplan.tools.mcp.schema_types import (
    SchemaWriter,
    alternatives,
    describe_schema,
    listed_values,
    required_names,
    schema_text,
)
from codeplan.tools.mcp.type_table import TypeTable
from codeplan.tools.tool import RESERVED_PARAMETER_NAMES
from codeplan.types import AgentMethod, AgentParameter, AgentType
from codeplan.untrusted.excerpts import excerpt
from codeplan.untrusted.surrogates import is_utf8
from codeplan.untrusted.terminal import clean, one_line
from codeplan.untrusted.values import in_quotes, value_text

MAX_SCHEMA_CHARS: Final = 200_000
"""Maximum length of a schema as JSON, in characters. A tool with a longer one is left out."""

MAX_PARAMETERS: Final = 40
"""Maximum number of parameters. A tool with more takes one dict."""

MAX_DOC_CHARS: Final = 4_000
"""Maximum length of a tool's description, in characters."""

_MAX_NOTE_CHARS: Final = 300
_MAX_DEFAULT_CHARS: Final = 60
_WHOLE: Final = "arguments"
_IN_ARGUMENTS: Final = "may be left out"
_IN_RESULTS: Final = "may be missing"
_SAID: Final = {"default", "description", "title", "type"}
_WRAPPERS: Final = ("result", "content")
_PARTS: Final = ("anyOf", "oneOf", "allOf")
_MAX_ALTERNATIVES: Final = 100
_BLOCKS: Final = ("text", "image", "audio", "resource", "resource_link")


class UnusableTool(Exception):
    """Says why a tool cannot be offered, in words that follow its name."""


@dataclass(frozen=True)
class ToolSignature:
    """The method of a tool with the types that explain it.

    ``wire_names`` are the server's names of the parameters; None if the one parameter is the whole argument.
    ``not_null`` are optional parameters for which None means that they are left out. ``wrapper`` is the
    only key of the server's structured content, whose value is the result for the plan; empty if the whole is; None if
    it only repeats the content, which is then the result.
    """

    method: AgentMethod
    types: tuple[AgentType, ...]
    wire_names: Mapping[str, str] | None
    not_null: frozenset[str]
    wrapper: str | None

    def wire_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as JSON data by the server's names. Raises: AgentError: JSON cannot hold one."""
        if self.wire_names is None:
            whole = _json_data(self.method.name, _WHOLE, arguments[_WHOLE])
            if not isinstance(whole, dict):
                raise AgentError(f"{self.method.name} was called wrongly: {_WHOLE}: it must be a dict", "TypeError")
            return whole
        return {
            self.wire_names[name]: _json_data(self.method.name, name, value)
            for name, value in arguments.items()
            if not (value is None and name in self.not_null)
        }


def write_signature(
    name: str, description: str, input_schema: Any, output_schema: Any, table: TypeTable
) -> ToolSignature:
    """The signature of a tool under the Python name ``name``. Raises: UnusableTool: its schema is too large."""
    _require_size("input", input_schema)
    _require_size("output", output_schema)
    parameters = _Parameters(name, input_schema, table)
    returns, types, wrapper = _returns(name, output_schema, table)
    shown = ", ".join(parameters.texts)
    text = _doc(description, parameters.notes)
    method = AgentMethod(name, f"({shown}) -> {returns}", text, tuple(parameters.parameters))
    explained = dict.fromkeys((*parameters.types, *types))
    return ToolSignature(method, tuple(explained), parameters.wire_names, frozenset(parameters.not_null), wrapper)


class _Parameters:
    """The parameters of an input schema: required ones first."""

    def __init__(self, tool: str, schema: Any, table: TypeTable) -> None:
        self.texts: list[str] = []
        self.notes: list[str] = []
        self.parameters: list[AgentParameter] = []
        self.not_null: list[str] = []
        self.wire_names: dict[str, str] | None = {}
        self._tool = tool
        self._writer = SchemaWriter(table, schema, _IN_ARGUMENTS)
        whole = self._writer.resolve(schema)
        properties = whole.get("properties", {}) if isinstance(whole, dict) else None
        required = dict.fromkeys(required_names(whole)) if isinstance(whole, dict) else {}
        if (
            not isinstance(properties, dict)
            or len(properties.keys() | required.keys()) > MAX_PARAMETERS
            or self._needs_whole(whole, properties)
        ):
            self._add_whole(schema)
            return
        for name in (*required, *(n for n in properties if n not in required)):
            self._add(name, properties.get(name, {}), name in required)

    @property
    def types(self) -> tuple[AgentType, ...]:
        """The types that the parameters use."""
        return tuple(self._writer.types.values())

    def _add(self, wire_name: str, schema: Any, required: bool) -> None:
        assert self.wire_names is not None
        name = unique_name(python_name(wire_name, "argument"), {*self.wire_names, *RESERVED_PARAMETER_NAMES})
        self.wire_names[name] = wire_name
        kind = self._writer.text(schema, f"{class_name(self._tool)} {wire_name}")
        default = "" if required else f" = {_default_text(schema)}"
        if default == " = None" and "None" not in kind.split(" | ") and kind != "object":
            kind += " | None"
            self.not_null.append(name)
        self.texts.append(f"{name}: {kind}{default}")
        self.parameters.append(AgentParameter(name, required=required))
        origin = "" if name == wire_name else f"the server's {in_quotes(wire_name, 60)}. "
        if note := origin + describe_schema(schema, _MAX_NOTE_CHARS):
            self.notes.append(f"{name}: {note}")
        if kind in ("object", "dict") and isinstance(schema, dict) and not schema.keys() <= _SAID:
            self.notes.append(f"{name} fits the JSON Schema {schema_text(schema)}")

    def _needs_whole(self, schema: Mapping[str, Any], properties: Mapping[str, Any]) -> bool:
        """Whether parameters would not tell what the tool takes: alternatives, or names that are not listed."""
        if properties:
            return not self._names_in_parts(schema) <= properties.keys()
        named = (*_PARTS, "patternProperties")
        return any(schema.get(key) for key in named) or schema.get("additionalProperties") not in (None, False)

    def _names_in_parts(self, schema: Mapping[str, Any]) -> set[str]:
        """The properties that only some of the schema's alternatives, or several schemas together, name."""
        lists = [parts for key in _PARTS if isinstance(parts := schema.get(key), list)]
        found: set[str] = set()
        for part in (self._writer.resolve(p) for parts in lists for p in parts[:_MAX_ALTERNATIVES]):
            if isinstance(part, dict):
                listed = part.get("properties")
                found |= {*required_names(part), *(listed if isinstance(listed, dict) else ())}
        return found

    def _add_whole(self, schema: Any) -> None:
        kind = self._writer.text(schema, f"{class_name(self._tool)}Arguments")
        self.wire_names = None
        self.texts = [f"{_WHOLE}: {kind if kind != 'object' else 'dict'}"]
        self.parameters = [AgentParameter(_WHOLE)]
        self.notes = [f"{_WHOLE} fits the JSON Schema {schema_text(schema)}"]


def _returns(tool: str, schema: Any, table: TypeTable) -> tuple[str, tuple[AgentType, ...], str | None]:
    """The result's type, what explains it, and the wrapper.

    Structured content is always an object. So servers put a list or a text into one with a single key.
    """
    if not isinstance(schema, dict):
        return "str", (), ""
    writer = SchemaWriter(table, schema, _IN_RESULTS)
    hint = f"{class_name(tool)}Result"
    whole = writer.resolve(schema)
    properties = whole.get("properties") if isinstance(whole, dict) else None
    for wrapper in _WRAPPERS:
        if isinstance(properties, dict) and properties.keys() == {wrapper} == set(required_names(whole)):
            if _is_list_of_blocks(writer, properties[wrapper]):
                return "str", (), None
            return writer.text(properties[wrapper], hint), tuple(writer.types.values()), wrapper
    return writer.text(schema, hint), tuple(writer.types.values()), ""


def _is_list_of_blocks(writer: SchemaWriter, schema: Any) -> bool:
    """Whether a schema describes the protocol's own blocks of content, images and resources among them."""
    whole = writer.resolve(schema)
    items = writer.resolve(whole.get("items")) if isinstance(whole, dict) else None
    if not isinstance(items, dict):
        return False
    found: set[object] = set()
    for member in alternatives(items) or [items]:
        block = writer.resolve(member)
        properties = block.get("properties") if isinstance(block, dict) else None
        kind = writer.resolve(properties.get("type")) if isinstance(properties, dict) else None
        values = listed_values(kind) if isinstance(kind, dict) else None
        if values is None or not all(value in _BLOCKS for value in values):
            return False
        found |= {*values}
    return not found <= {"text"}


def _doc(description: str, notes: list[str]) -> str:
    said = clean(description[: 2 * MAX_DOC_CHARS]).replace('"""', "'''").strip()
    return excerpt("\n".join([said, *notes] if said else notes), MAX_DOC_CHARS)


def _default_text(schema: Any) -> str:
    default = schema.get("default") if isinstance(schema, dict) else None
    text = value_text(default, _MAX_DEFAULT_CHARS)
    return "..." if text.endswith("…") else text


def _require_size(which: str, schema: Any) -> None:
    try:
        size = len(json.dumps(schema, ensure_ascii=False))
    except RecursionError:
        raise UnusableTool(f"its {which} schema is nested too deeply") from None
    if size > MAX_SCHEMA_CHARS:
        raise UnusableTool(f"its {which} schema has {size:,} characters, more than {MAX_SCHEMA_CHARS:,}")


def _json_data(tool: str, name: str, value: Any, depth: int = 1) -> Any:
    """A plan's value as JSON data: tuples are lists. Raises: AgentError: JSON cannot hold it, or it is too deep."""
    if depth > MAX_DEPTH:
        raise AgentError(f"{tool} was called wrongly: {name}: it is nested deeper than {MAX_DEPTH}", "ValueError")
    if isinstance(value, list | tuple):
        return [_json_data(tool, name, v, depth + 1) for v in value]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise _not_json(tool, name, f"dict with the key {value_text(key, 40)}")
        return {_json_data(tool, name, k): _json_data(tool, name, v, depth + 1) for k, v in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise _not_json(tool, name, value_text(value, 40))
    if isinstance(value, str) and not is_utf8(value):
        raise _not_json(tool, name, "text with half of a surrogate pair")
    return value


def _not_json(tool: str, name: str, what: str) -> AgentError:
    return AgentError(one_line(f"{tool} was called wrongly: {name}: JSON has no {what}"), "ValueError")
