"""Solves a task with knowledge of every recipe, to show that it can be won and in how many actions."""

from __future__ import annotations

from collections import Counter
from functools import cache

from codeplan.envs.textcraft.recipes import CraftingRecipe, Ingredient, display_name, recipe_book


@cache
def find_walkthrough(goal: str) -> tuple[str, ...]:
    """Return actions that craft an item from nothing, always by the shallowest recipe."""
    wanted = Counter({goal: 1})
    crafts: list[str] = []
    while deep := [name for name in wanted if recipe_book().depth(name)]:
        item = max(deep, key=lambda name: (recipe_book().depth(name), name))
        recipe, count = _shallowest_recipe(item), wanted.pop(item)
        times = -(-count // recipe.count)
        taken = [(_item(i), i.count) for i in recipe.ingredients]
        inputs = ", ".join(f"{n} {display_name(name)}" for name, n in taken)
        crafts[:0] = [f"craft {recipe.count} {display_name(item)} using {inputs}"] * times
        wanted.update({name: n * times for name, n in taken})
    return (*(f"get {count} {display_name(name)}" for name, count in wanted.items()), *crafts)


def _shallowest_recipe(item: str) -> CraftingRecipe:
    def depth(recipe: CraftingRecipe) -> int:
        return max(recipe_book().depth(i.name) for i in recipe.ingredients)

    return min(recipe_book().recipes_by_output[item], key=lambda r: (depth(r), len(r.ingredients), r.command))


def _item(wanted: Ingredient) -> str:
    """The item to use for an ingredient: the shallowest of its category if any item will do."""
    if not wanted.is_category:
        return wanted.name
    items = {
        r.output
        for r in recipe_book().recipes_by_category[wanted.name]
        if recipe_book().category_of_item[r.output] == wanted.name
    }
    return min(items, key=lambda name: (recipe_book().depth(name), name))
