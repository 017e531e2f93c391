"""The example that plays BFCL's conversations, with replies that were written from the prompts' text alone."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MOST_CALLS = 1.1
"""Model calls in a turn, at most."""


class PlayedConversation(NamedTuple):
    """A conversation with the model's replies, in order, and whether the leaderboard's checker accepts it."""

    id: str
    won: bool
    replies: list[str]


PLAYED = [
    PlayedConversation(**json.loads(line))
    for line in (Path(__file__).parent / "bfcl_played.jsonl").read_text(encoding="utf-8").splitlines()
]


class Replies:
    """Answers with what was written."""

    name = "by-hand"

    def __init__(self, replies: list[str]) -> None:
        self._left = iter(replies)

    def __call__(self, messages: Any) -> str:
        return next(self._left)


@pytest.fixture(scope="module")
def example() -> ModuleType:
    pytest.importorskip("bfcl_eval", reason="pip install --no-deps bfcl-eval mpmath")
    spec = importlib.util.spec_from_file_location("bfcl", ROOT / "examples/bfcl.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("played", PLAYED, ids=lambda played: played.id)
def test_a_conversation_ends_as_it_was_played(example: ModuleType, played: PlayedConversation, tmp_path: Path) -> None:
    (conversation,) = example.conversations([played.id])
    found = example.play(conversation, Replies(played.replies), tmp_path / "s")
    assert (found.won, found.model_calls) == (played.won, len(played.replies)), found.why


def test_most_turns_take_one_reply(example: ModuleType) -> None:
    turns = sum(len(each.messages) for each in example.conversations([played.id for played in PLAYED]))
    assert sum(len(played.replies) for played in PLAYED) <= MOST_CALLS * turns
