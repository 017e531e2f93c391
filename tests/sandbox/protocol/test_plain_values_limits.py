"""Plain data between a plan and its agent: how large, how deep and how wide it may be, on both sides of each limit."""

from __future__ import annotations

import pytest

from codeplan.plain_data import MAX_DEPTH, MAX_INT_BITS, MAX_VALUES, NotPlainData
from codeplan.sandbox.protocol.values import pack_value, unpack_value


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def packed(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = ["list", value]
    return value


def test_a_value_is_nested_thirty_two_deep_at_most() -> None:
    assert MAX_DEPTH == 32
    assert pack_value(nested(32)) == packed(32)
    assert unpack_value(packed(32)) == nested(32)
    for refuse in (lambda: pack_value(nested(33)), lambda: unpack_value(packed(33))):
        with pytest.raises(NotPlainData, match="^a value nested deeper than 32$"):
            refuse()


def test_an_empty_container_may_stand_one_level_deeper() -> None:
    value: object = ()
    for _ in range(32):
        value = [value]
    assert unpack_value(pack_value(value)) == value


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_tree_has_twenty_thousand_values_at_most(kind: type[list[object]] | type[tuple[object, ...]]) -> None:
    assert MAX_VALUES == 20_000  # the container is one of them
    assert unpack_value(pack_value(kind([0] * 19_999))) == kind([0] * 19_999)
    for refuse in (lambda: pack_value(kind([0] * 20_000)), lambda: unpack_value([kind.__name__, *[0] * 20_000])):
        with pytest.raises(NotPlainData, match="^more than 20,000 values$"):
            refuse()


def test_a_key_and_its_value_are_two_values() -> None:
    most = dict.fromkeys(range(9999), 0)
    assert unpack_value(pack_value(most)) == most
    with pytest.raises(NotPlainData, match="more than 20,000 values"):
        pack_value({**most, "one": "more"})


@pytest.mark.parametrize("whole", [2**63 - 1, -(2**63)])
def test_an_int_of_64_bits_stands_for_itself(whole: int) -> None:
    assert pack_value([whole]) == ["list", whole]
    beyond = whole + 1 if whole > 0 else whole - 1
    assert pack_value([beyond]) == ["list", ["int", hex(beyond)]]
    assert unpack_value(pack_value([beyond])) == [beyond]


@pytest.mark.parametrize("sign", [1, -1])
def test_an_int_has_thirteen_thousand_bits_at_most(sign: int) -> None:
    largest = sign * (2**13_000 - 1)
    assert MAX_INT_BITS == 13_000
    assert unpack_value(pack_value(largest)) == largest
    for refuse in (lambda: pack_value(largest + sign), lambda: unpack_value(["int", hex(largest + sign)])):
        with pytest.raises(NotPlainData, match="^a whole number of more than 13,000 bits$"):
            refuse()
    assert len(str(2**13_000 - 1)) < 4_300  # so that an agent can write it


def test_half_a_surrogate_pair_is_packed_in_hexadecimal_wherever_it_stands() -> None:
    text = "a\ud800"
    assert pack_value(text) == ["text", "61eda080"]
    for value in (text, [text], (text,), {text: text}, [[text]]):
        assert unpack_value(pack_value(value)) == value
    assert pack_value([text, "é"]) == ["list", ["text", "61eda080"], "é"]
