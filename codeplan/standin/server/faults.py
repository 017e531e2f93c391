"""Faults that the server makes on purpose, repeatable by a seed."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from typing import Any

import msgspec

from codeplan.errors import UsageError

FAULT_KINDS = ("429", "500", "slow", "cut", "garbage", "null", "length")
"""A rate limit with Retry-After, a server error, a slow answer, a connection cut within an answer, bytes that are not
JSON, an answer without text, an answer cut off at its token limit."""


class FaultSettings(msgspec.Struct, frozen=True):
    """The probability of each kind of fault, and its details in seconds.

    ``retry_after`` is the wait that a 429 asks for, ``slow_by`` the delay of a slow answer.
    """

    rates: dict[str, float] = {}
    seed: int = 0
    retry_after: float = 1.0
    slow_by: float = 1.0

    @staticmethod
    def parse(spec: str) -> FaultSettings:
        """Parse ``KIND=RATE,…``. ``all=RATE`` divides a rate among the kinds; seed, retry_after, slow_by are numbers.

        Raises: UsageError: an item is unknown, a number is invalid, or the rates add up to more than 1.
        """
        rates: dict[str, float] = {}
        others: dict[str, Any] = {}
        for item in filter(None, (part.strip() for part in spec.split(","))):
            name, _, text = item.partition("=")
            number = _parse_number(item, text)
            if name == "all":
                rates |= dict.fromkeys(FAULT_KINDS, number / len(FAULT_KINDS))
            elif name in FAULT_KINDS:
                rates[name] = number
            elif name == "seed":
                others["seed"] = int(number)
            elif name in ("retry_after", "slow_by"):
                others[name] = number
            else:
                raise UsageError(
                    f"--faults knows no {name!r}; there are: {', '.join(FAULT_KINDS)}, all, seed, retry_after, slow_by"
                )
        if sum(rates.values()) > 1:
            raise UsageError(f"the rates in --faults {spec} add up to more than 1")
        return FaultSettings(rates, **others)


class FaultChooser:
    """Chooses each request's fault by the seed, the body, and how often the body came before.

    So the choice does not depend on the order of requests from several episodes.
    """

    def __init__(self, faults: FaultSettings) -> None:
        self.faults = faults
        self._request_counts: Counter[str] = Counter()

    def choose_fault(self, body: bytes, requested: str = "") -> str:
        """The request's kind of fault, or empty; ``requested`` is the one that its header names."""
        if requested in FAULT_KINDS:
            return requested
        digest = hashlib.sha256(body).hexdigest()
        self._request_counts[digest] += 1
        left = random.Random(f"{self.faults.seed} {digest} {self._request_counts[digest]}").random()
        for kind, rate in self.faults.rates.items():
            left -= rate
            if left < 0:
                return kind
        return ""


def _parse_number(item: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise UsageError(f"--faults takes KIND=RATE, such as 429=0.05 or all=0.1,seed=7, and not {item!r}")
    return number
