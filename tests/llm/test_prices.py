"""Prices as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codeplan.errors import UsageError
from codeplan.llm import prices
from codeplan.llm.prices import Price


def test_the_built_in_table_has_a_date_and_a_source_and_cheaper_cached_input() -> None:
    table = prices.builtin_prices()
    assert table.date
    assert table.source.startswith("https://")
    assert len(table.models) >= 8
    assert all(0 < p.input < p.output for p in table.models.values())
    assert all(0 < p.cached < p.input for p in table.models.values() if p.cached is not None)


def test_a_model_is_found_by_its_name_with_a_date_or_without() -> None:
    table = prices.builtin_prices()
    assert table.find_price("gpt-4.1-mini-2025-04-14") == table.find_price("gpt-4.1-mini")
    assert table.find_price("gpt-4o-2024-05-13") == Price(5.0, 15.0)
    assert table.find_price("gpt-4.1-mini-next") is None
    assert table.find_price("unheard-of", "gpt-4o") == table.find_price("gpt-4o")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[models.a]\ninput = 1\noutput =\n", "line 3"),
        ("[models.a]\ninputt = 1\noutput = 2", "models.'a': there is no key inputt"),
        ("[models.a]\ninput = 1", "models.'a': there must be a key output"),
        ("[models.a]\ninput = 'cheap'\noutput = 2", "models.'a': input: expected float, got str"),
        ("[model.a]\ninput = 1\noutput = 2", "there is no key model"),
        ("models = 3", "models: expected object"),
        ("[models]", "has no prices"),
        ("date = '2026-01-01'", "models"),
        ("\x00", "not TOML"),
    ],
)
def test_a_table_with_a_mistake_is_refused_in_one_line_with_the_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        prices.read_prices(path)
    message = str(caught.value)
    assert str(path) in message
    assert said in message
    assert "\n" not in message


def test_a_table_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="price table .*No such file"):
        prices.read_prices(tmp_path / "none.toml")
    number: Any = 3
    with pytest.raises(UsageError, match="setting prices is 3; give the path"):
        prices.read_prices(number)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="UTF-8"):
        prices.read_prices(tmp_path / "bytes.toml")
