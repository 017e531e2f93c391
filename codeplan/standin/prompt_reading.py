"""Reads codeplan's prompts for the stand-in: their sections, purpose and turns, and what a refinement is about.

Sections stand between tags (``<goal>…</goal>``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from codeplan.standin.plan_edits import apply_changes
from codeplan.types import Message, Purpose

_TAG = re.compile(r"^<(\w+)>$", re.MULTILINE)
_BY_SECTIONS: tuple[tuple[frozenset[str], Purpose], ...] = (
    (frozenset({"plan", "transcript", "done"}), "rate"),
    (frozenset({"plan", "errors"}), "check"),
    (frozenset({"page", "criteria"}), "act"),
    (frozenset({"plan", "feedback"}), "refine"),
    (frozenset({"previous", "revised"}), "resume"),
    (frozenset({"goal", "feedback"}), "refine"),
    (frozenset({"earlier", "parameters"}), "bind"),
    (frozenset({"transcript", "line"}), "formalise"),
    (frozenset({"transcript", "outcome"}), "reflect"),
    (frozenset({"plan", "task"}), "generalise"),
    (frozenset({"plan", "transcript"}), "refine_text"),
)


def find_section(prompt: str, name: str) -> str | None:
    """The text between the first tags of this name; None if there are none."""
    _, opened, rest = prompt.partition(f"<{name}>")
    text, closed, _ = rest.partition(f"</{name}>")
    return text.removeprefix("\n").removesuffix("\n") if opened and closed else None


def infer_purpose(system: str, user: str) -> Purpose:
    """The purpose of a prompt that came without one, from its sections and from the form of reply that it shows.

    A prompt without sections is a plan's question.
    """
    sections = frozenset(_TAG.findall(user))
    for required, purpose in _BY_SECTIONS:
        if required <= sections:
            return purpose
    if "transcript" in sections:
        return "act" if re.search(r"^- ", system, re.MULTILINE) else "reflect"  # executors get a list of action forms
    if "goal" in sections:
        return _planning_purpose(system)
    return "ask"


def _planning_purpose(system: str) -> Purpose:
    if "def solution(" in system:
        return "plan"
    return "decompose" if re.search(r"^Execution order:", system, re.MULTILINE) else "plan_text"


COMPLETED_LINE = "think: All of it is done. Task completed!"

_TURN = re.compile(r"^> (.*)\n((?:(?!> ).*\n?)*)", re.MULTILINE)


class ExecutorPrompt(NamedTuple):
    """The sections of an executor's prompt, empty where absent. ``notes`` may quote ``earlier_turns``."""

    goal: str
    observation: str
    notes: str
    earlier_turns: list[tuple[str, str]]
    turns: list[tuple[str, str]]


def parse_prompt(prompt: str) -> ExecutorPrompt:
    """Read the sections of an executor's prompt."""
    goal, observation, notes, transcript = (
        find_section(prompt, name) or "" for name in ("goal", "observation", "notes", "transcript")
    )
    return ExecutorPrompt(goal, observation, notes, _parse_turns(notes), _parse_turns(transcript))


def give_up_line(why: str) -> str:
    """The line with which the stand-in gives up."""
    return f"think: I cannot do this: {why}. Task failed!"


def _parse_turns(text: str) -> list[tuple[str, str]]:
    return [(line.strip(), answer.strip()) for line, answer in _TURN.findall(text)]


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
    logs = [find_section(m["content"], "log") or "" for m in messages if m["role"] == "user"]
    return RefinementPrompt(plan, _with_answers(feedback, [log.split("\n") for log in reversed(logs)]))


def _with_answers(feedback: str, logs: Sequence[Sequence[str]]) -> str:
    """The feedback with the answers in place of their names, as the logs show them, newest first."""
    return _ANSWER.sub(lambda name: _find_answer(logs, name[1]) or name[0], feedback)


def _find_answer(logs: Sequence[Sequence[str]], number: str) -> str:
    """The answer of the newest log's action of this number; empty if no log shows it."""
    found = next((line for line in logs[0] if line.startswith((f"{number}. ", f"{number}-"))), "")
    said = found.partition(" -> ")[0].partition(". ")[2]
    answers = (_answer_to(said, lines) for lines in logs) if found else ()
    return next((answer for answer in answers if answer not in ("", "<as above>")), "")


def _answer_to(said: str, lines: Sequence[str]) -> str:
    """The last answer to an action in a log; empty if it is not there."""
    for index in range(len(lines) - 1, -1, -1):
        if lines[index].partition(". ")[2].startswith(f"{said} -> "):
            more = takewhile(lambda following: following.startswith("    "), lines[index + 1 :])
            return "\n".join([lines[index].partition(" -> ")[2], *(text.removeprefix("    ") for text in more)])
    return ""
