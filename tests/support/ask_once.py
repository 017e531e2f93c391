"""Asks an endpoint once and prints what came of it and the peak memory, as JSON; run as a script with a base URL."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from codeplan.errors import ModelError
from codeplan.llm.openai_client import OpenAIModel


def _peak_megabytes() -> float:
    """The peak of this process's own memory; getrusage would also count that of the process that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def main(url: str, honest_url: str, api: str, seconds: str) -> None:
    warm = OpenAIModel("tiny", base_url=honest_url, max_retries=0)
    warm.complete([{"role": "user", "content": "hello"}], purpose="ask")
    before = _peak_megabytes()
    used: Any = "responses" if api == "responses" else "chat"
    model = OpenAIModel("tiny", base_url=url, api=used, max_retries=0, timeout=float(seconds))
    try:
        if texts := {"embeddings": 2, "many embeddings": 256}.get(api):
            model.embed(["a"] * texts, model="tiny")
        else:
            model.complete([{"role": "user", "content": "hello"}], purpose="ask")
        said = "an answer"
    except ModelError as error:
        said = str(error)
    print(json.dumps({"said": said, "grown": _peak_megabytes() - before}))


if __name__ == "__main__":
    main(*sys.argv[1:])
