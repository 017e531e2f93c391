"""Describes the purposes of model calls in words."""

from __future__ import annotations

_TASKS = {
    "plan": "write a plan",
    "check": "repair the plan",
    "refine": "refine the plan",
    "resume": "name the step to resume at",
    "ask": "answer the plan",
    "bind": "set the parameters of a skill",
    "plan_text": "write a plan in words",
    "refine_text": "refine a plan in words",
    "decompose": "split the goal into sub-tasks",
    "act": "choose the next action",
    "formalise": "put an action into a valid form",
    "reflect": "look back at what was done",
    "generalise": "write one plan from several lessons",
    "embed": "embed texts",
}


def describe_purpose(purpose: str) -> str:
    """The purpose of a call in words that follow "The model was called to"."""
    return _TASKS.get(purpose, f"{purpose} (purpose)")
