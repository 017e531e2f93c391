"""Replies of a strong model: its plans are accepted and win their tasks, also in other spellings."""

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.boxes import Replies
from support.miniwob_pages import needs_browser

import codeplan

RECORDED = Path(__file__).parents[3] / "shared" / "fixtures" / "model_replies.jsonl"


@functools.cache
def episodes() -> list[dict[str, Any]]:
    """Return the recorded episodes of AdaPlanner that were won."""
    if not RECORDED.exists():
        return []
    rows = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    return [r for r in rows if r["method"] == "adaplanner" and r["success"]]


pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not episodes(), reason="the recorded replies are not on this machine"),
]


def bare(reply: str) -> str:
    return reply.replace("def solution(agent, start_from=1):", "def solution(agent):")


def annotated(reply: str) -> str:
    return reply.replace(
        "def solution(agent, start_from=1):",
        "def solution(agent: Agent, start_from: int = 1, verbose: bool = False) -> None:",
    )


def imported(reply: str) -> str:
    return reply.replace(
        "def solution(", "import glob, sys\nfrom typing import Any\nimport numpy as np\ndef solution(", 1
    )


def shouting(reply: str) -> str:
    return reply.replace("ask_llm(", "ask_LLM(")


def talking(reply: str) -> str:
    return f"Here is my plan. It's short: I look first.\n\n{reply}\n\nLet me know if it doesn't work!"


def turned(reply: str) -> str:
    return re.sub(r"if start_from <= (\d+):", r"if \1 >= start_from:", reply)


def from_zero(reply: str) -> str:
    return re.sub(r"if start_from <= (\d+):", lambda m: f"if start_from < {m[1]}:", reply)


def without_last_assertion(reply: str) -> str:
    lines = reply.split("\n")
    last = max((i for i, line in enumerate(lines) if re.match(r"\s+assert .*[^,(\\]$", line)), default=None)
    if last is None:
        return reply
    indent = re.match(r"\s*", lines[last])
    assert indent is not None
    return "\n".join([*lines[:last], f"{indent[0]}pass", *lines[last + 1 :]])


SPELLINGS: dict[str, Callable[[str], str]] = {
    "as recorded": str,
    "a bare signature": bare,
    "annotations": annotated,
    "unused imports": imported,
    "ask_LLM": shouting,
    "prose": talking,
    "guards turned round": turned,
    "steps from 0": from_zero,
    "no last assertion": without_last_assertion,
}


SHARE = 4
"""Each spelling is tried on every fourth of the episodes that it changes; all are played as they were recorded."""


def spelled(name: str, in_browser: bool) -> list[tuple[dict[str, Any], list[str]]]:
    """The episodes for this spelling, with their replies so spelled."""
    spell = SPELLINGS[name]
    rows = []
    for episode in episodes():
        recorded = [call["reply"] for call in episode["calls"]]
        replies = [
            spell(c["reply"]) if c["purpose"] in ("plan", "refine", "check") else c["reply"] for c in episode["calls"]
        ]
        if (episode["env"] == "miniwob") == in_browser and (spell is str or replies != recorded):
            rows.append((episode, replies))
    return rows if spell is str else rows[list(SPELLINGS).index(name) % SHARE :: SHARE]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_recorded_plans_are_accepted_and_win(spelling: str) -> None:
    assert lost_episodes(spelled(spelling, in_browser=False)) == []


@needs_browser
@pytest.mark.parametrize("spelling", [name for name in SPELLINGS if spelled(name, in_browser=True)])
def test_recorded_plans_win_in_a_browser(spelling: str) -> None:
    assert lost_episodes(spelled(spelling, in_browser=True)) == []


def lost_episodes(played: list[tuple[dict[str, Any], list[str]]]) -> list[tuple[str, str, str]]:
    """Play recorded episodes with these replies; return which are lost, and why."""
    assert played
    lost = []
    for episode, replies in played:
        result = codeplan.run(episode["env"], episode["task"], model=Replies(*replies), samples=episode["samples"])
        if not result.success:
            lost.append((episode["env"], episode["task"], result.reason))
    return lost
