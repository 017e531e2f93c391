"""What the scripted stand-in knows of each environment: how it plans there, mends there, and answers questions."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable
from typing import NamedTuple

from codeplan.standin import (
    hotpotqa,
    hotpotqa_mend,
    household,
    household_mistakes,
    mend,
    miniwob,
    miniwob_mend,
    miniwob_words,
    textcraft,
    textcraft_mend,
    textcraft_mistakes,
    webshop,
    webshop_mend,
)
from codeplan.standin.mistakes import Mistakes, spoil
from codeplan.standin.places import by_likelihood, knows


class Told(NamedTuple):
    """What a prompt tells of a task: the goal's sentence and the first observation."""

    goal: str
    observation: str


class World(NamedTuple):
    """One environment, as far as the stand-in knows it. What it does not understand is answered with None."""

    signs: re.Pattern[str]
    """What is found in the first observation of its tasks, and in plans for them."""
    draft: Callable[[Told, Mistakes, int], str | None]
    refine: Callable[[str, str, Told], str | None]
    """A plan, the feedback, the task: a better plan."""
    repair: Callable[[str, str], str]
    """A plan and the errors that the check found: the plan without them."""
    answer: Callable[[str], str | None]
    """The Python literal that answers a plan's question."""


def world_of(text: str) -> World:
    """The world that an observation, or a plan, belongs to."""
    return next(world for world in WORLDS if world.signs.search(text))


# ------------------------------------------------------------------ the household


def _draft_chore(told: Told, mistakes: Mistakes, seed: int) -> str | None:
    chore = household.understand(told.goal, told.observation)
    if chore is None:
        return None
    spoilers = household_mistakes.spoilers(chore)
    return spoil(household.write_plan(chore), spoilers, mistakes, seed, told.observation + told.goal)


def _refine_chore(source: str, feedback: str, told: Told) -> str | None:
    chore = household.understand(told.goal, told.observation)
    return mend.refine(source, feedback, chore) if chore else None


def _answer_in_household(question: str) -> str | None:
    """Places by likelihood, or the name of a thing in a view."""
    thing = next((word for word in re.findall(r"\b[a-z]+\b", question) if knows(word)), "")
    lists = [found for text in re.findall(r"\[[^\[\]]*\]", question) if (found := _names(text)) is not None]
    if lists:
        return repr(by_likelihood(thing, lists[-1]))
    if thing and (seen := re.search(rf"\b{thing} \d+", question)):
        return repr(seen[0])
    return None


def _names(text: str) -> list[str] | None:
    """A list of strings out of its literal; None where it is something else."""
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if all(isinstance(v, str) for v in value) else None


# ------------------------------------------------------------------ TextCraft


def _draft_order(told: Told, mistakes: Mistakes, seed: int) -> str | None:
    order = textcraft.understand(told.goal, told.observation)
    if order is None:
        return None
    task = told.observation + told.goal
    return spoil(textcraft.write_plan(order), textcraft_mistakes.SPOILERS, mistakes, seed, task)


def _refine_order(source: str, feedback: str, told: Told) -> str | None:
    order = textcraft.understand(told.goal, told.observation)
    return textcraft_mend.refine(source, feedback, order) if order else None


# ------------------------------------------------------------------ HotpotQA


def _draft_quest(told: Told, mistakes: Mistakes, seed: int) -> str | None:
    quest = hotpotqa.understand(told.goal)
    return spoil(hotpotqa.write_plan(quest), hotpotqa_mend.SPOILERS, mistakes, seed, told.goal) if quest else None


def _refine_quest(source: str, feedback: str, told: Told) -> str | None:
    quest = hotpotqa.understand(told.goal)
    return hotpotqa_mend.refine(source, feedback, quest) if quest else None


# ------------------------------------------------------------------ WebShop


def _draft_errand(told: Told, mistakes: Mistakes, seed: int) -> str | None:
    errand = webshop.understand(told.goal)
    return spoil(webshop.write_plan(errand), webshop_mend.SPOILERS, mistakes, seed, told.goal) if errand else None


def _refine_errand(source: str, feedback: str, told: Told) -> str | None:
    errand = webshop.understand(told.goal)
    return webshop_mend.refine(source, feedback, errand) if errand else None


# ------------------------------------------------------------------ MiniWoB++


def _draft_job(told: Told, mistakes: Mistakes, seed: int) -> str | None:
    job = miniwob.understand(told.goal, told.observation)
    return spoil(miniwob.write_plan(job), miniwob_mend.spoilers(job), mistakes, seed, told.observation) if job else None


def _refine_job(source: str, feedback: str, told: Told) -> str | None:
    job = miniwob.understand(told.goal, told.observation)
    return miniwob_mend.refine(source, feedback, job) if job else None


WORLDS = (
    World(
        re.compile(r"\ATask: .*\n\nPage:\n|^ +state = agent\.", re.MULTILINE),
        _draft_job,
        _refine_job,
        miniwob_mend.repair,
        miniwob_words.answer,
    ),
    World(
        re.compile(r"^Crafting commands:|\bagent\.(?:craft|craftable|inventory|recipes)\b", re.MULTILINE),
        _draft_order,
        _refine_order,
        textcraft_mend.repair,
        textcraft.choice,
    ),
    World(
        re.compile(r"^Question: |\bagent\.(?:lookup|finish)\b", re.MULTILINE),
        _draft_quest,
        _refine_quest,
        hotpotqa_mend.repair,
        hotpotqa.answer,
    ),
    World(
        re.compile(r"^web ?shop\b|\bagent\.(?:results|options|chosen|buttons)\b", re.MULTILINE | re.IGNORECASE),
        _draft_errand,
        _refine_errand,
        webshop_mend.repair,
        webshop.choice,
    ),
    World(re.compile(""), _draft_chore, _refine_chore, mend.repair, _answer_in_household),
)
"""All of them; what has no sign of another is taken for the household."""
