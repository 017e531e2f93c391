"""Published results on the suites, with source and model. They are never mixed with measured ones."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from codeplan.types import Value


class PublishedResult(Value, frozen=True):
    """A row of a published table: success rates in per cent by kind of task; ``"all"`` is the whole suite."""

    suite: str
    method: str
    model: str
    source: str
    rates: dict[str, float]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    published: tuple[PublishedResult, ...]


def published_results(suite: str) -> tuple[PublishedResult, ...]:
    """Return the published results on a suite, the best first."""
    found = [p for p in _all() if p.suite == suite]
    return tuple(sorted(found, key=lambda p: -p.rates["all"]))


@cache
def _all() -> tuple[PublishedResult, ...]:
    text = files("codeplan.bench").joinpath("papers.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_File).published
