"""JSON schemas for answers that programs read, and the conversion of such an answer to text."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from codeplan.types import Purpose

_MAX_ANSWER_BYTES = 256 << 10
"""The largest answer that is decoded; a larger one stays as it is."""

_SCALARS = [{"type": name} for name in ("string", "number", "boolean", "null")]
_LIST = {"type": "array", "items": {"anyOf": _SCALARS}}
_LIST_OF_LISTS = {"type": "array", "items": _LIST}
_TEXTS = {"type": "array", "items": {"type": "string"}}


def _object(**fields: Any) -> dict[str, Any]:
    """A schema for an object with exactly these fields, as strict endpoints want it."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


_STRING = {
    "type": "string",
    "description": "exactly the characters that the question asks for; if it asks for a Python string, with its quotes",
}
_SCHEMAS: dict[Purpose, dict[str, Any]] = {
    "ask": _object(answer={"anyOf": [_STRING, *_SCALARS[1:], _LIST, _LIST_OF_LISTS]}),
    "bind": _object(
        values={
            "type": "array",
            "items": _object(name={"type": "string"}, value={"anyOf": [{"type": "string"}, _TEXTS]}),
        }
    ),
}

_Scalar = str | int | float | bool | None


class _Answer(msgspec.Struct):
    answer: _Scalar | list[_Scalar | list[_Scalar]]


class _Binding(msgspec.Struct):
    name: str
    value: str | list[str]


class _Bindings(msgspec.Struct):
    values: list[_Binding]


def schema_fields(purpose: Purpose, api: str) -> dict[str, Any]:
    """The fields of a request that ask for JSON by the purpose's schema; empty if the purpose has none."""
    schema = _SCHEMAS.get(purpose)
    if schema is None:
        return {}
    about = {"name": f"codeplan_{purpose}", "strict": True, "schema": schema}
    if api == "chat":
        return {"response_format": {"type": "json_schema", "json_schema": about}}
    return {"text": {"format": {"type": "json_schema", **about}}}


def answer_text(purpose: Purpose, text: str) -> str:
    """The text that an answer stands for; the text itself if it does not follow the purpose's schema.

    A string becomes its characters, every other answer its Python literal; a list of texts and numbers is also valid
    JSON. The values of parameters become one JSON object.
    """
    if purpose not in _SCHEMAS or len(text) > _MAX_ANSWER_BYTES:
        return text
    try:
        if purpose == "bind":
            bindings = msgspec.json.decode(text, type=_Bindings)
            return json.dumps({b.name: b.value for b in bindings.values}, ensure_ascii=False)
        return _literal(msgspec.json.decode(text, type=_Answer).answer)
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError):
        return text


def _literal(answer: Any) -> str:
    """The answer as Python reads it. Texts within a list are in double quotes, so that JSON reads them as well."""
    if isinstance(answer, str):
        return answer
    return _item(answer)


def _item(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_item, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
