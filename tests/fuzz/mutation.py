"""Changes what others could have made: trees of plain data, lines, texts and bytes. A number decides each change."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Sequence
from typing import Any, Final

CANARY_FOLDER: Final = "@CANARY@"
"""Stands for a folder of the host that nothing may read or change; ``confinement`` puts in its path."""

_ODD_TEXTS: Final = (
    "",
    " ",
    "\x00",
    "\x1b[2J\x1b]0;title\x07",
    "\u202egnp.exe",
    "\ud800",
    "é" * 3,
    "a" * 100_000,
    "{" * 3_000,
    "../../etc/passwd",
    f"{CANARY_FOLDER}/secret",
    f"../../../../../..{CANARY_FOLDER}/secret",
    "http://127.0.0.1:9/v1",
    "m@http://127.0.0.1:9/v1",
    "file:///etc/passwd",
    "OPENAI_API_KEY",
    "HOME",
    "-1",
    "--help",
    "nan",
    "scripted",
    "household",
    "textcraft",
    "adaplanner",
    "react",
    "(a+)+$",
    "%s%n{0.__class__}",
    "def solution(agent, start_from=1):\n    pass\n",
    "Step 1: a\nExecution order: " + "(" * 60 + "Step 1",
    "<script>alert(1)</script>",
    "[link](javascript:x)",
    "+++",
    "---",
    "&a [*a, *a]",
    "!!python/object:os.system x",
    "```",
)
_ODD_NUMBERS: Final = (
    0, 1, -1, 2, 7, 255, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 0.0, -0.0, 0.5, 1e308, 5e-324, math.inf, math.nan
)  # fmt: skip
_KEYS: Final = (
    "base_url", "key_variable", "api_key", "browser", "plan", "prompts", "limits", "model", "env", "method", "settings", "type",
    "__class__", "seq", "at", "", "max_retries", "split", "budget", "tape", "skill", "x" * 300,
)  # fmt: skip


def odd_value(pick: random.Random) -> Any:
    """A value that a careless reader would not expect."""
    match pick.randrange(8):
        case 0 | 1:
            return pick.choice(_ODD_TEXTS)
        case 2 | 3:
            return pick.choice(_ODD_NUMBERS)
        case 4:
            return pick.choice([None, True, False, [], {}, [None], {"": None}])
        case 5:
            return nested(pick.choice([5, 60, 300]), pick)
        case 6:
            return [pick.choice(_ODD_NUMBERS)] * pick.choice([1, 100, 20_000])
        case _:
            return {pick.choice(_KEYS): pick.choice(_ODD_TEXTS)}


def nested(depth: int, pick: random.Random) -> Any:
    """Lists or tables within one another."""
    value: Any = pick.choice([0, "a", None])
    as_list = pick.random() < 0.5
    for _ in range(depth):
        value = [value] if as_list else {"a": value}
    return value


def mutate_tree(pick: random.Random, tree: Any, donors: Sequence[Any] = ()) -> Any:
    """A copy of plain data with a few changes; values may come from ``donors``, other trees of the same kind."""
    try:
        tree = copy.deepcopy(tree)
        for _ in range(pick.choice([1, 1, 1, 2, 3, 8])):
            places = _places(tree)
            if not places:
                return odd_value(pick)
            holder, key = pick.choice(places)
            _change(pick, holder, key, donors)
    except RecursionError:  # it was deep already
        return odd_value(pick)
    return tree


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Where values stand in a tree: the list or table, and the index or key."""
    places: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        places += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys]
    return places


def _change(pick: random.Random, holder: Any, key: Any, donors: Sequence[Any]) -> None:
    match pick.randrange(7):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[pick.choice(_KEYS)] = odd_value(pick)
        case 1:
            holder.insert(key, copy.deepcopy(holder[key]))
        case 2 if isinstance(holder, dict):
            holder[pick.choice(_KEYS)] = holder.pop(key)
        case 3 if donors and (others := _places(pick.choice(donors))):
            from_holder, from_key = pick.choice(others)
            holder[key] = copy.deepcopy(from_holder[from_key])
        case 4 if isinstance(holder[key], str):
            holder[key] = mutate_text(pick, holder[key])
        case 5 if isinstance(holder[key], int | float):
            holder[key] = pick.choice([holder[key] + 1, -holder[key], str(holder[key]), float(holder[key])])
        case _:
            holder[key] = odd_value(pick)


def mutate_text(pick: random.Random, text: str, parts: Sequence[str] = ()) -> str:
    """A text with some pieces lost, doubled, moved or replaced; pieces may come from ``parts``."""
    for _ in range(pick.choice([1, 1, 2, 5])):
        begin = pick.randrange(len(text) + 1)
        end = min(len(text), begin + pick.choice([0, 1, 3, 20, 200]))
        piece = pick.choice([*_ODD_TEXTS, *parts, text[begin:end] * pick.choice([2, 40]), ""])
        text = (text[:begin] + piece + text[end:])[:1_000_000]
    return text


def mutate_bytes(pick: random.Random, data: bytes) -> bytes:
    """Bytes with a few of them cut, flipped, repeated or replaced by junk."""
    for _ in range(pick.choice([1, 1, 2, 5])):
        begin = pick.randrange(len(data) + 1)
        end = begin + pick.choice([0, 1, 4, 100])
        junk = (
            b"",
            b"\xff\xfe",
            b"\xed\xa0\x80",
            b"\x00",
            b"[" * 5_000,
            b"9" * 5_000,
            b"\r\n",
            b"\xef\xbb\xbf",
            b'"',
            b"\n",
        )
        data = data[:begin] + pick.choice([*junk, data[begin:end] * 2, pick.randbytes(3)]) + data[end:]
    return data if pick.random() < 0.8 else data[: pick.randrange(len(data) + 1)]


def as_json(tree: Any) -> bytes:
    """JSON of a tree, also of what JSON has no words for (infinity, half of a surrogate pair)."""
    try:
        return json.dumps(tree).encode()
    except RecursionError:
        return b'{"a":' * 5_000


def as_toml(table: Any) -> str:
    """TOML of a table; what TOML cannot say is left out."""
    table = table if isinstance(table, dict) else {"value": table}
    try:
        return "".join(
            f"{json.dumps(str(key))} = {_toml_value(value)}\n" for key, value in table.items() if value is not None
        )
    except RecursionError:
        return "a = " + "[" * 5_000


def _toml_value(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case float():
            return repr(value)
        case dict():
            return (
                "{"
                + ", ".join(f"{json.dumps(str(k))} = {_toml_value(v)}" for k, v in value.items() if v is not None)
                + "}"
            )
        case list():
            return "[" + ", ".join(_toml_value(v) for v in value if v is not None) + "]"
        case _:
            return json.dumps(value, default=str)
