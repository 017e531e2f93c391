"""Tables that no encoder wrote: decoding one gives variables that can be saved again, or one clear error."""

from __future__ import annotations

import time

import msgspec
from hypothesis import strategies as st

from codeplan.sandbox import decode, encode
from codeplan.sandbox.protocol.codec import CheckpointError
from codeplan.types import Checkpoint

SECONDS = 5.0

_NUMBERS = st.integers(-2, 14) | st.sampled_from([2**31, 2**53, 2**63, -1, True])
_TEXTS = st.text(max_size=6) | st.sampled_from(
    ["nan", "inf", "-inf", "0x10", "-0x0", "00", "ff", "0xffffffffffffffffff"]
)
_TAGS = st.sampled_from(
    [
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
        "unknown",
    ]
)
_NODES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | _TEXTS
    | st.builds(lambda tag, parts: [tag, *parts], _TAGS, st.lists(st.integers(0, 9), max_size=6))
    | st.builds(lambda tag, parts: [tag, *parts], _TAGS, st.lists(_NUMBERS | _TEXTS, max_size=4))
    | st.lists(_NUMBERS | _TEXTS | st.lists(_NUMBERS, max_size=2) | st.binary(max_size=2), max_size=3)
)
_NAMES = st.sampled_from(["a", "b", "c", "_x", "agent", "no name", "", "é"]) | st.text(max_size=4)

TABLES = st.builds(
    Checkpoint,
    st.dictionaries(_NAMES, _NUMBERS, max_size=4),
    st.lists(_NODES, max_size=12),
    st.dictionaries(_NAMES, _TEXTS, max_size=2),
)


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
