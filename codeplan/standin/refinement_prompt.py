"""Reads a prompt for a refinement for the stand-in: a prompt of its own, or a conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from codeplan.standin.partial_plans import apply_changes
from codeplan.standin.prompt_sections import find_section
from codeplan.types import Message

_ANSWER = re.compile(r"<answer (\d{1,9})>")
_FENCE = re.compile(r"```python\n(.*?)\n```", re.DOTALL)


class RefinementPrompt(NamedTuple):
    """The latest plan and what happened to it."""

    plan: str
    feedback: str


def read_refinement(messages: Sequence[Message]) -> RefinementPrompt | None:
    """The plan and its feedback; None if the messages lack one of them.

    A prompt of its own holds both in sections. In a conversation the feedback is in the last turn, and the replies so
    far make up the plan: first the whole plan, then the changes.
    """
    last = next((m["content"] for m in reversed(messages) if m["role"] == "user"), "")
    feedback, plan = find_section(last, "feedback"), find_section(last, "plan")
    if plan is None:
        replies = [found[1] for m in messages if m["role"] == "assistant" for found in _FENCE.finditer(m["content"])]
        for reply in replies:
            plan = reply if plan is None else apply_changes(plan, reply)
    if feedback is None or plan is None:
        return None
    return RefinementPrompt(plan, _with_answers(feedback, find_section(last, "log") or ""))


def _with_answers(feedback: str, log: str) -> str:
    """The feedback with the answers in place of their names, as the log shows them."""
    return _ANSWER.sub(lambda name: _find_answer(log.split("\n"), name[1]) or name[0], feedback)


def _find_answer(lines: Sequence[str], number: str) -> str:
    """The answer of the action of this number; empty if the log does not show it."""
    for index, line in enumerate(lines):
        if line.startswith((f"{number}. ", f"{number}-")):
            more = takewhile(lambda following: following.startswith("    "), lines[index + 1 :])
            return "\n".join([line.partition(" -> ")[2], *(text.removeprefix("    ") for text in more)])
    return ""
