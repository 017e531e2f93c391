"""Solving a task with sight of every recipe: a short way to show that it can be won, and in how many actions."""

from __future__ import annotations

from collections import Counter
from functools import cache

from codeplan.envs.textcraft.recipes import CraftingRecipe, Ingredient, display_name, recipe_book


@cache
def find_walkthrough(goal: str) -> tuple[str, ...]:
    """Actions that craft an item from nothing; every recipe that is followed is one of the least deep."""
    wanted = Counter({goal: 1})
    crafts: list[str] = []
    while deep := [name for name in wanted if recipe_book().depth(name)]:
        item = max(deep, key=lambda name: (recipe_book().depth(name), name))
        recipe, count = _least_deep(item), wanted.pop(item)
        times = -(-count // recipe.count)
        taken = [(_item(i), i.count) for i in recipe.ingredients]
        inputs = ", ".join(f"{n} {display_name(name)}" for name, n in taken)
        crafts[:0] = [f"craft {recipe.count} {display_name(item)} using {inputs}"] * times
        wanted.update({name: n * times for name, n in taken})
    return (*(f"get {count} {display_name(name)}" for name, count in wanted.items()), *crafts)


def _least_deep(item: str) -> CraftingRecipe:
    def depth(recipe: CraftingRecipe) -> int:
        return max(recipe_book().depth(i.name) for i in recipe.ingredients)

    return min(recipe_book().recipes_by_output[item], key=lambda r: (depth(r), len(r.ingredients), r.command))


def _item(wanted: Ingredient) -> str:
    """The item that is taken for an input: one of its category where it may be any."""
    if not wanted.is_category:
        return wanted.name
    items = {
        r.output
        for r in recipe_book().recipes_by_category[wanted.name]
        if recipe_book().category_of_item[r.output] == wanted.name
    }
    return min(items, key=lambda name: (recipe_book().depth(name), name))
