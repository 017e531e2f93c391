"""What becomes of the objects that tools return, and where too much of them is refused."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import uuid
from collections import Counter, OrderedDict, UserString
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel

from codeplan.plain_data import MAX_DEPTH, MAX_VALUES, NotPlainData, unpack
from codeplan.tools import python_tools
from codeplan.tools.results import MAX_RESULT_BYTES, pack_result


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


@dataclasses.dataclass
class One:
    only: object


@dataclasses.dataclass
class Two:
    first: object
    second: object


class OneArray:
    """As an array of NumPy: ones of the type that dtype names."""

    dtype = "int64"

    def __init__(self, size: int) -> None:
        self.size = size

    def tolist(self) -> list[int]:
        assert self.size < 100, "too many to make a list of"
        return [1] * self.size


NOON = datetime.datetime(2024, 5, 1, 12)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Hit("a", NOON), {"name": "a", "when": "2024-05-01T12:00:00"}),
        (Person(name="a", born=NOON.date()), {"name": "a", "born": "2024-05-01", "pair": (1, 2)}),
        (
            [One(Two(2, (1,))), Two(Colour.RED, {"a": One(None), 2: float("inf")})],
            [
                {"only": {"first": 2, "second": (1,)}},
                {"first": "red", "second": {"a": {"only": None}, 2: float("inf")}},
            ],
        ),
        ([Colour.RED, {Colour.RED: 1}], ["red", {"red": 1}]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset("ba"), ["a", "b"]),
        ({"a", 1, None}, ["a", 1, None]),
        (UserString("text"), "text"),
        ((n * n for n in range(3)), [0, 1, 4]),
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        ({1: 2}.items(), [(1, 2)]),
        ({"b": 1, "a": 2}.keys(), ["b", "a"]),
        ([Path("/x"), uuid.UUID(int=5), decimal.Decimal("1.50")], ["/x", str(uuid.UUID(int=5)), "1.50"]),
        (b"text", "text"),
        (datetime.timedelta(seconds=90), "PT1M30S"),
        ({"ones": OneArray(3)}, {"ones": [1, 1, 1]}),
        ("half \ud800", "half \ud800"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_objects_become_data(value: object, data: object) -> None:
    assert unpack(pack_result(value)) == data


def test_numpys_values_become_data() -> None:
    numpy = pytest.importorskip("numpy")
    values = [numpy.float32(1.5), numpy.bool_(True), numpy.array([[1, 2]]), numpy.datetime64("2024-05-01")]
    assert pack_result(values) == [1.5, True, [[1, 2]], "2024-05-01"]
    durations = [numpy.timedelta64(3, "D"), numpy.timedelta64("NaT", "D"), numpy.timedelta64(3, "ns"), numpy.int8(3)]
    assert pack_result(durations) == ["P3D", None, 3, 3]


def test_an_iterator_may_change_what_it_has_given() -> None:
    def rows() -> Iterator[dict[str, int]]:
        row = {}
        for n in range(3):
            row["n"] = n
            yield row

    assert pack_result(rows()) == [{"n": 0}, {"n": 1}, {"n": 2}]


def endless() -> Iterator[int]:
    while True:
        yield 1


loop: list[object] = []
loop.append(loop)


class Strange:
    pass


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (Strange(), r"^a value of the type [\w.]*test_results.Strange, which is not plain data$"),
        ([1, {"a": Strange}], "the type type, which is not plain data"),
        (b"\xff", "bytes that are not text in UTF-8; return them as base64 text"),
        (OneArray(20_001), "more than 20,000 values"),
        (endless(), "more than 20,000 values"),
        (loop, "a value that contains itself"),
        ({frozenset(): 1}, "a key that is not plain"),
        (2**13_000, "a whole number of more than 13,000 bits"),
    ],
    ids=["object", "class", "bytes", "array", "endless", "loop", "key", "bits"],
)
def test_what_is_no_data_or_too_much_is_refused(value: object, why: str) -> None:
    with pytest.raises(NotPlainData, match=why):
        pack_result(value)


@pytest.mark.parametrize("letter", ["x", "é", '"'])
def test_a_result_has_at_most_400_000_bytes_of_json(letter: str) -> None:
    most = (MAX_RESULT_BYTES - 2) // len(letter.encode() if letter != '"' else '\\"')
    pack_result(letter * most)
    with pytest.raises(NotPlainData, match=r"400,00[12] bytes of data, more than 400,000"):
        pack_result(letter * (most + 1))


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"k": v}, One, lambda v: (v,), lambda v: OrderedDict(k=v)])
def test_depth_is_bounded_in_every_container(wrap: Callable[[object], object]) -> None:
    deep: object = 1
    for _ in range(MAX_DEPTH):
        deep = wrap(deep)
    pack_result(deep)
    with pytest.raises(NotPlainData, match="nested deeper than 32"):
        pack_result(wrap(deep))


@pytest.mark.parametrize(
    ("build", "most"),
    [
        (lambda n: [0] * n, MAX_VALUES - 1),
        (lambda n: (0,) * n, MAX_VALUES - 1),
        (lambda n: iter([0] * n), MAX_VALUES - 1),
        (lambda n: dict.fromkeys(map(str, range(n))), (MAX_VALUES - 1) // 2),
        (lambda n: OrderedDict.fromkeys(range(n)), (MAX_VALUES - 1) // 2),
        (lambda n: [Colour.RED] * n, (MAX_VALUES - 1) // 2),
        (lambda n: [One(1)] * n, (MAX_VALUES - 1) // 3),
        (lambda n: [Two(1, 2)] * n, (MAX_VALUES - 1) // 5),
    ],
    ids=["list", "tuple", "iterator", "dict", "odd dict", "enum", "one field", "two fields"],
)
def test_every_value_is_counted(build: Callable[[int], object], most: int) -> None:
    pack_result(build(most))
    with pytest.raises(NotPlainData, match="more than 20,000 values"):
        pack_result(build(most + 1))


def test_a_table_is_its_rows_and_what_pandas_misses_is_none() -> None:
    pandas = pytest.importorskip("pandas")
    days = [pandas.Timestamp("2024-05-01"), pandas.NaT]
    table = pandas.DataFrame({"city": ["Bonn", None], "n": [1, 2], "rate": [0.5, float("nan")], "day": days})
    rows = [
        {"city": "Bonn", "n": 1, "rate": 0.5, "day": "2024-05-01T00:00:00"},
        {"city": None, "n": 2, "rate": None, "day": None},
    ]
    assert unpack(pack_result(table)) == rows
    assert unpack(pack_result({"table": table.set_index("city")})) == {"table": rows}
    assert unpack(pack_result([table["n"], table["day"]])) == [[1, 2], ["2024-05-01T00:00:00", None]]
    assert unpack(pack_result([pandas.NA, pandas.NaT])) == [None, None]
    assert unpack(pack_result(pandas.DataFrame())) == []
    with pytest.raises(NotPlainData, match="a table of 10,001 x 2, more than 20,000 values"):
        pack_result(pandas.DataFrame({"a": range(10_001), "b": range(10_001)}))


@pytest.mark.parametrize(("package", "make"), [("polars", "DataFrame"), ("pyarrow", "table")])
def test_a_table_of_other_packages_is_its_rows(package: str, make: str) -> None:
    made = getattr(pytest.importorskip(package), make)({"city": ["Bonn", None], "rate": [0.5, None]})
    assert unpack(pack_result(made)) == [{"city": "Bonn", "rate": 0.5}, {"city": None, "rate": None}]


def test_a_declared_table_is_told_as_rows_with_its_columns() -> None:
    pandas = pytest.importorskip("pandas")

    def cities(limit: int = 3) -> None:
        """The largest cities."""

    cities.__annotations__["return"] = Annotated[pandas.DataFrame, "columns: city (str), n (int)"]
    (tool,) = python_tools(cities)
    assert tool.method.signature == "(limit: int = 3) -> DataFrame"
    assert tool.method.doc == "The largest cities.\nreturns: columns: city (str), n (int)"
    assert [t.text for t in tool.types] == ["DataFrame = list[dict]  # the rows; each has the columns' names as keys"]
    assert tool.misfit is not None and tool.misfit(pandas.DataFrame({"a": [1]})) == ""
