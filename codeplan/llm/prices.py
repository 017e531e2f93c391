"""Price tables, and the cost of a call. An unknown price is None."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from codeplan.errors import UsageError
from codeplan.types import Usage
from codeplan.untrusted import toml
from codeplan.untrusted.values import in_quotes

_TOKENS_PER_PRICE = 1_000_000
_DATE_SUFFIX = re.compile(r"-\d{4}-\d{2}-\d{2}$")


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars per million tokens. ``cached`` is for input from the endpoint's cache; None: same as ``input``."""

    input: float
    output: float
    cached: float | None = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise ValueError(f"{name} is {value}; a price is 0 or more US dollars per million tokens")


class PriceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Prices by model name, with the date and the source of the figures."""

    models: dict[str, Price]
    date: str = ""
    source: str = ""

    def find_price(self, *names: str) -> Price | None:
        """The price of the first known name; a date at a name's end is optional."""
        found = (self.models.get(n) or self.models.get(_DATE_SUFFIX.sub("", n)) for n in names)
        return next((price for price in found if price is not None), None)


def cost(price: Price | None, usage: Usage) -> float | None:
    """The cost of these tokens in US dollars; None if the price or the tokens are unknown."""
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = min(usage.cached_tokens, usage.input_tokens)
    rate = price.input if price.cached is None else price.cached
    dollars = (usage.input_tokens - cached) * price.input + cached * rate + usage.output_tokens * price.output
    return dollars / _TOKENS_PER_PRICE


def unpriced_models(model: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of models at endpoints without a known price, given a model's name and ``settings``."""
    routes = [(r["model"], r) for r in settings.get("routes", {}).values()]
    models = [(settings.get("main_model", model), settings), *routes]
    return tuple(dict.fromkeys(name for name, own in models if "base_url" in own and "price" not in own))


@cache
def builtin_prices() -> PriceTable:
    """codeplan's own table, for models at OpenAI's endpoint."""
    return _parse_prices(files("codeplan.llm").joinpath("prices.toml").read_text("utf-8"), "prices.toml")


def read_prices(path: str | Path) -> PriceTable:
    """The table in a file. Raises UsageError, with the line or the key, if the file is not a price table."""
    if not isinstance(path, str | Path):
        raise UsageError(f"the setting prices is {in_quotes(path)}; give the path of a file with a table of prices")
    return _parse_prices(toml.read_text(path, "the price table"), str(path))


def _parse_prices(text: str, name: str) -> PriceTable:
    table = toml.require_toml(text, name)
    models = table.get("models")
    if isinstance(models, dict):
        table["models"] = {n: toml.convert_value(p, Price, f"{name}, models.{in_quotes(n)}") for n, p in models.items()}
    found = toml.convert_value(table, PriceTable, name)
    if not found.models:
        raise UsageError(f'{name} has no prices; give a table [models."NAME"] with input and output for each model')
    return found
