"""Calls and answers as JSON: a plan gets exactly the data that a tool returned."""

import dataclasses
import datetime
import decimal
import json
import sys
import uuid
from collections import Counter, OrderedDict, UserString, deque
from enum import Enum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from codeplan.errors import AgentError
from codeplan.tools import wire
from codeplan.tools.json_data import NotPlain, from_json_data, to_json_data

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.builds(lambda: 10**5000)
)
keys = st.text(max_size=3) | st.integers() | st.tuples(st.integers(), st.text(max_size=2)) | st.just("$dict")
plain_data = st.recursive(scalars, lambda d: st.lists(d) | st.dictionaries(keys, d) | st.tuples(d, d), max_leaves=12)


@given(plain_data)
def test_plain_data_comes_back_as_it_was(data):
    assert wire.read_answer(wire.result_text(data)).result == data
    assert wire.read_call(wire.call_text("f", {"x": data})) == ("f", {"x": data})


@given(plain_data)
def test_every_text_is_json_by_the_standard(data):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    for text in (wire.result_text(data), wire.call_text("f", {"x": data})):
        assert isinstance(json.loads(text, parse_constant=refuse), dict)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_a_float_that_is_no_number_survives(number):
    result = wire.read_answer(wire.result_text([float(number)])).result
    assert str(result) == f"[{number}]"


@given(st.text())
def test_no_text_can_pass_for_another_answer(text):
    answer = wire.read_answer(wire.result_text(text))
    assert (answer.result, answer.error) == (text, "")
    assert wire.read_answer(wire.error_text("ValueError", text)).message == text


def test_half_a_surrogate_pair_survives():
    text = wire.result_text("\ud800")
    assert text.encode() and wire.read_answer(text).result == "\ud800"


@dataclasses.dataclass
class Hit:
    name: str
    when: datetime.datetime


class Person(BaseModel):
    name: str
    born: datetime.date
    pair: tuple[int, int] = (1, 2)


class Colour(Enum):
    RED = "red"


NOON = datetime.datetime(2024, 5, 1, 12)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Hit("a", NOON), {"name": "a", "when": "2024-05-01T12:00:00"}),
        (Person(name="a", born=NOON.date()), {"name": "a", "born": "2024-05-01", "pair": (1, 2)}),
        ([Colour.RED, {Colour.RED: 1}], ["red", {"red": 1}]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset("ba"), ["a", "b"]),
        ({10, 9, 100}, [9, 10, 100]),
        ({"a", 1, None}, ["a", 1, None]),
        (UserString("text"), "text"),
        (range(3), [0, 1, 2]),
        ((n * n for n in range(3)), [0, 1, 4]),
        (deque([1]), [1]),
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        ({1: 2}.items(), [(1, 2)]),
        ({"b": 1, "a": 2}.keys(), ["b", "a"]),
        ({"b": 1}.values(), [1]),
        ([Path("/x"), uuid.UUID(int=5), decimal.Decimal("1.50")], ["/x", str(uuid.UUID(int=5)), "1.50"]),
        (b"text", "text"),
        (datetime.timedelta(seconds=90), "PT1M30S"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_objects_become_data(value, data):
    assert wire.read_answer(wire.result_text(value)).result == data


def endless():
    while True:
        yield 1


loop: list = []
loop.append(loop)


class Strange:
    pass


class OneArray:
    """As an array of NumPy: ones of the type that dtype names."""

    dtype = "int64"

    def __init__(self, size):
        self.size = size

    def tolist(self):
        assert self.size < 100, "too many to make a list of"
        return [1] * self.size


def test_an_array_becomes_a_list():
    assert wire.read_answer(wire.result_text({"ones": OneArray(3)})).result == {"ones": [1, 1, 1]}
    numpy = pytest.importorskip("numpy")
    values = [numpy.float32(1.5), numpy.bool_(True), numpy.array([[1, 2]]), numpy.datetime64("2024-05-01")]
    durations = [numpy.timedelta64(3, "D"), numpy.timedelta64("NaT"), numpy.timedelta64(3, "ns"), numpy.int8(3)]
    assert to_json_data(durations) == ["P3D", None, 3, 3]
    assert wire.read_answer(wire.result_text(values)).result == [1.5, True, [[1, 2]], "2024-05-01"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (Strange(), r"a value of the type [\w.]*test_wire.Strange, which is no plain data"),
        ([1, {"a": Strange}], "the type type, which is no plain data"),
        (b"\xff", "the type bytes, which is no plain data"),
        (OneArray(20_001), "more than 20,000 values"),
        (endless(), "more than 20,000 values"),
        (loop, "a value that contains itself"),
        ("x" * 500_000, "500,013 characters of data, more than 400,000"),
        ({frozenset(): 1}, "a key that is no plain value"),
    ],
    ids=["object", "class", "bytes", "array", "endless", "loop", "long", "key"],
)
def test_what_is_no_data_or_too_much_is_refused(value, why):
    with pytest.raises(NotPlain, match=why):
        wire.result_text(value)


@pytest.mark.parametrize(
    "action",
    [
        *("look", "", "[]", "[" * 100_000, '{"tool": 3}', '{"tool": "f", "arguments": []}', '{"tool": "f", "more": 1}'),
        *(
            f'{{"tool": "f", "arguments": {{"x": {x}}}}}'
            for x in ('{"$dict": [[[], 1]]}', '{"$int": "z"}', '{"$float": "1"}', '{"$float": []}', '{"$x": 1}')
        ),
    ],
)
def test_an_action_that_is_no_call_is_refused(action):
    with pytest.raises(AgentError) as caught:
        wire.read_call(action)
    assert caught.value.error == "ValueError"


@pytest.mark.parametrize(
    "observation",
    [
        *("", "x", "5", "[]", "{}", "[" * 100_000, "9" * 5_000, '{"error": "KeyError"}'),
        *('{"error": "KeyError", "message": 5}', '{"error": 5, "message": "x"}', '{"error": "", "message": "x"}'),
    ],
)
def test_an_observation_that_is_no_answer_is_a_value_error(observation):
    with pytest.raises(ValueError):
        wire.read_answer(observation)


def test_keys_of_one_hash_value_are_refused():
    items = [[n * sys.hash_info.modulus, 0] for n in range(33)]
    assert len(from_json_data({"$dict": items[:32]})) == 32
    with pytest.raises(AgentError, match="more than 32 keys with the same hash"):
        from_json_data({"$dict": items})


def test_a_call_that_cannot_be_written_names_its_tool_shortly():
    with pytest.raises(AgentError) as caught:
        wire.call_text("{" * 3_000, {"x": [0] * 20_001})
    assert str(caught.value).endswith("was given more than 20,000 values") and len(str(caught.value)) < 200
