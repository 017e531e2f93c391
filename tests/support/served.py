"""An endpoint that runs for a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codeplan.prompts.templates import Prompts


class Served:
    """An endpoint that runs: its base URL, and the entries of its log so far."""

    def __init__(self, url: str, log: Path) -> None:
        self.url, self._log = url, log

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    @property
    def tokens(self) -> tuple[int, int]:
        usages = [entry["usage"] for entry in self.log if entry["usage"]]
        return sum(u["input_tokens"] for u in usages), sum(u["output_tokens"] for u in usages)


QUESTION = "Where is a mug? Order these: ['countertop 1', 'desk 1']. Answer with the list alone."
ASK: Any = Prompts.cached().messages("adaplanner/ask", question=QUESTION)
"""A prompt that the stand-in can answer."""

Serve = Callable[..., Served]
