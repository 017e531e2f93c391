"""Lets the stand-in act as an executor, split goals into sub-tasks, and learn from trials.

Its weaknesses are fixed, so that the effect of a method on them is visible. With ``span`` it keeps one thing in mind
at a time. If ``forgetful``, it forgets to clean, heat or cool, to craft ingredients, to read a second page or to
choose options, unless a note reminds it.
"""

from __future__ import annotations

import re
from typing import Literal, Protocol, get_args

from codeplan.errors import UsageError
from codeplan.standin import hotpotqa, household, textcraft, webshop
from codeplan.standin.prompt_reading import ExecutorPrompt, find_section, parse_prompt

_BRACKETED = re.compile(r"\w+\[.*\]")

Weakness = Literal["none", "span", "forgetful"]


def parse_weakness(name: str) -> Weakness:
    """The weakness of this name. Raises UsageError for any other name."""
    for weakness in get_args(Weakness):
        if name == weakness:
            found: Weakness = weakness
            return found
    raise UsageError(f"the weakness {name!r} is not known; give one of {', '.join(get_args(Weakness))}")


class _ActingRules(Protocol):
    def act(self, prompt: ExecutorPrompt, weakness: str) -> str | None: ...
    def decompose(self, prompt: ExecutorPrompt) -> list[str] | None: ...
    def reflect(self, prompt: ExecutorPrompt) -> str: ...
    def write_general_plan(self, reflections: str) -> str: ...


_ALL_ACTING_RULES: tuple[tuple[re.Pattern[str], _ActingRules], ...] = (
    (re.compile(r"^Crafting commands:|^- craft COUNT", re.MULTILINE), textcraft),
    (re.compile(r"^Question: |^- search\[TITLE\]", re.MULTILINE), hotpotqa),
    (re.compile(r"^web ?shop\b|^- search\[WORDS\]", re.MULTILINE | re.IGNORECASE), webshop),
    (re.compile(r"^You are in the middle of a room|^- take OBJECT", re.MULTILINE), household),
)
"""Rules by environment. The functions below that answer return None if no environment's pattern matches the prompt."""


def knows_world(observation: str) -> bool:
    """Whether a task that begins with this observation is of an environment that has rules here."""
    return _acting_rules_for(observation) is not None


def act(prompt: str, weakness: Weakness) -> str | None:
    """An executor's next line; None also if the goal is not understood."""
    if (matched := webshop.match_products(prompt)) is not None:
        return matched
    parsed = parse_prompt(prompt)
    if (bought := webshop.buy_product(parsed)) is not None:
        return bought
    rules = _acting_rules_for(parsed.observation)
    return rules.act(parsed, weakness) if rules else None


def decompose(prompt: str) -> str | None:
    """A plan in sub-tasks, all of them needed; None also if the goal is not understood."""
    if (modules := webshop.plan_modules(prompt)) is not None:
        return modules
    parsed = parse_prompt(prompt)
    rules = _acting_rules_for(parsed.observation)
    parts = rules.decompose(parsed) if rules else None
    if not parts:
        return None
    steps = [f"Step {number}: {part}" for number, part in enumerate(parts, 1)]
    return "\n".join([*steps, f"Execution order: ({' AND '.join(f'Step {n}' for n in range(1, len(steps) + 1))})"])


def reflect(prompt: str) -> str | None:
    """The lesson of the prompt's turns."""
    parsed = parse_prompt(prompt)
    rules = _acting_rules_for(parsed.observation)
    return rules.reflect(parsed) if rules else None


def rate_plan(prompt: str) -> str:
    """The rating of the prompt's plan: ten times the share of its steps that are done."""
    done, steps = re.findall(r"\d++", find_section(prompt, "done") or "0 1")[:2]
    return str(round(10 * int(done) / max(1, int(steps))))


def write_text_plan(prompt: str) -> str | None:
    """A first plan in words: the general one, without any lesson."""
    rules = _acting_rules_for(parse_prompt(prompt).observation)
    return rules.write_general_plan("") if rules else None


def revise_text_plan(prompt: str) -> str | None:
    """The prompt's plan, with the lesson of its turns appended."""
    lesson = reflect(prompt)
    return None if lesson is None else f"{find_section(prompt, 'plan') or ''}\n- {lesson}"


def write_general_plan(system: str, prompt: str) -> str | None:
    """The plan in words that results from a batch's lessons."""
    rules = _acting_rules_for(system)
    return rules.write_general_plan(prompt) if rules else None


def formalise_action(prompt: str) -> str:
    """The action in the prompt's line, without the words around it."""
    line = (find_section(prompt, "line") or "").strip()
    if _BRACKETED.fullmatch(line):
        return line
    line = re.sub(r"^(?:I (?:will|want to)|let me)\s+", "", line, flags=re.IGNORECASE)
    return re.sub(r"\b(?:the|an?)\s+", "", line.rstrip(".!"))


def _acting_rules_for(text: str) -> _ActingRules | None:
    return next((rules for pattern, rules in _ALL_ACTING_RULES if pattern.search(text)), None)
