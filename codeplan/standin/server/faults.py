"""Faults that the served endpoint makes on purpose: which, how often, repeatable by a seed."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from typing import Any

import msgspec

from codeplan.errors import UsageError

FAULT_KINDS = ("429", "500", "slow", "cut", "garbage", "null", "length")
"""A rate limit with Retry-After, a server's error, a slow answer, a connection cut in the middle of an answer, bytes
that are no JSON, an answer without text, an answer cut off at its limit of tokens."""


class FaultSettings(msgspec.Struct, frozen=True):
    """How often each kind happens (``rates``, of 1), and how.

    ``retry_after`` are the seconds that a 429 asks to wait, ``slow_by`` those that a slow answer takes longer.
    """

    rates: dict[str, float] = {}
    seed: int = 0
    retry_after: float = 1.0
    slow_by: float = 1.0

    @staticmethod
    def parse(spec: str) -> FaultSettings:
        """Faults from ``KIND=RATE,…``; ``all=RATE`` shares a rate out, and seed, retry_after and slow_by are numbers.

        Raises UsageError for anything else.
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
            raise UsageError(f"the rates in --faults {spec} sum up to more than 1")
        return FaultSettings(rates, **others)


class FaultChooser:
    """Chooses a fault for each request: by the seed, what is asked and how often it was asked before.

    So the choice does not depend on the order in which the requests of several episodes come.
    """

    def __init__(self, faults: FaultSettings) -> None:
        self.faults = faults
        self._request_counts: Counter[str] = Counter()

    def choose_fault(self, body: bytes, requested: str = "") -> str:
        """The kind of fault for this request, or empty; ``wanted`` is what the request's own header asks for."""
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
