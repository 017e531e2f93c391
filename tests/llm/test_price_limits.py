"""Figures in a table of prices, each at its limit, and the cost of a call in each of its parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codeplan.errors import UsageError
from codeplan.llm.prices import Price, PriceTable, cost, read_prices, unpriced_models
from codeplan.types import Usage
from codeplan.untrusted.toml import MAX_TOML_BYTES


def table(tmp_path: Path, text: str) -> Path:
    (tmp_path / "prices.toml").write_text(text)
    return tmp_path / "prices.toml"


@pytest.mark.parametrize("field", ["input", "output", "cached"])
@pytest.mark.parametrize(
    ("figure", "valid"),
    [
        ("0.0", True),
        ("-0.0", True),
        ("5e-324", True),
        ("1.7e308", True),
        ("-5e-324", False),
        ("inf", False),
        ("nan", False),
        ("1e309", False),
        ("true", False),
        ("'1'", False),
        (f"1{'0' * 400}", False),
        ("9" * 5_000, False),
    ],
)
def test_a_price_is_zero_or_more_and_finite(tmp_path: Path, field: str, figure: str, valid: bool) -> None:
    figures = {"input": "1", "output": "2", "cached": "0.5"} | {field: figure}
    path = table(tmp_path, "[models.a]\n" + "".join(f"{name} = {value}\n" for name, value in figures.items()))
    if valid:
        assert getattr(read_prices(path).models["a"], field) == float(figure)
    else:
        with pytest.raises(UsageError) as caught:
            read_prices(path)
        assert str(path) in str(caught.value)
        assert len(str(caught.value)) < 800


def test_a_table_may_have_exactly_a_megabyte(tmp_path: Path) -> None:
    text = "[models.a]\ninput = 1\noutput = 2\n"
    assert read_prices(table(tmp_path, text.ljust(MAX_TOML_BYTES, "\n"))).models == {"a": Price(1.0, 2.0)}
    with pytest.raises(UsageError, match="larger than 1,000,000 bytes"):
        read_prices(table(tmp_path, text.ljust(MAX_TOML_BYTES + 1, "\n")))


@pytest.mark.parametrize(
    ("price", "usage", "dollars"),
    [
        (Price(1.0, 0.0), Usage(1_000_000, 0), 1.0),
        (Price(0.0, 1.0), Usage(0, 1_000_000), 1.0),
        (Price(2.0, 0.0, 0.0), Usage(1_000_000, 0, 500_000), 1.0),
        (Price(2.0, 0.0), Usage(1_000_000, 0, 500_000), 2.0),
        (Price(2.0, 0.0, 1.0), Usage(100, 0, 1_000_000), 0.0001),  # no more is cached than was sent
        (Price(0.0, 0.0, 0.0), Usage(9, 9, 9), 0.0),
    ],
)
def test_each_part_of_a_call_has_its_price(price: Price, usage: Usage, dollars: float) -> None:
    assert cost(price, usage) == pytest.approx(dollars)


def test_an_unknown_price_or_count_of_tokens_makes_the_cost_unknown() -> None:
    assert cost(None, Usage(1, 1)) is None
    assert cost(Price(1.0, 1.0), Usage(None, 1)) is None
    assert cost(Price(1.0, 1.0), Usage(1, None)) is None


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("m", True),
        ("m-2025-04-14", True),
        ("m-2025-4-14", False),
        ("m-2025-04-14-x", False),
        ("m2025-04-14", False),
        ("n", False),
    ],
)
def test_only_a_date_at_a_name_s_end_is_optional(name: str, found: bool) -> None:
    prices = PriceTable({"m": Price(1.0, 2.0)})
    assert (prices.find_price(name) is not None) == found
    assert prices.find_price("n", name, "m") is not None


def test_a_name_with_its_date_comes_before_the_name_alone() -> None:
    prices = PriceTable({"m": Price(1.0, 2.0), "m-2025-04-14": Price(0.0, 0.0)})
    assert prices.find_price("m-2025-04-14") == Price(0.0, 0.0)


KNOWN: dict[str, Any] = {"base_url": "http://a/v1", "price": {}}
UNKNOWN: dict[str, Any] = {"base_url": "http://a/v1"}


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, ()),
        (KNOWN, ()),
        (UNKNOWN, ("main",)),
        ({**UNKNOWN, "main_model": "own"}, ("own",)),
        ({**KNOWN, "routes": {"ask": {"model": "r", **UNKNOWN}}}, ("r",)),
        ({**UNKNOWN, "routes": {"ask": {"model": "r", **KNOWN}}}, ("main",)),
        ({**UNKNOWN, "routes": {"ask": {"model": "main", **UNKNOWN}, "refine": {"model": "s"}}}, ("main",)),
    ],
)
def test_models_at_endpoints_without_a_price_are_named_once(settings: dict[str, Any], names: tuple[str, ...]) -> None:
    assert unpriced_models("main", settings) == names
