"""Prints the tables of docs/sandbox.md that describe the protocol, from the code: ``python protocol_table.py``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import inspect

from codeplan.sandbox.protocol.frames import TRANSITIONS, Sender

_UNITS = {
    inspect.StrType: "characters",
    inspect.BytesType: "bytes",
    inspect.ListType: "values",
    inspect.VarTupleType: "values",
    inspect.DictType: "entries",
}


def conversation_table() -> list[str]:
    """The rows of the state machine."""
    rows = ["| state | sender | frame | next state |", "|---|---|---|---|"]
    for t in TRANSITIONS:
        condition = f", {t.condition}" if t.condition else ""
        rows.append(f"| {t.state} | {t.sender} | {t.frame.__name__}{condition} | {t.next_state} |")
    return rows


def caps_table() -> list[str]:
    """The rows of the caps on the worker's frames: every text, list and number that one may hold."""
    rows = ["| frame | caps |", "|---|---|"]
    for frame in dict.fromkeys(t.frame for t in TRANSITIONS if t.sender is Sender.WORKER):
        info = inspect.type_info(frame)
        assert isinstance(info, inspect.StructType)
        caps = "; ".join(_caps_of_fields(info, "")) or "no fields"
        rows.append(f"| {frame.__name__} | {caps} |")
    return rows


def _caps_of_fields(info: inspect.StructType, prefix: str) -> Iterator[str]:
    if not prefix.startswith("form.of."):  # a form holds others like it
        for field in info.fields:
            yield from _caps_of(field.type, f"{prefix}{field.name}")


def _caps_of(kind: inspect.Type, name: str) -> Iterator[str]:
    if isinstance(kind, inspect.UnionType):
        for part in kind.types:
            yield from _caps_of(part, name)
    elif isinstance(kind, inspect.StructType):
        yield from _caps_of_fields(kind, f"{name}.")
    elif isinstance(kind, inspect.IntType | inspect.FloatType):
        yield f"{name} {_number(kind.ge)} to {_number(kind.le)}"
    elif isinstance(kind, inspect.LiteralType):
        yield f"{name} one of {', '.join(map(str, kind.values))}"
    elif type(kind) in _UNITS:
        yield f"{name} {_length(kind)}"
        yield from _caps_of_parts(kind, name)


def _caps_of_parts(kind: Any, name: str) -> Iterator[str]:
    part = getattr(kind, "item_type", None) or getattr(kind, "key_type", None)
    if isinstance(part, inspect.StructType | inspect.StrType):
        yield from _caps_of(part, f"{name}[]")
    if isinstance(kind, inspect.DictType) and isinstance(kind.value_type, inspect.StrType):
        yield from _caps_of(kind.value_type, f"{name}[] value")


def _length(kind: Any) -> str:
    if getattr(kind, "pattern", None):
        return f"`{kind.pattern}`"
    if kind.max_length is None:
        return "as the frame"
    least = f"{kind.min_length:,} to " if kind.min_length else "at most "
    return f"{least}{kind.max_length:,} {_UNITS[type(kind)]}"


def _number(bound: float | None) -> str:
    assert bound is not None, "a number in a worker's frame has no bound"
    return f"{bound:g}" if isinstance(bound, float) else f"{bound:,}"


if __name__ == "__main__":
    print(*conversation_table(), "", *caps_table(), sep="\n")
