"""Describes a server's tool for a plan, and checks and converts the plan's arguments by the server's JSON Schema.

Objects with known properties are written out once, as TypedDicts. Constraints that Python's types cannot express are
left out: the type then allows more than the schema, never less. Schemas come from strangers, so their size, their
depth and the work that they cause are limited, and a reference to another document is never followed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from codeplan.errors import AgentError
from codeplan.plain_data import MAX_DEPTH
from codeplan.tools.arguments import MAX_CERTAIN_CHARS
from codeplan.tools.mcp.addresses import class_name, python_name, unique_name
from codeplan.tools.tool import RESERVED_PARAMETER_NAMES
from codeplan.types import AgentMethod, AgentParameter, AgentType
from codeplan.untrusted.texts import clean, excerpt, is_utf8, one_line
from codeplan.untrusted.values import in_quotes, value_text

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator


class TypeTable:
    """The types of several tools. Two of the same name get different ones, unless they are the same type.

    ``taken`` are names that already have a meaning. A server may send hundreds of thousands of types, so each is looked
    up and never searched for.
    """

    def __init__(self, taken: Mapping[str, str] | None = None) -> None:
        self._texts: dict[str, str] = dict(taken or {})
        self._names = {text: name for name, text in self._texts.items()}  # of a text under the name that was wanted
        self._numbers: dict[str, int] = {}  # of a wanted name: no lower number is free

    def reserve(self, name: str) -> str:
        """A name that no other type has."""
        number = self._numbers.get(name, 1)
        while (found := f"{name}{number}" if number > 1 else name) in self._texts:
            number += 1
        self._numbers[name] = number
        self._texts[found] = ""
        return found

    def define(self, reserved: str, wanted: str, text: str) -> str:
        """Give a reserved name its text. Returns the name of an equal type if there is one already."""
        as_wanted = text.replace(reserved, wanted)
        if (known := self._names.get(as_wanted)) is not None:
            del self._texts[reserved]
            self._numbers[wanted] = min(self._numbers[wanted], int(reserved.removeprefix(wanted) or 1))
            return known
        self._texts[reserved] = text
        self._names[as_wanted] = reserved
        return reserved

    def text(self, name: str) -> str:
        """The text of a defined type."""
        return self._texts[name]


MAX_TYPE_DEPTH: Final = 8
"""Maximum nesting of a type. Deeper parts are ``object``."""

MAX_NODES: Final = 500
"""Maximum number of parts of one tool's schemas that are read. Further ones are ``object``."""

MAX_TYPES_CHARS: Final = 6_000
"""Maximum length of the TypedDicts of one tool, in characters. Further ones are ``dict``."""

MAX_FIELDS: Final = 60
"""Maximum number of properties of one object that are shown."""

_MAX_LITERALS: Final = 40
_MAX_LITERAL_CHARS: Final = 80
_MAX_MEMBERS: Final = 8
_MAX_COMMENT_CHARS: Final = 120
_MAX_SCHEMA_CHARS: Final = 300
_MAX_REFERENCES: Final = 20  # that lead to one schema, and the parts of each

_SCALARS: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_KINDS: Final = {**_SCALARS, "array": "list", "object": "dict"}
_BOUNDS: Final = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


class SchemaWriter:
    """Writes the schemas of one tool. ``types`` explains the names in its texts, each after those it uses.

    ``root`` is the schema that references point into. ``optional`` is the comment of properties that may be missing.
    """

    def __init__(self, table: TypeTable, root: Any, optional: str) -> None:
        self.types: dict[str, AgentType] = {}
        self._table, self._root, self._optional = table, root, optional
        self._nodes, self._room = MAX_NODES, MAX_TYPES_CHARS
        self._references: dict[str, str] = {}

    def text(self, schema: Any, hint: str, depth: int = 0) -> str:
        """The type in Python's notation; ``hint`` names an object that has no title."""
        self._nodes -= 1
        if not isinstance(schema, dict) or depth > MAX_TYPE_DEPTH or self._nodes < 0:
            return "object"
        if isinstance(reference := schema.get("$ref"), str):
            return self._referenced(reference, depth)
        if (values := listed_values(schema)) is not None:
            return _literal(values)
        if members := alternatives(schema):
            return self._union(members, schema, hint, depth)
        if parts := schema.get("allOf"):
            return self._merged(parts, schema, hint, depth)
        return self._plain(schema, hint, depth)

    def resolve(self, schema: Any) -> Any:
        """The schema that a reference stands for; the schema itself if it is none. None if it leads nowhere."""
        for _ in range(_MAX_REFERENCES):
            if not isinstance(schema, dict) or not isinstance(reference := schema.get("$ref"), str):
                return schema
            schema = _follow(self._root, reference)
        return None

    def _plain(self, schema: dict[str, Any], hint: str, depth: int) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            kinds: list[Any] = [{**schema, "type": k} for k in kind[:_MAX_MEMBERS] if isinstance(k, str)]
            return self._join([self.text(k, hint, depth + 1) for k in kinds])
        if kind == "object" or (kind is None and isinstance(schema.get("properties"), dict)):
            found = self._object(schema, hint, depth)
        elif kind == "array":
            items = schema.get("items")
            inner = self.text(items, f"{hint}Item", depth + 1) if isinstance(items, dict) else "object"
            found = "list" if inner == "object" else f"list[{inner}]"
        else:
            found = _SCALARS.get(kind, "object") if isinstance(kind, str) else "object"
        return self._join([found, "None"]) if schema.get("nullable") is True else found

    def _object(self, schema: dict[str, Any], hint: str, depth: int) -> str:
        properties = schema.get("properties")
        if isinstance(properties, dict) and properties:
            return self._typed_dict(schema, properties, hint, depth)
        inner = self.text(schema.get("additionalProperties"), f"{hint}Value", depth + 1)
        return "dict" if inner == "object" else f"dict[str, {inner}]"

    def _typed_dict(self, schema: dict[str, Any], properties: dict[str, Any], hint: str, depth: int) -> str:
        if self._room <= 0:
            return "dict"
        title = schema.get("title")
        wanted = class_name(title if isinstance(title, str) and title else hint)
        name = self._table.reserve(wanted)
        self.types[name] = AgentType(name, "")  # it may contain itself
        for reference, known in self._references.items():
            if not known and _follow(self._root, reference) is schema:
                self._references[reference] = name
        text = "\n".join([f"class {name}(TypedDict):  # a dict", *self._fields(schema, properties, name, depth)])
        self._room -= len(text)
        del self.types[name]
        kept = self._table.define(name, wanted, text)
        self.types[kept] = AgentType(kept, self._table.text(kept))
        return kept

    def _fields(self, schema: dict[str, Any], properties: dict[str, Any], name: str, depth: int) -> list[str]:
        required = required_names(schema)
        lines = []
        for key, part in list(properties.items())[:MAX_FIELDS]:
            is_name = key.isidentifier() and not iskeyword(key) and len(key) <= _MAX_LITERAL_CHARS
            shown = key if is_name else in_quotes(key, _MAX_LITERAL_CHARS)
            kind = self.text(part, f"{name} {key}", depth + 1)
            notes = [describe_schema(part, _MAX_COMMENT_CHARS), "" if key in required else self._optional]
            comment = "; ".join(note for note in notes if note)
            lines.append(f"    {shown}: {kind}{'  # ' if comment else ''}{comment}")
        if len(properties) > MAX_FIELDS:
            lines.append(f"    # … and {len(properties) - MAX_FIELDS:,} more")
        return lines

    def _union(self, members: list[Any], schema: dict[str, Any], hint: str, depth: int) -> str:
        if len(members) > _MAX_MEMBERS:
            return "object"
        beside = {k: v for k, v in schema.items() if k in ("type", "properties", "required")}
        whole = [_joined(beside, m) if isinstance(m, dict) and "$ref" not in m else m for m in members]
        return self._join([self.text(m, hint, depth + 1) for m in whole])

    def _merged(self, parts: Any, schema: dict[str, Any], hint: str, depth: int) -> str:
        """All of several schemas: one that is alone, or objects whose properties are put together."""
        own = {k: v for k, v in schema.items() if k in ("type", "properties", "required", "title")}
        found = [self.resolve(part) for part in parts[:_MAX_MEMBERS]] if isinstance(parts, list) else []
        if len(found) == 1 and not own.keys() & {"properties"}:
            return self.text(parts[0], hint, depth + 1)
        properties: dict[str, Any] = {}
        required: list[str] = []
        for part in (*found, own):
            if not isinstance(part, dict) or not isinstance(part.get("properties", {}), dict):
                return "object"
            properties |= part.get("properties", {})
            required += required_names(part)
        merged = {"title": own.get("title"), "properties": properties, "required": required}
        return self._plain(merged, hint, depth) if properties else "object"

    def _referenced(self, reference: str, depth: int) -> str:
        if reference in self._references:
            return self._references[reference] or "object"  # empty: it contains itself without a name
        self._references[reference] = ""
        target = _follow(self._root, reference)
        found = self.text(target, reference.rpartition("/")[2] or "Root", depth + 1)
        self._references[reference] = found
        return found

    def _join(self, members: list[str]) -> str:
        """A union. ``object`` swallows all others, and ``None`` stands last."""
        parts = dict.fromkeys(part for member in members for part in member.split(" | "))
        if not parts or "object" in parts:
            return "object"
        return " | ".join(sorted(parts, key=lambda part: part == "None"))


def _joined(beside: dict[str, Any], member: dict[str, Any]) -> dict[str, Any]:
    """A member of a union with what stands beside the union: the properties of both."""
    own, shared = member.get("properties"), beside.get("properties")
    if not isinstance(own, dict) or not isinstance(shared, dict):
        return {**beside, **member}
    required = [*required_names(beside), *required_names(member)]
    return {**beside, **member, "properties": {**shared, **own}, "required": required}


def required_names(schema: Mapping[str, Any]) -> list[str]:
    """The properties that an object must have."""
    names = schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def describe_schema(schema: Any, max_characters: int) -> str:
    """A schema's description of a value in words: its description, its format and its bounds, on one line."""
    if not isinstance(schema, dict):
        return ""
    said = schema.get("description")
    words = one_line(said, max_characters) if isinstance(said, str) else ""
    facts = [form.format(_number(schema[key])) for key, form in _BOUNDS.items() if _is_number(schema.get(key))]
    facts += [one_line(schema["format"], 40)] if isinstance(schema.get("format"), str) else []
    if isinstance(pattern := schema.get("pattern"), str):
        facts.append(f"matches {in_quotes(pattern, 60)}")
    if (values := listed_values(schema)) is not None and len(values) > _MAX_LITERALS:
        facts.append(f"one of {len(values):,} values, such as {value_text(values[:5], _MAX_LITERAL_CHARS)}")
    return f"{words}{' ' if words else ''}({', '.join(facts)})" if facts else words


def schema_text(schema: Any) -> str:
    """A schema itself, shortened, for what cannot be said in Python's types."""
    return one_line(json.dumps(schema, ensure_ascii=False), _MAX_SCHEMA_CHARS)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: object) -> str:
    return value_text(value, 30)


def alternatives(schema: dict[str, Any]) -> list[Any]:
    """The members of ``anyOf`` or ``oneOf``: a value must fit one of them. Empty if the schema has neither."""
    for key in ("anyOf", "oneOf"):
        if isinstance(members := schema.get(key), list) and members:
            return members
    return []


def listed_values(schema: dict[str, Any]) -> list[Any] | None:
    """The values that a schema lists; None if it lists none."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) and values else None


def _literal(values: list[Any]) -> str:
    """A Literal, or the common type of values that are too many or no scalars."""
    plain = [v for v in values if v is None or isinstance(v, str | int | float)]
    shown = [v for v in plain if v is not None]
    end = " | None" if len(shown) < len(plain) else ""
    if len(plain) < len(values):
        return "object"
    if len(shown) > _MAX_LITERALS or any(isinstance(v, str) and len(v) > _MAX_LITERAL_CHARS for v in shown):
        names = dict.fromkeys(type(v).__name__ for v in shown)
        return " | ".join(names) + end
    texts = ", ".join(value_text(v, _MAX_LITERAL_CHARS + 2) for v in shown)
    return f"Literal[{texts}]{end}" if shown else "None"


def _follow(root: Any, reference: str) -> Any:
    """The schema to which a reference within the same document points; None for any other reference."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    _, *parts = reference.split("/", _MAX_REFERENCES + 1)
    if len(parts) > _MAX_REFERENCES:
        return None
    found = root
    for part in parts:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(found, list):
            found = dict(zip(map(str, range(_MAX_REFERENCES)), found, strict=False))
        found = found.get(key) if isinstance(found, dict) else None
    return found


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
        known = kind if len(kind) <= MAX_CERTAIN_CHARS and kind not in ("object", "dict", "list") else ""
        self.parameters.append(AgentParameter(name, required=required, type=known))
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


MAX_SCHEMA_PARTS: Final = 50_000
"""Maximum number of parts of a schema that is checked, with its references written out. The library enters a part
anew on each way to it, and a chain of references can double the ways at each link.
"""

MAX_CHECK_CHARS: Final = 200_000_000
"""Maximum number of characters that one check may look at, or copy into its errors."""

_MAX_GIVEN: Final = 80
_MAX_PATH: Final = 100
_MAX_SENTENCE: Final = 300
_LEFT_TO_THE_SERVER: Final = {
    "pattern": str,  # compiled, regular expressions can take gigabytes
    "patternProperties": dict,
    "propertyNames": dict | bool,
    "unevaluatedItems": dict | bool,
    "unevaluatedProperties": dict | bool,
    "contentEncoding": str,
    "contentMediaType": str,
}
"""Keywords that are not checked, and the type of their values: a property may have such a name, too."""

_REBASING: Final = ("$id", "$schema", "$dynamicRef", "$recursiveRef")
"""Keywords that change what references mean. A schema that uses them in its parts is left to the server."""


class ArgumentCheck:
    """Checks the arguments of calls by a server's schema, before the call.

    The schema is a stranger's: no reference to another document is followed, and checks that could take long are left
    to the server, as are regular expressions. A schema that cannot be used lets everything pass.
    """

    def __init__(self, schema: Any) -> None:
        self._schema = schema

    def require_valid(self, tool: str, arguments: dict[str, Any]) -> None:
        """Raises: AgentError: an argument does not fit; one sentence with its path.

        The plan gets a TypeError if the type is wrong, otherwise a ValueError.
        """
        from jsonschema_rs import ValidationError

        if self._prepared is None:
            return
        schema, expansion, validator = self._prepared
        ways = max(1, expansion.repeats) ** _depth(arguments)
        if expansion.parts * ways * len(json.dumps(arguments)) > MAX_CHECK_CHARS:
            return
        try:
            validator.validate(arguments)
        except ValidationError as error:
            raise _misfit(tool, schema, error) from None

    @cached_property
    def _prepared(self) -> tuple[Any, _Expansion, Validator] | None:
        """The schema without what is left to the server, its parts and its validator; None if it cannot be used."""
        from jsonschema_rs import validator_for

        try:
            schema = _without_unchecked(self._schema)
            expansion = _Expansion(schema)
            return schema, expansion, validator_for(schema, validate_formats=False, retriever=fetch_nothing)
        except Exception:  # the library raises many types for a schema that is none
            return None


class _NotCheckedError(Exception):
    """A schema is left to the server."""


class _Expansion:
    """A schema with its references written out: how many ``parts`` it has, and ``repeats``, how many of them are a
    schema within itself. At each level of a value, the library may follow each of these.

    Raises: _NotCheckedError.
    """

    def __init__(self, root: Any) -> None:
        self.parts = self.repeats = 0
        self._root, self._open = root, {"#"}
        dialect = root.get("$schema") if isinstance(root, dict) else None
        self._rebasing = (*_REBASING, "id") if "draft-04" in str(dialect) else _REBASING
        self._add(root)

    def _add(self, part: Any) -> None:
        self.parts += 1
        if self.parts > MAX_SCHEMA_PARTS:
            raise _NotCheckedError
        if isinstance(part, list):
            for inner in part:
                self._add(inner)
        elif isinstance(part, dict):
            for key, value in part.items():
                if key == "$ref" and isinstance(value, str):
                    self._add_referenced(value)
                elif part is not self._root:
                    self._require_plain(key, value)
                    self._add(value)
                elif key not in ("$defs", "definitions"):
                    self._add(value)

    def _add_referenced(self, reference: str) -> None:
        if reference in self._open:
            self.repeats += 1
            return
        target = None if "%" in reference else _follow(self._root, reference)
        if target is None:
            raise _NotCheckedError
        self._open.add(reference)
        self._add(target)
        self._open.remove(reference)

    def _require_plain(self, key: str, value: Any) -> None:
        if key in self._rebasing and isinstance(value, str):
            raise _NotCheckedError


def fetch_nothing(uri: str) -> Any:
    """Refuse to fetch what a schema refers to."""
    raise LookupError(f"{uri} is not fetched")


def _without_unchecked(schema: Any) -> Any:
    """The schema without what is left to the server."""
    if isinstance(schema, list):
        return [_without_unchecked(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = {key for key, kind in _LEFT_TO_THE_SERVER.items() if isinstance(schema.get(key), kind)}
    if "patternProperties" in left_out:
        left_out.add("additionalProperties")
    listed = schema.get("enum")
    kept = {key: _without_unchecked(value) for key, value in schema.items() if key not in left_out}
    return {**kept, "enum": listed} if isinstance(listed, list) else kept


def _depth(value: Any) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, parts), default=0)


def fault_of(schema: Any, error: ValidationError) -> tuple[list[str | int], str]:
    """Where in a value a fault is, and what it is."""
    error = _deepest(error)
    return [*error.instance_path], _fault(schema, error)


def _misfit(tool: str, schema: Any, error: ValidationError) -> AgentError:
    error = _deepest(error)
    parts = [f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.instance_path]
    path = one_line("".join(parts).lstrip("."), _MAX_PATH)
    given = f" (given: {value_text(error.instance, _MAX_GIVEN)})"
    sentence = f"{tool} was called wrongly: {path}{': ' if path else ''}{_fault(schema, error)}{given if path else ''}"
    return AgentError(one_line(sentence, _MAX_SENTENCE), "TypeError" if error.kind.name == "type" else "ValueError")


def _deepest(error: ValidationError) -> ValidationError:
    """Of alternatives, the fault of the only one whose type fits."""
    while error.kind.name in ("anyOf", "oneOf"):
        firsts = [faults[0] for faults in error.kind.context if faults]  # type: ignore[attr-defined]
        place = error.instance_path
        fitting = [fault for fault in firsts if fault.kind.name != "type" or fault.instance_path != place]
        if len(fitting) != 1:
            break
        error = fitting[0]
    return error


def _fault(schema: Any, error: ValidationError) -> str:
    wanted = schema
    for part in error.schema_path:
        wanted = wanted[part]
    match error.kind.name:
        case "type":
            return f"it must be of the type {' or '.join(wanted) if isinstance(wanted, list) else wanted}"
        case "required" if isinstance(wanted, list):
            missing = [name for name in wanted if name not in error.instance]  # type: ignore[operator]
            return f"it lacks {', '.join(in_quotes(name, 40) for name in missing[:3])}"
        case "enum" | "const" as keyword:
            return f"it must be {'one of ' if keyword == 'enum' else ''}{value_text(wanted, 120)}"
        case "additionalProperties":
            unknown: list[str] = error.kind.value
            return f"it has no {', '.join(in_quotes(name, 40) for name in unknown[:3])}, and no other names are allowed"
        case "falseSchema":
            return "no value is allowed"
        case "anyOf" | "oneOf":
            return "it fits none of the alternatives, or too many"
        case _:
            return f"it breaks the rule {in_quotes(error.schema_path[-1], 40)}: {value_text(wanted, 120)}"
