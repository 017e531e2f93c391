"""JSON Schemas as Python types that a model reads well.

Objects with known properties are written out once, as TypedDicts. Constraints that Python's types cannot express are
left out: the type then allows more than the schema, never less. Schemas come from strangers, so their size, their
depth and the work that they cause are limited, and a reference to another document is never followed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from keyword import iskeyword
from typing import Any, Final
from urllib.parse import unquote

from codeplan.tools.mcp.names import class_name
from codeplan.tools.mcp.type_table import TypeTable
from codeplan.types import AgentType
from codeplan.untrusted.terminal import one_line
from codeplan.untrusted.values import in_quotes, value_text

MAX_DEPTH: Final = 8
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
        if not isinstance(schema, dict) or depth > MAX_DEPTH or self._nodes < 0:
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
