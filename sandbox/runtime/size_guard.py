"""Checks for operations in which a few characters of code make a huge value.

They stop cheap attacks early and with a clear message. The process's memory limit stops the rest.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Any, NoReturn

StopAtLimit = Callable[[str, float, float], NoReturn]
"""Ends the plan: name of the limit, requested value, allowed value."""

MAX_TEXT = 20_000_000
"""Maximum length of a text or bytes that one operation makes."""

MAX_ITEMS = 2_000_000
"""Maximum length of a list or tuple that a multiplication makes."""

MAX_BITS = 100_000
"""Maximum size of an integer that one operation makes, in bits (thirty thousand digits)."""

MAX_WIDTH = 10_000
"""Maximum width or precision in a format."""

_SMALL = 2**64
_NUMBER = re.compile(r"\d{5,}")
_PERCENT_STAR = re.compile(r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?")
_MAX_LENGTHS: dict[type, int] = {str: MAX_TEXT, bytes: MAX_TEXT, list: MAX_ITEMS, tuple: MAX_ITEMS, deque: MAX_ITEMS}


class SizeGuard:
    """The checked operations. A huge result ends the plan with the limit ``memory``."""

    def __init__(self, limit: StopAtLimit) -> None:
        self._limit = limit

    def mul(self, a: Any, b: Any) -> Any:
        """``a * b``"""
        if type(a) is int and type(b) is int:
            # Both integers are within the cap, so the product is cheap.
            product = a * b
            if -_SMALL < product < _SMALL:
                return product
        self._check_mul(a, b)
        return a * b

    def pow(self, a: Any, b: Any) -> Any:
        """``a ** b``"""
        self.check_power(a, b)
        return a**b

    def lshift(self, a: Any, b: Any) -> Any:
        """``a << b``"""
        if type(a) is int and type(b) is int and a:
            self._check_bits(a.bit_length() + b)
        return a << b

    def mod(self, a: Any, b: Any) -> Any:
        """``a % b``, which formats if ``a`` is a text"""
        if isinstance(a, (str, bytes)):
            self._check_percent(a, b)
        return a % b

    def format(self, value: Any, spec: Any = "") -> str:
        """``format(value, spec)``"""
        if type(spec) is str:
            for number in _NUMBER.findall(spec):
                self.check_width(int(number[:12]))
        return format(value, spec)

    def check(self, guard: str, a: Any, b: Any) -> None:
        """Check an operation, named by its guard, without executing it."""
        if guard == "_mul_":
            self._check_mul(a, b)
        elif guard == "_pow_":
            self.check_power(a, b)
        elif guard == "_lshift_" and type(a) is int and type(b) is int and a:
            self._check_bits(a.bit_length() + b)
        elif guard == "_mod_" and isinstance(a, (str, bytes)):
            self._check_percent(a, b)

    def check_power(self, a: Any, b: Any, modulus: Any = None) -> None:
        """Check ``pow(a, b, modulus)``."""
        if modulus is not None:
            for number in (a, b, modulus):
                self._check_bits(number.bit_length() if type(number) is int else 0)
        elif type(a) is int and type(b) is int and b > 0:
            self._check_bits(a.bit_length() * b)

    def check_width(self, width: Any) -> None:
        """Check the width to which a text is padded."""
        if type(width) is int and width > MAX_WIDTH:
            self._limit("memory", width, MAX_WIDTH)

    def _check_mul(self, a: Any, b: Any) -> None:
        if type(a) is int and type(b) is int:
            self._check_bits(a.bit_length() + b.bit_length())
            return
        self._check_repeat(a, b)
        self._check_repeat(b, a)

    def _check_repeat(self, sequence: Any, times: Any) -> None:
        most = _MAX_LENGTHS.get(type(sequence))
        if most is not None and isinstance(times, int) and len(sequence) * times > most:
            self._limit("memory", len(sequence) * times, most)

    def _check_bits(self, bits: int) -> None:
        if bits > MAX_BITS:
            self._limit("memory", bits, MAX_BITS)

    def _check_percent(self, template: str | bytes, values: Any) -> None:
        specs = _PERCENT_STAR.findall(template if isinstance(template, str) else template.decode("latin-1"))
        for number in _NUMBER.findall(" ".join(specs)):
            self.check_width(int(number[:12]))
        if any("*" in s for s in specs):
            for value in values if type(values) is tuple else (values,):
                self.check_width(value)
