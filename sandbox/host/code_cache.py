"""The compiled code of recently checked plans, so that a run need not compile the plan again.

One worker compiles the code and another unpacks it; the host never interprets the bytes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from codeplan.sandbox.limits import MAX_CODE_BYTES

MAX_PLANS: Final = 256  # maximum number of plans; the least recently used one is dropped first


class CodeCache:
    """Maps a plan's source to its code. Thread-safe; empty again after pickling."""

    def __init__(self) -> None:
        self._codes: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[CodeCache], tuple[()]]:
        return CodeCache, ()

    def store(self, source: str, code: bytes) -> None:
        """Store the compiled code of a plan, unless it is longer than MAX_CODE_BYTES: such a plan is compiled again."""
        if len(code) > MAX_CODE_BYTES:
            return
        with self._lock:
            self._codes[source] = code
            self._codes.move_to_end(source)
            if len(self._codes) > MAX_PLANS:
                self._codes.popitem(last=False)

    def get(self, source: str) -> bytes:
        """The code of a plan; empty bytes if the plan must be compiled."""
        with self._lock:
            if source not in self._codes:
                return b""
            self._codes.move_to_end(source)
            return self._codes[source]
