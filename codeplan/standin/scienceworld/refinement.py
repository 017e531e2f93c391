"""Inserts mistakes into ScienceWorld plans, and mends plans according to the feedback."""

from __future__ import annotations

import re
from collections.abc import Callable

from codeplan.standin.mistakes import MistakeInserter, replace_call, replace_text
from codeplan.standin.plan_edits import AgentVocabulary, edit_step, failed_step, first_fix
from codeplan.standin.scienceworld.planning import ScienceGoal, write_plan

_METHODS = (
    "activate choose close connect deactivate disconnect drop dunk eat examine find flush focus goto inventory look "
    "look_in mix move objects open pour read report take teleport use wait"
)
_ATTRIBUTES = "goal room rooms things holding choices actions_left score"

AGENT_VOCABULARY = AgentVocabulary(
    frozenset(f"{_METHODS} {_ATTRIBUTES}".split()),
    {
        "goto": "navigate travel move_to_room enter",
        "take": "grab get pick collect",
        "focus": "concentrate attend focus_upon",
        "move": "place put_in put_into",
        "pour": "pour_into empty transfer",
        "use": "apply measure",
    },
)

_ROOMS = ("hallway", "living room", "bedroom", "workshop", "art studio", "kitchen", "outside", "greenhouse")
_PLACES = r"(?<=^        places = )\[.*\]$"
_LAST_WALK = re.compile(r"^        agent\.goto\('[a-z ]+'\)\n(?=(?:        (?:words|box) = ))", re.MULTILINE)
_LAST_ACT = r"^        (?=words = |box = )"


def _seek_elsewhere(plan: str, which: float) -> str:
    """Seek only in a room where it is unlikely."""
    right = re.findall(r"'([a-z ]+)'", "".join(re.findall(_PLACES, plan, re.MULTILINE)))
    others = [room for room in _ROOMS[:4] if room not in right]
    return re.sub(_PLACES, f"['{others[int(which * len(others))]}']", plan, count=1, flags=re.MULTILINE)


def _omit_last_walk(plan: str, which: float) -> str:
    """Leave out the walk to the box."""
    return _LAST_WALK.sub("", plan, count=1)


MISTAKE_INSERTERS: dict[str, MistakeInserter] = {
    "wrong_guess": _seek_elsewhere,
    "forgotten_walk": _omit_last_walk,
    "unknown_method": replace_call(("goto", "travel"), ("focus", "concentrate")),
    "syntax_error": replace_text(
        ("def fitting(things):", "def fitting(things)"),
        ("found = seek(places)\n", "found = seek(places\n"),
        ("for place in places:", "for place in places"),
    ),
}
"""In the order of insertion."""


def refine_plan(source: str, feedback: str, goal: ScienceGoal) -> str:
    """The plan with its failing step mended; a new plan if the feedback shows no fix."""
    mended = first_fix(source, feedback, AGENT_VOCABULARY, (fix(source, feedback, goal) for fix in _FIXES))
    return write_plan(goal) if mended is None else mended


def _seek_in_other_places(source: str, feedback: str, goal: ScienceGoal) -> str | None:
    """It was in none of the places: go to the likely ones, then to all the others."""
    found = re.search(r"was seen in \[([^\[\]]*)\]", feedback)
    if found is None:
        return None
    tried = re.findall(r"'([a-z ]+)'", found[1])
    left = [room for room in dict.fromkeys((*goal.places, *_ROOMS)) if room not in tried]
    return edit_step(source, failed_step(feedback), _PLACES, lambda _: repr(left)) if left else None


def _walk_to_the_box(source: str, feedback: str, goal: ScienceGoal) -> str | None:
    """There was no box: walk to its room first."""
    if "is not in the" not in feedback or not goal.room or _LAST_WALK.search(source):
        return None
    return edit_step(source, failed_step(feedback), _LAST_ACT, lambda _: f"        agent.goto({goal.room!r})\n        ")


_FIXES: tuple[Callable[[str, str, ScienceGoal], str | None], ...] = (_seek_in_other_places, _walk_to_the_box)
