"""The example that plays tau2's retail tasks, with replies of both models that were written from the prompts' text."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PLAYED = [json.loads(line) for line in (Path(__file__).parent / "tau2_played.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("played", PLAYED, ids=lambda played: played["task"])
def test_a_task_is_won_as_it_was_played(played: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("tau2", reason="pip install a checkout of sierra-research/tau2-bench, and set TAU2_DATA_DIR")
    spec = importlib.util.spec_from_file_location("tau2_retail", ROOT / "examples" / "tau2_retail.py")
    assert spec and spec.loader
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    (task,) = (task for task in example.get_tasks(None) if task.id == played["task"])
    replies, customer = iter(played["replies"]), iter(played["customer"])
    found = example.play(task, lambda messages: next(replies), lambda text: next(customer), tmp_path / "s")
    assert (found.won, found.model_calls) == (True, len(played["replies"]))
