"""What the scripted stand-in knows of each environment: how it plans there, mends there, and answers questions."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable
from typing import NamedTuple

from codeplan.standin.hotpotqa import planning as hotpotqa_planning
from codeplan.standin.hotpotqa import refinement as hotpotqa_refinement
from codeplan.standin.household import mistakes as household_mistakes
from codeplan.standin.household import planning as household_planning
from codeplan.standin.household import refinement as household_refinement
from codeplan.standin.household.places import is_known_thing, sort_by_likelihood
from codeplan.standin.miniwob import planning as miniwob_planning
from codeplan.standin.miniwob import refinement as miniwob_refinement
from codeplan.standin.miniwob import synonyms as miniwob_synonyms
from codeplan.standin.mistakes import Mistakes, insert_mistakes
from codeplan.standin.textcraft import mistakes as textcraft_mistakes
from codeplan.standin.textcraft import planning as textcraft_planning
from codeplan.standin.textcraft import refinement as textcraft_refinement
from codeplan.standin.webshop import planning as webshop_planning
from codeplan.standin.webshop import refinement as webshop_refinement


class TaskPrompt(NamedTuple):
    """What a prompt tells of a task: the goal's sentence and the first observation."""

    goal: str
    observation: str


class EnvironmentRules(NamedTuple):
    """One environment, as far as the stand-in knows it. What it does not understand is answered with None."""

    pattern: re.Pattern[str]
    """What is found in the first observation of its tasks, and in plans for them."""
    draft_plan: Callable[[TaskPrompt, Mistakes, int], str | None]
    refine_plan: Callable[[str, str, TaskPrompt], str | None]
    """A plan, the feedback, the task: a better plan."""
    repair_plan: Callable[[str, str], str]
    """A plan and the errors that the check found: the plan without them."""
    answer_question: Callable[[str], str | None]
    """The Python literal that answers a plan's question."""


def rules_for(text: str) -> EnvironmentRules:
    """The world that an observation, or a plan, belongs to."""
    return next(world for world in ALL_RULES if world.pattern.search(text))


# ------------------------------------------------------------------ the household


def _draft_household_plan(task: TaskPrompt, mistakes: Mistakes, seed: int) -> str | None:
    chore = household_planning.parse_goal(task.goal, task.observation)
    if chore is None:
        return None
    spoilers = household_mistakes.mistake_inserters(chore)
    return insert_mistakes(household_planning.write_plan(chore), spoilers, mistakes, seed, task.observation + task.goal)


def _refine_household_plan(source: str, feedback: str, task: TaskPrompt) -> str | None:
    chore = household_planning.parse_goal(task.goal, task.observation)
    return household_refinement.refine_plan(source, feedback, chore) if chore else None


def _answer_household_question(question: str) -> str | None:
    """Places by likelihood, or the name of a thing in a view."""
    thing = next((word for word in re.findall(r"\b[a-z]+\b", question) if is_known_thing(word)), "")
    lists = [found for text in re.findall(r"\[[^\[\]]*\]", question) if (found := _parse_names(text)) is not None]
    if lists:
        return repr(sort_by_likelihood(thing, lists[-1]))
    if thing and (seen := re.search(rf"\b{thing} \d+", question)):
        return repr(seen[0])
    return None


def _parse_names(text: str) -> list[str] | None:
    """A list of strings out of its literal; None where it is something else."""
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if all(isinstance(v, str) for v in value) else None


# ------------------------------------------------------------------ TextCraft


def _draft_textcraft_plan(task_prompt: TaskPrompt, mistakes: Mistakes, seed: int) -> str | None:
    order = textcraft_planning.parse_goal(task_prompt.goal, task_prompt.observation)
    if order is None:
        return None
    task = task_prompt.observation + task_prompt.goal
    return insert_mistakes(
        textcraft_planning.write_plan(order), textcraft_mistakes.MISTAKE_INSERTERS, mistakes, seed, task
    )


def _refine_textcraft_plan(source: str, feedback: str, task: TaskPrompt) -> str | None:
    order = textcraft_planning.parse_goal(task.goal, task.observation)
    return textcraft_refinement.refine_plan(source, feedback, order) if order else None


# ------------------------------------------------------------------ HotpotQA


def _draft_hotpotqa_plan(task: TaskPrompt, mistakes: Mistakes, seed: int) -> str | None:
    quest = hotpotqa_planning.parse_goal(task.goal)
    if quest is None:
        return None
    inserters = hotpotqa_refinement.MISTAKE_INSERTERS
    return insert_mistakes(hotpotqa_planning.write_plan(quest), inserters, mistakes, seed, task.goal)


def _refine_hotpotqa_plan(source: str, feedback: str, task: TaskPrompt) -> str | None:
    quest = hotpotqa_planning.parse_goal(task.goal)
    return hotpotqa_refinement.refine_plan(source, feedback, quest) if quest else None


# ------------------------------------------------------------------ WebShop


def _draft_webshop_plan(task: TaskPrompt, mistakes: Mistakes, seed: int) -> str | None:
    errand = webshop_planning.parse_goal(task.goal)
    if errand is None:
        return None
    inserters = webshop_refinement.MISTAKE_INSERTERS
    return insert_mistakes(webshop_planning.write_plan(errand), inserters, mistakes, seed, task.goal)


def _refine_webshop_plan(source: str, feedback: str, task: TaskPrompt) -> str | None:
    errand = webshop_planning.parse_goal(task.goal)
    return webshop_refinement.refine_plan(source, feedback, errand) if errand else None


# ------------------------------------------------------------------ MiniWoB++


def _draft_miniwob_plan(task: TaskPrompt, mistakes: Mistakes, seed: int) -> str | None:
    job = miniwob_planning.find_solution(task.goal, task.observation)
    if job is None:
        return None
    inserters = miniwob_refinement.mistake_inserters(job)
    return insert_mistakes(miniwob_planning.write_plan(job), inserters, mistakes, seed, task.observation)


def _refine_miniwob_plan(source: str, feedback: str, task: TaskPrompt) -> str | None:
    job = miniwob_planning.find_solution(task.goal, task.observation)
    return miniwob_refinement.refine_plan(source, feedback, job) if job else None


ALL_RULES = (
    EnvironmentRules(
        re.compile(r"\ATask: .*\n\nPage:\n|^ +state = agent\.", re.MULTILINE),
        _draft_miniwob_plan,
        _refine_miniwob_plan,
        miniwob_refinement.repair_miniwob_plan,
        miniwob_synonyms.answer_question,
    ),
    EnvironmentRules(
        re.compile(r"^Crafting commands:|\bagent\.(?:craft|craftable|inventory|recipes)\b", re.MULTILINE),
        _draft_textcraft_plan,
        _refine_textcraft_plan,
        textcraft_refinement.repair_textcraft_plan,
        textcraft_planning.answer_question,
    ),
    EnvironmentRules(
        re.compile(r"^Question: |\bagent\.(?:lookup|finish)\b", re.MULTILINE),
        _draft_hotpotqa_plan,
        _refine_hotpotqa_plan,
        hotpotqa_refinement.repair_hotpotqa_plan,
        hotpotqa_planning.answer_question,
    ),
    EnvironmentRules(
        re.compile(r"^web ?shop\b|\bagent\.(?:results|options|chosen|buttons)\b", re.MULTILINE | re.IGNORECASE),
        _draft_webshop_plan,
        _refine_webshop_plan,
        webshop_refinement.repair_webshop_plan,
        webshop_planning.answer_question,
    ),
    EnvironmentRules(
        re.compile(""),
        _draft_household_plan,
        _refine_household_plan,
        household_refinement.repair_household_plan,
        _answer_household_question,
    ),
)
"""All of them; what has no sign of another is taken for the household."""
