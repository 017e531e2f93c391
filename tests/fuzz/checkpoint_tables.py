"""Tables that no encoder wrote: decoding one gives variables that can be saved again, or one clear error."""

from __future__ import annotations

import math
import random
import time
from typing import Any

import msgspec

from codeplan.sandbox import decode, encode
from codeplan.sandbox.protocol.codec import CheckpointError
from codeplan.types import Checkpoint

SECONDS = 5.0

_ODD_NUMBERS = [2**31, 2**53, 2**63, -1, True]
_ODD_TEXTS = ["nan", "inf", "-inf", "0x10", "-0x0", "00", "ff", "0xffffffffffffffffff", "é", "", "a b"]
_TAGS = [
    "list",
    "tuple",
    "dict",
    "set",
    "frozenset",
    "counter",
    "ordered",
    "deque",
    "deque:0",
    "deque:3",
    "deque:99999999999",
    "default:list",
    "default:None",
    "default:object",
    "int",
    "float",
    "bytes",
    "text",
    "object:A",
    "member:A",
    "named:A",
    "unknown",
]
_NAMES = ["a", "b", "c", "_x", "agent", "no name", "", "é"]


def make_table(pick: random.Random) -> Checkpoint:
    """A table with nodes that may point anywhere."""
    names = {pick.choice(_NAMES): _number(pick) for _ in range(pick.randrange(5))}
    dropped = {pick.choice(_NAMES): pick.choice(_ODD_TEXTS) for _ in range(pick.randrange(3))}
    return Checkpoint(names, [_node(pick) for _ in range(pick.randrange(13))], dropped)


def _number(pick: random.Random) -> int:
    return pick.randrange(-2, 15) if pick.random() < 0.9 else pick.choice(_ODD_NUMBERS)


def _part(pick: random.Random) -> Any:
    return pick.choice([_number(pick), pick.choice(_ODD_TEXTS), [_number(pick)], b"a", None, 1.5])


def _node(pick: random.Random) -> Any:
    match pick.randrange(5):
        case 0:
            scalars = [
                None,
                True,
                pick.getrandbits(70),
                -pick.getrandbits(9),
                pick.random(),
                math.nan,
                math.inf,
                *_ODD_TEXTS,
            ]
            return pick.choice(scalars)
        case 1 | 2:
            return [pick.choice(_TAGS), *(pick.randrange(10) for _ in range(pick.randrange(7)))]
        case 3:
            return [pick.choice(_TAGS), *(_part(pick) for _ in range(pick.randrange(5)))]
        case _:
            return [_part(pick) for _ in range(pick.randrange(4))]


def judge_table(table: Checkpoint) -> None:
    """Assert that a table is decoded or refused in time, and that the variables survive encoding and JSON."""
    began = time.monotonic()
    try:
        variables = decode(table)
    except CheckpointError as error:
        assert "\n" not in str(error)
        return
    finally:
        assert time.monotonic() - began < SECONDS, "reading took too long"
    again = encode(variables, 1 << 20)
    assert set(again.names) | set(again.dropped) == set(table.names)
    kept = msgspec.json.decode(msgspec.json.encode(table), type=Checkpoint)
    assert _as_text(decode(kept)) == _as_text(variables)
    assert _as_text(decode(again)) == _as_text({n: v for n, v in variables.items() if n in again.names})


def _as_text(variables: object) -> str:
    """The variables as text; a Counter that contains itself has none."""
    try:
        return repr(variables)
    except RecursionError:
        return "endless"
