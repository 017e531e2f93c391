"""HotpotQA's own questions and recorded episodes. Tests that need them are skipped if they are missing."""

import json
from functools import cache
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[2].parent / "shared" / "fixtures"


def questions_file():
    """The path of a file with 100 questions of the distractor setting."""
    return str(_there("hotpotqa_distractor_100.json"))


@cache
def questions():
    """The decoded questions of that file."""
    return json.loads(_there("hotpotqa_distractor_100.json").read_bytes())


@cache
def transcripts():
    """100 recorded episodes."""
    return [json.loads(line) for line in _there("hotpotqa_transcripts.jsonl").read_text().splitlines()]


def _there(name):
    if not (FIXTURES / name).exists():
        pytest.skip(f"the recorded data {name} is not in {FIXTURES}")
    return FIXTURES / name
