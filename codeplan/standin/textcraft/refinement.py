"""How the scripted stand-in mends a TextCraft plan: by the words of the check, or of the feedback, and nothing else."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable

import msgspec

from codeplan.standin.plan_edits import AgentVocabulary, edit_step, failed_step, first_fix, first_match, repair_plan
from codeplan.standin.textcraft.planning import (
    CraftingWork,
    ParsedCraftingGoal,
    PromptRecipe,
    compute_work,
    make_call_source,
    variant_choice_lines,
    write_plan,
)
from codeplan.types.value import Value

AGENT_VOCABULARY = AgentVocabulary(
    frozenset({"get", "craft", "inventory", "recipes", "report", "goal", "craftable"}),
    {
        "get": "fetch gather collect find obtain grab pick_up mine take",
        "craft": "combine make build create craft_item assemble",
        "inventory": "check_inventory get_inventory list_inventory items holding",
        "recipes": "recipe get_recipes get_recipe find_recipes look_up commands",
    },
)
"""TextCraft's agent, as its API shows it, and what its methods may wrongly be called."""


class TextCraftFeedback(Value, frozen=True):
    """What the feedback says; empty, or None for ``step``, where it is silent. ``lacking`` is what could not be got."""

    text: str
    step: int | None
    held: dict[str, int]
    lacking: list[str]
    last_recipe: PromptRecipe | None
    last_observation: str


def parse_feedback(feedback: str) -> TextCraftFeedback:
    """The feedback's facts."""
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


def repair_textcraft_plan(source: str, errors: str) -> str:
    """A TextCraft plan without the errors that the check lists; see ``edits.repair_plan``."""
    return repair_plan(source, errors, AGENT_VOCABULARY)


def refine_plan(source: str, feedback: str, goal: ParsedCraftingGoal) -> str:
    """A better plan: the failing step mended where the feedback tells how, and otherwise a new plan."""
    report = parse_feedback(feedback)
    mended = first_fix(source, feedback, AGENT_VOCABULARY, (mend(source, report, goal) for mend in _REMEDIES))
    return write_plan(goal) if mended is None else mended


def _craft_product(source: str, report: TextCraftFeedback, order: ParsedCraftingGoal) -> str | None:
    """What was to be got has to be made: get what it is made of instead, and make it."""
    products = [name for name in report.lacking if order.recipes_for(name)]
    if not products:
        return None

    def make_them(call: re.Match[str]) -> str:
        needs: dict[str, int] = literal_eval(call[2])
        work = compute_work(order, {name: needs.pop(name) for name in products if name in needs}, {})
        for name, count in work.to_get.items():
            needs[name] = needs.get(name, 0) + count
        return f"{call[1]}gather({needs})\n{_work_lines(order, CraftingWork({}, work.to_craft))}"

    return edit_step(source, report.step, r"^( *missing = )gather\((\{.*\})\)\n", make_them)


def _correct_ingredients(source: str, report: TextCraftFeedback, order: ParsedCraftingGoal) -> str | None:
    """The command was not followed to the letter: take its own counts."""
    tried = report.last_recipe
    if tried is None or not order.recipes_for(tried.item) or _follows_recipe(order, tried):
        return None
    item = tried.item
    call = rf"make\((\d+), {item!r}, \d+, \{{.*\}}\)"
    return edit_step(source, report.step, call, lambda found: make_call_source(order, item, int(found[1])))


def _use_other_variant(source: str, report: TextCraftFeedback, order: ParsedCraftingGoal) -> str | None:
    """The command was followed, but what was taken for a sort of an ingredient is none: take another sort."""
    if report.last_recipe is None or not report.last_observation.startswith("Could not find a valid recipe"):
        return None
    wrong = [
        name
        for name in report.last_recipe.ingredients
        if any(name in order.variants(sort) for sort in _variant_ingredients(order))
    ]
    return write_plan(msgspec.structs.replace(order, avoid=order.avoid | set(wrong))) if wrong else None


def _get_missing_items(source: str, report: TextCraftFeedback, order: ParsedCraftingGoal) -> str | None:
    """Too little of the ingredients: get or make what lacks for the rest of the step, before it crafts."""
    need = re.search(r"I have (\d+) .+? and need (\d+)", report.text)
    if report.last_recipe is None or need is None or not report.last_observation.startswith("Could not find enough"):
        return None
    times = -(-(int(need[2]) - int(need[1])) // report.last_recipe.count)
    wanted = {name: n * times for name, n in report.last_recipe.ingredients.items()}
    lines = _work_lines(order, compute_work(order, wanted, report.held))
    return edit_step(source, report.step, r"^        made = make\(", lambda found: lines + found[0])


_REMEDIES: tuple[Callable[[str, TextCraftFeedback, ParsedCraftingGoal], str | None], ...] = (
    _craft_product,
    _correct_ingredients,
    _use_other_variant,
    _get_missing_items,
)


# ------------------------------------------------------------------ reading and writing


def _follows_recipe(order: ParsedCraftingGoal, tried: PromptRecipe) -> bool:
    """Whether what was tried is one of the commands to the letter, or with a sort for an ingredient that has sorts."""
    return any(
        _same_ingredients(order, tried.ingredients, recipe.ingredients) for recipe in order.recipes_for(tried.item)
    )


def _same_ingredients(order: ParsedCraftingGoal, tried: dict[str, int], wanted: dict[str, int]) -> bool:
    meant = {next((s for s in wanted if name in order.variants(s)), name): count for name, count in tried.items()}
    return meant == wanted


def _variant_ingredients(order: ParsedCraftingGoal) -> set[str]:
    """The ingredients of which there are sorts."""
    return {name for recipe in order.recipes for name in recipe.ingredients if order.variants(name)}


def _work_lines(order: ParsedCraftingGoal, work: CraftingWork) -> str:
    """The lines that do this work within a step."""
    got = f"        gather({work.to_get})\n" if work.to_get else ""
    made = (
        variant_choice_lines(item, count)
        if order.asks_for_variant(item)
        else f"        {make_call_source(order, item, count)}\n"
        for item, count in work.to_craft.items()
    )
    return got + "".join(made)
