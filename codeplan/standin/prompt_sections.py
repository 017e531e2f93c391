"""The tagged sections of codeplan's prompts (``<goal>…</goal>``), and the purpose that a set of them shows."""

from __future__ import annotations

import re

from codeplan.types import Purpose

_TAG = re.compile(r"^<(\w+)>$", re.MULTILINE)
_BY_SECTIONS: tuple[tuple[frozenset[str], Purpose], ...] = (
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
