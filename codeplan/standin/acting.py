"""The scripted stand-in as an executor: it acts itself, takes goals apart, and looks back at what it did.

Its weaknesses are fixed and plain, so that what a method does about them can be seen: with ``span`` it keeps one thing
in mind at a time; what it is ``forgetful`` of (to clean, heat or cool; that ingredients may have to be made) it does
when a note reminds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

from codeplan.errors import UsageError
from codeplan.standin.executor_prompt import ExecutorPrompt, optional_section, parse_prompt
from codeplan.standin.household import acting as household_acting
from codeplan.standin.textcraft import acting as textcraft_acting

Weakness = Literal["none", "span", "forgetful"]


def parse_weakness(name: str) -> Weakness:
    """The weakness of this name. Raises UsageError where there is none."""
    for weakness in get_args(Weakness):
        if name == weakness:
            found: Weakness = weakness
            return found
    raise UsageError(f"the weakness {name!r} is not known; give one of {', '.join(get_args(Weakness))}")


class _ActingRules(NamedTuple):
    pattern: re.Pattern[str]
    act: Callable[[ExecutorPrompt, str], str | None]
    decompose: Callable[[ExecutorPrompt], list[str] | None]
    reflect: Callable[[ExecutorPrompt], str]
    write_general_plan: Callable[[str], str]


_ALL_ACTING_RULES = (
    _ActingRules(
        re.compile(r"^Crafting commands:|^- craft COUNT", re.MULTILINE),
        textcraft_acting.act,
        textcraft_acting.decompose,
        textcraft_acting.reflect,
        textcraft_acting.write_general_plan,
    ),
    _ActingRules(
        re.compile(r"^You are in the middle of a room|^- take OBJECT", re.MULTILINE),
        household_acting.act,
        household_acting.decompose,
        household_acting.reflect,
        household_acting.write_general_plan,
    ),
)


def act(prompt: str, weakness: Weakness) -> str | None:
    """An executor's next line; None where the stand-in does not know the world or the goal."""
    now = parse_prompt(prompt)
    player = _acting_rules_for(now.observation)
    return player.act(now, weakness) if player else None


def decompose(prompt: str) -> str | None:
    """A plan in sub-tasks, all of them needed; None where the stand-in does not know the world or the goal."""
    now = parse_prompt(prompt)
    player = _acting_rules_for(now.observation)
    parts = player.decompose(now) if player else None
    if not parts:
        return None
    steps = [f"Step {number}: {part}" for number, part in enumerate(parts, 1)]
    return "\n".join([*steps, f"Execution order: ({' AND '.join(f'Step {n}' for n in range(1, len(steps) + 1))})"])


def reflect(prompt: str) -> str | None:
    """What there is to learn from the turns of a prompt; None where the stand-in does not know the world."""
    now = parse_prompt(prompt)
    player = _acting_rules_for(now.observation)
    return player.reflect(now) if player else None


def write_text_plan(prompt: str) -> str | None:
    """A plan in words; one who has learnt nothing yet has no more than the general one."""
    player = _acting_rules_for(parse_prompt(prompt).observation)
    return player.write_general_plan("") if player else None


def revise_text_plan(prompt: str) -> str | None:
    """The plan of a prompt, with what there is to learn from its turns."""
    learnt = reflect(prompt)
    return None if learnt is None else f"{optional_section(prompt, 'plan')}\n- {learnt}"


def write_general_plan(system: str, prompt: str) -> str | None:
    """The plan that a batch's lessons come to; None where the stand-in does not know the world."""
    player = _acting_rules_for(system)
    return player.write_general_plan(prompt) if player else None


def formalise_action(prompt: str) -> str:
    """The line of a prompt as an action: without what people say around one."""
    line = re.sub(
        r"^(?:I (?:will|want to)|let me)\s+", "", optional_section(prompt, "line").strip(), flags=re.IGNORECASE
    )
    return re.sub(r"\b(?:the|an?)\s+", "", line.rstrip(".!"))


def _acting_rules_for(text: str) -> _ActingRules | None:
    return next((player for player in _ALL_ACTING_RULES if player.pattern.search(text)), None)
