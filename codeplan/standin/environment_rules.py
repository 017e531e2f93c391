"""How the stand-in plans, mends plans and answers questions in each environment."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from codeplan.standin.hotpotqa import planning as hotpotqa
from codeplan.standin.hotpotqa import refinement as hotpotqa_refinement
from codeplan.standin.household import mistakes as household_mistakes
from codeplan.standin.household import places as household_places
from codeplan.standin.household import planning as household
from codeplan.standin.household import refinement as household_refinement
from codeplan.standin.miniwob import planning as miniwob
from codeplan.standin.miniwob import refinement as miniwob_refinement
from codeplan.standin.miniwob import synonyms as miniwob_synonyms
from codeplan.standin.mistakes import MistakeInserter, Mistakes, insert_mistakes
from codeplan.standin.plan_edits import AgentVocabulary, repair_plan
from codeplan.standin.scienceworld import planning as scienceworld
from codeplan.standin.scienceworld import refinement as scienceworld_refinement
from codeplan.standin.textcraft import mistakes as textcraft_mistakes
from codeplan.standin.textcraft import planning as textcraft
from codeplan.standin.textcraft import refinement as textcraft_refinement
from codeplan.standin.webshop import planning as webshop
from codeplan.standin.webshop import refinement as webshop_refinement


class TaskPrompt(NamedTuple):
    """A prompt's data about a task: the goal's sentence and the first observation."""

    goal: str
    observation: str


class EnvironmentRules(NamedTuple):
    """The stand-in's rules for one environment. The type of a parsed goal is the environment's own."""

    pattern: re.Pattern[str]
    """Matches the first observations of the environment's tasks, and plans for them."""
    vocabulary: AgentVocabulary
    parse_goal: Callable[[TaskPrompt], Any]
    """The goal of a task; None if it is not understood."""
    write_plan: Callable[[Any], str]
    refine: Callable[[str, str, Any], str]
    """A better plan, given a plan, the feedback and the parsed goal."""
    mistake_inserters: Callable[[Any], Mapping[str, MistakeInserter]]
    seed_text: Callable[[TaskPrompt], str]
    """The text that, together with the seed, decides which mistakes a plan has."""
    answer_question: Callable[[str], str | None]
    """The Python literal that answers a plan's question; None if it is not understood."""

    def draft_plan(self, task: TaskPrompt, mistakes: Mistakes, seed: int) -> str | None:
        """A first plan, with mistakes; None if the goal is not understood."""
        goal = self.parse_goal(task)
        if goal is None:
            return None
        return insert_mistakes(
            self.write_plan(goal), self.mistake_inserters(goal), mistakes, seed, self.seed_text(task)
        )

    def refine_plan(self, source: str, feedback: str, task: TaskPrompt) -> str | None:
        """A better plan; None if the goal is not understood."""
        goal = self.parse_goal(task)
        return None if goal is None else self.refine(source, feedback, goal)

    def repair_plan(self, source: str, errors: str) -> str:
        """The plan without the errors that the check lists."""
        return repair_plan(source, errors, self.vocabulary)


def rules_for(text: str) -> EnvironmentRules:
    """The rules of the environment that an observation or a plan belongs to."""
    return next(rules for rules in ALL_RULES if rules.pattern.search(text))


ALL_RULES = (
    EnvironmentRules(
        re.compile(r"\ATask: .*\n\nPage:\n|^ +state = agent\.", re.MULTILINE),
        miniwob_refinement.AGENT_VOCABULARY,
        lambda task: miniwob.find_solution(task.goal, task.observation),
        miniwob.write_plan,
        miniwob_refinement.refine_plan,
        miniwob_refinement.mistake_inserters,
        lambda task: task.observation,
        miniwob_synonyms.answer_question,
    ),
    EnvironmentRules(
        re.compile(r"^You can take \d+ actions\.$|\bagent\.(?:focus|rooms)\b", re.MULTILINE),
        scienceworld_refinement.AGENT_VOCABULARY,
        lambda task: scienceworld.parse_goal(task.goal),
        scienceworld.write_plan,
        scienceworld_refinement.refine_plan,
        lambda goal: scienceworld_refinement.MISTAKE_INSERTERS,
        lambda task: task.observation,
        scienceworld.answer_question,
    ),
    EnvironmentRules(
        re.compile(r"^Crafting commands:|\bagent\.(?:craft|craftable|inventory|recipes)\b", re.MULTILINE),
        textcraft_refinement.AGENT_VOCABULARY,
        lambda task: textcraft.parse_goal(task.goal, task.observation),
        textcraft.write_plan,
        textcraft_refinement.refine_plan,
        lambda goal: textcraft_mistakes.MISTAKE_INSERTERS,
        lambda task: task.observation + task.goal,
        textcraft.answer_question,
    ),
    EnvironmentRules(
        re.compile(r"^Question: |\bagent\.(?:lookup|finish)\b", re.MULTILINE),
        hotpotqa_refinement.AGENT_VOCABULARY,
        lambda task: hotpotqa.parse_goal(task.goal),
        hotpotqa.write_plan,
        hotpotqa_refinement.refine_plan,
        lambda goal: hotpotqa_refinement.MISTAKE_INSERTERS,
        lambda task: task.goal,
        hotpotqa.answer_question,
    ),
    EnvironmentRules(
        re.compile(r"^web ?shop\b|\bagent\.(?:results|options|chosen|buttons)\b", re.MULTILINE | re.IGNORECASE),
        webshop_refinement.AGENT_VOCABULARY,
        lambda task: webshop.parse_goal(task.goal),
        webshop.write_plan,
        webshop_refinement.refine_plan,
        lambda goal: webshop_refinement.MISTAKE_INSERTERS,
        lambda task: task.goal,
        webshop.answer_question,
    ),
    EnvironmentRules(
        re.compile(""),
        household_refinement.AGENT_VOCABULARY,
        lambda task: household.parse_goal(task.goal, task.observation),
        household.write_plan,
        household_refinement.refine_plan,
        household_mistakes.mistake_inserters,
        lambda task: task.observation + task.goal,
        household_places.answer_question,
    ),
)
"""All rules. The last ones, the household's, match every text."""
