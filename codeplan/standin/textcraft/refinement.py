"""Mends TextCraft plans according to the feedback."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable

import msgspec

from codeplan.standin.plan_edits import AgentVocabulary, edit_step, failed_step, first_fix, first_match
from codeplan.standin.textcraft.planning import (
    CraftingWork,
    ParsedCraftingGoal,
    PromptRecipe,
    compute_work,
    make_call_source,
    variant_choice_lines,
    write_plan,
)
from codeplan.types import Value

AGENT_VOCABULARY = AgentVocabulary(
    frozenset(
        {*("get", "can_get", "craft", "craft_until", "inventory", "recipes", "report"), *("goal", "craftable", "held")}
    ),
    {
        "get": "fetch gather collect find obtain grab pick_up mine take",
        "craft": "combine make build create craft_item assemble",
        "inventory": "check_inventory get_inventory list_inventory items holding",
        "recipes": "recipe get_recipes get_recipe find_recipes look_up commands",
    },
)


class TextCraftFeedback(Value, frozen=True):
    """The facts in the feedback, empty or None if not mentioned. ``lacking`` are items that the agent cannot get."""

    text: str
    step: int | None
    held: dict[str, int]
    lacking: list[str]
    last_recipe: PromptRecipe | None
    last_observation: str


def parse_feedback(feedback: str) -> TextCraftFeedback:
    """Read the facts in the feedback."""
    held = re.findall(r"(\d+) ([a-z][a-z ]*)", first_match(r"I hold (.*?)\.", feedback))
    tried = re.search(r"[Ll]ast action: 'craft (\d+) (.+?) using (.+?)';", feedback)
    return TextCraftFeedback(
        feedback,
        failed_step(feedback),
        {name: int(count) for count, name in held},
        re.findall(r"'([^']+)'", first_match(r"I cannot get \[(.*?)\]", feedback)),
        PromptRecipe(tried[2], int(tried[1]), _parse_counts(tried[3])) if tried else None,
        first_match(r"answered: '(.+)'", feedback),
    )


def _parse_counts(ingredients: str) -> dict[str, int]:
    return {name: int(count) for count, name in re.findall(r"(\d+) ([a-z][a-z ]*)", ingredients)}


def refine_plan(source: str, feedback: str, goal: ParsedCraftingGoal) -> str:
    """The plan with its failing step mended; a new plan if the feedback shows no fix."""
    report = parse_feedback(feedback)
    mended = first_fix(source, feedback, AGENT_VOCABULARY, (fix(source, report, goal) for fix in _FIXES))
    return write_plan(goal) if mended is None else mended


def _craft_product(source: str, report: TextCraftFeedback, goal: ParsedCraftingGoal) -> str | None:
    """The plan tried to get an item that must be crafted: get its ingredients and craft it."""
    products = [name for name in report.lacking if goal.recipes_for(name)]
    if not products:
        return None

    def make_them(call: re.Match[str]) -> str:
        needs: dict[str, int] = literal_eval(call[2])
        work = compute_work(goal, {name: needs.pop(name) for name in products if name in needs}, {})
        for name, count in work.to_get.items():
            needs[name] = needs.get(name, 0) + count
        return f"{call[1]}gather({needs})\n{_work_lines(goal, CraftingWork({}, work.to_craft))}"

    return edit_step(source, report.step, r"^( *missing = )gather\((\{.*\})\)\n", make_them)


def _correct_ingredients(source: str, report: TextCraftFeedback, goal: ParsedCraftingGoal) -> str | None:
    """The plan did not follow the command exactly: take the command's counts."""
    tried = report.last_recipe
    if tried is None or not goal.recipes_for(tried.item) or _follows_recipe(goal, tried):
        return None
    item = tried.item
    call = rf"make\((\d+), {item!r}, \d+, \{{.*\}}\)"
    return edit_step(source, report.step, call, lambda found: make_call_source(goal, item, int(found[1])))


def _use_other_variant(source: str, report: TextCraftFeedback, goal: ParsedCraftingGoal) -> str | None:
    """The plan followed the command, but with a wrong variant of an ingredient: take another variant."""
    if report.last_recipe is None or not report.last_observation.startswith("Could not find a valid recipe"):
        return None
    variants = {variant for recipe in goal.recipes for name in recipe.ingredients for variant in goal.variants(name)}
    wrong = variants & set(report.last_recipe.ingredients)
    return write_plan(msgspec.structs.replace(goal, avoid=goal.avoid | wrong)) if wrong else None


def _get_missing_items(source: str, report: TextCraftFeedback, goal: ParsedCraftingGoal) -> str | None:
    """Ingredients are missing: get or craft them before the step continues."""
    need = re.search(r"I have (\d+) .+? and need (\d+)", report.text)
    if report.last_recipe is None or need is None or not report.last_observation.startswith("Could not find enough"):
        return None
    times = -(-(int(need[2]) - int(need[1])) // report.last_recipe.count)
    wanted = {name: n * times for name, n in report.last_recipe.ingredients.items()}
    lines = _work_lines(goal, compute_work(goal, wanted, report.held))
    return edit_step(source, report.step, r"^        made = make\(", lambda found: lines + found[0])


_FIXES: tuple[Callable[[str, TextCraftFeedback, ParsedCraftingGoal], str | None], ...] = (
    _craft_product,
    _correct_ingredients,
    _use_other_variant,
    _get_missing_items,
)


# ------------------------------------------------------------------ recipes and lines


def _follows_recipe(goal: ParsedCraftingGoal, tried: PromptRecipe) -> bool:
    """Whether a command has exactly the tried ingredients, apart from variants."""
    wanted = (recipe.ingredients for recipe in goal.recipes_for(tried.item))
    return any(_same_ingredients(goal, tried.ingredients, each) for each in wanted)


def _same_ingredients(goal: ParsedCraftingGoal, tried: dict[str, int], wanted: dict[str, int]) -> bool:
    meant = {next((s for s in wanted if name in goal.variants(s)), name): count for name, count in tried.items()}
    return meant == wanted


def _work_lines(goal: ParsedCraftingGoal, work: CraftingWork) -> str:
    """The lines of a step that do this work."""
    got = f"        gather({work.to_get})\n" if work.to_get else ""
    made = (
        variant_choice_lines(item, count)
        if goal.asks_for_variant(item)
        else f"        {make_call_source(goal, item, count)}\n"
        for item, count in work.to_craft.items()
    )
    return got + "".join(made)
